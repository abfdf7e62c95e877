"""The tree's arrays.

A node has eight slots. A slot holds another node (its index, always larger than its parent's), an item, or nothing: the
box of an empty slot intersects nothing. Boxes are float32, in the coordinate frame of the tree, in which most lie
within [-1, 1]. They are padded by `BOX_PAD`, farther out by half of `BOX_PAD` times their distance; that covers the
rounding of boxes, rays and their product: `docs/numerics.md`, "Boxes".
"""

from math import frexp, inf, ldexp
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import Column, Float64Array, NodeBoxes, Rows, Vectors
from cylcollide.constants import BOX_PAD, FARTHEST_BOX, STRETCHED, TREE_WIDTH
from cylcollide.runtime.compile import compiled, compiled_loop, inlined

EMPTY = -1
"""Child code of an empty slot; a node's code is its index, an item's is -2 - its number."""

HIGH = 3
"""Row of a node's `bounds` at which the high corners begin, after the low ones."""


FRAME_NUMBERS, SAMPLES = 10, 32
"""The size of a `TreeFrame` in numbers; the number of boxes sampled to find where most of them lie."""
FRAME_MEMORY = FRAME_NUMBERS + SAMPLES
"""Length of the array that `fill_frame` writes and `frame_of` reads."""

CORE = 1.0 + 2.0**-6
"""Most boxes of a tree lie within this distance of its centre, in its frame."""

Box: TypeAlias = tuple[float, float, float, float, float, float]
"""Low and high corner, in the frame of the tree."""


class TreeFrame(NamedTuple):
    """The coordinate frame of a tree: along each axis its coordinate is (world - centre) scale.

    It fits most boxes. A few may lie farther out; their pads grow with their distance.
    """

    centre: tuple[float, float, float]
    scale: float  # a power of two
    low: tuple[float, float, float]  # corners of the box around all boxes, padded, in the frame of the tree
    high: tuple[float, float, float]

    def has_coordinates_of(self, other: "TreeFrame") -> bool:
        """Whether coordinates are equal in both frames."""
        return self.centre == other.centre and self.scale == other.scale

    def corners(self) -> tuple[list[float], list[float]]:
        """The corners in the coordinates of the world."""
        low, high = ([c + x / self.scale for c, x in zip(self.centre, at, strict=True)] for at in (self.low, self.high))
        return low, high

    def core(self) -> "TreeFrame":
        """The frame with its corners clamped to its core."""
        low, high = (tuple(min(max(x, -CORE), CORE) for x in at) for at in (self.low, self.high))
        return TreeFrame(self.centre, self.scale, low, high)  # type: ignore[arg-type]

    def joined(self, other: "TreeFrame", growth: float) -> "TreeFrame":
        """A frame that contains both cores and `growth` around them; its corners are -1 and 1."""
        (a, b), (c, d) = self.core().corners(), other.core().corners()
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
    numbers = np.empty(FRAME_MEMORY)
    fill_frame(low, high, numbers)
    return frame_of(numbers)


def frame_of(numbers: Float64Array) -> TreeFrame:
    """A frame from its ten numbers: centre, scale, low and high corner."""
    return frame_at(numbers[:FRAME_NUMBERS].tolist())


@inlined
def frame_at(n: Any) -> TreeFrame:
    """`frame_of` for loops."""
    return TreeFrame((n[0], n[1], n[2]), n[3], (n[4], n[5], n[6]), (n[7], n[8], n[9]))


