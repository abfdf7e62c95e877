"""The columns that moves change, in memory that a later state reuses once nothing reads it."""

from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import Column, Int64Array, NodeBoxes, Quaternions, Rows, Vectors
from cylcollide.bones.rig_rows import Bones, Parts, Placed
from cylcollide.bvh.layout import FRAME_MEMORY, HIGH, Tree, fill_frame, frame_at, frame_of
from cylcollide.bvh.refit import fit_bounds, tree_cost
from cylcollide.constants import FEW_MOVED, TREE_WIDTH
from cylcollide.kernels.aabb import refill_row
from cylcollide.kernels.limb_table import ROW, LimbTable
from cylcollide.runtime.compile import compiled_loop
from cylcollide.runtime.memory import LINE, Lender, aligned, frozen
from cylcollide.world.layout import WorldLayout
from cylcollide.world.shared_rows import Shared

KINDS: tuple[np.dtype[Any], ...] = (*[np.dtype(np.float64)] * 6, np.dtype(np.int8), np.dtype(np.float32))
"""The dtypes of `PoseColumns`."""
Slot: TypeAlias = tuple[tuple[int, ...], np.dtype[Any], int]
"""Shape and dtype of a column, and its byte offset in the buffer."""


class PoseColumns(NamedTuple):
    """Arrays that a state reads and their owner writes."""

    rows: Rows[np.float64]  # (rows, ROW)
    p1: Vectors  # (rows, 3)
    p2: Vectors  # (rows, 3)
    boxes: Rows[np.float64]  # (boxes, 12)
    positions: Vectors  # (bones, 3): of all posed characters
    orientations: Quaternions  # (bones, 4)
    kernel_shape: Column[np.int8]  # (rows,)
    bounds: NodeBoxes  # (nodes, 6, 8): of the tree

    @classmethod
    def for_layout(cls, layout: WorldLayout) -> "PoseColumns":
        """Uninitialised columns of the layout's lengths, without bounds."""
        rows = aligned((layout.rows, ROW), np.float64, np.empty)
        p1, p2 = np.empty((layout.rows, 3)), np.empty((layout.rows, 3))
        bones = np.empty((layout.bones, 3)), np.empty((layout.bones, 4))
        return cls(rows, p1, p2, np.empty((layout.boxes, 12)), *bones, np.empty(layout.rows, np.int8), NO_BOUNDS)

    @property
    def bones(self) -> Bones:
        """The bones of all posed characters."""
        return Bones(self.positions, self.orientations)

    @property
    def placed(self) -> Placed:
        """Ends and boxes of all limbs."""
        return Placed(self.p1, self.p2, self.boxes)

    def table(self, layout: WorldLayout) -> LimbTable:
        """The table of all limbs, made of these columns and the layout's."""
        kind, radius, radius2 = layout.shapes
        shared = layout.box, self.boxes, layout.character, layout.mask
        return LimbTable(kind, self.p1, self.p2, radius, radius2, *shared, self.kernel_shape, self.rows)

    def frozen(self) -> "PoseColumns":
        """Read-only views."""
        views = [column.view() for column in self]
        for view in views:
            frozen(view)
        return PoseColumns._make(views)

    def copy_ends(self, other: "PoseColumns", changed: Parts | None) -> None:
        """Copy the changed ends, boxes and bones from columns of the same lengths; None copies all columns."""
        if changed is None:
            for name in self._fields:
                getattr(self, name)[...] = getattr(other, name)
            return
        self.p1[changed.rows], self.p2[changed.rows] = other.p1[changed.rows], other.p2[changed.rows]
        self.boxes[changed.boxes] = other.boxes[changed.boxes]
        self.positions[changed.bones] = other.positions[changed.bones]
        self.orientations[changed.bones] = other.orientations[changed.bones]

    def copy_shared(self, other: "PoseColumns", shared: Shared) -> None:
        """Copy the bare limbs and the shared owners from columns of another layout. Bounds stay."""
        for row, end, to, box, box_end, to_box, bone, bone_end, to_bone in shared.runs.tolist():
            if row == end and bone == bone_end:
                continue
            source, target = slice(row, end), slice(to, to + end - row)
            self.rows[target], self.kernel_shape[target] = other.rows[source], other.kernel_shape[source]
            self.p1[target], self.p2[target] = other.p1[source], other.p2[source]
            self.boxes[to_box : to_box + box_end - box] = other.boxes[box:box_end]
            source, target = slice(bone, bone_end), slice(to_bone, to_bone + bone_end - bone)
            self.positions[target], self.orientations[target] = other.positions[source], other.orientations[source]


NO_BOUNDS: NodeBoxes = np.empty((0, 2 * HIGH, TREE_WIDTH), np.float32)


