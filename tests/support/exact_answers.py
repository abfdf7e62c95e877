"""Comparisons of queries with each limb by itself: by exact arithmetic, or cast alone and near ties ordered exactly."""

from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray
from support.check_cylinders import FIELDS

import cylcollide as cc
from cylcollide._types import InsidePolicy
from cylcollide.exact import order
from cylcollide.exact.line import segment_numbers
from cylcollide.exact.solid import Solid
from cylcollide.exact.thick import grown_by
from cylcollide.query.exact_fallback import exact_limb

Solids = list[tuple[int, Solid]]
Vectors = NDArray[np.float64]


def solids_of(limbs: cc.Limbs, radius: float = 0.0, mask: int = 0xFFFFFFFF) -> Solids:
    """Return the limbs in these layers as (row, solid), grown by a radius."""
    solids = [(k, exact_limb(limbs._table, k)) for k in np.flatnonzero(limbs.mask & mask).tolist()]
    return [(k, grown_by(solid, radius)) for k, solid in solids] if radius else list(solids)


def check_hits(hits: cc.RayHits, solids: Solids, starts: Vectors, ends: Vectors, inside: InsidePolicy = "hit") -> None:
    """Assert that limb, face and fraction of each hit agree with exact arithmetic."""
    for i, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        first, started_inside = order.closest(segment_numbers(start, end), solids, inside)
        assert (hits.limb[i], hits.started_inside[i]) == (-1 if first is None else first[0], started_inside), i
        if first is not None:
            chord, leaves = first[1], first[1].started_inside and inside == "exit"
            assert hits.face[i] == (chord.exit_face if leaves else chord.entry_face), i
            assert abs(hits.fraction[i] - order.hit_time(chord, inside).double_double()[0]) < 1e-13, i


def check_chords(chords: cc.Chords, solids: Solids, starts: Vectors, ends: Vectors, error: float = 1e-13) -> None:
    """Assert that limbs, order and faces of chords agree with exact arithmetic, and fractions within `error`."""
    for i, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        expected = order.sorted_chords(segment_numbers(start, end), solids)
        rows = slice(chords.offsets[i], chords.offsets[i + 1])
        assert chords.limb[rows].tolist() == [limb for limb, _ in expected], i
        for side, found in (("entry", chords.entry_fraction), ("exit", chords.exit_fraction)):
            faces = [getattr(chord, f"{side}_face") for _, chord in expected]
            assert getattr(chords, f"{side}_face")[rows].tolist() == faces, i
            times = [getattr(chord, side).double_double()[0] for _, chord in expected]
            assert found[rows] == pytest.approx(times, rel=1e-15, abs=error), i


NEARLY = 1e-9
"""Fractions closer than this, relatively, are ordered exactly; rounding errors are a million times smaller."""


def check_row_by_row(limbs: cc.Limbs, starts: Vectors, ends: Vectors, inside: str, hits: cc.RayHits) -> Counter[str]:
    """Assert that each row equals that of the first limb hit; return counts of hits, misses, ties, starts inside."""
    seen: Counter[str] = Counter()
    for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
        each = limbs.cast_segments(start, end, inside=inside)
        seen["inside"] += int(each.started_inside.any())
        assert hits.started_inside[i] == each.started_inside.any(), f"ray {i}: {start!r} {end!r} {inside}"
        near = np.flatnonzero(each.hit & (each.fraction <= each.fraction.min(initial=np.inf) * (1 + NEARLY) + 1e-300))
        want = int(near[0]) if len(near) else -1
        if len(near) > 1:
            ray = segment_numbers(start, end)
            first, _ = order.closest(ray, ((k, exact_limb(limbs._table, k)) for k in near.tolist()), inside)
            assert first is not None
            want = first[0]
            seen["tied"] += 1
        assert hits.limb[i] == want, f"ray {i}: {start!r} {end!r} {inside}: limb {hits.limb[i]}, true {want}"
        seen["miss" if want < 0 else "hit"] += 1
        for name in set(FIELDS) - {"limb", "started_inside", "character"} if want >= 0 else ():
            got, true = getattr(hits, name)[i], getattr(each, name)[want]
            assert np.array_equal(got, true, equal_nan=True), (
                f"ray {i}: {start!r} {end!r} {inside}: {name} {got}, alone {true}"
            )
    return seen
