"""Fresh processes for tests: their environment."""

import os
from pathlib import Path

import cylcollide

PACKAGE = Path(cylcollide.__file__).parent
ABOVE = PACKAGE.parent


def environment(root: Path = ABOVE, **variables: str) -> dict[str, str]:
    """The environment without what says which machine code is used, with the package that lies in `root`."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("CYLCOLLIDE_")}
    return {**known, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1", **variables}
