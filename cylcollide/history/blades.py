"""Sweeps of blades in the past, against moving limbs: from arguments to results."""

from __future__ import annotations

from functools import partial
from typing import TypeAlias, Unpack

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import NO_LIMB
from cylcollide.bvh.traverse import make_stack
from cylcollide.history.requests import Protected, ProtectedSince, protected_by, repeated
from cylcollide.history.rewound import RewoundLimbs, present_positions
from cylcollide.history.sample_times import NO_TICK, OnOld, RequestedTimes, SampleTimes, one_or_each, sample_times
from cylcollide.history.ticks import Ring
from cylcollide.process.threads import in_chunks
from cylcollide.query.blades import RESOLUTION, SweepRequest, SweptHits, sweep_request
from cylcollide.query.loops.blades import missed_strokes
from cylcollide.query.loops.columns import offsets_of
from cylcollide.query.loops.inputs import PointFilters
from cylcollide.query.loops.recorded_blades import StrokePieces, sweep_recorded
from cylcollide.query.loops.recorded_candidates import Protection
from cylcollide.query.loops.recorded_nearest import one_row
from cylcollide.query.request import Filters, some_rows
from cylcollide.runtime.memory import frozen
from cylcollide.world.hit_world import HitWorld

PastSweepRequest: TypeAlias = tuple[SweepRequest, tuple[ArrayLike, ArrayLike, OnOld], Protected]
"""Blades; their begin and end times and `on_old`, the treatment of times not kept; and the protected characters."""


def past_sweeps(
    p1: ArrayLike,
    p2: ArrayLike,
    to_p1: ArrayLike,
    to_p2: ArrayLike,
    radius: ArrayLike,
    t0: ArrayLike,
    t1: ArrayLike | None = None,
    *,
    resolution: float = RESOLUTION,
    on_old: OnOld = "error",
    protected_since: ProtectedSince | None = None,
    **options: Unpack[Filters],
) -> PastSweepRequest:
    """A request for capsules whose ends move straight while limbs move from t0 to t1; without t1 limbs stand still."""
    begins = repeated({"p1": p1, "p2": p2, "to_p1": to_p1, "to_p2": to_p2}, {"t0": t0, "t1": t1})
    blades = sweep_request(begins, p2, to_p1, to_p2, radius, resolution=resolution, **options)
    return blades, (t0, t0 if t1 is None else t1, on_old), protected_by(protected_since)


def past_sweep(world: HitWorld, ring: Ring, request: PastSweepRequest) -> SweptHits:
    """The first limb that each blade touches."""
    (ends, blades, resolution), (begin, end, on_old), _ = request
    n = len(blades.reach)
    t0, t1 = one_or_each(begin, "t0", n), one_or_each(end, "t1", n)
    row = validate.first_bad_row(t1 < t0)
    if row is not None:
        raise ValueError(f"t1: expected t1 >= t0, got {t1[row]} < {t0[row]} in row {row}; time does not run backwards")
    requested: list[tuple[RequestedTimes, str]] = [((t0, None, None, on_old), "t0"), ((t1, None, None, on_old), "t1")]
    first, last = (sample_times(ring, n, times, name=name)[0] for times, name in requested)
    pieces = _pieces(ring, request, first, last)
    swept, piece = missed_strokes(n), np.full(n, -1, np.int64)

    def task(begin: int, end: int) -> None:
        args = ends, blades.reach, resolution, pieces, make_stack(ring.deepest_tree), one_row()
        sweep_recorded(*args, begin, end, swept, piece)

    in_chunks(n, blades.threads, task)
    hit = np.flatnonzero(piece >= 0)
    own, at = piece[hit], swept.fraction[hit]
    alpha = np.clip(pieces.alpha[own] + (at - pieces.times[own, 0]) * pieces.times[own, 2], 0.0, 1.0)
    limbs = RewoundLimbs(ring, pieces.tick[own], alpha, swept.limb[hit])
    row_of = np.full(n, NO_LIMB, np.int32)
    row_of[hit] = np.arange(len(hit))
    kept, time = last.tick != NO_TICK, first.time.copy()
    tick, alphas = np.where(kept, first.tick, NO_TICK), np.where(kept, first.alpha, np.nan)
    time[hit] += at * (last.time - first.time)[hit]
    tick[hit], alphas[hit] = pieces.tick[own] + ring.first, alpha
    columns = (frozen(column) for column in (time, tick, alphas, first.clamped | last.clamped))
    found = SweptHits(limbs, swept._replace(limb=row_of))
    return found._rewound(SampleTimes._make(columns), partial(present_positions, world))


def _pieces(ring: Ring, request: PastSweepRequest, first: SampleTimes, last: SampleTimes) -> StrokePieces:
    """The strokes, cut where a tick or a protection begins; no pieces for a stroke whose times are not kept."""
    begins, ((_, blades, _), _, (ids, since)) = ring.times, request
    rows: list[tuple[int, int, float, float, float, float, float]] = []
    kept = (first.tick != NO_TICK) & (last.tick != NO_TICK)
    for i in np.flatnonzero(kept).tolist():
        t0, t1 = first.time.item(i), last.time.item(i)
        a, b = int(first.tick[i]) - ring.first, int(last.tick[i]) - ring.first
        cuts = sorted({t0, t1, *(t for t in (*begins[a + 1 : b + 1].tolist(), *since.tolist()) if t0 < t < t1)})
        for low, high in zip(cuts, cuts[1:] or cuts, strict=False):
            k = max(int(np.searchsorted(begins, low, "right")) - 1, 0)
            span = begins.item(k + 1) - begins.item(k) if k + 1 < len(begins) else 1.0
            alpha = first.alpha.item(i) if low == t0 else (low - begins.item(k)) / span
            shares = ((low - t0) / (t1 - t0), (high - t0) / (t1 - t0)) if t1 > t0 else (0.0, 1.0)
            rows.append((i, k, *shares, (t1 - t0) / span, alpha, low))
        if t0 < t1 == begins[b]:  # limbs that appear, jump or change at t1
            rows.append((i, b, 1.0, 1.0, 0.0, 0.0, t1))
    table = np.array(rows).reshape(-1, 7)
    blade, tick = table[:, 0].astype(np.int64), table[:, 1].astype(np.int32)
    mask, ignored = blades.filters
    filters = PointFilters(some_rows(mask, blade), some_rows(ignored, blade))
    return StrokePieces(
        offsets_of(blade, len(first.time)), tick, np.ascontiguousarray(table[:, 2:5]), table[:, 5].copy(),
        filters, Protection(ids, since, table[:, 6].copy()), ring.recorded,
    )  # fmt: skip
