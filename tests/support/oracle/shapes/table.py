"""The table of shapes for all tests: it collects every shape that has a file in this folder."""

from importlib import import_module
from pkgutil import iter_modules

from support.oracle import shapes
from support.oracle.shapes.record import ShapeRow

_FILES = {module.name for module in iter_modules(shapes.__path__)} - {"common", "record", "rows", "table"}
_ROWS = {name: import_module(f"{shapes.__name__}.{name}").ROW for name in sorted(_FILES)}

NAMES = tuple(sorted(_ROWS, key=lambda name: _ROWS[name].kind))
"""Names of the shapes (their file names), by code."""

SHAPE_ROWS: dict[int, ShapeRow] = {_ROWS[name].kind: _ROWS[name] for name in NAMES}
"""Records by code."""

MAKERS = {name: make for row in SHAPE_ROWS.values() for name, make in row.makers.items()}
"""By name of a shape: a function from p1, p2, radius and a generator to one limb."""
