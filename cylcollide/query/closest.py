"""The closest limb along each ray, or whether there is any: loops over chunks of rows, then the exact fallback."""

from functools import partial

import numpy as np

from cylcollide._types import Aim, BoolArray
from cylcollide.query import exact_fallback
from cylcollide.query.hits import RayHits, named_columns
from cylcollide.query.loops.columns import empty_hits
from cylcollide.query.request import RayRequest, State
from cylcollide.query.strategy import cast_single, loop_for, use_single_rays
from cylcollide.runtime.threads import in_chunks


def closest(state: State, request: RayRequest, threads: int | None) -> RayHits:
    """The closest limb along each ray."""
    n = len(request.first)
    if use_single_rays(state, n):
        read, undecided = cast_single(state, request)
    else:
        hits = empty_hits(n)
        in_chunks(n, threads, loop_for(state, request, Aim.CLOSEST, hits))
        read, undecided = named_columns(request.batch, hits), int(np.count_nonzero(hits.undecided))
    near = partial(exact_fallback.limbs_near_rays, read("batch"), state.table, state.tree) if undecided else None
    return RayHits(read, state, request.inside, near)


def occluded(state: State, request: RayRequest, threads: int | None) -> BoolArray:
    """Whether each ray hits any limb; bool (n,)."""
    n = len(request.first)
    if use_single_rays(state, n):
        return closest(state, request, threads).limb >= 0  # the closest costs no more than any
    hits = empty_hits(n)
    in_chunks(n, threads, loop_for(state, request, Aim.ANY, hits))
    blocked, rows = hits.limb >= 0, np.flatnonzero(hits.undecided)
    if len(rows):
        exact_fallback.resolve_any(request.batch, state.table, state.tree, request.inside, rows, blocked)
    return blocked
