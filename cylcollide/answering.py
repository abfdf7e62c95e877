"""From a checked query to its answer: the fast loop in chunks over threads, the unsure rows in exact arithmetic."""

import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import cache, partial
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from cylcollide import casting, chording, door, holding, lending, locating, settling
from cylcollide._types import (
    FEW_LIMBS,
    LIMBS_CROSSED,
    POLICY_HIT,
    RAYS_PER_TASK,
    RAYS_SHARED,
    SMALLEST_BATCH,
    SMALLEST_STREAM,
    STREAM_RAYS,
    BoolArray,
    Face,
    Float64Array,
    InsidePolicy,
    Int32Array,
    Int64Array,
)
from cylcollide.answered import Answered, AnsweredFew, Asked
from cylcollide.asking import Question
from cylcollide.columns import (
    Chorded,
    ChordRows,
    Verdicts,
    chosen_chords,
    empty_chords,
    empty_verdicts,
    joined_rows,
    offsets_of,
    ray_of_each,
)
from cylcollide.dense import Lists, cast_few, make_lists
from cylcollide.entering import FACES, Entering, make_entering
from cylcollide.gathering import Sorting, make_sorting
from cylcollide.hits import Chords, PointHits, RayHits
from cylcollide.holding import Held
from cylcollide.kernels.table import LimbRows
from cylcollide.limbs import Limbs
from cylcollide.pairing import ANY, EVERY, FIRST, Work, make_work
from cylcollide.streaming import cast_stream
from cylcollide.tree.layout import Tree
from cylcollide.tree.stream import Stream, make_stream
from cylcollide.tree.walk import make_stack

Answer = TypeVar("Answer")


class State(Protocol):
    """Limbs with their tree."""

    tree: Tree
    seen: LimbRows
    """What loops read of the limbs."""

    @property
    def limbs(self) -> Limbs:
        """The limbs."""


def closest(state: State, question: Question, threads: int | None) -> RayHits:
    """The first limb along each ray."""
    table, n = state.limbs.table, len(question.first)
    asked: Asked
    if one_by_one(state, n):
        asked, unsure = closest_of_few(state, question, n)
    else:
        verdicts = empty_verdicts(n)
        in_chunks(n, threads, strategy(state, question, FIRST, verdicts))
        asked, unsure = Answered(question.query, *verdicts), bool(np.count_nonzero(verdicts.unsure))
    near = partial(settling.limbs_near_rays, asked.query, table, state.tree) if unsure else None
    return settling.ray_hits(asked, table, state.seen, question.inside, near)


def one_by_one(state: State, rays: int) -> bool:
    """Whether so many rays had better walk alone."""
    return rays < (SMALLEST_BATCH if state.tree.items <= FEW_LIMBS else SMALLEST_STREAM)


def closest_of_few(state: State, question: Question, n: int) -> tuple[Asked, bool]:
    """The first limbs of a few rays, one by one; and whether any row is unsure."""
    room, facts = np.empty((casting.FEW_COLUMNS, n)), question.facts
    unsure = casting.closest_of_few.call(state.seen, state.tree, question.first, question.second, *facts, room)
    if unsure < 0:
        question.refuse()
    return AnsweredFew(room, facts), unsure > 0


def strategy(state: State, question: Question, aim: int, verdicts: Verdicts) -> Callable[[int, int], None]:
    """How many rays find their first limbs, or any: against all of few limbs, or as streams.

    The answers agree bit by bit with those of one by one; how many rays need exact arithmetic may differ.
    """
    given, query, table, tree = question.given, question.query, state.seen, state.tree
    alike, limbs = query.mask.size == query.ignored.size == 1, len(table.solid)

    def against_all(begin: int, end: int) -> None:
        if not cast_few.call(given, query, table, room_for_lists(limbs), begin, end, aim, verdicts):
            question.refuse()

    def as_stream(begin: int, end: int) -> None:
        if not cast_stream.call(
            given, query, table, tree, *room_for_streams(tree, end - begin), begin, end, aim, verdicts
        ):
            question.refuse()

    return against_all if alike and limbs <= FEW_LIMBS else as_stream


class Room(NamedTuple):
    """Memory that the loops over many rays write into."""

    work: Work
    stream: Stream
    sorting: Sorting
    entering: Entering


_rooms = threading.local()


def room_for_streams(tree: Tree, rays: int) -> Room:
    """Room for the rays of one task, kept by each thread: fresh memory costs as much as the walk."""
    kept: Room | None = getattr(_rooms, "kept", None)
    if kept is None or len(kept.stream.code) < tree.stack_size or len(kept.sorting.key) < rays:
        work, stream = make_work(STREAM_RAYS), make_stream(tree, STREAM_RAYS)
        kept = _rooms.kept = Room(work, stream, make_sorting(max(rays, RAYS_PER_TASK)), make_entering(STREAM_RAYS))
    return kept


def room_for_lists(limbs: int) -> Lists:
    """The same for rays against so many limbs."""
    lists: Lists | None = getattr(_rooms, "lists", None)
    if lists is None or len(lists.listed) != limbs * FACES:
        lists = _rooms.lists = make_lists(limbs)
    return lists


