"""Points in batches of every size: the stream and the single loop agree bit by bit, for all shapes."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed
from support.cases.everyday_worlds import make_crowd
from support.cases.frames import Array
from support.check_cylinders import IS_COMPILED, same_bits
from support.force_loop import set_threshold
from support.machine_code import replace_loop

import cylcollide as cc
from cylcollide._types import UNDECIDED
from cylcollide.bvh import ray_node_pairs as together
from cylcollide.constants import TREE_WIDTH
from cylcollide.kernels.distance import point_limb
from cylcollide.kernels.limb_table import limb_at
from cylcollide.query import points as point_queries
from cylcollide.query import scratch
from cylcollide.query.loops import points as point_loops

COUNTS = (0, 1, 7, 8, 9, 31, 33, 63, 64, 65, 1025, 4097)
LARGEST = max(COUNTS) if IS_COMPILED else 40
BATCHES = [n for n in COUNTS if n <= LARGEST]
COLUMNS = ("limb", "count", "axis_distance_squared")
differing = partial(same_bits, fields=COLUMNS)
FEW, MANY = "locate_few", "locate_many"


def counted(name: str, loop: Callable[..., int], taken: Counter[str]) -> Callable[..., int]:
    """Return a loop that counts its calls."""

    def call(*args: Any) -> int:
        taken[name] += 1
        return loop(*args)

    return call


@contextmanager
def ways(smallest: int) -> Iterator[Counter[str]]:
    """Send batches from `smallest` points on to the stream; yield how often each loop was used."""
    taken = Counter[str]()
    with pytest.MonkeyPatch.context() as patch:
        set_threshold(patch, "SMALLEST_BATCH", smallest)
        for name, loop in ((FEW, point_loops.locate_single_points), (MANY, point_loops.locate_points)):
            replace_loop(patch, loop, counted(name, loop, taken))
        yield taken


def both_ways(
    world: cc.HitWorld, points: Array, threads: int | None = 1, **filters: Any
) -> tuple[cc.PointHits, cc.PointHits]:
    """Return the answers of the single loop and of the stream."""
    with ways(1 << 60) as taken:
        one_by_one = world.contains_points(points, threads=threads, **filters)
    assert set(taken) == {FEW}
    with ways(0) as taken:
        all_at_once = world.contains_points(points, threads=threads, **filters)
    assert set(taken) == {MANY}
    return one_by_one, all_at_once


def world_of(kind: str, count: int) -> cc.HitWorld:
    """Return a world of this many limbs."""
    if kind == "in one place":
        return cc.HitWorld(cc.Limbs.cylinders(np.zeros((count, 3)), np.full((count, 3), 1.0), 0.5))
    return cc.HitWorld(make_crowd(count) if kind == "cylinders" else mixed(max(count, 7), seed=6).limbs()[:count])


def points_near(limbs: cc.Limbs, n: int, seed: int = 3) -> Array:
    """Return points: most near a limb, some on its axis, on a cap or on the wall, some far away."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-5, 5, (n, 3))
    if len(limbs) == 0:
        return points
    k = rng.integers(0, len(limbs), n)
    along = limbs.p1[k] + rng.choice([0.0, 0.25, 0.5, 1.0], (n, 1)) * (limbs.p2 - limbs.p1)[k]
    kind = rng.integers(0, 8, (n, 1))
    near = along + rng.normal(size=(n, 3)) * limbs.radius[k][:, None] * 0.7
    return np.select([kind == 0, kind == 1, kind == 2], [along, points, 1e6 * points], near)


