"""The loops over points and the limbs near them: the limb of least signed distance, and every limb within a radius.

Points look for the nearest limb one by one, nearest boxes first. Those that look for all limbs within a radius go
through the tree together, their limbs tested sixteen pairs at a time, as in `points`.
"""

from math import inf
from typing import NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import NO_LIMB, Column, Float64Array, Int32Array, Rows, Shape, Vectors
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.near_points import visit_near_points, visit_nearest
from cylcollide.bvh.ray_node_pairs import Pairs
from cylcollide.bvh.traverse import Stack
from cylcollide.constants import BLOCK_RAYS
from cylcollide.kernels.distance import distance_bounds
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.limb_table import Limb, LimbRows, is_considered, limb_at
from cylcollide.kernels.ray import as_vector, broadcast_index
from cylcollide.query.loops.inputs import PointFilters, filter_of
from cylcollide.query.loops.packets import (
    PAIR_BATCH,
    SHAPES,
    PairQueue,
    enqueue_pair,
    limbs_at,
    prefetch_limb,
    vectors_at,
)
from cylcollide.query.loops.points import all_points_accept
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.simd import LANES, store

CYLINDER = int(Shape.CYLINDER)


class NearestColumns(NamedTuple):
    """The nearest limb of each of n points, as far as float64 decides it."""

    limb: Column[np.int32]  # NO_LIMB if none is within the limit
    upper: Column[np.float64]  # an upper bound of its distance; of none, the limit
    undecided: Column[np.bool_]  # another limb may be nearer, or just within the limit


def missed_nearest(n: int) -> NearestColumns:
    """Columns of n points that are near no limb."""
    return NearestColumns(np.full(n, NO_LIMB, np.int32), np.full(n, inf), np.zeros(n, np.bool_))


Candidate: TypeAlias = tuple[int, float, float, float]
"""The limb with the least upper bound of its distance so far, both bounds, and the least lower bound of all others."""


@inlined
def nearer(limb: Limb, k: int, point: Vector, found: Candidate) -> Candidate:
    """The nearer of limb k and the one that was found."""
    best, lower, upper, other = found
    low, high = distance_bounds(point, limb)
    if high < upper:
        return k, low, high, min(other, lower)
    return best, lower, upper, min(other, low)


@inlined
def first_candidate(limit: float) -> Candidate:
    """No limb: one at the limit or beyond it is not better."""
    return NO_LIMB, inf, limit, inf


@inlined
def write_nearest(columns: NearestColumns, i: int, found: Candidate) -> int:
    """Write the nearest limb of point i; 1 if it is undecided, else 0."""
    columns.limb[i], _, columns.upper[i], other = found
    columns.undecided[i] = other <= columns.upper[i]
    return int(columns.undecided[i])


@compiled_loop
def find_nearest(
    table: LimbRows,
    tree: Tree,
    points: Vectors,
    limits: Column[np.float64],
    filters: PointFilters,
    stack: Stack,
    begin: int,
    end: int,
    columns: NearestColumns,
) -> int:
    """Find the nearest limbs of points `begin` to `end` within their limits; returns how many rows are undecided."""
    accepts_all, undecided = all_points_accept(table, filters), 0
    for i in range(begin, end):
        point, limit = as_vector(points, i), limits[broadcast_index(limits, i)]
        mask, ignored = filter_of(filters, i)
        query = point, table, accepts_all, mask, ignored
        found = visit_nearest(tree, stack, point, limit, test_nearest, query, first_candidate(limit))
        undecided += write_nearest(columns, i, found)
    return undecided


@inlined
def test_nearest(query: tuple[Vector, LimbRows, bool, int, int], k: int, found: Candidate) -> tuple[Candidate, float]:
    """The nearest limb with limb k, and how far another one may be."""
    point, table, accepts_all, mask, ignored = query
    if accepts_all or is_considered(table.character[k], table.mask[k], mask, ignored):
        found = nearer(limb_at(table.rows, table.kernel_shape, k), k, point, found)
    return found, found[2]


