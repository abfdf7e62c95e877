"""Batches of every size in worlds of every size: no ray is lost, or changed by its neighbours."""

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed, shots_at
from support.cases.everyday_worlds import make_crowd
from support.cases.frames import Array
from support.check_cylinders import IS_COMPILED, same_bits
from support.force_loop import BRUTE_FORCE, MIXED, POLICIES, SINGLE, STREAMS, WAYS, cast_by_all_loops, forced
from support.oracle.lines import CYLINDER
from support.oracle.shapes.table import SHAPE_ROWS

import cylcollide as cc
from cylcollide.process import threads as thread_chunks
from cylcollide.query.loops.columns import HitColumns

pytestmark = pytest.mark.plain_python

RAY_COUNTS = (0, 1, 7, 8, 9, 31, 33, 63, 64, 65, 4095, 4097, 8191, 8193, 65537)
LIMB_COUNTS = (0, 1, 2, 3, 4, 16, 17, 33)
LARGEST = 70_000 if IS_COMPILED else 40
BATCHES = [n for n in RAY_COUNTS if n <= LARGEST]

differing = partial(same_bits, fields=HitColumns._fields)


def verdicts_of(hits: cc.RayHits) -> HitColumns:
    """Columns that a query writes, without those computed on access."""
    none = np.zeros(len(hits), bool)
    return HitColumns(hits.limb, hits.fraction, hits.face, hits.started_inside, none)


@pytest.fixture(scope="module", params=[[CYLINDER], SHAPE_ROWS], ids=["cylinders", "all shapes"])
def rays(request: pytest.FixtureRequest) -> tuple[cc.Limbs, Array, Array]:
    """Limbs, and as many segments as any test needs."""
    shape = mixed(max(LIMB_COUNTS), 6, request.param)
    return shape.limbs(), *shots_at(shape, LARGEST, seed=7)


@pytest.mark.machine_code
@pytest.mark.parametrize("limbs_count", LIMB_COUNTS)
def test_odd_sizes(rays: tuple[cc.Limbs, Array, Array], limbs_count: int):
    """Each loop, and their default mixture, writes the rows of SINGLE, in batches of every size."""
    limbs, start, end = rays[0][:limbs_count], *rays[1:]
    world, total = cc.HitWorld(limbs), Counter()
    largest = {0: 100, 4: 100, 16: 100, 3: LARGEST, max(LIMB_COUNTS): LARGEST}.get(limbs_count, 5000)
    batches = [n for n in BATCHES if n <= largest]
    for k, n in enumerate(batches):
        inside = POLICIES[(k + limbs_count) % 3]
        every = (*WAYS, MIXED) if n <= 5000 else (SINGLE, STREAMS, BRUTE_FORCE if limbs_count < 5 else STREAMS, MIXED)
        answers = {}
        for way in every:
            with forced(way) as seen:
                hits = world.cast_segments(start[:n], end[:n], inside=inside, threads=1)
                assert np.array_equal(world.occluded_segments(start[:n], end[:n], inside=inside, threads=1), hits.hit)
            if n >= 8 and way != MIXED:
                assert set(seen.batches) == {way}
            if n < 8:
                assert set(seen.batches) <= {SINGLE}, "too few for eight lanes"
            answers[way] = verdicts_of(hits)
            total[f"{way}: batches"] += seen.batches[way]
            assert not differing(answers[SINGLE], answers[way]), (way, n, inside)
        total.update(hits=int(hits.hit.sum()), misses=int((~hits.hit).sum()), inside=int(hits.started_inside.sum()))
    assert min(total[f"{way}: batches"] for way in WAYS) >= len([n for n in batches if 8 <= n <= 5000])
    assert total["misses"] > sum(batches) // 20
    assert min(total["hits"], total["inside"]) > sum(batches) // 300 or limbs_count < (1 if IS_COMPILED else 5), total


def test_defaults_use_every_way():
    """With default thresholds: few rays go one by one, few limbs by brute force, all else in streams."""
    limbs = make_crowd(40)
    taken = Counter()
    for m in (1, 3, 40):
        start, end = shots_at(limbs, 5000 if IS_COMPILED else 210)
        for n in (4, len(start)):
            with forced(MIXED) as seen:
                cc.HitWorld(limbs[:m]).cast_segments(start[:n], end[:n])
            taken.update({(n > 4, way): count for way, count in seen.batches.items()})
    assert set(taken) == {(False, SINGLE), (True, BRUTE_FORCE), (True, STREAMS)}


