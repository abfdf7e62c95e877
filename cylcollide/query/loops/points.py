"""The loop over many points: they walk the tree together, and meet limbs sixteen pairs at a time.

Pairs of a point and a limb whose box holds it wait by shape, and go through the same kernel as one does in `locating`,
side by side. A point keeps the least of the limbs that hold it and their number, so that no order of pairs changes it.
"""

import threading
from typing import NamedTuple

import numpy as np

from cylcollide._types import (
    HIT,
    NO_LIMB,
    UNDECIDED,
    BoolArray,
    Float32Array,
    Float64Array,
    Int8Array,
    Int32Array,
    Int64Array,
    Shape,
)
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.points import next_items_at_points, start_pairs
from cylcollide.bvh.ray_node_pairs import Pairs
from cylcollide.bvh.traverse import NO_ITEM, Stack, local_point, next_item_at_point, start_traversal
from cylcollide.constants import BLOCK_RAYS
from cylcollide.kernels.limb_table import ROW, LimbRows, limb_at
from cylcollide.kernels.point import certain_side, point_axis_distance_squared, point_limb
from cylcollide.kernels.ray import as_vector
from cylcollide.query.loops.inputs import copy_finite
from cylcollide.query.loops.packets import limbs_at, vectors_at
from cylcollide.runtime.compile import FastDispatch, allocating, compiled, inlined
from cylcollide.runtime.simd import LANES, lowest_bit, movemask, prefetch

SHAPES, CYLINDER = len(Shape), int(Shape.CYLINDER)
PAIR_BATCH = 2 * LANES
"""Pairs of a shape that wait for each other."""


class PointQueue(NamedTuple):
    """Pairs of a point and a limb that wait, shape by shape."""

    point: Int32Array  # (SHAPES, CROWD): rows of the query
    limb: Int32Array  # (SHAPES, CROWD)
    pairs: Int64Array  # (SHAPES,): how many


class PointColumns(NamedTuple):
    """What is found out of points, written while the query runs; n rows."""

    limb: Int32Array  # the lowest that certainly holds the point, -1 for none
    limb_count: Int32Array  # how many certainly do
    undecided: BoolArray  # for some limb the bounds do not decide, and the columns above are not the answer


POINT_DTYPES = [np.dtype(kind) for kind in (np.int32, np.int32, np.bool_)]
"""Of `Held`."""

_rooms = threading.local()


@FastDispatch
@compiled
def locate_points(
    table: LimbRows,
    tree: Tree,
    raw: Float64Array,
    points: Float64Array,
    place: Float32Array,
    pairs: Pairs,
    queue: PointQueue,
    begin: int,
    end: int,
    columns: PointColumns,
) -> int:
    """Receive the points from `begin` to `end`, and find the lowest limb that holds each, and how many do.

    How many pairs of a point and a limb are unsure, or -1 if a point is not allowed.
    """
    rows, solid = table.rows, table.solid
    columns.limb[begin:end], columns.limb_count[begin:end], columns.undecided[begin:end] = NO_LIMB, 0, False
    queue.pairs[:] = 0  # an earlier call may have been stopped half way
    queue.point[:] = begin  # lanes without a pair read a point and a limb that there are
    queue.limb[:] = 0
    undecided = 0
    for first in range(begin, end, BLOCK_RAYS):
        last = min(first + BLOCK_RAYS, end)
        finite, _ = copy_finite(raw, points, first, last)
        if not finite:
            return -1
        level = start_pairs(tree.space, points, first, last, place, pairs)
        while level >= 0:
            level, met = next_items_at_points(tree, place, pairs, level)
            for k in range(met):
                limb = -2 - pairs.item[k]
                if enqueue_pair(queue, rows, solid[limb], first + pairs.item_ray[k], limb):
                    undecided += test_pair_batch(solid[limb], points, rows, queue, columns)
    for shape in range(SHAPES):
        if queue.pairs[shape] > 0:
            undecided += test_pair_batch(shape, points, rows, queue, columns)
    return undecided


@inlined
def enqueue_pair(queue: PointQueue, rows: Float64Array, shape: int, point: int, limb: int) -> bool:
    """Let a point and a limb wait until there are enough pairs of its shape; whether there are."""
    k = queue.pairs[shape]
    queue.point[shape, k], queue.limb[shape, k] = point, limb
    prefetch(rows, limb * ROW)
    prefetch(rows, limb * ROW + LANES)
    queue.pairs[shape] = k + 1
    return bool(k + 1 == PAIR_BATCH)


