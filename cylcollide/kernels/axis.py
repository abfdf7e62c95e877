"""A limb with an axis, seen from a point: what several shapes need for point tests, normals and boxes."""

from math import frexp, inf, sqrt
from typing import NamedTuple

import numpy as np

from cylcollide._types import LARGEST_SAFE, SMALLEST_SAFE, UNIT_ROUNDOFF, Face
from cylcollide.compiling import compiled, merged
from cylcollide.kernels.double_double import (
    DoubleDouble,
    DoubleDoubleVector,
    Vector,
    dd_add,
    dd_divide,
    dd_dot,
    dd_multiply,
    dd_subtract,
    heads,
    vector_difference,
)
from cylcollide.kernels.line import Frame
from cylcollide.kernels.ray import dot, largest_component
from cylcollide.kernels.table import Limb
from cylcollide.simd import Real, square_root

CAP2 = float(Face.CAP2)

MARGIN = 64.0 * UNIT_ROUNDOFF
"""Relative errors of boxes are below 16 u; a box's axes are unit vectors to 8 u, which its inverse doubles."""

MOST_UNITS = 2.0**300
"""Stands in for a larger radius in units of an `Aside`: against it 1 vanishes, and its square is finite."""


# Points -------------------------------------------------------------------------------------------------------------


@merged
def offset(point: Vector, frame: Frame) -> Vector:
    """From the limb's centre to the point."""
    return point[0] - frame.centre[0], point[1] - frame.centre[1], point[2] - frame.centre[2]


@merged
def height_and_distance(point: Vector, frame: Frame) -> tuple[Real, Real]:
    """Place of a point along the axis, from the centre, and its distance from the axis."""
    v, w = offset(point, frame), frame.axis
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
    """A surface point beside the axis, across and along it.

    Where products of the limb's lengths would leave float64, lengths across the axis are in units of 2**wide and those
    along it in units of 2**long; elsewhere both exponents are 0.
    """

    across: DoubleDoubleVector  # from the axis to the point
    u: DoubleDouble  # axial place: 0 at p1, 1 at p2
    axis: DoubleDoubleVector  # from p1 to p2
    axis_squared: DoubleDouble
    wide: int
    long: int


@compiled
def aside(point: DoubleDoubleVector, limb: Limb) -> Aside:
    """The point against the axis: M (P - p1) with M = I - d dᵗ, the lecture note's projection."""
    x, axis = from_point(point, limb.p1), vector_difference(limb.p2, limb.p1)
    if limb.frame.extent < inf:
        return projected(x, axis, 0, 0)
    # first in quarters, whose differences are finite
    p1, p2 = quarter(limb.p1), quarter(limb.p2)
    x = from_point((halved(point[0], 2), halved(point[1], 2), halved(point[2], 2)), p1)
    axis = vector_difference(p2, p1)
    wide, long = exponent(x), exponent(axis)
    x = (halved(x[0], wide), halved(x[1], wide), halved(x[2], wide))
    return projected(x, (halved(axis[0], long), halved(axis[1], long), halved(axis[2], long)), wide + 2, long + 2)


@merged
def projected(x: DoubleDoubleVector, axis: DoubleDoubleVector, wide: int, long: int) -> Aside:
    """`aside` for x from p1 in units of 2**wide and the axis in units of 2**long."""
    top = dd_dot(axis, axis)
    along = dd_divide(dd_dot(x, axis), top)
    across = (
        dd_subtract(x[0], dd_multiply(along, axis[0])),
        dd_subtract(x[1], dd_multiply(along, axis[1])),
        dd_subtract(x[2], dd_multiply(along, axis[2])),
    )
    if wide != long:
        along = halved(along, long - wide)
        if along[0] < 0.0:
            along = (0.0, 0.0)
        if along[0] > 1.0:
            along = (1.0, 0.0)
    return Aside(across, along, axis, top, wide, long)


@merged
def exponent(v: DoubleDoubleVector) -> int:
    """The binary exponent of a vector's largest component."""
    return frexp(largest_component(heads(v)))[1]


@merged
def halved(a: DoubleDouble, times: int) -> DoubleDouble:
    """A / 2**times."""
    return np.ldexp(a[0], -times), np.ldexp(a[1], -times)


@merged
def in_units(a: DoubleDouble, exponent: int) -> DoubleDouble:
    """A in units of 2**exponent, bounded."""
    high, low = halved(a, exponent)
    if abs(high) > MOST_UNITS:
        return (MOST_UNITS if high > 0.0 else -MOST_UNITS), 0.0
    return high, low


@merged
def quarter(v: Vector) -> Vector:
    """V / 4."""
    return 0.25 * v[0], 0.25 * v[1], 0.25 * v[2]


@compiled
def tilted(beside: Aside, slope: DoubleDouble) -> Vector:
    """The outward direction of a sloping wall.

    That is across the axis less half the slope of ρ², which is ρ ρ' |axis| over u, along the axis.
    """
    tilt = dd_divide(slope, beside.axis_squared)
    across, axis = beside.across, beside.axis
    return (
        dd_subtract(across[0], dd_multiply(tilt, axis[0]))[0],
        dd_subtract(across[1], dd_multiply(tilt, axis[1]))[0],
        dd_subtract(across[2], dd_multiply(tilt, axis[2]))[0],
    )


@merged
def cap_normal(limb: Limb, face: float) -> Vector:
    """The outward direction of a cap."""
    p1, p2 = limb.p1, limb.p2
    if limb.frame.extent == inf:
        p1, p2 = quarter(p1), quarter(p2)
    if face == CAP2:
        return p2[0] - p1[0], p2[1] - p1[1], p2[2] - p1[2]
    return p1[0] - p2[0], p1[1] - p2[1], p1[2] - p2[2]


# Boxes --------------------------------------------------------------------------------------------------------------


@merged
def has_safe_axis(limb: Limb) -> bool:
    """Whether the square of the axis has its digits."""
    return SMALLEST_SAFE < largest_component(axis_of(limb)) < LARGEST_SAFE


@merged
def axis_of(limb: Limb) -> Vector:
    """From p1 to p2."""
    return limb.p2[0] - limb.p1[0], limb.p2[1] - limb.p1[1], limb.p2[2] - limb.p1[2]


@merged
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


@merged
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


@merged
def about_point(middle: Vector, reach: Vector) -> tuple[Vector, Vector]:
    """Low and high corner about a point."""
    x, y, z = middle
    return (x - reach[0], y - reach[1], z - reach[2]), (x + reach[0], y + reach[1], z + reach[2])
