"""The loops over rays and points that have a list of limbs each, in place of a tree."""

from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import HIT, NO_LIMB, POLICY_HIT, UNDECIDED, Column, Int32Array, Int64Array, Vectors
from cylcollide.kernels.dispatch import pieces, ray_limb
from cylcollide.kernels.inside_policy import ray_hit_bounds
from cylcollide.kernels.limb_table import LimbRows, is_considered, limb_at
from cylcollide.kernels.point import point_limb
from cylcollide.kernels.ray import as_vector, broadcast_index, ray_at
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.points import PointColumns
from cylcollide.runtime.compile import compiled_loop


class Lists(NamedTuple):
    """For each of n rays or points, the limbs that it may hit, ascending."""

    offsets: Column[np.int64]  # (n + 1,)
    limbs: Column[np.int32]


def pieces_of_lists(batch: RayBatch, table: LimbRows, lists: Lists, rows: Int64Array) -> tuple[Int64Array, Int32Array]:
    """Every piece of a limb on the lists of these rays that the ray does not certainly miss, in compressed rows.

    As `chords.pieces_of_rays` returns them.
    """
    most = 2 * int((lists.offsets[rows + 1] - lists.offsets[rows]).sum())
    offsets, codes = np.zeros(len(rows) + 1, np.int64), np.empty(most, np.int32)
    used = find_listed_pieces(batch, table, lists, rows, offsets, codes)
    return offsets, codes[:used]


@compiled_loop
def find_listed_pieces(
    batch: RayBatch,
    table: LimbRows,
    lists: Lists,
    rows: Column[np.int64],
    offsets: Column[np.int64],
    codes: Column[np.int32],
) -> int:
    """Write `pieces_of_lists`; how many there are."""
    used = 0
    for j in range(rows.size):
        i = rows[j]
        ray = ray_at(batch.rays, i)
        mask, ignored = batch.mask[broadcast_index(batch.mask, i)], batch.ignored[broadcast_index(batch.ignored, i)]
        for position in range(lists.offsets[i], lists.offsets[i + 1]):
            k = lists.limbs[position]
            if is_considered(table.character[k], table.mask[k], mask, ignored):
                limb = limb_at(table.rows, table.solid, k)
                for piece in range(pieces(limb.kind)):
                    if ray.extent == inf or ray_hit_bounds(ray, ray_limb(ray, limb, piece), POLICY_HIT).possible:
                        codes[used] = 2 * k + piece
                        used += 1
        offsets[j + 1] = used
    return used


@compiled_loop
def locate_listed(points: Vectors, table: LimbRows, lists: Lists, columns: PointColumns) -> int:
    """The limbs of each point's list that contain it; how many points are undecided."""
    count = 0
    for i in range(columns.limb.size):
        point, lowest, containing, is_open = as_vector(points, i), NO_LIMB, 0, False
        for position in range(lists.offsets[i], lists.offsets[i + 1]):
            k = lists.limbs[position]
            status = point_limb(point, limb_at(table.rows, table.solid, k))
            is_open |= status == UNDECIDED
            if status == HIT:
                lowest = k if containing == 0 else min(lowest, k)
                containing += 1
        columns.limb[i], columns.limb_count[i], columns.undecided[i] = lowest, containing, is_open
        count += is_open
    return count
