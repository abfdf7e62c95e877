"""How near a segment comes to a limb, bounded from both sides; segments that may be hit, and blades that are swept.

The distance from a limb changes no faster than a point moves. So the distance of a middle bounds that of a whole
stretch, and stretches are halved until the bounds decide, or until `MOST_POINTS` were asked. A blade in a stretch of
time is the blade in its middle, grown by the way that its ends go in half of it.
"""

from math import inf, sqrt

import numpy as np

from cylcollide._types import NO_LIMB, Column, Vectors
from cylcollide.kernels.box import box_axes
from cylcollide.kernels.distance import distance_bounds
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.limb_table import BOX, Limb, LimbRows, is_considered, limb_at
from cylcollide.kernels.place import nearest_place
from cylcollide.kernels.ray import as_vector, dot, largest_component
from cylcollide.query.loops.inputs import PointFilters, filter_of
from cylcollide.runtime.compile import compiled, compiled_loop, inlined

FAR, OPEN, NEAR = 0, 1, 2
"""A stretch is certainly farther than one bound, certainly nearer than another one somewhere, or neither is shown."""

MOST_POINTS = 1024
"""Points at which the distance of one segment from one limb is asked."""

MOST_HALVINGS = 40

PAD = 2.0**-45
"""Of coordinates: far above the rounding of points and lengths here."""

FINEST = 2.0**-6
"""Of the resolution: how far stretches of time are halved that stay open."""


@compiled
def approach(start: Vector, along: Vector, far: float, near: float, limb: Limb) -> tuple[int, float]:
    """Whether start + s along, 0 <= s <= 1, is FAR: beyond `far` from the limb, or NEAR: somewhere within `near`.

    `near` is at most `far`; distances are signed. Also where it is near.
    """
    pad = PAD * (largest_component(start) + largest_component(along) + limb.extent)
    length, level, number, width, is_far = sqrt(dot(along, along)), 0, 0, 1.0, True
    for _ in range(MOST_POINTS):
        s = (number + 0.5) * width
        point = (start[0] + s * along[0], start[1] + s * along[1], start[2] + s * along[2])
        lower, upper = distance_bounds(point, limb)
        if upper + pad <= near:
            return NEAR, s
        is_far = is_far and upper - pad > far
        least = lower - 0.5 * width * length - pad
        if least <= near or (is_far and least <= far):
            if level == MOST_HALVINGS or lower == -inf:
                return OPEN, s
            level, number, width = level + 1, 2 * number, 0.5 * width
            continue
        number += 1
        while number % 2 == 0:
            level, number, width = level - 1, number // 2, 2.0 * width
        if level <= 0:
            return (FAR if is_far else OPEN), s
    return OPEN, 0.0


@inlined
def reach_of(limb: Limb) -> float:
    """A radius of a ball around the limb's centre that holds the limb."""
    if limb.kind == BOX:
        half = box_axes(limb)[1]
        return (1.0 + PAD) * sqrt(dot(half, half))
    return (1.0 + PAD) * (limb.half_length + max(limb.radius, limb.radius2))


@inlined
def distance_from_segment(point: Vector, start: Vector, along: Vector) -> float:
    """The distance of a point from a segment."""
    v, square = (point[0] - start[0], point[1] - start[1], point[2] - start[2]), dot(along, along)
    s = min(max(dot(v, along) / square, 0.0), 1.0) if square > 0.0 else 0.0
    w = (v[0] - s * along[0], v[1] - s * along[1], v[2] - s * along[2])
    return sqrt(dot(w, w))


# Doubt ----------------------------------------------------------------------------------------------------------------


@compiled_loop
def find_doubtful(
    starts: Vectors,
    ends: Vectors,
    radius: Column[np.float64],
    filters: PointFilters,
    table: LimbRows,
    offsets: Column[np.int64],
    found: Column[np.int32],
) -> int:
    """Write the limbs that each segment may hit, each anywhere within a radius of its place; how many there are.

    Each is 2 k for limb k, and one more if the segment certainly hits it wherever it is. Compressed rows: `offsets`
    (n + 1,), and `found`, beyond whose size nothing is written.
    """
    used = 0
    for i in range(radius.size):
        start, end, (mask, ignored) = as_vector(starts, i), as_vector(ends, i), filter_of(filters, i)
        along = (end[0] - start[0], end[1] - start[1], end[2] - start[2])
        for k in range(table.kernel_shape.size):
            if is_considered(table.character[k], table.mask[k], mask, ignored):
                limb = limb_at(table.rows, table.kernel_shape, k)
                pad = PAD * (largest_component(start) + largest_component(along) + limb.extent)
                if not distance_from_segment(limb.centre, start, along) > reach_of(limb) + radius[i] + pad:
                    state, _ = approach(start, along, radius[i], -radius[i], limb)
                    if state != FAR:
                        if used < found.size:
                            found[used] = 2 * k + (1 if state == NEAR else 0)
                        used += 1
        offsets[i + 1] = used
    return used


