"""From a checked query to its answer: the fast loop in chunks over threads, the unsure rows in exact arithmetic."""

from functools import partial

import numpy as np

from cylcollide._types import BoolArray
from cylcollide.query import exact_fallback
from cylcollide.query.hits import RayHits
from cylcollide.query.loops import single
from cylcollide.query.loops.columns import (
    empty_hits,
)
from cylcollide.query.loops.leaf import ANY, CLOSEST
from cylcollide.query.request import BatchResult, RayRequest, RayResult, SmallBatchResult, State
from cylcollide.query.strategy import loop_for, use_single_rays
from cylcollide.runtime.threads import in_chunks


def closest(state: State, request: RayRequest, threads: int | None) -> RayHits:
    """The first limb along each ray."""
    table, n = state.table, len(request.first)
    result: RayResult
    if use_single_rays(state, n):
        result, undecided = closest_single_rays(state, request, n)
    else:
        hits = empty_hits(n)
        in_chunks(n, threads, loop_for(state, request, CLOSEST, hits))
        result, undecided = BatchResult(request.batch, *hits), bool(np.count_nonzero(hits.undecided))
    near = partial(exact_fallback.limbs_near_rays, result.batch, table, state.tree) if undecided else None
    return exact_fallback.ray_hits(result, table, state.kernel_rows, request.inside, near)


def closest_single_rays(state: State, request: RayRequest, n: int) -> tuple[RayResult, bool]:
    """The first limbs of a few rays, one by one; and whether any row is unsure."""
    room, options = np.empty((single.SINGLE_ROWS, n)), request.options
    undecided = single.cast_single_rays.call(
        state.kernel_rows, state.tree, request.first, request.second, *options, room
    )
    if undecided < 0:
        request.raise_invalid()
    return SmallBatchResult(room, options), undecided > 0


def occluded(state: State, request: RayRequest, threads: int | None) -> BoolArray:
    """Whether each ray hits any limb."""
    n = len(request.first)
    if use_single_rays(state, n):
        return closest(state, request, threads).hit  # which one comes first costs no more
    hits = empty_hits(n)
    in_chunks(n, threads, loop_for(state, request, ANY, hits))
    blocked, rows = hits.limb >= 0, np.flatnonzero(hits.undecided)
    if len(rows):
        exact_fallback.resolve_any(request.batch, state.table, state.tree, request.inside, rows, blocked)
    return blocked
