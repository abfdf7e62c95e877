"""`python -m native`: make the extension modules of a checkout in place, or in a folder."""

import argparse
import os
from pathlib import Path

os.environ["CYLCOLLIDE_LEVEL"] = "plain"  # the package is imported as plain Python
for setting in [name for name in os.environ if name.startswith("NUMBA_")]:
    del os.environ[setting]  # what is built does not depend on them

from native import build, levels

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m native", description=__doc__)
    environment = {name: os.environ.get(f"CYLCOLLIDE_BUILD_{name.upper()}", "") for name in ("levels", "platform")}
    parser.add_argument("--levels", help="all, or names with commas; default: that of this processor")
    parser.add_argument("--platform", help="such as linux-aarch64, by ziglang; default: this one")
    parser.add_argument("--into", type=Path, default=build.IN_PLACE, help="default: in place")
    parser.set_defaults(**environment)
    options = parser.parse_args()
    try:
        build.build(levels.targets(options.levels, options.platform), options.into)
    except (RuntimeError, ValueError) as error:
        raise SystemExit(f"cylcollide: machine code was not built: {error}") from None