class PoseMemory:
    """Uninitialised columns of the given lengths in one buffer; the owner lends them to states."""

    def __init__(self, rows: int, boxes: int, bones: int, nodes: int) -> None:
        shapes = ((rows, ROW), (rows, 3), (rows, 3), (boxes, 12), (bones, 3), (bones, 4), (rows,))
        self._slots, size = list[Slot](), 0
        for shape, kind in zip((*shapes, (nodes, 2 * HIGH, TREE_WIDTH)), KINDS, strict=True):
            self._slots.append((shape, kind, size))
            size += -(-prod(shape) * kind.itemsize // LINE) * LINE
        self._lender = Lender(size, is_read_only=True)
        self.columns = self._of(self._lender.buffer)
        """Writable columns; write only while they are not lent."""
        self.lent = np.zeros(1, np.int64)
        """(1,): `lend` sets it to 1. A loop that reads 0 may write: nothing was lent since it was reset."""

    def _of(self, buffer: NDArray[np.uint8]) -> PoseColumns:
        return PoseColumns(*(np.ndarray(shape, kind, buffer, begin) for shape, kind, begin in self._slots))

    def lend(self) -> PoseColumns:
        """The columns, read-only, for a state."""
        buffer = self._lender.lend()
        self.lent[0] = 1  # after the lease exists, and before anything is read
        return self._of(buffer)

    @property
    def is_free(self) -> bool:
        """Whether no state, result or user's array refers to the columns; for one thread at a time."""
        return self._lender.is_free


@dataclass(frozen=True, slots=True)
class Spare:
    """The memory of an earlier state, and where it differs from that of the present state."""

    memory: PoseMemory
    behind: Parts | None  # outdated limbs, boxes and bones; None: all may be
    moved: list[Int64Array]  # indices of the characters moved in place since, which are outdated, too

    def after(self, posed: Int64Array, layout: WorldLayout) -> "Spare":
        """The spare after the posed characters of these indices were moved in place in the present state."""
        if self.behind is None or len(self.moved) > len(layout.ids):
            return Spare(self.memory, None, [])
        self.moved.append(posed)
        return self

    def differs_in(self, layout: WorldLayout, changed: Parts) -> Parts | None:
        """The parts, other than `changed`, that differ from the present state; None: copy everything.

        If many parts differ, copying everything costs less than recomputing the rows of so many limbs.
        """
        if self.behind is None:
            return None
        if self.behind is changed and not self.moved:  # e.g. all characters move again, and statics do not
            return Parts(*(column[:0] for column in changed))
        parts = [self.behind]
        if self.moved:
            parts.append(layout.indices_of(np.unique(np.concatenate(self.moved))))
        if sum(len(part.rows) for part in parts) > FEW_MOVED * layout.rows:
            return None
        return parts[0] if len(parts) == 1 else Parts(*map(np.concatenate, zip(*parts, strict=True)))


class Draft(PoseMemory):
    """Memory of a state without characters whose limbs all have new ends, and of the values derived from these.

    Allocation takes longer than writing, so a draft is reused once nothing reads its state.
    """

    def __init__(self, layout: WorldLayout, nodes: int) -> None:
        """Write `p1`, `p2` and `boxes` of the columns before `refit`. `nodes`: the number of nodes of the tree."""
        super().__init__(layout.rows, layout.boxes, layout.bones, nodes)
        self.layout, self.nodes = layout, nodes
        self.low, self.high = np.empty((2, layout.rows, 3))
        """Corners of the limbs' boxes, (n, 3)."""
        self._table, self._frame_numbers = self.columns.table(layout), np.empty(FRAME_MEMORY)

    def suits(self, layout: WorldLayout, nodes: int) -> bool:
        """Whether this draft fits the layout and tree, and may be overwritten: nothing refers to its columns."""
        return self.layout is layout and self.nodes == nodes and self.is_free

    def refit(self, tree: Tree) -> tuple[Tree, float]:
        """The tree with its boxes refitted to the n > 0 limbs, and its `tree_cost`; writes all derived columns."""
        bounds, numbers = self.columns.bounds, self._frame_numbers
        cost = refit_limbs(self._table, tree.child, self.low, self.high, numbers, bounds)
        return Tree(bounds, tree.child, tree.items, tree.axis, tree.stack_size, frame_of(numbers)), cost


@compiled_loop
def refit_limbs(
    table: LimbTable, child: Rows[np.int32], low: Vectors, high: Vectors, numbers: Column[np.float64], bounds: NodeBoxes
) -> float:
    """Write all values derived from the ends of n > 0 limbs; return the `tree_cost`.

    These are `rows` and `kernel_shape` of the table, the corners of the limbs' boxes (n, 3), the bounds of their tree
    (nodes, 6, 8), and its frame as FRAME_MEMORY numbers, for `frame_of`.
    """
    for i in range(table.radius.size):
        refill_row(table, i, low, high, i)
    fill_frame(low, high, numbers)
    fit_bounds(child, low, high, frame_at(numbers), bounds)
    return tree_cost(bounds, numbers[3])
