"""Queries on recorded states: closest limbs by streams, chords and points by a list of limbs for each."""

from functools import partial

import numpy as np

from cylcollide._types import Float64Array, Int32Array
from cylcollide.bvh.layout import Tree
from cylcollide.query.chords import chord_rows
from cylcollide.query.exact_points import axis_distances, resolve_points
from cylcollide.query.loops.columns import ChordRows, HitColumns, missed_hits
from cylcollide.query.loops.listed import Lists, locate_listed, pieces_of_lists
from cylcollide.query.loops.points import POINT_DTYPES, PointColumns
from cylcollide.query.loops.recorded import Protection
from cylcollide.query.loops.recorded_sort import sorted_by_tick
from cylcollide.query.loops.recorded_stream import cast_recorded
from cylcollide.query.point_hits import PointHits
from cylcollide.query.request import LabelledLimbs, RayRequest
from cylcollide.query.scratch import scratch_for_recorded, scratch_for_streams
from cylcollide.recorded.limbs import Recorded
from cylcollide.runtime import memory
from cylcollide.runtime.threads import in_chunks


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
        state, stream, _, refine = scratch_for_streams(deepest, 0)
        buffers = (state, stream, refine, scratch_for_recorded())
        cast_recorded(batch, recorded, order, protection, *buffers, begin, end, hits)

    in_chunks(n, request.threads, task)
    return hits


def chords_listed(limbs: LabelledLimbs, request: RayRequest, lists: Lists) -> ChordRows:
    """Every limb of each ray's list that it crosses; the rays of the request must have been copied."""
    return chord_rows(
        limbs, request, request.threads,
        lambda begin, end: pieces_of_lists(request.batch, limbs.kernel_rows, lists, np.arange(begin, end)),
    )  # fmt: skip


def contains_listed(limbs: LabelledLimbs, points: Float64Array, lists: Lists) -> PointHits:
    """The limbs of each point's list that contain it."""
    columns = PointColumns(*memory.columns(len(points), *POINT_DTYPES))
    table = limbs.table
    if locate_listed(points, limbs.kernel_rows, lists, columns):
        near, ends = lists.limbs.tolist(), lists.offsets.tolist()
        resolve_points(points, table, lambda row: near[ends[row] : ends[row + 1]], columns)
    row, limb = limbs.state_row, columns.limb
    shown = limb if row is None or not len(row) else np.where(limb >= 0, row[limb], -1).astype(np.int32)
    return PointHits(shown, columns.limb_count, partial(axis_distances, points, table, limbs.kernel_rows, limb))
