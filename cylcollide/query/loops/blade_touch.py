"""When a swept blade first comes within its radius of a limb, bounded from both sides.

A plane with the limb behind it and both ends of the blade in front of it proves that they are apart, and for how long:
the ends move straight, so their heights above the plane are linear in time. The search continues from the end of that
time with another plane, until the blade touches the limb within the resolution, or its time ends. A tube has no such
planes in its bore: there the distance of the whole blade bounds the time without contact.
"""

from collections.abc import Callable
from math import inf, sqrt
from typing import NamedTuple, TypeAlias, TypeVar

from cylcollide._types import Shape, Vectors
from cylcollide.kernels.distance import distance_bounds
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.ray import as_vector, dot, largest_component, subtract
from cylcollide.kernels.support import support, way_from
from cylcollide.query.loops.approach import FAR, NEAR, OPEN, PAD, approach
from cylcollide.runtime.compile import inlined, linkonce

TUBE = int(Shape.TUBE)

Query = TypeVar("Query")

MOST_STEPS = 24
"""Most steps to the nearest point of a blade; a plane is found after one or two."""

MOST_TESTS = 256
"""Most times at which one blade and one limb are tested; five or six suffice except for grazes."""

FINEST = 2.0**-6
"""Least step between tested times, relative to the resolution; below it a contact counts as open."""


class Blade(NamedTuple):
    """A capsule whose ends move straight in one unit of time."""

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
    by_p, by_q = subtract(u, p), subtract(v, q)
    return Blade(p, q, by_p, by_q, radius, 4.0 * size, sqrt(max(dot(by_p, by_p), dot(by_q, by_q))) * (1.0 + PAD))


@inlined
def moved(place: Vector, by: Vector, t: float) -> Vector:
    """A place moved by a share of a displacement."""
    return place[0] + t * by[0], place[1] + t * by[1], place[2] + t * by[2]


@inlined
def free_times(
    blade: Blade, a: Vector, b: Vector, t: float, n: Vector, limb: Limb, limb_speed: float, pad: float
) -> tuple[float, float]:
    """Begin and end of the time in which a plane with normal n separates limb and blade, whose ends are a and b at t.

    (inf, -inf) if it does not separate them at t. No point of the limb is faster than `limb_speed`.
    """
    beyond = support(n, limb) + blade.radius + 2.0 * pad
    first, last = -inf, inf
    for end in range(2):
        place, by = (a, blade.by_p) if end == 0 else (b, blade.by_q)
        height, rate = dot(n, subtract(place, limb.centre)) - beyond, dot(n, by)
        if not height > 0.0:
            return inf, -inf
        if rate < limb_speed:
            last = min(last, t + height / (limb_speed - rate))
        if rate > -limb_speed:
            first = max(first, t - height / (limb_speed + rate))
    return first, last


@linkonce
def look(
    blade: Blade, t: float, s: float, since: float, limb: Limb, limb_speed: float
) -> tuple[int, float, float, float]:
    """Whether the blade touches the limb at t (NEAR), or the time in which it certainly does not (FAR).

    Returns the verdict, the nearest place found on the blade, and begin and end of that time. `s`: the place to begin
    with. `since`: the earliest time that is not yet decided.
    """
    pad = PAD * (blade.size + limb.extent)
    a, b = moved(blade.p, blade.by_p, t), moved(blade.q, blade.by_q, t)
    u = subtract(b, a)
    square = dot(u, u)
    if limb.kind == TUBE:
        margin = (blade.speed + limb_speed) * (t - since)
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
        first, last = free_times(blade, a, b, t, n, limb, limb_speed, pad)
        if first <= t <= last:
            return FAR, s, first, last
        rate = dot(n, u)
        if square > 0.0:
            level = moved(n, u, -rate / square)
            size = sqrt(dot(level, level))
            if size > 0.5:
                level = (level[0] / size, level[1] / size, level[2] / size)
                first, last = free_times(blade, a, b, t, level, limb, limb_speed, pad)
                if first <= t <= last:
                    return FAR, s, first, last
        if rate > 0.0:
            high, high_way, high_rate = s, distance, rate
        else:
            low, low_way, low_rate = s, distance, rate
        # where the tangents of both sides intersect; or twice the step to where the tangent falls to the radius
        guess = s - 2.0 * (distance - blade.radius) / rate if rate != 0.0 else s
        if low_way >= 0.0 and high_way >= 0.0:
            guess = (high_way - low_way + low_rate * low - high_rate * high) / (low_rate - high_rate)
        guess = min(max(guess, low), high)
        if guess == s:
            break
        s = guess
    return OPEN, s, t, t


MotionBounds: TypeAlias = tuple[float, float, float]
"""Begin and end of the time in which a limb is tested, and an upper bound of the speed of its points."""

ALL_THE_TIME: MotionBounds = (0.0, 1.0, 0.0)
"""The course of a limb at rest."""


@inlined
def first_touch(
    blade: Blade,
    course: MotionBounds,
    place: Callable[[Query, float], Limb],
    query: Query,
    resolution: float,
    until: float,
) -> tuple[float, float, float]:
    """When a blade first comes within its radius of a limb; `place` returns the limb at a time.

    Returns a time of certain contact, at most `resolution` after the first contact, or inf for none before `until`;
    the place on the blade; and the earliest time before that for which nothing is proved, else inf.
    """
    begin, end, limb_speed = course
    limb = place(query, begin)
    along, out = subtract(blade.q, blade.p), subtract(limb.centre, blade.p)
    square = dot(along, along)
    s = min(max(dot(out, along) / square, 0.0), 1.0) if square > 0.0 else 0.0
    t, free, hit, where, is_open = begin, begin, inf, 0.0, inf  # free: no contact before, except if open
    step = 0.5 * resolution
    for _ in range(MOST_TESTS):
        limb = place(query, t)
        state, s, first, last = look(blade, t, s, free, limb, limb_speed)
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
        if free > begin and free >= min(hit, until, end):
            return hit, where, is_open
        t = min(free + step, 0.5 * (free + hit), end)
    return hit, where, min(is_open, free)
