"""When a blade that is swept first comes within its radius of a limb, bounded from both sides.

A plane with the limb behind it and both ends of the blade before it shows that they are apart, and for how long: the
ends go straight, so their heights above the plane are linear. From there on another plane is looked for, until the
blade touches the limb within the resolution, or its time is over. A tube has no such planes in its bore: there the
distance of the whole blade says for how long nothing touches.
"""

from math import inf, nan, sqrt
from typing import NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import NO_LIMB, Column, Shape, Vectors
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.near_points import visit_nearest
from cylcollide.bvh.traverse import Stack
from cylcollide.kernels.aabb import padded_box
from cylcollide.kernels.distance import distance_bounds
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.limb_table import Limb, LimbRows, is_considered, limb_at
from cylcollide.kernels.place import nearest_place
from cylcollide.kernels.ray import as_vector, dot, largest_component
from cylcollide.kernels.support import support, way_from
from cylcollide.query.loops.approach import FAR, NEAR, OPEN, PAD, approach
from cylcollide.query.loops.inputs import PointFilters, filter_of
from cylcollide.runtime.compile import compiled, compiled_loop, inlined

TUBE = int(Shape.TUBE)

MOST_STEPS = 24
"""Steps to the nearest point of a blade; a plane is found after one or two."""

MOST_LOOKS = 256
"""Times at which one blade and one limb are looked at; five or six suffice, but for grazes."""

FINEST = 2.0**-6
"""Of the resolution: how near to each other times are looked at before a contact counts as open."""


class Blade(NamedTuple):
    """A capsule whose ends go straight in one unit of time."""

    p: Vector
    q: Vector
    by_p: Vector
    by_q: Vector
    radius: float
    size: float  # of its coordinates: rounding is proportional to it
    speed: float  # of the faster end


@inlined
def blade_of(ends: tuple[Vectors, Vectors, Vectors, Vectors], radius: float, i: int) -> Blade:
    """Blade i."""
    p, q, u, v = as_vector(ends[0], i), as_vector(ends[1], i), as_vector(ends[2], i), as_vector(ends[3], i)
    size = max(largest_component(p), largest_component(q), largest_component(u), largest_component(v)) + radius
    by_p, by_q = minus(u, p), minus(v, q)
    return Blade(p, q, by_p, by_q, radius, 4.0 * size, sqrt(max(dot(by_p, by_p), dot(by_q, by_q))) * (1.0 + PAD))


