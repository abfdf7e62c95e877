"""Times of queries in the past, kept or not, by time and by tick; and protection at these times."""

import numpy as np
import pytest
from support.one_limb import about_z, one_bone_rig, one_limb_world

import cylcollide as cc
from cylcollide.history import PoseHistory

pytestmark = pytest.mark.plain_python


@pytest.fixture
def walk() -> PoseHistory:
    """Ticks 2 to 5 of one character that walks along x, a metre a second; times 20, 21, 22, 23."""
    world, _, ids = one_limb_world()
    history = PoseHistory(world, ticks=4)
    for k in range(6):
        world.set_poses(ids, [[float(k), 0, 0]], [about_z(0.0)])
        assert history.record(18.0 + k) == k
    return history


def test_ring_capacity(walk: PoseHistory):
    assert len(walk) == 4
    assert walk.ticks.tolist() == [2, 3, 4, 5]
    assert walk.times.tolist() == [20.0, 21.0, 22.0, 23.0]
    assert repr(walk) == "PoseHistory(ticks 2 to 5, times 20 to 23, bones interpolated)"


def test_ticks_and_alphas(walk: PoseHistory):
    shot = [2.5, -1, 0], [2.5, 1, 0]
    hits = walk.cast_segments(*shot, tick=[2, 2, 3, 5], alpha=[0.0, 1.0, 0.25, 0.0])
    assert hits.time.tolist() == [20.0, 21.0, 21.25, 23.0]
    assert hits.hit.tolist() == [True, False, False, False]
    assert walk.cast_segments(*shot, tick=2).alpha.tolist() == [0.0]
    with pytest.raises(ValueError, match=r"time: expected one number or shape \(3,\)"):
        walk.cast_segments([shot[0]] * 3, [shot[1]] * 3, [21.0, 22.0])
    with pytest.raises(ValueError, match="on_old: expected 'error', 'clamp' or 'miss', got 'guess'"):
        walk.cast_segments(*shot, tick=2, on_old="guess")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unexpected keyword argument 'when'"):
        walk.cast_segments(*shot, when=20.0)


def test_ticks_that_are_not_kept(walk: PoseHistory):
    """Like times: a ValueError, the nearest kept time, or a miss; too old, too new, and beyond the last tick."""
    shot, ticks, alphas = ([2.5, -1, 0], [2.5, 1, 0]), [-1, 1, 2, 4, 5, 6, 2**40], [0.5, 0.5, 0.0, 0.5, 0.5, 0.0, 1.0]
    for call in (
        walk.cast_segments, walk.chords_segments, lambda *ends, **when: walk.doubt_segments(*ends, 0.0, **when),
        lambda start, _, **when: walk.contains_points(start, **when),
    ):  # fmt: skip
        clamped, missed = (call(*shot, tick=ticks, alpha=alphas, on_old=on_old) for on_old in ("clamp", "miss"))
        assert clamped.time.tolist() == [20.0, 20.0, 20.0, 22.5, 23.0, 23.0, 23.0]
        assert clamped.tick.tolist() == [2, 2, 2, 4, 5, 5, 5]
        assert clamped.alpha.tolist() == [0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0]
        assert clamped.clamped.tolist() == [True, True, False, False, True, True, True]
        assert missed.tick.tolist() == [-1, -1, 2, 4, -1, -1, -1]
        assert np.array_equal(missed.time, [np.nan, np.nan, 20.0, 22.5, *[np.nan] * 3], equal_nan=True)
        assert np.array_equal(missed.alpha, [np.nan, np.nan, 0.0, 0.5, *[np.nan] * 3], equal_nan=True)
        assert not missed.clamped.any()
    hits = walk.cast_segments(*shot, tick=ticks, alpha=alphas, on_old="clamp")
    assert hits.hit.tolist() == [True, True, True, False, False, False, False]
    hits = walk.cast_segments(*shot, tick=ticks, alpha=alphas, on_old="miss")
    assert hits.hit.tolist() == [False, False, True, False, False, False, False]
    for bad, match in (
        ({"tick": 1}, "tick: expected 2 to 5, which is kept, got 1 in row 0; keep more ticks, or pass"),
        ({"tick": 5, "alpha": 0.5}, "expected 0 for tick 5"),
    ):
        for ask in (walk.cast_segments, lambda *_, **when: walk.limbs_at(**when)):  # limbs_at has no on_old
            with pytest.raises(ValueError, match=match.partition(", or pass")[0]):
                ask(*shot, **bad)
        with pytest.raises(ValueError, match=match):
            walk.cast_segments(*shot, **bad)
    with pytest.raises(ValueError, match=r"alpha: expected 0 to 1, got 1\.5"):
        walk.cast_segments(*shot, tick=9, alpha=1.5, on_old="miss")


def test_alpha_1_is_the_time_of_the_next_tick():
    """Characters protected from that time on are not hit; begin + (end - begin) may round to less, or more."""
    rng, below, above = np.random.default_rng(1), 0, 0
    for begin, end in np.sort(rng.normal(size=(40, 2)), axis=1).tolist():
        history = PoseHistory(cc.HitWorld(cc.Limbs.spheres([0, 0, 0], 1.0, character=3)))
        history.record(begin)
        history.record(end)
        hits = history.cast_segments(
            [-2, 0, 0], [2, 0, 0], tick=0, alpha=[1.0, np.nextafter(1.0, 0.0)], protected_since={3: end}
        )
        assert (hits.time[0], hits.hit[0]) == (end, False)
        assert begin < hits.time[1] <= end
        below, above = below + (begin + (end - begin) < end), above + (begin + (end - begin) > end)
    assert min(below, above) > 1


def test_protection_of_several_in_any_order():
    """Of characters, and of bare limbs by their label; an empty mapping protects nothing."""
    bare = cc.Limbs.spheres([[0, 0, 0], [4, 0, 0]], 0.5, character=[7, -1])
    world = cc.HitWorld(bare)
    ids = world.spawn(one_bone_rig(cc.Limbs.spheres([0, 0, 0], 0.5)), 2)
    world.set_poses(ids, [[[8, 0, 0]], [[12, 0, 0]]], [[[0, 0, 0, 1]]] * 2)
    history = PoseHistory(world)
    history.record(1.0)
    x = np.array([[0.0], [4.0], [8.0], [12.0]]) * [1, 0, 0]
    shot = x + np.array([0, -2, 0]), x + np.array([0, 2, 0])
    for since, hit in (
        ({}, [True] * 4),
        ({int(ids[1]): 0.5, 7: 1.0}, [False, True, True, False]),
        ({int(ids[1]): 1.5, int(ids[0]): 1.0}, [True, True, False, True]),
    ):
        assert history.cast_segments(*shot, 1.0, protected_since=since).hit.tolist() == hit


def test_bad_arguments():
    world = cc.HitWorld()
    for arguments in ({"ticks": 0}, {"ticks": 1.5}, {"interpolate": "limbs"}, {"teleport_distance": -1.0}):
        with pytest.raises(ValueError, match=f"{next(iter(arguments))}: expected|ticks: expected"):
            PoseHistory(world, **arguments)
    for distance in (True, np.nan, -(10**5000), "far"):
        with pytest.raises(ValueError, match=r"^teleport_distance: expected a number >= 0, got "):
            PoseHistory(world, teleport_distance=distance)
    assert PoseHistory(world, teleport_distance=10**400)._distance == np.inf
    with pytest.raises(ValueError, match="world: expected a HitWorld"):
        PoseHistory("world")
