"""Queries with a list of limbs for each ray or point, in place of a tree."""

from functools import partial

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.query.chords import chord_rows
from cylcollide.query.exact_points import axis_distances, resolve_points
from cylcollide.query.loops.columns import ChordRows
from cylcollide.query.loops.listed import Lists, locate_listed, pieces_of_lists
from cylcollide.query.loops.points import POINT_DTYPES, PointColumns
from cylcollide.query.point_hits import PointHits
from cylcollide.query.request import LabelledLimbs, RayRequest
from cylcollide.runtime import memory


def chords_listed(limbs: LabelledLimbs, request: RayRequest, lists: Lists, threads: int | None) -> ChordRows:
    """Every limb of each ray's list that it crosses; the rays of the request must have been copied."""
    return chord_rows(
        limbs, request, threads,
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
