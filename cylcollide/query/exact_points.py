"""Points that the float64 bounds leave undecided, decided in rational arithmetic."""

from collections.abc import Callable, Iterable
from fractions import Fraction

import numpy as np

from cylcollide._types import Float64Array, Int32Array, Side
from cylcollide.exact.numbers import squared_distance_from_line
from cylcollide.kernels.limb_table import LimbRows, LimbTable
from cylcollide.query.exact_fallback import exact_limb
from cylcollide.query.loops import points as point_loops
from cylcollide.query.loops.points import PointColumns


def axis_distances(points: Float64Array, table: LimbTable, rows: LimbRows, limbs: Int32Array) -> Float64Array:
    """Squared distance (n,) of each point (n, 3) from the axis of its limb, -1.0 where that is NO_LIMB."""
    squared = np.empty(len(limbs))
    if point_loops.axis_distances(points, rows, limbs, squared):
        for i in np.flatnonzero(np.isnan(squared)).tolist():
            limb = limbs.item(i)
            base, end = table.p1[limb].tolist(), table.p2[limb].tolist()
            axis = [Fraction(b) - Fraction(a) for a, b in zip(base, end, strict=True)]
            if table.box.item(limb) >= 0:
                axis = [Fraction(x) for x in table.boxes[table.box.item(limb), 6:9].tolist()]
            squared[i] = float(squared_distance_from_line(points[i].tolist(), base, axis))
    return squared


def resolve_point(point: Float64Array, table: LimbTable, limb: int) -> Side:
    """Where one point (3,) lies with respect to one limb."""
    return exact_limb(table, limb).side(tuple(point.tolist()))


def resolve_points(
    points: Float64Array, table: LimbTable, near: Callable[[int], Iterable[int]], columns: PointColumns
) -> None:
    """Write the lowest limb that contains each undecided point, of those `near` its row, and how many do."""
    for i in np.flatnonzero(columns.undecided).tolist():
        containing = [limb for limb in near(i) if resolve_point(points[i], table, limb) != Side.OUTSIDE]
        columns.limb[i], columns.limb_count[i] = min(containing, default=-1), len(containing)
