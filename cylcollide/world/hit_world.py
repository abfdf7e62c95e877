"""HitWorld: limbs and characters that move. Each query reads one complete, immutable state."""

from __future__ import annotations

from collections.abc import Callable
from threading import main_thread
from typing import Any
from weakref import ReferenceType, ref

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import Flags, Int32Array, Int64Array
from cylcollide.bones.rig_rows import Parts
from cylcollide.characters.matrices import MatrixOrder
from cylcollide.characters.rig import Rig
from cylcollide.constants import FEW_MOVED, LIMBS_PER_THREAD, REBUILT_AT_ONCE
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.tables import checked_ends
from cylcollide.process.tasks import Task
from cylcollide.runtime.levels import MACHINE_CODE
from cylcollide.world import snapshot as states
from cylcollide.world.in_place import MOVED, PoseScratch, Present, make_pose_scratch
from cylcollide.world.observers import ChangeLock
from cylcollide.world.pose_columns import PoseColumns, Spare
from cylcollide.world.poses import OwnerPoses, Poses, poses_by_matrices
from cylcollide.world.roster import UNPOSED, Roster, as_jumps
from cylcollide.world.snapshot import Snapshot
from cylcollide.world.static_calls import StaticCalls


class HitWorld(StaticCalls):
    """Limbs and characters that move, and the queries on their present state.

    `set_endpoints` moves the bare limbs, those passed to the constructor. `spawn` adds characters,
    `set_poses` poses them, `despawn` removes them; a character without a pose is not hit.
    `add_static` adds statics. Rows are the bare limbs, the posed characters by ascending id, each
    in the order of its rig, and the statics by handle.

    An update replaces the state in one step. A running query, a `snapshot` and returned hits keep
    the state that they began with. A failed update changes nothing. After large moves a thread
    builds a new tree in the background (below 1,024 limbs the update itself builds it); results are
    the same with either tree.
    """

    def __init__(self, limbs: Limbs | None = None) -> None:
        given: object = Limbs.spheres(np.empty((0, 3)), np.empty(0)) if limbs is None else limbs
        if not isinstance(given, Limbs):
            remedy = "make them with Limbs.cylinders(...), or an empty HitWorld(), and spawn(rig) in it"
            raise ValueError(f"limbs: expected Limbs, got {type(given).__name__}; {remedy}")
        self._present, self._moved_rows, self._lock = Present(Snapshot._of(given)), 0, ChangeLock()
        self._spare: Spare | None = None
        self._scratch: PoseScratch | None = None
        self._rebuild: Task | None = None

    def __reduce__(self) -> tuple[Callable[..., HitWorld], tuple[Any, ...]]:
        """A copy or pickle has the present limbs and a newly built tree."""
        return world_in, (type(self), self.snapshot())

    def __repr__(self) -> str:
        counts = (len(self), "limbs"), (len(self.characters), "characters"), (len(self.statics), "statics")
        return f"HitWorld({', '.join(f'{n} {what}' for n, what in counts if n or what == 'limbs')})"

    def snapshot(self) -> Snapshot:
        """An immutable view of the present state; queries on it are safe while the world moves on."""
        state = (present := self._present).published
        return present.publish() if state is None else state

    @property
    def characters(self) -> Int32Array:
        """Ids of all spawned characters that were not despawned, posed or not, ascending; int32 (c,)."""
        return self._present.roster.ids.copy()

    def set_endpoints(self, p1: ArrayLike, p2: ArrayLike, *, limbs: ArrayLike | None = None) -> None:
        """Move all bare limbs, or those of the given rows, to new ends (n, 3); others stay.

        Raises
        ------
        ValueError
            On bad numbers, a wrong number of rows, p1 = p2, a bad index; the world stays as it was.
        """
        with self._lock.changing():
            bare = self._present.layout.bare
            chosen = None if limbs is None else validate.indices(limbs, "limbs", len(bare))
            first, last = checked_ends(bare._table.kind, p1, p2, chosen)
            rows = np.arange(len(bare), dtype=np.int32) if chosen is None else np.sort(chosen).astype(np.int32)
            which, nothing = slice(0, len(bare)) if chosen is None else chosen, rows[:0]

            def write(columns: PoseColumns) -> None:
                columns.p1[which], columns.p2[which] = first, last

            self._move(Parts(rows, nothing, nothing), write)
            self._lock.notify("set_endpoints", p1=first, p2=last, limbs=chosen)

    def spawn(self, rig: Rig, count: int = 1) -> Int32Array:
        """Add characters of a rig; each is hit once it has a pose.

        Returns their ids, int32 (count,), above all ids and labels so far; no id is used twice.

        Raises
        ------
        ValueError
            If `rig` is not a Rig, if its number of a hit group differs from that of an earlier rig
            of this world, or if too few ids are left; the world stays as it was.
        """
        with self._lock.changing():
            before = self._present.roster
            roster = before.spawned(rig, count)
            self._put(self.snapshot()._with_roster(roster))
            self._lock.notify("spawn", rig=rig, ids=roster.ids[len(before.ids) :])
            return roster.ids[len(before.ids) :].copy()

    def set_poses(
        self, ids: ArrayLike, positions: ArrayLike, orientations: ArrayLike, *, teleport: Flags = False
    ) -> None:
        """Move the bones of characters, and with them their limbs; boxes turn with their bones.

        Parameters
        ----------
        ids
            Living characters, (k,) or one, all with the same number of bones b.
        positions, orientations
            The bones in the world: (k, b, 3) and (k, b, 4), or (b, 3) and (b, 4) for one character;
            quaternions x, y, z, w of any length but 0.
        teleport
            Whether the characters jump, one or (k,): a history does not interpolate a jump.

        Raises
        ------
        ValueError
            On ids that are unknown, despawned or named twice, wrong shapes, and numbers that are
            not accepted. The message names character, bone and row; the world stays as it was.
        """
        self._pose(ids, lambda roster, index: Poses(roster, index, positions, orientations), teleport)

    def set_pose_matrices(
        self, ids: ArrayLike, matrices: ArrayLike, order: MatrixOrder = "row", *, teleport: Flags = False
    ) -> None:
        """`set_poses` of bones given as matrices from bone to world: rotation and translation.

        `order`: "row" is matrix times column vector, the translation in the last column,
        (k, b, 4, 4) or (k, b, 3, 4); "column" is its transpose, the translation in the last row,
        (k, b, 4, 4) or (k, b, 4, 3).

        Raises
        ------
        ValueError
            As `set_poses`; and on columns that are mirrored or off orthonormal by more than 1e-4,
            and a last row (or column) other than 0, 0, 0, 1.
        """
        self._pose(ids, lambda roster, index: poses_by_matrices(roster, index, matrices, order), teleport)

    def _pose(self, ids: ArrayLike, poses_of: Callable[[Roster, Int64Array], Poses], teleport: Flags) -> None:
        with self._lock.changing():
            present, layout = self._present.roster, self._present.layout  # a snapshot forbids moves in place
            index = present.index_of(ids)
            poses, jumps = poses_of(present, index), as_jumps(teleport, len(index))
            if len(index) == 0:
                return
            are_posed = bool((present.place[index] != UNPOSED).all())
            if not (are_posed and jumps is False and self._moved_in_place(poses)):
                roster = present.with_poses(index, jumps) if jumps is not False or not are_posed else present
                if not are_posed:
                    self._restructure(roster, poses)
                else:
                    changed = poses.changed(roster, layout)
                    self._move(changed, lambda columns: poses.write(columns, roster, layout), roster)
            if self._lock.observers:
                self._lock.notify("set_poses", **poses.given(jumps))

    def set_layers(self, ids: ArrayLike, mask: ArrayLike) -> None:
        """Replace the masks of the limbs of characters; `set_poses` keeps them.

        Parameters
        ----------
        ids
            Living characters, (k,) or one.
        mask
            32 bits, one for all or (k,); 0 hides a character.

        Raises
        ------
        ValueError
            On unknown, despawned or repeated ids and on bad masks; the world stays as it was.
        """
        with self._lock.changing():
            roster = self._present.roster
            index = roster.index_of(ids)
            self._put(states.with_layers(self.snapshot(), roster.with_layers(index, mask)))
            self._lock.notify("set_layers", ids=roster.ids[index], mask=self._present.roster.layers[index])

    def despawn(self, ids: ArrayLike) -> None:
        """Remove characters, (k,) or one; no id is used twice.

        Raises
        ------
        ValueError
            On ids that are unknown, despawned or named twice; the world stays as it was.
        """
        with self._lock.changing():
            before = self._present.roster
            index = before.index_of(ids)
            roster = before.without(index)
            if (before.place[index] == UNPOSED).all():
                self._put(self.snapshot()._with_roster(roster))
            else:
                self._restructure(roster, None)
            self._lock.notify("despawn", ids=before.ids[index])

    def _is_present(self, state: Snapshot) -> bool:
        return self._present.published is state

    def _moved_in_place(self, poses: Poses) -> bool:
        """Overwrite the current columns if nothing else holds them; return whether they were overwritten.

        Only for few characters of one rig, a state without other readers, and machine code, which no signal or thread
        interrupts.
        """
        rig, posed, memory, layout = poses.rig, poses.posed_index, self._present.memory, self._present.layout
        if rig is None or memory is None or MACHINE_CODE is None:
            return False
        limbs, nodes = len(posed) * len(rig._rows.bone), len(memory.columns.bounds)
        if limbs > min(LIMBS_PER_THREAD, FEW_MOVED * layout.rows):
            return False
        if self._spare is not None:  # first: an interrupt may not leave an outdated spare
            self._spare = self._spare.after(posed, layout)
        if self._scratch is None or not self._scratch.suits(rig, len(posed), nodes):
            self._scratch = make_pose_scratch(rig, len(posed), nodes)
        result = self._present.move(rig._rows, poses.bones, posed, self._scratch)
        if result >= 0:
            poses.raise_misplaced(rig, result)
        if result != MOVED:
            return False
        self._moved_rows += limbs
        if not self._fits():
            self._replace(states.with_new_tree(self.snapshot()))
        return True

    def _move(self, changed: Parts, write: states.Write, roster: Roster | None = None) -> None:
        """Publish the state in which `write` has moved some limbs."""
        state, spare, self._spare = self.snapshot(), self._spare, None  # after an error its columns hold no state
        moved, memory = states.moved_state(state, roster or state._roster, changed, write, spare)
        self._moved_rows += len(changed.rows)
        if not self._fits(moved):
            self._replace(states.with_new_tree(moved))
            return
        before, self._present = self._present.memory, Present(moved, memory)
        if before is not None:
            same = moved._tree.frame.has_coordinates_of(state._tree.frame)
            self._spare = Spare(before, changed if same else None, [])

    def _fits(self, moved: Snapshot | None = None) -> bool:
        """Whether a state with moved limbs (None: the present) keeps its tree; if not, the caller builds one.

        Checked each time 1/8 of the limbs have moved. During a rebuild the tree stays.
        """
        if self._moved_rows < self._present.layout.rows // 8:
            return True
        self._moved_rows, state = 0, self.snapshot() if moved is None else moved
        return state._fits or self._rebuilds(state)

    def _restructure(self, roster: Roster, poses: OwnerPoses | None) -> None:
        """Publish the state of a changed roster, in which some characters or a static have new poses."""
        made, changed = states.restructured(self.snapshot(), roster, poses)
        self._moved_rows += changed
        self._replace(made if self._fits(made) else states.with_new_tree(made))

    def _replace(self, state: Snapshot) -> None:
        """Publish a state whose columns or tree have other lengths, so that no memory can be reused."""
        self._spare = self._scratch = None
        self._present = Present(state)

    def _put(self, state: Snapshot) -> None:
        """Publish a state with the same columns as the present one."""
        self._present = Present(state, self._present.memory)

    def finish_rebuild(self) -> None:
        """Wait until the new tree is built: useful after large motions, before large batches of rays."""
        rebuild = self._rebuild
        if rebuild is not None:
            rebuild.wait()

    def _rebuilds(self, state: Snapshot) -> bool:
        """Whether a thread is rebuilding the tree; starts one if none is and there are enough limbs."""
        if len(state) < REBUILT_AT_ONCE:
            return False
        if self._rebuild is None or not self._rebuild.is_running:  # not running: it failed, or this process is a fork
            world = ref(self)
            try:
                self._rebuild = Task(lambda: _rebuild(world, state))
            except RuntimeError:  # Python is exiting, or no more threads can be started
                return False
        return True

    def _take(self, rebuilt: Snapshot) -> Snapshot | None:
        """Replace the tree by a rebuilt one; return the present state if the new tree no longer fits it."""
        with self._lock():
            state = states.with_tree_of(rebuilt, self.snapshot())
            self._replace(state)
            if not state._fits and main_thread().is_alive():  # at exit no further rebuild
                return state
            self._rebuild = None
            return None


def _rebuild(of: ReferenceType[HitWorld], state: Snapshot | None) -> None:
    """Rebuild trees until the world has one that fits. A weak reference lets the world be deleted during a build."""
    while state is not None:
        rebuilt = states.with_new_tree(state)
        world = of()
        state = world._take(rebuilt) if world is not None else None
        del world


def world_in(kind: type[HitWorld], state: Snapshot) -> HitWorld:
    """A world in the given state."""
    world = kind(state._layout.bare)
    world._present = Present(state)
    return world