def occluded(state: State, question: Question, threads: int | None) -> BoolArray:
    """Whether each ray hits any limb."""
    n = len(question.first)
    if one_by_one(state, n):
        return closest(state, question, threads).hit  # which one comes first costs no more
    verdicts = empty_verdicts(n)
    in_chunks(n, threads, strategy(state, question, ANY, verdicts))
    blocked, rows = verdicts.limb >= 0, np.flatnonzero(verdicts.unsure)
    if len(rows):
        settling.settle_any(question.query, state.limbs.table, state.tree, question.inside, rows, blocked)
    return blocked


def chords(state: State, question: Question, threads: int | None) -> Chords:
    """Every limb along each ray, sorted by entry."""
    query, inside = question.query, question.inside
    n, table = len(question.first), state.limbs.table

    def task(begin: int, end: int) -> ChordRows:
        offsets, codes = stretches(state, question, begin, end)
        found, unsure = empty_chords(len(codes)), np.empty(end - begin, bool)
        ends = np.empty((2, len(codes)))
        count = chording.cast_chords.call(query, state.seen, offsets, codes, begin, ends[0], ends[1], found, unsure)
        rows = ChordRows(offsets, found, count)
        return settling.settle_chords(query.rays, table, begin, rows, codes, unsure) if count else rows

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
            return chording.stretches_in_rows.call(query, state.seen, crossed, noted, begin, end)
    question.receive(begin, end)
    return chording.possible_stretches.call(query, state.seen, tree, make_stack(tree), np.arange(begin, end))


def _counts_as_hit(ray: Int64Array, found: Chorded, inside: InsidePolicy) -> BoolArray:
    """Whether a chord is a hit under the policy: a limb that holds the start may be ignored, or have to be left."""
    from_start = found.entry_face == Face.INSIDE
    if inside == "exit":
        return np.asarray(~(from_start & (found.exit_face == Face.INSIDE)))
    pair = (ray << 32) | found.limb  # a tube may be crossed again behind its bore
    return np.asarray(~np.isin(pair, pair[from_start]))


def containing(state: State, given: Float64Array, threads: int | None) -> PointHits:
    """Which limb holds each point; the points are still to be checked, and may be the caller's own."""
    n, tree = len(given), state.tree
    if n < SMALLEST_BATCH:
        room = np.empty((locating.FEW_COLUMNS, n))
        points, kinds = room[:3].reshape(n, 3), (np.int32, np.int32, np.bool_)
        held = Held._make(row.view(kind)[:n] for row, kind in zip(room[3:], kinds, strict=True))
        unsure = [locating.locate_few.call(state.seen, tree, given, room)]
    else:
        points, (limb, holders, doubtful) = lending.rows(given.shape), lending.columns(n, *holding.KINDS)
        held = Held(limb, holders, doubtful)

        def task(begin: int, end: int) -> int:
            return holding.locate_many.call(state.seen, tree, given, points, *holding.room(tree), begin, end, held)

        unsure = in_chunks(n, threads, task)
    if min(unsure) < 0:
        door.vectors(given, "points")
        raise ValueError(
            "points: expected numbers that stay while a query reads them, got some that changed from bad to good; "
            "pass copies"
        )
    if any(unsure):
        rows = np.flatnonzero(held.unsure)
        settling.settle_points(points, state.limbs.table, tree, rows, held.limb, held.holders)
    return PointHits(held.limb, held.holders, partial(_axis_distances, points, state.seen, held.limb))


def _axis_distances(points: Float64Array, limbs: LimbRows, limb: Int32Array) -> Float64Array:
    """Squared distance of each point from the axis of its limb."""
    squared = np.empty(len(limb))
    locating.axis_distances(points, limbs, limb, squared)
    return squared


def in_chunks(n: int, threads: int | None, task: Callable[[int, int], Answer]) -> list[Answer]:
    """The task's answers for consecutive chunks of n rows, in order, worked on by so many threads."""
    if n <= RAYS_SHARED:
        return [task(0, n)]
    if threads is None:
        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    most, threads = threads, max(1, min(threads, n // SMALLEST_STREAM))  # loops over many rays take eight at least
    count = -(-n // (RAYS_PER_TASK if threads == 1 else RAYS_SHARED))
    count += -count % threads  # as many for each thread
    left = deque((k, n * k // count, n * (k + 1) // count) for k in range(count))
    answers: dict[int, Answer] = {}

    def work() -> None:
        while left:
            try:
                k, begin, end = left.popleft()
            except IndexError:  # somebody else was faster
                return
            answers[k] = task(begin, end)

    helpers: list[Future[None]] = []
    try:
        with suppress(RuntimeError):  # Python is ending, or there are as many threads as there may be: fewer will do
            for _ in range(threads - 1):
                helpers.append(pool_of(most - 1).submit(work))
        work()  # who asks need not wait to be woken
    finally:
        left.clear()  # after an error nobody begins anew
        begun = [helper for helper in helpers if not helper.cancel()]
        wait(begun)
    for helper in begun:
        helper.result()
    return [answers[k] for k in range(count)]


@cache
def pool_of(threads: int) -> ThreadPoolExecutor:
    """So many threads, which stay with their room: a query is over before new ones would have made theirs."""
    return ThreadPoolExecutor(threads, "cylcollide")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool_of.cache_clear)  # a fork has no threads but the one that forked
