"""A move of few characters in the columns of the present state, by one loop that writes all or nothing.

Whatever may be refused is found out before it writes. It keeps the interpreter's lock, as C code does that does not
give it back: no thread, no signal's handler and no fork comes between its first number and its last.
"""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Column, Int64Array, Rows, Vectors
from cylcollide.bones.rig_rows import Bones, Placed, Places, RigRows, place_character
from cylcollide.bvh import refit
from cylcollide.bvh.layout import Space, box_edge
from cylcollide.characters.rig import Rig
from cylcollide.constants import BOX_PAD
from cylcollide.kernels.aabb import padded_box
from cylcollide.kernels.limb_table import ROW, limb_at, write_row
from cylcollide.kernels.ray import as_vector
from cylcollide.runtime.compile import compiled, locked_loop
from cylcollide.world.pose_columns import PoseColumns

MOVED, READ_ELSEWHERE, OUTSIDE = -1, -2, -3
"""What `Stage.move` returns besides the row of a bad pose."""


class Shapes(NamedTuple):
    """The m limbs of a rig beside `RigRows`."""

    kind: Column[np.int8]  # (m,)
    radius: Column[np.float64]  # (m,)
    radius2: Column[np.float64]  # (m,)


class Staged(NamedTuple):
    """Work arrays: what is to be written for k characters of m limbs."""

    first: Places  # (k,) each: where each character begins in `placed`
    placed: Placed  # (k m, ...)
    rows: Rows[np.float64]  # (k m, ROW)
    solid: Column[np.int8]  # (k m,)
    low: Vectors  # (k m, 3): of the boxes around limbs
    high: Vectors  # (k m, 3)
    limb: Column[np.int32]  # (k m,): the row of the state
    dirty: Column[np.bool_]  # (nodes,)
    corners: Column[np.float64]  # (6,)


class Stage:
    """Where poses of so many characters of a rig are prepared, for a state whose tree has so many nodes."""

    def __init__(self, rig: Rig, characters: int, nodes: int) -> None:
        m, bones, boxes = len(rig.limbs), len(rig.bone_names), len(rig.rows.boxes)
        order, table = np.arange(characters, dtype=np.int32), rig.limbs.table
        p1, p2, low, high = np.empty((4, characters * m, 3))
        self._rig, self._shapes = rig, Shapes(table.kind, table.radius, table.radius2)
        self._staged = Staged(
            Places(order * np.int32(bones), order * np.int32(m), order * np.int32(boxes)),
            Placed(p1, p2, np.empty((characters * boxes, 12))),
            np.empty((characters * m, ROW)), np.empty(characters * m, np.int8), low, high,
            np.empty(characters * m, np.int32), np.empty(nodes, np.bool_), np.empty(6),
        )  # fmt: skip

    def suits(self, rig: Rig, characters: int, nodes: int) -> bool:
        """Whether it was made for these."""
        sizes = len(self._staged.first.row), len(self._staged.dirty)
        return self._rig is rig and sizes == (characters, nodes)

    def move(
        self, pose: Bones, place: Int64Array, first: Places, at: refit.Places, space: Space, columns: PoseColumns,
        lent: Int64Array,
    ) -> int:  # fmt: skip
        """Move the characters at these places (k,) of a state, unless its columns have been lent.

        Parameters
        ----------
        pose
            Their bones, one character after another.
        first
            Where each character of the state begins in its columns.
        at, space
            Of its tree.
        columns, lent
            Of its `PoseMemory`.

        Returns
        -------
        int
            MOVED; or nothing was written, since the columns are READ_ELSEWHERE, or a limb would be OUTSIDE of the box
            around all limbs, or the pose of this row, from 0 on, is bad.
        """
        return _move(self._rig.rows, self._shapes, pose, place, first, self._staged, at, space, columns, lent)


@locked_loop
def _move(
    rig: RigRows,
    shapes: Shapes,
    pose: Bones,
    place: Column[np.int64],
    first: Places,
    staged: Staged,
    at: refit.Places,
    space: Space,
    columns: PoseColumns,
    lent: Column[np.int64],
) -> int:
    """Place k characters, and write their columns and the bounds above them; as `Stage.move` returns."""
    k = place.size
    count = pose.positions.shape[0] // k
    for c in range(k):
        if not place_character(rig, count, pose, staged.first, c, staged.placed):
            return c
    for c in range(k):
        if not _stage(rig, shapes, c, first.row[place[c]], staged, space):
            return OUTSIDE
    if lent[0] != 0:
        return READ_ELSEWHERE
    for j in range(staged.limb.size):
        i = staged.limb[j]
        columns.solid[i] = staged.solid[j]
        for n in range(3):
            columns.p1[i, n], columns.p2[i, n] = staged.placed.p1[j, n], staged.placed.p2[j, n]
        for n in range(ROW):
            columns.rows[i, n] = staged.rows[j, n]
    for c in range(k):
        box, bone = first.box[place[c]], first.bone[place[c]]
        for b in range(rig.boxes.shape[0]):
            for n in range(12):
                columns.boxes[box + b, n] = staged.placed.boxes[staged.first.box[c] + b, n]
        for b in range(count):
            for n in range(3):
                columns.positions[bone + b, n] = pose.positions[c * count + b, n]
            for n in range(4):
                columns.orientations[bone + b, n] = pose.orientations[c * count + b, n]
    for node in range(staged.dirty.size):
        staged.dirty[node] = False
    refit.fit_items(at, staged.limb, staged.low, staged.high, space, columns.bounds, staged.dirty)
    refit.fit_branches(at, columns.bounds, staged.dirty, staged.corners)
    return MOVED


@compiled
def _stage(rig: RigRows, shapes: Shapes, c: int, row: int, staged: Staged, space: Space) -> bool:
    """Write the rows and boxes of character c, whose limbs are placed; whether they lie in the box around all limbs."""
    begin, placed, centre, scale = staged.first.row[c], staged.placed, space.centre, space.scale
    for i in range(rig.bone.size):
        j = begin + i
        staged.limb[j] = row + i
        box = placed.boxes[staged.first.box[c] + rig.box[i]] if rig.box[i] >= 0 else staged.rows[j]
        staged.solid[j] = write_row(
            staged.rows[j], shapes.kind[i], as_vector(placed.p1, j), as_vector(placed.p2, j), shapes.radius[i],
            shapes.radius2[i], box,
        )  # fmt: skip
        smallest, largest = padded_box(limb_at(staged.rows, staged.solid, j))
        for axis in range(3):
            staged.low[j, axis], staged.high[j, axis] = smallest[axis], largest[axis]
            begins = box_edge(smallest[axis], centre[axis], scale, -BOX_PAD)
            ends = box_edge(largest[axis], centre[axis], scale, BOX_PAD)
            if not (begins >= space.low[axis] and ends <= space.high[axis]):
                return False
    return True
