"""Queries in the past: bit for bit those of a world of the limbs of that time, whatever has happened since."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, product

import numpy as np
import pytest
from support.cases.everyday_worlds import make_crowd
from support.cases.recorded_world import recorded_world
from support.character_life import Life
from support.check_cylinders import IS_COMPILED, Columns, differing, same_bits
from support.matches.answers import Ask, in_order, of_worlds, queries
from support.matches.volley import draw_volley, moments_of, past_limbs, record_life

import cylcollide as cc
from cylcollide.history import PoseHistory
from cylcollide.query.loops.ray_sort import SMALLEST_OCTANT

pytestmark = pytest.mark.plain_python


def shots(history: PoseHistory, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Segments at kept times, some exactly at ticks; most pass a limb of that time."""
    times = rng.uniform(*history.times[[0, -1]], n)
    times[::7] = rng.choice(history.times, len(times[::7]))
    return *past_limbs(history, rng, times), times


@pytest.mark.machine_code
@pytest.mark.parametrize("interpolate", ["bones", "ends"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_past_equals_a_world_of_then(seed: int, interpolate: str):
    """Every query and policy, with filters for each shot; characters come, go, hide and teleport; the ring wraps."""
    bare, seen = make_crowd(12) if seed else cc.HitWorld().limbs, Counter[str]()
    life = Life(np.random.default_rng(seed), bare, names=Life.WITH_STATICS)
    life.world.spawn(cc.Rig.humanoid(), 0)  # registers the hit groups
    history = PoseHistory(life.world, 12, interpolate, teleport_distance=9.0)
    while len(life.living) < 6:
        life.spawn()
    life.move_all()
    record_life(life, history, 12, leaps=0.25)
    rounds = product(range(4), (False, True), ("hit", "exit", "ignore"))
    for policy, on_rays, inside in islice(rounds, seed + 2 * (interpolate == "ends"), None, 4 if IS_COMPILED else 7):
        record_life(life, history, 2, leaps=0.25)
        options = {"inside": inside, "threads": int(life.rng.integers(1, 3))}
        compare(history, life, queries(policy, on_rays), options, seen)
    assert min(seen.values()) > (10 if IS_COMPILED else 3), seen
    assert min(life.steps[name] for name in ("despawn", "teleport", "set_layers", "move_static")) > 1


def compare(history: PoseHistory, life: Life, asked: dict[str, Ask], options: dict, seen: Counter[str]):
    """Assert that shuffled shots at six moments, together and alone, get the answers of a world of each moment."""
    rng, (first, last) = life.rng, history.times[[0, -1]]
    times = rng.uniform(2 * first - last, 2 * last - first, 6)
    times[::2] = np.append(rng.choice(history.times, 2), first)
    since = {int(who): float(rng.uniform(first, last)) for who in rng.integers(0, 20, 6)}
    moments = moments_of(history, times, 4, since, len(life.bare))
    shots = draw_volley(moments, 4, rng)
    order = rng.permutation(len(shots.time))
    shuffled = shots.rows(order)
    for name, ask in asked.items():
        want = of_worlds(ask, moments, shots, options)
        past = {**options, "protected_since": since, "on_old": "clamp"}
        got = in_order(ask(history, shuffled, {**past, "time": shuffled.time}), np.argsort(order))
        assert not differing(got, want), (name, past)
        one = ask(history, shots.rows(order[:1]), {**past, "time": shots.time[order[0]]})
        assert not differing(one, in_order(want, order[:1])), (name, past)
        seen[name] += hits_in(want)
        forgotten = ask(history, shots, {**past, "on_old": "miss", "time": np.nextafter(first, -np.inf)})
        assert hits_in(forgotten) == 0, name


def hits_in(found: Columns) -> int:
    """Number of hits, or of chords."""
    return int((found["hit"] if "hit" in found else found["limb"] >= 0).sum())


@pytest.mark.skipif(not IS_COMPILED, reason="plain Python takes minutes for so many rays")
def test_many_rays_of_a_tick_are_answered_as_few():
    """Many go by octants, few go together: all octants have hits, with equal bits."""
    history, rng, n = recorded_world(), np.random.default_rng(5), 2 * SMALLEST_OCTANT
    middle = rng.uniform(-3.0, 3.0, (n, 3))
    step, time = rng.normal(size=(n, 3)), rng.random(n)
    many = history.cast_segments(middle - 3.0 * step, middle + 3.0 * step, time)
    for few in np.split(np.arange(n), 8):
        one = history.cast_segments((middle - 3.0 * step)[few], (middle + 3.0 * step)[few], time[few])
        assert same_bits(many, one, few) == []
    assert np.bincount((step < 0.0)[many.hit] @ [1, 2, 4], minlength=8).min() > 100


# Between two ticks --------------------------------------------------------------------------------------------------


def test_ticks_give_the_recorded_numbers():
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


@pytest.mark.coverage
def test_a_limb_reversed_by_ends_has_no_axis_half_way():
    limbs = cc.Limbs.concat([cc.Limbs.cylinders([0, 0, 0], [1, 0, 0], 0.1), cc.Limbs.spheres([5, 0, 0], 0.5)])
    world = cc.HitWorld(limbs)
    history = PoseHistory(world)
    history.record(0)
    world.set_endpoints([1, 0, 0], [0, 0, 0], limbs=[0])
    history.record(1)
    x = np.array([0.5, 0.5, 0.5, 5.0])
    hits = history.cast_segments(
        np.column_stack([x, x * 0 - 1, x * 0]), np.column_stack([x, x * 0 + 1, x * 0]), [0.4, 0.5, 0.6, 0.5]
    )
    assert hits.limb.tolist() == [0, -1, 0, 1]
    half = history.limbs_at(0.5)
    assert half.mask.tolist() == [0, 0xFFFFFFFF]
    assert cc.HitWorld(half).cast_segments([0.5, -1, 0], [0.5, 1, 0]).limb == -1


@pytest.mark.coverage
def test_the_live_world_is_not_touched():
    life = Life(np.random.default_rng(8), make_crowd(5))
    history = PoseHistory(life.world)
    record_life(life, history, 10, leaps=0.25)
    before = life.world.snapshot()
    start, end, times = shots(history, life.rng, 20)
    with ThreadPoolExecutor(1) as thread:  # it makes buffers of its own
        first = thread.submit(history.cast_segments, start, end, times).result()
    assert life.world.snapshot() is before
    record_life(life, history, 3, leaps=0.25)
    assert not same_bits(first, history.cast_segments(start, end, times))
