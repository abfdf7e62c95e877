"""Bounds of contacts of thick rays with each shape: they contain the true times and seldom leave a case undecided."""

from math import inf

import numpy as np
import pytest
from support.cases.thick_rays import BOUNDED, KINDS, limb_of, segment_at
from support.oracle.shapes.table import SHAPE_ROWS
from support.oracle.thick import contacts, distance

import cylcollide as cc
from cylcollide._types import POLICY_HIT
from cylcollide.exact.line import segment_numbers
from cylcollide.exact.order import limb_chords
from cylcollide.exact.thick import grown_by
from cylcollide.kernels.double_double import as_double_double
from cylcollide.kernels.hit_bounds import first_step_bounds, thick_hit_bounds
from cylcollide.kernels.interval import UNDECIDED_FACE
from cylcollide.kernels.limb_table import plain_limb
from cylcollide.kernels.near_line import nearest_on_tapered
from cylcollide.kernels.ray import make_ray
from cylcollide.kernels.thick import thick_span
from cylcollide.kernels.thick_surface import nearest_place
from cylcollide.query.exact_fallback import exact_limb

DRAWN = 30

pytestmark = pytest.mark.plain_python


def span_of(limb, start, end, radius, piece=0, whole=True):
    ray = make_ray(tuple(start.tolist()), tuple((end - start).tolist()), True, inf, radius)
    with np.errstate(all="ignore"):
        return ray, thick_span(ray, plain_limb(limb._table, 0), piece, whole)


def clipped(interval, length):
    """The part of an interval on the ray, as fractions."""
    return max(interval[0], 0.0) / length, min(interval[1], length) / length


def check_faces(span, chord):
    """Assert that faces which the bounds decide are the chord's; return the face of the entry, if it is one."""
    if not chord.started_inside and span.first_face != UNDECIDED_FACE:
        assert span.first_face == chord.entry_face
    if chord.exit_face != cc.Face.INSIDE and span.last_face != UNDECIDED_FACE:
        assert span.last_face == chord.exit_face
    return {chord.entry_face} - {cc.Face.INSIDE}


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_hold_true_contacts_and_faces(kind):
    """Rational arithmetic gives the truth; for a bounded shape, which has none, dense samples, without faces."""
    rng, hits, open_ones, seen, slack = np.random.default_rng(KINDS.index(kind)), 0, 0, set(), 1e-15
    count = DRAWN // 2 if kind in BOUNDED else DRAWN
    for _ in range(count):
        limb = limb_of(kind, rng)
        start, end, radius = segment_at(limb, rng)
        ray, span = span_of(limb, start, end, radius)
        if kind in BOUNDED:
            entries, exits = contacts(limb, start.astype(np.longdouble), end.astype(np.longdouble) - start, radius)
        else:
            chords = limb_chords(segment_numbers(start, end), grown_by(exact_limb(limb._table, 0), radius))
            entries, exits = ([getattr(one, end).double_double()[0] for one in chords] for end in ("entry", "exit"))
            for chord in chords[:1]:
                seen |= check_faces(span, chord)
        outer, inner = clipped(span.outer, ray.length), clipped(span.inner, ray.length)
        certain = inner[0] <= inner[1]
        hits += len(entries) > 0
        if len(entries):
            assert outer[0] <= entries[0] + slack
            assert exits[0] - slack <= outer[1]
            if certain:
                assert entries[0] - slack <= inner[0]
                assert inner[1] <= exits[0] + slack
        else:
            assert not certain
        open_ones += certain != (len(entries) > 0) or (outer[0] <= outer[1]) != (len(entries) > 0)
        short = span_of(limb, start, end, radius, whole=False)[1]
        if kind not in ("sphere", "capsule"):
            assert (short.outer[0], short.inner[0]) == (span.outer[0], span.inner[0])
    assert 0.2 < hits / count < 0.95
    assert open_ones <= 1
    assert kind in BOUNDED or seen >= SHAPE_ROWS[limb.kind[0]].faces - {cc.Face.BORE}


@pytest.mark.coverage
def test_one_step_bounds_contacts_with_cylinders_like_all_steps_or_stays_open():
    rng, closed, hits = np.random.default_rng(3), 0, 0
    for _ in range(5 * DRAWN):
        limb = limb_of("cylinder", rng)
        start, end, radius = segment_at(limb, rng)
        ray = span_of(limb, start, end, radius)[0]
        with np.errstate(all="ignore"):
            short, is_open = first_step_bounds(ray, plain_limb(limb._table, 0))
            full = thick_hit_bounds(ray, plain_limb(limb._table, 0), POLICY_HIT)
        assert is_open or short == full
        closed += not is_open
        hits += not is_open and full.certain
    assert 0.2 < hits / (5 * DRAWN) < closed / (5 * DRAWN) < 0.95


