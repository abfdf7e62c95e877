"""A limb with an axis, seen from a point: what several shapes need for point tests, normals and boxes."""

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
    heads,
    scaled,
    vector_difference,
)
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.line import Frame
from cylcollide.kernels.ray import cross, dot, largest_component
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.simd import Real, select, square_root

CAP2 = float(Face.CAP2)

MARGIN = 64.0 * UNIT_ROUNDOFF
"""Relative errors of boxes are below 16 u; a box's axes are unit vectors to 8 u, which its inverse doubles."""

MOST_UNITS = 2.0**300
"""Stands in for a larger radius in units of an `Aside`: against it 1 vanishes, and its square is finite."""


# Points -------------------------------------------------------------------------------------------------------------


@inlined
def from_centre(point: Vector, frame: Frame) -> Vector:
    """From the limb's centre to the point."""
    return point[0] - frame.centre[0], point[1] - frame.centre[1], point[2] - frame.centre[2]


@inlined
def height_and_distance(point: Vector, frame: Frame) -> tuple[Real, Real]:
    """Place of a point along the axis, from the centre, and its distance from the axis."""
    v, w = from_centre(point, frame), frame.axis
    height = dot(v, w)
    across = (v[0] - height * w[0], v[1] - height * w[1], v[2] - height * w[2])
    return height, square_root(dot(across, across))


# Normals ------------------------------------------------------------------------------------------------------------


@compiled
def from_point(place: DoubleDoubleVector, base: Vector) -> DoubleDoubleVector:
    """Place - base."""
    return (
        dd_add(place[0], (-base[0], 0.0)),
        dd_add(place[1], (-base[1], 0.0)),
        dd_add(place[2], (-base[2], 0.0)),
    )


class Aside(NamedTuple):
    """A surface point beside the axis of its limb, or eight.

    Where products of the limb's lengths would leave float64, lengths across the axis are in another unit than those
    along it.
    """

    place: Vector  # from the end of the limb that its face belongs to
    across: Vector  # from the axis to the point, times the axis squared
    axis: Vector  # from p1 to p2
    axis_squared: Real
    middle: Real  # how far from the middle of the axis: 1 at p1, -1 at p2
    radius: Real  # in units of lengths across
    radius_along: Real  # in units of lengths along
    taper_along: Real  # by how much the radius grows from p1 to p2


@inlined
def aside_of(x: DoubleDoubleVector, limb: Limb) -> Aside:
    """The point at x, from an end of a limb whose products float64 holds, against its axis."""
    axis, r = vector_difference(limb.p2, limb.p1), limb.radius
    return projected(x, axis, dd_dot(axis, axis), dd_dot(x, axis), (r, r, limb.radius2 - r))


@compiled
def aside(point: DoubleDoubleVector, base: Vector, limb: Limb) -> Aside:
    """A point of a limb of any size against its axis, seen from an end of it."""
    if limb.frame.extent < inf:
        return aside_of(from_point(point, base), limb)
    # first in quarters, whose differences are finite
    x = from_point((halved(point[0], 2), halved(point[1], 2), halved(point[2], 2)), quarter(base))
    axis = vector_difference(quarter(limb.p2), quarter(limb.p1))
    wide, long = exponent(x), exponent(axis)
    x = (halved(x[0], wide), halved(x[1], wide), halved(x[2], wide))
    axis = (halved(axis[0], long), halved(axis[1], long), halved(axis[2], long))
    top, height = dd_dot(axis, axis), halved(dd_dot(x, axis), long - wide)
    if height[0] < 0.0:
        height = (0.0, 0.0)
    if height[0] > top[0]:
        height = top
    taper = limb.radius2 - limb.radius
    sizes = in_units(limb.radius, wide + 2), in_units(limb.radius, long + 2), in_units(taper, long + 2)
    return projected(x, axis, top, height, sizes)


@inlined
def projected(
    x: DoubleDoubleVector, axis: DoubleDoubleVector, top: DoubleDouble, height: DoubleDouble, sizes: Vector
) -> Aside:
    """`Aside` with a × (x × a), which is a² M x with the lecture note's M = I - d dᵗ.

    The outer product needs no more than float64: its factors are at right angles.
    """
    m, a = heads(dd_cross(x, axis)), heads(axis)
    middle = dd_subtract(top, scaled(height, 2.0))[0] / select(top[0] > 0.0, top[0], 1.0)
    return Aside(heads(x), cross(a, m), a, top[0], middle, sizes[0], sizes[1], sizes[2])


@inlined
def exponent(v: DoubleDoubleVector) -> int:
    """The binary exponent of a vector's largest component."""
    return frexp(largest_component(heads(v)))[1]


@inlined
def halved(a: DoubleDouble, times: int) -> DoubleDouble:
    """A / 2**times."""
    return np.ldexp(a[0], -times), np.ldexp(a[1], -times)


@inlined
def in_units(length: float, exponent: int) -> float:
    """A length in units of 2**exponent, bounded."""
    return float(min(max(np.ldexp(length, -exponent), -MOST_UNITS), MOST_UNITS))


@inlined
def quarter(v: Vector) -> Vector:
    """V / 4."""
    return 0.25 * v[0], 0.25 * v[1], 0.25 * v[2]


@inlined
def tilted(beside: Aside, share: Real, slope: Real) -> Vector:
    """So much of what leads across the axis, less so much of the axis."""
    across, axis = beside.across, beside.axis
    return (
        share * across[0] - slope * axis[0],
        share * across[1] - slope * axis[1],
        share * across[2] - slope * axis[2],
    )


@inlined
def cap_normal(beside: Aside, face: float) -> Vector:
    """The outward direction of a cap."""
    x, y, z = beside.axis
    if face == CAP2:
        return x, y, z
    return -x, -y, -z


# Boxes --------------------------------------------------------------------------------------------------------------


@inlined
def has_safe_axis(limb: Limb) -> bool:
    """Whether the square of the axis has its digits."""
    return SMALLEST_SAFE < largest_component(axis_of(limb)) < LARGEST_SAFE


@inlined
def axis_of(limb: Limb) -> Vector:
    """From p1 to p2."""
    return limb.p2[0] - limb.p1[0], limb.p2[1] - limb.p1[1], limb.p2[2] - limb.p1[2]


@inlined
def disc_shares(limb: Limb) -> Vector:
    """How far a disc across the axis reaches along each coordinate, in radii, rounded up.

    About the unit axis w that is √(w_i² + w_j²); as a sum of squares it has no cancellation. Where the square of the
    axis may have lost its digits, 1 is enough.
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
def about_ends(limb: Limb, first: float, last: float, shares: Vector) -> tuple[Vector, Vector]:
    """Low and high corner about both ends, with a radius at each, of which `shares` count along the coordinates."""
    a, b, (x, y, z) = limb.p1, limb.p2, shares
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
def about_point(middle: Vector, reach: Vector) -> tuple[Vector, Vector]:
    """Low and high corner about a point."""
    x, y, z = middle
    return (x - reach[0], y - reach[1], z - reach[2]), (x + reach[0], y + reach[1], z + reach[2])
