"""Rays from and to surfaces, as ricochets: few need exact arithmetic, and answers equal the exact ones."""

from collections import Counter
from math import inf
from typing import Any

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed
from support.cases.near_points import any_limb, near_points
from support.cases.thick_rays import BOUNDED
from support.exact_answers import check_chords, check_hits, solids_of
from support.oracle.shapes.table import MAKERS

import cylcollide as cc
from cylcollide._types import RayNumbers, Side
from cylcollide.exact import order
from cylcollide.exact.line import segment_numbers
from cylcollide.exact.nearest import is_within
from cylcollide.exact.thick import grown_by
from cylcollide.kernels.at_surface import INSIDE, LEAVING, UNKNOWN, side_of_ball
from cylcollide.kernels.limb_table import limb_at
from cylcollide.query import nearest
from cylcollide.query import points as point_hits
from cylcollide.query.exact_fallback import exact_limb

RAYS, RADIUS = 60, 0.05


LIMBS = cc.Limbs.concat([
    mixed(42, 3, kinds=[kind for kind in cc.Shape if kind != cc.Shape.TUBE]).limbs(),
    cc.Limbs.boxes([[0.0, 0.0, -3.0]], [0.0, 0.0, 0.0, 1.0], [5.0, 5.0, 0.5]),
])  # fmt: skip
"""Limbs of every shape but tubes, above a floor; balls in bores are a case of their own."""
WORLD, SOLIDS = cc.HitWorld(LIMBS), solids_of(LIMBS)


def shots(limbs: cc.Limbs, radius: float) -> dict[str, Any]:
    """Shots at limbs: where they start, hit and leave, and their directions before and after bouncing."""
    rng, world = np.random.default_rng(4), cc.HitWorld(limbs)
    start = rng.normal(size=(40 * RAYS, 3))
    start *= 4.0 / np.linalg.norm(start, axis=1, keepdims=True)
    end = rng.uniform(-1.5, 1.5, start.shape)
    hits = world.cast_segments(start, end, radius=radius)
    rows = np.flatnonzero(hits.hit & ~hits.started_inside & (hits.exit_face != cc.Face.INSIDE))[:RAYS]
    assert len(rows) == RAYS
    hits, way = hits[rows], end[rows] - start[rows]
    bounced = way - 2.0 * np.sum(way * hits.normal, axis=1, keepdims=True) * hits.normal
    position = hits.position + radius * hits.normal  # the ball's centre
    return {
        "start": start[rows],
        "end": end[rows],
        "hit": position,
        "exit": hits.exit_position,
        "way": way,
        "bounced": bounced,
    }


SHOTS = shots(LIMBS, 0.0)
RECORDED = cc.PoseHistory(WORLD)
RECORDED.record(0.0)
RECORDED.record(1.0)

SEGMENTS = {
    "ricochet": (SHOTS["hit"], SHOTS["hit"] + 4.0 * SHOTS["bounced"]),
    "on from the exit": (SHOTS["exit"], SHOTS["exit"] + SHOTS["way"]),
    "back to where the shot began": (SHOTS["hit"], SHOTS["start"]),
}


