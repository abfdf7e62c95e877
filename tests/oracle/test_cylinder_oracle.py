"""The oracle and the families that feed it are themselves on trial: nothing here touches the library."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from support.cases.cylinder_rays_exact import EXACT, FAMILIES, sample
from support.cases.cylinder_scenes import PLANS, sample_rays, scene
from support.oracle import cylinder as oracle
from support.oracle.algebraic import Param, Root, compare, enclosure
from support.oracle.cylinder import CAP1, CAP2, INSIDE, SIDE, Limb, chord, segment

CAN = Limb((0.0, 0.0, 0.0), (0.0, 0.0, 2.0), 1.0)
HALF = Fraction(1, 2)

BY_HAND = {
    "through the middle": ((-2, 0, 1), (2, 0, 1), (Fraction(1, 4), SIDE, Fraction(3, 4), SIDE)),
    "stops short": ((-2, 0, 1), (-1.5, 0, 1), None),
    "ends on the side": ((-2, 0, 1), (-1, 0, 1), (Fraction(1), SIDE, Fraction(1), INSIDE)),
    "ends inside": ((-2, 0, 1), (0, 0, 1), (HALF, SIDE, Fraction(1), INSIDE)),
    "ends on the far side": ((-3, 0, 1), (1, 0, 1), (HALF, SIDE, Fraction(1), SIDE)),
    "touches the side": ((-2, 1, 1), (2, 1, 1), (HALF, SIDE, HALF, SIDE)),
    "misses by an ulp": ((-2, 1 + 2**-52, 1), (2, 1 + 2**-52, 1), None),
    "cuts by half an ulp": ((-2, 1 - 2**-53, 1), (2, 1 - 2**-53, 1), "irrational"),
    "touches a rim": ((-2, 1, 0), (2, 1, 0), (HALF, CAP1, HALF, CAP1)),
    "touches a rim askew": ((-2, 1, 1), (2, 1, 3), (HALF, CAP2, HALF, CAP2)),
    "within a cap plane": ((-2, 0, 2), (2, 0, 2), (Fraction(1, 4), CAP2, Fraction(3, 4), CAP2)),
    "down the axis": ((0, 0, 4), (0, 0, -4), (Fraction(1, 4), CAP2, HALF, CAP1)),
    "down the wall": ((1, 0, 4), (1, 0, -4), (Fraction(1, 4), CAP2, HALF, CAP1)),
    "down beside the wall": ((1 + 2**-52, 0, 4), (1 + 2**-52, 0, -4), None),
    "cap to side": ((0, 0, 3), (2, 0, 1), (HALF, CAP2, HALF, CAP2)),
    "in by a cap, out by the side": ((0, 0, 2.5), (2, 0, 0.5), (Fraction(1, 4), CAP2, HALF, SIDE)),
    "starts inside": ((0, 0, 1), (0, 0, 5), (Fraction(0), INSIDE, Fraction(1, 4), CAP2)),
    "starts on the side, leaves": ((-1, 0, 1), (-3, 0, 1), (Fraction(0), INSIDE, Fraction(0), SIDE)),
    "a point inside": ((0, 0, 1), (0, 0, 1), (Fraction(0), INSIDE, Fraction(1), INSIDE)),
    "a point on the rim": ((0, 1, 2), (0, 1, 2), (Fraction(0), INSIDE, Fraction(1), INSIDE)),
    "a point outside": ((0, 1, 2.5), (0, 1, 2.5), None),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name: str):
    start, end, want = BY_HAND[name]
    got = chord(CAN, segment(start, end))
    if want is None:
        assert got is None
    elif want == "irrational":
        assert got is not None
        assert isinstance(got.entry, Root)
        assert compare(got.entry, HALF) < 0 < compare(got.exit, HALF)
    else:
        assert got is not None
        assert (got.entry, got.entry_face, got.exit, got.exit_face) == want


def points_near(t: Param) -> tuple[Fraction, Fraction]:
    """Return rationals less than 2^-200 before and after t."""
    lo, hi = enclosure(t, 260)
    return lo - Fraction(1, 2**220), hi + Fraction(1, 2**220)


def test_chords_agree_with_points():
    """Just before the entry and after the exit the ray is outside, in between inside: `classify` uses no root."""
    s = sample(2000, seed=11)
    crossings = 0
    for i in range(len(s)):
        limb, query = s.limb(i), s.query(i)
        start, step = [Fraction(x) for x in query.origin], query.direction

        def where(t: Fraction, limb=limb, start=start, step=step) -> int:
            return oracle.classify(limb, [o + t * d for o, d in zip(start, step, strict=True)])

        found = chord(limb, query)
        if found is None:
            assert not any(where(Fraction(k, 64)) for k in range(65))
            continue
        assert found.exit is not None
        (before, past_entry), (before_exit, after) = points_near(found.entry), points_near(found.exit)
        if compare(found.entry, found.exit) < 0 and past_entry < before_exit:
            assert where((past_entry + before_exit) / 2) != oracle.POINT_OUTSIDE
            assert where(past_entry) != oracle.POINT_OUTSIDE != where(before_exit)
        if found.started_inside:
            assert where(Fraction(0)) != oracle.POINT_OUTSIDE
        else:
            assert where(before) == oracle.POINT_OUTSIDE
        if found.leaves:
            assert where(after) == oracle.POINT_OUTSIDE
        if isinstance(found.entry, Fraction) and not found.started_inside:
            assert where(found.entry) == oracle.POINT_SURFACE
        crossings += 1
    assert crossings > 2000 // 2


def test_roots_are_ordered_and_enclosed():
    two, three = (oracle.root(1, 0, -n, upper=True) for n in (2, 3))
    assert isinstance(two, Root)
    assert oracle.root(1, 0, -4, upper=True) == Fraction(2)
    assert oracle.root(3, 0, -6, upper=True) == two
    assert [compare(two, three), compare(three, two), compare(two, oracle.root(5, 0, -10, upper=True))] == [-1, 1, 0]
    assert compare(oracle.root(1, 0, -2, upper=False), two) == -1
    assert compare(two, Fraction(141421356237309504880168872420969807856967187537694, 10**50)) == 1
    assert compare(two, Fraction(141421356237309504880168872420969807856967187537695, 10**50)) == -1
    assert abs(oracle.value(two) ** 2 - 2) < Fraction(1, 2**150)


def test_ties_go_to_the_lowest_limb_and_policies_pick():
    twice = oracle.chords([(0, CAN), (1, CAN), (2, Limb(CAN.p2, CAN.p1, 1.0))], segment((-3, 0.3, 1), (3, 0.4, 1)))
    assert [i for i, _ in twice] == [0, 1, 2]
    hit = oracle.credited(reversed(twice), "hit")
    assert hit is not None
    assert (hit.limb, hit.face) == (0, SIDE)
    out = oracle.chords([(0, CAN), (1, Limb((2, 0, 0), (2, 0, 2), 0.5))], segment((0, 0, 1), (4, 0, 1)))
    picked = {inside: oracle.credited(out, inside) for inside in ("hit", "exit", "ignore")}
    assert [(p.limb, p.at, p.face) for p in picked.values() if p] == [
        (0, Fraction(0), INSIDE),
        (0, Fraction(1, 4), SIDE),
        (1, Fraction(3, 8), SIDE),
    ]


def test_a_graze_really_is_one():
    """Where the world is near enough to hold it, the line's depth is what the family meant, and its sign decides."""
    s = sample(20_000, seed=12)
    s = s.take((s.family == "graze side") & (np.abs(s.depth) > 1e-11) & (np.abs(s.p1).max(axis=1) < 5 * s.radius))
    assert len(s) > 20_000 // 200
    assert {-5, -9, 5, 9} <= set(np.rint(np.log10(np.abs(s.depth)) * np.sign(s.depth)).astype(int))
    for i in range(len(s)):
        depth = oracle.graze_depth(s.limb(i), s.query(i))
        assert depth == pytest.approx(s.depth[i], rel=1e-2)
        assert (chord(s.limb(i), s.query(i)) is not None) == (depth > 0)


