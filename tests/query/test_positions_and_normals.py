"""Positions and normals: the same bits for a ray alone and among thousands, whichever path computes them."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed, shots_at
from support.cases.frames import Array
from support.cases.shape_rays import sample, sample_rays
from support.check_cylinders import sized
from support.force_loop import POLICIES
from support.oracle.shapes.table import SHAPE_ROWS

import cylcollide as cc

SPOTS = ("position", "normal", "exit_position", "exit_normal")


def bits_of(hits: cc.RayHits, name: str) -> Array:
    """A field as integers, so that NaN equals NaN and 0.0 is not -0.0."""
    return np.ascontiguousarray(getattr(hits, name)).view(np.int64)


def spots(hits: cc.RayHits) -> Array:
    """All positions and normals of hits as integers; (n, 12)."""
    return np.concatenate([bits_of(hits, name) for name in SPOTS], axis=1)


@pytest.mark.parametrize(("inside", "away"), [("hit", 0.0), ("exit", 0.0), ("ignore", 1e7), ("exit", 1e12)])
def test_a_ray_has_the_same_bits_alone_and_among_thousands(inside: str, away: float):
    """In batches of every odd size: a ray is first of sixteen, last of eight, alone on its face, or one of many."""
    shapes = mixed(70, seed=11)
    start, end = shots_at(shapes, sized(2000), seed=12)
    step = np.array([away, -away, 0.5 * away])
    world = cc.HitWorld(replace(shapes, p1=shapes.p1 + step, p2=shapes.p2 + step).limbs())
    many = world.cast_segments(start + step, end + step, inside=inside)
    expected, begin, seen = spots(many), 0, Counter()
    for size in (1, 1, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 255, 257, 1023):
        part = slice(begin, min(begin + size, len(start)))
        few = world.cast_segments(start[part] + step, end[part] + step, inside=inside)
        assert np.array_equal(spots(few), expected[part]), (size, part)
        begin += size
        seen[size] += int(few.hit.sum())
    assert sum(seen.values()) > 5
    if not away:
        known = {face for kind in SHAPE_ROWS for face in SHAPE_ROWS[kind].faces}
        assert {*many.face[many.hit]} | {*many.exit_face[many.hit]} >= known
    assert np.isnan(many.position[~many.hit]).all()
    assert np.isnan(many.exit_normal[~many.hit]).all()
    assert not np.isnan(many.position[many.hit]).any()
    length = np.linalg.norm(many.normal[many.hit], axis=1)
    assert (np.where(many.face[many.hit] == cc.Face.INSIDE, length == 0.0, abs(length - 1.0) < 1e-15 * 4)).all()


@pytest.mark.parametrize("inside", POLICIES)
def test_grazes_and_exact_rows_get_the_same_bits_alone(inside: str):
    """Adversarial rows, each with a limb of its own: touches, rims, apexes, starts on surfaces, parallels."""
    for drawn in (sample(sized(420), seed=61), sample_rays(225, seed=62)):
        many = drawn.cast(inside)
        expected = spots(many)
        rows = np.arange(0, len(drawn), 3)
        for i in rows.tolist():
            assert np.array_equal(spots(drawn.take(np.array([i])).cast(inside))[0], expected[i]), drawn.family[i]
        assert many.rechecked > 0.05 * len(drawn)
        assert many.hit[rows].sum() > len(rows) // 4


def test_a_position_is_rounded_once():
    """It is the point at the double-double fraction: the rounded fraction misses that by an ulp and more."""
    shapes = mixed(70, seed=15)
    start, end = shots_at(shapes, sized(2000), seed=16)
    hits = cc.HitWorld(shapes.limbs()).cast_segments(start, end)
    entry = hits._chords.entry
    rows = np.flatnonzero(hits.hit & (hits.face != cc.Face.INSIDE))
    assert len(rows) > 50
    for i in rows.tolist():
        at = Fraction(entry[i, 0]) + Fraction(entry[i, 1])
        largest = max(np.abs(start[i]).max(), np.abs(end[i]).max())
        for a, b, x in zip(start[i].tolist(), end[i].tolist(), hits.position[i].tolist(), strict=True):
            true = Fraction(a) + at * (Fraction(b) - Fraction(a))
            assert abs(Fraction(x) - true) <= Fraction(0.51 * np.spacing(largest)), (i, x)
