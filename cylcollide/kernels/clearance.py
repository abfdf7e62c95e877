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
STEPS, LEAST_STRETCH = 900, 2.0**-70
"""Golden sections from an interval of 2**501 down to LEAST_STRETCH, where the limb's size and distance are about 1."""

SLACK = 2.0**-40
"""Relative to the size of points: far above the rounding errors of growths there."""


@inlined
def corner_speed(limb: Limb) -> float:
    """Upper bound of distance / growth: a point within growth g is at most g times this from the limb."""
    return float(CORNER_SPEEDS[limb.kind]) * (1.0 + steepness(limb))


@inlined
def ball_radius(limb: Limb) -> float:
    """Radius of a ball about the limb's centre that contains the limb: see `LimbTable`."""
    if limb.kind in WITH_AXES:
        x, y, z = box_axes(limb)[1]
        return sqrt(x * x + y * y + z * z)
    return limb.half_length + max(limb.radius, limb.radius2)


@compiled
def least_growth(
    place: Vector, direction: Vector, first: float, last: float, limb: Limb, beyond: float
) -> tuple[float, float]:
    """Least growth that reaches place + s direction, first <= s <= last, and its s, by golden section search.

    Growth as a function of s must be unimodal (falling, then rising) with Lipschitz constant 1. The search stops early,
    short of the least growth, once that is certainly greater than `beyond` >= 0.
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
        is_found = not a < s1 < s2 < b or b - a < LEAST_STRETCH
        if is_found or min(g1, g2) - (b - a) - SLACK * (1.0 + abs(a) + abs(b)) > beyond:
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
    """`growth_to_touch` if that is at most `beyond` >= 0; else a growth greater than `beyond`.

    A limb is convex except for a tube's bore, so growth falls and then rises on either side of the line's closest
    approach to the axis: away from there, the bore's wall only approaches and the other faces only recede.
    """
    w, c = limb.axis, limb.centre
    x = subtract(place, c)
    height, rate = dot(x, w), dot(direction, w)
    p = (direction[0] - rate * w[0], direction[1] - rate * w[1], direction[2] - rate * w[2])
    q = (x[0] - height * w[0], x[1] - height * w[1], x[2] - height * w[2])
    speed_squared = dot(p, p)
    middle = first if speed_squared == 0.0 else min(max(-dot(q, p) / speed_squared, first), last)
    if limb.kind == ELLIPSOID:
        return ellipsoid_touch(place, direction, first, last, limb, middle, (height, rate, dot(q, p), speed_squared))
    before, before_s = least_growth(place, direction, first, middle, limb, beyond)
    behind, behind_s = least_growth(place, direction, middle, last, limb, beyond)
    return (before, before_s) if before <= behind else (behind, behind_s)


@compiled
def ellipsoid_touch(
    place: Vector, direction: Vector, first: float, last: float, limb: Limb, s: float,
    terms: tuple[float, float, float, float],
) -> tuple[float, float]:  # fmt: skip
    """`growth_to_touch` of an ellipsoid, from a guess of s; `terms`: height, rate, q·p and p² of `touching_growth`.

    Each step takes the point of the line that is deepest inside the current ellipsoid and shrinks the ellipsoid to
    reach just that point. Convergence is quadratic, since the derivative of growth along s is 0 at the touch.
    """
    height, rate, along, square = terms
    growth = growth_at(place, direction, s, limb)
    for _ in range(STEPS):
        h, r = limb.half_length + growth, limb.radius + growth
        slope, curvature = height * rate * r * r + along * h * h, rate * rate * r * r + square * h * h
        deepest = s if curvature == 0.0 else min(max(-slope / curvature, first), last)
        less = growth_at(place, direction, deepest, limb)
        if not less < growth:
            break
        growth, s = less, deepest
    return growth, s


@compiled_loop
def growths_to_reach(points: Vectors, limb: Limb, growths: Column[np.float64]) -> None:
    """Write `dispatch.growth_to_reach` of points (n, 3) into `growths` (n,)."""
    for i in range(growths.size):
        growths[i] = growth_to_reach(as_vector(points, i), limb)
