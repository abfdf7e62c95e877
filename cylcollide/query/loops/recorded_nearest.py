"""The loops over points in the past and the limbs near them: as `nearest`, with limbs placed at each point's time.

A limb is placed if the box that holds it until the next tick is near enough; it is not kept.
"""

from typing import NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import Column, Float64Array, Int32Array, Vectors
from cylcollide.bvh.near_points import visit_nearest
from cylcollide.bvh.traverse import Stack
from cylcollide.kernels.distance import distance_bounds
from cylcollide.kernels.limb_table import ROW, LimbRows, limb_at
from cylcollide.kernels.ray import as_vector, broadcast_index
from cylcollide.query.loops.columns import sort_part
from cylcollide.query.loops.inputs import PointFilters
from cylcollide.query.loops.recorded_candidates import Protection, may_be_hit, tree_at
from cylcollide.recorded.limbs import Recorded, TickRows, place_one, ticks_around
from cylcollide.runtime.compile import compiled, compiled_loop, inlined


class PastPoints(NamedTuple):
    """n points in the past, and the limbs that they consider."""

    points: Vectors
    reach: Column[np.float64]  # (n,), or (1,) for all
    filters: PointFilters
    recorded: Recorded
    tick: Column[np.int32]  # (n,): the place of each point's tick, -1 for one that is near nothing
    alpha: Column[np.float64]  # (n,)
    protection: Protection


def one_row() -> LimbRows:
    """Memory for the limb that is placed."""
    return LimbRows(np.zeros(1, np.int8), np.zeros(1, np.int32), np.zeros(1, np.uint32), np.zeros((1, ROW)), 0)


AtMoment: TypeAlias = tuple[PastPoints, int, TickRows, TickRows, LimbRows]
"""A point of a query, the ticks before and after its time, and memory for one limb."""


@inlined
def at_moment(past: PastPoints, i: int, placed: LimbRows) -> AtMoment:
    """Point i, whose tick is kept."""
    here, there = ticks_around(past.recorded, past.tick[i])
    return past, i, here, there, placed


@compiled
def is_placed_near(at: AtMoment, row: int) -> bool:
    """Write a row of the point's tick as a limb, if the point considers it; returns whether it is a limb then."""
    past, i, here, there, placed = at
    return may_be_hit(here, row, past.filters, past.protection, False, i) and place_one(
        here, there, row, past.alpha[i], placed.rows, placed.kernel_shape, 0
    )


@compiled_loop
def find_near_recorded(
    past: PastPoints,
    shrinks: bool,
    stack: Stack,
    placed: LimbRows,
    lower: Column[np.float64],
    begin: int,
    end: int,
    offsets: Column[np.int64],
    codes: Column[np.int32],
) -> int:
    """Write codes of the rows that may be within the reach of points `begin` to `end`: twice the row, plus 1 if open.

    Writes compressed rows, ascending, and returns their number; those beyond the size of `codes` are not written. If
    `shrinks`, the reach is reduced to the least upper bound of a distance: the rows left may be the nearest limb.
    `lower` is a buffer as large as `codes`.
    """
    used = 0
    for i in range(begin, end):
        first = used
        if past.tick[i] >= 0:
            reach = past.reach[broadcast_index(past.reach, i)]
            tree = tree_at(past.recorded, past.tick[i], stack.code.size)
            query, found = (at_moment(past, i, placed), shrinks, first, lower, codes), (used, reach)
            used, _ = visit_nearest(tree, stack, as_vector(past.points, i), reach, write_placed_near, query, found)
            sort_part(codes, first, min(used, codes.size))
        offsets[i - begin + 1] = used
    return used


@inlined
def write_placed_near(
    query: tuple[AtMoment, bool, int, Float64Array, Int32Array], row: int, found: tuple[int, float]
) -> tuple[tuple[int, float], float]:
    """Append a row that may be within the reach; returns how many there are now, and the reach."""
    (at, shrinks, first, lowers, codes), (used, reach) = query, found
    if is_placed_near(at, row):
        lower, upper = distance_bounds(as_vector(at[0].points, at[1]), limb_at(at[4].rows, at[4].kernel_shape, 0))
        if lower <= reach:
            if used < codes.size:
                codes[used], lowers[used] = 2 * row + (not upper <= reach), lower
            used += 1
            if shrinks and upper < reach and used <= codes.size:
                reach, end, used = upper, used, first
                for k in range(first, end):
                    if lowers[k] <= reach:
                        codes[used], lowers[used] = codes[k], lowers[k]
                        used += 1
    return (used, reach), reach
