"""The loops over points: a few one by one, many through the tree together, their limbs tested sixteen pairs at a time.

Pairs of a point and a limb whose box contains it are queued by shape, and tested side by side by the same kernel as a
single pair. The result of a point, the lowest limb and how many, does not depend on the order of pairs.
"""

from typing import NamedTuple

import numpy as np

from cylcollide._types import HIT, NO_LIMB, UNDECIDED, Column, Float64Array, Int32Array, Rows, Shape, Vectors
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.ray_node_pairs import Pairs, visit_at_points
from cylcollide.bvh.traverse import stack_in, visit_at_point
from cylcollide.constants import BLOCK_RAYS
from cylcollide.kernels.at_surface import settled_point
from cylcollide.kernels.distance import certain_side, point_axis_distance_squared, point_limb
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.limb_table import (
    LimbRows,
    all_are_considered,
    eight_of,
    is_considered,
    limb_at,
    limb_of,
)
from cylcollide.kernels.ray import as_vector
from cylcollide.query.loops.inputs import INVALID, PointFilters, copy_in_range, filter_of
from cylcollide.query.loops.packets import (
    PAIR_BATCH,
    SHAPES,
    PairQueue,
    empty_queue,
    enqueue_pair,
    limbs_at,
    prefetch_limb,
    vectors_at,
)
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.simd import LANES, lowest_bit, movemask

CYLINDER = int(Shape.CYLINDER)


class PointColumns(NamedTuple):
    """The limbs that contain each point, written while the query runs; n rows."""

    limb: Column[np.int32]  # the lowest that certainly contains the point, -1 for none
    limb_count: Column[np.int32]  # how many certainly do
    undecided: Column[np.bool_]  # some limb is undecided, and the columns above are not the result


@compiled_loop
def locate_points(
    table: LimbRows,
    tree: Tree,
    raw: Vectors,
    filters: PointFilters,
    points: Vectors,
    place: Rows[np.float32],
    pairs: Pairs,
    queue: PairQueue,
    begin: int,
    end: int,
    columns: PointColumns,
) -> int:
    """Copy and check the points from `begin` to `end`, and find which limbs contain each.

    Returns how many pairs of a point and a limb are undecided, or INVALID.
    """
    columns.limb[begin:end], columns.limb_count[begin:end], columns.undecided[begin:end] = NO_LIMB, 0, False
    empty_queue(queue, begin)
    accepts_all, undecided = all_points_accept(table, filters), 0
    for first in range(begin, end, BLOCK_RAYS):
        last = min(first + BLOCK_RAYS, end)
        valid, _ = copy_in_range(raw, points, first, last)
        if not valid:
            return INVALID
        query = table, points, filters, accepts_all, queue, columns
        undecided = visit_at_points(tree, points, first, last, place, pairs, test_or_enqueue, query, undecided)
    for shape in range(SHAPES):
        if queue.queued[shape] > 0:
            undecided += test_pair_batch(shape, points, table.rows, queue, columns)
    return undecided


@inlined
def test_or_enqueue(
    query: tuple[LimbRows, Float64Array, PointFilters, bool, PairQueue, PointColumns], limb: int, i: int, undecided: int
) -> int:
    """Queue a pair of point i and a limb that it considers, and test a queue that is full.

    Returns how many pairs are undecided by then.
    """
    table, points, filters, accepts_all, queue, columns = query
    if accepts_all or is_considered(table.character[limb], table.mask[limb], *filter_of(filters, i)):
        prefetch_limb(table.rows, limb)
        shape = table.kernel_shape[limb] + 0  # int64: one version of the test
        if enqueue_pair(queue, shape, i, limb) == PAIR_BATCH:
            undecided += test_pair_batch(shape, points, table.rows, queue, columns)
    return undecided


@inlined
def all_points_accept(table: LimbRows, filters: PointFilters) -> bool:
    """Whether every point certainly considers every limb."""
    is_shared = filters.mask.size == 1 and filters.ignored.size == 1
    return is_shared and all_are_considered(table, int(filters.mask[0]), int(filters.ignored[0]))


