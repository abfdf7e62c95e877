"""Intervals of a ray, and brackets: when a ray is possibly and when it is certainly inside a solid.

A `Bracket` is two intervals of the ray, in metres: `outer` contains the true one, `inner` is contained in it. They come
from the solid grown and shrunk by more than all rounding errors (`docs/numerics.md`); verdicts follow by comparison.
An interval whose end comes before its beginning is empty, and stays so when it is intersected.
"""

from math import inf
from typing import NamedTuple, TypeAlias

from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import Real, Truth, broadcast_like, larger, select, smaller, square_root

Interval: TypeAlias = tuple[Real, Real]

EVERYTHING: Interval = (-inf, inf)
NOTHING: Interval = (inf, -inf)
UNDECIDED_FACE = -1.0
"""Code of a face that the bounds do not decide. Face codes are float64 in kernels, so that eight fill a vector."""


class Bracket(NamedTuple):
    """Bounds of an interval of the ray, metres."""

    outer: Interval  # contains it
    inner: Interval  # is contained in it


class Span(NamedTuple):
    """Bounds of when the ray is inside one piece of a limb, and the faces through which it enters and leaves."""

    outer: Interval  # as in `Bracket`
    inner: Interval
    first_face: Real  # `UNDECIDED_FACE` if the bounds do not decide it
    last_face: Real


@inlined
def empty(interval: Interval) -> Truth:
    """Whether the interval is empty."""
    return interval[0] > interval[1]


@inlined
def intersection(a: Interval, b: Interval) -> Interval:
    """The intersection of two intervals, which may be empty."""
    return larger(a[0], b[0]), smaller(a[1], b[1])


@inlined
def select_interval(truth: Truth, a: Interval, b: Interval) -> Interval:
    """`a` where `truth`, else `b`."""
    return select(truth, a[0], b[0]), select(truth, a[1], b[1])


@inlined
def hull(a: Interval, b: Interval) -> Interval:
    """The smallest interval that contains both; empty ones are left out."""
    a, b = select_interval(empty(a), NOTHING, a), select_interval(empty(b), NOTHING, b)
    return smaller(a[0], b[0]), larger(a[1], b[1])


@inlined
def centred_interval(middle: Real, half_squared: Real, exists: Truth) -> Interval:
    """[middle - half, middle + half]; empty if half_squared is negative or `exists` is false."""
    half = select((half_squared >= 0.0) & exists, square_root(half_squared), -inf)
    return middle - half, middle + half


@inlined
def intersect_brackets(a: Bracket, b: Bracket) -> Bracket:
    """Bounds of the intersection of two bounded intervals."""
    return Bracket(intersection(a.outer, b.outer), intersection(a.inner, b.inner))


@inlined
def nothing_known(like: Real) -> Span:
    """A span without information."""
    low, high, face = broadcast_like(-inf, like), broadcast_like(inf, like), broadcast_like(UNDECIDED_FACE, like)
    return Span((low, high), (high, low), face, face)


@inlined
def undecided_where(undecided: Truth, span: Span) -> Span:
    """The span; where `undecided`, outer is everything, inner is empty, and the faces are undecided."""
    return Span(
        select_interval(undecided, EVERYTHING, span.outer),
        select_interval(undecided, NOTHING, span.inner),
        select(undecided, UNDECIDED_FACE, span.first_face),
        select(undecided, UNDECIDED_FACE, span.last_face),
    )
