"""Points against limbs: signed distances and sides, with certainty, and squared distance from the axis."""

from math import frexp, inf, ldexp, nan

from cylcollide._types import HIT, MISS, UNDECIDED
from cylcollide.constants import LARGEST_SAFE, ROUNDING_BOUND, SMALLEST_SINE_SQUARED
from cylcollide.kernels.dispatch import axis_point, distance_to, main_axis, outside_by
from cylcollide.kernels.double_double import (
    Vector,
    dd_cross,
    dd_divide,
    dd_dot,
    high_words,
    low_words,
    scaled,
    vector_difference,
)
from cylcollide.kernels.interval import Interval
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.ray import largest_component
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.simd import Truth, select


@inlined
def distance_bounds(point: Vector, limb: Limb) -> Interval:
    """Bounds of the signed distance of a point from the limb's surface, metres: negative inside, a bore outside.

    Of one point and one limb, or of eight. They include the rounding bound that `docs/numerics.md` derives, and are
    infinite if float64 is not trusted.
    """
    delta = ROUNDING_BOUND * (largest_component(point) + limb.extent)
    (lower, upper), trusted = distance_to(point, limb), delta <= LARGEST_SAFE
    return select(trusted, lower - delta, -inf), select(trusted, upper + delta, inf)


@inlined
def certain_side(point: Vector, limb: Limb) -> tuple[Truth, Truth]:
    """Whether a point is certainly strictly inside, and certainly outside; neither if on or near the surface.

    Of one point and one limb, or of eight and eight.
    """
    delta = ROUNDING_BOUND * (largest_component(point) + limb.extent)
    trusted, beyond = delta <= LARGEST_SAFE, outside_by(point, limb)
    return trusted & (beyond < -delta), trusted & (beyond > delta)


@compiled
def point_limb(point: Vector, limb: Limb) -> int:
    """HIT if the point is certainly strictly inside, MISS if certainly outside, else UNDECIDED."""
    inside, outside = certain_side(point, limb)
    if outside:
        return MISS
    return HIT if inside else UNDECIDED


@compiled
def point_axis_distance_squared(point: Vector, limb: Limb) -> float:
    """Squared distance of a point from the limb's axis, or its centre if it has none; relative error at most 2⁻⁴⁵.

    NaN where the point is so close to a long axis that double-double products have lost that many digits.
    """
    v, axis = vector_difference(point, axis_point(limb)), main_axis(limb)
    size = largest_component(high_words(axis))
    if size == 0.0:
        return dd_dot(v, v)[0]
    unit = ldexp(1.0, -frexp(size)[1])  # of the axis' length: products of four lengths would overflow
    axis = scaled(axis[0], unit), scaled(axis[1], unit), scaled(axis[2], unit)
    across = dd_cross(v, axis)
    square, axis_square = dd_dot(across, across), dd_dot(axis, axis)
    certain = square[0] >= SMALLEST_SINE_SQUARED * dd_dot(v, v)[0] * axis_square[0]
    exact = largest_component(low_words(v)) == 0.0 and largest_component(low_words(axis)) == 0.0
    return dd_divide(square, axis_square)[0] if certain or (exact and square[0] == 0.0) else nan