@compiled
def test_pair_batch(
    shape: int, points: Float64Array, rows: Float64Array, queue: PairQueue, columns: PointColumns
) -> int:
    """Test the queued pairs of one shape, and empty its queue; returns how many of them are undecided."""
    point, limb, first = queue.row.reshape(-1), queue.limb.reshape(-1), int(shape) * PAIR_BATCH
    if shape == CYLINDER:  # a constant: both tests become straight-line code
        inside, outside = sides(CYLINDER, points, rows, point, limb, first)
    else:
        inside, outside = sides(shape, points, rows, point, limb, first)
    valid = (1 << queue.queued[shape]) - 1
    queue.queued[shape] = 0
    inside, undecided_pairs, count = inside & valid, valid & ~(inside | outside), 0
    while undecided_pairs:
        bit = undecided_pairs & -undecided_pairs
        undecided_pairs ^= bit
        k = first + lowest_bit(bit)
        status = settled_point(
            as_vector(points, point[k]), limb_of(shape, eight_of(rows, limb[k], 0), eight_of(rows, limb[k], LANES))
        )
        inside |= bit if status == HIT else 0
        columns.undecided[point[k]] |= status == UNDECIDED
        count += status == UNDECIDED
    while inside:
        k = first + lowest_bit(inside)
        inside &= inside - 1
        i = point[k]
        columns.limb[i] = limb[k] if columns.limb_count[i] == 0 else min(columns.limb[i], limb[k])
        columns.limb_count[i] += 1
    return count


@inlined
def sides(
    shape: int, points: Float64Array, rows: Float64Array, point: Int32Array, limb: Int32Array, first: int
) -> tuple[int, int]:
    """Of sixteen pairs, those that are certainly inside and those that are certainly outside, as bits."""
    one, two = vectors_at(points, point, first), vectors_at(points, point, first + LANES)
    limb_of_one, limb_of_two = limbs_at(rows, shape, limb, first), limbs_at(rows, shape, limb, first + LANES)
    in_one, out_of_one = certain_side(one, limb_of_one)
    in_two, out_of_two = certain_side(two, limb_of_two)
    return movemask(in_one) | movemask(in_two) << LANES, movemask(out_of_one) | movemask(out_of_two) << LANES


@compiled_loop
def locate_single_points(
    table: LimbRows,
    tree: Tree,
    raw: Vectors,
    filters: PointFilters,
    memory: Vectors,
    columns: PointColumns,
) -> int:
    """Copy and check points, and find which limbs contain each, one point after another.

    The first n rows of the memory are for the copies, the others for the stack. Returns how many rows are undecided, or
    INVALID.
    """
    n = raw.shape[0]
    points = memory[:n]
    valid, _ = copy_in_range(raw, points, 0, n)
    if not valid:
        return INVALID
    stack, undecided_rows = stack_in(memory[n:].reshape(-1), tree.stack_size), 0
    for i in range(n):
        point, (mask, ignored) = as_vector(points, i), filter_of(filters, i)
        query = point, table, mask, ignored
        found = visit_at_point(tree, stack, point, test_point, query, (NO_LIMB, 0, False))
        columns.limb[i], columns.limb_count[i], columns.undecided[i] = found
        undecided_rows += found[2]
    return undecided_rows


@inlined
def test_point(query: tuple[Vector, LimbRows, int, int], k: int, found: tuple[int, int, bool]) -> tuple[int, int, bool]:
    """The lowest limb that contains a point, how many do, and whether any is undecided; including limb k."""
    (point, table, mask, ignored), (lowest, count, is_open) = query, found
    if not is_considered(table.character[k], table.mask[k], mask, ignored):
        return found
    limb = limb_at(table.rows, table.kernel_shape, k)
    status = point_limb(point, limb)
    if status == UNDECIDED:
        status = settled_point(point, limb)
    if status == HIT:
        lowest, count = k if count == 0 else min(lowest, k), count + 1
    return lowest, count, is_open or status == UNDECIDED


@compiled_loop
def classify_rows(points: Vectors, table: LimbRows, verdict: Column[np.int8]) -> None:
    """Point i against limb i, or all points against the only limb: HIT, MISS or UNDECIDED."""
    rows, shapes = table.rows, table.kernel_shape
    for i in range(verdict.size):
        limb = i if table.kernel_shape.size > 1 else 0
        verdict[i] = point_limb(as_vector(points, i), limb_at(rows, shapes, limb))


@compiled_loop
def axis_distances(points: Vectors, table: LimbRows, limbs: Column[np.int32], squared: Column[np.float64]) -> int:
    """Squared distance of point i from the axis of limb `limbs[i]`, -1.0 where that is NO_LIMB, NaN where undecided.

    Returns how many rows are undecided.
    """
    rows, shapes, undecided = table.rows, table.kernel_shape, 0
    for i in range(limbs.size):
        squared[i] = -1.0
        if limbs[i] >= 0:
            squared[i] = point_axis_distance_squared(as_vector(points, i), limb_at(rows, shapes, limbs[i]))
            undecided += np.isnan(squared[i])
    return undecided
