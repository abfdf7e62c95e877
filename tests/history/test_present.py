"""Where a past hit is now, on a limb that has moved since."""

import numpy as np
import pytest
from support.cases.one_of_each_shape import LIMBS
from support.cases.rigs import every_shape, mixed_rig, random_poses
from support.one_limb import about_z, one_bone_rig, one_limb_world

import cylcollide as cc
from cylcollide.characters.policy import Policy

ACCURATE = 1e-13


def posed_twice(interpolate: str, moved) -> tuple[cc.HitWorld, cc.PoseHistory, np.ndarray, cc.Rig]:
    """Return a world of three characters of all shapes, recorded, then moved; a bare sphere comes first."""
    rig, world = mixed_rig(), cc.HitWorld(cc.Limbs.spheres([40, 0, 0], 1.0))
    ids = world.spawn(rig, 3)
    positions, orientations = random_poses(rig, 3)
    world.set_poses(ids, positions, orientations)
    history = cc.PoseHistory(world, interpolate=interpolate)
    history.record(0.0)
    world.set_poses(ids, *moved(positions, orientations))
    return world, history, ids, rig


def shots_at(limbs: cc.Limbs, n: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Return segments that end in the middle of limbs, or in their walls."""
    rng = np.random.default_rng(2)
    middle = np.repeat(0.5 * (limbs.p1 + limbs.p2), n, axis=0)
    start = middle + 3.0 * rng.normal(size=middle.shape)
    return start, middle + 0.05 * rng.normal(size=middle.shape)


def anywhere(positions: np.ndarray, orientations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    return positions[::-1] + 1.0, rng.normal(size=orientations.shape) * 2.0 ** rng.integers(-400, 400, (3, 4, 1))


def test_a_hit_stays_in_the_frame_of_its_bone():
    """Compared with small balls at that place of the bone, carried like limbs."""
    world, history, ids, rig = posed_twice("bones", anywhere)
    hits = history.cast_segments(*shots_at(history.limbs_at(0.0)), 0.0)
    now, state = hits.present_position(), world.snapshot()
    seen = 0
    for i in np.flatnonzero(hits.hit & (hits.rig_limb >= 0)):
        ball = cc.Limbs.spheres(hits.local_position[i], 0.1)
        pinned = cc.Rig(rig.bone_names, rig.parents, rig.rest_positions, rig.rest_orientations, ball, hits.bone[i])
        k = int(np.searchsorted(ids, hits.character[i]))
        bones = slice(4 * k, 4 * k + 4)
        want = pinned.place(state._columns.positions[bones], state._columns.orientations[bones]).p1[0]
        assert now[i] == pytest.approx(want, abs=ACCURATE * max(1.0, np.abs(want).max()))
        seen += 1
    assert seen > 100
    assert not now.flags.writeable


@pytest.mark.parametrize(("query", "times"), [("cast_segments", (0.0,)), ("cast_moving", (0.0, 0.0))])
@pytest.mark.parametrize("interpolate", ["bones", "ends"])
def test_hits_move_with_limbs_that_do_not_turn(interpolate: str, query: str, times: tuple[float, ...]):
    step = np.array([1.0, -2.0, 0.5])
    world, history, ids, _ = posed_twice(interpolate, lambda positions, orientations: (positions + step, orientations))
    hits = getattr(history, query)(*shots_at(history.limbs_at(0.0)), *times)
    moved, bare = hits.hit & (hits.rig_limb >= 0), hits.hit & (hits.rig_limb < 0)
    np.testing.assert_allclose(hits.present_position()[moved], hits.position[moved] + step, rtol=0, atol=ACCURATE * 40)
    np.testing.assert_allclose(hits.present_position()[bare], hits.position[bare], rtol=0, atol=ACCURATE * 40)
    assert bare.any()
    world.despawn(ids[1])
    gone = hits.character == ids[1]
    assert gone.any()
    assert np.isnan(hits.present_position()[gone | ~hits.hit]).all()
    assert not np.isnan(hits.present_position()[hits.hit & ~gone]).any()
    world.set_layers(ids[0], 0)  # hidden, but there
    assert not np.isnan(hits.present_position()[hits.character == ids[0]]).any()


def test_ends_keep_hits_on_the_surface():
    """Bare limbs of every shape that move, turn and stretch; boxes and balls only move, and keep their axes."""
    limbs, rng = every_shape(), np.random.default_rng(4)
    world = cc.HitWorld(limbs)
    history = cc.PoseHistory(world)
    history.record(0.0)
    p1 = limbs.p1 + rng.normal(size=limbs.p1.shape)
    step = limbs.p2 - limbs.p1
    length = np.linalg.norm(step, axis=1, keepdims=True)
    turned = length * rng.normal(size=step.shape)
    world.set_endpoints(p1, p1 + turned * (length > 0))
    seen = set()
    for i in range(len(limbs)):
        start, end = shots_at(limbs[i], 16)
        chords = history.chords_segments(start, end, 0.0)
        own = np.flatnonzero((chords.limb == i) & (chords.entry_face != cc.Face.INSIDE))
        now, limb = chords.present_position(), world.limbs[i]
        for k in own:
            assert limb.inflated(1e-12).classify_points(now[k])[0] != cc.Side.OUTSIDE
            middle = 0.5 * (limb.p1[0] + limb.p2[0])
            if limb.kind[0] != cc.Shape.TUBE:  # the entry may be in its bore
                assert limb.classify_points(now[k] + 1e-9 * (now[k] - middle))[0] == cc.Side.OUTSIDE
            seen.add(int(limb.kind[0]))
    assert len(seen) == len(LIMBS)


@pytest.mark.parametrize("turn", [0.0, 0.5, 2.0, np.pi])
def test_ends_turn_hits_the_shortest_way(turn: float):
    """A place on top of a rod that turns in the plane stays on top, also when it is turned over."""
    world, _, ids = one_limb_world()
    world.set_poses(ids, [[0, 0, 0]], [about_z(0.0)])
    history = cc.PoseHistory(world, interpolate="ends")
    history.record(0.0)
    hits = history.cast_segments([0.75, 0, 2], [0.75, 0, 0], 0.0)
    world.set_poses(ids, [[1, 1, 1]], [about_z(turn)])
    want = [1 + 0.75 * np.cos(turn), 1 + 0.75 * np.sin(turn), 1.1]
    here = hits.present_position()[0]
    assert here[:2] == pytest.approx(want[:2], abs=1e-13)
    assert abs(here[2] - 1.0) == pytest.approx(0.1, abs=1e-13)
    assert turn == np.pi or here[2] > 1.0


def test_boxes_by_ends_turn_hits_with_their_axes():
    world = cc.HitWorld()
    ids = world.spawn(one_bone_rig(cc.Limbs.boxes([1, 0, 0], [0, 0, 0, 1], [0.3, 0.2, 0.1])))
    world.set_poses(ids, [[0, 0, 0]], [about_z(0.0)])
    history = cc.PoseHistory(world, interpolate="ends")
    history.record(0.0)
    hits = history.cast_segments([1.1, 0, 2], [1.1, 0, 0], 0.0)
    world.set_poses(ids, [[0, 0, 5]], [about_z(np.pi / 2)])
    assert hits.present_position()[0] == pytest.approx([0, 1.1, 5.1], abs=1e-13)


def test_parts_chords_and_judged():
    world, history, ids, _ = posed_twice("bones", anywhere)
    start, end = shots_at(history.limbs_at(0.0))
    hits = history.cast_segments(start, end, 0.0)
    everywhere = hits.present_position()
    assert np.array_equal(hits[5:40].present_position(), everywhere[5:40], equal_nan=True)
    assert np.array_equal(hits[hits.hit].present_position(), everywhere[hits.hit])
    judged = history.judge_segments(start, end, Policy.first_surface(), 0.0)
    assert np.array_equal(judged.present_position(), everywhere, equal_nan=True)
    flown = history.cast_moving(start, end, 0.0, 0.0)[5:40]
    np.testing.assert_allclose(flown.present_position(), everywhere[5:40], rtol=0, atol=ACCURATE * 40)
    chords = history.chords_segments(start, end, 0.0)
    first = chords.offsets[:-1][hits.hit]
    assert np.array_equal(chords.present_position()[first], everywhere[hits.hit])
    assert np.array_equal(chords[3].present_position(), chords.present_position()[slice(*chords.offsets[3:5])])
    world.despawn(ids)
    assert np.isnan(judged.present_position()[judged.rig_limb >= 0]).all()
    assert hits[:0].present_position().shape == (0, 3)


def test_only_places_of_the_past_have_present_positions():
    _, history, _, _ = posed_twice("bones", anywhere)
    start, end = shots_at(history.limbs_at(0.0))
    for asked, time in ((history, (0.0,)), (history.world, ())):
        with_places = (
            asked.cast_segments(start, end, *time),
            asked.chords_segments(start, end, *time),
            asked.judge_segments(start, end, Policy.first_surface(), *time),
            asked.closest_points(start, *time),
            asked.overlap_spheres(start, 0.1, *time),
            asked.sweep_capsules(start, start, end, end, 0.1, *time),
        )
        without_places = (
            asked.overlap_capsules(start, end, 0.1, *time),
            asked.doubt_segments(start, end, 0.1, *time),
            asked.contains_points(start, *time),
        )
        for part in (part for found in with_places for part in (found, found[:1], found[:0])):
            if asked is history:
                assert part.present_position().shape == (len(part), 3)
            else:
                with pytest.raises(AttributeError, match="expected a query of a PoseHistory, got one of the present"):
                    part.present_position()
        for part in (part for found in without_places for part in (found, found[:0])):
            with pytest.raises(AttributeError):
                part.present_position()
