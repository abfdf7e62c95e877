"""Clearance of a segment from a limb: the growth at which the limb just touches the segment, negative for a hit.

Growth is that of `Limbs.inflated`: caps, walls and box faces move out by it, half axes of an ellipsoid lengthen by it,
a bore narrows by it. The limbs of all growths are nested, so every point lies on the surface of exactly one of them.
"""

from math import inf, sqrt

import numpy as np

from cylcollide._types import Column, Shape, Vectors
from cylcollide.kernels.about_limb import steepness
from cylcollide.kernels.dispatch import growth_to_reach
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.limb_table import Limb, box_axes
from cylcollide.kernels.ray import as_vector, dot, subtract
from cylcollide.kernels.traits import CORNER_SPEEDS, WITH_AXES
from cylcollide.runtime.compile import compiled, compiled_loop, inlined

ELLIPSOID = int(Shape.ELLIPSOID)

GOLDEN = 0.5 * (sqrt(5.0) - 1.0)
STEPS = 900
"""Golden sections: enough from a stretch of 2**501 to 2**-120, where the limb's size and distance are about 1."""

SLACK = 2.0**-40
"""Of the size of points: far above the rounding of growths there."""


@inlined
def corner_speed(limb: Limb) -> float:
    """No point within growth g is farther from the limb than g times this."""
    return float(CORNER_SPEEDS[limb.kind]) * (1.0 + steepness(limb))


@inlined
def ball_radius(limb: Limb) -> float:
    """Of a ball about the limb's centre that holds it: see `LimbTable`."""
    if limb.kind in WITH_AXES:
        x, y, z = box_axes(limb)[1]
        return sqrt(x * x + y * y + z * z)
    return limb.half_length + max(limb.radius, limb.radius2)


@compiled
def least_growth(
    place: Vector, direction: Vector, first: float, last: float, limb: Limb, beyond: float, slope: float
) -> tuple[float, float]:
    """Least growth that reaches place + s direction, first <= s <= last, and that s, by golden section search.

    As a function of s the growth must fall and then rise. The search ends early, and tells no least growth, where that
    is certainly greater than `beyond`, which is not negative; where growth is positive, `slope` is its steepest.
    """
    a, b = first, last
    best, best_s = growth_at(place, direction, a, limb), a
    s1, s2 = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
    g1, g2 = growth_at(place, direction, s1, limb), growth_at(place, direction, s2, limb)
    for _ in range(STEPS):
        if g1 < best:
            best, best_s = g1, s1
        if g2 < best:
            best, best_s = g2, s2
        if not a < s1 < s2 < b or min(g1, g2) - slope * (b - a) - SLACK * (1.0 + abs(a) + abs(b)) > beyond:
            break
        if g1 <= g2:
            b, s2, g2 = s2, s1, g1
            s1 = b - GOLDEN * (b - a)
            g1 = growth_at(place, direction, s1, limb)
        else:
            a, s1, g1 = s1, s2, g2
            s2 = a + GOLDEN * (b - a)
            g2 = growth_at(place, direction, s2, limb)
    end = growth_at(place, direction, last, limb)
    return (end, last) if end < best else (best, best_s)


@compiled
def growth_at(place: Vector, direction: Vector, s: float, limb: Limb) -> float:
    """Growth at which the limb's surface reaches place + s direction."""
    point = (place[0] + s * direction[0], place[1] + s * direction[1], place[2] + s * direction[2])
    return growth_to_reach(point, limb)


def growth_to_touch(place: Vector, direction: Vector, first: float, last: float, limb: Limb) -> tuple[float, float]:
    """Growth at which the limb touches place + s direction for first <= s <= last, metres, and the s of the touch."""
    touch = np.empty(2)
    _fill_touch(place, direction, first, last, limb, touch)
    growth, s = touch.tolist()
    return growth, s


@compiled_loop
def _fill_touch(
    place: Vector, direction: Vector, first: float, last: float, limb: Limb, touch: Column[np.float64]
) -> None:
    """Write the two numbers of `growth_to_touch`."""
    touch[0], touch[1] = touching_growth(place, direction, first, last, limb, inf)


@compiled
def touching_growth(
    place: Vector, direction: Vector, first: float, last: float, limb: Limb, beyond: float
) -> tuple[float, float]:
    """`growth_to_touch`, if that is at most `beyond` and that is not negative; else a greater growth.

    A limb is convex but for a tube's bore, so growth falls and then rises on either side of the line's closest approach
    to the axis: with the distance from there the bore's wall only comes nearer and the rest only recedes.
    """
    w, c = limb.axis, limb.centre
    x = subtract(place, c)
    height, rate = dot(x, w), dot(direction, w)
    p = (direction[0] - rate * w[0], direction[1] - rate * w[1], direction[2] - rate * w[2])
    q = (x[0] - height * w[0], x[1] - height * w[1], x[2] - height * w[2])
    speed_squared, slope = dot(p, p), steepest_growth(limb)
    middle = first if speed_squared == 0.0 else min(max(-dot(q, p) / speed_squared, first), last)
    before, before_s = least_growth(place, direction, first, middle, limb, beyond, slope)
    behind, behind_s = least_growth(place, direction, middle, last, limb, beyond, slope)
    return (before, before_s) if before <= behind else (behind, behind_s)


@inlined
def steepest_growth(limb: Limb) -> float:
    """No growth outside the limb changes faster than this with the way of a point: 1 where it is `outside_by`.

    The plane that touches an ellipsoid, half axes h and r, across a unit vector whose square of the part along the axis
    is p, moves by (r + (h - r) p) / √(r² + (h² - r²) p) as the half axes grow: that is least for p = r / (h + r).
    """
    if limb.kind != ELLIPSOID:
        return 1.0
    h, r = limb.half_length, limb.radius
    return 0.5 * (h + r) / sqrt(h * r)


@compiled_loop
def growths_to_reach(points: Vectors, limb: Limb, growths: Column[np.float64]) -> None:
    """Write `dispatch.growth_to_reach` of points (n, 3) into `growths` (n,)."""
    for i in range(growths.size):
        growths[i] = growth_to_reach(as_vector(points, i), limb)
