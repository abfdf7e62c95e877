"""The loop over points and the limb nearest to each, by signed distance.

Points traverse the tree together; pairs of a point and a limb are tested sixteen at a time, as in `points`. Each point
first tests the limb at the end of a descent through the nearest boxes; boxes farther away than this limb are skipped.
"""

from math import inf
from typing import NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import NO_LIMB, Column, Float64Array, Int32Array, Rows, Shape, Vectors
from cylcollide.bvh.layout import EMPTY, Tree
from cylcollide.bvh.near_points import (
    descend_to_nearest,
    place_in_tree,
    visit_near_places,
    visit_nearest,
    write_near_places,
)
from cylcollide.bvh.ray_node_pairs import Pairs
from cylcollide.bvh.traverse import Stack
from cylcollide.constants import BLOCK_RAYS
from cylcollide.kernels.distance import distance_bounds
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.limb_table import LimbRows, is_considered
from cylcollide.kernels.ray import as_vector, broadcast_index
from cylcollide.query.loops.inputs import PointFilters, filter_of
from cylcollide.query.loops.packets import (
    PAIR_BATCH,
    SHAPES,
    PairQueue,
    empty_queue,
    enqueue_pair,
    limbs_at,
    one_limb,
    prefetch_limb,
    vectors_at,
)
from cylcollide.query.loops.points import all_points_accept
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.simd import LANES, broadcast, lane, store

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
def nearer(bounds: tuple[float, float], k: int, found: Candidate) -> Candidate:
    """The nearer of limb k, given bounds of its distance, and the candidate found so far."""
    (low, high), (best, lower, upper, other) = bounds, found
    if high < upper:
        return k, low, high, min(other, lower)
    return best, lower, upper, min(other, low)


class NearState(NamedTuple):
    """The state of the search for the nearest limb of each point of a block; the rest is in `NearestColumns`."""

    code: Column[np.int32]  # of the item at the end of the descent; EMPTY: the search is complete
    lower: Column[np.float64]  # as in `Candidate`
    other: Column[np.float64]


def make_near_state() -> NearState:
    """Memory for a block of points."""
    return NearState(np.empty(BLOCK_RAYS, np.int32), np.empty(BLOCK_RAYS), np.empty(BLOCK_RAYS))


class NearestQuery(NamedTuple):
    """The data for tests of pairs of a point and a limb."""

    table: LimbRows
    tree: Tree
    points: Vectors
    filters: PointFilters
    accepts_all: bool
    place: Rows[np.float32]
    queue: PairQueue
    state: NearState
    first: int  # first point of the block
    columns: NearestColumns


@compiled_loop
def find_nearest(
    table: LimbRows,
    tree: Tree,
    points: Vectors,
    limits: Column[np.float64],
    filters: PointFilters,
    stack: Stack,
    place: Rows[np.float32],
    pairs: Pairs,
    queue: PairQueue,
    state: NearState,
    begin: int,
    end: int,
    columns: NearestColumns,
) -> int:
    """Find the nearest limbs of points `begin` to `end` within their limits; returns how many rows are undecided."""
    empty_queue(queue, begin)
    accepts_all, undecided = all_points_accept(table, filters), 0
    for first in range(begin, end, BLOCK_RAYS):
        last = min(first + BLOCK_RAYS, end)
        query = NearestQuery(table, tree, points, filters, accepts_all, place, queue, state, first, columns)
        for i in range(first, last):
            columns.limb[i], columns.upper[i] = NO_LIMB, limits[broadcast_index(limits, i)]
            state.lower[i - first], state.other[i - first] = inf, inf
        write_near_places(tree, points, columns.upper, first, last, place)
        descend_to_nearest(tree, last - first, place, state.code)
        for i in range(first, last):
            begin_with_nearest_box(query, stack, i)
        test_queued(query)
        write_near_places(tree, points, columns.upper, first, last, place)
        for k in range(last - first):
            if state.code[k] == EMPTY:
                place[3, k] = -1.0
        visit_near_places(tree, first, last, place, pairs, enqueue_nearest, query, 0)
        test_queued(query)
        for i in range(first, last):
            columns.undecided[i] = state.other[i - first] <= columns.upper[i]
            undecided += columns.undecided[i]
    return undecided


