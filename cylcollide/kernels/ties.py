"""Order of hits that float64 bounds cannot separate, found from the numbers that define the limbs.

Exact arithmetic takes a hundred times as long. But every ray hits equal limbs at the same time, and capsules that share
a ball, as bones at a joint, if it hits both there; it reaches parallel planes in the order of their heights. Of limbs
that are hit at the same time the lowest index is closest, as in `exact.order`.
"""

from cylcollide._types import Face, Float64Array, Int8Array, Shape
from cylcollide.kernels.double_double import two_difference, two_product, two_sum
from cylcollide.kernels.hit_bounds import Closest, closer
from cylcollide.kernels.inside_policy import HitBounds
from cylcollide.kernels.limb_table import BOX_AXES, CENTRE, P1, RADIUS, ROW
from cylcollide.runtime.compile import inlined, linkonce
from cylcollide.runtime.simd import LANES, load, movemask

BOX, CAPSULE, SPHERE = int(Shape.BOX), int(Shape.CAPSULE), int(Shape.SPHERE)
NEG_X, POS_Z, CAP1, CAP2 = int(Face.NEG_X), int(Face.POS_Z), int(Face.CAP1), int(Face.CAP2)
HALF = BOX_AXES + 9

EARLIER, TIED, LATER, UNKNOWN = -1, 0, 1, 2
"""Whether a ray hits a limb before another one, at exactly the same time, or after it."""

LEAST_PRODUCT = 2.0**-900
"""Smaller products may lose digits to underflow."""


@inlined
def closer_or_tied(
    closest: Closest,
    limb: int,
    bounds: HitBounds,
    rows: Float64Array,
    shapes: Int8Array,
    have_planes: bool,
    may_leave: bool,
) -> Closest:
    """As `closer` for one ray; `rows` and `shapes` of `LimbRows` may show which of two limbs is hit first.

    The other one cannot precede it. If `shapes` is empty, no limbs are compared. `have_planes`: whether faces of boxes
    determine planes; a thick ray may touch an edge. `may_leave`: whether a limb that holds the start is hit where the
    ray leaves it.
    """
    best, _, hit = closest
    if shapes.size == 0 or not overlap(closest, bounds):
        return closer(closest, float(limb), bounds)
    have_balls = not (may_leave and (bounds.inside or hit.inside))  # else one may enter the ball, the other leave it
    faces = (limb, bounds.face), (int(best), hit.face)
    return closer_by(hit_order(rows, shapes, *faces, have_planes, have_balls, bounds.inside), closest, limb, bounds)


@inlined
def overlap(closest: Closest, bounds: HitBounds) -> bool:
    """Whether a limb is certainly hit, but bounds do not tell whether before the closest limb."""
    best, _, hit = closest
    return bounds.certain and bounds.lower <= hit.upper and hit.lower <= bounds.upper and best >= 0.0


@inlined
def closer_by(order: int, closest: Closest, limb: int, bounds: HitBounds) -> Closest:
    """As `closer`, by the order of a limb's hit and the closest one."""
    if order == UNKNOWN:
        return closer(closest, float(limb), bounds)
    best, next_possible, hit = closest
    inside = hit.inside | bounds.inside
    if order == LATER or (order == TIED and limb > best):
        return best, next_possible, HitBounds(True, True, hit.lower, hit.upper, inside, hit.face)
    return float(limb), next_possible, HitBounds(True, True, bounds.lower, bounds.upper, inside, bounds.face)


