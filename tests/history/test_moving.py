"""Flying bullets against brute force in rational arithmetic, while characters and bare limbs change in every way."""

import numpy as np
import pytest
from support.cases.everyday_worlds import make_crowd
from support.character_life import Life, all_shapes_rig
from support.check_cylinders import IS_COMPILED
from support.matches.volley import past_limbs, record_life
from support.one_limb import about_z, one_limb_world
from support.oracle.moving_bullets import Bullet, Ticks

import cylcollide as cc
from cylcollide.history import PoseHistory
from cylcollide.history.moving.exact import first_contact
from cylcollide.history.moving.hits import MovingHit, MovingHits
from cylcollide.history.moving.request import moving_request

pytestmark = pytest.mark.plain_python

FIELDS = tuple(name for name in MovingHit.__annotations__ if name not in ("limb_name",))
N, TICKS = (160, 12) if IS_COMPILED else (40, 5)


def recorded_life(seed: int, interpolate: str, ticks: int = TICKS) -> tuple[Life, PoseHistory]:
    """A history of a life without boxes; characters move a little or anywhere, come and go. Seed 4: also statics."""
    names = Life.WITH_STATICS if seed == 4 else Life.STEPS
    life = Life(np.random.default_rng(seed), make_crowd(12) if seed else cc.HitWorld().limbs, names=names)
    life.rigs, life.has_boxes = [life.rigs[1], all_shapes_rig(has_boxes=False)], False
    history = PoseHistory(life.world, ticks, interpolate)
    record_life(life, history, ticks + 4)
    return life, history


