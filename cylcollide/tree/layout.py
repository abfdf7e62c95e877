"""The tree's arrays.

A node holds up to eight children side by side. A child is another node (its index, always larger than its parent's), a
leaf (a run of the permutation `order`), or an empty slot, whose box nothing meets.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import TREE_WIDTH, Float64Array, Int32Array

EMPTY = -1
"""Child code of an empty slot; a leaf that starts at `order[first]` is coded as -2 - first."""


class Tree(NamedTuple):
    """A bounding volume hierarchy of width eight over numbered boxes. Never changed once it is in use."""

    bounds: Float64Array  # (nodes, 6, 8): low x, y, z, high x, y, z of each child
    child: Int32Array  # (nodes, 8)
    size: Int32Array  # (nodes, 8): items of a leaf, 0 elsewhere
    order: Int32Array  # (items,): item numbers, leaf by leaf
    stack_size: int  # entries that any walk needs at most


def empty_tree() -> Tree:
    """A tree over nothing: one node, no children."""
    bounds = np.empty((1, 6, TREE_WIDTH))
    bounds[:, :3], bounds[:, 3:] = inf, -inf
    child = np.full((1, TREE_WIDTH), EMPTY, np.int32)
    return Tree(bounds, child, np.zeros((1, TREE_WIDTH), np.int32), np.empty(0, np.int32), TREE_WIDTH + 1)
