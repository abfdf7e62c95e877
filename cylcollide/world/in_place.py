"""In-place moves of a few characters: much cheaper than copying all columns of the present state.

If nothing else holds an array of the columns, overwriting them has the same effect as copying them. The world drops
its snapshot, checks that no lease of the columns is left, and one loop writes them; the next query makes a snapshot.
The loop checks before it writes, and holds the GIL: no other thread, no signal handler and no fork runs between its
first and its last write.
"""

from functools import partial
from math import inf
from typing import NamedTuple
from weakref import ref

import numpy as np

from cylcollide._types import Column, Int64Array, Rows, Vectors
from cylcollide.bones.rig_rows import Bones, Parts, Placed, RigRows, place_character
from cylcollide.bvh.layout import TreeFrame, box_in_frame
from cylcollide.bvh.refit import Slots, fit_some
from cylcollide.characters.rig import Rig
from cylcollide.kernels.aabb import padded_box
from cylcollide.kernels.limb_table import ROW, limb_at, write_row
from cylcollide.kernels.ray import as_vector
from cylcollide.runtime.compile import compiled, compiled_loop
from cylcollide.world.pose_columns import PoseColumns, PoseMemory
from cylcollide.world.snapshot import Snapshot

MOVED, READ_ELSEWHERE, OUTSIDE = -1, -2, -3
"""Return values of `move_characters` other than the row of a bad pose."""


class PoseScratch(NamedTuple):
    """Work arrays: the values to write for k characters of one rig with m limbs, and the shapes of the limbs."""

    kind: Column[np.int8]  # (m,)
    radius: Column[np.float64]  # (m,)
    radius2: Column[np.float64]  # (m,)
    first: Parts  # (k,) each: the first index of each character in `placed`
    placed: Placed  # (k m, ...)
    rows: Rows[np.float64]  # (k m, ROW)
    kernel_shape: Column[np.int8]  # (k m,)
    low: Vectors  # (k m, 3): lower corners of the limbs' boxes
    high: Vectors  # (k m, 3)
    limb: Column[np.int32]  # (k m,): the row of the state
    dirty: Column[np.bool_]  # (nodes,)

    def suits(self, rig: Rig, characters: int, nodes: int) -> bool:
        """Whether these arrays have the sizes for this rig and these counts."""
        sizes = len(self.first.rows), len(self.dirty)
        return self.kind is rig.limbs._table.kind and sizes == (characters, nodes)


def make_pose_scratch(rig: Rig, characters: int, nodes: int) -> PoseScratch:
    """Work arrays for `characters` characters of a rig in a state whose tree has `nodes` nodes."""
    m, bones, boxes = len(rig.limbs), len(rig.bone_names), len(rig._rows.boxes)
    order, table = np.arange(characters, dtype=np.int32), rig.limbs._table
    p1, p2, low, high = np.empty((4, characters * m, 3))
    return PoseScratch(
        table.kind, table.radius, table.radius2,
        Parts(order * np.int32(m), order * np.int32(boxes), order * np.int32(bones)),
        Placed(p1, p2, np.empty((characters * boxes, 12))),
        np.empty((characters * m, ROW)), np.empty(characters * m, np.int8), low, high,
        np.empty(characters * m, np.int32), np.empty(nodes, np.bool_),
    )  # fmt: skip