@pytest.mark.parametrize("limbs_count", [0, 1, 7, 33, 200])
@pytest.mark.parametrize("kind", ["cylinders", "all shapes", "in one place"])
def test_odd_sizes(kind: str, limbs_count: int):
    """In batches of every size both loops agree, and agree with `classify_points` of each limb."""
    if limbs_count > 33 and not IS_COMPILED:
        return
    world, total = world_of(kind, limbs_count), Counter[str]()
    limbs = world.limbs
    points = points_near(limbs, LARGEST)
    for n in (n for n in BATCHES if n < 100 or limbs_count in (7, 200)):
        one_by_one, all_at_once = both_ways(world, points[:n])
        assert not differing(one_by_one, all_at_once), n
        total.update(held=int((all_at_once.limb >= 0).sum()), free=int((all_at_once.limb < 0).sum()))
    for i in range(0, len(all_at_once), 1 + LARGEST // 20):
        holders = np.flatnonzero(limbs.classify_points(points[i]) != cc.Side.OUTSIDE) if limbs_count else []
        assert all_at_once.count[i] == len(holders)
        assert all_at_once.limb[i] == (holders[0] if len(holders) else -1)
        if len(holders):
            squared = limbs.axis_distance_squared(points[i])[holders[0]]
            assert all_at_once.axis_distance_squared[i] == squared
    assert min(total["held"] or limbs_count == 0, total["free"]) > 0
    if kind == "in one place" and limbs_count:
        assert set(np.unique(all_at_once.count)) == {0, limbs_count}
        assert set(np.unique(all_at_once.limb)) == {-1, 0}


@pytest.mark.parametrize("kind", ["cylinders", "all shapes"])
def test_order_split_and_threads_change_no_row(kind: str, monkeypatch: pytest.MonkeyPatch):
    world, rng = world_of(kind, 33), np.random.default_rng(5)
    points = points_near(world.limbs, LARGEST)
    want = world.contains_points(points, threads=1)
    set_threshold(monkeypatch, "SMALLEST_BATCH", 8)
    set_threshold(monkeypatch, "RAYS_PER_TASK", LARGEST // 5)
    set_threshold(monkeypatch, "LEAST_RAYS_PER_TASK", LARGEST // 5)
    for threads in (1, 2, 4, None):
        order = rng.permutation(LARGEST)
        assert not differing(want, world.contains_points(points[order], threads=threads), order)
    for cut in (8, 9, 17, LARGEST // 2):
        assert not differing(want, world.contains_points(points[:cut]), slice(cut))
        assert not differing(want, world.contains_points(points[cut:]), slice(cut, None))
    assert min((want.limb >= 0).sum(), (want.limb < 0).sum()) > LARGEST // 20


def test_surfaces_are_resolved_both_ways(monkeypatch: pytest.MonkeyPatch):
    """Points on caps, walls and rims of touching limbs: closed limbs contain them, and exact arithmetic decides it."""
    x, y = (a.ravel() for a in np.meshgrid(np.arange(4.0), np.arange(4.0)))
    foot = np.column_stack([x, y, np.zeros(16)])
    world = cc.HitWorld(cc.Limbs.cylinders(foot, foot + np.array([0.0, 0.0, 1.0]), 0.5))
    on = [[0, 0, 0], [0, 0, 1], [0.5, 0, 0.5], [0.5, 0, 1], [0.25, 0, 1.0 + 2**-52], [0, 0, 0.5], [0, 0.5, -1e-300]]
    points = (foot[:, None] + np.array(on)).reshape(-1, 3)
    resolved, resolve = list[int](), point_queries.resolve_points
    monkeypatch.setattr(point_queries, "resolve_points", lambda *args: resolved.append(len(args[1])) or resolve(*args))
    rows, limbs = world.limbs._table.rows, world.limbs._table.kernel_shape
    own = np.repeat(np.arange(16), 7).tolist()
    bounded = [point_limb(tuple(p), limb_at(rows, limbs, k)) for p, k in zip(points.tolist(), own, strict=True)]
    assert bounded.count(UNDECIDED) >= 5 * 16
    one_by_one, all_at_once = both_ways(world, points)
    assert not differing(one_by_one, all_at_once)
    assert resolved[0] == resolved[1] == 3 * 16
    inner = one_by_one.count.reshape(16, 7)[(x < 3) & (y < 3)]
    assert (inner == [1, 1, 2, 2, 0, 1, 0]).all()


def test_untrusted_numbers():
    """Limbs beyond all trusted sizes among others, a world without a frame, and points at the end of the range."""
    rng = np.random.default_rng(1)
    p1 = rng.uniform(-2, 2, (30, 3))
    huge = np.array([[-1e120, 0, 0], [-1e150, -1e150, 0]])
    for more in (huge[:0], huge[:1], huge):
        limbs = cc.Limbs.cylinders(
            np.concatenate([p1, more]), np.concatenate([p1 + 1, -more]), [0.6] * 30 + [1e-3] * len(more)
        )
        points = np.concatenate([p1 + 0.5, rng.uniform(-3, 3, (20, 3)), 1e19 * p1[:9], 1e150 * p1[:9], huge / 2])
        one_by_one, all_at_once = both_ways(cc.HitWorld(limbs), points)
        assert not differing(one_by_one, all_at_once)
        truth = [np.flatnonzero(limbs.classify_points(point) != cc.Side.OUTSIDE) for point in points]
        assert all_at_once.count.tolist() == [len(holders) for holders in truth]
        assert all_at_once.limb.tolist() == [min(holders, default=-1) for holders in truth]
        assert (all_at_once.limb[:30] >= 0).all()


def test_filters_by_layer_and_character():
    """Equals `classify_points` over the considered limbs; a limb in no layer contains nothing, as for rays."""
    rng, crowd = np.random.default_rng(8), make_crowd(33)
    hidden = cc.Limbs.tubes(crowd.p1[:3], crowd.p2[:3], 0.5, 0.01, mask=0)
    limbs = cc.Limbs.concat([crowd, hidden, cc.Limbs.spheres(crowd.p2[:3], 0.4, mask=6)])
    points, world, total = points_near(limbs, LARGEST), cc.HitWorld(limbs), Counter[str]()
    masks, ignored = rng.choice([0, 1, 2, 3, 0xFFFFFFFF], LARGEST), rng.integers(-1, 5, LARGEST)
    for mask, who in ((masks, ignored), (masks, None), (2, ignored), (0xFFFFFFFF, None), (0, None)):
        one_by_one, all_at_once = both_ways(world, points, mask=mask, ignore_character=who)
        assert not differing(one_by_one, all_at_once)
        layers, ids = np.broadcast_to(mask, LARGEST), np.broadcast_to(-1 if who is None else who, LARGEST)
        for i in range(0, LARGEST, 1 + LARGEST // 40):
            considered = ((limbs.mask & layers[i]) != 0) & ((limbs.character != ids[i]) | (ids[i] < 0))
            inside = limbs.classify_points(points[i]) != cc.Side.OUTSIDE
            holders = np.flatnonzero(inside & considered)
            assert all_at_once.count[i] == len(holders)
            assert all_at_once.limb[i] == (holders[0] if len(holders) else -1)
            total.update(held=len(holders), left_out=int((inside & ~considered).sum()))
    assert min(total["held"], total["left_out"]) > 5
    on_hidden = hidden.p1 + 0.5 * (hidden.p2 - hidden.p1) + [0.0, 0.0, 0.2]
    assert (world.contains_points(on_hidden).limb < 0).any()
    with pytest.raises(TypeError):
        world.contains_points(points, 1)  # keywords only


def test_surface_points_obey_the_filters():
    """Where bounds do not decide, only the considered limbs are tested exactly."""
    ball = cc.Limbs.spheres([[0, 0, 0], [0, 0, 0], [2, 0, 0]], 1.0, mask=[1, 2, 4], character=[3, 4, 5])
    world, points = cc.HitWorld(ball), np.tile([1.0, 0.0, 0.0], (4, 1))
    one_by_one, all_at_once = both_ways(world, points, mask=[1, 6, 7, 0], ignore_character=[-1, 5, 3, -1])
    assert not differing(one_by_one, all_at_once)
    assert all_at_once.limb.tolist() == [0, 1, 1, -1]
    assert all_at_once.count.tolist() == [1, 1, 2, 0]


def test_more_pairs_than_a_step(monkeypatch: pytest.MonkeyPatch):
    """All points in all boxes: levels hold more pairs than one step, and no pair is lost."""
    monkeypatch.setattr(scratch, "_kept", threading.local())
    count, n = (300, 1500) if IS_COMPILED else (160, 40)
    assert n * count // TREE_WIDTH > together.STEP
    rng = np.random.default_rng(2)
    p1, up = rng.normal(size=(count, 3)), np.array([0.0, 0.0, 9.0])
    limbs = cc.Limbs.cylinders(p1 - up, p1 + up, 9.0)
    one_by_one, all_at_once = both_ways(cc.HitWorld(limbs), rng.uniform(-1, 1, (n, 3)))
    assert not differing(one_by_one, all_at_once)
    assert (all_at_once.count == count).all()
    assert (all_at_once.limb == 0).all()


def test_input_is_checked_and_kept():
    """A bad number in any block is named by its row; later changes of the caller's array have no effect."""
    world = world_of("cylinders", 33)
    points = points_near(world.limbs, LARGEST)
    want = world.contains_points(points.copy()).axis_distance_squared.copy()
    for row in {0, 7, LARGEST // 2, LARGEST - 1}:
        for value in (np.nan, np.inf, -np.inf):
            bad = points.copy()
            bad[row, row % 3] = value
            with ways(0), pytest.raises(ValueError, match=rf"points.*row {row}\b"):
                world.contains_points(bad)
    for smallest in (0, 1 << 60):
        for given in (points.copy(), np.asfortranarray(points), points.tolist()):
            with ways(smallest):
                held = world.contains_points(given)
            if isinstance(given, np.ndarray):
                given[:] = 0.0
            world.set_endpoints(world.limbs.p1 + 1.0, world.limbs.p2 + 1.0)
            assert held.axis_distance_squared.tobytes() == want.tobytes()
            world.set_endpoints(*(getattr(make_crowd(33), name) for name in ("p1", "p2")))


def test_numbers_that_change_while_they_are_read(monkeypatch: pytest.MonkeyPatch):
    world, points = world_of("cylinders", 5), np.full((9, 3), np.nan)

    def refuse(*_: Any) -> int:
        points[:] = 0.0  # as another thread may do
        return -1

    replace_loop(monkeypatch, point_loops.locate_single_points, refuse)
    with pytest.raises(ValueError, match=r"points: expected numbers that stay.*pass copies"):
        world.contains_points(points)
