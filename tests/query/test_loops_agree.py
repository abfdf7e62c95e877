"""Oracles, laws and hard worlds, with each closest-hit loop by itself: all give the answers of real arithmetic."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed, segments_of, shots_at
from support.cases.frames import Array
from support.cases.hard_worlds import HARD, SHOTS, shots
from support.cases.shape_rays import SHAPES
from support.cases.shape_rays_in_worlds import adversarial, cast_by_layer
from support.cases.shape_scenes import PLANS, scene
from support.check_cylinders import IS_COMPILED, same_bits, sized
from support.check_shapes import Asked, compare_chords, compare_hits, row_truths, world_truths
from support.exact_answers import check_row_by_row
from support.force_loop import (
    BRUTE_FORCE,
    POLICIES,
    SHORT_STREAMS,
    SINGLE,
    STREAMS,
    WAYS,
    Seen,
    cast_by_all_loops,
    forced,
)
from support.oracle.shapes.rows import Shots

import cylcollide as cc

TREE_WAYS = (SINGLE, STREAMS)


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Iterator[Seen]:
    """Send every query of the test through one loop; fail if no batch used it."""
    with forced(request.param, **SHORT_STREAMS) as seen:
        yield seen
    assert seen.batches[request.param] > 0, f"nothing went {request.param}: {seen.batches}"


# The oracle ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["segments", "rays with limits"])
def asked(request: pytest.FixtureRequest) -> tuple[Shots, list[Asked]]:
    rows = adversarial(request.param != "segments")
    return rows, row_truths(rows)


@pytest.mark.parametrize(
    "inside", ["hit", *(pytest.param(name, marks=pytest.mark.long) for name in ("exit", "ignore"))]
)
def test_every_shape_and_family(asked: tuple[Shots, list[Asked]], inside: str):
    """SINGLE and STREAMS with a layer per ray, BRUTE_FORCE with one layer; all agree with the oracle."""
    s, truths = asked
    answers, undecided = {}, {}
    for name in WAYS:
        with forced(name, **SHORT_STREAMS) as seen:
            answers[name] = cast_by_layer(s, inside, one_layer=name == BRUTE_FORCE)
        assert set(seen.batches) == {name}
        assert min(seen.rows[what] for what in ("hits", "misses", "undecided", "inside")) > 0.01 * seen.rows["rays"]
        undecided[name] = seen.rows["undecided"]
        assert not same_bits(answers[SINGLE], answers[name]), name
    tally = compare_hits(answers[STREAMS], truths, inside, s.family)
    assert not tally.problems, tally.report()
    each = len(s) / len(SHAPES)
    for kind in {int(k) for k in s.shapes.kind}:
        assert tally.seen[kind, "hit"] > 0.25 * each, kind
        assert tally.seen[kind, "miss"] > (0.1 if IS_COMPILED else 0.05) * each, kind  # plain Python tests a hundred
        assert tally.seen[kind, "touch"] > 0.01 * each, kind
    assert tally.started_inside > 0.1 * len(s)
    assert undecided[SINGLE] == undecided[STREAMS]


@pytest.mark.parametrize("seeds", [range(70, 72), pytest.param(range(1000, 1060), marks=pytest.mark.long)], ids=len)
@pytest.mark.parametrize("name", PLANS)
def test_scenes_hit_in_exact_order(name: str, seeds: range):
    """Ties along the ray: all ways give the same bits, equal to the oracle's; so do all other queries."""
    total: Counter[str] = Counter()
    for seed in seeds:
        s = scene(name, sized(30, 54), seed)
        world, start, end = cc.HitWorld(s.limbs.limbs()), s.start, s.end
        found = world_truths(s.limbs.solids(), segments_of(s.start, s.end))
        for inside in POLICIES:
            hits, seen = cast_by_all_loops(
                lambda w=world, a=start, b=end, i=inside: w.cast_segments(a, b, inside=i), **SHORT_STREAMS
            )
            tally = compare_hits(hits, found, inside)
            assert not tally.problems, f"{name} {seed=} " + tally.report()
            for each in WAYS:
                with forced(each, **SHORT_STREAMS):
                    assert np.array_equal(world.occluded_segments(start, end, inside=inside), hits.hit)
            count, problems = compare_chords(world.chords_segments(start, end, inside=inside), found, inside)
            assert not problems, f"{name} {seed=} {len(problems)} rays differ: {problems[0]}"
            total["chords"] += count
            total += Counter(hits=tally.hits, misses=tally.misses, inside=tally.started_inside)
            total["undecided"] += seen[STREAMS].rows["undecided"]
    assert min(total["hits"], total["chords"]) > 40, total
    assert min(total["misses"], total["inside"], total["undecided"] // 3) > 3, total


# Laws ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def everyday() -> tuple[cc.Limbs, Array, Array]:
    limbs = mixed(60, seed=8)
    return limbs.limbs(), *shots_at(limbs, sized(360, 150), seed=9)


@pytest.mark.usefixtures("way")
def test_all_queries_are_consistent(everyday: tuple[cc.Limbs, Array, Array]):
    """A hit is blocked and has a chord; the first chord is the hit; a start inside lies in some limb."""
    limbs, start, end = everyday
    world = cc.HitWorld(limbs)
    for inside in POLICIES:
        hits = world.cast_segments(start, end, inside=inside)
        chords = world.chords_segments(start, end, inside=inside)
        assert np.array_equal(world.occluded_segments(start, end, inside=inside), hits.hit)
        assert np.array_equal(np.diff(chords.offsets) > 0, hits.hit)
        assert np.array_equal(world.contains_points(start).limb >= 0, hits.started_inside)
        assert min(hits.hit.sum(), (~hits.hit).sum(), hits.started_inside.sum()) > len(start) // 12
        if inside != "exit":
            first = chords.offsets[:-1][hits.hit]
            assert np.array_equal(chords.limb[first], hits.limb[hits.hit])
            assert np.array_equal(chords.entry_fraction[first], hits.fraction[hits.hit])
    rays = world.cast_rays(start, end - start, max_distance=2.0)
    assert np.array_equal(rays.hit, world.occluded_rays(start, end - start, max_distance=2.0))
    assert 0 < rays.hit.sum() < world.cast_rays(start, end - start).hit.sum()


@pytest.mark.usefixtures("way")
def test_copies_after_change_nothing_copies_before_win(everyday: tuple[cc.Limbs, Array, Array]):
    """Each limb twice: of two limbs hit at the same place the lower index wins."""
    limbs, start, end = everyday
    few, n = {"starts": start[: sized(200)], "ends": end[: sized(200)], "inside": "ignore"}, len(limbs)
    once = cc.HitWorld(limbs).cast_segments(**few)
    twice = cc.HitWorld(cc.Limbs.concat([limbs, limbs])).cast_segments(**few)
    assert not same_bits(once, twice)
    assert twice.rechecked == once.rechecked
    other = cc.HitWorld(cc.Limbs.concat([limbs[n // 2 :], limbs])).cast_segments(**few)
    assert np.array_equal(
        other.limb, np.where(once.limb >= n // 2, once.limb - n // 2, once.limb + (n - n // 2) * once.hit)
    )


# Masks and characters -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("per_ray", ["both", "mask", "character", "neither"])
@pytest.mark.parametrize("inside", POLICIES)
def test_masked_limbs_are_ignored(per_ray: str, inside: str):
    """Layers and characters, one for all or one per ray: as in a world of the remaining limbs."""
    rng, n = np.random.default_rng(12), sized(240)
    shape = mixed(36, seed=10)
    start, end = shots_at(shape, n, seed=11)
    plain = shape.limbs()
    character, layer = (np.arange(36) % 4).astype(np.int32), (1 << rng.integers(0, 3, 36)).astype(np.uint32)
    table = plain._table._replace(mask=layer, character=character)
    world = cc.HitWorld(cc.Limbs(table, plain.hit_group, plain.names))
    mask = rng.integers(0, 8, n) if per_ray in ("both", "mask") else np.array(5)
    ignored = rng.integers(-1, 4, n) if per_ray in ("both", "character") else np.array(2)
    hits, _ = cast_by_all_loops(
        lambda: world.cast_segments(start, end, inside=inside, mask=mask, ignore_character=ignored),
        tuple(WAYS) if per_ray == "neither" else TREE_WAYS,
        **SHORT_STREAMS,
    )
    masks, nobody = np.broadcast_to(mask, n), np.broadcast_to(ignored, n)
    seen: Counter[str] = Counter()
    for m, c in sorted({(int(m), int(c)) for m, c in zip(masks, nobody, strict=True)}):
        rows = np.flatnonzero((masks == m) & (nobody == c))
        left = np.flatnonzero(((layer & m) != 0) & ((character != c) | (c < 0)))
        kept = cc.HitWorld(plain[left])
        want = kept.cast_segments(start[rows], end[rows], inside=inside, threads=1)
        limb = np.append(left, -1)[want.limb]
        assert np.array_equal(hits.limb[rows], limb)
        assert not set(same_bits(hits, want, rows)) - {"limb", "character"}
        asked = {"mask": m, "ignore_character": c, "inside": inside}
        assert np.array_equal(world.occluded_segments(start[rows], end[rows], **asked), want.hit)
        chords, chords_kept = (
            world.chords_segments(start[rows], end[rows], **asked),
            kept.chords_segments(start[rows], end[rows], inside=inside),
        )
        assert np.array_equal(chords.limb, left[chords_kept.limb])
        seen.update(hit=int(want.hit.sum()), miss=int((~want.hit).sum()), sets=1)
    assert min(seen["hit"], seen["miss"]) > n // 8, seen
    assert seen["sets"] == {"both": sized(40, 30), "mask": 8, "character": 5, "neither": 1}[per_ray]


def test_limbs_without_a_character_stay():
    world = cc.HitWorld(cc.Limbs.cylinders([[0, 0, 0]], [[0, 0, 2]], 1))
    assert world.limbs.character.tolist() == [-1]
    assert world.cast_segments([[-5, 0, 1]], [[5, 0, 1]], ignore_character=-1).hit[0]
    assert world.cast_segments([[-5, 0, 1]], [[5, 0, 1]], ignore_character=None).character[0] == -1


# Hard worlds --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seed", "times"), [(20, 1), *(pytest.param(seed, 10, marks=pytest.mark.long) for seed in range(100, 112))]
)
@pytest.mark.parametrize("name", HARD)
def test_hard_worlds(name: str, seed: int, times: int):
    """Far rays, along axes and in box faces, through far, flat and crowded worlds: same bits, and no hit is lost."""
    limbs = HARD[name]()
    world, slow = cc.HitWorld(limbs), name in ("piled", "one place")
    start, end, kind = shots(limbs, sized(16) if slow else times * sized(80), seed)
    total, hit_kinds = Counter(), np.zeros(len(SHOTS), int)
    for inside in POLICIES:
        hits, seen = cast_by_all_loops(
            lambda i=inside: world.cast_segments(start, end, inside=i), check_undecided=name != "flat", **SHORT_STREAMS
        )
        total.update(check_row_by_row(limbs, start, end, inside, hits))
        total["undecided"] += seen[STREAMS].rows["undecided"]
        hit_kinds += np.bincount(kind[hits.hit], minlength=len(SHOTS))
        assert np.array_equal(world.occluded_segments(start, end, inside=inside), hits.hit)
        chords = world.chords_segments(start, end, inside=inside)
        assert np.array_equal(np.diff(chords.offsets) > 0, hits.hit)
        assert np.array_equal(world.contains_points(start).limb >= 0, hits.started_inside)
    assert min(total["hit"], total["miss"], total["inside"]) > len(start) // 8, total
    assert total["undecided"] > 0 or name == "all sizes"
    assert (hit_kinds > 0).sum() >= (len(SHOTS) if name in ("grid", "crowd") else 5), hit_kinds
    assert total["tied"] > len(start) // 2 or not slow


@pytest.mark.parametrize(("count", "by"), [(1, 1e7), (2, 0.0), (17, 1e12), (60, 1e3)])
def test_after_everything_has_moved_far(count: int, by: float):
    """A refitted tree, whose frame has moved too, gives the bits of a fresh one, by each way."""
    rng = np.random.default_rng(31)
    p1 = rng.uniform(-3, 3, (count, 3))
    p2, radius = p1 + rng.normal(size=(count, 3)), rng.uniform(0.1, 0.5, count)
    world = cc.HitWorld(cc.Limbs.cylinders(p1, p2, radius))
    hits = misses = 0
    for step in range(4):
        shift = by * rng.normal(size=3) + rng.normal(size=(count, 3)) * 0.2 * step
        size = max(1.0, by * 1e-6)  # where a metre is less than an ulp, limbs are longer
        q1, q2 = p1 * size + shift, p2 * size + shift
        world.set_endpoints(q1, q2)
        limbs = world.limbs
        fresh = cc.HitWorld(cc.Limbs.cylinders(q1, q2, radius))
        start, end, _ = shots(limbs, sized(80), seed=32 + step)
        found, _ = cast_by_all_loops(lambda a=start, b=end: world.cast_segments(a, b), **SHORT_STREAMS)
        assert not same_bits(found, fresh.cast_segments(start, end))
        check_row_by_row(limbs, start, end, "hit", found)
        hits, misses = hits + int(found.hit.sum()), misses + int((~found.hit).sum())
    assert min(hits, misses) > 20, (hits, misses)
