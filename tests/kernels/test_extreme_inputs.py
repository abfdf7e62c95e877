"""Extreme inputs of kernels: ulp by ulp across every surface, past apexes, and at sizes beyond the trusted range.

Every answer is compared with the oracle's. Random families cover these cases only by chance.
"""

from collections import Counter

import numpy as np
import pytest
from support.cases.frames import Array
from support.check_cylinders import IS_COMPILED
from support.check_shapes import ShapeTally, compare_hits, row_truths
from support.oracle.any_shape import classify
from support.oracle.lines import CYLINDER, ELLIPSOID, TAPERED
from support.oracle.shapes import tapered
from support.oracle.shapes.rows import Shapes, Shots, shapes, shots
from support.oracle.shapes.table import NAMES, SHAPE_ROWS

import cylcollide as cc
from cylcollide.kernels.curve import near_root

pytestmark = pytest.mark.plain_python

STEPS = np.unique(np.concatenate([np.arange(-6, 7), np.arange(-360, 361, 40)]))
"""Offsets from a surface in ulps; the rounding bound is a few hundred."""


def all_of(one: Shapes, count: int) -> Shapes:
    """Return one limb `count` times."""
    return one.take(np.zeros(count, np.int64))


def checked(questions: Shots) -> ShapeTally:
    """Assert that hits are right under each policy; return the tally."""
    tally, truths = ShapeTally(), row_truths(questions)
    for inside in ("exit", "ignore", "hit"):
        tally = compare_hits(questions.cast(inside), truths, inside)
        assert not tally.problems, tally.report()
    return tally


def swept(point: Array, out: Array, along: Array) -> tuple[Array, Array]:
    """Return segments along `along` through a point moved outwards in steps of an ulp of 1."""
    middle = np.asarray(point) + STEPS[:, None] * 2.0**-52 * np.asarray(out)
    return middle - 2.0 * np.asarray(along), middle + 3.0 * np.asarray(along)


TANGENTS = {name: tangent for row in SHAPE_ROWS.values() for name, tangent in row.tangents.items()}


@pytest.mark.parametrize("name", TANGENTS)
def test_every_ulp_across_a_tangent(name: str):
    limb, point, out, along, touched = TANGENTS[name]
    tally = checked(shots(all_of(limb, len(STEPS)), *swept(point, out, along)))
    assert min(tally.hits, tally.misses) > len(STEPS) // 3 or touched == "a bore"
    assert tally.touches > 0 or touched in ("a line", "a bore")


@pytest.mark.coverage("ball", "brick's edge", "taper")
@pytest.mark.parametrize("name", TANGENTS)
def test_every_ulp_about_an_end(name: str):
    """Segments from inside and outside up to the surface: the last ulp decides whether they leave or reach the limb."""
    limb, point, out, *_ = TANGENTS[name]
    last = np.asarray(point) + STEPS[:, None] * 2.0**-52 * np.asarray(out)
    within, without = (
        checked(shots(all_of(limb, len(STEPS)), np.asarray(point) + far * np.asarray(out) + 0 * last, last))
        for far in (-0.25, 0.25)
    )
    assert within.started_inside == len(STEPS)
    assert (
        len(STEPS) // 3
        < sum(n for (_, face), n in within.exit_seen.items() if face == cc.Face.INSIDE)
        < 2 * len(STEPS) // 3
    )
    assert len(STEPS) // 3 < without.hits < 2 * len(STEPS) // 3
    inside = limb.limbs().classify_points(last) != cc.Side.OUTSIDE
    assert np.array_equal(limb.limbs().axis_distance_squared(last) >= 0.0, inside)
    assert inside.sum() == without.hits