@inlined
def minus(a: Vector, b: Vector) -> Vector:
    """A - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inlined
def moved(place: Vector, by: Vector, t: float) -> Vector:
    """A place after a share of a way."""
    return place[0] + t * by[0], place[1] + t * by[1], place[2] + t * by[2]


@inlined
def free_times(blade: Blade, a: Vector, b: Vector, t: float, n: Vector, limb: Limb, pad: float) -> tuple[float, float]:
    """From when until when a plane across n keeps the limb from the blade, whose ends are a and b at t.

    Without t if it does not do so then.
    """
    beyond = support(n, limb) + blade.radius + 2.0 * pad
    first, last = -inf, inf
    for end in range(2):
        place, by = (a, blade.by_p) if end == 0 else (b, blade.by_q)
        height, rate = dot(n, minus(place, limb.centre)) - beyond, dot(n, by)
        if not height > 0.0:
            return inf, -inf
        if rate < 0.0:
            last = min(last, t - height / rate)
        elif rate > 0.0:
            first = max(first, t - height / rate)
    return first, last


@compiled
def look(blade: Blade, t: float, s: float, since: float, limb: Limb) -> tuple[int, float, float, float]:
    """Whether the blade touches the limb at t (NEAR), or from when until when it certainly does not (FAR).

    `s` is where on the blade to begin; the nearest place that was found is returned with the answer. `since`: the time
    from which on this is asked.
    """
    pad = PAD * (blade.size + limb.extent)
    a, b = moved(blade.p, blade.by_p, t), moved(blade.q, blade.by_q, t)
    u = minus(b, a)
    square = dot(u, u)
    if limb.kind == TUBE:
        margin = blade.speed * (t - since)
        state, s = approach(a, u, blade.radius + margin, blade.radius, limb)
        return state, s, since, t + (t - since)
    low, high, low_way, high_way, low_rate, high_rate = 0.0, 1.0, -1.0, -1.0, 0.0, 0.0
    for _ in range(MOST_STEPS):
        x = moved(a, u, s)
        if distance_bounds(x, limb)[1] + pad <= blade.radius:
            return NEAR, s, t, t
        way = way_from(x, limb)
        distance = sqrt(dot(way, way))
        if not 0.0 < distance < inf:
            return OPEN, s, t, t
        n = (way[0] / distance, way[1] / distance, way[2] / distance)
        first, last = free_times(blade, a, b, t, n, limb, pad)
        if first <= t <= last:
            return FAR, s, first, last
        rate = dot(n, u)
        if square > 0.0:
            level = moved(n, u, -rate / square)
            size = sqrt(dot(level, level))
            if size > 0.5:
                level = (level[0] / size, level[1] / size, level[2] / size)
                first, last = free_times(blade, a, b, t, level, limb, pad)
                if first <= t <= last:
                    return FAR, s, first, last
        if rate > 0.0:
            high, high_way, high_rate = s, distance, rate
        else:
            low, low_way, low_rate = s, distance, rate
        # where the tangents of both sides meet; or twice as far as the tangent takes to come within the radius
        guess = s - 2.0 * (distance - blade.radius) / rate if rate != 0.0 else s
        if low_way >= 0.0 and high_way >= 0.0:
            guess = (high_way - low_way + low_rate * low - high_rate * high) / (low_rate - high_rate)
        guess = min(max(guess, low), high)
        if guess == s:
            break
        s = guess
    return OPEN, s, t, t


@compiled
def first_touch(blade: Blade, limb: Limb, resolution: float, until: float) -> tuple[float, float, float]:
    """When a blade comes within its radius of a limb.

    Returns a time at which it certainly is, inf for none before `until`, and before which it is not by more than
    `resolution`; where on the blade; and the earliest time before that for which nothing is shown, else inf.
    """
    along, out = minus(blade.q, blade.p), minus(limb.centre, blade.p)
    square = dot(along, along)
    s = min(max(dot(out, along) / square, 0.0), 1.0) if square > 0.0 else 0.0
    t, free, hit, where, is_open = 0.0, 0.0, inf, 0.0, inf  # free: there is no contact before, but where it is open
    step = 0.5 * resolution
    for _ in range(MOST_LOOKS):
        state, s, first, last = look(blade, t, s, free, limb)
        finest = FINEST * resolution if is_open == inf else resolution
        if state == NEAR:
            hit, where = t, s
            if t - free <= resolution:
                return hit, where, is_open
            step = 0.5 * (t - free)
        elif state == FAR and first <= free:
            free = max(last, t)
            step = 2.0 * step if limb.kind == TUBE else 0.5 * resolution
        elif t - free <= finest:
            is_open, free, step = min(is_open, free), t, finest
        else:
            step = 0.5 * (t - free)
        if free > 0.0 and free >= min(hit, until):
            return hit, where, is_open
        t = min(free + step, 0.5 * (free + hit), 1.0)
    return hit, where, min(is_open, free)


# Loops ----------------------------------------------------------------------------------------------------------------


class Swept(NamedTuple):
    """What n blades touch first."""

    limb: Column[np.int32]  # NO_LIMB for none
    fraction: Column[np.float64]
    undecided: Column[np.bool_]
    position: Vectors  # of the limb


def missed_strokes(n: int) -> Swept:
    """Columns of n blades that touch nothing."""
    undecided, position = np.zeros(n, np.bool_), np.full((n, 3), nan)
    return Swept(np.full(n, NO_LIMB, np.int32), np.full(n, inf), undecided, position)


class Stroke(NamedTuple):
    """A blade, and a ball that holds it all the time."""

    blade: Blade
    centre: Vector
    reach: float
    resolution: float


Touched: TypeAlias = tuple[float, float, int, float]
"""When a blade touches first, where on it, which limb, and the earliest time for which nothing is shown."""


@inlined
def stroke_of(blade: Blade, resolution: float) -> Stroke:
    """The stroke of a blade."""
    p, q = moved(blade.p, blade.by_p, 0.5), moved(blade.q, blade.by_q, 0.5)
    c = moved(p, minus(q, p), 0.5)
    a, b = minus(blade.p, c), minus(blade.q, c)
    u, v = minus(moved(blade.p, blade.by_p, 1.0), c), minus(moved(blade.q, blade.by_q, 1.0), c)
    reach = sqrt(max(dot(a, a), dot(b, b), dot(u, u), dot(v, v))) + blade.radius + PAD * blade.size
    return Stroke(blade, c, reach, resolution)


@inlined
def may_touch(stroke: Stroke, limb: Limb) -> bool:
    """Whether the box around a limb meets the ball, and the box around the blade: whatever the tree is, they count."""
    low, high = padded_box(limb)
    blade, square, pad = stroke.blade, 0.0, stroke.blade.radius + PAD * (stroke.blade.size + limb.extent)
    p, q = blade.p, blade.q
    u, v = moved(p, blade.by_p, 1.0), moved(q, blade.by_q, 1.0)
    for k in range(3):
        beyond = max(low[k] - stroke.centre[k], stroke.centre[k] - high[k], 0.0)
        square += beyond * beyond
        if min(p[k], q[k], u[k], v[k]) - pad > high[k] or max(p[k], q[k], u[k], v[k]) + pad < low[k]:
            return False
    return square <= stroke.reach * stroke.reach


@inlined
def earlier_touch(stroke: Stroke, k: int, limb: Limb, found: Touched) -> Touched:
    """The first contact with limb k, too; of two at one time that of the lower number."""
    best, where, touched, is_open = found
    if may_touch(stroke, limb):
        t, s, may_be = first_touch(stroke.blade, limb, stroke.resolution, min(best, 1.0))
        is_open = min(is_open, may_be)
        if t < best or (t == best and k < touched):
            best, where, touched = t, s, k
    return best, where, touched, is_open


@inlined
def write_touched(swept: Swept, i: int, blade: Blade, found: Touched, resolution: float) -> Vector:
    """Write the first contact of blade i; the place of the blade's axis."""
    t, where, limb, is_open = found
    swept.limb[i], swept.fraction[i], swept.undecided[i] = limb, t, is_open < t - resolution
    if limb < 0:
        return blade.p
    a, b = moved(blade.p, blade.by_p, t), moved(blade.q, blade.by_q, t)
    return moved(a, minus(b, a), where)


