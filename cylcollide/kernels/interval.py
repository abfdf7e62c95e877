"""Bounds from both sides: when a ray is possibly and when it is certainly inside a solid.

A `Bracket` is two intervals of the ray, in metres: `outer` contains the true one, `inner` is contained in it. They come
from the solid grown and shrunk by more than all rounding errors (`docs/numerics.md`); verdicts follow by comparison.
"""

from math import inf, sqrt
from typing import NamedTuple, TypeAlias

from cylcollide._types import HIT, MISS, UNSURE
from cylcollide.simd import compiled, merged

Interval: TypeAlias = tuple[float, float]

EVERYTHING: Interval = (-inf, inf)
NOTHING: Interval = (inf, -inf)
UNDECIDED = -1  # a face the bounds do not decide


class Bracket(NamedTuple):
    """An interval of the ray between two bounds."""

    outer: Interval
    inner: Interval


class Span(NamedTuple):
    """When the ray is inside a limb, and through which faces, as far as the bounds tell."""

    outer: Interval
    inner: Interval
    first_face: int
    last_face: int


@merged
def empty(interval: Interval) -> bool:
    """Whether nothing is in it."""
    return interval[0] > interval[1]


@merged
def intersection(a: Interval, b: Interval) -> Interval:
    """What two intervals share; empty if the first end comes out after the second."""
    return max(a[0], b[0]), min(a[1], b[1])


@compiled
def hull(a: Interval, b: Interval) -> Interval:
    """The smallest interval around both; an empty one counts for nothing."""
    if empty(a):
        return b
    if empty(b):
        return a
    return min(a[0], b[0]), max(a[1], b[1])


@merged
def about(middle: float, half_squared: float) -> Interval:
    """[middle - half, middle + half], nothing if half_squared is negative."""
    if not half_squared >= 0.0:
        return NOTHING
    half = sqrt(half_squared)
    return middle - half, middle + half


@merged
def both(a: Bracket, b: Bracket) -> Bracket:
    """Bounds of the intersection."""
    return Bracket(intersection(a.outer, b.outer), intersection(a.inner, b.inner))


@merged
def unknown() -> Span:
    """Nothing is certain."""
    return Span(EVERYTHING, NOTHING, UNDECIDED, UNDECIDED)


@merged
def hit_verdict(outer: Interval, inner: Interval, limit: float) -> int:
    """HIT if even the shrunk limb meets [0, limit], MISS if not even the grown one does, else UNSURE."""
    if empty(outer) or outer[1] < 0.0 or outer[0] > limit:
        return MISS
    if not empty(inner) and inner[1] >= 0.0 and inner[0] <= limit:
        return HIT
    return UNSURE


@merged
def start_verdict(outer: Interval, inner: Interval) -> int:
    """HIT if the start certainly lies in the limb, MISS if it certainly does not, else UNSURE."""
    if outer[0] > 0.0 or outer[1] < 0.0 or empty(outer):
        return MISS
    if inner[0] <= 0.0 <= inner[1]:
        return HIT
    return UNSURE
