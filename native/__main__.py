"""`python -m native`: make the extension modules of a checkout in place, or in a folder."""

import argparse
import os
from pathlib import Path

os.environ["CYLCOLLIDE_LEVEL"] = "plain"  # the package is imported as plain Python
for setting in [name for name in os.environ if name.startswith("NUMBA_")]:
    del os.environ[setting]  # what is built does not depend on them

from cylcollide.runtime.sources import ROOT
from native import build, levels
from native.sources import PACKAGE


def say(text: str) -> None:
    """Print a line at once."""
    print(f"cylcollide: {text}", flush=True)


def main() -> None:
    """Build the levels that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m native", description=__doc__)
    parser.add_argument("--levels", default="", help="all, or names with commas; default: that of this processor")
    parser.add_argument("--platform", default="", help="such as linux-aarch64, by ziglang; default: this one")
    parser.add_argument("--into", type=Path, default=ROOT / PACKAGE / "machine_code", help="default: in place")
    options = parser.parse_args()
    try:
        build.build(levels.targets(options.levels, options.platform), options.into, say)
    except (RuntimeError, ValueError) as error:
        raise SystemExit(f"cylcollide: machine code was not built: {error}") from None


if __name__ == "__main__":
    main()