# Blades ---------------------------------------------------------------------------------------------------------------


@inlined
def moved(place: Vector, by: Vector, t: float) -> Vector:
    """A place after a share of a way."""
    return place[0] + t * by[0], place[1] + t * by[1], place[2] + t * by[2]


@compiled
def blade_at(
    p: Vector, q: Vector, by_p: Vector, by_q: Vector, t: float, far: float, near: float, limb: Limb
) -> tuple[int, float]:
    """`approach` of the blade at a time."""
    a, b = moved(p, by_p, t), moved(q, by_q, t)
    return approach(a, (b[0] - a[0], b[1] - a[1], b[2] - a[2]), far, near, limb)


@compiled
def first_touch(
    p: Vector, q: Vector, by_p: Vector, by_q: Vector, radius: float, limb: Limb, resolution: float, until: float
) -> tuple[float, float, float]:
    """When a blade that goes from p, q by `by_p`, `by_q` in one unit of time comes within `radius` of a limb.

    Returns a time at which it certainly is, inf for none before `until`, and before which it is not by more than
    `resolution`; where on the blade; and the earliest time before that for which nothing is shown, else inf.
    """
    state, s = blade_at(p, q, by_p, by_q, 0.0, radius, radius, limb)
    if state == NEAR:
        return 0.0, s, inf
    speed = sqrt(max(dot(by_p, by_p), dot(by_q, by_q))) * (1.0 + PAD)
    level, number, width, is_open = 0, 0, 1.0, inf
    while number * width < until:
        t = (number + 0.5) * width
        state, s = blade_at(p, q, by_p, by_q, t, radius + 0.5 * width * speed, radius, limb)
        if state == NEAR and width <= resolution:
            return t, s, is_open
        if state != FAR:
            if width > FINEST * resolution:
                level, number, width = level + 1, 2 * number, 0.5 * width
                continue
            is_open = min(is_open, number * width)
        number += 1
        while number % 2 == 0:
            level, number, width = level - 1, number // 2, 2.0 * width
        if level <= 0:
            break
    return inf, s, is_open


@compiled_loop
def sweep_blades(
    ends: tuple[Vectors, Vectors, Vectors, Vectors],
    radius: Column[np.float64],
    resolution: float,
    filters: PointFilters,
    table: LimbRows,
    begin: int,
    end: int,
    limb_of: Column[np.int32],
    fraction: Column[np.float64],
    undecided: Column[np.bool_],
    places: Vectors,
) -> None:
    """Write what blades `begin` to `end` touch first: limb, time, whether another one may be first, and where.

    `ends` are both ends of each blade before, then after, (n, 3) each. `places` (n, 3) are those of the blade's axis.
    """
    for i in range(begin, end):
        p, q, u, v = as_vector(ends[0], i), as_vector(ends[1], i), as_vector(ends[2], i), as_vector(ends[3], i)
        by_p, by_q = (u[0] - p[0], u[1] - p[1], u[2] - p[2]), (v[0] - q[0], v[1] - q[1], v[2] - q[2])
        way = max(sqrt(dot(by_p, by_p)), sqrt(dot(by_q, by_q)))
        along, (mask, ignored) = (q[0] - p[0], q[1] - p[1], q[2] - p[2]), filter_of(filters, i)
        best, where, first, is_open = inf, 0.0, NO_LIMB, inf
        for k in range(table.kernel_shape.size):
            if is_considered(table.character[k], table.mask[k], mask, ignored):
                limb = limb_at(table.rows, table.kernel_shape, k)
                pad = PAD * (largest_component(p) + largest_component(along) + way + limb.extent)
                if not distance_from_segment(limb.centre, p, along) > reach_of(limb) + radius[i] + way + pad:
                    until = min(best, 1.0)
                    t, s, may_be = first_touch(p, q, by_p, by_q, radius[i], limb, resolution, until)
                    is_open = min(is_open, may_be)
                    if t < best:
                        best, where, first = t, s, k
        limb_of[i], fraction[i], undecided[i] = first, best, is_open < best
        if first >= 0:
            a, b = moved(p, by_p, best), moved(q, by_q, best)
            x = moved(a, (b[0] - a[0], b[1] - a[1], b[2] - a[2]), where)
            found = nearest_place(x, limb_at(table.rows, table.kernel_shape, first))
            if found.certain:
                x = found.position
            places[i, 0], places[i, 1], places[i, 2] = x
