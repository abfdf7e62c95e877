"""Approximate tests of a segment near points and boxes: whatever is within rounding errors counts as near."""

from typing import TypeAlias

from cylcollide._types import Float64Array
from cylcollide.kernels.double_double import Vector
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import Real, Truth, larger, logical_not, smaller

SLACK = 1e-12
"""Growth of a ball or a box relative to the coordinates, far above all rounding errors."""

STEEPEST = 1e300


@inlined
def size_of(x: float, y: float, z: float) -> float:
    """A bound on each |coordinate|."""
    return abs(x) + abs(y) + abs(z)


Segment: TypeAlias = tuple[Vector, Vector, float, float]
"""Start, end - start, 1 over the squared length (0 for a point), and a bound on each |coordinate|."""


@inlined
def segment_at(starts: Float64Array, ends: Float64Array, i: int) -> Segment:
    """Segment i."""
    x, y, z = starts[i, 0], starts[i, 1], starts[i, 2]
    u, v, w = ends[i, 0] - x, ends[i, 1] - y, ends[i, 2] - z
    square, size = u * u + v * v + w * w, size_of(x, y, z) + size_of(ends[i, 0], ends[i, 1], ends[i, 2])
    return (x, y, z), (u, v, w), 1.0 / square if square > 0.0 else 0.0, 2.0 * size


@inlined
def square_distance(segment: Segment, place: tuple[Real, ...] | Float64Array) -> Real:
    """The squared distance of a segment from a point, or from eight."""
    (a, b, c), (u, v, w), inverse, _ = segment
    p, q, r = place[0] - a, place[1] - b, place[2] - c
    time = smaller(larger((p * u + q * v + r * w) * inverse, 0.0), 1.0)
    p, q, r = p - time * u, q - time * v, r - time * w
    square: Real = p * p + q * q + r * r
    return square


@inlined
def slope_of(way: float) -> float:
    """1 over a coordinate of end - start, clamped to a finite number, so that its product with 0 is 0."""
    return min(max(1.0 / way, -STEEPEST), STEEPEST) if way != 0.0 else STEEPEST


@inlined
def _within_slab(start: float, slope: float, low: Real, high: Real) -> tuple[Real, Real]:
    """The fractions between which a segment is between two planes across an axis."""
    one, other = (low - start) * slope, (high - start) * slope
    return smaller(one, other), larger(one, other)


@inlined
def crosses(segment: Segment, slopes: Vector, low: tuple[Real, Real, Real], high: tuple[Real, Real, Real]) -> Truth:
    """Whether a segment enters boxes that include slack for rounding; False for boxes with only infinite corners."""
    a, b = _within_slab(segment[0][0], slopes[0], low[0], high[0])
    c, d = _within_slab(segment[0][1], slopes[1], low[1], high[1])
    e, f = _within_slab(segment[0][2], slopes[2], low[2], high[2])
    return logical_not(larger(larger(a, c), larger(e, 0.0)) > smaller(smaller(b, d), smaller(f, 1.0)))


@inlined
def with_slack(radius: float, largest: float) -> float:
    """The radius of a ball, plus slack for the rounding of coordinates of its centre up to `largest`."""
    return radius + SLACK * (radius + largest)


@inlined
def are_within(square: Real, segment: Segment, radius: Real) -> Truth:
    """`is_within` for a radius `with_slack`; slack for the segment's own coordinates is added."""
    reach = radius + SLACK * segment[3]
    return logical_not(square > reach * reach)


@inlined
def is_within(square: float, largest: float, radius: float) -> bool:
    """Whether a distance is at most the radius; True if float64 cannot resolve it. No coordinate exceeds `largest`."""
    reach = with_slack(radius, largest)
    return not square > reach * reach