@inlined
def write_position(swept: Swept, i: int, x: Vector, limb: Limb) -> None:
    """Write the place of a limb that is nearest to a place of the blade's axis."""
    found = nearest_place(x, limb)
    swept.position[i, 0], swept.position[i, 1], swept.position[i, 2] = found.position if found.certain else x


@compiled_loop
def sweep_blades(
    ends: tuple[Vectors, Vectors, Vectors, Vectors],
    radius: Column[np.float64],
    resolution: float,
    filters: PointFilters,
    table: LimbRows,
    tree: Tree,
    stack: Stack,
    begin: int,
    end: int,
    swept: Swept,
) -> None:
    """Write what blades `begin` to `end` touch first, but for the positions of misses.

    `ends` are both ends of each blade before, then after, (n, 3) each.
    """
    for i in range(begin, end):
        blade = blade_of(ends, radius[i], i)
        stroke = stroke_of(blade, resolution)
        query, nothing = (stroke, table, filter_of(filters, i)), (inf, 0.0, NO_LIMB, inf)
        found = visit_nearest(tree, stack, stroke.centre, stroke.reach, test_touch, query, nothing)
        x = write_touched(swept, i, blade, found, resolution)
        if swept.limb[i] >= 0:
            write_position(swept, i, x, limb_at(table.rows, table.kernel_shape, swept.limb[i]))


@inlined
def test_touch(query: tuple[Stroke, LimbRows, tuple[int, int]], k: int, found: Touched) -> tuple[Touched, float]:
    """The first contact with limb k, too; and how far away another one may be."""
    stroke, table, (mask, ignored) = query
    if is_considered(table.character[k], table.mask[k], mask, ignored):
        found = earlier_touch(stroke, k, limb_at(table.rows, table.kernel_shape, k), found)
    return found, stroke.reach