@pytest.mark.parametrize("direction", [(0, 0, 1), (0.125, 0, 1), (0.5, 0, 1), (1, 0, 0.5), (1, 0, 0)])
def test_every_ulp_past_an_apex(direction: tuple):
    """Rays down the cone, along a generator and across: within the rounding bound they hit both nappes of the wall."""
    begins = [swept((0, 0, 4), out, direction) for out in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
    start, end = (np.concatenate(parts) for parts in zip(*begins, strict=True))
    ends = tapered.CONE.p2, tapered.CONE.p1
    upside_down = shapes(TAPERED, *ends, radius=np.array([0.0]), radius2=np.array([2.0]))
    for cone in (tapered.CONE, upside_down):
        tally = checked(shots(all_of(cone, len(start)), start, end))
        assert tally.hits > len(STEPS) // 3


def test_an_egg_grazed_exactly_at_the_rounding_bound():
    """x² - r² and the slack of the 3-4-5 egg are integers in ulps: for some x they cancel to 0."""
    egg = shapes(ELLIPSOID, np.zeros((1, 3)), np.array([[0.0, 0, 8]]), radius=np.array([3.0]))
    extents = np.arange(8, 72, 3 if IS_COMPILED else 8)
    off = (125 * extents[:, None] + np.arange(-2, 3)).ravel() * 2.0**-51
    x = 3.0 + np.concatenate([off, -off])
    start, end = (np.column_stack([x, 0 * x + y, 0 * x + 4]) for y in (-17.0, 17.0))
    tally = checked(shots(all_of(egg, len(x)), start, end))
    assert tally.hits == len(off)


@pytest.mark.parametrize("radius", [1e-150, 1e-100, 1e-40])
def test_walls_thinner_than_an_ulp_of_fraction(radius: float):
    """The hit is accurate to 4 ulp; its side of the axis is not, and so the normal may be lost."""
    n = 40
    rod = shapes(CYLINDER, np.array([[4.0, 0, 0]]), np.array([[4.0, 4, 0]]), radius=np.array([radius]))
    start, end = np.zeros((n, 3)), np.zeros((n, 3))
    start[:, 0], start[:, 1], end[:, 1], end[:, 0] = 1, 2, 2, 5 + np.arange(n)
    tally = checked(shots(all_of(rod, n), start, end))
    assert tally.hits == n


HUGE = 1e30


@pytest.mark.parametrize("kind", SHAPE_ROWS, ids=NAMES)
def test_points_and_rays_beyond_the_trusted_sizes(kind: int):
    """Sizes at which squares of squares overflow: exact arithmetic answers all of them."""
    row, rng, seen = SHAPE_ROWS[kind], np.random.default_rng(kind), Counter()
    columns = {"p1": [[0.0, 0, 0]], "p2": [[0.0, 0, 4 * HUGE]], "radius": [2 * HUGE], "radius2": [HUGE]}
    columns |= {"orientation": [[0.0, 0, 0, 1]], "half": [[HUGE, 2 * HUGE, 3 * HUGE]]}
    limb = shapes(kind, **{name: np.array(columns[name]) for name in row.takes})
    points = rng.uniform(-2.5, 2.5, (60, 3)) * HUGE + limb.p2 / 2
    side = limb.limbs().classify_points(points)
    for got, point in zip(side.tolist(), points.tolist(), strict=True):
        assert got == classify(limb.solids()[0], point)
        seen[got] += 1
    assert min(seen[cc.Side.INSIDE], seen[cc.Side.OUTSIDE]) > 3
    target, step = rng.uniform(-4, 4, (2, 60, 3)) * HUGE
    questions = shots(all_of(limb, 60), target - step, target + step)
    hits, truths = questions.cast(), row_truths(questions)
    assert hits.rechecked == 60
    assert hits.hit.tolist() == [bool(t.found) for t in truths]
    assert np.array_equal(cc.HitWorld(limb.limbs()).cast_segments(questions.start, questions.end).hit, hits.hit)
    assert 5 < hits.hit.sum() < 60
    assert hits.face[hits.hit].tolist() == [t.found[0][1].entry_face for t in truths if t.found]


def test_a_limb_as_long_as_space_among_others():
    """In the frame of its box all other limbs are one point."""
    rng = np.random.default_rng(1)
    ends = rng.uniform(-2.0, 2.0, (30, 3))
    endless = np.array([[-1e120, 0.0, 0.0], [-(2.0**500), -(2.0**500), 0.0]])
    p1, p2 = np.concatenate([ends, endless]), np.concatenate([ends + 1.0, -endless])
    limbs = cc.Limbs.cylinders(p1, p2, [0.6] * 30 + [1e-3] * 2)
    world = cc.HitWorld(limbs)
    child = world.snapshot()._tree.child
    assert sorted((-2 - child[child < -1]).tolist()) == list(range(32))
    start, ends = [[0.0, 5.0, 0.25]] * 3, [[1.0, 0.0, 0.25], [3.0, -1.0, 0.25], [0.0, 4.0, 0.25]]
    hits = world.cast_segments(start, ends)
    by_limb = [limbs.cast_segments(start[:1], [end]) for end in ends]
    for limb, one in zip(hits.limb, by_limb, strict=True):
        assert limb == min(np.flatnonzero(one.hit), key=lambda k, one=one: (one.fraction[k], k), default=-1)
    assert hits.hit.tolist() == [True, True, False]


@pytest.mark.coverage("ball")
@pytest.mark.parametrize("name", TANGENTS)
def test_a_start_next_to_a_face_and_almost_along_it(name: str):
    """The first guess is then far off: one step does not suffice, and the crossing is solved in full."""
    limb, point, out, along, touched = TANGENTS[name]
    rng = np.random.default_rng(11)
    n = 30
    above = 2.0 ** rng.uniform(-46, -30, n)
    slope = 2.0 ** rng.uniform(-14, 0, n)
    normal, tangent = np.array(out) / np.linalg.norm(out), np.array(along) / np.linalg.norm(along)
    start = np.array(point) + above[:, None] * normal
    end = start + rng.uniform(0.1, 0.5, n)[:, None] * (tangent - slope[:, None] * normal)
    tally = checked(shots(all_of(limb, n), start, end))
    assert tally.hits > n // 3 or touched == "an edge"


@pytest.mark.parametrize(("b", "falling", "root"), [(2.0, False, 1.0), (2.0, True, -5.0), (-2.0, True, -1.0)])
def test_both_roots_of_a_quadratic(b: float, falling: bool, root: float):
    """t² + 2 b t - 5 is 0 at -b ± 3; either root is found, for either sign of b."""
    assert near_root((1.0, 0.0), (b, 0.0), (-5.0, 0.0), falling) == (root, 0.0)
