"""Euclidean distance of a segment from limbs that it misses, in float64.

Errors are below `DISTANCE_BOUND` times the limb's size and distance. They are a few roundings each of a point's
coordinates in the limb's frame, of its distance, and of the values that the search along the segment compares.
"""

from collections.abc import Callable
from itertools import pairwise
from math import copysign, hypot
from typing import NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import Float64Array, Int64Array, Shape
from cylcollide.constants import SMALLEST_SIZE
from cylcollide.exact.line import segment_numbers
from cylcollide.kernels.axis import from_centre
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.limb_table import Limb, LimbTable, box_axes
from cylcollide.kernels.near_line import nearest_on_tapered
from cylcollide.kernels.ray import dot
from cylcollide.query.clearance import least_distances
from cylcollide.query.segment_frame import SegmentAboutLimb, segment_about_limb

DISTANCE_BOUND = 2.0**-48
"""Largest error of a distance, relative to the limb's size and distance."""

FINEST = 2.0**-56
"""Interval at which the search along a segment ends, for a limb of size 1: the distance is 1-Lipschitz in the point."""

Offset: TypeAlias = tuple[float, float]
"""Components of the vector from the nearest point of a limb to a point: along the axis, and radially."""


class NearestLimb(NamedTuple):
    """The limb that is nearest to a segment."""

    limb: int
    """Row of the limb."""
    gap: float
    fraction: float
    """The fraction of `segment_point` along the segment."""
    point: Float64Array
    """The point of the limb nearest to the segment, (3,)."""
    segment_point: Float64Array
    """The point of the segment nearest to the limb, (3,)."""


def nearest_limb(table: LimbTable, rows: Int64Array, start: Float64Array, end: Float64Array) -> NearestLimb | None:
    """The limb in these rows that is nearest to the segment from start to end, (3,); the first of equals.

    None if there are no rows. Each limb must miss the segment; the distance of a limb that it hits is 0.
    """
    ray = segment_numbers(start, end)
    least = least_distances(table, ray)[rows]
    best: NearestLimb | None = None
    for k in np.argsort(least, kind="stable").tolist():
        if best is not None and least[k] > best.gap:
            break
        row = int(rows[k])
        about = segment_about_limb(ray, table, row)
        gap, s = _least_distance(about)
        if best is None or (gap / about.unit, row) < (best.gap, best.limb):
            on_segment = about.point(s)
            on_limb = about.in_world(_nearest_point(on_segment, about.limb))
            places = np.array(on_limb), np.array(about.in_world(on_segment))
            best = NearestLimb(row, gap / about.unit, about.fraction(s), *places)
    return best


def _least_distance(about: SegmentAboutLimb) -> tuple[float, float]:
    """The distance of the segment, and the s of its nearest point.

    The distance from a convex limb falls and then rises along the line. The distance from a tube does so on either side
    of the point nearest to the axis, or it rises, falls and rises as the line leaves the bore's mouth. There, at t from
    that point, with rates a along the axis and b across it, half the square of the distance from the rim of radius r
    has the derivative a² (t + t0) + b² t - r b² t / ρ, where ρ² = c² + b² t². Since t / ρ is concave, the derivative is
    convex: it is positive, then negative, then positive. Assume that its integral up to the second zero is negative:
    the later minimum is the smaller one. Then the first zero is less than half-way to the second, and the search, which
    drops 2/5 of the interval per step, keeps the second. Otherwise the minimum is at the end t = 0.
    """
    first, last = -about.before, about.behind
    middle = _nearest_to_axis(about) if about.limb.kind == Shape.TUBE else first
    cuts = (first, min(max(middle, first), last), last)

    def distance(s: float) -> float:
        return _distance(about.point(s), about.limb)

    return min(_least_between(distance, one, other) for one, other in pairwise(cuts))


def _nearest_to_axis(about: SegmentAboutLimb) -> float:
    """The s at which the line is nearest to the limb's axis, 0 if they are parallel."""
    axis = about.limb.axis
    rate, height = dot(about.direction, axis), dot(about.place, axis)
    across = [(u - rate * w, x - height * w) for u, x, w in zip(about.direction, about.place, axis, strict=True)]
    square = sum(u * u for u, _ in across)
    return -sum(u * x for u, x in across) / square if square > 0.0 else 0.0


def _least_between(distance: Callable[[float], float], first: float, last: float) -> tuple[float, float]:
    """The minimum of a unimodal function, one that falls and then rises, and its argument.

    Each step drops 2/5 of the interval that may hold the minimum. It recomputes both inner points: the points of a
    golden section search drift when the interval shrinks by many orders of magnitude. If values err by δ, a step may
    drop the wrong part. Since the function is convex about its minimum, that adds an error of at most 6 δ.
    """
    best = min((distance(first), first), (distance(last), last))
    a, b = first, last
    while b - a > FINEST:
        s, t = a + 0.4 * (b - a), a + 0.6 * (b - a)
        if not a < s < t < b:
            break
        at_s, at_t = distance(s), distance(t)
        best = min(best, (at_s, s), (at_t, t))
        a, b = (a, t) if at_s <= at_t else (s, b)
    return best


