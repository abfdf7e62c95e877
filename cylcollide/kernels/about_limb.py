"""A ray in coordinates about a limb: either bit-equal to `query.segment_frame`, which uses fractions, or not certain.

Sums are exact, quotients and roots in double-double. If their rounding to float64 is uncertain, or a product may
underflow, the result is not certain, and fractions are used instead.
"""

from math import frexp, inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import Column, Float64Array, RayNumbers, Shape
from cylcollide.kernels.double_double import (
    DoubleDouble,
    Vector,
    dd_add,
    dd_divide,
    dd_dot,
    dd_square_root,
    two_difference,
    two_product,
    two_sum,
)
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.ray import largest_component
from cylcollide.kernels.traits import WITH_AXES
from cylcollide.runtime.compile import compiled, inlined

TAPERED = int(Shape.TAPERED)

LEAST_EXACT, MOST_EXACT = 2.0**-300, 2.0**200
"""Range of |coordinates|, besides 0, whose differences and products of three have exact low words."""

LEAST_SHARE = 2.0**-200
"""Least fraction of a ray, besides 0, whose products have exact low words; smaller ones are not certain."""

QUOTIENT_ERROR = 2.0**-98
"""Bound of the relative error, about 60 u², of a quotient of two scalar products, and of a root, in double-double."""

FARTHEST_TOUCH, FARTHEST_TOUCH_OF_ALL = 16.0, 2.0**500
"""Largest distance along the ray, from its point closest to the limb's centre, at which it may touch the grown limb.

In units of the limb's size and distance the growth there is at most 3, and a limb grown by 3 lies within 8 of its
centre. A tapered cylinder grows across its axis up to 1 + 2 slope times as fast as along it. The second bound keeps
squares finite.
"""

TERMS = 8
"""Length of the memory of `rounded_sum`: one more than the number of terms."""


class AboutLimb(NamedTuple):
    """The fields of `SegmentAboutLimb` that clearance needs; valid only if `certain`."""

    certain: bool
    place: Vector
    direction: Vector
    before: float
    behind: float
    limb: Limb
    unit: float


@compiled
def line_about_limb(ray: RayNumbers, limb: Limb, memory: Column[np.float64]) -> AboutLimb:
    """The ray in coordinates about one limb; `memory` holds TERMS numbers."""
    zero = (0.0, 0.0, 0.0)
    has_axes = limb.kind in WITH_AXES
    p1, p2 = (limb.centre, limb.centre) if has_axes else (limb.p1, limb.p2)
    unknown = AboutLimb(False, zero, zero, 0.0, 0.0, limb, 1.0)
    if not (are_exact(ray.origin) and are_exact(ray.second) and are_exact(p1) and are_exact(p2) and limb.extent < inf):
        return unknown
    ends = two_sum(p1[0], p2[0]), two_sum(p1[1], p2[1]), two_sum(p1[2], p2[2])  # twice the centre
    x, y, z = ray.origin
    out = from_half(x, ends[0]), from_half(y, ends[1]), from_half(z, ends[2])
    u, v, w = ray.second
    step = (u, 0.0), (v, 0.0), (w, 0.0)
    if ray.is_segment:
        step = two_difference(u, x), two_difference(v, y), two_difference(w, z)
    along, square = dd_dot(out, step), dd_dot(step, step)
    certain, closest, length = True, 0.0, 0.0
    if square[0] > 0.0:
        terms = abs(out[0][0] * step[0][0]) + abs(out[1][0] * step[1][0]) + abs(out[2][0] * step[2][0])
        share, low = dd_divide((-along[0], -along[1]), square)
        error = QUOTIENT_ERROR * (abs(share) + terms / square[0])
        closest = min(max(share + (low - error), 0.0), ray.limit)
        certain = closest == min(max(share + (low + error), 0.0), ray.limit)
        certain &= closest == 0.0 or LEAST_SHARE <= closest <= MOST_EXACT
        a, b, c = step[0][0], step[1][0], step[2][0]
        of_high = dd_add(dd_add(two_product(a, a), two_product(b, b)), two_product(c, c))
        root, low = dd_square_root(of_high)
        length = root + (low - QUOTIENT_ERROR * root)
        certain &= length == root + (low + QUOTIENT_ERROR * root)
    if not certain:
        return unknown
    place = (
        rounded_sum(x, ends[0], step[0], closest, memory),
        rounded_sum(y, ends[1], step[1], closest, memory),
        rounded_sum(z, ends[2], step[2], closest, memory),
    )
    to_p1 = 0.5 * (p1[0] - p2[0]), 0.5 * (p1[1] - p2[1]), 0.5 * (p1[2] - p2[2])
    size = largest_component(limb.p2)
    if not has_axes:
        size = max(largest_component(to_p1), limb.half_length, limb.radius, limb.radius2)
    unit = np.ldexp(1.0, -frexp(max(size, largest_component(place)))[1])
    farthest = min(FARTHEST_TOUCH * (1.0 + steepness(limb)), FARTHEST_TOUCH_OF_ALL)
    direction, before, behind = zero, 0.0, 0.0
    if length > 0.0:
        direction = (step[0][0] / length, step[1][0] / length, step[2][0] / length)
        before, behind = min(closest * length * unit, farthest), min((ray.limit - closest) * length * unit, farthest)
    about = scaled_about(limb, to_p1, unit)
    return AboutLimb(True, scaled(place, unit), direction, before, behind, about, unit)


