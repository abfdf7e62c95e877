"""Refit: new boxes for an unchanged tree, from the last node to the first, so that children precede their parents."""

from math import inf

import numpy as np

from cylcollide._types import Float32Array, Float64Array, Int32Array
from cylcollide.bvh.layout import EMPTY, HIGH, Space, Tree, box_edge, space_around
from cylcollide.constants import BOX_PAD, TREE_WIDTH
from cylcollide.runtime.entry_point import entry_point
from cylcollide.runtime.memory import aligned


def refit(tree: Tree, low: Float64Array, high: Float64Array) -> Tree:
    """The tree with new boxes `low`, `high` (n, 3) of the same items; the old tree is not changed."""
    if len(low) == 0:
        return tree
    space = space_around(low, high)
    return tree._replace(bounds=fitted_bounds(tree.child, low, high, space), space=space)


def fitted_bounds(child: Int32Array, low: Float64Array, high: Float64Array, space: Space) -> Float32Array:
    """The `bounds` (nodes, 6, 8) of all slots, read-only, from the items' boxes `low`, `high` (n, 3)."""
    bounds: Float32Array = aligned((len(child), 6, TREE_WIDTH), np.float32)
    fit_bounds(child, low, high, space, bounds)
    bounds.flags.writeable = False
    return bounds


@entry_point(reads_all=True)
def fit_bounds(child: Int32Array, low: Float64Array, high: Float64Array, space: Space, bounds: Float32Array) -> None:
    """Write the bounds of all slots, as `fitted_bounds` returns them."""
    centre, scale = space.centre, space.scale
    for node in range(child.shape[0] - 1, -1, -1):  # children have larger indices than their parents
        for slot in range(TREE_WIDTH):
            code = child[node, slot]
            for axis in range(3):
                smallest, largest = inf, -inf
                if code >= 0:
                    for s in range(TREE_WIDTH):
                        smallest = min(smallest, bounds[code, axis, s])
                        largest = max(largest, bounds[code, HIGH + axis, s])
                elif code != EMPTY:
                    smallest = box_edge(low[-2 - code, axis], centre[axis], scale, -BOX_PAD)
                    largest = box_edge(high[-2 - code, axis], centre[axis], scale, BOX_PAD)
                bounds[node, axis, slot], bounds[node, HIGH + axis, slot] = smallest, largest


@entry_point()
def tree_cost(bounds: Float32Array, child: Int32Array, scale: float) -> float:
    """Half the sum of the surface areas of all slots' boxes, m²: proportional to a random ray's expected box tests."""
    total = 0.0
    for node in range(child.shape[0]):
        for slot in range(TREE_WIDTH):
            if child[node, slot] != EMPTY:
                x = bounds[node, HIGH, slot] - bounds[node, 0, slot]
                y = bounds[node, HIGH + 1, slot] - bounds[node, 1, slot]
                z = bounds[node, HIGH + 2, slot] - bounds[node, 2, slot]
                total += x * y + y * z + z * x
    return total / (scale * scale)
