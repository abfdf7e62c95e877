"""Every limb along each ray: from a request to `Chords`."""

import numpy as np

from cylcollide._types import POLICY_HIT, BoolArray, Face, InsidePolicy, Int32Array, Int64Array
from cylcollide.bvh.traverse import make_stack
from cylcollide.constants import LIMBS_CROSSED
from cylcollide.query import exact_fallback
from cylcollide.query.hits import Chords
from cylcollide.query.loops import chords as chord_loops
from cylcollide.query.loops.columns import (
    Chorded,
    ChordRows,
    chosen_chords,
    empty_chords,
    empty_verdicts,
    joined_rows,
    offsets_of,
    ray_of_each,
)
from cylcollide.query.loops.leaf import EVERY
from cylcollide.query.loops.stream import cast_stream
from cylcollide.query.request import Question, State
from cylcollide.query.scratch import room_for_streams
from cylcollide.query.strategy import one_by_one
from cylcollide.runtime.threads import in_chunks


def chords(state: State, question: Question, threads: int | None) -> Chords:
    """Every limb along each ray, sorted by entry."""
    query, inside = question.query, question.inside
    n, table = len(question.first), state.table

    def task(begin: int, end: int) -> ChordRows:
        offsets, codes = stretches(state, question, begin, end)
        found, unsure = empty_chords(len(codes)), np.empty(end - begin, bool)
        ends = np.empty((2, len(codes)))
        count = chord_loops.cast_chords.call(query, state.seen, offsets, codes, begin, ends[0], ends[1], found, unsure)
        rows = ChordRows(offsets, found, count)
        return exact_fallback.settle_chords(query.rays, table, begin, rows, codes, unsure) if count else rows

    rows = joined_rows(in_chunks(n, threads, task))
    if inside != "hit":
        ray = ray_of_each(rows.offsets)
        kept = _counts_as_hit(ray, rows.chords, inside)
        rows = rows._replace(offsets=offsets_of(ray[kept], n), chords=chosen_chords(rows.chords, kept))
    return Chords(query.rays, state.seen, rows)


def stretches(state: State, question: Question, begin: int, end: int) -> tuple[Int64Array, Int32Array]:
    """Every stretch of a limb that each of these rays may cross: as a stream, unless they are few or meet very many."""
    tree, query = state.tree, question.query
    if not one_by_one(state, end - begin):
        # both are read once the loop is over, when a signal may have asked the next question in the same room
        crossed, crossings = np.empty((LIMBS_CROSSED * (end - begin), 2), np.int32), np.zeros(1, np.int64)
        kept, every, nothing = room_for_streams(tree, end - begin), query._replace(policy=POLICY_HIT), empty_verdicts(0)
        noting = kept._replace(work=kept.work._replace(crossed=crossed, crossings=crossings))
        if not cast_stream.call(question.given, every, state.seen, tree, *noting, begin, end, EVERY, nothing):
            question.refuse()
        noted = crossings.item()
        if noted <= len(crossed):
            return chord_loops.stretches_in_rows.call(query, state.seen, crossed, noted, begin, end)
    question.receive(begin, end)
    return chord_loops.possible_stretches.call(query, state.seen, tree, make_stack(tree), np.arange(begin, end))


def _counts_as_hit(ray: Int64Array, found: Chorded, inside: InsidePolicy) -> BoolArray:
    """Whether a chord is a hit under the policy: a limb that holds the start may be ignored, or have to be left."""
    from_start = found.entry_face == Face.INSIDE
    if inside == "exit":
        return np.asarray(~(from_start & (found.exit_face == Face.INSIDE)))
    pair = (ray << 32) | found.limb  # a tube may be crossed again behind its bore
    return np.asarray(~np.isin(pair, pair[from_start]))