@pytest.mark.parametrize(("many", "rays", "way"), [(40, 11, SINGLE), (40, 12, STREAMS), (41, 12, SINGLE)])
def test_with_many_limbs_fewer_rays_form_a_stream(many: int, rays: int, way: str):
    limbs = make_crowd(40)
    with forced(MIXED, MANY_LIMBS=many) as seen:
        cc.HitWorld(limbs).cast_segments(*shots_at(limbs, rays))
    assert dict(seen.batches) == {way: 1}


@pytest.mark.machine_code
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("chunk", [8192, 1000] if IS_COMPILED else [16])
def test_order_split_and_threads_change_no_row(rays: tuple[cc.Limbs, Array, Array], way: str, chunk: int):
    """Any permutation, split and number of threads: each ray's row stays the same."""
    limbs, start, end = rays[0][:17], *(x[: 12_345 if IS_COMPILED else 50] for x in rays[1:])
    world, n, rng = cc.HitWorld(limbs), len(start), np.random.default_rng(3)
    with forced(SINGLE):
        want = verdicts_of(world.cast_segments(start, end, threads=1))
    with forced(way, RAYS_PER_TASK=chunk, LEAST_RAYS_PER_TASK=chunk, STREAM_RAYS=512) as seen:
        for threads in (1, 2, 4, None):
            got = verdicts_of(world.cast_segments(start, end, threads=threads))
            assert not differing(want, got), threads
            assert np.array_equal(world.occluded_segments(start, end, threads=threads), got.limb >= 0)
        threads_each = (1, 2, 4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())
        at_work = [max(1, min(k, n // thread_chunks.SMALLEST_STREAM)) for k in threads_each]
        tasks = [k * ceil(ceil(n / chunk) / k) for k in at_work]  # equally many for each thread
        assert seen.batches[way] == 2 * (4 if way == SINGLE else sum(tasks))  # SINGLE takes one call
        for _ in range(3):
            order = rng.permutation(n)
            assert not differing(want, verdicts_of(world.cast_segments(start[order], end[order])), order)
        cuts = [0, 1, 2, 9, 18, *sorted(rng.integers(18, n, 6).tolist()), n]
        for a, b in pairwise(cuts):
            assert not differing(want, verdicts_of(world.cast_segments(start[a:b], end[a:b])), slice(a, b))
    assert min((want.limb >= 0).sum(), (want.limb < 0).sum()) > n // 20


@pytest.mark.machine_code
@pytest.mark.parametrize("limit", ["one", "each"])
def test_rays_with_limits(limit: str):
    """Rays of any length with limits, infinite ones too: the same bits from all loops."""
    limbs, rng, n = mixed(30, seed=14), np.random.default_rng(15), 3001 if IS_COMPILED else 41
    start, end = shots_at(limbs, n, seed=16)
    world, step = cc.HitWorld(limbs.limbs()), (end - start) * 10.0 ** rng.uniform(-3, 3, (n, 1))
    reach = 3.0 if limit == "one" else np.where(rng.random(n) < 0.3, np.inf, rng.uniform(0, 8, n))
    for inside in POLICIES:
        hits, seen = cast_by_all_loops(lambda i=inside: world.cast_rays(start, step, max_distance=reach, inside=i))
        assert min(seen[STREAMS].rows[what] for what in ("hits", "misses", "inside")) > n // 20
        assert np.array_equal(world.occluded_rays(start, step, max_distance=reach, inside=inside), hits.hit)


# The loops by themselves --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_undecided_rows_are_resolved(way: str, undecided: list[Any]):
    """Touches, and rays from too far away for float64, beside ordinary ones: closest hits, and any hit."""
    far, beside = 2.0**60, np.nextafter(0.5, 1.0)
    rows = [
        ((0.5, -3, 0.5), (0.5, 3, 0.5), True),  # touches the wall
        ((beside, -3, 0.5), (beside, 3, 0.5), False),
        ((-3, 0, 1), (3, 0, 1), True),  # lies in a cap, which is level
        ((far, 0, 0.5), (-3, 0, 0.5), True),
        ((far, 0.75, 0.5), (-3, 0.75, 0.5), False),
        ((3, 0, 0.5), (-3, 0, 0.5), True),
        ((3, 2, 0.5), (-3, 2, 0.5), False),
    ]
    chosen = np.random.default_rng(1).integers(0, len(rows), 150 if IS_COMPILED else 40)
    start, end = (np.array([rows[k][side] for k in chosen], float) for side in (0, 1))
    world = cc.HitWorld(cc.Limbs.cylinders([[0, 0, 0], [0, 9, 0]], [[0, 0, 1], [0, 9, 1]], 0.5))
    with forced(way):
        hits, blocked = world.cast_segments(start, end), world.occluded_segments(start, end)
    assert hits.hit.tolist() == blocked.tolist() == [rows[k][2] for k in chosen]
    assert len(undecided) == 2 * (chosen < 5).sum()
    assert hits.rechecked == np.isin(chosen, (0, 1, 3, 4)).sum()


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_every_octant_and_zero_components(zero: float):
    """Rays of every octant, and with zero components of either sign: equal bits, and each hits its target."""
    limbs, n = make_crowd(33), 27 * (40 if IS_COMPILED else 2)
    world, rng = cc.HitWorld(limbs), np.random.default_rng(21)
    sign = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3), axis=-1).reshape(-1, 3)
    sign = sign[(sign != 0).any(axis=1)][np.arange(n) % 26]
    step = np.where(sign == 0, zero, sign * rng.uniform(10, 20, (n, 3)))
    k = rng.integers(0, len(limbs), n)
    aim = (limbs.p1[k] + limbs.p2[k]) / 2
    for start in (aim - step, aim - step / 64, aim + step * 2):
        hits, seen = cast_by_all_loops(lambda a=start: world.cast_rays(a, step))
        assert seen[STREAMS].rows["rays"] == n
        occluded = world.occluded_rays(start, step)
        assert np.array_equal(occluded, hits.hit)
        behind = (start == aim + step * 2).all()
        assert behind or hits.hit.all(), "each ray is aimed at the middle of a limb"
    octant = np.unique(np.signbit(step) @ [1, 2, 4])
    assert len(octant) == 8


@pytest.mark.coverage
def test_segments_with_a_negative_zero_between_their_ends():
    """The step from 0.0 to -0.0 is -0.0."""
    foot = np.arange(9.0)[:, None] * [0.0, 0.0, 4.0]
    limbs = cc.Limbs.cylinders(foot, foot + np.eye(3)[2], 0.5)
    n = 80 if IS_COMPILED else 16
    z = np.arange(n) % 9 * 4 + 0.5
    start, end = (np.column_stack([np.full(n, x), np.full(n, y), z]) for x, y in ((0.0, -5.0), (-0.0, 5.0)))
    hits, _ = cast_by_all_loops(lambda: cc.HitWorld(limbs).cast_segments(start, end))
    assert hits.limb.tolist() == (np.arange(n) % 9).tolist()


@pytest.mark.skipif(not IS_COMPILED, reason="interpreted, an index out of bounds is an error in the test above")
def test_a_small_world_after_a_large_one():
    """Unused lanes must not read limbs of a freed world: that memory may be in use elsewhere."""
    rng = np.random.default_rng(2)
    start, end = rng.uniform(-50, 50, (2, 65, 3))
    for n in (150_000, 20):
        foot = rng.uniform(-50, 50, (n, 3))
        world = cc.HitWorld(cc.Limbs.cylinders(foot, foot + np.array([0, 0, 1]), 8.0))
        together = world.cast_segments(start, end, threads=1).limb
        alone = [world.cast_segments(a, b, threads=1).limb[0] for a, b in zip(start, end, strict=True)]
        assert together.max() >= 0
        assert together.tolist() == alone


def test_threads_have_their_own_buffers():
    """Eight Python threads cast streams at once, each its own rays: none reads another's."""
    limbs = make_crowd(100)
    world, n = cc.HitWorld(limbs), 4000 if IS_COMPILED else 16
    asked = [shots_at(limbs, n, seed=k) for k in range(8)]
    with forced(SINGLE):
        want = [verdicts_of(world.cast_segments(*pair, threads=1)) for pair in asked]

    def ask(k: int) -> None:
        for _ in range(5):
            assert not differing(want[k], verdicts_of(world.cast_segments(*asked[k], threads=1)))

    with forced(STREAMS, STREAM_RAYS=256) as seen, ThreadPoolExecutor(8) as threads:
        list(threads.map(ask, range(8)))
        assert seen.batches[STREAMS] >= 30
    assert len({w.limb.tobytes() for w in want}) == 8
    assert not same_bits(world.cast_segments(*asked[0]), world.cast_segments(*asked[0]))