@pytest.mark.parametrize("kind", KINDS)
def test_grazes_are_decided_down_to_rounding(kind):
    # a ray moved by a relative 1e-12 of its radius across a tangent: hit on one side, miss on the other
    rng, decided = np.random.default_rng(11 + KINDS.index(kind)), 0
    for _ in range(12):
        limb = limb_of(kind, rng)
        start, end, _ = segment_at(limb, rng)
        t = np.linspace(0.0, 1.0, 1001, dtype=np.longdouble)
        step = end.astype(np.longdouble) - start
        for _ in range(6):
            d = distance(limb, start + t[:, None] * step)
            k = int(np.clip(np.argmin(d), 1, len(t) - 2))
            t = np.linspace(t[k - 1], t[k + 1], 401)
        least = float(d.min())
        if least < 1e-3 or not 0.05 < t[200] < 0.95:
            continue
        for factor in (1.0 - 1e-11, 1.0 + 1e-11):
            _, span = span_of(limb, start, end, least * factor)
            is_hit, may_hit = span.inner[0] <= span.inner[1], span.outer[0] <= span.outer[1]
            assert not is_hit or factor > 1.0
            assert may_hit or factor < 1.0
            decided += is_hit if factor > 1.0 else not may_hit
    assert decided >= 4


@pytest.mark.coverage
@pytest.mark.parametrize("kind", KINDS)
def test_nearest_places(kind):
    rng, inside = np.random.default_rng(21 + KINDS.index(kind)), 0
    for k in range(40):
        limb = limb_of(kind, rng)
        point = 0.5 * (limb.p1 + limb.p2)[0] + rng.normal(size=3) * (0.3 if k < 20 else 1.5)
        if k % 5 == 0:  # on the axis, up to rounding
            point = limb.p1[0] + (limb.p2 - limb.p1)[0] * rng.uniform(-0.5, 1.5)
        place = nearest_place(as_double_double(tuple(point.tolist())), plain_limb(limb._table, 0))
        place = np.array([np.longdouble(high) + low for high, low in place])
        gap = distance(limb, point.astype(np.longdouble)[None])[0]
        inside += gap == 0
        assert distance(limb, place[None])[0] < 4e-15  # a box's axes are unit vectors to 8 u
        assert abs(np.sqrt(((place - point) ** 2).sum()) - gap) < 4e-15
    assert 0 < inside < 40


@pytest.mark.coverage
def test_nearest_place_from_the_axis_of_a_tube():
    tube = plain_limb(cc.Limbs.tubes([[0, 0, 0]], [[0, 0, 2]], 1.0, 0.5)._table, 0)
    for z, where in ((1.0, 1.0), (3.0, 2.0)):
        (x, _), (y, _), (height, _) = nearest_place(((0.0, 0.0), (0.0, 0.0), (z, 0.0)), tube)
        assert (x * x + y * y, height) == (0.25, where)


@pytest.mark.coverage
def test_tubes_pieces():
    tube = cc.Limbs.tubes([[0, 0, 0]], [[0, 0, 2]], 1.0, 0.6)
    through, past = np.array([[-3.0, 0.1, 1.0], [3.0, 0.2, 1.1]]), np.array([[-3.0, 0.9, 1.0], [3.0, 0.8, 1.1]])
    _, short = span_of(tube, *through, 0.1, 0, False)
    _, first = span_of(tube, *through, 0.1)
    _, behind = span_of(tube, *through, 0.1, 1)
    assert (short.outer[0], short.inner[0]) == (first.outer[0], first.inner[0])
    assert (first.first_face, first.last_face, behind.first_face, behind.last_face) == (
        cc.Face.SIDE, cc.Face.BORE, cc.Face.BORE, cc.Face.SIDE,
    )  # fmt: skip
    assert first.inner[1] <= first.outer[1] < behind.outer[0] - 0.9
    _, first = span_of(tube, *past, 0.1)
    assert first.inner[1] > first.inner[0] + 0.1
    assert first.last_face == cc.Face.SIDE
    _, behind = span_of(tube, *past, 0.1, 1)
    assert behind.outer[0] > behind.outer[1]
    mouth = np.array([0.0, 0.1, -2.0]), np.array([0.1, 0.0, 4.0])
    for radius, is_hit in ((0.1, False), (0.55, True), (0.7, True)):
        _, first = span_of(tube, *mouth, radius)
        assert (first.inner[0] <= first.inner[1], first.outer[0] <= first.outer[1]) == (is_hit, is_hit)


def bore_rays(rng, n):
    """Yield tubes and thick segments into, through, past and out of their bores; one in five starts in the bore."""
    for k in range(n):
        inner, length = rng.uniform(0.1, 0.9), rng.choice([0.02, 0.5, 2.0])
        tube = cc.Limbs.tubes([[0, 0, 0]], [[0.3 * length, 0, length]], inner + rng.choice([0.02, 0.5]), inner)
        radius = inner * rng.choice([0.01, 0.5, 0.97, 1.0, 1.03, 2.0])
        target = np.array([0.15 * length, 0.0, 0.5 * length]) + rng.normal(size=3) * (0.5 * inner, 0.5 * inner, length)
        direction = rng.normal(size=3) * (1.0, 1.0, rng.choice([1.0, 5.0]))
        direction /= np.linalg.norm(direction)
        yield tube, target - direction * (3.0 if k % 5 else 0.0), target + direction * rng.uniform(0.1, 3.0), radius


