"""Points, normals and boxes relative to a limb's axis, shared by several shapes."""

from math import frexp, inf, sqrt
from typing import NamedTuple

import numpy as np

from cylcollide._types import Face
from cylcollide.constants import LARGEST_SAFE, SMALLEST_SAFE, UNIT_ROUNDOFF
from cylcollide.kernels.double_double import (
    DoubleDouble,
    DoubleDoubleVector,
    Vector,
    dd_add,
    dd_cross,
    dd_dot,
    dd_subtract,
    high_words,
    scaled,
    vector_difference,
)
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.ray import cross, dot, largest_component
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.simd import Real, select, square_root

CAP2 = float(Face.CAP2)

MARGIN = 64.0 * UNIT_ROUNDOFF
"""Relative padding of boxes: errors are below 16 u; a box's axes are unit vectors to 8 u, which its inverse doubles."""

MOST_UNITS = 2.0**300
"""Upper limit of a radius in the units of a `SurfacePoint`: 1 is negligible beside it, and its square is finite."""


# Points -------------------------------------------------------------------------------------------------------------


@inlined
def from_centre(point: Vector, limb: Limb) -> Vector:
    """Vector from the limb's centre to the point."""
    return point[0] - limb.centre[0], point[1] - limb.centre[1], point[2] - limb.centre[2]


@inlined
def height_and_distance(point: Vector, limb: Limb) -> tuple[Real, Real]:
    """Coordinate of a point along the axis, 0 at the centre, and its distance from the axis."""
    v, w = from_centre(point, limb), limb.axis
    height = dot(v, w)
    across = (v[0] - height * w[0], v[1] - height * w[1], v[2] - height * w[2])
    return height, square_root(dot(across, across))


@inlined
def slope_of(limb: Limb) -> Vector:
    """The wall of a tapered cylinder in the half plane of axis and point: the vector from p1's rim to p2's.

    Returns the components of its unit vector along and across the axis, and its length.
    """
    long, wide = 2.0 * limb.half_length, limb.radius2 - limb.radius
    length = square_root(long * long + wide * wide)
    return long / length, wide / length, length


@inlined
def on_slope(height: Real, distance: Real, limb: Limb) -> tuple[Real, Real]:
    """Coordinates of a point of the half plane: along that wall from p1's rim, and outward from the wall."""
    along, across, _ = slope_of(limb)
    x, y = height + limb.half_length, distance - limb.radius
    return x * along + y * across, y * along - x * across


# Normals ------------------------------------------------------------------------------------------------------------


@compiled
def dd_from_base(place: DoubleDoubleVector, base: Vector) -> DoubleDoubleVector:
    """Place - base, in double-double."""
    return (dd_add(place[0], (-base[0], 0.0)), dd_add(place[1], (-base[1], 0.0)), dd_add(place[2], (-base[2], 0.0)))


class SurfacePoint(NamedTuple):
    """A point of a limb's surface relative to the axis, or eight; normals are computed from it.

    Where products of the limb's lengths would overflow or underflow, lengths across the axis are in another unit than
    those along it.
    """

    from_end: Vector  # from the end of the axis that the face belongs to; from the centre of a shape with axes
    radial: Vector  # from the axis to the point, at right angles to the axis, times axis_squared
    axis: Vector  # from p1 to p2
    axis_squared: Real
    middle: Real  # coordinate along the axis: 1 at p1, 0 in the middle, -1 at p2
    radius: Real  # in the unit of lengths across
    radius_along: Real  # in the unit of lengths along
    taper_along: Real  # radius at p2 less that at p1, in the unit of lengths along


@inlined
def safe_surface_point(x: DoubleDoubleVector, limb: Limb) -> SurfacePoint:
    """The `SurfacePoint` at x from an end of a limb whose products of lengths neither overflow nor underflow."""
    axis, r = vector_difference(limb.p2, limb.p1), limb.radius
    return projected(x, axis, dd_dot(axis, axis), dd_dot(x, axis), (r, r, limb.radius2 - r))


@compiled
def surface_point(point: DoubleDoubleVector, base: Vector, limb: Limb) -> SurfacePoint:
    """The `SurfacePoint` of a limb of any size; `base` is the end of the axis that its face belongs to."""
    if limb.extent < inf:
        return safe_surface_point(dd_from_base(point, base), limb)
    x, axis = dd_from_base(point, base), vector_difference(limb.p2, limb.p1)
    wide, long = exponent(x), exponent(axis)
    x = (scaled_down(x[0], wide), scaled_down(x[1], wide), scaled_down(x[2], wide))
    axis = (scaled_down(axis[0], long), scaled_down(axis[1], long), scaled_down(axis[2], long))
    top, height = dd_dot(axis, axis), scaled_down(dd_dot(x, axis), long - wide)
    if height[0] < 0.0:
        height = (0.0, 0.0)
    if height[0] > top[0]:
        height = top
    taper = limb.radius2 - limb.radius
    sizes = in_units(limb.radius, wide), in_units(limb.radius, long), in_units(taper, long)
    return projected(x, axis, top, height, sizes)


