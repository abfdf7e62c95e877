"""Limbs at one moment, with their tree; and the next state after limbs moved or characters were added or removed.

A move overwrites the columns of the state before the last, if nothing reads them, and refits the branches above the
moved limbs. If characters are added or removed, columns are new and the tree is patched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from cylcollide._types import Float64Array, Int32Array
from cylcollide.bones.rig_rows import Parts
from cylcollide.bvh.build import build
from cylcollide.bvh.layout import HIGH, Tree
from cylcollide.bvh.patch import patched
from cylcollide.bvh.refit import Slots, are_about_as_large, refit, refit_some, slots, tree_cost, with_corners
from cylcollide.constants import FEW_MOVED, LIMBS_PER_THREAD, MANY_ADDED, REBUILT_AT_ONCE, TREE_WIDTH
from cylcollide.kernels.aabb import limb_boxes, refill_rows
from cylcollide.kernels.limb_table import LimbRows, LimbTable
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.pictures import Scene
from cylcollide.limbs.tables import without_duplicates
from cylcollide.process.signatures import NO_CONSTRUCTOR
from cylcollide.process.threads import in_chunks
from cylcollide.query.labels import RowLabels
from cylcollide.runtime import memory
from cylcollide.runtime.compile import pack
from cylcollide.world.layout import WorldLayout
from cylcollide.world.pose_columns import Draft, PoseColumns, PoseMemory, Spare
from cylcollide.world.poses import OwnerPoses
from cylcollide.world.queries import Queries
from cylcollide.world.roster import Roster


class Snapshot(Queries):
    """Limbs at one moment, with their tree. Immutable; queries are safe from any thread."""

    __signature__ = NO_CONSTRUCTOR

    _tree: Tree
    _table: LimbTable
    _kernel_rows: LimbRows
    _packed: tuple[LimbRows, Tree]
    _roster: Roster
    """The characters and statics."""
    _layout: WorldLayout
    """The owners of rows, and the columns that moves do not change."""
    _columns: PoseColumns
    """The columns that moves change, read-only."""
    _built_cost: float
    """`tree_cost` when the tree was built."""
    _is_as_built: bool = False  # whether no limb has moved since the tree was built
    _state_row: None = None

    def __init__(
        self,
        roster: Roster,
        layout: WorldLayout,
        columns: PoseColumns,
        tree: Tree,
        built_cost: float,
        known_slots: Slots | None = None,
    ) -> None:
        """`columns` are read-only and hold the bounds of the tree; `known_slots`: its slots, if known."""
        vars(self).update(
            _roster=roster.frozen(), _layout=layout, _columns=columns, _table=columns.table(layout),
            _tree=tree._replace(bounds=columns.bounds), _built_cost=built_cost,
            _kernel_rows=LimbRows(
                columns.kernel_shape, layout.character, layout.mask, columns.rows, layout.shared_mask
            ),
        )  # fmt: skip
        vars(self).update(_packed=(pack(self._kernel_rows), pack(self._tree)))
        if known_slots is not None:
            vars(self)["_slots"] = known_slots

    def __setattr__(self, name: str, value: object = None) -> None:
        """Raise AttributeError: snapshots are immutable."""
        raise AttributeError(f"{name}: snapshots are immutable; move the world and take another")

    __delattr__ = __setattr__

    @classmethod
    def _of(cls, limbs: Limbs) -> Snapshot:
        """A snapshot of the limbs with a newly built tree and no characters."""
        made = snapshot_of(Roster.of(limbs), limbs, limbs, np.empty((0, 3)), np.empty((0, 4)))
        vars(made)["_whole"] = limbs
        return made

    def _moved(self, draft: Draft) -> Snapshot:
        """A state without characters whose limbs have the checked ends and boxes of a draft.

        Its tree is refitted, or built anew if the boxes are no longer about as large as at its build.
        """
        if self._layout.rows == 0:
            return self
        tree, cost = draft.refit(self._tree)
        if are_about_as_large(cost, self._built_cost):
            return Snapshot(self._roster, self._layout, draft.lend(), tree, self._built_cost)
        tree, cost = built_tree(draft.low, draft.high)
        return Snapshot(self._roster, self._layout, draft.lend()._replace(bounds=tree.bounds), tree, cost)

    def _with_roster(self, roster: Roster) -> Snapshot:
        """The same state with other unposed characters, or other counts of teleports."""
        return Snapshot(roster, self._layout, self._columns, self._tree, self._built_cost)

    def __reduce__(self) -> tuple[Callable[..., Snapshot], tuple[Any, ...]]:
        """A copy or pickle has the same limbs and characters, and a new tree; results are equal."""
        bones = self._columns.positions, self._columns.orientations
        return snapshot_of, (self._roster, self._layout.bare, self.limbs, *bones)

    @property
    def _fits(self) -> bool:
        """Whether the boxes are about as large as when the tree was built; if not, a rebuild pays."""
        tree = self._tree
        return are_about_as_large(tree_cost(tree.bounds, tree.frame.scale), self._built_cost)

    @cached_property
    def _packed_firsts(self) -> tuple[LimbRows, Tree]:
        """`_packed` for queries of the closest limb: of equal limbs built together, only the first."""
        return (pack(without_duplicates(self._kernel_rows)), self._packed[1]) if self._is_as_built else self._packed

    @cached_property
    def _slots(self) -> Slots:
        """The slots of all items and nodes of the tree."""
        found = slots(self._tree)
        return Slots(memory.frozen(found.items), memory.frozen(found.nodes))

    @property
    def _labels(self) -> RowLabels:
        return self._layout.labels(self._columns.positions, self._columns.orientations)

    @property
    def _group_names(self) -> Mapping[str, int]:
        return self._roster.groups

    @property
    def limbs(self) -> Limbs:
        """The limbs at the time of the snapshot."""
        return self._whole

    @cached_property
    def _whole(self) -> Limbs:
        return Limbs(self._table, self._layout.hit_group, tuple(self._layout.names.tolist()))

    def _scene(self, *_moment: float) -> Scene:
        """The limbs for pictures; a snapshot has one moment, so the argument is ignored."""
        return Scene(self.limbs, self._layout.static, self._group_names)

    def snapshot(self) -> Snapshot:
        """Itself."""
        return self


def snapshot_of(
    roster: Roster, bare: Limbs, limbs: Limbs, positions: Float64Array, orientations: Float64Array
) -> Snapshot:
    """A snapshot of all limbs, the bare ones, then those of the roster; given the transforms of all bones."""
    t, (tree, cost) = limbs._table, built_tree(*limb_boxes(limbs._table))
    columns = PoseColumns(t.rows, t.p1, t.p2, t.boxes, positions, orientations, t.kernel_shape, tree.bounds)
    made = Snapshot(roster, roster.layout(bare), columns.frozen(), tree, cost)
    vars(made)["_is_as_built"] = True
    return made


def built_tree(low: Float64Array, high: Float64Array) -> tuple[Tree, float]:
    """A new tree over boxes with these corners, (n, 3) each, and its `tree_cost`."""
    tree = build(low, high)
    return tree, tree_cost(tree.bounds, tree.frame.scale)


# The next state -------------------------------------------------------------------------------------------------------

Write = Callable[[PoseColumns], None]
"""A function that writes new ends, boxes and bones; ValueError for bad ones."""


def moved_state(
    state: Snapshot, roster: Roster, changed: Parts, write: Write, spare: Spare | None
) -> tuple[Snapshot, PoseMemory]:
    """The state in which `write` has written new ends of the `changed` limbs, and its memory.

    The roster has the same characters.
    """
    layout = state._layout
    every = tuple(map(len, changed)) == (layout.rows, layout.boxes, layout.bones)
    if spare is not None and spare.memory.is_free:
        memory, behind = spare.memory, spare.differs_in(layout, changed)
    else:
        memory, behind = PoseMemory(layout.rows, layout.boxes, layout.bones, len(state._tree.child)), None
    columns = memory.columns
    if not every:
        columns.copy_ends(state._columns, behind)
    write(columns)
    written = changed.rows if behind is None or every else np.concatenate([behind.rows, changed.rows])
    table, tree = columns.table(layout), state._tree._replace(bounds=columns.bounds)
    low, high = _refill(table, written)
    frame = refit_some(tree, state._slots, written, low, high) if len(written) <= FEW_MOVED * layout.rows else None
    if frame is None:
        if not every:
            low, high = limb_boxes(table)
        tree = refit(tree, low, high)
    else:
        tree = tree._replace(frame=frame)
    return Snapshot(roster, layout, memory.lend(), tree, state._built_cost, vars(state).get("_slots")), memory


def restructured(state: Snapshot, roster: Roster, poses: OwnerPoses | None) -> tuple[Snapshot, int]:
    """The state of a changed roster, with new poses of some owners, and the number of rows added, moved or removed."""
    layout = roster.layout(state._layout.bare)
    shared = state._layout.shared_with(layout)
    layout.take_over(state._layout, shared)
    columns, written = PoseColumns.for_layout(layout), np.empty(0, np.int32)
    columns.copy_shared(state._columns, shared)
    low = high = np.empty((0, 3))
    if poses is not None:
        poses.write(columns, roster, layout)
        written = poses.changed(roster, layout).rows
        low, high = _refill(columns.table(layout), written)
    columns = columns.frozen()
    kept = shared.kept
    changed = len(written) + state._layout.rows - kept
    if layout.rows - kept == len(written) <= MANY_ADDED * layout.rows and layout.rows >= REBUILT_AT_ONCE:
        tree = patched(state._tree, shared.changed_number, written, low, high, layout.rows)
        frame = with_corners(tree.frame, tree.bounds)
        if frame is not None:
            cost = state._built_cost * layout.rows / max(state._layout.rows, 1)
            columns = columns._replace(bounds=tree.bounds)
            return Snapshot(roster, layout, columns, tree._replace(frame=frame), cost), changed
    return with_tree_of(state, Snapshot(roster, layout, columns, state._tree, state._built_cost)), changed


def with_tree_of(state: Snapshot, wanted: Snapshot) -> Snapshot:
    """`wanted` with the tree of `state`, which has the same bare limbs: refitted, and patched where owners differ.

    If owners differ, a new tree is built for few limbs, or if many limbs are not in `state`.
    """
    low, high = limb_boxes(wanted._table)
    tree, cost = state._tree, state._built_cost
    if not state._layout.has_owners_of(wanted._layout):
        shared, is_new = state._layout.shared_with(wanted._layout), np.ones(len(low), np.bool_)
        is_new[shared.number[shared.number >= 0]] = False
        new = np.flatnonzero(is_new).astype(np.int32)
        if len(low) < REBUILT_AT_ONCE or len(new) > MANY_ADDED * len(low):
            return with_new_tree(wanted)
        tree = patched(tree, shared.changed_number, new, low[new], high[new], len(low))
        cost *= len(low) / max(state._layout.rows, 1)
    bounds = memory.aligned((len(tree.child), 2 * HIGH, TREE_WIDTH), np.float32, np.empty)
    tree = refit(tree._replace(bounds=bounds), low, high)
    return Snapshot(wanted._roster, wanted._layout, wanted._columns._replace(bounds=memory.frozen(bounds)), tree, cost)


def with_new_tree(state: Snapshot) -> Snapshot:
    """The state with a newly built tree."""
    tree, cost = built_tree(*limb_boxes(state._table))
    return Snapshot(state._roster, state._layout, state._columns._replace(bounds=tree.bounds), tree, cost)


def with_layers(state: Snapshot, roster: Roster) -> Snapshot:
    """The state with the layers of this roster, which is otherwise equal to the state's own."""
    layout = state._layout.with_layers(roster.layers[roster.place >= 0])
    return Snapshot(roster, layout, state._columns, state._tree, state._built_cost)


def _refill(table: LimbTable, limbs: Int32Array) -> tuple[Float64Array, Float64Array]:
    """Write the rows of limbs with new ends; return the corners of their boxes, (k, 3) each."""
    low, high = memory.rows((2, len(limbs), 3))

    def refill(begin: int, end: int) -> None:
        refill_rows(table, limbs[begin:end], low[begin:end], high[begin:end])

    in_chunks(len(limbs), None, refill, LIMBS_PER_THREAD)
    return low, high
