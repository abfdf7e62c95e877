"""The tree's arrays.

A node has eight slots. A slot holds another node (its index, always larger than its parent's), an item, or nothing: the
box of an empty slot intersects nothing. Boxes are float32, in the coordinate frame of the tree, in which all lie within
[-1, 1], and padded by `BOX_PAD`, which covers the rounding of boxes, rays and their product: `docs/numerics.md`,
"Boxes".
"""

from math import frexp, inf, ldexp
from typing import Any, NamedTuple

import numpy as np

from cylcollide._types import Column, Float64Array, NodeBoxes, Rows, Vectors
from cylcollide.constants import BOX_PAD, TREE_WIDTH
from cylcollide.runtime.compile import compiled_loop, inlined

EMPTY = -1
"""Child code of an empty slot; a node's code is its index, an item's is -2 - its number."""

HIGH = 3
"""Row of a node's `bounds` at which the high corners begin, after the low ones."""


FRAME_NUMBERS = 10
"""Length of the array from which `frame_of` makes a `TreeFrame`."""


class TreeFrame(NamedTuple):
    """The coordinate frame of a tree: along each axis its coordinate is (world - centre) scale."""

    centre: tuple[float, float, float]
    scale: float  # a power of two
    low: tuple[float, float, float]  # corners of the box around all boxes, padded, in the frame of the tree
    high: tuple[float, float, float]

    def has_coordinates_of(self, other: "TreeFrame") -> bool:
        """Whether coordinates mean the same in both."""
        return self.centre == other.centre and self.scale == other.scale

    def corners(self) -> tuple[list[float], list[float]]:
        """The corners in the coordinates of the world."""
        low, high = ([c + x / self.scale for c, x in zip(self.centre, at, strict=True)] for at in (self.low, self.high))
        return low, high

    def joined(self, other: "TreeFrame", growth: float) -> "TreeFrame":
        """A frame that holds both, and all that is not farther away than this; its corners are those of the frame."""
        (a, b), (c, d) = self.corners(), other.corners()
        low = [min(x, y) - growth for x, y in zip(a, c, strict=True)]
        high = [max(x, y) + growth for x, y in zip(b, d, strict=True)]
        x, y, z = (0.5 * first + 0.5 * last for first, last in zip(low, high, strict=True))
        half = max(0.5 * last - 0.5 * first for first, last in zip(low, high, strict=True))
        scale = ldexp(1.0, -frexp(half)[1])  # 0.5 <= half scale < 1
        return TreeFrame((x, y, z), scale, (-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))


class Tree(NamedTuple):
    """A bounding volume hierarchy of width eight over numbered boxes. Its arrays are read-only."""

    bounds: NodeBoxes  # (nodes, 6, 8): low x, y, z, high x, y, z of each child
    child: Rows[np.int32]  # (nodes, 8): codes, see `EMPTY`
    items: int  # number of boxes
    axis: Column[np.int8]  # (nodes,): the axis along which the slots of a node were sorted by the build
    stack_size: int  # largest number of stack entries of a traversal
    frame: TreeFrame


def frame_around(low: Float64Array, high: Float64Array) -> TreeFrame:
    """The frame for boxes with corners `low`, `high` (n, 3), n > 0."""
    numbers = np.empty(FRAME_NUMBERS)
    fill_frame(low, high, numbers)
    return frame_of(numbers)


def frame_of(numbers: Float64Array) -> TreeFrame:
    """A frame from its ten numbers: centre, scale, low and high corner."""
    return frame_at(numbers.tolist())


@inlined
def frame_at(n: Any) -> TreeFrame:
    """`frame_of` in loops."""
    return TreeFrame((n[0], n[1], n[2]), n[3], (n[4], n[5], n[6]), (n[7], n[8], n[9]))


@compiled_loop
def fill_frame(low: Vectors, high: Vectors, numbers: Column[np.float64]) -> None:
    """Write the ten numbers of `frame_around`, as `frame_of` reads them."""
    x, y, z, u, v, w = inf, inf, inf, -inf, -inf, -inf
    for i in range(len(low)):
        x, y, z = min(x, low[i, 0]), min(y, low[i, 1]), min(z, low[i, 2])
        u, v, w = max(u, high[i, 0]), max(v, high[i, 1]), max(w, high[i, 2])
    half = max(0.5 * u - 0.5 * x, 0.5 * v - 0.5 * y, 0.5 * w - 0.5 * z)
    a, b, c = 0.5 * x + 0.5 * u, 0.5 * y + 0.5 * v, 0.5 * z + 0.5 * w
    scale = ldexp(1.0, -frexp(half)[1])  # 0.5 <= half scale < 1
    numbers[0], numbers[1], numbers[2], numbers[3] = a, b, c, scale
    numbers[4], numbers[5], numbers[6] = (x - a) * scale - BOX_PAD, (y - b) * scale - BOX_PAD, (z - c) * scale - BOX_PAD
    numbers[7], numbers[8], numbers[9] = (u - a) * scale + BOX_PAD, (v - b) * scale + BOX_PAD, (w - c) * scale + BOX_PAD


@inlined
def box_edge(coordinate: float, centre: float, scale: float, pad: float) -> float:
    """Coordinate of one plane of a box in the frame of the tree, moved outward by a signed pad."""
    return (coordinate - centre) * scale + pad


def empty_tree() -> Tree:
    """A tree over no boxes: one node, all slots empty."""
    bounds = np.empty((1, 6, TREE_WIDTH), np.float32)
    bounds[:, :3], bounds[:, 3:] = inf, -inf
    child, axis = np.full((1, TREE_WIDTH), EMPTY, np.int32), np.zeros(1, np.int8)
    for column in (bounds, child, axis):
        column.flags.writeable = False
    nowhere = TreeFrame((0.0, 0.0, 0.0), 1.0, (1.0,) * 3, (-1.0,) * 3)
    return Tree(bounds, child, 0, axis, TREE_WIDTH + 1, nowhere)