def test_exact_families_are_exact():
    s = sample(8000, seed=13)
    seen: Counter[str] = Counter()
    for i in range(len(s)):
        family = str(s.family[i])
        limb, query = s.limb(i), s.query(i)
        found = chord(limb, query)
        seen[f"{family}: hit"] += found is not None
        if family == "exact tangent" and found is not None:
            assert query.origin == query.target or oracle.graze_depth(limb, query) == 0 or _parallel(s, i)
            seen["touch"] += found.entry == found.exit
        if family == "exact rim":
            assert found is not None, "a ray through a rim point touches the limb"
        if family == "exact axis" and query.origin != query.target and not _parallel(s, i):
            assert oracle.graze_depth(limb, query) == 1
        if family == "exact zero length":
            assert query.origin == query.target
            seen[f"point {oracle.classify(limb, query.origin)}"] += 1
        if family == "exact surface end":
            assert oracle.POINT_SURFACE in (oracle.classify(limb, p) for p in (query.origin, query.target))
        if family == "exact cap plane":
            heights = {float(oracle._coefficients(limb, query)[1][1])}
            assert heights == {0.0}
    share = len(s) / len(FAMILIES)
    assert seen["touch"] > 0.5 * share
    assert min(seen[f"point {k}"] for k in range(3)) > 0.1 * share
    assert all(seen[f"{name}: hit"] > 0.2 * share for name in EXACT)


def _parallel(s, i: int) -> bool:
    """Return whether segment i runs along the axis direction; exact."""
    pairs = (s.p1[i], s.p2[i]), (s.start[i], s.end[i])
    a, d = ([Fraction(y) - Fraction(x) for x, y in zip(*pair, strict=True)] for pair in pairs)
    return all(a[j] * d[k] == a[k] * d[j] for j, k in ((0, 1), (1, 2), (2, 0)))


def test_limits_lie_exactly_at_surfaces():
    r = sample_rays(4000, seed=14)
    rows = np.flatnonzero(r.family == "at the limit")
    found = {i: chord(r.limb(i), r.query(i)) for i in rows}
    at_entry = sum(c is not None and c.entry == r.query(i).limit for i, c in found.items())
    at_exit = sum(c is not None and c.leaves and c.exit == r.query(i).limit for i, c in found.items())
    assert min(at_entry, at_exit) > len(rows) // 12
    assert sum(c is None for c in found.values()) > len(rows) // 12


@pytest.mark.parametrize("name", [n for n in PLANS if n != "crowd"])
def test_scenes_have_ties(name: str):
    ties = irrational = 0
    for seed in range(10):
        s = scene(name, 60, seed)
        limbs = list(enumerate(s.limbs()))
        for i in range(len(s.start)):
            first = oracle.credited(row := oracle.chords(limbs, s.query(i)), "ignore")
            if first is not None and sum(compare(c.entry, first.at) == 0 for _, c in row) > 1:
                ties += 1
                irrational += isinstance(first.at, Root)
    assert ties > 60 // 3
    assert irrational > 3 or name in ("elbows", "nested")


def test_the_same_seed_gives_the_same_sample():
    one, two, other = sample(200, seed=7), sample(200, seed=7), sample(200, seed=8)
    assert all(np.array_equal(getattr(one, k), getattr(two, k)) for k in ("p1", "p2", "radius", "start", "end"))
    assert not np.array_equal(one.start, other.start)
