"""Queries in the past: bit for bit those of a world of the limbs of that time, whatever has happened since."""

import pickle
import threading

import numpy as np
import pytest
from support.cases.everyday_worlds import make_crowd
from support.character_life import Life
from support.check_cylinders import JIT, same_bits
from support.oracle.pose import rational

import cylcollide as cc
from cylcollide.characters.policy import Policy
from cylcollide.history import PoseHistory

pytestmark = pytest.mark.plain_python

FIELDS = ("limb_name", "hit_group", "bone", "rig_limb")
LOCAL = ("local_position", "local_normal")
OPTIONS = ({}, {"inside": "exit"}, {"inside": "ignore", "mask": 2}, {"ignore_character": 13})


def record_life(life: Life, history: PoseHistory, ticks: int) -> None:
    """So many ticks, with a few steps of the life before each."""
    for _ in range(ticks):
        for _ in range(int(life.rng.integers(1, 4))):
            life.step()
        history.record(float(len(history.times) and history.times[-1]) + life.rng.uniform(0.01, 0.05))


def shots(history: PoseHistory, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Segments at times that are kept, some of them exactly those of ticks, most of them past a limb of that time."""
    times = rng.uniform(*history.times[[0, -1]], n)
    times[::7] = rng.choice(history.times, len(times[::7]))
    start, aim = rng.uniform(-6, 6, (n, 3)), np.zeros((n, 3))
    for i, time in enumerate(times):
        limbs = history.limbs_at(time)
        aim[i] = limbs.p1[rng.integers(len(limbs))] + 0.1 * rng.normal(size=3) if len(limbs) else -start[i]
    return start, start + 2.0 * (aim - start), times


def check_row(fresh: cc.HitWorld, hits, chords, i: int, shot: tuple, options: dict) -> bool:
    """Assert that row i of both answers is that of a fresh world; whether it hits."""
    start, end = shot
    want = fresh.cast_segments(start, end, **options)
    assert not same_bits(hits[i : i + 1], want)
    assert hits.limb_name[i] == want.limb_name[0]
    assert hits.hit_group[i] == want.hit_group[0]
    of_ray, expected = chords[i], fresh.chords_segments(start, end, **options)
    for name in ("limb", "character", "entry_fraction", "exit_fraction", "entry_face", "exit_face", "thickness",
                 "entry_position", "entry_normal", "exit_position", "exit_normal"):  # fmt: skip
        assert np.array_equal(getattr(of_ray, name), getattr(expected, name), equal_nan=True), name
    return bool(want.hit[0])


@pytest.mark.parametrize("interpolate", ["bones", "ends"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_past_is_a_world_of_its_limbs(seed: int, interpolate: str):
    life = Life(np.random.default_rng(seed), make_crowd(12) if seed else cc.HitWorld().limbs)
    history = PoseHistory(life.world, 12, interpolate)
    record_life(life, history, 30)
    n, hit = (120 if JIT else 12), 0
    start, end, times = shots(history, life.rng, n)
    for options in OPTIONS:
        hits = history.cast_segments(start, end, times, **options)
        chords = history.chords_segments(start, end, times, **options)
        assert np.array_equal(history.occluded_segments(start, end, times, **options), hits.hit)
        points = history.contains_points(end, times)
        for i in range(n):
            fresh = cc.HitWorld(history.limbs_at(times[i]))
            hit += check_row(fresh, hits, chords, i, (start[i], end[i]), options)
            inside = fresh.contains_points(end[i])
            assert (points.limb[i], points.count[i]) == (inside.limb[0], inside.count[0])
            assert points.axis_distance_squared[i] == inside.axis_distance_squared[0]
    assert hit > n
    assert len(set(hits.tick.tolist())) > (8 if JIT else 3)


def test_rays_are_as_segments():
    life = Life(np.random.default_rng(3), make_crowd(5))
    history = PoseHistory(life.world)
    record_life(life, history, 15)
    start, end, times = shots(history, life.rng, 40)
    hits = history.cast_rays(start, end - start, times, max_distance=7.0)
    chords = history.chords_rays(start, end - start, times, max_distance=7.0)
    blocked = history.occluded_rays(start, end - start, times, max_distance=7.0)
    for i in range(40):
        fresh = cc.HitWorld(history.limbs_at(times[i]))
        want = fresh.cast_rays(start[i], end[i] - start[i], max_distance=7.0)
        assert not same_bits(hits[i : i + 1], want)
        assert blocked[i] == want.hit[0]
        assert np.array_equal(chords[i].limb, fresh.chords_rays(start[i], end[i] - start[i], max_distance=7.0).limb)
    assert 5 < blocked.sum() < 40


def test_policies_judge_the_past():
    life = Life(np.random.default_rng(4), make_crowd(5))
    history = PoseHistory(life.world)
    record_life(life, history, 15)
    start, end, times = shots(history, life.rng, 40)
    policy = Policy.penetration(loss={"head": 3.0}, damage={"head": 2.0}, default=1.0)
    judged = history.judge_segments(start, end, policy, times, energy=5.0)
    rays = history.judge_rays(start, end - start, policy, times, np.linalg.norm(end - start, axis=1), 5.0)
    for i in range(40):
        state = cc.HitWorld(history.limbs_at(times[i]))
        want = state.judge_segments(
            start[i], end[i], Policy.penetration(loss={"head": 3.0}, damage={"head": 2.0}, default=1.0,
                                                 groups={"head": 1}), energy=5.0)  # fmt: skip
        for name in ("hit", "limb", "character", "damage", "energy_left", "distance"):
            assert getattr(judged, name)[i] == getattr(want, name)[0], name
    assert judged.hit.sum() > 10
    assert np.array_equal(judged.limb, rays.limb)
    assert np.array_equal(judged.time, times)


# What lies between two ticks ----------------------------------------------------------------------------------------


def one_limb_world(**labels) -> tuple[cc.HitWorld, cc.Rig, np.ndarray]:
    """One character with one bone, and a cylinder along its x axis from 0 to 1."""
    limb = cc.Limbs.cylinders([0, 0, 0], [1, 0, 0], 0.1, name="arm", **labels)
    rig = cc.Rig(["bone"], [-1], [[0, 0, 0]], [[0, 0, 0, 1]], limb, [0])
    world = cc.HitWorld()
    return world, rig, world.spawn(rig)


def about_z(angle: float) -> list[float]:
    return [0.0, 0.0, float(np.sin(angle / 2)), float(np.cos(angle / 2))]


def test_bones_are_interpolated_by_the_stated_operations():
    """Positions linearly; orientations normalised, short way, linearly: in rational arithmetic, to a few ulp."""
    world, rig, ids = one_limb_world()
    history, rng = PoseHistory(world), np.random.default_rng(1)
    places, turns = rng.normal(size=(6, 3)), rng.normal(size=(6, 4)) * 10.0 ** rng.uniform(-3, 3, (6, 1))
    turns[3] = -turns[2] + 0.1 * turns[2, ::-1]  # the long way, if signs were not looked at
    for k in range(6):
        world.set_poses(ids, places[k : k + 1][None], turns[k : k + 1][None])
        history.record(k)
    for k in range(5):
        for alpha in (0.25, 0.5, 0.9):
            limbs = history.limbs_at(k + alpha)
            p, q = (np.array([float(x) for x in rational(turn / np.linalg.norm(turn))]) for turn in turns[k : k + 2])
            turn = (1 - alpha) * p + alpha * q * np.sign(p @ q)
            want = rig.place(((1 - alpha) * places[k] + alpha * places[k + 1])[None], turn[None])
            assert np.allclose(limbs.p1, want.p1, rtol=0, atol=1e-14)
            assert np.allclose(limbs.p2, want.p2, rtol=0, atol=1e-14)


def test_turns_are_nearly_spherical():
    """Within 0.01 degrees of spherical interpolation for turns of 20 degrees a tick, and shapes keep their length."""
    world, _, ids = one_limb_world()
    history = PoseHistory(world)
    for k in range(2):
        world.set_poses(ids, [[0, 0, 0]], [about_z(np.radians(20.0 * k))])
        history.record(k)
    worst = 0.0
    for alpha in np.linspace(0, 1, 201):
        end = history.limbs_at(alpha).p2[0]
        assert abs(np.linalg.norm(end) - 1.0) < 1e-15
        worst = max(worst, abs(np.degrees(np.arctan2(end[1], end[0])) - 20.0 * alpha))
    assert 0.009 < worst < 0.01


def test_ends_drift_and_bones_do_not():
    """An arm of 0.45 m that turns by 30 degrees a tick is 15 mm too short half-way, if its ends are interpolated."""
    world, _, ids = one_limb_world()
    histories = [PoseHistory(world, interpolate=mode) for mode in ("bones", "ends")]
    for k in range(2):
        world.set_poses(ids, [[0, 0, 0]], [about_z(np.radians(30.0 * k))])
        for history in histories:
            history.record(k)
    bones, ends = (0.45 * (1.0 - np.linalg.norm(history.limbs_at(0.5).p2[0])) for history in histories)
    assert abs(bones) < 1e-15
    assert 0.015 < ends < 0.016


def test_at_a_tick_the_recorded_numbers_themselves():
    life = Life(np.random.default_rng(6), make_crowd(9))
    history = PoseHistory(life.world)
    kept = []
    for k in range(20):
        life.step()
        history.record(k)
        kept.append(life.world.limbs)
    for k, limbs in enumerate(kept):
        assert history.limbs_at(k) == limbs
        assert history.limbs_at(tick=k) == limbs
        assert history.limbs_at(tick=k, alpha=0.0) == limbs
    moved, alike = 0, 0
    for k in range(19):
        limbs = history.limbs_at(tick=k, alpha=1.0)
        if len(limbs) == len(kept[k + 1]) and limbs.names == kept[k + 1].names:
            alike += np.array_equal(limbs.p1, kept[k + 1].p1)
            moved += not np.array_equal(kept[k].p1, kept[k + 1].p1)
    assert alike >= moved > 3


def test_who_did_not_live_is_not_hit():
    """Neither before its first pose, nor after it is gone, nor hidden; a character lives until the tick without it."""
    world, rig, ids = one_limb_world()
    history = PoseHistory(world)
    history.record(0)
    world.set_poses(ids, [[0, 0, 0]], [about_z(0.0)])
    history.record(1)
    world.set_layers(ids, 0)
    history.record(2)
    world.set_layers(ids, 1)
    history.record(3)
    world.despawn(ids)
    history.record(4)
    newcomer = world.spawn(rig)
    world.set_poses(newcomer, [[0, 0, 0]], [about_z(0.0)])
    history.record(5)
    times = np.array([0, 0.5, 1, 1.5, 2, 2.5, 3, 3.9, 4, 4.5, 5])
    hits = history.cast_segments([0.5, -1, 0], [0.5, 1, 0], times)
    assert hits.character.tolist() == [-1, -1, 0, 0, -1, -1, 0, 0, -1, -1, 1]
    assert hits.tick.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5]


def test_layers_and_rig_are_those_of_the_tick():
    world, _, ids = one_limb_world(mask=1)
    history = PoseHistory(world)
    world.set_poses(ids, [[0, 0, 0]], [about_z(0.0)])
    history.record(0)
    world.set_layers(ids, 6)
    history.record(1)
    for time, mask, hit in ((0, 1, True), (0.7, 1, True), (0.7, 2, False), (1, 1, False), (1, 2, True)):
        assert history.occluded_segments([0.5, -1, 0], [0.5, 1, 0], time, mask=mask)[0] == hit


@pytest.mark.parametrize("by_flag", [True, False])
def test_teleports_are_not_interpolated(by_flag: bool):
    world, _, ids = one_limb_world()
    history = PoseHistory(world, teleport_distance=np.inf if by_flag else 5.0)
    for k, x in enumerate((0.0, 4.0, 14.0, 15.0)):
        world.set_poses(ids, [[x, 0, 0]], [about_z(0.0)], teleport=by_flag and x == 14.0)
        history.record(k)
    wheres = [history.limbs_at(t).p1[0, 0] for t in (0.5, 1.0, 1.5, 1.99, 2.0, 2.5)]
    assert wheres == [2.0, 4.0, 4.0, 4.0, 14.0, 14.5]
    shot = np.array([[9.5, -1.0, 0.0], [9.5, 1.0, 0.0]])
    assert not history.occluded_segments(*shot, np.linspace(0, 3, 50)).any()
    assert history.occluded_segments(*shot - [5, 0, 0], 1.5).all()


def test_several_poses_between_two_ticks_keep_the_flag():
    world, _, ids = one_limb_world()
    history = PoseHistory(world)
    for k, (x, teleport) in enumerate(((0.0, False), (10.0, True))):
        world.set_poses(ids, [[x, 0, 0]], [about_z(0.0)], teleport=teleport)
        world.set_poses(ids, [[x + 1.0, 0, 0]], [about_z(0.0)])
        history.record(k)
    assert history.limbs_at(0.5).p1[0, 0] == 1.0


def test_a_limb_turned_over_by_its_ends_has_no_axis_half_way():
    limbs = cc.Limbs.concat([cc.Limbs.cylinders([0, 0, 0], [1, 0, 0], 0.1), cc.Limbs.spheres([5, 0, 0], 0.5)])
    world = cc.HitWorld(limbs)
    history = PoseHistory(world)
    history.record(0)
    world.set_endpoints([1, 0, 0], [0, 0, 0], [0])
    history.record(1)
    x = np.array([0.5, 0.5, 0.5, 5.0])
    hits = history.cast_segments(
        np.column_stack([x, x * 0 - 1, x * 0]), np.column_stack([x, x * 0 + 1, x * 0]), [0.4, 0.5, 0.6, 0.5]
    )
    assert hits.limb.tolist() == [0, -1, 0, 1]
    half = history.limbs_at(0.5)
    assert half.mask.tolist() == [0, 0xFFFFFFFF]
    assert cc.HitWorld(half).cast_segments([0.5, -1, 0], [0.5, 1, 0]).limb == -1


# Times --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def walk() -> PoseHistory:
    """Ticks 2 to 5 of one character that walks along x, a metre a second; times 20, 21, 22, 23."""
    world, _, ids = one_limb_world()
    history = PoseHistory(world, ticks=4)
    for k in range(6):
        world.set_poses(ids, [[float(k), 0, 0]], [about_z(0.0)])
        assert history.record(18.0 + k) == k
    return history


def test_a_ring_forgets(walk: PoseHistory):
    assert len(walk) == 4
    assert walk.ticks.tolist() == [2, 3, 4, 5]
    assert walk.times.tolist() == [20.0, 21.0, 22.0, 23.0]
    assert repr(walk) == "PoseHistory(ticks 2 to 5, times 20 to 23, bones interpolated)"


def test_times_that_are_not_kept(walk: PoseHistory):
    shot, times = ([[2.5, -1, 0]] * 5, [[2.5, 1, 0]] * 5), [20.0, 19.9, 23.0, 23.1, 20.5]
    with pytest.raises(ValueError, match=r"expected 20.0 to 23.0, which is kept, got 19.9 in row 1, 2 rows in all"):
        walk.cast_segments(*shot, times)
    clamped = walk.cast_segments(*shot, times, on_old="clamp")
    assert clamped.clamped.tolist() == [False, True, False, True, False]
    assert clamped.time.tolist() == [20.0, 20.0, 23.0, 23.0, 20.5]
    assert clamped.hit.tolist() == [True, True, False, False, True]
    missed = walk.cast_segments(*shot, times, on_old="miss")
    assert missed.hit.tolist() == [True, False, False, False, True]
    assert missed.tick.tolist() == [2, -1, 5, -1, 2]
    assert missed.time.tolist() == times
    assert np.isnan(missed.alpha[[1, 3]]).all()
    assert not missed.clamped.any()
    with pytest.raises(ValueError, match="on_old: expected"):
        walk.cast_segments(*shot, times, on_old="never")


def test_ticks_and_alphas(walk: PoseHistory):
    shot = [2.5, -1, 0], [2.5, 1, 0]
    hits = walk.cast_segments(*shot, tick=[2, 2, 3, 5], alpha=[0.0, 1.0, 0.25, 0.0])
    assert hits.time.tolist() == [20.0, 21.0, 21.25, 23.0]
    assert hits.hit.tolist() == [True, False, False, False]
    assert walk.cast_segments(*shot, tick=2).alpha.tolist() == [0.0]
    for arguments, message in (
        ({"tick": 1}, "tick: expected 2 to 5, got 1"),
        ({"tick": 6}, "tick: expected 2 to 5, got 6"),
        ({"tick": 2, "alpha": 1.5}, "alpha: expected 0 to 1, got 1.5"),
        ({"tick": 2, "alpha": np.nan}, "alpha: expected"),
        ({"tick": 5, "alpha": 0.5}, "alpha: expected 0 for tick 5, the last one"),
        ({}, "time: expected either time, or tick"),
        ({"time": 21.0, "tick": 2}, "time: expected either time, or tick"),
        ({"time": 21.0, "alpha": 0.5}, "time: expected either time, or tick"),
        ({"time": np.inf}, "time: expected finite"),
    ):
        with pytest.raises(ValueError, match=message):
            walk.cast_segments(*shot, **arguments)
    with pytest.raises(ValueError, match=r"time: expected one number or shape \(3,\)"):
        walk.cast_segments([shot[0]] * 3, [shot[1]] * 3, [21.0, 22.0])
    with pytest.raises(TypeError, match="unexpected keyword 'when'"):
        walk.cast_segments(*shot, when=20.0)


def test_recorded_times_increase(walk: PoseHistory):
    for time, message in ((23.0, "expected more than 23.0"), (np.nan, "time: expected finite"), ("x", "time")):
        with pytest.raises(ValueError, match=message):
            walk.record(time)
    assert walk.record(23.5) == 6


def test_parts_of_results_keep_their_moments(walk: PoseHistory):
    hits = walk.cast_segments([[2.5, -1, 0]] * 4, [[2.5, 1, 0]] * 4, [20.0, 20.5, 21.5, 22.0])
    assert hits[1:3].time.tolist() == [20.5, 21.5]
    assert hits[hits.hit].tick.tolist() == [2, 2]
    chords = walk.chords_segments([[2.5, -1, 0]] * 4, [[2.5, 1, 0]] * 4, [20.0, 20.5, 21.5, 22.0])
    assert chords[[3, 0]].time.tolist() == [22.0, 20.0]
    assert [len(one) for one in chords] == [1, 1, 0, 0]
    assert hits[0].hit


def test_who_is_protected_is_not_hit(walk: PoseHistory):
    shot = [[2.5, -1, 0]] * 3, [[2.5, 1, 0]] * 3
    times = [20.0, 20.2, 20.4]
    assert walk.cast_segments(*shot, times).hit.all()
    assert walk.cast_segments(*shot, times, protected_since={0: 20.2}).hit.tolist() == [True, False, False]
    assert walk.cast_segments(*shot, times, protected_since={7: 0.0}).hit.all()


def test_no_ticks_and_bad_arguments():
    world = cc.HitWorld()
    history = PoseHistory(world)
    with pytest.raises(ValueError, match="expected a tick at least"):
        history.cast_segments([0, 0, 0], [1, 0, 0], 0.0)
    for arguments in ({"ticks": 0}, {"ticks": 1.5}, {"interpolate": "limbs"}, {"teleport_distance": -1.0}):
        with pytest.raises(ValueError, match=f"{next(iter(arguments))}: expected|ticks: expected"):
            PoseHistory(world, **arguments)
    with pytest.raises(ValueError, match="world: expected a HitWorld"):
        PoseHistory("world")
    history.record(0.0)
    assert len(history.limbs_at(0.0)) == 0
    assert not history.cast_segments([0, 0, 0], [1, 0, 0], 0.0).hit


def test_the_live_world_is_not_touched():
    life = Life(np.random.default_rng(8), make_crowd(5))
    history = PoseHistory(life.world)
    record_life(life, history, 10)
    before = life.world.snapshot()
    start, end, times = shots(history, life.rng, 20)
    first = history.cast_segments(start, end, times)
    assert life.world.snapshot() is before
    record_life(life, history, 3)
    assert not same_bits(first, history.cast_segments(start, end, times))


def test_queries_go_on_while_ticks_are_recorded():
    """A query keeps the ring as it was when it began."""
    life = Life(np.random.default_rng(9), make_crowd(5))
    history = PoseHistory(life.world, ticks=40)
    record_life(life, history, 20)
    start, end, times = shots(history, life.rng, 50)
    want, errors, done = history.cast_segments(start, end, times), [], threading.Event()

    def ask() -> None:
        while not done.is_set():
            if same_bits(want, history.cast_segments(start, end, times)):
                errors.append("another answer")

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    record_life(life, history, 15)
    done.set()
    for thread in threads:
        thread.join()
    assert not errors


def test_results_can_be_pickled(walk: PoseHistory):
    limbs = pickle.loads(pickle.dumps(walk.limbs_at(20.5)))
    assert limbs == walk.limbs_at(20.5)