class NearPairs(NamedTuple):
    """Points and the limbs that may be within their radii."""

    pair: Rows[np.int32]  # (pairs, 2): the point, and twice the limb, plus 1 if it is undecided
    used: Column[np.int64]  # (1,): how many there are, possibly more than `pair` holds


@compiled_loop
def find_within(
    table: LimbRows,
    tree: Tree,
    points: Vectors,
    radii: Column[np.float64],
    filters: PointFilters,
    place: Rows[np.float32],
    pairs: Pairs,
    queue: PairQueue,
    begin: int,
    end: int,
    found: NearPairs,
) -> None:
    """Write each point from `begin` to `end` with each limb that may be within its radius, in any order."""
    queue.queued[:] = 0  # an earlier call may have ended by an error
    queue.row[:] = begin  # lanes without a pair read some point and limb of this query
    queue.limb[:] = 0
    accepts_all = all_points_accept(table, filters)
    query = table, points, radii, filters, accepts_all, queue, found
    for first in range(begin, end, BLOCK_RAYS):
        last = min(first + BLOCK_RAYS, end)
        visit_near_points(tree, points, radii, first, last, place, pairs, test_or_enqueue, query, 0)
    for shape in range(SHAPES):
        if queue.queued[shape] > 0:
            test_near_pairs(shape, points, radii, table.rows, queue, found)


@inlined
def test_or_enqueue(
    query: tuple[LimbRows, Float64Array, Float64Array, PointFilters, bool, PairQueue, NearPairs],
    limb: int,
    i: int,
    nothing: int,
) -> int:
    """Queue a pair of point i and a limb that it considers, and test a queue that is full."""
    table, points, radii, filters, accepts_all, queue, found = query
    if accepts_all or is_considered(table.character[limb], table.mask[limb], *filter_of(filters, i)):
        prefetch_limb(table.rows, limb)
        shape = table.kernel_shape[limb]
        if enqueue_pair(queue, shape, i, limb) == PAIR_BATCH:
            test_near_pairs(shape, points, radii, table.rows, queue, found)
    return nothing


@compiled
def test_near_pairs(
    shape: int, points: Float64Array, radii: Float64Array, rows: Float64Array, queue: PairQueue, found: NearPairs
) -> None:
    """Test the queued pairs of one shape, and empty its queue."""
    point, limb, first = queue.row.reshape(-1), queue.limb.reshape(-1), int(shape) * PAIR_BATCH
    if shape == CYLINDER:  # a constant: the test becomes straight-line code
        write_bounds(CYLINDER, points, rows, point, limb, first, queue.found)
    else:
        write_bounds(shape, points, rows, point, limb, first, queue.found)
    for k in range(queue.queued[shape]):
        i = point[first + k]
        radius = radii[broadcast_index(radii, i)]
        if queue.found[k] <= radius:
            record_near(found, i, limb[first + k], queue.found[PAIR_BATCH + k] <= radius)
    queue.queued[shape] = 0


@inlined
def write_bounds(
    shape: int, points: Float64Array, rows: Float64Array, point: Int32Array, limb: Int32Array, first: int,
    bounds: Float64Array,
) -> None:  # fmt: skip
    """Write bounds of the distances of sixteen pairs: the lower ones, then the upper ones."""
    for k in range(0, PAIR_BATCH, LANES):
        lower, upper = distance_bounds(vectors_at(points, point, first + k), limbs_at(rows, shape, limb, first + k))
        store(bounds, k, lower)
        store(bounds, PAIR_BATCH + k, upper)


@inlined
def record_near(found: NearPairs, i: int, limb: int, is_certain: bool) -> None:
    """Append a pair, if there is room."""
    used = found.used[0]
    if used < len(found.pair):
        found.pair[used, 0], found.pair[used, 1] = i, 2 * limb + (not is_certain)
    found.used[0] = used + 1
