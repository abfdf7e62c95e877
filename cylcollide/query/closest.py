"""The closest limb along each ray, or whether there is any: loops over chunks of rows, then the exact fallback."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from cylcollide._types import Aim, BoolArray, Float64Array, Int32Array
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.traverse import STACK_NUMBERS, make_stack
from cylcollide.constants import FEW_LIMBS, SMALLEST_BATCH, SMALLEST_STREAM
from cylcollide.kernels.ray import Rays
from cylcollide.query import exact_fallback
from cylcollide.query.hits import RayHits, named_columns
from cylcollide.query.loops.brute_force import cast_brute_force
from cylcollide.query.loops.columns import HitColumns, empty_hits, missed_hits
from cylcollide.query.loops.inputs import INVALID, RayBatch, RayOptions
from cylcollide.query.loops.ray_sort import sorted_by_tick
from cylcollide.query.loops.recorded import Protection
from cylcollide.query.loops.recorded_stream import cast_recorded
from cylcollide.query.loops.single import (
    FACE_ROW,
    FRACTION_ROW,
    INSIDE_ROW,
    RECORD_ROWS,
    UNDECIDED_ROW,
    cast_single_rays,
    cast_thick_rays,
)
from cylcollide.query.loops.stream import cast_stream
from cylcollide.query.request import RayRequest, State
from cylcollide.query.scratch import packed_for_streams, scratch_for_recorded, scratch_for_streams
from cylcollide.query.thick import grown_tree
from cylcollide.recorded.limbs import Recorded
from cylcollide.runtime.simd import LANES
from cylcollide.runtime.threads import in_chunks
from cylcollide.validate import NO_RADIUS

MANY_LIMBS = 4096
"""With so many limbs a stream is faster from 40 rays on; with 1,700 from 70, with 300 from 100."""


def closest(state: State, request: RayRequest) -> RayHits:
    """The closest limb along each ray."""
    n = len(request.first)
    if len(request.radius):
        return closest_of_thick(state, request)
    if use_single_rays(state, n):
        read, undecided = cast_single(state, request)
    else:
        hits = empty_hits(n)
        in_chunks(n, request.threads, loop_for(state, request, Aim.CLOSEST, hits))
        read, undecided = named_columns(request.batch, hits), int(np.count_nonzero(hits.undecided))
    near = partial(exact_fallback.limbs_near_rays, read("batch"), state._table, state._tree) if undecided else None
    return RayHits(read, state, request.inside, near)


def closest_of_thick(state: State, request: RayRequest) -> RayHits:
    """The closest limb along each thick ray."""
    n, tree = len(request.first), grown_tree(state._tree, request.radius.max())
    hits, batch = empty_hits(n), request.batch

    def task(begin: int, end: int) -> None:
        scratch = scratch_for_streams(tree, end - begin), begin, end, int(Aim.CLOSEST), hits
        request.checked(cast_stream(request.raw, batch, state._kernel_rows, tree, *scratch))

    if n < SMALLEST_STREAM:
        request.copy_checked(0, n)
        cast_thick_rays(batch, state._kernel_rows, tree, make_stack(tree), hits)
    else:
        in_chunks(n, request.threads, task)
    is_open = bool(np.count_nonzero(hits.undecided))
    near = partial(exact_fallback.limbs_near_rays, batch, state._table, tree) if is_open else None
    return RayHits(named_columns(batch, hits), state, request.inside, near)


def occluded(state: State, request: RayRequest) -> BoolArray:
    """Whether each ray hits any limb; bool (n,)."""
    n = len(request.first)
    if use_single_rays(state, n) or len(request.radius):
        return closest(state, request).limb >= 0  # the closest costs no more than any
    hits = empty_hits(n)
    in_chunks(n, request.threads, loop_for(state, request, Aim.ANY, hits))
    blocked, rows = hits.limb >= 0, np.flatnonzero(hits.undecided)
    if len(rows):
        exact_fallback.resolve_any(request.batch, state._table, state._tree, request.inside, rows, blocked)
    return blocked


def use_single_rays(state: State, rays: int) -> bool:
    """Whether so many rays are too few for a stream, or for brute force."""
    limbs = state._tree.items
    if limbs <= FEW_LIMBS:
        return rays < SMALLEST_BATCH
    return rays < (SMALLEST_STREAM if limbs < MANY_LIMBS else max(LANES, SMALLEST_STREAM * 2 // 5))


def loop_for(state: State, request: RayRequest, aim: Aim, hits: HitColumns) -> Callable[[int, int], None]:
    """The loop over many rays for this request: called with a range of rows, it fills those of `hits`.

    Few limbs are tested by brute force, others through the tree by streams. Both agree bit by bit with each other and
    with single rays; how many rows are undecided may differ.
    """
    raw, batch, tree = request.raw, request.batch, state._tree
    is_small = batch.mask.size == batch.ignored.size == 1 and tree.items <= FEW_LIMBS
    table, packed_tree = state._packed if is_small else state._packed_firsts

    def loop(begin: int, end: int) -> None:
        scratch = packed_for_streams(tree, end - begin), begin, end, int(aim), hits
        if is_small:
            request.checked(cast_brute_force(raw, batch, table, *scratch))
        else:
            request.checked(cast_stream(raw, batch, table, packed_tree, *scratch))

    return loop


def cast_single(state: State, request: RayRequest) -> tuple[Callable[[str], Any], int]:
    """The closest limbs of all rays by `cast_single_rays`, as `RayHits` reads them, and how many rows are undecided."""
    first, options, tree, (rows, packed_tree) = request.first, request.options, state._tree, state._packed
    is_segment, distance, mask, ignored, policy = options
    n = len(first)
    limb, record = np.empty(n, LIMB), np.empty(RECORD_ROWS * n + STACK_NUMBERS * tree.stack_size)
    status = cast_single_rays(
        rows, packed_tree, first, request.second, is_segment, distance, mask, ignored, policy, limb, record
    )
    if status == INVALID:
        request.raise_invalid()
    return partial(read_record, limb, record, options), status


LIMB = np.dtype(np.int32)
RECORD_COLUMNS: dict[str, tuple[int, np.dtype[Any]]] = {
    "fraction": (FRACTION_ROW, np.dtype(np.float64)),
    "face": (FACE_ROW, np.dtype(np.int8)),
    "inside": (INSIDE_ROW, np.dtype(np.bool_)),
    "undecided": (UNDECIDED_ROW, np.dtype(np.bool_)),
}
"""Where the record of `cast_single_rays` has columns of hits, and their dtypes."""


def read_record(limb: Int32Array, record: Float64Array, options: RayOptions, name: str) -> Any:
    """One of `HitColumns`, or "batch", out of what `cast_single_rays` has written; made when it is read."""
    n = len(limb)
    if name == "limb":
        return limb
    if name == "batch":
        is_segment, distance, mask, ignored, policy = options
        rays = Rays(record[: 3 * n].reshape(n, 3), record[3 * n : 6 * n].reshape(n, 3), is_segment, distance, NO_RADIUS)
        return RayBatch(rays, mask, ignored, policy)
    row, kind = RECORD_COLUMNS[name]
    return np.ndarray(n, kind, record, row * n * record.itemsize)  # one step, not three views


def closest_recorded(
    request: RayRequest,
    recorded: Recorded,
    deepest: Tree,
    place: Int32Array,
    alpha: Float64Array,
    protection: Protection,
) -> HitColumns:
    """The closest limb of each ray, a row of its tick, as far as float64 decides it; the rays are copied and checked.

    Parameters
    ----------
    recorded, deepest
        The ticks, and the deepest of their trees.
    place, alpha
        Of each ray: the place of its tick, -1 for one that hits nothing, and how far it is to the next one; (n,).
    protection
        Who is not hit.
    """
    n, batch = len(place), request.batch
    order, is_valid = sorted_by_tick(request.raw, batch.rays, place, alpha, len(recorded.address))
    if not is_valid:
        request.raise_invalid()
    hits = missed_hits(n)

    def task(begin: int, end: int) -> None:
        scratch = scratch_for_streams(deepest, 0), scratch_for_recorded()
        cast_recorded(batch, recorded, order, protection, *scratch, begin, end, hits)

    in_chunks(n, request.threads, task)
    return hits
