"""The loops over points: walk the tree, test the limbs whose boxes hold the point."""

import numpy as np

from cylcollide._types import HIT, NO_LIMB, UNSURE, BoolArray, Float64Array, Int8Array, Int32Array
from cylcollide.compiling import allocating, compiled
from cylcollide.kernels.point import point_axis_distance_squared, point_limb
from cylcollide.kernels.ray import as_vector
from cylcollide.kernels.table import LimbRows, limb_at
from cylcollide.tree.layout import Tree
from cylcollide.tree.walk import NO_ITEM, Stack, local_point, next_item_at_point, start_walk


@compiled
def locate_points(
    points: Float64Array,
    table: LimbRows,
    tree: Tree,
    stack: Stack,
    begin: int,
    end: int,
    limb_of: Int32Array,
    count: Int32Array,
    unsure: BoolArray,
) -> None:
    """The lowest limb that holds each of the points from `begin` to `end`, and how many do."""
    rows, solids = table.rows, table.solid
    for i in range(begin, end):
        point = as_vector(points, i)
        limb_of[i], count[i], unsure[i] = NO_LIMB, 0, False
        height, place = start_walk(stack), local_point(tree.space, point)
        while True:
            height, limb = next_item_at_point(tree, stack, height, place)
            if limb == NO_ITEM:
                break
            status = point_limb(point, limb_at(rows, solids, limb))
            unsure[i] |= status == UNSURE
            if status == HIT:
                limb_of[i] = limb if count[i] == 0 else min(limb_of[i], limb)
                count[i] += 1


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
