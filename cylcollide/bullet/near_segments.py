"""A segment, and about how far it is from points and boxes: what rounding may do counts as near."""

from typing import TypeAlias

from cylcollide._types import Float64Array
from cylcollide.kernels.double_double import Vector
from cylcollide.runtime.compile import inlined

SLACK = 1e-12
"""Share of the coordinates by which a ball or a box is larger, far above all rounding."""

STEEPEST = 1e300


@inlined
def size_of(x: float, y: float, z: float) -> float:
    """A number as large as any coordinate."""
    return abs(x) + abs(y) + abs(z)


Segment: TypeAlias = tuple[Vector, Vector, float, float]
"""Start and way of a segment, 1 over its squared length (0 for a point), and a number as large as any coordinate."""


@inlined
def segment_at(starts: Float64Array, ends: Float64Array, i: int) -> Segment:
    """Segment i."""
    x, y, z = starts[i, 0], starts[i, 1], starts[i, 2]
    u, v, w = ends[i, 0] - x, ends[i, 1] - y, ends[i, 2] - z
    square, size = u * u + v * v + w * w, size_of(x, y, z) + size_of(ends[i, 0], ends[i, 1], ends[i, 2])
    return (x, y, z), (u, v, w), 1.0 / square if square > 0.0 else 0.0, 2.0 * size


@inlined
def square_distance(segment: Segment, place: Float64Array) -> float:
    """The squared distance of a segment from a point."""
    (a, b, c), (u, v, w), inverse, _ = segment
    p, q, r = place[0] - a, place[1] - b, place[2] - c
    time = min(max((p * u + q * v + r * w) * inverse, 0.0), 1.0)
    p, q, r = p - time * u, q - time * v, r - time * w
    square: float = p * p + q * q + r * r
    return square


@inlined
def slope_of(way: float) -> float:
    """1 over a coordinate of the way of a segment, finite: so large a number times 0 is 0."""
    return min(max(1.0 / way, -STEEPEST), STEEPEST) if way != 0.0 else STEEPEST


@inlined
def crosses(segment: Segment, slopes: Vector, box: Float64Array) -> bool:
    """Whether a segment enters a box that is large enough for all rounding; True for an empty one."""
    first, last = 0.0, 1.0
    for axis in range(3):
        start, slope = segment[0][axis], slopes[axis]
        one, other = (box[axis] - start) * slope, (box[3 + axis] - start) * slope
        first, last = max(first, min(one, other)), min(last, max(one, other))
    return not first > last


@inlined
def is_within(square: float, largest: float, radius: float) -> bool:
    """Whether a distance is at most the radius; True if float64 does not tell. No coordinate exceeds `largest`."""
    reach = radius + SLACK * (radius + largest)
    return not square > reach * reach