@linkonce
def hit_order(
    rows: Float64Array,
    shapes: Int8Array,
    one: tuple[int, float],
    other: tuple[int, float],
    have_planes: bool,
    have_balls: bool,
    leaves: bool,
) -> int:
    """The order of two hits, each a limb and the face by which a ray certainly hits it, as far as numbers prove it.

    `have_balls`: whether the ray certainly enters both limbs, so that a ball that both have is entered at one time.
    `leaves`: whether the first limb is hit where the ray leaves it, as if it starts inside and the policy is "exit".
    """
    first, last = ROW * one[0], ROW * other[0]
    same = (load(rows, first) == load(rows, last)) & (load(rows, first + LANES) == load(rows, last + LANES))
    if movemask(same) == (1 << LANES) - 1 and shapes[one[0]] == shapes[other[0]]:
        return TIED
    if have_planes and shapes[one[0]] == BOX and shapes[other[0]] == BOX:
        return order_of_planes(rows, one, other, leaves)
    if have_balls and share_ball(rows, shapes, one, other):
        return TIED
    return UNKNOWN


@inlined
def share_ball(rows: Float64Array, shapes: Int8Array, one: tuple[int, float], other: tuple[int, float]) -> bool:
    """Whether both hits are on a ball that both limbs have."""
    (k, face), (j, other_face) = one, other
    end, other_end = ball_at(shapes[k], face), ball_at(shapes[j], other_face)
    if end < 0 or other_end < 0 or rows[k, RADIUS] != rows[j, RADIUS]:
        return False
    equal = 0
    for i in range(3):
        equal += rows[k, P1 + 3 * end + i] == rows[j, P1 + 3 * other_end + i]
    return equal == 3


@inlined
def ball_at(shape: int, face: float) -> int:
    """The end of a limb, 0 or 1, that is the centre of the ball to which a face belongs; -1 if it belongs to none."""
    if shape == SPHERE or (shape == CAPSULE and face == CAP1):
        return 0
    return 1 if shape == CAPSULE and face == CAP2 else -1


@inlined
def order_of_planes(rows: Float64Array, one: tuple[int, float], other: tuple[int, float], leaves: bool) -> int:
    """`hit_order` of faces of boxes whose normals have equal or opposite numbers.

    With a normal n along the ray's way and the planes at n·x = n·c + h, the lower plane is first: by the sign of n·(c -
    c') + (h - h'). Error-free sums and products give 14 numbers; their sum and that of its errors are two words, and
    `rest` bounds what is lost.
    """
    (k, face), (j, other_face) = one, other
    if not (NEG_X <= face <= POS_Z and NEG_X <= other_face <= POS_Z):
        return UNKNOWN
    side, other_side = int(face) - NEG_X, int(other_face) - NEG_X
    own, others = side // 2, other_side // 2
    sense = 1.0 if (side % 2 == 1) == leaves else -1.0
    equal, opposite = 0, 0
    for i in range(3):
        a, b = rows[k, BOX_AXES + 3 * own + i], rows[j, BOX_AXES + 3 * others + i]
        equal, opposite = equal + (a == b), opposite + (a == -b)
    if equal < 3 and opposite < 3:
        return UNKNOWN
    is_high = (other_side % 2 == 1) == (equal == 3)
    height = rows[k, HALF + own] if side % 2 == 1 else -rows[k, HALF + own]
    other_height = rows[j, HALF + others] if is_high else -rows[j, HALF + others]
    total, error = two_difference(height, other_height)
    rest, least = 0.0, LEAST_PRODUCT
    for i in range(3):
        normal, between = rows[k, BOX_AXES + 3 * own + i], two_difference(rows[k, CENTRE + i], rows[j, CENTRE + i])
        for word in range(2):
            product, low = two_product(normal, between[word])
            if normal != 0.0 and between[word] != 0.0:
                least = min(least, abs(product))
            total, more = two_sum(total, product)
            error, lost = two_sum(error, more)
            error, also_lost = two_sum(error, low)
            rest += abs(lost) + abs(also_lost)
    gap = sense * (total + error)
    if least < LEAST_PRODUCT or (rest > 0.0 and not abs(gap) > 2.0 * rest):
        return UNKNOWN
    return EARLIER if gap < 0.0 else LATER if gap > 0.0 else TIED
