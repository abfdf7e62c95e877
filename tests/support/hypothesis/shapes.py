"""Hypothesis strategies for every shape: one limb and one segment, everyday or exactly degenerate.

Numbers are integers or have full precision. Integers shrink well, move without
rounding, and often give touches, seams, apexes, edges and faces.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from support.cases.frames import Array
from support.cases.shape_rays_exact import TURNS, turned_rows
from support.oracle.shapes.rows import Shapes, shapes
from support.oracle.shapes.table import SHAPE_ROWS

import cylcollide as cc

KINDS = tuple(SHAPE_ROWS)
TRIPLES = [(3, 4, 5), (4, 3, 5), (-3, 4, 5), (5, 12, 13), (0, 5, 5), (-5, 0, 5), (8, -15, 17), (-4, -3, 5)]

small = st.integers(-12, 12)
points = st.tuples(small, small, small).map(lambda p: np.array(p, dtype=float))
reals = st.floats(-20, 20, allow_subnormal=False).map(lambda x: 0.0 if abs(x) < 1e-100 else x)
real_points = st.tuples(reals, reals, reals).map(np.array)
steps = points.filter(lambda p: bool(p.any()))
axes = st.integers(0, 2)


class ShapeCase(NamedTuple):
    """One limb, as arrays of one row, and one segment start → end (3,)."""

    limb: Shapes
    start: Array
    end: Array

    @property
    def kind(self) -> int:
        """Return the shape."""
        return int(self.limb.kind[0])

    def scaled(self, factor: float) -> "ShapeCase":
        """Return the case with every length times `factor`."""
        return ShapeCase(self.limb.scaled(factor), self.start * factor, self.end * factor)

    def moved(self, by: Array) -> "ShapeCase":
        """Return the case moved by a vector."""
        limb = replace(self.limb, p1=self.limb.p1 + by, p2=self.limb.p2 + by)
        return ShapeCase(limb, self.start + by, self.end + by)

    def reversed(self) -> "ShapeCase":
        """Return the case with the segment reversed."""
        return ShapeCase(self.limb, self.end, self.start)

    def to(self, **columns: object) -> "ShapeCase":
        """Return the case with the given columns of the limb replaced."""
        return self._replace(limb=replace(self.limb, **{k: np.asarray(v) for k, v in columns.items()}))

    def cast(self, inside: str = "hit") -> cc.RayHits:
        """Return the library's hit."""
        return self.limb.limbs().cast_segments([self.start], [self.end], inside=inside)

    def chords(self, inside: str = "hit") -> cc.Chords:
        """Return all chords of the limb."""
        return cc.HitWorld(self.limb.limbs()).chords_segments([self.start], [self.end], inside=inside)

    def ulp(self) -> float:
        """Return one ulp of the largest coordinate among limb and segment; hit points lie between start and end."""
        return float(np.spacing(max(np.abs(x).max() for x in (self.limb.p1, self.limb.p2, self.start, self.end))))


def limb_of(kind: int, **columns: Array | float) -> Shapes:
    """Return one limb from the columns that its shape takes."""
    taken = {name: np.asarray(columns[name])[None] for name in SHAPE_ROWS[kind].takes}
    return shapes(kind, **taken)


def _radii(draw: st.DrawFn, kind: int, radius: int) -> tuple[float, float]:
    """Return both integer radii of a limb."""
    first, second = SHAPE_ROWS[kind].radii(lambda choices: draw(st.sampled_from(choices)), radius)
    return float(first), float(second)


@st.composite
def everyday(draw: st.DrawFn, kinds: tuple[int, ...] = KINDS) -> ShapeCase:
    """Any limb, any segment, numbers of full precision."""
    kind, p1, p2 = draw(st.sampled_from(kinds)), draw(real_points), draw(real_points)
    row = SHAPE_ROWS[kind]
    if (p1 == p2).all() and not row.may_have_no_length:
        p2 = p1 + 1.0
    radius = draw(st.floats(0.01, 20))
    radius2 = radius * draw(st.floats(*row.share or (0, 0)).map(lambda x: 0.0 if x < 1e-100 else x))
    turn = np.array(draw(st.tuples(*[st.floats(-1, 1).filter(lambda x: abs(x) > 1e-3)] * 4)))
    half = np.array(draw(st.tuples(*[st.floats(0.01, 20)] * 3)))
    limb = limb_of(kind, p1=p1, p2=p2, radius=radius, radius2=radius2, orientation=turn, half=half)
    return ShapeCase(limb, draw(real_points), draw(real_points))


@st.composite
def whole(draw: st.DrawFn, kinds: tuple[int, ...] = KINDS) -> ShapeCase:
    """Integers only; boxes have an exact rotation."""
    kind, p1 = draw(st.sampled_from(kinds)), draw(points)
    radius, radius2 = _radii(draw, kind, draw(st.integers(1, 12)))
    turn = np.array(draw(st.sampled_from(TURNS.tolist())))
    half = np.array(draw(st.tuples(*[st.integers(1, 12)] * 3)), dtype=float)
    limb = limb_of(kind, p1=p1, p2=p1 + draw(steps), radius=radius, radius2=radius2, orientation=turn, half=half)
    return ShapeCase(limb, draw(points), draw(points))


@st.composite
def aimed(draw: st.DrawFn, kinds: tuple[int, ...] = KINDS) -> ShapeCase:
    """A segment through, to or from a point of an axis-parallel limb: wall, bore, rim, seam, tip, pole, apex, edge."""
    kind = draw(st.sampled_from(kinds))
    x, y, r = draw(st.sampled_from(TRIPLES))
    height, share = 2 * draw(st.integers(1, 8)), draw(st.sampled_from([0, 1, 2]))
    radius, radius2 = _radii(draw, kind, r)
    half = np.array([abs(x) + 1, abs(y) + 1, height], dtype=float)
    z = draw(st.sampled_from([0, height // 2, height, -int(radius), height + int(radius)]))
    local = np.array([x * share, y * share, z], dtype=float)
    quaternion = np.array(draw(st.sampled_from(TURNS.tolist())))
    has_turn = "orientation" in SHAPE_ROWS[kind].takes
    if has_turn:
        local = half * draw(st.tuples(*[st.sampled_from([-1.0, 0.0, 0.5, 1.0])] * 3))
        local = turned_rows(quaternion[None])[0].T @ local
    step, before, after = draw(steps), draw(st.integers(0, 5)), draw(st.integers(0, 5))
    turn, base, up = 0 if has_turn else draw(axes), draw(points), np.array([0.0, 0.0, height])
    p1, p2, start, end = (base + np.roll(p, turn) for p in (0 * up, up, local - before * step, local + after * step))
    limb = limb_of(kind, p1=p1, p2=p2, radius=radius, radius2=radius2, orientation=quaternion, half=half)
    return ShapeCase(limb, start, end)


def any_case(*kinds: int) -> st.SearchStrategy[ShapeCase]:
    """Return cases of the given shapes."""
    return st.one_of(aimed(kinds), whole(kinds), everyday(kinds))


def exact_case(*kinds: int) -> st.SearchStrategy[ShapeCase]:
    """Return cases with integer coordinates of the given shapes."""
    return st.one_of(aimed(kinds), whole(kinds))


cases, exact_cases = any_case(*KINDS), exact_case(*KINDS)
with_axis = any_case(*(kind for kind in KINDS if "p2" in SHAPE_ROWS[kind].takes))
round_cases = exact_case(*(kind for kind, row in SHAPE_ROWS.items() if "orientation" not in row.takes))
