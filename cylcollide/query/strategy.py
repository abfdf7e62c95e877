"""Which loop answers a request: single rays, brute force against few limbs, or streams through the tree."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from cylcollide._types import Aim, Float64Array, Int32Array
from cylcollide.constants import FEW_LIMBS, SMALLEST_BATCH, SMALLEST_STREAM, TREE_WIDTH
from cylcollide.kernels.ray import Rays
from cylcollide.query.loops.brute_force import cast_brute_force
from cylcollide.query.loops.columns import HitColumns
from cylcollide.query.loops.inputs import INVALID, RayBatch, RayOptions
from cylcollide.query.loops.single import (
    FACE_ROW,
    FRACTION_ROW,
    INSIDE_ROW,
    RECORD_ROWS,
    UNDECIDED_ROW,
    cast_single_rays,
)
from cylcollide.query.loops.stream import cast_stream
from cylcollide.query.request import RayRequest, State
from cylcollide.query.scratch import scratch_for_brute_force, scratch_for_streams


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
        lists = scratch_for_brute_force(limbs)
        request.checked(cast_brute_force(raw, batch, table, lists, begin, end, int(aim), hits))

    def stream(begin: int, end: int) -> None:
        scratch = scratch_for_streams(tree, end - begin)
        request.checked(cast_stream(raw, batch, table, tree, *scratch, begin, end, int(aim), hits))

    return brute_force if shared_filter and limbs <= FEW_LIMBS else stream


def cast_single(state: State, request: RayRequest) -> tuple[Callable[[str], Any], int]:
    """The closest limbs of all rays by `cast_single_rays`, as `RayHits` reads them; how many rows are undecided."""
    first, options, tree, (rows, packed_tree) = request.first, request.options, state.tree, state.packed
    is_segment, distance, mask, ignored, policy = options
    n = len(first)
    limb, record = np.empty(n, LIMB), np.empty(RECORD_ROWS * n + tree.stack_size + TREE_WIDTH)
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
        rays = Rays(record[: 3 * n].reshape(n, 3), record[3 * n : 6 * n].reshape(n, 3), is_segment, distance)
        return RayBatch(rays, mask, ignored, policy)
    row, kind = RECORD_COLUMNS[name]
    return np.ndarray(n, kind, record, row * n * record.itemsize)  # one step, not three views
