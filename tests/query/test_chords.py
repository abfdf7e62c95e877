"""Chords: both ends at exact places, with the bits of casts; the same alone, among other limbs, and in streams."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed, shots_at
from support.cases.everyday_worlds import make_crowd
from support.cases.shape_rays import sample, sample_rays
from support.check_cylinders import IS_COMPILED, same_bits, sized
from support.exact_answers import solids_of
from support.force_loop import SINGLE, STREAMS, forced
from support.mixed_queries import grid_limbs, whole_segments

import cylcollide as cc
from cylcollide.exact import order
from cylcollide.exact.line import segment_numbers

PAIRS = (
    *(("limb", "limb"), ("character", "character"), ("limb_name", "limb_name"), ("hit_group", "hit_group")),
    *(("entry_fraction", "fraction"), ("entry_face", "face"), ("entry_position", "position")),
    *(("entry_normal", "normal"), ("entry_distance", "distance"), ("thickness", "thickness")),
    *((f"exit_{end}", f"exit_{end}") for end in ("fraction", "face", "position", "normal", "distance")),
)
"""Names of the same quantity in a chord and in a hit."""


def bits(column: np.ndarray) -> list:
    """Return a representation that separates all bits, signs of zero too."""
    return [repr(value) for value in column.tolist()]


def far_world(away: float, copies: int) -> tuple[cc.Limbs, np.ndarray, np.ndarray]:
    """Return limbs of all shapes far from the origin, perhaps with copies one ulp aside, and segments at them."""
    shapes, step = mixed(28), np.array([away, -away, 0.5 * away])
    p1, p2 = shapes.p1 + step, shapes.p2 + step
    start, end = shots_at(shapes, 225, seed=7)
    parts = [replace(shapes, p1=one, p2=p2).limbs() for one in (p1, np.nextafter(p1, np.inf))[:copies]]
    return cc.Limbs.concat(parts), start + step, end + step


@pytest.mark.parametrize(("away", "copies"), [(0.0, 1), (1e7, 1), (1e12, 1), (1e3, 2)])
def test_the_chord_of_a_hit_limb_has_the_bits_of_the_hit(away: float, copies: int):
    """float64 cannot resolve the order of limbs one ulp apart."""
    limbs, start, end = far_world(away, copies)
    world = cc.HitWorld(limbs)
    for inside in ("ignore", "exit", "hit"):  # the default comes last: its number of rechecked rays is known
        chords = world.chords_segments(start, end, inside=inside)
        check_against_hits(world.cast_segments(start, end, inside=inside), chords)
        rays, options = (start, end - start), {"max_distance": 4.0, "inside": inside}
        check_against_hits(world.cast_rays(*rays, **options), world.chords_rays(*rays, **options))
    assert (chords.rechecked > len(start) // 4) == (copies == 2 or away == 1e12)


def check_against_hits(hits: cc.RayHits, chords: cc.Chords) -> None:
    """Assert that the first chord of the limb hit has the bits of the hit, where the hit is an entry."""
    first = {}
    for row, key in enumerate(zip(chords.ray.tolist(), chords.limb.tolist(), strict=True)):
        first.setdefault(key, row)
    entered = np.flatnonzero(hits.hit & (hits.exit_fraction >= hits.fraction))
    rows = np.array([first[i, k] for i, k in zip(entered.tolist(), hits.limb[entered].tolist(), strict=True)])
    same_entry = (chords.entry_face[rows] != cc.Face.INSIDE) | (hits.face[entered] == cc.Face.INSIDE)
    entered, rows = entered[same_entry], rows[same_entry]
    assert len(rows) > len(hits) // 4
    for mine, theirs in PAIRS:
        assert bits(getattr(chords, mine)[rows]) == bits(getattr(hits, theirs)[entered]), mine


def test_touching_chords_have_the_bits_of_hits():
    rng = np.random.default_rng(5)
    world, (start, end) = cc.HitWorld(grid_limbs()), whole_segments(rng, sized(700))
    hits, chords = world.cast_segments(start, end), world.chords_segments(start, end)
    first = chords.offsets[:-1][hits.hit]
    for mine, theirs in PAIRS:
        assert bits(getattr(chords, mine)[first]) == bits(getattr(hits, theirs)[hits.hit]), mine
    assert min(chords.rechecked, len(first)) > 10


@pytest.mark.parametrize("is_segment", [True, False])
def test_adversarial_chords_have_the_bits_of_hits(is_segment: bool):
    """Grazes, rims, apexes, starts on surfaces, ends at limits: each ray and its limb alone."""
    drawn = sample(225, seed=71) if is_segment else sample_rays(225, seed=72)
    hits, limbs, seen = drawn.cast(), drawn.shapes.limbs(), Counter[str]()
    for i in range(len(drawn)):
        world, start, end = cc.HitWorld(limbs[i]), drawn.start[i], drawn.end[i]
        chords = (
            world.chords_segments(start, end)
            if is_segment
            else world.chords_rays(start, end, max_distance=drawn.limit[i])
        )
        assert (len(chords) > 0) == hits.hit[i], drawn.family[i]
        if len(chords):
            for mine, theirs in PAIRS[1:]:  # PAIRS[0] is the limb, whose numbering differs
                assert bits(getattr(chords, mine)[:1]) == bits(getattr(hits, theirs)[i : i + 1]), (mine, i)
            seen.update(rechecked=chords.rechecked, touch=int(chords.thickness[0] == 0.0), chords=len(chords))
    assert min(seen["rechecked"], seen["touch"]) > len(drawn) // 40
    assert seen["chords"] > len(drawn) // 3


@pytest.mark.parametrize("away", [0.0, 1e7, 1e12])
def test_chords_do_not_depend_on_others(away: float):
    """Neither on a copy, which leaves their order undecided, nor on a limb that is touched."""
    limbs, start, end = far_world(away, 1)
    both, _, _ = far_world(away, 2)
    alone, among = (cc.HitWorld(each).chords_segments(start, end) for each in (limbs, both))
    own = among.limb < len(limbs)
    names = [mine for mine, _ in PAIRS if mine not in ("limb_name", "hit_group")]
    assert not same_bits(among, alone, own, names)
    assert among.rechecked > len(start) // 2
    twice = (alone.ray[1:] == alone.ray[:-1]) & (alone.limb[1:] == alone.limb[:-1])
    assert twice.any(), "tubes crossed twice"


@pytest.mark.parametrize("limbs", ["one of each", "grid"])
def test_both_ends_are_at_their_exact_places(limbs: str):
    """Positions within 4 ulp of the largest coordinate; faces too; of rays that start and end in limbs."""
    rng, made, seen = np.random.default_rng(6), grid_limbs() if limbs == "grid" else mixed(28).limbs(), Counter[str]()
    n = sized(150)
    start, end = whole_segments(rng, n) if limbs == "grid" else shots_at(mixed(28), n, seed=9)
    chords = cc.HitWorld(made).chords_segments(start, end)
    solids = solids_of(made)
    for i in range(n):
        ray = segment_numbers(start[i], end[i])
        want, part = order.sorted_chords(ray, solids), chords[i]
        assert part.limb.tolist() == [limb for limb, _ in want]
        for row, (limb, chord) in enumerate(want):
            largest = np.abs([start[i], end[i], made.p1[limb], made.p2[limb]]).max() + 1.0
            ends = (chord.entry, part.entry_position, part.entry_distance), (
                chord.exit, part.exit_position, part.exit_distance)  # fmt: skip
            for time, position, distance in ends:
                at = sum(map(Fraction, time.double_double()))
                true = [Fraction(a) + at * (Fraction(b) - Fraction(a)) for a, b in zip(*ray[:2], strict=True)]
                off = max(abs(Fraction(x) - y) for x, y in zip(position[row].tolist(), true, strict=True))
                assert off <= 4 * Fraction(np.spacing(largest))
                assert distance[row] == pytest.approx(float(at) * np.linalg.norm(end[i] - start[i]), rel=1e-14)
            assert (part.entry_face[row], part.exit_face[row]) == (chord.entry_face, chord.exit_face)
            sides = (-1.0, part.entry_normal, chord.entry_face), (1.0, part.exit_normal, chord.exit_face)
            for out, normal, face in sides:
                length = np.linalg.norm(normal[row])
                assert abs(length - (face != cc.Face.INSIDE)) < 1e-14
                assert limbs == "grid" or out * normal[row] @ (end[i] - start[i]) > -1e-12, "at rims it may be either"
                seen[cc.Face(face).name] += 1
            seen["again"] += row > 0 and want[row - 1][0] == limb
    assert seen["INSIDE"] > 5
    assert seen["SIDE"] > 10
    assert limbs == "grid" or seen["again"] > 0


def test_the_second_chord_of_a_tube_has_its_own_ends():
    """A ray from within the bore hits only the far wall: with the place and normal of the second chord."""
    rng, n = np.random.default_rng(7), sized(300)
    tube = cc.Limbs.tubes([0.1, 0.2, -2.0], [0.3, 0.1, 2.0], 1.0, 0.6)
    start = np.column_stack([rng.uniform(-3, -2, n), rng.uniform(-0.5, 0.5, n), rng.uniform(-0.5, 0.5, n)])
    end = start * [-1.0, 1.0, 1.0] + rng.normal(size=(n, 3)) / 4
    chords = cc.HitWorld(tube).chords_segments(start, end)
    assert (np.diff(chords.offsets) == 2).sum() > n // 2
    twice = np.flatnonzero(np.diff(chords.offsets) == 2)
    first, second = chords.offsets[twice], chords.offsets[twice] + 1
    middle = 0.5 * (chords.exit_position[first] + chords.entry_position[second])
    later = cc.HitWorld(tube).cast_segments(middle, end[twice])
    assert (chords.entry_face[second] == cc.Face.BORE).all()
    assert (chords.exit_face[first] == cc.Face.BORE).all()
    for mine, theirs in (("entry_position", "position"), ("entry_normal", "normal"), ("exit_normal", "exit_normal")):
        np.testing.assert_allclose(getattr(chords, mine)[second], getattr(later, theirs), atol=1e-13)
    out = chords.exit_normal[first]  # out of the solid, into the bore
    assert (np.einsum("ij,ij->i", out, end[twice] - start[twice]) > 0.0).all()
    assert (np.einsum("ij,ij->i", chords.entry_normal[second], end[twice] - start[twice]) < 0.0).all()


def chord_columns(chords: cc.Chords) -> dict[str, bytes]:
    """Return all numbers of an answer, low words and the number of exact rows too."""
    found = {name: column.tobytes() for name, column in chords._rows.chords._asdict().items()}
    return {**found, "offsets": chords.offsets.tobytes(), "rechecked": bytes(str(chords.rechecked), "ascii")}


@pytest.mark.parametrize(
    ("kind", "room", "inside"),
    [("cylinders", 8, "hit"), ("all shapes", 8, "hit"), ("all shapes", 1, "exit"), ("all shapes", 0, "ignore")],
)
def test_chords_are_the_same_as_streams(kind: str, room: int, inside: str):
    """With room for all chords, for some, for none; some rays untrusted, some limbs masked, limbs in two parts."""
    limbs, n = make_crowd(33) if kind == "cylinders" else mixed(33, seed=6).limbs(), 900 if IS_COMPILED else 24
    start, end = shots_at(limbs, n, seed=7)
    far, grown, seen = start[:3] * 1e149, [limbs.inflated(1e-3 * k) for k in range(12)], Counter[str]()
    world, one, other = (cc.HitWorld(cc.Limbs.concat(many)) for many in ([limbs], [x[:20] for x in grown], grown))
    for asked in (world, one, other):  # few limbs, a small world with many in one place, a large one
        for mask, who, blind in ((1, None, 0), (1, np.arange(n) % 3, 0), (0xFFFFFFFF, None, 3)):
            begin = np.concatenate((far[:blind], start[blind:]))
            call = partial(asked.chords_segments, begin, end, inside=inside, mask=mask, ignore_character=who, threads=1)
            with forced(SINGLE):
                want = call()
            with forced(STREAMS, LIMBS_CROSSED=room, RAYS_PER_TASK=400, LEAST_RAYS_PER_TASK=400) as ways:
                got = call()
            assert ways.batches[STREAMS] == -(-n // 400)
            assert chord_columns(got) == chord_columns(want)
            seen.update(chords=len(want), many=int((np.diff(want.offsets) > 8).sum()), exact=want.rechecked)
    assert seen["chords"] > n
    assert min(seen["many"], seen["exact"]) > 0