@inlined
def projected(
    x: DoubleDoubleVector, axis: DoubleDoubleVector, top: DoubleDouble, height: DoubleDouble, sizes: Vector
) -> SurfacePoint:
    """The `SurfacePoint`; its `radial` is a × (x × a), which is a² M x with the lecture note's M = I - d dᵗ.

    `x` and `axis` may differ in unit; `top` is axis², `height` x·axis, both in the unit of the axis; `sizes` are the
    last three fields. The outer cross product is in float64: its factors are orthogonal, so nothing cancels.
    """
    m, a = high_words(dd_cross(x, axis)), high_words(axis)
    middle = dd_subtract(top, scaled(height, 2.0))[0] / select(top[0] > 0.0, top[0], 1.0)
    return SurfacePoint(high_words(x), cross(a, m), a, top[0], middle, sizes[0], sizes[1], sizes[2])


@inlined
def exponent(v: DoubleDoubleVector) -> int:
    """The binary exponent of a vector's largest component."""
    return frexp(largest_component(high_words(v)))[1]


@inlined
def scaled_down(a: DoubleDouble, times: int) -> DoubleDouble:
    """A / 2**times."""
    return np.ldexp(a[0], -times), np.ldexp(a[1], -times)


@inlined
def in_units(length: float, exponent: int) -> float:
    """A length in units of 2**exponent, clamped to ±`MOST_UNITS`."""
    return float(min(max(np.ldexp(length, -exponent), -MOST_UNITS), MOST_UNITS))


@inlined
def slanted_direction(point: SurfacePoint, share: Real, slope: Real) -> Vector:
    """Share times the radial vector less slope times the axis: the normal of a wall that is not parallel to it."""
    radial, axis = point.radial, point.axis
    return (
        share * radial[0] - slope * axis[0],
        share * radial[1] - slope * axis[1],
        share * radial[2] - slope * axis[2],
    )


@inlined
def cap_normal(point: SurfacePoint, face: float) -> Vector:
    """The outward direction of a cap, of the length of the axis."""
    x, y, z = point.axis
    if face == CAP2:
        return x, y, z
    return -x, -y, -z


# Boxes --------------------------------------------------------------------------------------------------------------


@inlined
def has_safe_axis(limb: Limb) -> bool:
    """Whether the square of the axis neither overflows nor loses digits to underflow."""
    return SMALLEST_SAFE < largest_component(axis_of(limb)) < LARGEST_SAFE


@inlined
def axis_of(limb: Limb) -> Vector:
    """Vector from p1 to p2, rounded."""
    return limb.p2[0] - limb.p1[0], limb.p2[1] - limb.p1[1], limb.p2[2] - limb.p1[2]


@inlined
def disc_half_widths(limb: Limb) -> Vector:
    """Half widths, along x, y and z, of a disc of radius 1 across the axis, rounded up.

    For the unit axis w they are √(w_i² + w_j²), sums of squares without cancellation. If the square of the axis may
    have lost digits, they are 1.
    """
    if not has_safe_axis(limb):
        return 1.0, 1.0, 1.0
    x, y, z = axis_of(limb)
    squared = dot((x, y, z), (x, y, z))
    return (
        min(1.0, sqrt((y * y + z * z) / squared) * (1.0 + MARGIN)),
        min(1.0, sqrt((z * z + x * x) / squared) * (1.0 + MARGIN)),
        min(1.0, sqrt((x * x + y * y) / squared) * (1.0 + MARGIN)),
    )


@inlined
def ends_aabb(limb: Limb, first: float, last: float, half_widths: Vector) -> tuple[Vector, Vector]:
    """Low and high corner around both ends; along each coordinate an end extends by its radius times a half width."""
    a, b, (x, y, z) = limb.p1, limb.p2, half_widths
    return (
        (
            min(a[0] - first * x, b[0] - last * x),
            min(a[1] - first * y, b[1] - last * y),
            min(a[2] - first * z, b[2] - last * z),
        ),
        (
            max(a[0] + first * x, b[0] + last * x),
            max(a[1] + first * y, b[1] + last * y),
            max(a[2] + first * z, b[2] + last * z),
        ),
    )


@inlined
def centred_aabb(middle: Vector, reach: Vector) -> tuple[Vector, Vector]:
    """Low and high corner around a point, `reach` from it along each coordinate."""
    x, y, z = middle
    return (x - reach[0], y - reach[1], z - reach[2]), (x + reach[0], y + reach[1], z + reach[2])
