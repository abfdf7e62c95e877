"""Walk: the leaves a ray or a point may meet, one after another, nearest first for rays.

The caller keeps a `Stack` and asks for the next leaf until there is none. Between two calls it may have found a hit, so
it says each time how far the walk still matters. No callback, no shape: the loop over limbs is the caller's.

The box test is the slab test with near and far planes chosen by the signs of the direction. That it never loses a true
hit is shown in `docs/numerics.md`, "Boxes" (after T. Ize, "Robust BVH ray traversal", JCGT 2(2), 2013).
"""

from typing import NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import BOX_SLACK, TREE_WIDTH, Float64Array, Int32Array
from cylcollide.simd import compiled, lowest_bit, merged
from cylcollide.tree.layout import EMPTY, Tree

Vector: TypeAlias = tuple[float, float, float]


class Stack(NamedTuple):
    """What a walk has yet to visit. One per thread, used for ray after ray."""

    code: Int32Array  # node, or leaf code
    size: Int32Array
    near: Float64Array  # metres along the ray
    entry: Float64Array  # of the eight boxes being tested


def make_stack(tree: Tree) -> Stack:
    """A stack deep enough for any walk of this tree."""
    size = tree.stack_size
    return Stack(np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size), np.empty(TREE_WIDTH))


@compiled
def start_walk(stack: Stack) -> int:
    """Put the root on the stack; the new stack height."""
    stack.code[0], stack.size[0], stack.near[0] = 0, 0, 0.0
    return 1


@merged
def next_leaf_on_ray(
    tree: Tree, stack: Stack, height: int, origin: Vector, reciprocal: Vector, reach: float
) -> tuple[int, int, int]:
    """The next leaf whose box the ray meets within `reach` metres.

    Returns the stack height, and the leaf's first position in `tree.order` and its size; size 0 ends the walk.
    """
    # rows of `bounds` with the planes that the ray meets first and last
    near_x = 0 if reciprocal[0] >= 0.0 else 3
    near_y = 1 if reciprocal[1] >= 0.0 else 4
    near_z = 2 if reciprocal[2] >= 0.0 else 5
    far_x, far_y, far_z = 3 - near_x, 5 - near_y, 7 - near_z
    bounds, children, leaf_sizes = tree.bounds, tree.child, tree.size
    codes, sizes, nears, entries = stack.code, stack.size, stack.near, stack.entry
    while height > 0:
        height -= 1
        code, near = codes[height], nears[height]
        if near > reach * BOX_SLACK:
            continue
        if code < 0:
            return height, -2 - code, sizes[height]
        # all eight boxes, then sort in those that the ray meets, the nearest on top
        met = 0
        for slot in range(TREE_WIDTH):
            entry = max(
                (bounds[code, near_x, slot] - origin[0]) * reciprocal[0],
                (bounds[code, near_y, slot] - origin[1]) * reciprocal[1],
                (bounds[code, near_z, slot] - origin[2]) * reciprocal[2],
                0.0,
            )
            leave = min(
                (bounds[code, far_x, slot] - origin[0]) * reciprocal[0],
                (bounds[code, far_y, slot] - origin[1]) * reciprocal[1],
                (bounds[code, far_z, slot] - origin[2]) * reciprocal[2],
                reach,
            )
            entries[slot] = entry
            met |= int(entry <= leave * BOX_SLACK) << slot
        bottom = height
        while met != 0:
            slot = lowest_bit(met)
            met &= met - 1
            distance, position = entries[slot], height
            while position > bottom and nears[position - 1] < distance:
                codes[position] = codes[position - 1]
                sizes[position] = sizes[position - 1]
                nears[position] = nears[position - 1]
                position -= 1
            codes[position], nears[position] = children[code, slot], distance
            sizes[position] = leaf_sizes[code, slot]
            height += 1
    return 0, 0, 0


@compiled
def next_leaf_at_point(tree: Tree, stack: Stack, height: int, point: Vector) -> tuple[int, int, int]:
    """The next leaf whose box holds the point; returns as `next_leaf_on_ray` does."""
    while height > 0:
        height -= 1
        code = stack.code[height]
        if code < 0:
            return height, -2 - code, stack.size[height]
        for slot in range(TREE_WIDTH):
            if (
                tree.bounds[code, 0, slot] <= point[0] <= tree.bounds[code, 3, slot]
                and tree.bounds[code, 1, slot] <= point[1] <= tree.bounds[code, 4, slot]
                and tree.bounds[code, 2, slot] <= point[2] <= tree.bounds[code, 5, slot]
                and tree.child[code, slot] != EMPTY
            ):
                stack.code[height], stack.size[height] = tree.child[code, slot], tree.size[code, slot]
                height += 1
    return 0, 0, 0


@compiled
def next_leaf_of_all(tree: Tree, position: int) -> tuple[int, int, int]:
    """Every item as one leaf, for what no box can be trusted with; returns as `next_leaf_on_ray` does."""
    if position == 0:
        return 0, 0, 0
    return 0, 0, tree.order.size
