"""`python -m native [FOLDER]`: make extension modules in a folder; by default in the checkout, in place.

CYLCOLLIDE_BUILD_LEVELS and CYLCOLLIDE_BUILD_PLATFORM say for what, as in `hook.py`.
"""

import os
import sys
from pathlib import Path

LEVELS, PLATFORM = (os.environ.get(f"CYLCOLLIDE_BUILD_{name}", "") for name in ("LEVELS", "PLATFORM"))
os.environ["CYLCOLLIDE_LEVEL"] = "plain"  # the package is imported as plain Python
for setting in [name for name in os.environ if name.startswith("NUMBA_")]:
    del os.environ[setting]  # what is built does not depend on them

from native import build, levels

if __name__ == "__main__":
    try:
        build.build(levels.targets(LEVELS, PLATFORM), Path(*sys.argv[1:] or [str(build.IN_PLACE)]))
    except (RuntimeError, ValueError) as error:
        raise SystemExit(f"cylcollide: machine code was not built: {error}") from None
