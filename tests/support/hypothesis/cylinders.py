"""Hypothesis strategies: limbs, segments and points, everyday ones and ones on exact knife edges.

Numbers are whole or half-whole multiples of a step, so that shrinking ends in small integers, moves by whole steps are
exact in float64, and touching, rims and cap planes come up by themselves.
"""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Array = NDArray[np.float64]

TRIPLES = [(3, 4, 5), (4, 3, 5), (-3, 4, 5), (5, 12, 13), (0, 5, 5), (-5, 0, 5), (8, -15, 17), (-4, -3, 5)]


class Case(NamedTuple):
    """One limb and one segment: p1, p2, start, end (3,), radius; all shifted and scaled together."""

    p1: Array
    p2: Array
    radius: float
    start: Array
    end: Array

    def scaled(self, factor: float) -> "Case":
        """Return the case with every length times `factor`."""
        return Case(self.p1 * factor, self.p2 * factor, self.radius * factor, self.start * factor, self.end * factor)

    def moved(self, by: Array) -> "Case":
        """Return the case moved by a vector."""
        return Case(self.p1 + by, self.p2 + by, self.radius, self.start + by, self.end + by)


small = st.integers(-12, 12)
points = st.tuples(small, small, small).map(lambda p: np.array(p, dtype=float))
reals = st.floats(-20, 20, allow_subnormal=False).map(lambda x: 0.0 if abs(x) < 1e-100 else x)
real_points = st.tuples(reals, reals, reals).map(np.array)
steps = points.filter(lambda p: bool(p.any()))
axes = st.integers(0, 2)


@st.composite
def everyday(draw: st.DrawFn) -> Case:
    """Any limb, any segment, numbers of full precision."""
    p1, p2 = draw(real_points), draw(real_points)
    if (p1 == p2).all():
        p2 = p1 + 1.0
    return Case(p1, p2, draw(st.floats(0.01, 20)), draw(real_points), draw(real_points))


@st.composite
def whole(draw: st.DrawFn) -> Case:
    """Whole numbers only: knife edges of every kind, and zero-length segments."""
    p1 = draw(points)
    p2 = p1 + draw(steps)
    return Case(p1, p2, float(draw(st.integers(1, 12))), draw(points), draw(points))


@st.composite
def aimed(draw: st.DrawFn) -> Case:
    """A segment through, to or from a point whose place in an upright limb is known: inside, side, cap, rim."""
    x, y, radius = draw(st.sampled_from(TRIPLES))
    height = draw(st.integers(1, 12))
    share = draw(st.sampled_from([0.0, 0.5, 1.0]))
    local = np.array([x * share, y * share, draw(st.integers(0, height))])
    step, before, after = draw(steps), draw(st.integers(0, 5)), draw(st.integers(0, 5))
    turn, base = draw(axes), draw(points)
    top = np.array([0.0, 0.0, height])
    p1, p2, start, end = (
        base + np.roll(p, turn) for p in (np.zeros(3), top, local - before * step, local + after * step)
    )
    swap = draw(st.booleans())
    return Case(p2 if swap else p1, p1 if swap else p2, float(radius), start, end)


cases = st.one_of(aimed(), whole(), everyday())
exact_cases = st.one_of(aimed(), whole())


class SurfacePoint(NamedTuple):
    """A limb along a world axis and a point exactly on its side, strictly between the caps."""

    p1: Array
    p2: Array
    radius: float
    point: Array
    across: int  # a coordinate that is not along the axis and differs from the axis' by `offset` != 0
    offset: float


@st.composite
def side_points(draw: st.DrawFn) -> SurfacePoint:
    """Return a point of the side with its outward direction along one coordinate."""
    x, y, radius = draw(st.sampled_from(TRIPLES))
    height, scale = draw(st.integers(2, 12)), 2.0 ** draw(st.integers(-10, 10))
    local = np.array([x, y, draw(st.integers(1, height - 1))], dtype=float)
    turn, base = draw(axes), draw(points)
    across = 0 if x else 1
    top = np.array([0.0, 0.0, height])
    p1, p2, point = ((base + np.roll(p, turn)) * scale for p in (np.zeros(3), top, local))
    return SurfacePoint(p1, p2, radius * scale, point, (across + turn) % 3, local[across] * scale)