@partial(compiled_loop, keeps_lock=True)
def move_characters(
    rig: RigRows,
    pose: Bones,
    place: Column[np.int64],
    first: Parts,
    scratch: PoseScratch,
    at: Slots,
    frame: TreeFrame,
    columns: PoseColumns,
    lent: Column[np.int64],
) -> int:
    """Move k characters of a rig in the columns of a state, unless the columns are lent.

    `pose` has their bones, one character after another. `place` (k,) is their index among the posed characters, `first`
    where each of those begins in the columns. `at` and `frame` belong to the state's tree, `columns` and `lent` to its
    `PoseMemory`. Returns MOVED if the columns were written. Otherwise returns READ_ELSEWHERE if they are lent, OUTSIDE
    if a limb would leave the box around all limbs, or the row, 0 or more, of a bad pose.
    """
    (positions, orientations), k = pose, place.size
    count = positions.shape[0] // k
    for c in range(k):
        if not place_character(rig, count, pose, scratch.first, c, scratch.placed):
            return c
    for c in range(k):
        if not _prepare(rig, c, first.rows[place[c]], scratch, frame):
            return OUTSIDE
    if lent[0] != 0:
        return READ_ELSEWHERE
    for j in range(scratch.limb.size):
        i = scratch.limb[j]
        columns.kernel_shape[i] = scratch.kernel_shape[j]
        for n in range(3):
            columns.p1[i, n], columns.p2[i, n] = scratch.placed.p1[j, n], scratch.placed.p2[j, n]
        for n in range(ROW):
            columns.rows[i, n] = scratch.rows[j, n]
    for c in range(k):
        box, bone = first.boxes[place[c]], first.bones[place[c]]
        for b in range(rig.boxes.shape[0]):
            for n in range(12):
                columns.boxes[box + b, n] = scratch.placed.boxes[scratch.first.boxes[c] + b, n]
        for b in range(count):
            for n in range(3):
                columns.positions[bone + b, n] = positions[c * count + b, n]
            for n in range(4):
                columns.orientations[bone + b, n] = orientations[c * count + b, n]
    for node in range(scratch.dirty.size):
        scratch.dirty[node] = False
    fit_some(at, scratch.limb, scratch.low, scratch.high, frame, inf, columns.bounds, scratch.dirty)
    return MOVED


@compiled
def _prepare(rig: RigRows, c: int, row: int, scratch: PoseScratch, frame: TreeFrame) -> bool:
    """Write rows and boxes of the placed limbs of character c; return whether they lie in the box around all limbs."""
    begin, placed, centre, scale = scratch.first.rows[c], scratch.placed, frame.centre, frame.scale
    for i in range(rig.bone.size):
        j = begin + i
        scratch.limb[j] = row + i
        box = placed.boxes[scratch.first.boxes[c] + rig.box[i]] if rig.box[i] >= 0 else scratch.rows[j]
        scratch.kernel_shape[j] = write_row(
            scratch.rows[j], scratch.kind[i], as_vector(placed.p1, j), as_vector(placed.p2, j), scratch.radius[i],
            scratch.radius2[i], box,
        )  # fmt: skip
        smallest, largest = padded_box(limb_at(scratch.rows, scratch.kernel_shape, j))
        bounds = box_in_frame(centre, scale, smallest, largest, True)
        for axis in range(3):
            scratch.low[j, axis], scratch.high[j, axis] = smallest[axis], largest[axis]
            begins, ends = bounds[axis], bounds[3 + axis]
            # the frame's corners may be rounded to float32, as are the boxes inside them
            begins, ends = max(begins, float(np.float32(begins))), min(ends, float(np.float32(ends)))
            if not (begins >= frame.low[axis] and ends <= frame.high[axis]):
                return False
    return True


class Present:
    """The present state, and the memory of its columns if a move wrote them."""

    def __init__(self, state: Snapshot, memory: PoseMemory | None = None) -> None:
        self.published: Snapshot | None = state
        """The snapshot of the state; None after a move in place, until the next query."""
        self.roster, self.layout, self.memory = state._roster, state._layout, memory
        self._tree, self._built_cost = state._tree, state._built_cost
        if memory is not None:  # this object must not hold a lease
            self._tree = state._tree._replace(bounds=memory.columns.bounds)

    def publish(self) -> Snapshot:
        """Publish a snapshot after moves in place, and return it. Another thread may publish an equal one."""
        assert self.memory is not None
        columns = self.memory.lend()
        state = Snapshot(self.roster, self.layout, columns, self._tree, self._built_cost, self._slots)
        self.published = state
        return state

    def move(self, rig: RigRows, bones: Bones, posed: Int64Array, scratch: PoseScratch) -> int:
        """Move the posed characters of these indices with `move_characters`; for one thread at a time."""
        state, memory = self.published, self.memory
        if memory is None:
            return READ_ELSEWHERE
        if state is not None:
            self._slots = state._slots
        held = None if state is None else ref(state)
        memory.lent[0] = 0  # from here on, a thread that publishes sets it before it reads
        self.published = state = None
        if not memory.is_free:
            self.published = None if held is None else held()
            return READ_ELSEWHERE
        tree = (self._slots, self._tree.frame)
        return move_characters(rig, bones, posed, self.layout.first, scratch, *tree, memory.columns, memory.lent)
