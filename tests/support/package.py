"""Where the package under test lies: what child processes import, so that they share its machine code.

In the repository `python -c` would import the sources of the working directory, and compile them anew.
"""

from pathlib import Path

import cylcollide as cc

ABOVE_PACKAGE = Path(cc.__file__).parents[1]
