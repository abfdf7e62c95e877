"""Doubts about the past: promises hold at every moment of the interval, wherever limbs are within the radius."""

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed
from support.character_life import all_shapes_rig
from support.check_cylinders import IS_COMPILED
from support.one_limb import one_bone_rig

import cylcollide as cc

N = 60 if IS_COMPILED else 3


def walkers(interpolate: str) -> cc.PoseHistory:
    """Three characters that walk and turn over four ticks, and bare limbs that move too."""
    rig, rng = cc.Rig.humanoid(), np.random.default_rng(2)
    bare = mixed(14, seed=6).limbs()
    world = cc.HitWorld(bare)
    ids, joints = world.spawn(rig, 3), np.tile(rig.rest_orientations, (3, 1, 1))
    history = cc.PoseHistory(world, interpolate=interpolate)
    for tick in range(4):
        roots = [[0.3 * tick, k, 1.0] for k in range(3)]
        turns = cc.quaternions.from_axis_angle([0, 0, 1], 0.2 * tick * np.arange(3))
        world.set_poses(ids, *rig.forward(roots, turns, joints + 0.1 * rng.normal(size=joints.shape)))
        world.set_endpoints(bare.p1 + 0.05 * tick, bare.p2 + 0.05 * tick)
        history.record(tick)
    return history


