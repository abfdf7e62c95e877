"""Ties: limbs that a ray hits at exactly the same time, found from the numbers that define the limbs.

Float64 bounds cannot separate a tie from a near-tie, and exact arithmetic takes a hundred times as long. But every ray
hits equal limbs at the same time, as it does box faces in one plane: the lowest index is closest, as in `exact.order`.
"""

from typing import TypeAlias

from cylcollide._types import Face, Float64Array, Int8Array, Shape
from cylcollide.kernels.double_double import two_sum
from cylcollide.kernels.hit_bounds import Closest, closer
from cylcollide.kernels.inside_policy import HitBounds
from cylcollide.kernels.limb_table import BOX_AXES, CENTRE, ROW
from cylcollide.runtime.compile import inlined, linkonce
from cylcollide.runtime.simd import LANES, load, movemask

BOX, NEG_X, POS_Z = int(Shape.BOX), int(Face.NEG_X), int(Face.POS_Z)
HALF = BOX_AXES + 9

Plane: TypeAlias = tuple[int, float, float]
"""Index of the coordinate axis normal to the plane, -1 if there is none, and the plane's coordinate along it, as the
exact sum of two words."""

NO_PLANE = -1, 0.0, 0.0


@inlined
def closer_or_tied(
    closest: Closest, limb: int, bounds: HitBounds, rows: Float64Array, shapes: Int8Array, is_line: bool
) -> Closest:
    """As `closer` for one ray; `rows` and `shapes` of `LimbRows` may show that two limbs are hit at the same time.

    Of two such limbs the lower index is the closest, and the other cannot precede it. If `shapes` is empty, no limbs
    are compared. A thick ray (not `is_line`) may touch an edge of a box, so that its face determines no plane.
    """
    best, next_possible, hit = closest
    if (
        bounds.certain
        and bounds.lower <= hit.upper
        and hit.lower <= bounds.upper
        and best >= 0.0
        and shapes.size > 0
        and are_hit_at_once(rows, shapes, limb, bounds.face, int(best), hit.face, is_line)
    ):
        inside = hit.inside | bounds.inside
        if limb > best:
            return best, next_possible, HitBounds(True, True, hit.lower, hit.upper, inside, hit.face)
        return float(limb), next_possible, HitBounds(True, True, bounds.lower, bounds.upper, inside, bounds.face)
    return closer(closest, float(limb), bounds)


@linkonce
def are_hit_at_once(
    rows: Float64Array, shapes: Int8Array, one: int, face: float, other: int, other_face: float, is_line: bool
) -> bool:
    """Whether the numbers of two limbs, which a ray certainly hits by these faces, prove that it hits both at once.

    False proves nothing.
    """
    first, last = ROW * one, ROW * other
    same = (load(rows, first) == load(rows, last)) & (load(rows, first + LANES) == load(rows, last + LANES))
    if movemask(same) == (1 << LANES) - 1 and shapes[one] == shapes[other]:
        return True
    are_boxes = is_line and shapes[one] == BOX and shapes[other] == BOX
    return are_boxes and are_one_plane(box_plane(rows, one, face), box_plane(rows, other, other_face))


@inlined
def are_one_plane(one: Plane, other: Plane) -> bool:
    """Whether both are the same plane, at right angles to a coordinate axis."""
    return one[0] >= 0 and one[0] == other[0] and one[1] == other[1] and one[2] == other[2]


@inlined
def box_plane(rows: Float64Array, k: int, face: float) -> Plane:
    """The plane of a face of box k; its two words are an exact sum, so that equal planes have equal words."""
    if not NEG_X <= face <= POS_Z:
        return NO_PLANE
    side = int(face) - NEG_X
    own = side // 2
    axis, sign = coordinate_axis(
        rows[k, BOX_AXES + 3 * own], rows[k, BOX_AXES + 3 * own + 1], rows[k, BOX_AXES + 3 * own + 2]
    )
    if axis < 0:
        return NO_PLANE
    half = rows[k, HALF + own] if side % 2 == 1 else -rows[k, HALF + own]
    offset, rest = two_sum(rows[k, CENTRE + axis], sign * half)
    return axis, offset, rest


@inlined
def coordinate_axis(x: float, y: float, z: float) -> tuple[int, float]:
    """Index of the coordinate axis that a vector is parallel to, -1 for none, and its component along it."""
    if y == 0.0 and z == 0.0:
        return 0, x
    if x == 0.0 and z == 0.0:
        return 1, y
    if x == 0.0 and y == 0.0:
        return 2, z
    return -1, 0.0
