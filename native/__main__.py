"""`python -m native [FOLDER]`: make extension modules in a folder, or in place for a checkout (`docs/build.md`)."""

import os
import subprocess
import sys
from pathlib import Path

os.environ["CYLCOLLIDE_LEVEL"] = "plain"  # the package is imported as plain Python
for setting in [name for name in os.environ if name.startswith("NUMBA_")]:
    del os.environ[setting]  # what is built does not depend on them
if os.environ.get("PYTHONHASHSEED") != "0":  # nor on hashes of strings, which order numba's variables
    os.environ["PYTHONHASHSEED"] = "0"
    raise SystemExit(subprocess.run([sys.executable, "-m", "native", *sys.argv[1:]], check=False).returncode)

from native import backend, build

if __name__ == "__main__":
    wanted = [os.environ.get(f"CYLCOLLIDE_BUILD_{name}", "") for name in ("LEVELS", "PLATFORM")]
    try:
        build.build(backend.targets(*wanted), *map(Path, sys.argv[1:]))
    except (RuntimeError, ValueError) as error:
        raise SystemExit(f"cylcollide: machine code was not built: {error}") from None