@inlined
def begin_with_nearest_box(query: NearestQuery, stack: Stack, i: int) -> None:
    """Queue point i with the limb at the end of its descent; if it does not consider that one, complete its search."""
    table, limb = query.table, -2 - query.state.code[i - query.first]
    if limb >= 0 and (query.accepts_all or is_considered_at(table, query.filters, limb, i)):
        enqueue_nearest(query, limb, i, 0)
        return
    query.state.code[i - query.first] = EMPTY
    mask, ignored = filter_of(query.filters, i)
    point, limit = as_vector(query.points, i), query.columns.upper[i]
    one = point, table, query.accepts_all, mask, ignored
    found = visit_nearest(query.tree, stack, point, limit, test_nearest, one, (NO_LIMB, inf, limit, inf))
    write_candidate(query, i, found)


@inlined
def is_considered_at(table: LimbRows, filters: PointFilters, limb: int, i: int) -> bool:
    """Whether point i considers a limb."""
    return is_considered(table.character[limb], table.mask[limb], *filter_of(filters, i))


@inlined
def candidate_of(query: NearestQuery, i: int) -> Candidate:
    """The candidate of point i."""
    k, columns = i - query.first, query.columns
    return columns.limb[i], query.state.lower[k], columns.upper[i], query.state.other[k]


@inlined
def write_candidate(query: NearestQuery, i: int, found: Candidate) -> None:
    """Write the candidate of point i."""
    k, columns = i - query.first, query.columns
    columns.limb[i], query.state.lower[k], columns.upper[i], query.state.other[k] = found


@inlined
def enqueue_nearest(query: NearestQuery, limb: int, i: int, nothing: int) -> int:
    """Queue a pair of point i and a limb that it considers, and test a queue that is full."""
    table, queue = query.table, query.queue
    if limb != query.columns.limb[i] and (query.accepts_all or is_considered_at(table, query.filters, limb, i)):
        prefetch_limb(table.rows, limb)
        shape = table.kernel_shape[limb] + 0  # int64: one version of the test
        if enqueue_pair(queue, shape, i, limb) == PAIR_BATCH:
            test_nearest_pairs(query, shape)
    return nothing


@inlined
def test_queued(query: NearestQuery) -> None:
    """Test all pairs that are queued."""
    for shape in range(SHAPES):
        if query.queue.queued[shape] > 0:
            test_nearest_pairs(query, shape)


@compiled
def test_nearest_pairs(query: NearestQuery, shape: int) -> None:
    """Test the queued pairs of one shape, empty its queue, and reduce the reach of points that have a nearer limb."""
    queue, first = query.queue, int(shape) * query.queue.row.shape[1]
    point, limb = queue.row.reshape(-1), queue.limb.reshape(-1)
    if shape == CYLINDER:  # a constant: the test becomes straight-line code
        write_bounds(CYLINDER, query.points, query.table.rows, point, limb, first, queue.found)
    else:
        write_bounds(shape, query.points, query.table.rows, point, limb, first, queue.found)
    for k in range(queue.queued[shape]):
        i, bounds = point[first + k], (queue.found[k], queue.found[PAIR_BATCH + k])
        before = candidate_of(query, i)
        found = nearer(bounds, limb[first + k], before)
        write_candidate(query, i, found)
        if found[2] < before[2]:
            _, _, _, square = place_in_tree(query.tree, as_vector(query.points, i), found[2])
            query.place[3, i - query.first] = square
    queue.queued[shape] = 0


@inlined
def test_nearest(query: tuple[Vector, LimbRows, bool, int, int], k: int, found: Candidate) -> tuple[Candidate, float]:
    """The nearest limb including limb k, and how far away another one may be."""
    point, table, accepts_all, mask, ignored = query
    if accepts_all or is_considered(table.character[k], table.mask[k], mask, ignored):
        lanes = broadcast(point[0]), broadcast(point[1]), broadcast(point[2])  # shares the code for eight points
        lower, upper = distance_bounds(lanes, one_limb(table.rows, table.kernel_shape[k], k))
        found = nearer((lane(lower, 0), lane(upper, 0)), k, found)
    return found, found[2]


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
