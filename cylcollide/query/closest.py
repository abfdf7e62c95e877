"""The closest limb along each ray, or whether there is any: loops over chunks of rows, then the exact fallback."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from cylcollide._types import Aim, BoolArray, Float64Array
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.traverse import STACK_ENTRY_SIZE
from cylcollide.constants import FEW_LIMBS, SMALLEST_STREAM
from cylcollide.process.threads import in_chunks
from cylcollide.query import exact_fallback
from cylcollide.query.hits import RayHits
from cylcollide.query.loops.brute_force import cast_brute_force
from cylcollide.query.loops.chords import pieces_of_rays
from cylcollide.query.loops.columns import IN_RECORD, Record, hits_in
from cylcollide.query.loops.inputs import RayOptions, batch_in
from cylcollide.query.loops.single import cast_single_rays
from cylcollide.query.loops.stream import cast_stream
from cylcollide.query.request import RayRequest, State
from cylcollide.query.scratch import packed_for_streams
from cylcollide.runtime.simd import LANES

MANY_LIMBS = 4096
"""From so many limbs on, a stream of lines is faster than single rays from 12 rays on."""


def closest(state: State, request: RayRequest) -> RayHits:
    """The closest limb along each ray."""
    record, undecided = cast_all(state, request, Aim.CLOSEST)
    read, resolved = partial(read_column, record, len(request.first), request.options, request.radius), None
    if undecided:
        candidates = partial(pieces_of_rays, read("batch"), state._kernel_rows, state._tree)
        resolved = exact_fallback.resolve_hits(read, state._table, request.inside, candidates)
    return RayHits(read, state, request.inside, resolved)


def occluded(state: State, request: RayRequest) -> BoolArray:
    """Whether each ray hits any limb; bool (n,)."""
    n = len(request.first)
    if len(request.radius) or use_single_rays(state, n, False):
        return closest(state, request).limb >= 0  # finding the closest costs no more than finding any
    record, undecided = cast_all(state, request, Aim.ANY)
    hits = hits_in(record[0], n)
    blocked = hits.limb >= 0
    if undecided:
        exact_fallback.resolve_any(request.batch, state._table, state._tree, request.inside, hits, blocked)
    return blocked


def cast_all(state: State, request: RayRequest, aim: Aim) -> tuple[Record, int]:
    """The record that the fastest loop fills, and how many rows are undecided.

    All loops agree bit by bit; how many rows are undecided may differ.
    """
    tree, (rows, packed), radius = state._tree, state._packed, request.radius
    if use_single_rays(state, len(request.first), radius.size > 0):
        record = request.new_record(STACK_ENTRY_SIZE * tree.stack_size)
        status = cast_single_rays(rows, packed, request.first, request.second, request.options, radius, record[0])
        return record, request.checked(status)
    if radius.size:
        return cast_in_chunks(request, partial(cast_stream, rows, packed), tree, aim)
    if tree.items <= FEW_LIMBS and request.has_one_filter:
        return cast_in_chunks(request, partial(cast_brute_force, rows), tree, aim)
    return cast_in_chunks(request, partial(cast_stream, *state._packed_firsts), tree, aim)


def cast_in_chunks(request: RayRequest, loop: Callable[..., int], tree: Tree, aim: Aim) -> tuple[Record, int]:
    """As `cast_all`, by a loop for many rays; each thread has its own buffers."""
    record = request.new_record()
    rays = request.first, request.second, request.options, request.radius, *record

    def task(begin: int, end: int) -> int:
        return request.checked(loop(packed_for_streams(tree, end - begin), *rays, begin, end, int(aim)))

    return record, sum(in_chunks(len(request.first), request.threads, task))


def use_single_rays(state: State, rays: int, thick: bool) -> bool:
    """Whether this number of rays is too small for a stream or for brute force."""
    are_many_limbs = state._tree.items >= MANY_LIMBS and not thick
    return rays < (max(LANES, SMALLEST_STREAM * 3 // 8) if are_many_limbs else SMALLEST_STREAM)


def read_column(record: Record, n: int, options: RayOptions, radius: Float64Array, name: str) -> Any:
    """One of `HitColumns`, or "batch", from the record of n rays; made when it is read."""
    if name == "batch":
        return batch_in(record[1], n, options, radius)
    begin, kind = IN_RECORD[name]
    return np.ndarray(n, kind, record[0], begin * n)  # one step, where `hits_in` takes ten
