"""The loops over points in the past and the limbs near them: as `nearest`, with limbs placed at each point's moment.

A limb is placed when the box that holds it until the next tick is near enough, and not kept.
"""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Column, Int32Array, Rows, Vectors
from cylcollide.bvh.near_points import visit_nearest
from cylcollide.bvh.traverse import Stack
from cylcollide.kernels.distance import distance_bounds
from cylcollide.kernels.limb_table import limb_at
from cylcollide.kernels.ray import as_vector, broadcast_index
from cylcollide.query.loops.columns import sort_part
from cylcollide.query.loops.inputs import PointFilters
from cylcollide.query.loops.nearest import Candidate, NearestColumns, first_candidate, nearer, write_nearest
from cylcollide.query.loops.recorded import Protection, may_be_hit, tree_at
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


class OneLimb(NamedTuple):
    """Memory of the limb that is placed."""

    rows: Rows[np.float64]  # (1, ROW)
    kernel_shape: Column[np.int8]  # (1,)


class AtMoment(NamedTuple):
    """Point i of a query, and the tick before and after its moment."""

    past: PastPoints
    i: int
    here: TickRows
    there: TickRows
    placed: OneLimb


@inlined
def at_moment(past: PastPoints, i: int, placed: OneLimb) -> AtMoment:
    """Point i, whose tick is kept."""
    here, there = ticks_around(past.recorded, past.tick[i])
    return AtMoment(past, i, here, there, placed)


@compiled
def is_placed_near(at: AtMoment, row: int) -> bool:
    """Whether the point considers a row of its tick, and it is a limb at this moment: then it is written."""
    past, placed = at.past, at.placed
    return may_be_hit(at.here, row, past.filters, past.protection, False, at.i) and place_one(
        at.here, at.there, row, past.alpha[at.i], placed.rows, placed.kernel_shape, 0
    )


@compiled_loop
def find_nearest_recorded(
    past: PastPoints, stack: Stack, placed: OneLimb, begin: int, end: int, columns: NearestColumns
) -> int:
    """Find the nearest limb, a row of its tick, of points `begin` to `end`; returns how many are undecided.

    `columns` hold misses, `stack` is for the largest tree.
    """
    undecided = 0
    for i in range(begin, end):
        if past.tick[i] >= 0:
            reach = past.reach[broadcast_index(past.reach, i)]
            tree = tree_at(past.recorded, past.tick[i], stack.code.size)
            query, first = at_moment(past, i, placed), first_candidate(reach)
            found = visit_nearest(tree, stack, as_vector(past.points, i), reach, test_placed, query, first)
            undecided += write_nearest(columns, i, found)
    return undecided


@inlined
def test_placed(at: AtMoment, row: int, found: Candidate) -> tuple[Candidate, float]:
    """The nearest limb with this row, and how far another one may be."""
    if is_placed_near(at, row):
        limb = limb_at(at.placed.rows, at.placed.kernel_shape, 0)
        found = nearer(distance_bounds(as_vector(at.past.points, at.i), limb), row, found)
    return found, found[2]


@compiled_loop
def find_within_recorded(
    past: PastPoints, stack: Stack, placed: OneLimb, offsets: Column[np.int64], codes: Column[np.int32]
) -> int:
    """Write the rows that may be within the reach of each point, ascending: twice each, plus 1 if it is not certain.

    As compressed rows, (n + 1,); how many there are, of which those beyond the size of `codes` are not written.
    """
    used = 0
    for i in range(past.tick.size):
        first = used
        if past.tick[i] >= 0:
            reach = past.reach[broadcast_index(past.reach, i)]
            tree = tree_at(past.recorded, past.tick[i], stack.code.size)
            query = at_moment(past, i, placed), reach, codes
            used = visit_nearest(tree, stack, as_vector(past.points, i), reach, write_placed_near, query, used)
            sort_part(codes, first, min(used, codes.size))
        offsets[i + 1] = used
    return used


@inlined
def write_placed_near(query: tuple[AtMoment, float, Int32Array], row: int, used: int) -> tuple[int, float]:
    """Append a row that may be within the reach; returns how many there are now, and the reach."""
    at, reach, codes = query
    if is_placed_near(at, row):
        limb = limb_at(at.placed.rows, at.placed.kernel_shape, 0)
        lower, upper = distance_bounds(as_vector(at.past.points, at.i), limb)
        if lower <= reach:
            if used < codes.size:
                codes[used] = 2 * row + (not upper <= reach)
            used += 1
    return used, reach
