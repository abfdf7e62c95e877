"""True hits of a world without its tree: every limb is cast separately, and near ties are ordered exactly."""

from collections import Counter

import numpy as np
from support.cases.frames import Array
from support.check_cylinders import FIELDS

import cylcollide as cc
from cylcollide.exact import order
from cylcollide.exact.line import segment_numbers
from cylcollide.query.exact_fallback import exact_limb

NEARLY = 1e-9
"""Fractions closer than this, relatively, are ordered exactly; rounding errors are a million times smaller."""


def check_row_by_row(limbs: cc.Limbs, starts: Array, ends: Array, inside: str, hits: cc.RayHits) -> Counter[str]:
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