def test_bores_equal_rational_arithmetic():
    rng, pieces, faces, open_ones = np.random.default_rng(77), [0, 0, 0], set(), 0
    for tube, start, end, radius in bore_rays(rng, 90):
        solid = grown_by(exact_limb(tube._table, 0), radius)
        chords = limb_chords(segment_numbers(start, end), solid)
        spans = [span_of(tube, start, end, radius, piece) for piece in (0, 1)]
        possible = [(ray, span) for ray, span in spans if span.outer[0] <= span.outer[1]]
        pieces[len(chords)] += 1
        if any(span.inner[0] > span.inner[1] for _, span in possible):
            open_ones += 1
            continue
        assert len(possible) == len(chords)
        for (ray, span), chord in zip(possible, chords, strict=True):
            outer, inner = clipped(span.outer, ray.length), clipped(span.inner, ray.length)
            entry, leave = float(chord.entry.double_double()[0]), float(chord.exit.double_double()[0])
            assert outer[0] - 1e-15 <= entry <= inner[0] + 1e-15
            assert inner[1] - 1e-15 <= leave <= outer[1] + 1e-15
            faces |= {chord.entry_face, chord.exit_face}
            check_faces(span, chord)
    assert min(pieces) > 1
    assert open_ones < 5
    assert faces == {cc.Face.INSIDE, cc.Face.SIDE, cc.Face.BORE, cc.Face.CAP1, cc.Face.CAP2}


def test_numbers_out_of_range_are_undecided():
    huge, tiny = cc.Limbs.cylinders([[0, 0, 0]], [[0, 0, 1e100]], 1e100), cc.Limbs.spheres([[0, 0, 0]], 1.0)
    for limb, radius in ((huge, 1.0), (tiny, 1e60)):
        _, span = span_of(limb, np.array([-3.0, 0.0, 0.0]), np.array([3.0, 0.0, 0.0]), radius)
        assert span.outer == (-inf, inf)
        assert span.inner == (inf, -inf)
    drum = cc.Limbs.cylinders([[0, 0, 0]], [[0, 0, 1]], 1.0)  # thinner than the rounding bound
    _, span = span_of(drum, np.array([-3.0, 0.0, 0.5]), np.array([3.0, 0.0, 0.5]), 1e-100)
    assert span.inner[0] > span.inner[1] or span.inner[0] - span.outer[0] < 1e-12


def test_tapered_limbs_are_behind_the_planes_of_points_at_any_distance():
    """The vector from a place 1 µm away has 6 digits: with its direction, a touching ray became a miss."""
    rng, slants = np.random.default_rng(41), 0
    for _ in range(1000):
        radii = 10.0 ** rng.uniform(-1, 0.5, 2)
        h, corners = 10.0 ** rng.uniform(-1, 0.5), np.array([[-1.0, radii[0]], [1.0, radii[1]]])
        limb = cc.Limbs.tapered_cylinders([0.1, -h, 0.2], [0.1, h, 0.2], *radii)
        corners = np.concatenate([corners, corners * [1, -1]]) * [h, 1]
        slant = corners[1] - corners[0]
        slants, outward = slants + (slant[1] != 0.0), np.array([-slant[1], slant[0]]) / np.linalg.norm(slant)
        share, height, turn = rng.choice([0.0, 1.0, rng.random()]), 10.0 ** rng.uniform(-18, -3), rng.normal()
        directions = outward, np.cos(turn) * outward + np.sin(turn) * slant, np.array([2.0 * share - 1.0, 0.0])
        point = corners[0] + share * slant + height * directions[rng.integers(3)]
        way = np.array(nearest_on_tapered(point[0], point[1], plain_limb(limb._table, 0)))
        if way.any():
            behind = (corners - (point - way)) @ (way / np.linalg.norm(way))
            assert behind.max() <= 1e-14, (limb, point, way)
    assert slants > 300


def test_a_touch_by_less_than_rounding_is_not_excluded():
    """From the long sweep: a ball of radius 1 µm that moves along a wall overlaps it by 8e-17."""
    limb = cc.Limbs.tapered_cylinders(
        [-0.6625900089295793, -1.1184258048025115, 0.7711224257610328],
        [-1.201456868760897, 1.6095726921092184, 0.27277644505687426],
        0.8889675692252453,
        1.145478422789671,
    )
    start = [-1.6058939872923954, 0.9674083635907385, -0.6246334238573428]
    end = [-1.322149455356301, -0.19728535724166035, -0.3094861464357741]
    hits = limb.cast_segments(start, end, radius=1e-6)
    assert hits.hit[0] or hits.undecided[0]
