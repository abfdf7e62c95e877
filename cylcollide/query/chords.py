"""Every limb along each ray: from a request to `Chords`."""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from cylcollide._types import POLICY_HIT, Aim, BoolArray, Face, InsidePolicy, Int32Array, Int64Array
from cylcollide.constants import LIMBS_CROSSED
from cylcollide.query import exact_fallback
from cylcollide.query.loops import chords as chord_loops
from cylcollide.query.loops.columns import (
    ChordColumns,
    ChordRows,
    concat_chord_rows,
    decided_chord_rows,
    empty_chords,
    empty_hits,
    filter_chord_rows,
    ray_of_each,
)
from cylcollide.query.loops.stream import cast_stream
from cylcollide.query.ray_chords import Chords
from cylcollide.query.request import LabelledLimbs, RayRequest, State
from cylcollide.query.scratch import scratch_for_streams
from cylcollide.query.strategy import use_single_rays
from cylcollide.runtime.threads import in_chunks

NO_HITS = empty_hits(0)
"""Columns of hits that nothing is written into."""


def chords(state: State, request: RayRequest, threads: int | None) -> Chords:
    """Every limb along each ray, sorted by entry."""
    return Chords(request.batch, state, chord_rows(state, request, threads, partial(possible_pieces, state, request)))


Pieces: TypeAlias = Callable[[int, int], tuple[Int64Array, Int32Array]]
"""From a range of rays to every piece of a limb that each of them may cross, as `pieces_of_rays` returns it."""


def chord_rows(limbs: LabelledLimbs, request: RayRequest, threads: int | None, pieces: Pieces) -> ChordRows:
    """The chords of all rays in the pieces that they may cross."""
    batch, inside = request.batch, request.inside
    n, table = len(request.first), limbs.table

    def task(begin: int, end: int) -> ChordRows:
        offsets, codes = pieces(begin, end)
        found, undecided = empty_chords(len(codes)), np.empty(end - begin, bool)
        ends = np.empty((2, len(codes)))
        count = chord_loops.cast_chords(
            batch, limbs.kernel_rows, offsets, codes, begin, ends[0], ends[1], found, undecided
        )
        rows = decided_chord_rows(offsets, undecided, found)
        return exact_fallback.resolve_chords(batch, table, begin, rows, codes) if count else rows

    rows = concat_chord_rows(in_chunks(n, threads, task))
    if inside != "hit":
        rows = filter_chord_rows(rows, _counts_as_hit(ray_of_each(rows.offsets), rows.chords, inside))
    return rows


def possible_pieces(state: State, request: RayRequest, begin: int, end: int) -> tuple[Int64Array, Int32Array]:
    """Every piece of a limb that each of these rays may cross, as `pieces_of_rays` returns it.

    Found by a stream, unless the rays are few or cross more limbs than its buffer holds.
    """
    tree, batch = state.tree, request.batch
    if not use_single_rays(state, end - begin):
        # fresh: they are read after the loop, when the handler of a signal may have used the scratch of this thread
        crossed, crossings = np.empty((LIMBS_CROSSED * (end - begin), 2), np.int32), np.zeros(1, np.int64)
        kept, every, aim = scratch_for_streams(tree, end - begin), batch._replace(policy=POLICY_HIT), int(Aim.ALL)
        scratch = kept._replace(state=kept.state._replace(crossed=crossed, crossings=crossings))
        rows = state.kernel_rows
        request.checked(cast_stream(request.raw, every, rows, tree, *scratch, begin, end, aim, NO_HITS))
        recorded = crossings.item()
        if recorded <= len(crossed):
            return chord_loops.pieces_of_crossings(batch, rows, crossed, recorded, begin, end)
    request.copy_checked(begin, end)
    return chord_loops.pieces_of_rays(batch, state.kernel_rows, tree, np.arange(begin, end))


def _counts_as_hit(ray: Int64Array, found: ChordColumns, inside: InsidePolicy) -> BoolArray:
    """Whether a chord counts under the policy: a limb that contains the start may be ignored, or need an exit."""
    from_start = found.entry_face == int(Face.INSIDE)
    if inside == "exit":
        return np.asarray(~(from_start & (found.exit_face == int(Face.INSIDE))))
    pair = (ray << 32) | found.limb  # a tube may be crossed again behind its bore
    return np.asarray(~np.isin(pair, pair[from_start]))