def shots(history: cc.PoseHistory, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Segments through or past some limb at about half of the recorded time."""
    limbs = history.limbs_at(1.5)
    k = rng.integers(0, len(limbs), n)
    aim = 0.5 * (limbs.p1[k] + limbs.p2[k]) + 0.1 * rng.normal(size=(n, 3))
    start = aim + rng.normal(size=(n, 3))
    return start, start + 2.0 * (aim - start)


@pytest.mark.machine_code
@pytest.mark.parametrize("interpolate", ["bones", "ends"])
def test_promises_hold_at_all_times(interpolate: str):
    history, rng = walkers(interpolate), np.random.default_rng(3)
    start, end = shots(history, rng, N)
    time, span = rng.uniform(1.0, 2.0, N), rng.choice([0.01, 0.1, 0.6], N)
    radius = rng.choice([0.0, 0.01], N)
    found, seen = history.doubt_segments(start, end, radius, time, time_radius=span), dict.fromkeys(cc.Doubt, 0)
    assert np.array_equal(found.time, time[found.query]) or len(found.time) == N
    for i in range(N):
        own = found[i]
        verdict = np.full(len(history.limbs_at(1.0)), cc.Doubt.EXCLUDED)
        verdict[own.limb] = own.limb_verdict
        assert own.verdict[0] == verdict.max(), (i, time[i], span[i])
        for at in time[i] + span[i] * np.linspace(-1.0, 1.0, 7):
            limbs = history.limbs_at(at)
            by = rng.normal(size=3)
            by *= radius[i] * (1.0 - 1e-9) / np.linalg.norm(by)
            hit = limbs.cast_segments(start[i] - by, end[i] - by).hit
            known = verdict != cc.Doubt.DEPENDS
            assert np.array_equal(hit[known], verdict[known] == cc.Doubt.CERTAIN), i
        for one in cc.Doubt:
            seen[one] += (verdict == one).sum()
    assert min(seen.values()) > 20, seen


@pytest.mark.machine_code
def test_at_one_time_it_equals_a_world_of_then():
    history, rng = walkers("bones"), np.random.default_rng(4)
    start, end = shots(history, rng, 2 * N)
    radius = rng.choice([0.0, 0.03], 2 * N)
    found, world = history.doubt_segments(start, end, radius, 1.25), cc.HitWorld(history.limbs_at(1.25))
    expected = world.doubt_segments(start, end, radius)
    for name in ("verdict", "offsets", "query", "limb", "limb_verdict"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert (found.tick == 1).all()


def test_new_jumping_and_protected_limbs_depend():
    rig, world = cc.Rig.humanoid(), cc.HitWorld()
    pose = rig.forward([[0, 0, 1]], [0, 0, 0, 1], rig.rest_orientations[None])
    ids = world.spawn(rig, 1)
    history = cc.PoseHistory(world, teleport_distance=5.0)
    for tick in range(4):
        if tick == 3:
            pose = rig.forward([[9, 0, 1]], [0, 0, 0, 1], rig.rest_orientations[None])
        world.set_poses(ids, *pose)
        history.record(tick)
    shot = [-3, 50, 1], [3, 50, 1], 0.01  # far from all limbs
    depends, excluded = [cc.Doubt.DEPENDS], [cc.Doubt.EXCLUDED]
    assert history.doubt_segments(*shot, 1.0, time_radius=1.0).verdict.tolist() == excluded
    assert history.doubt_segments(*shot, 1.0, time_radius=1.5).verdict.tolist() == depends  # not kept
    assert history.doubt_segments(*shot, 2.5, time_radius=0.1).verdict.tolist() == depends  # a teleport
    assert history.doubt_segments(*shot, 7.0, on_old="miss").verdict.tolist() == depends
    near = {"time_radius": 0.5, "protected_since": {int(ids[0]): 1.25}}
    assert history.doubt_segments(*shot, 1.0, **near).verdict.tolist() == depends
    assert history.doubt_segments(*shot, 0.5, **near).verdict.tolist() == excluded
    through = [-3, 0, 1.3], [3, 0, 1.3], 0.01
    assert history.doubt_segments(*through, 0.5, **near).verdict.tolist() == [cc.Doubt.CERTAIN]
    assert history.doubt_segments(*through, [0.5, 1.0], **near).verdict.tolist() == [cc.Doubt.CERTAIN, *depends]
    with pytest.raises(ValueError, match="time_radius"):
        history.doubt_segments(*shot, 1.0, time_radius=-1.0)


def eventful_history(interpolate: str) -> tuple[cc.PoseHistory, dict[int, float]]:
    """Nine ticks: bare limbs move; characters walk, come, leave, jump, change layers; statics come, move, leave.

    Also the times from which two characters are protected.
    """
    rig, rng, bare = all_shapes_rig(), np.random.default_rng(8), mixed(7, seed=3).limbs()
    world = cc.HitWorld(bare)
    history, ids = cc.PoseHistory(world, 16, interpolate), list(world.spawn(rig, 4))
    balls = cc.Limbs.spheres([[0, 0, 0], [0, 0, 1]], [0.5, 0.7], hit_group=[1, 2])
    pillar, crate = (world.add_static(balls) for _ in range(2))
    world.move_static(pillar, [-3, 0, 0], [0, 0, 0, 1])
    for tick in range(9):
        match tick:
            case 2:
                ids += list(world.spawn(rig, 2))
            case 3:
                world.move_static(crate, [0, -3, 0], [0, 0, 0, 1])
            case 4:
                world.despawn(ids.pop(1))
                world.remove_static(pillar)
            case 5:
                world.set_layers(ids[0], 2)
            case 7:
                world.add_static(balls)
        angle = np.arange(len(ids)) + 3.0 * (tick >= 6)
        roots = np.column_stack([2 * np.cos(angle) + 0.1 * tick, 2 * np.sin(angle), np.zeros(len(ids))])
        turns = rig.rest_orientations + 0.2 * rng.normal(size=(len(ids), *rig.rest_orientations.shape))
        world.set_poses(ids, *rig.forward(roots, [0, 0, 0, 1], turns), teleport=tick == 6)
        world.set_endpoints(bare.p1 + 0.04 * tick, bare.p2 + 0.04 * tick)
        history.record(0.5 * tick)
    return history, {int(ids[1]): 0.7, int(ids[2]): 1.8}


def identities(found: cc.Chords | cc.Doubts) -> list[tuple[int, int, int]]:
    """Static, character and number within it of each limb, since its row may differ between ticks."""
    is_bare = (found.static < 0) & (found.rig_limb < 0)
    number = np.where(is_bare, found.limb, np.where(found.static >= 0, found.hit_group, found.rig_limb))
    return list(zip(found.static.tolist(), found.character.tolist(), number.tolist(), strict=True))


@pytest.mark.machine_code
@pytest.mark.parametrize("interpolate", ["bones", "ends"])
def test_all_possible_hits_are_listed_whatever_comes_leaves_jumps_or_is_protected(interpolate: str):
    (history, since), rng, n = eventful_history(interpolate), np.random.default_rng(9), 1200
    aim, start = 2.0 * rng.normal(size=(n, 3)) * [1, 1, 0.4], 4.0 * rng.normal(size=(n, 3))
    end, radius, mask = 2.0 * aim - start, rng.choice([0.0, 0.05], n), rng.choice([1, 2, 0xFFFFFFFF], n)
    time = np.where(rng.random(n) < 0.5, rng.choice(np.linspace(-0.5, 4.5, 21), n), rng.uniform(-0.5, 4.5, n))
    span, options = rng.choice([0.01, 0.03, 0.4, 5.0], n), {"mask": mask, "protected_since": since, "on_old": "miss"}
    found = history.doubt_segments(start, end, radius, time, time_radius=span, **options)
    listed = list(zip(found.query.tolist(), identities(found), strict=True))
    assert len(set(listed)) == len(listed), "each limb once"
    verdict, row = dict(zip(listed, found.limb_verdict, strict=True)), dict(zip(listed, found.limb, strict=True))
    certain = {pair for pair, one in verdict.items() if one == cc.Doubt.CERTAIN}
    by = rng.normal(size=(n, 3))
    by *= (radius * (1.0 - 1e-9) / np.linalg.norm(by, axis=1))[:, None]
    first, last = history.times[[0, -1]]
    low, high = np.maximum(time - span, first), np.minimum(time + span, last)
    events = [*history.times, *np.nextafter(history.times, 0.0), *since.values()]
    some = [low + (high - low) * rng.random(n) for _ in range(4)]
    for at in (time, low, high, *(np.full(n, one) for one in events), *some):
        is_on = (low <= at) & (at <= high)
        on = np.flatnonzero(is_on)
        mine = {"mask": mask[on], "protected_since": since}
        crossed = history.chords_segments(start[on] - by[on], end[on] - by[on], at[on], **mine)
        hit = list(zip(on[crossed.ray].tolist(), identities(crossed), strict=True))
        assert not set(hit) - set(verdict), "not listed, but hit"
        assert not {pair for pair in certain if is_on[pair[0]]} - set(hit), "certain, but missed"
        if at is time:
            assert [row[pair] for pair in hit] == crossed.limb.tolist()
    least = np.where((time - span < first) | (time + span > last), cc.Doubt.DEPENDS, cc.Doubt.EXCLUDED)
    np.maximum.at(least, found.query, found.limb_verdict)
    assert ((found.verdict == least) | (found.verdict == cc.Doubt.DEPENDS)).all()
    seen = [np.count_nonzero(found.limb_verdict == one) for one in (cc.Doubt.DEPENDS, cc.Doubt.CERTAIN)]
    assert min(*seen, np.count_nonzero(found.verdict == cc.Doubt.EXCLUDED)) > 30, seen


# Blades ---------------------------------------------------------------------------------------------------------------


def strokes(history: cc.PoseHistory, rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    """Blades that pass near some limb, and radii."""
    start, end = shots(history, rng, n)
    turn = 0.3 * rng.normal(size=(n, 3))
    return start - turn, start + turn, end + turn[:, ::-1], end - turn[:, ::-1], rng.choice([0.0, 0.05], n)


@pytest.mark.machine_code
def test_a_stroke_at_one_time_equals_a_world_of_then():
    history, rng = walkers("bones"), np.random.default_rng(5)
    blades = strokes(history, rng, N)
    found, expected = history.sweep_capsules(*blades, 1.25), cc.HitWorld(history.limbs_at(1.25)).sweep_capsules(*blades)
    for name in ("hit", "limb", "fraction", "undecided"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert np.array_equal(found.position, expected.position, equal_nan=True)
    assert N // 4 < found.hit.sum() < N


@pytest.mark.machine_code
@pytest.mark.parametrize("interpolate", ["bones", "ends"])
def test_moving_limbs_are_touched_at_the_fraction_not_before(interpolate: str):
    history, rng, resolution = walkers(interpolate), np.random.default_rng(6), 2.0**-8
    p, q, u, v, radius = strokes(history, rng, N)
    t0 = rng.uniform(0.0, 1.0, N)
    t1 = t0 + rng.choice([0.1, 1.0, 2.0], N)
    hits = history.sweep_capsules(p, q, u, v, radius, t0, t1, resolution=resolution)
    assert hits.undecided.mean() < 0.2
    for i in range(N):
        last = hits.fraction[i] if hits.hit[i] else 1.0
        for share in np.append(last - resolution, rng.uniform(0.0, last - resolution, 3)) if last > resolution else ():
            if not hits.undecided[i]:
                world = cc.HitWorld(history.limbs_at(min(t0[i] + share * (t1 - t0)[i], t1[i])))
                blade = p[i] + share * (u - p)[i], q[i] + share * (v - q)[i]
                assert len(world.overlap_capsules(*blade, radius[i] * (1.0 - 1e-9))) == 0, (i, share)
        if hits.hit[i]:
            limbs = history.limbs_at(hits.time[i])
            blade = p[i] + last * (u - p)[i], q[i] + last * (v - q)[i]
            assert limbs[hits.limb[i] : hits.limb[i] + 1].overlap_capsules(*blade, radius[i] + 1e-9)[0]
            assert hits.tick[i] <= hits.time[i] <= hits.tick[i] + 1
    with pytest.raises(ValueError, match="t1: expected t1 >= t0"):
        history.sweep_capsules(p[0], q[0], u[0], v[0], 0.1, 1.0, 0.5)
    for on_old in ("error", "clamp", "miss"):  # also refused where times are not kept
        for first, last in ((-1.0, -2.0), (99.0, 98.0), (99.0, -1.0)):
            with pytest.raises(ValueError, match="t1: expected t1 >= t0"):
                history.sweep_capsules(p[0], q[0], u[0], v[0], 0.1, first, last, on_old=on_old)
    for times in ((np.nan, 1.0), (-9.0, 1.0), (0.5, 99.0), (0.5, "late"), ([0.1, 0.2], 0.5)):
        name = "t1" if times[0] == 0.5 else "t0"
        with pytest.raises(ValueError, match=f"^{name}: expected"):
            history.sweep_capsules(p[:3], q[:3], u[:3], v[:3], 0.1, *times)


def test_a_stroke_not_kept_has_no_tick():
    """Its beginning is too early, or its end too late."""
    history = walkers("bones")
    t0, t1 = [-9.0, 0.5, 0.5], [0.5, 99.0, 1.0]
    hits = history.sweep_capsules(*strokes(history, np.random.default_rng(7), 3), t0, t1, on_old="miss")
    assert not hits.hit[:2].any()
    assert hits.tick.tolist()[:2] == [-1, -1]
    assert hits.tick[2] >= 0
    assert np.isnan(hits.alpha).tolist() == [True, True, False]
    assert hits.time.tolist()[:2] == t0[:2]
    assert not hits.clamped.any()


def two_balls(second: float = 9.0) -> tuple[cc.HitWorld, cc.PoseHistory, np.ndarray]:
    """A world of two characters with one ball each, at 0 and at another place along x."""
    world = cc.HitWorld()
    ids = world.spawn(one_bone_rig(cc.Limbs.spheres([0, 0, 0], 1.0)), 2)
    world.set_poses(ids, [[[0, 0, 0]], [[second, 0, 0]]], [[[0, 0, 0, 1]]] * 2)
    return world, cc.PoseHistory(world), ids


def test_certain_times_are_exact_beside_uncertain_ones():
    world, history, ids = two_balls()
    history.record(0.0)
    world.set_poses(ids[1], [[[50, 0, 0]]], [[[0, 0, 0, 1]]], teleport=True)
    history.record(1.0)
    starts, ends, times = [[-3, 0, 0]] * 3, [[3, 0, 0]] * 3, [0.5, 0.5, 1.5]
    found = history.doubt_segments(starts, ends, 0.0, times, time_radius=[0.0, 0.1, 0.0], on_old="clamp")
    assert found.verdict.tolist() == [cc.Doubt.CERTAIN, cc.Doubt.DEPENDS, cc.Doubt.CERTAIN]


def test_a_time_not_kept_can_be_a_certain_miss():
    _, history, _ = two_balls()
    history.record(0.0)
    asked = [-3, 0, 0], [3, 0, 0], [0.0, 0.1, 0.0, 0.0], [1.5, 1.5, 1.5, 0.0]
    found = history.doubt_segments(*asked, time_radius=[0.0, 0.0, 0.1, 0.0], on_old="miss")
    assert found.verdict.tolist() == [cc.Doubt.EXCLUDED, cc.Doubt.DEPENDS, cc.Doubt.DEPENDS, cc.Doubt.CERTAIN]


def test_times_not_kept_are_doubted_unless_both_radii_are_0():
    _, history, _ = two_balls()
    history.record(0.0)
    history.record(1.0)
    for radii, time_radii in (([0.0, 0.1, 0.0, 0.1], 0.0), ([0.0, 0.1, 0.0, 0.0], [0.0, 0.0, 0.1, 0.0])):
        found = history.doubt_segments(
            [-3, 0, 0], [3, 0, 0], radii, [1.5, 1.5, 1.5, 1.0], time_radius=time_radii, on_old="clamp"
        )
        thick = [radius > 0.0 for radius in np.maximum(radii, time_radii)]
        expected = [cc.Doubt.DEPENDS if one else cc.Doubt.CERTAIN for one in thick[:3]] + [cc.Doubt.CERTAIN]
        assert found.verdict.tolist() == expected
        assert found.limb.tolist() == [0, 0, 0, 0]
        assert found.limb_verdict.tolist() == expected


@pytest.mark.parametrize("far", [1e150, 2.0**500])
def test_limbs_beyond_the_number_range_depend(far: float):
    world = cc.HitWorld(cc.Limbs.spheres([[0, 0, 0], [5, 0, 0]], 1.0))
    history = cc.PoseHistory(world)
    for time, x in ((0.0, -far), (1.0, far)):
        world.set_endpoints([[0, 0, 0], [x, 0, 0]], [[0, 0, 0], [x, 0, 0]])
        history.record(time)
    found = history.doubt_segments([-3, 0, 0], [3, 0, 0], 0.1, 0.5, time_radius=0.5)
    assert (found.limb.tolist(), found.limb_verdict.tolist()) == ([0, 1], [cc.Doubt.CERTAIN, cc.Doubt.DEPENDS])


@pytest.mark.parametrize("end", [1.0, 2.0])
def test_strokes_hit_limbs_that_appear_at_their_last_tick(end: float):
    world, history, ids = two_balls(100.0)
    for time in (0.0, end, 2.0 * end):
        history.record(time)
        world.set_poses(ids[1], [[[20, 0, 0]]], [[[0, 0, 0, 1]]], teleport=True)
    place = [20, 0, 0], [20, 1, 0]
    for t0, t1, fraction in ((0.0, end, 1.0), (0.5 * end, end, 1.0), (end, end, 0.0), (0.0, 2.0 * end, 0.5)):
        found = history.sweep_capsules(*place, *place, 0.1, t0, t1)
        assert (found.limb.tolist(), found.undecided.tolist()) == ([1], [False])
        assert abs(found.fraction[0] - fraction) <= 2.0**-10
    assert not history.sweep_capsules(*place, *place, 0.1, 0.0, np.nextafter(end, 0.0)).hit[0]
