"""Which limbs may be nearest to a point, by distances in double-double and by what limbs have in common."""

import numpy as np

from cylcollide._types import BoolArray, Face, Float64Array, Int8Array, Int32Array, Int64Array, Shape
from cylcollide.kernels.limb_table import BOX_AXES, CENTRE, EXTENT, P1, P2, RADIUS, LimbRows
from cylcollide.query.loops.places import empty_places, write_places
from cylcollide.query.scratch import scratch_for_surface

ROUNDED, DISTANCE_ERROR = 2.0**-52, 2.0**-86
"""Bounds of the errors of a nearest place's distance: relative to itself, and to the coordinates of point and limb."""

CAPSULE, SPHERE, BOX = int(Shape.CAPSULE), int(Shape.SPHERE), int(Shape.BOX)
CAP1, CAP2 = int(Face.CAP1), int(Face.CAP2)
HALF = BOX_AXES + 9

SAME_BALL, SAME_PLACE = -1.0, -2.0
"""In place of a limb's shape: limbs are as far away as the ball, or the place, whose numbers follow."""


def contenders(
    points: Float64Array, table: LimbRows, of: Int64Array, limb: Int32Array
) -> tuple[Int64Array, Int32Array, Float64Array]:
    """Of limbs `limb[k]`, listed for points `of[k]`, those that may be nearest, with an upper bound of the distance.

    The first one stands for all that are certainly as far away.
    """
    places, uncertain, own = empty_places(len(limb)), np.empty(len(limb), bool), points[of]
    write_places(own, table, limb, scratch_for_surface()[0], places, uncertain)
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.abs(own).max(axis=1, initial=0.0) + table.rows[limb, EXTENT]
        error = ROUNDED * np.abs(places.distance) + DISTANCE_ERROR * size
        lower = np.where(uncertain, -np.inf, places.distance - error)
        upper = np.where(uncertain, np.inf, places.distance + error)
    least = np.full(len(points), np.inf)
    np.minimum.at(least, of, upper)
    kept = np.flatnonzero(lower <= least[of])
    of, limb, upper = of[kept], limb[kept], upper[kept]
    numbers = in_common(own[kept], table, limb, places.distance[kept], places.face[kept], ~uncertain[kept])
    key = np.column_stack((of, numbers))
    first = np.sort(np.unique(key.view(f"V{key.strides[0]}")[:, 0], return_index=True)[1])
    return of[first], limb[first], upper[first]


def in_common(
    points: Float64Array,
    table: LimbRows,
    limb: Int32Array,
    distance: Float64Array,
    face: Int8Array,
    certain: BoolArray,
) -> Float64Array:
    """Numbers (n, 17) which, if equal for two limbs and one point, show that both are equally far from it.

    Those of the whole limb; of the ball on which the nearest place lies, as of bones at a joint; or of the place, for
    boxes along x, y and z, as tiles at a seam. `distance` and `face`: of the nearest place, if `certain`.
    """
    shape, rows = table.kernel_shape[limb], table.rows[limb]
    found: Float64Array = np.column_stack((shape, rows))
    first = certain & ((shape == SPHERE) | ((shape == CAPSULE) & (face == CAP1)))
    for is_ball, end in ((first, P1), (certain & (shape == CAPSULE) & (face == CAP2), P2)):
        found[is_ball] = 0.0
        found[is_ball, 0], found[is_ball, 4] = SAME_BALL, rows[is_ball, RADIUS]
        found[is_ball, 1:4] = rows[is_ball, end : end + 3]
    boxes = np.flatnonzero(certain & (shape == BOX) & (distance >= 0.0))
    axes = np.abs(rows[boxes, BOX_AXES:HALF].reshape(-1, 3, 3))
    centre, half = rows[boxes, CENTRE : CENTRE + 3], np.einsum("nij,ni->nj", axes, rows[boxes, HALF : HALF + 3])
    low, high = centre - half, centre + half
    is_along = ((axes == 0.0) | (axes == 1.0)).all(axis=(1, 2)) & (axes.sum(axis=2) == 1.0).all(axis=1)
    is_along &= (rounding_of(centre, -half) == 0.0).all(axis=1) & (rounding_of(centre, half) == 0.0).all(axis=1)
    boxes, place = boxes[is_along], np.clip(points[boxes], low, high)[is_along]
    found[boxes] = 0.0
    found[boxes, 0], found[boxes, 1:4] = SAME_PLACE, place
    found += 0.0  # no negative zeros
    return found


def rounding_of(a: Float64Array, b: Float64Array) -> Float64Array:
    """What a + b loses to rounding."""
    total = a + b
    rest = total - a
    return np.asarray((a - (total - rest)) + (b - rest))
