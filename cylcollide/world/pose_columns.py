"""The columns of a state that moves change, in buffers which a later state takes over when nobody reads them."""

from math import prod
from sys import getrefcount
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import Float32Array, Float64Array, Int8Array
from cylcollide.bvh.layout import HIGH
from cylcollide.constants import TREE_WIDTH
from cylcollide.kernels.limb_table import ROW, LimbTable
from cylcollide.runtime.memory import LINE, frozen
from cylcollide.world.state_rows import Changed, Runs, StateRows


class PoseColumns(NamedTuple):
    """Arrays that are written before a state is made of read-only views of them, and not while there is one."""

    rows: Float64Array  # (rows, ROW)
    p1: Float64Array  # (rows, 3)
    p2: Float64Array  # (rows, 3)
    boxes: Float64Array  # (boxes, 12)
    positions: Float64Array  # (bones, 3): of all posed characters
    orientations: Float64Array  # (bones, 4)
    solid: Int8Array  # (rows,)
    bounds: Float32Array  # (nodes, 6, 8): of the tree

    def table(self, rows: StateRows) -> LimbTable:
        """The table of all limbs, with these columns."""
        return LimbTable(
            rows.kind, self.p1, self.p2, rows.radius, rows.radius2, rows.box, self.boxes, rows.character, rows.mask,
            self.solid, self.rows,
        )  # fmt: skip

    def frozen(self) -> "PoseColumns":
        """Read-only views."""
        views = [column.view() for column in self]
        for view in views:
            frozen(view)
        return PoseColumns._make(views)

    def with_bounds(self, nodes: int) -> "PoseColumns":
        """With bounds of so many nodes, which have no numbers yet."""
        (bounds,) = _in_one_buffer(((nodes, 2 * HIGH, TREE_WIDTH), np.dtype(np.float32)))
        return self._replace(bounds=bounds)

    def copy_ends(self, other: "PoseColumns", changed: Changed | None) -> None:
        """Copy ends, boxes and bones that have changed from equally long columns; all columns if it is None."""
        if changed is None:
            for name in self._fields:
                getattr(self, name)[...] = getattr(other, name)
            return
        self.p1[changed.rows], self.p2[changed.rows] = other.p1[changed.rows], other.p2[changed.rows]
        self.boxes[changed.boxes] = other.boxes[changed.boxes]
        self.positions[changed.bones] = other.positions[changed.bones]
        self.orientations[changed.bones] = other.orientations[changed.bones]

    def copy_runs(self, other: "PoseColumns", runs: Runs) -> None:
        """Copy what is kept of columns of other lengths. Bounds stay."""
        for kept, names in (
            (runs.rows, ("rows", "p1", "p2", "solid")),
            (runs.boxes, ("boxes",)),
            (runs.bones, ("positions", "orientations")),
        ):
            for name in names:
                mine, theirs = getattr(self, name), getattr(other, name)
                for begin, end, to in kept:
                    mine[to : to + end - begin] = theirs[begin:end]


def pose_columns(rows: int, boxes: int, bones: int) -> PoseColumns:
    """Columns of these lengths, with no numbers in them yet, and no bounds."""
    float64, int8 = np.dtype(np.float64), np.dtype(np.int8)
    shapes = ((rows, ROW), (rows, 3), (rows, 3), (boxes, 12), (bones, 3), (bones, 4))
    columns = _in_one_buffer(*((shape, float64) for shape in shapes), ((rows,), int8))
    return PoseColumns._make([*columns, np.empty((0, 2 * HIGH, TREE_WIDTH), np.float32)])


def _in_one_buffer(*arrays: tuple[tuple[int, ...], np.dtype[Any]]) -> list[NDArray[Any]]:
    """Arrays of these shapes and dtypes in one buffer, the first one at a cache line."""
    sizes = [prod(shape) * kind.itemsize for shape, kind in arrays]
    buffer = np.empty(sum(sizes) + LINE, np.uint8)
    begin = -buffer.ctypes.data % LINE
    columns = []
    for (shape, kind), size in zip(arrays, sizes, strict=True):
        columns.append(np.ndarray(shape, kind, buffer, begin))
        begin += size
    return columns


def _references(columns: PoseColumns) -> tuple[int, int]:
    """References to both buffers: each column counts, each view of one, and this function."""
    return getrefcount(columns.rows.base), getrefcount(columns.bounds.base)


_OWN_REFERENCES = _references(pose_columns(0, 0, 0).with_bounds(0))
"""`_references` of columns that nothing else reads."""


def is_free(columns: PoseColumns) -> bool:
    """Whether no state, no answer and no array that a user has kept reads these columns."""
    rows, bounds = _references(columns)
    return rows <= _OWN_REFERENCES[0] and bounds <= _OWN_REFERENCES[1]