@compiled
def test_pair_batch(
    shape: int, points: Float64Array, rows: Float64Array, queue: PointQueue, columns: PointColumns
) -> int:
    """The pairs of one shape that wait; how many of them are unsure."""
    point, limb, first = queue.point.reshape(-1), queue.limb.reshape(-1), shape * PAIR_BATCH
    if shape == CYLINDER:  # a constant, so that both eights are one stretch of code without a branch
        inside, outside = sides(CYLINDER, points, rows, point, limb, first)
    else:
        inside, outside = sides(shape, points, rows, point, limb, first)
    listed = (1 << queue.pairs[shape]) - 1
    queue.pairs[shape] = 0
    inside, undecided_pairs, count = inside & listed, listed & ~(inside | outside), 0
    while inside:
        k = first + lowest_bit(inside)
        inside &= inside - 1
        i = point[k]
        columns.limb[i] = limb[k] if columns.limb_count[i] == 0 else min(columns.limb[i], limb[k])
        columns.limb_count[i] += 1
    while undecided_pairs:
        columns.undecided[point[first + lowest_bit(undecided_pairs)]] = True
        undecided_pairs &= undecided_pairs - 1
        count += 1
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


SINGLE_ROWS = 6
"""Rows of the room of `locate_single_points`, a number a point: the points, and the columns of `holding.Held`."""


@FastDispatch
@allocating
def locate_single_points(table: LimbRows, tree: Tree, raw: Float64Array, room: Float64Array) -> int:
    """Receive a few points, and find the lowest limb that holds each, and how many do.

    How many rows are unsure, or -1 if a point is not allowed.
    """
    n = raw.shape[0]
    points = room[:3].reshape(n, 3)
    finite, _ = copy_finite(raw, points, 0, n)
    if not finite:
        return -1
    limb_of, count, undecided = room[3].view(np.int32), room[4].view(np.int32), room[5].view(np.bool_)
    stack = Stack(np.empty(tree.stack_size, np.int32), np.empty(1, np.float32), np.empty(0, np.float32))
    undecided_rows = 0
    for i in range(n):
        point = as_vector(points, i)
        lowest, containing, open_pair = NO_LIMB, 0, False
        height, place = start_traversal(stack), local_point(tree.space, point)
        while True:
            height, limb = next_item_at_point(tree, stack, height, place)
            if limb == NO_ITEM:
                break
            status = point_limb(point, limb_at(table.rows, table.solid, limb))
            open_pair |= status == UNDECIDED
            if status == HIT:
                lowest = limb if containing == 0 else min(lowest, limb)
                containing += 1
        limb_of[i], count[i], undecided[i] = lowest, containing, open_pair
        undecided_rows += open_pair
    return undecided_rows


@allocating
def limbs_near_point(point: Float64Array, tree: Tree, stack: Stack) -> Int32Array:
    """Every limb whose box holds the point, (3,)."""
    found, used, height = np.empty(tree.items, np.int32), 0, start_traversal(stack)
    place = local_point(tree.space, (point[0], point[1], point[2]))
    while True:
        height, limb = next_item_at_point(tree, stack, height, place)
        if limb == NO_ITEM:
            return found[:used].copy()
        found[used] = limb
        used += 1


@compiled
def classify_rows(points: Float64Array, table: LimbRows, verdict: Int8Array) -> None:
    """Point i against limb i, or all points against the only limb: HIT, MISS or UNSURE."""
    rows, solids = table.rows, table.solid
    for i in range(verdict.size):
        limb = i if table.solid.size > 1 else 0
        verdict[i] = point_limb(as_vector(points, i), limb_at(rows, solids, limb))


@compiled
def axis_distances(points: Float64Array, table: LimbRows, limbs: Int32Array, squared: Float64Array) -> None:
    """Squared distance of point i from the axis of limb `limbs[i]`, -1.0 where that is NO_LIMB."""
    rows, solids = table.rows, table.solid
    for i in range(limbs.size):
        squared[i] = -1.0
        if limbs[i] >= 0:
            squared[i] = point_axis_distance_squared(as_vector(points, i), limb_at(rows, solids, limbs[i]))
