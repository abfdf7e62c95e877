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
    UNSURE,
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
from cylcollide.bvh.traverse import NO_ITEM, Stack, local_point, next_item_at_point, start_walk
from cylcollide.constants import BLOCK_RAYS
from cylcollide.kernels.limb_table import ROW, LimbRows, limb_at
from cylcollide.kernels.point import certain_side, point_axis_distance_squared, point_limb
from cylcollide.kernels.ray import as_vector
from cylcollide.query.loops.inputs import copied
from cylcollide.query.loops.packets import limbs_at, vectors_at
from cylcollide.runtime.compile import Entrance, allocating, compiled, merged
from cylcollide.runtime.simd import LANES, bits, lowest_bit, prefetch

SHAPES, CYLINDER = len(Shape), int(Shape.CYLINDER)
CROWD = 2 * LANES
"""Pairs of a shape that wait for each other."""


class Waiting(NamedTuple):
    """Pairs of a point and a limb that wait, shape by shape."""

    point: Int32Array  # (SHAPES, CROWD): rows of the query
    limb: Int32Array  # (SHAPES, CROWD)
    pairs: Int64Array  # (SHAPES,): how many


class Held(NamedTuple):
    """What is found out of points, written while the query runs; n rows."""

    limb: Int32Array  # the lowest that certainly holds the point, -1 for none
    holders: Int32Array  # how many certainly do
    unsure: BoolArray  # for some limb the bounds do not decide, and the columns above are not the answer


KINDS = [np.dtype(kind) for kind in (np.int32, np.int32, np.bool_)]
"""Of `Held`."""

_rooms = threading.local()


@Entrance
@compiled
def locate_many(
    table: LimbRows,
    tree: Tree,
    given: Float64Array,
    points: Float64Array,
    place: Float32Array,
    pairs: Pairs,
    waiting: Waiting,
    begin: int,
    end: int,
    held: Held,
) -> int:
    """Receive the points from `begin` to `end`, and find the lowest limb that holds each, and how many do.

    How many pairs of a point and a limb are unsure, or -1 if a point is not allowed.
    """
    rows, solid = table.rows, table.solid
    held.limb[begin:end], held.holders[begin:end], held.unsure[begin:end] = NO_LIMB, 0, False
    waiting.pairs[:] = 0  # an earlier call may have been stopped half way
    waiting.point[:] = begin  # lanes without a pair read a point and a limb that there are
    waiting.limb[:] = 0
    unsure = 0
    for first in range(begin, end, BLOCK_RAYS):
        last = min(first + BLOCK_RAYS, end)
        finite, _ = copied(given, points, first, last)
        if not finite:
            return -1
        level = start_pairs(tree.space, points, first, last, place, pairs)
        while level >= 0:
            level, met = next_items_at_points(tree, place, pairs, level)
            for k in range(met):
                limb = -2 - pairs.item[k]
                if make_wait(waiting, rows, solid[limb], first + pairs.item_who[k], limb):
                    unsure += meet_pairs(solid[limb], points, rows, waiting, held)
    for shape in range(SHAPES):
        if waiting.pairs[shape] > 0:
            unsure += meet_pairs(shape, points, rows, waiting, held)
    return unsure


@merged
def make_wait(waiting: Waiting, rows: Float64Array, shape: int, point: int, limb: int) -> bool:
    """Let a point and a limb wait until there are enough pairs of its shape; whether there are."""
    k = waiting.pairs[shape]
    waiting.point[shape, k], waiting.limb[shape, k] = point, limb
    prefetch(rows, limb * ROW)
    prefetch(rows, limb * ROW + LANES)
    waiting.pairs[shape] = k + 1
    return bool(k + 1 == CROWD)


@compiled
def meet_pairs(shape: int, points: Float64Array, rows: Float64Array, waiting: Waiting, held: Held) -> int:
    """The pairs of one shape that wait; how many of them are unsure."""
    point, limb, first = waiting.point.reshape(-1), waiting.limb.reshape(-1), shape * CROWD
    if shape == CYLINDER:  # a constant, so that both eights are one stretch of code without a branch
        inside, outside = sides(CYLINDER, points, rows, point, limb, first)
    else:
        inside, outside = sides(shape, points, rows, point, limb, first)
    listed = (1 << waiting.pairs[shape]) - 1
    waiting.pairs[shape] = 0
    inside, doubtful, unsure = inside & listed, listed & ~(inside | outside), 0
    while inside:
        k = first + lowest_bit(inside)
        inside &= inside - 1
        i = point[k]
        held.limb[i] = limb[k] if held.holders[i] == 0 else min(held.limb[i], limb[k])
        held.holders[i] += 1
    while doubtful:
        held.unsure[point[first + lowest_bit(doubtful)]] = True
        doubtful &= doubtful - 1
        unsure += 1
    return unsure


@merged
def sides(
    shape: int, points: Float64Array, rows: Float64Array, point: Int32Array, limb: Int32Array, first: int
) -> tuple[int, int]:
    """Of sixteen pairs, those that are certainly inside and those that are certainly outside, as bits."""
    one, two = vectors_at(points, point, first), vectors_at(points, point, first + LANES)
    limb_of_one, limb_of_two = limbs_at(rows, shape, limb, first), limbs_at(rows, shape, limb, first + LANES)
    in_one, out_of_one = certain_side(one, limb_of_one)
    in_two, out_of_two = certain_side(two, limb_of_two)
    return bits(in_one) | bits(in_two) << LANES, bits(out_of_one) | bits(out_of_two) << LANES


FEW_COLUMNS = 6
"""Rows of the room of `locate_few`, a number a point: the points, and the columns of `holding.Held`."""


@Entrance
@allocating
def locate_few(table: LimbRows, tree: Tree, given: Float64Array, room: Float64Array) -> int:
    """Receive a few points, and find the lowest limb that holds each, and how many do.

    How many rows are unsure, or -1 if a point is not allowed.
    """
    n = given.shape[0]
    points = room[:3].reshape(n, 3)
    finite, _ = copied(given, points, 0, n)
    if not finite:
        return -1
    limb_of, count, unsure = room[3].view(np.int32), room[4].view(np.int32), room[5].view(np.bool_)
    stack = Stack(np.empty(tree.stack_size, np.int32), np.empty(1, np.float32), np.empty(0, np.float32))
    unsure_rows = 0
    for i in range(n):
        point = as_vector(points, i)
        lowest, holding, doubtful = NO_LIMB, 0, False
        height, place = start_walk(stack), local_point(tree.space, point)
        while True:
            height, limb = next_item_at_point(tree, stack, height, place)
            if limb == NO_ITEM:
                break
            status = point_limb(point, limb_at(table.rows, table.solid, limb))
            doubtful |= status == UNSURE
            if status == HIT:
                lowest = limb if holding == 0 else min(lowest, limb)
                holding += 1
        limb_of[i], count[i], unsure[i] = lowest, holding, doubtful
        unsure_rows += doubtful
    return unsure_rows


@allocating
def limbs_near_point(point: Float64Array, tree: Tree, stack: Stack) -> Int32Array:
    """Every limb whose box holds the point, (3,)."""
    found, used, height = np.empty(tree.items, np.int32), 0, start_walk(stack)
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
