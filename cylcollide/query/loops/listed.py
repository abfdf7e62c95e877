"""The loops over rays and points that have a list of limbs each, in place of a tree."""

from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import NO_LIMB, Column, Int32Array, Int64Array, Vectors
from cylcollide.kernels.limb_table import LimbRows
from cylcollide.kernels.ray import as_vector, ray_at
from cylcollide.query.loops.chords import write_pieces
from cylcollide.query.loops.inputs import RayBatch, filter_of
from cylcollide.query.loops.points import PointColumns, test_point
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
        query = ray_at(batch.rays, i), table, *filter_of(batch, i), codes, inf
        for position in range(lists.offsets[i], lists.offsets[i + 1]):
            used, _ = write_pieces(query, lists.limbs[position], used)
        offsets[j + 1] = used
    return used


@compiled_loop
def locate_listed(points: Vectors, table: LimbRows, lists: Lists, columns: PointColumns) -> int:
    """The limbs of each point's list that contain it; how many points are undecided."""
    count = 0
    for i in range(columns.limb.size):
        query, found = (as_vector(points, i), table), (NO_LIMB, 0, False)
        for position in range(lists.offsets[i], lists.offsets[i + 1]):
            found = test_point(query, lists.limbs[position], found)
        columns.limb[i], columns.limb_count[i], columns.undecided[i] = found
        count += found[2]
    return count
