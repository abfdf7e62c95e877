"""Where the package under test lies: what child processes import, so that they share its machine code.

In the repository `python -c` would import the sources of the working directory, and compile them anew.
"""

import os
import sys
from pathlib import Path

import cylcollide as cc

ABOVE_PACKAGE = Path(cc.__file__).parents[1]


def put_build_in_reach() -> None:
    """Make the folder `native` of the repository importable, behind the package, which may be an installed one."""
    if (root := str(Path(__file__).parents[2])) not in sys.path:
        sys.path.append(root)


def environment(root: Path = ABOVE_PACKAGE, **variables: str) -> dict[str, str]:
    """The environment without what says which machine code is used, with the package that lies in `root`."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("CYLCOLLIDE_")}
    return {**known, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1", **variables}
