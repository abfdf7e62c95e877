"""The columns that moves change, in memory that a later state reuses when nothing reads it any more."""

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
"""Shape and dtype of a column, and where it begins in its buffer."""


class PoseColumns(NamedTuple):
    """Arrays that a state reads, or their owner writes."""

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
        """Columns of these lengths, with no numbers in them yet, and no bounds."""
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
        """The table of all limbs, with these columns."""
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
        """Copy ends, boxes and bones that have changed from equally long columns; all columns if it is None."""
        if changed is None:
            for name in self._fields:
                getattr(self, name)[...] = getattr(other, name)
            return
        self.p1[changed.rows], self.p2[changed.rows] = other.p1[changed.rows], other.p2[changed.rows]
        self.boxes[changed.boxes] = other.boxes[changed.boxes]
        self.positions[changed.bones] = other.positions[changed.bones]
        self.orientations[changed.bones] = other.orientations[changed.bones]

    def copy_shared(self, other: "PoseColumns", shared: Shared) -> None:
        """Copy the bare limbs, and the owners that both layouts have, from columns of another one. Bounds stay."""
        for row, end, to, box, box_end, to_box, bone, bone_end, to_bone in shared.runs.tolist():
            if row == end and bone == bone_end:
                continue
            here, there = slice(row, end), slice(to, to + end - row)
            self.rows[there], self.kernel_shape[there] = other.rows[here], other.kernel_shape[here]
            self.p1[there], self.p2[there] = other.p1[here], other.p2[here]
            self.boxes[to_box : to_box + box_end - box] = other.boxes[box:box_end]
            here, there = slice(bone, bone_end), slice(to_bone, to_bone + bone_end - bone)
            self.positions[there], self.orientations[there] = other.positions[here], other.orientations[here]


NO_BOUNDS: NodeBoxes = np.empty((0, 2 * HIGH, TREE_WIDTH), np.float32)


class PoseMemory:
    """Columns of these lengths in one buffer, with no numbers in them yet. Its owner lends them to states."""

    def __init__(self, rows: int, boxes: int, bones: int, nodes: int) -> None:
        shapes = ((rows, ROW), (rows, 3), (rows, 3), (boxes, 12), (bones, 3), (bones, 4), (rows,))
        self._slots, size = list[Slot](), 0
        for shape, kind in zip((*shapes, (nodes, 2 * HIGH, TREE_WIDTH)), KINDS, strict=True):
            self._slots.append((shape, kind, size))
            size += -(-prod(shape) * kind.itemsize // LINE) * LINE
        self._lender = Lender(size, is_read_only=True)
        self.columns = self._of(self._lender.buffer)
        """To be written while they are not lent."""
        self.lent = np.zeros(1, np.int64)
        """(1,): set to 1 when they are lent; for a loop that writes if they were not, since this was set to 0."""

    def _of(self, buffer: NDArray[np.uint8]) -> PoseColumns:
        return PoseColumns(*(np.ndarray(shape, kind, buffer, begin) for shape, kind, begin in self._slots))

    def lend(self) -> PoseColumns:
        """The columns, read-only, for a state."""
        buffer = self._lender.lend()
        self.lent[0] = 1  # after there is a lease, and before anything is read
        return self._of(buffer)

    @property
    def is_free(self) -> bool:
        """Whether no state, no answer and no array of a user reads them; for one thread at a time."""
        return self._lender.is_free


@dataclass(frozen=True, slots=True)
class Spare:
    """The memory of an earlier state, and where it differs from that of the present one."""

    memory: PoseMemory
    behind: Parts | None  # None: in anything
    moved: list[Int64Array]  # besides, by their places, the characters that were moved in place since

    def after(self, place: Int64Array, layout: WorldLayout) -> "Spare":
        """The same after characters at these places were moved in place in the present state."""
        if self.behind is None or len(self.moved) > len(layout.ids):
            return Spare(self.memory, None, [])
        self.moved.append(place)
        return self

    def differs_in(self, layout: WorldLayout, changed: Parts) -> Parts | None:
        """What differs from a state of these rows, besides what is `changed` now; None: anything may.

        If much differs, everything is copied: that costs less than computing the rows of so many limbs again.
        """
        if self.behind is None:
            return None
        if self.behind is changed and not self.moved:  # as when all characters move again, and statics stand
            return Parts(*(column[:0] for column in changed))
        parts = [self.behind]
        if self.moved:
            parts.append(layout.indices_of(np.unique(np.concatenate(self.moved))))
        if sum(len(part.rows) for part in parts) > FEW_MOVED * layout.rows:
            return None
        return parts[0] if len(parts) == 1 else Parts(*map(np.concatenate, zip(*parts, strict=True)))


class Draft(PoseMemory):
    """Memory of a state with a layout without characters, whose ends are all new, and of what follows from them.

    Allocation takes longer than writing, so a draft is reused once nothing reads its state.
    """

    def __init__(self, layout: WorldLayout, nodes: int) -> None:
        """`p1`, `p2` and `boxes` of the columns are to be written before `refit`; the tree has so many nodes."""
        super().__init__(layout.rows, layout.boxes, layout.bones, nodes)
        self.layout, self.nodes = layout, nodes
        self.low, self.high = np.empty((2, layout.rows, 3))
        """Corners of the boxes around limbs, (n, 3)."""
        self._table, self._frame_numbers = self.columns.table(layout), np.empty(FRAME_MEMORY)

    def suits(self, layout: WorldLayout, nodes: int) -> bool:
        """Whether this draft fits these, and may be overwritten: no state, answer or array of a user reads it."""
        return self.layout is layout and self.nodes == nodes and self.is_free

    def refit(self, tree: Tree) -> tuple[Tree, float]:
        """Write all that follows from the ends; the tree with its boxes fitted to n > 0 limbs, and its `tree_cost`."""
        bounds, numbers = self.columns.bounds, self._frame_numbers
        cost = refit_limbs(self._table, tree.child, self.low, self.high, numbers, bounds)
        return Tree(bounds, tree.child, tree.items, tree.axis, tree.stack_size, frame_of(numbers)), cost


@compiled_loop
def refit_limbs(
    table: LimbTable, child: Rows[np.int32], low: Vectors, high: Vectors, numbers: Column[np.float64], bounds: NodeBoxes
) -> float:
    """Write all that follows from the ends of n > 0 limbs; the `tree_cost` of it.

    That is `rows` and `kernel_shape` of the table, the corners of the limbs' boxes (n, 3), the bounds of their tree
    (nodes, 6, 8), and its frame as FRAME_MEMORY numbers, for `frame_of`.
    """
    for i in range(table.radius.size):
        refill_row(table, i, low, high, i)
    fill_frame(low, high, numbers)
    fit_bounds(child, low, high, frame_at(numbers), bounds)
    return tree_cost(bounds, numbers[3])
