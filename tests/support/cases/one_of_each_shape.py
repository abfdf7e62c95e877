"""One everyday limb of each shape, in the same place."""

from support.oracle.shapes.table import SHAPE_ROWS

from cylcollide._types import Shape

LIMBS = {Shape(kind): row.everyday.limbs() for kind, row in SHAPE_ROWS.items()}