# Points -------------------------------------------------------------------------------------------------------------


def _distance(point: Vector, limb: Limb) -> float:
    """Distance of a point from a limb, 0 inside, in the limb's frame."""
    return hypot(*(_box_offset(point, limb) if limb.kind == Shape.BOX else _offset(*_profile(point, limb), limb)))


def _nearest_point(point: Vector, limb: Limb) -> Vector:
    """The point of the limb nearest to a point; the point itself if it is inside."""
    if limb.kind == Shape.BOX:
        offset, axes = _box_offset(point, limb), box_axes(limb)[0]
        x, y, z = (p - sum(o * axis[k] for o, axis in zip(offset, axes, strict=True)) for k, p in enumerate(point))
        return x, y, z
    height, radius = _profile(point, limb)
    along, away = _offset(height, radius, limb)
    axis = limb.axis
    radial = [p - height * w for p, w in zip(point, axis, strict=True)]
    if radius == 0.0 and away != 0.0:  # on the axis of a tube: any radial direction
        k = min(range(3), key=lambda k: abs(axis[k]))
        radial = [float(i == k) - axis[k] * w for i, w in enumerate(axis)]
        radius = hypot(*radial)
    share = away / radius if radius > 0.0 else 0.0
    x, y, z = (p - along * w - share * r for p, w, r in zip(point, axis, radial, strict=True))
    return x, y, z


def _box_offset(point: Vector, limb: Limb) -> Vector:
    """The vector from the nearest point of a box to a point, in components along its axes."""
    x, y, z = (_beyond(dot(point, axis), half) for axis, half in zip(*box_axes(limb), strict=True))
    return x, y, z


def _beyond(x: float, half: float) -> float:
    """The signed distance of x from the interval [-half, half]."""
    return copysign(max(abs(x) - half, 0.0), x)


def _profile(point: Vector, limb: Limb) -> tuple[float, float]:
    """Coordinate of a point along the axis, 0 at the centre; and its distance from the axis."""
    v, w = from_centre(point, limb), limb.axis
    height = dot(v, w)
    return height, hypot(*(x - height * y for x, y in zip(v, w, strict=True)))


def _offset(height: float, radius: float, limb: Limb) -> Offset:
    """The vector from the nearest point of a limb to a point, in the half plane of axis and point; 0 inside."""
    top = limb.half_length
    has_wall = max(top, abs(limb.radius2 - limb.radius)) >= SMALLEST_SIZE  # else the wall's square underflows
    if limb.kind == Shape.TAPERED and has_wall:
        return nearest_on_tapered(height, radius, limb)
    if limb.kind == Shape.ELLIPSOID:
        return _offset_of_ellipse(height, radius, top, limb.radius)
    if limb.kind in (Shape.CAPSULE, Shape.SPHERE):
        along = _beyond(height, top)
        distance = hypot(along, radius)
        share = max(distance - limb.radius, 0.0) / distance if distance > 0.0 else 0.0
        return share * along, share * radius
    if limb.kind in (Shape.CYLINDER, Shape.TUBE, Shape.TAPERED):
        away = max(radius - limb.radius, 0.0) - (max(limb.radius2 - radius, 0.0) if limb.kind == Shape.TUBE else 0.0)
        return _beyond(height, top), away
    raise KeyError(Shape(limb.kind))


def _offset_of_ellipse(height: float, radius: float, a: float, b: float) -> Offset:
    """`_offset` of an ellipsoid with half axes a along and b across.

    The nearest point of the ellipse is (a² x / (t + a²), b² y / (t + b²)) for the unique t >= 0 that puts it on the
    ellipse; the offset is (t x / (t + a²), t y / (t + b²)). Bisection finds t. D. Eberly, "Distance from a Point to an
    Ellipse", 2013.
    """
    x, y = abs(height), radius
    if hypot(x / a, y / b) <= 1.0:
        return 0.0, 0.0
    low, high, least = 0.0, hypot(a * x, b * y), min(a, b) ** 2
    while high - low > FINEST * (low + least):
        t = 0.5 * (low + high)
        if not low < t < high:
            break
        outside = hypot(a * x / (t + a * a), b * y / (t + b * b)) > 1.0
        low, high = (t, high) if outside else (low, t)
    return copysign(high * x / (high + a * a), height), high * y / (high + b * b)