@inlined
def steepness(limb: Limb) -> float:
    """Absolute slope of a tapered cylinder's radius along the axis; 0 for other shapes."""
    return abs(limb.radius2 - limb.radius) / (2.0 * limb.half_length) if limb.kind == TAPERED else 0.0


@inlined
def scaled(v: Vector, by: float) -> Vector:
    """The vector times a number."""
    return v[0] * by, v[1] * by, v[2] * by


@inlined
def scaled_about(limb: Limb, to_p1: Vector, unit: float) -> Limb:
    """The limb with its centre at 0, lengths times a power of two; `p2` of a shape with axes is its half extents."""
    kind, _, axis, half, radius, radius2, p1, p2, extent = limb
    zero = (0.0, 0.0, 0.0)
    if kind in WITH_AXES:
        return Limb(kind, zero, axis, half, radius, radius2, p1, scaled(p2, unit), extent)
    ends = scaled(to_p1, unit), scaled(to_p1, -unit)
    return Limb(kind, zero, axis, half * unit, radius * unit, radius2 * unit, ends[0], ends[1], extent)


@inlined
def are_exact(v: Vector) -> bool:
    """Whether each component is 0 or in the range in which low words are exact."""
    return is_exact(v[0]) and is_exact(v[1]) and is_exact(v[2])


@inlined
def is_exact(x: float) -> bool:
    """`are_exact` of one number."""
    return x == 0.0 or LEAST_EXACT <= abs(x) <= MOST_EXACT


@inlined
def from_half(x: float, twice: DoubleDouble) -> DoubleDouble:
    """X less half of a double-double."""
    return dd_add((x, 0.0), (-0.5 * twice[0], -0.5 * twice[1]))


@compiled
def rounded_sum(x: float, twice: DoubleDouble, step: DoubleDouble, share: float, memory: Float64Array) -> float:
    """X - twice / 2 + share step, rounded once to float64; `memory` holds TERMS numbers.

    Uses an expansion (J. R. Shewchuk, 1997): nonoverlapping numbers, the smallest first. The two largest determine the
    sum; if it is halfway between two float64 numbers, the sign of the next one decides.
    """
    first, second = two_product(share, step[0]), two_product(share, step[1])
    parts = insert(memory, 0, x)
    parts = insert(memory, parts, -0.5 * twice[0])
    parts = insert(memory, parts, -0.5 * twice[1])
    parts = insert(memory, parts, first[0])
    parts = insert(memory, parts, first[1])
    parts = insert(memory, parts, second[0])
    parts = insert(memory, parts, second[1])
    total, rest = 0.0, 0.0
    while parts > 0 and rest == 0.0:
        parts -= 1
        total, rest = two_sum(total, memory[parts])
    if parts > 0 and (memory[parts - 1] > 0.0) == (rest > 0.0):
        beyond = total + 2.0 * rest
        if beyond - total == 2.0 * rest:
            total = beyond
    return total


@inlined
def insert(memory: Float64Array, parts: int, x: float) -> int:
    """Add a number to an expansion of `parts` numbers; returns the new count."""
    kept = 0
    for k in range(parts):
        x, rest = two_sum(x, memory[k])
        if rest != 0.0:
            memory[kept] = rest
            kept += 1
    if x != 0.0:
        memory[kept] = x
        kept += 1
    return kept
