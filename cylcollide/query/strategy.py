"""Which loop answers a request: one ray at a time, brute force against few limbs, or streams through the tree."""

from collections.abc import Callable

from cylcollide.constants import FEW_LIMBS, SMALLEST_BATCH, SMALLEST_STREAM
from cylcollide.query.loops.brute_force import cast_few
from cylcollide.query.loops.columns import Verdicts
from cylcollide.query.loops.stream import cast_stream
from cylcollide.query.request import Question, State
from cylcollide.query.scratch import room_for_lists, room_for_streams


def one_by_one(state: State, rays: int) -> bool:
    """Whether so many rays had better walk alone."""
    return rays < (SMALLEST_BATCH if state.tree.items <= FEW_LIMBS else SMALLEST_STREAM)


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