@pytest.fixture(autouse=True)
def _points_exactly(exactly: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Count limbs that exact point tests read, too."""
    monkeypatch.setattr(point_hits, "exact_limb", lambda *which: exactly.append(which) or exact_limb(*which))


@pytest.mark.parametrize("radius", [0.0, 0.3])
@pytest.mark.parametrize("shape", [name for name in MAKERS if name not in BOUNDED])
def test_sides_are_true(shape: str, radius: float):
    seen = Counter[int]()
    for seed, far in enumerate((0.0, 1.0, 1e3) if radius == 0.0 else (1e2, 1e3, 1e4)):
        rng = np.random.default_rng(seed)
        limbs = any_limb(shape, rng, far)
        solid = exact_limb(limbs._table, 0)
        closest = limbs.closest_points(near_points(limbs, rng, 4))
        points, n = closest.position + radius * closest.normal, len(closest)
        way = np.where(np.arange(n)[:, None] % 2 == 0, closest.normal, 0.0) + 0.5 * rng.normal(size=(n, 3))
        limb = limb_at(limbs._table.rows, limbs._table.kernel_shape, 0)
        for point, step in zip(points, way, strict=True):
            side = side_of_ball(tuple(point.tolist()), tuple(step.tolist()), radius, limb, True)
            seen[min(side, INSIDE)] += 1
            grown = grown_by(solid, radius) if radius else solid
            if side != UNKNOWN:
                assert bool(order.limb_chords(segment_numbers(point, point), grown)) == (side >= INSIDE)
            if side == LEAVING:
                numbers = RayNumbers(tuple(point.tolist()), tuple(step.tolist()), False, inf)
                assert order.limb_chords(numbers, grown) == []
    assert seen[UNKNOWN] <= 0.4 * seen.total()
    assert min(seen[INSIDE], seen[LEAVING]) > 0.05 * seen.total()


@pytest.mark.parametrize("shape", MAKERS)
def test_balls_that_touch(shape: str, monkeypatch: pytest.MonkeyPatch):
    """Balls that touch a limb up to rounding, where double-double decides most of them; all equal exact arithmetic."""
    resolved: list[Any] = []
    monkeypatch.setattr(nearest, "is_within", lambda *which: resolved.append(which) or is_within(*which))
    rng, seen = np.random.default_rng(9), Counter[bool]()
    for far, radius in ((0.0, 1e-3), (1.0, 0.3), (1e3, 20.0)):
        limbs = any_limb(shape, rng, far)
        solid, closest = exact_limb(limbs._table, 0), limbs.closest_points(near_points(limbs, rng, 4))
        points = closest.position + radius * closest.normal
        row = np.zeros(len(points), np.int64)
        touches, found = limbs[row].overlap_spheres(points, radius), cc.HitWorld(limbs).overlap_spheres(points, radius)
        expected = [is_within(solid, tuple(point), radius) for point in points.tolist()]
        assert touches.tolist() == expected == np.isin(np.arange(len(points)), found.query).tolist()
        seen.update(expected)
    assert min(seen.values()) > 0.1 * seen.total()
    is_exact = shape in (*BOUNDED, "box", "tube")  # also turned boxes, and bores
    assert is_exact or len(resolved) < 0.2 * seen.total()


LEVEL = cc.Limbs.boxes([[0.0, 0.0, -1.0]], [0.0, 0.0, 0.0, 1.0], [2.0, 2.0, 1.0])


@pytest.mark.coverage
def test_level_faces_are_exact():
    """On the top, at the adjacent numbers above and below, and at a distance whose square underflows."""
    heights = [0.0, -5e-324, 1e-99, 5e-324]
    points = np.array([[0.5, 0.25, z] for z in heights])
    assert LEVEL.classify_points(points).tolist() == [Side.SURFACE, Side.INSIDE, Side.OUTSIDE, Side.OUTSIDE]
    assert LEVEL.closest_points(points).distance.tolist() == heights
    hits = cc.HitWorld(LEVEL).cast_rays(points, [0.0, 0.0, 1.0])
    assert hits.started_inside.tolist() == [True, True, False, False]


@pytest.mark.parametrize("inside", ["hit", "ignore"])
@pytest.mark.parametrize("name", SEGMENTS)
def test_rays_from_surfaces(name: str, inside: Any, exactly: list[Any]):
    starts, ends = SEGMENTS[name]
    hits = WORLD.cast_segments(starts, ends, inside=inside)
    then = RECORDED.cast_segments(starts, ends, np.full(RAYS, 0.5), inside=inside)
    assert len(exactly) <= RAYS // 20
    assert hits.rechecked <= RAYS // 20
    assert (hits.limb == then.limb).all()
    assert 0.2 * RAYS < np.count_nonzero(hits.started_inside) < 0.8 * RAYS
    for i in range(8):  # few rays take another loop
        one = WORLD.cast_segments(starts[i], ends[i], inside=inside)
        assert (one.limb[0], one.fraction[0]) == (hits.limb[i], hits.fraction[i])
    assert len(exactly) <= RAYS // 10
    check_hits(hits[::5], SOLIDS, starts[::5], ends[::5], inside)


@pytest.mark.parametrize("inside", ["hit", "ignore", "exit"])
def test_rays_that_end_on_surfaces(inside: Any, exactly: list[Any]):
    starts, ends = SHOTS["start"], SHOTS["hit"]
    blocked = WORLD.occluded_segments(starts, ends, inside=inside)
    hits = WORLD.cast_segments(starts, ends, inside=inside)
    assert len(exactly) <= RAYS // 10
    assert (hits.hit == blocked).all()
    assert 0.2 * RAYS < np.count_nonzero(blocked) < 0.8 * RAYS
    check_hits(hits[::5], SOLIDS, starts[::5], ends[::5], inside)


TUBES = cc.Limbs.concat([mixed(30, 5, kinds=[cc.Shape.TUBE]).limbs(), LIMBS[-1:]])
THROUGH = {
    "to the hit": ("start", "hit"),
    "to the exit": ("start", "exit"),
    "on from the hit": ("hit", "end"),
    "from hit to exit": ("hit", "exit"),
    "from exit to hit": ("exit", "hit"),
}
"""Names of starts and ends among those of `shots`."""


@pytest.mark.parametrize("inside", ["hit", "exit"])
@pytest.mark.parametrize("name", THROUGH)
@pytest.mark.parametrize("limbs", [LIMBS, TUBES], ids=["usual", "tubes"])
def test_rays_through_limbs_with_ends_on_surfaces(limbs: cc.Limbs, name: str, inside: Any, exactly: list[Any]):
    """Also their chords, whose entries have the bits of a cast."""
    shot, world = shots(limbs, 0.0), cc.HitWorld(limbs)
    starts, ends = (shot[which] for which in THROUGH[name])
    exactly.clear()
    hits, chords = world.cast_segments(starts, ends, inside=inside), world.chords_segments(starts, ends, inside=inside)
    assert np.isfinite(hits.exit_fraction[hits.hit]).all()
    assert len(exactly) <= RAYS // 5
    assert np.count_nonzero(hits.hit) > 0.2 * RAYS
    check_hits(hits[::5], solids_of(limbs), starts[::5], ends[::5], inside)
    first = chords.offsets[:-1][hits.hit]
    assert (chords.limb[first] == hits.limb[hits.hit]).all() or inside == "exit"
    if inside == "hit":
        for of_chord, of_hit in (
            ("entry_fraction", "fraction"),
            ("entry_position", "position"),
            ("exit_fraction",) * 2,
        ):
            assert np.array_equal(getattr(chords, of_chord)[first], getattr(hits, of_hit)[hits.hit]), of_chord


@pytest.mark.parametrize("name", SEGMENTS)
def test_any_hit_from_surfaces(name: str, exactly: list[Any]):
    starts, ends = SEGMENTS[name]
    blocked = WORLD.occluded_segments(starts, ends)
    assert len(exactly) <= RAYS // 20
    assert (blocked == WORLD.cast_segments(starts, ends).hit).all()


def test_chords_from_surfaces(exactly: list[Any]):
    """Rays that start in no limb."""
    starts, ends = SEGMENTS["ricochet"]
    inside = WORLD.cast_segments(starts, ends).started_inside
    chords = WORLD.chords_segments(starts[~inside], ends[~inside])
    assert len(exactly) <= RAYS // 20
    assert chords.rechecked <= RAYS // 20
    assert (starts[~inside][chords.ray] != chords.entry_position).any(axis=1).all()


@pytest.mark.parametrize("which", ["hit", "exit"])
def test_points_of_surfaces(which: str, exactly: list[Any]):
    points = SHOTS[which]
    found, then = WORLD.contains_points(points), RECORDED.contains_points(points, np.full(RAYS, 0.5))
    sides = LIMBS[0].classify_points(points)
    assert len(exactly) <= RAYS // 20
    assert (found.limb == then.limb).all()
    for i in range(0, RAYS, 3):
        holding = [k for k, solid in SOLIDS if solid.side(tuple(points[i])) > 0]
        assert found.limb[i] == min(holding, default=-1)
        assert found.count[i] == len(holding)
    assert sides.tolist() == [SOLIDS[0][1].side(tuple(point)) for point in points.tolist()]


@pytest.mark.parametrize("shape", ["cylinder", "capsule", "box"])
def test_balls_that_bounce(shape: str, exactly: list[Any]):
    """Thick rays that start in contact, where exact contacts take milliseconds."""
    names = {"cylinder": cc.Shape.CYLINDER, "capsule": cc.Shape.CAPSULE, "box": cc.Shape.BOX}
    limbs = LIMBS[np.flatnonzero(LIMBS.kind == names[shape])]
    shot = shots(limbs, RADIUS)
    starts, ends = shot["hit"], shot["hit"] + 0.2 * shot["bounced"]
    exactly.clear()
    hits = cc.HitWorld(limbs).cast_segments(starts, ends, radius=RADIUS)
    assert len(exactly) <= (RAYS // 2 if shape == "box" else RAYS // 5)  # axes of turned boxes are rounded
    assert 0.2 * RAYS < np.count_nonzero(hits.started_inside) < 0.9 * RAYS
    assert (hits.limb[hits.started_inside] >= 0).all()
    distance = cc.HitWorld(limbs).closest_points(starts).distance
    clear = np.abs(distance - RADIUS) > 1e-16
    assert (hits.started_inside == (distance <= RADIUS))[clear].all()


def test_a_ball_at_rest_touches_a_tube(exactly: list[Any]):
    """The segment has no length: any contact is at its end, too."""
    tube = cc.Limbs.tubes([[0.0, 0.0, 0.0]], [[0.0, 0.0, 2.0]], 1.0, 0.5)
    beside = [1.25 - 1e-15, 1.25, 1.25 + 1e-15, 1.1, 0.75]
    points = [[x, 0.0, 1.0] for x in beside]
    assert tube.cast_segments(points, points, radius=0.25).hit.tolist() == [True, True, False, True, True]
    assert tube.overlap_spheres(points, 0.25).tolist() == [True, True, False, True, True]
    assert len(exactly) <= 2  # at most where the distance equals the radius


def test_balls_that_pass_narrow_bores():
    """From a contact on: a ball is in one piece of a tube repeatedly, far from the origin within rounding errors."""
    rng, far, radius = np.random.default_rng(1), np.array([1000.0, 333.0, 0.0]), 0.2
    foot = far + rng.uniform(-1.0, 1.0, (12, 3))
    limbs = cc.Limbs.tubes(foot, foot + np.array([0.0, 0.0, 0.5]), 0.4, 0.25)
    world, start = cc.HitWorld(limbs), far + rng.uniform(-1.0, 1.0, (200, 3))
    end = far + 4.0 * rng.normal(size=start.shape)
    hits = world.cast_segments(start, end, radius=radius, inside="exit")
    rows = np.flatnonzero(hits.hit)[:40]
    contact = start[rows] + hits.fraction[rows, None] * (end[rows] - start[rows])
    chords = world.chords_segments(contact, end[rows], radius=radius)
    check_chords(chords, solids_of(limbs, radius), contact, end[rows])