@compiled_loop
def fill_frame(low: Vectors, high: Vectors, numbers: Column[np.float64]) -> None:
    """Write the ten numbers of `frame_around`, as `frame_of` reads them; the rest of `numbers` is scratch.

    The frame fits all boxes; or, if an eighth of them is within 1 / STRETCHED of the whole extent around a sampled box,
    one near the origin or else a median one, it fits those.
    """
    x, y, z, u, v, w = inf, inf, inf, -inf, -inf, -inf
    for i in range(len(low)):
        x, y, z = min(x, low[i, 0]), min(y, low[i, 1]), min(z, low[i, 2])
        u, v, w = max(u, high[i, 0]), max(v, high[i, 1]), max(w, high[i, 2])
    half = max(0.5 * u - 0.5 * x, 0.5 * v - 0.5 * y, 0.5 * w - 0.5 * z)
    centre = 0.5 * x + 0.5 * u, 0.5 * y + 0.5 * v, 0.5 * z + 0.5 * w
    n, count, apart = len(low), min(len(low), SAMPLES), numbers[FRAME_NUMBERS:]
    for rank in (count // 16, count // 2):
        _sort_by_distance(low, high, (0.0, 0.0, 0.0), apart)
        wanted, seed = apart[rank], 0
        for k in range(count):
            if _distance_of(low, high, k * n // count, (0.0, 0.0, 0.0)) == wanted:
                seed = k * n // count
        about = _middle_of(low, high, seed)
        near = 0
        for k in range(count):
            near += int(STRETCHED * _distance_of(low, high, k * n // count, about) <= half)
        if 8 * near >= count:
            _sort_by_distance(low, high, about, apart)
            size = max(high[seed, 0] - low[seed, 0], high[seed, 1] - low[seed, 1], high[seed, 2] - low[seed, 2])
            radius = max(apart[count // 8], size)
            for k in range(count // 8, count):
                if apart[k] <= 8.0 * radius:
                    radius = max(radius, apart[k])
            if STRETCHED * radius <= half:
                centre, half = about, 2.0 * radius
                break
    scale = ldexp(1.0, -frexp(half)[1])  # 0.5 <= half scale < 1
    numbers[0], numbers[1], numbers[2], numbers[3] = centre[0], centre[1], centre[2], scale
    box = box_in_frame(centre, scale, (x, y, z), (u, v, w), True)
    for k in range(2 * HIGH):
        numbers[4 + k] = box[k]


@inlined
def farthest_of(frame: TreeFrame) -> float:
    """The largest |coordinate| of a corner in the frame of the tree, at least 1, times CORE."""
    low, high = frame.low, frame.high
    return CORE * max(-low[0], -low[1], -low[2], high[0], high[1], high[2], 1.0)


@inlined
def corner_of(corners: Float64Array, i: int) -> tuple[float, float, float]:
    """Row i of the corners (n, 3) of boxes."""
    return corners[i, 0], corners[i, 1], corners[i, 2]


@inlined
def _middle_of(low: Float64Array, high: Float64Array, i: int) -> tuple[float, float, float]:
    """The centre of box i."""
    return 0.5 * low[i, 0] + 0.5 * high[i, 0], 0.5 * low[i, 1] + 0.5 * high[i, 1], 0.5 * low[i, 2] + 0.5 * high[i, 2]


@inlined
def _distance_of(low: Float64Array, high: Float64Array, i: int, point: tuple[float, float, float]) -> float:
    """The largest difference in a coordinate between the centre of box i and a point."""
    x, y, z = _middle_of(low, high, i)
    return max(abs(x - point[0]), abs(y - point[1]), abs(z - point[2]))


@compiled
def _sort_by_distance(
    low: Float64Array, high: Float64Array, point: tuple[float, float, float], apart: Float64Array
) -> None:
    """Write the distances of the sampled boxes from a point, in ascending order."""
    n, count = len(low), min(len(low), SAMPLES)
    for k in range(count):
        distance, j = _distance_of(low, high, k * n // count, point), k
        while j > 0 and apart[j - 1] > distance:
            apart[j] = apart[j - 1]
            j -= 1
        apart[j] = distance


@inlined
def box_in_frame(
    centre: tuple[float, float, float],
    scale: float,
    low: tuple[float, float, float],
    high: tuple[float, float, float],
    is_wide: bool,
) -> Box:
    """A box as stored in a tree's bounds: in its frame, and padded in proportion to its largest |coordinate|.

    A box beyond `FARTHEST_BOX` becomes all space beyond half of that. Not `is_wide`: the box is in the core.
    """
    x, y, z = (low[0] - centre[0]) * scale, (low[1] - centre[1]) * scale, (low[2] - centre[2]) * scale
    u, v, w = (high[0] - centre[0]) * scale, (high[1] - centre[1]) * scale, (high[2] - centre[2]) * scale
    farthest = max(-x, -y, -z, u, v, w) if is_wide else 1.0
    if farthest > FARTHEST_BOX:
        (x, u), (y, v), (z, w) = _opened(x, u), _opened(y, v), _opened(z, w)
        return x, y, z, u, v, w
    pad = BOX_PAD * max(0.5 * farthest, 1.0)
    return x - pad, y - pad, z - pad, u + pad, v + pad, w + pad


@inlined
def _opened(begin: float, end: float) -> tuple[float, float]:
    """All beyond half of `FARTHEST_BOX` if the given interval is beyond `FARTHEST_BOX`, else everything."""
    return (
        0.5 * FARTHEST_BOX if begin > FARTHEST_BOX else -inf,
        -0.5 * FARTHEST_BOX if end < -FARTHEST_BOX else inf,
    )


def empty_tree() -> Tree:
    """A tree over no boxes: one node, all slots empty."""
    bounds = np.empty((1, 6, TREE_WIDTH), np.float32)
    bounds[:, :3], bounds[:, 3:] = inf, -inf
    child, axis = np.full((1, TREE_WIDTH), EMPTY, np.int32), np.zeros(1, np.int8)
    for column in (bounds, child, axis):
        column.flags.writeable = False
    nowhere = TreeFrame((0.0, 0.0, 0.0), 1.0, (1.0,) * 3, (-1.0,) * 3)
    return Tree(bounds, child, 0, axis, TREE_WIDTH + 1, nowhere)