def flights(history: PoseHistory, rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    """Bullets past limbs of some tick, most of them within a tick or two, some at one moment only."""
    times = np.sort(rng.uniform(*history.times[[0, -1]], (2, n)), axis=0)
    times[1, ::2] = np.minimum(times[0, ::2] + rng.uniform(0.0, 0.05, len(times[1, ::2])), history.times[-1])
    times[0, ::7] = rng.choice(history.times, len(times[0, ::7]))
    times[1, ::7] = np.maximum(times[0, ::7], rng.choice(history.times, len(times[0, ::7])))
    times[1, 1::9] = times[0, 1::9]
    return *past_limbs(history, rng, times[0]), *times


def check_row(ticks: Ticks, hits: MovingHits, i: int, bullet: Bullet) -> bool:
    """Assert that a row agrees with brute force; returns whether it hits."""
    want = ticks.first_contact(bullet)
    assert hits.hit[i] == (want is not None)
    if want is None:
        return False
    assert (hits.tick[i], hits.limb[i], hits.character[i], hits.face[i]) == (want[0], want[1], want[2], want[5])
    assert abs(hits.alpha[i] - want.alpha) <= 4 * 2.0**-53
    assert abs(hits.fraction[i] - want.fraction) <= 2 * 2.0**-53
    return True


@pytest.mark.machine_code
@pytest.mark.parametrize(("seed", "interpolate"), [(0, "ends"), (1, "bones"), (4, "ends")])
def test_bullets_agree_with_brute_force(seed: int, interpolate: str):
    life, history = recorded_life(seed, interpolate)
    start, end, t0, t1 = flights(history, life.rng, N)
    mask, ignored = life.rng.choice([0xFFFFFFFF, 0xFFFFFFFF, 1, 6], N), life.rng.integers(-1, 12, N)
    hits = history.cast_moving(start, end, t0, t1, mask=mask, ignore_character=ignored)
    ticks, found = Ticks(history, len(life.bare)), 0
    for i in range(0, N, 8):
        bullet = Bullet(start[i], end[i], float(t0[i]), float(t1[i]), int(mask[i]), int(ignored[i]))
        found += check_row(ticks, hits, i, bullet)
    assert found > (5 if IS_COMPILED else 1)
    assert hits.rechecked < 0.2 * N
    assert len(set(hits.tick.tolist())) > 3


@pytest.mark.machine_code
def test_a_protection_that_begins_in_flight_ends_contacts():
    """Entries and exits agree with exact arithmetic; protections send no more bullets to it."""
    life, history = recorded_life(4, "bones")
    start, end, t0, t1 = flights(history, life.rng, N)
    since = {int(who): life.rng.uniform(*history.times[[0, -1]]) for who in set(history.limbs_at(t0[0]).character)}
    since = {who: time for who, time in since.items() if who >= 0}
    free, hits = history.cast_moving(start, end, t0, t1), history.cast_moving(start, end, t0, t1, protected_since=since)
    assert hits.rechecked <= free.rechecked + 1
    request = moving_request(start, end, t0, t1, protected_since=since)(history._kept())
    for i in range(N):
        found, _ = first_contact(request, i, request.intervals.offsets.item(i))
        assert hits.hit[i] == (found is not None)
        if found is not None:
            assert hits.limb[i] == request.limbs.table.row[found.pair.limb]
            assert abs(hits.fraction[i] - found.contact.entry.rounded()) <= 2.0**-52
            assert abs(hits.exit_fraction[i] - found.end()[1].exit.rounded()) <= 2.0**-52
    assert hits.hit.sum() > (20 if IS_COMPILED else 1)
    assert (free.hit & ~hits.hit).any()


def test_bones_that_share_balls_and_limbs_that_are_there_twice_need_no_exact_arithmetic():
    rng = np.random.default_rng(3)
    here = rng.uniform(-1.0, 1.0, (5, 4, 3))
    there = here + rng.uniform(-0.1, 0.1, here.shape)
    chains = [(at[:, :-1].reshape(-1, 3), at[:, 1:].reshape(-1, 3)) for at in (here, there)]
    bones = cc.Limbs.capsules(*chains[0], 0.2)
    twice = cc.Limbs.tapered_cylinders([[0.0, 0.0, 2.0]] * 2, [[0.0, 0.0, 3.0]] * 2, 0.4, 0.2)
    world = cc.HitWorld(cc.Limbs.concat([bones[::-1], cc.Limbs.spheres(here[0], 0.2), twice]))
    history = PoseHistory(world, 2)
    history.record(0.0)
    p1, p2 = (
        np.concatenate((ends[::-1], there[0], more)) for ends, more in zip(chains[1], (twice.p1, twice.p2), strict=True)
    )
    p2[15:19] = p1[15:19]
    world.set_endpoints(p1, p2)
    history.record(1.0)
    n = N // 4
    goal = np.where(np.arange(n)[:, None] % 5 == 0, [0.0, 0.0, 2.5], here.reshape(-1, 3)[rng.integers(0, 20, n)])
    start, aside = goal + rng.normal(size=(n, 3)), 0.1 * rng.normal(size=(n, 3))
    hits = history.cast_moving(start, 2.0 * goal - start + aside, 0.25, 0.75)
    assert hits.rechecked == 0
    ticks = Ticks(history, len(world.limbs))
    bullets = [Bullet(a, b, 0.25, 0.75) for a, b in zip(start, 2.0 * goal - start + aside, strict=True)]
    assert sum(check_row(ticks, hits, i, bullet) for i, bullet in enumerate(bullets)) > 0.7 * n


@pytest.mark.machine_code
def test_bits_are_equal_one_by_one_and_with_two_threads(monkeypatch: pytest.MonkeyPatch):
    life, history = recorded_life(2, "bones")
    start, end, t0, t1 = flights(history, life.rng, N)
    start[::18] *= np.resize([1e6, 1e30], len(start[::18]))[:, None]  # also beyond float32
    alone = history.cast_moving(start, end, t0, t1, threads=1)
    monkeypatch.setattr("cylcollide.process.threads.LEAST_RAYS_PER_TASK", 7)
    monkeypatch.setattr("cylcollide.process.threads.SMALLEST_STREAM", 1)
    shared = history.cast_moving(start, end, t0, t1, threads=2)
    for name in FIELDS:
        assert np.array_equal(getattr(alone, name), getattr(shared, name), equal_nan=True), name
    assert repr(alone).startswith(f"MovingHits({N} bullets, {alone.hit.sum()} hits, {alone.rechecked} rechecked)\n")
    hit = np.flatnonzero(alone.hit)
    assert len(hit) > (10 if IS_COMPILED else 2)
    for i in (*hit[:8].tolist(), 0, 1, 18):
        one = history.cast_moving(start[i], end[i], t0[i], t1[i])
        for name in (*FIELDS, "limb_name"):
            if "piece" not in name:
                mine, other = getattr(one, name)[0], getattr(alone, name)[i]
                assert mine is other or np.array_equal(mine, other, equal_nan=name != "limb_name"), name


def test_at_one_moment_a_bullet_is_a_segment_by_ends():
    life, history = recorded_life(4, "ends")
    start, end, *_ = flights(history, life.rng, N)
    tick = life.rng.choice(history.ticks[:-1], N)
    times = history.times[tick - history.ticks[0]]
    for alpha in (0.0, 0.25, 0.71):
        at = times + alpha * (history.times[tick - history.ticks[0] + 1] - times)
        moving, still = history.cast_moving(start, end, at, at), history.cast_segments(start, end, at)
        for name in ("hit", "limb", "character", "face", "rig_limb", "bone", "hit_group"):
            assert np.array_equal(getattr(moving, name), getattr(still, name)), name
        assert still.hit.sum() > (10 if IS_COMPILED else 0)
        assert np.array_equal(moving.tick, np.where(still.hit, still.tick, -1))
        assert np.allclose(moving.alpha[still.hit], still.alpha[still.hit], rtol=1e-15, atol=0.0)
        if alpha == 0.0:
            for name in ("fraction", "exit_fraction", "position", "normal"):
                assert np.allclose(getattr(moving, name), getattr(still, name), 1e-15, 1e-15, equal_nan=True), name


def test_grazes_in_space_and_time():
    world, _, who = one_limb_world()
    history = PoseHistory(world)
    for k, (place, turn) in enumerate([(-8.0, 0.3), (8.0, 0.3), (7.0, -0.5)]):
        world.set_poses(who, [[[0.0, place, 0.0]]], [[about_z(turn)]])
        history.record(0.7 * k)
    limbs = [history.limbs_at(tick=k) for k in range(3)]
    rng, bullets = np.random.default_rng(9), []
    for exponent in np.linspace(1.0, 15.0, 40 if IS_COMPILED else 8):
        for tick in (0, 1):
            # about a radius from a point of the axis, which the bullet follows, at right angles
            share, along = 10.0**-exponent * rng.choice([-1.0, 1.0]), 0.5 + 0.3 * rng.normal()
            ends = [limb.p1[0] + along * (limb.p2[0] - limb.p1[0]) for limb in limbs[tick : tick + 2]]
            way = np.array([0.0, 0.0, 1.0]) + share * rng.normal(size=3)
            beside = np.cross(limbs[tick].p2[0] - limbs[tick].p1[0], way)
            off = 0.1 * (1.0 + share) * beside / np.linalg.norm(beside)
            bullets.append((ends[0] + off - way, ends[1] + off + way, 0.7 * tick, 0.7 * (tick + 1)))
    start, end, t0, t1 = (np.array(column) for column in zip(*bullets, strict=True))
    hits, ticks = history.cast_moving(start, end, t0, t1), Ticks(history, 0)
    found = [
        check_row(ticks, hits, i, Bullet(start[i], end[i], float(t0[i]), float(t1[i]))) for i in range(len(bullets))
    ]
    assert 0.2 * len(found) < sum(found) < len(found)
    assert hits.rechecked > 0
