"""The loops over points, one by one: walk the tree, test the limbs whose boxes hold the point."""

import numpy as np

from cylcollide._types import HIT, NO_LIMB, UNSURE, Float64Array, Int8Array, Int32Array
from cylcollide.compiling import Entrance, allocating, compiled
from cylcollide.door import copied
from cylcollide.kernels.point import point_axis_distance_squared, point_limb
from cylcollide.kernels.ray import as_vector
from cylcollide.kernels.table import LimbRows, limb_at
from cylcollide.tree.layout import Tree
from cylcollide.tree.walk import NO_ITEM, Stack, local_point, next_item_at_point, start_walk

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
