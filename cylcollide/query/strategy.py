"""Which loop answers a request: single rays, brute force against few limbs, or streams through the tree."""

from collections.abc import Callable
from typing import Any

import numpy as np

from cylcollide._types import Aim
from cylcollide.constants import (
    FEW_LIMBS,
    RAYS_A_SLICE,
    RAYS_PER_TASK,
    RAYS_WORTH_WAITING,
    SMALLEST_BATCH,
    SMALLEST_STREAM,
    TREE_WIDTH,
)
from cylcollide.query.loops.brute_force import cast_brute_force
from cylcollide.query.loops.columns import HitColumns
from cylcollide.query.loops.single import RECORD_ROWS, cast_single_rays
from cylcollide.query.loops.stream import cast_stream
from cylcollide.query.request import LIMB, RayRequest, SmallBatchResult, State
from cylcollide.query.scratch import scratch_for_brute_force, scratch_for_streams
from cylcollide.runtime.entry_point import EntryPoint


def use_single_rays(state: State, rays: int) -> bool:
    """Whether so many rays are too few for a stream, or for brute force."""
    return rays < (SMALLEST_BATCH if state.tree.items <= FEW_LIMBS else SMALLEST_STREAM)


def loop_for(state: State, request: RayRequest, aim: Aim, hits: HitColumns) -> Callable[[int, int], None]:
    """The loop over many rays for this request: called with a range of rows, it fills those of `hits`.

    The loops agree bit by bit with each other and with single rays; how many rows are undecided may differ.
    """
    raw, batch, table, tree = request.raw, request.batch, state.kernel_rows, state.tree
    shared_filter, limbs = batch.mask.size == batch.ignored.size == 1, len(table.solid)

    def brute_force(begin: int, end: int) -> None:
        before, behind = (raw, batch, table, scratch_for_brute_force(limbs)), (int(aim), hits)
        begin = cast_until_fast(state, request, cast_brute_force, (*before, begin, end, *behind), begin, end, hits)
        if begin < end:
            request.checked(cast_brute_force.call(*before, begin, end, *behind))

    def stream(begin: int, end: int) -> None:
        before, behind = (raw, batch, table, tree, *scratch_for_streams(tree, end - begin)), (int(aim), hits)
        begin = cast_until_fast(state, request, cast_stream, (*before, begin, end, *behind), begin, end, hits)
        if begin < end:
            request.checked(cast_stream.call(*before, begin, end, *behind))

    return brute_force if shared_filter and limbs <= FEW_LIMBS else stream


def cast_single(state: State, request: RayRequest, loop: Callable[..., int]) -> tuple[SmallBatchResult, int]:
    """The closest limbs of all rays by `cast_single_rays`, as it is or as plain Python; how many rows are undecided."""
    first, tree, (is_segment, distance, mask, ignored, policy) = request.first, state.tree, request.options
    n = len(first)
    limb, memory = np.empty(n, LIMB), np.empty(RECORD_ROWS * n + tree.stack_size + TREE_WIDTH)
    status = loop(
        state.kernel_rows, tree, first, request.second, is_segment, distance, mask, ignored, policy, limb, memory
    )
    return SmallBatchResult(limb, memory, request.options), request.checked(status)


def cast_until_fast(
    state: State,
    request: RayRequest,
    loop: EntryPoint[..., int],
    arguments: tuple[Any, ...],
    begin: int,
    end: int,
    hits: HitColumns,
) -> int:
    """Cast rays one after another, in slices, until the loop has machine code; from where on that has to cast them.

    The loops for many rays are slow in plain Python, and take long to compile; with many rays it is worth waiting for
    the machine code of `cast_single_rays`, whose results are the same.
    """
    if loop.is_plain and end - begin > RAYS_WORTH_WAITING:
        cast_single(state, request.part(begin, begin + 1), cast_single_rays.wait_and_call)
    while begin < end and not loop.is_fast(*arguments):
        last = min(begin + (RAYS_A_SLICE if cast_single_rays.is_plain else RAYS_PER_TASK), end)
        result, _ = cast_single(state, request.part(begin, last), cast_single_rays.ready)
        rays, copies = result.batch.rays, request.batch.rays
        copies.origin[begin:last], copies.second[begin:last] = rays.origin, rays.second
        hits.limb[begin:last], hits.fraction[begin:last], hits.face[begin:last] = (
            result.limb,
            result.fraction,
            result.face,
        )
        hits.inside[begin:last], hits.undecided[begin:last] = result.inside, result.undecided
        begin = last
    return begin
