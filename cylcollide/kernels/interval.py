"""Bounds from both sides: when a ray is possibly and when it is certainly inside a solid.

A `Bracket` is two intervals of the ray, in metres: `outer` contains the true one, `inner` is contained in it. They come
from the solid grown and shrunk by more than all rounding errors (`docs/numerics.md`); verdicts follow by comparison.
An interval whose end comes before its beginning is empty, and stays so when it is intersected.
"""

from math import inf
from typing import NamedTuple, TypeAlias

from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import Real, Truth, larger, select, smaller, square_root

Interval: TypeAlias = tuple[Real, Real]

EVERYTHING: Interval = (-inf, inf)
NOTHING: Interval = (inf, -inf)
UNDECIDED_FACE = -1.0
"""A face the bounds do not decide. Faces are numbers here, so that eight of them can lie side by side."""


class Bracket(NamedTuple):
    """An interval of the ray between two bounds."""

    outer: Interval
    inner: Interval


class Span(NamedTuple):
    """When the ray is inside a limb, and through which faces, as far as the bounds tell."""

    outer: Interval
    inner: Interval
    first_face: Real
    last_face: Real


@inlined
def empty(interval: Interval) -> Truth:
    """Whether nothing is in it."""
    return interval[0] > interval[1]


@inlined
def intersection(a: Interval, b: Interval) -> Interval:
    """What two intervals share; empty if the first end comes out after the second."""
    return larger(a[0], b[0]), smaller(a[1], b[1])


@inlined
def select_interval(truth: Truth, a: Interval, b: Interval) -> Interval:
    """`a` where `truth`, else `b`."""
    return select(truth, a[0], b[0]), select(truth, a[1], b[1])


@inlined
def hull(a: Interval, b: Interval) -> Interval:
    """The smallest interval around both; an empty one counts for nothing."""
    a, b = select_interval(empty(a), (inf, -inf), a), select_interval(empty(b), (inf, -inf), b)
    return smaller(a[0], b[0]), larger(a[1], b[1])


@inlined
def about(middle: Real, half_squared: Real, exists: Truth) -> Interval:
    """[middle - half, middle + half]; nothing if half_squared is negative or what it is about does not exist."""
    half = select((half_squared >= 0.0) & exists, square_root(half_squared), -inf)
    return middle - half, middle + half


@inlined
def both(a: Bracket, b: Bracket) -> Bracket:
    """Bounds of the intersection."""
    return Bracket(intersection(a.outer, b.outer), intersection(a.inner, b.inner))


@inlined
def unless(undecided: Truth, span: Span) -> Span:
    """The span; where it is doubtful, everything is possible and nothing certain."""
    return Span(
        select_interval(undecided, (-inf, inf), span.outer),
        select_interval(undecided, (inf, -inf), span.inner),
        select(undecided, -1.0, span.first_face),
        select(undecided, -1.0, span.last_face),
    )
