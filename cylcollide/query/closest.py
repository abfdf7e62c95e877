"""From a checked query to its answer: the fast loop in chunks over threads, the unsure rows in exact arithmetic."""

from functools import partial

import numpy as np

from cylcollide._types import BoolArray
from cylcollide.query import exact_fallback
from cylcollide.query.hits import RayHits
from cylcollide.query.loops import single
from cylcollide.query.loops.columns import (
    empty_verdicts,
)
from cylcollide.query.loops.leaf import ANY, FIRST
from cylcollide.query.request import Answered, AnsweredFew, Asked, Question, State
from cylcollide.query.strategy import one_by_one, strategy
from cylcollide.runtime.threads import in_chunks


def closest(state: State, question: Question, threads: int | None) -> RayHits:
    """The first limb along each ray."""
    table, n = state.table, len(question.first)
    asked: Asked
    if one_by_one(state, n):
        asked, unsure = closest_of_few(state, question, n)
    else:
        verdicts = empty_verdicts(n)
        in_chunks(n, threads, strategy(state, question, FIRST, verdicts))
        asked, unsure = Answered(question.query, *verdicts), bool(np.count_nonzero(verdicts.unsure))
    near = partial(exact_fallback.limbs_near_rays, asked.query, table, state.tree) if unsure else None
    return exact_fallback.ray_hits(asked, table, state.seen, question.inside, near)


def closest_of_few(state: State, question: Question, n: int) -> tuple[Asked, bool]:
    """The first limbs of a few rays, one by one; and whether any row is unsure."""
    room, facts = np.empty((single.FEW_COLUMNS, n)), question.facts
    unsure = single.closest_of_few.call(state.seen, state.tree, question.first, question.second, *facts, room)
    if unsure < 0:
        question.refuse()
    return AnsweredFew(room, facts), unsure > 0


def occluded(state: State, question: Question, threads: int | None) -> BoolArray:
    """Whether each ray hits any limb."""
    n = len(question.first)
    if one_by_one(state, n):
        return closest(state, question, threads).hit  # which one comes first costs no more
    verdicts = empty_verdicts(n)
    in_chunks(n, threads, strategy(state, question, ANY, verdicts))
    blocked, rows = verdicts.limb >= 0, np.flatnonzero(verdicts.unsure)
    if len(rows):
        exact_fallback.settle_any(question.query, state.table, state.tree, question.inside, rows, blocked)
    return blocked
