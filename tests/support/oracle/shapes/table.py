"""The one table of shapes that all tests read from: a shape that is entered here is tested like the others."""

from support.oracle.shapes import box, capsule, cylinder, ellipsoid, sphere, tapered, tube
from support.oracle.shapes.record import ShapeRow

SHAPE_ROWS: dict[int, ShapeRow] = {
    module.ROW.kind: module.ROW for module in (cylinder, tube, tapered, ellipsoid, capsule, sphere, box)
}
"""By code."""
