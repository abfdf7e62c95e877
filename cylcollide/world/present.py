"""The state that a world is in: a snapshot for all who ask, in columns that moves of few characters write in place.

To copy all columns of a state costs several times what it costs to place one character. Nobody can tell that they were
not copied if nobody holds an array of theirs. So the world lets go of its snapshot, sees whether a lease of the columns
is left, and writes them by one loop (`in_place.py`); a snapshot of them is made when somebody asks for it. Columns are
at rest whenever Python runs: a signal's handler, a fork and another thread find all of a move or nothing of it.
"""

from weakref import ref

from cylcollide._types import Int64Array
from cylcollide.bones.rig_rows import Bones, RigRows
from cylcollide.world.in_place import READ_ELSEWHERE, PoseScratch, move_characters
from cylcollide.world.pose_columns import PoseMemory
from cylcollide.world.snapshot import Snapshot


class Present:
    """A state, and the memory of its columns if a move has written it."""

    def __init__(self, state: Snapshot, memory: PoseMemory | None = None) -> None:
        self.published: Snapshot | None = state
        """None after a move in place, until somebody asks."""
        self.roster, self.layout, self.memory = state.roster, state.layout, memory
        self._tree, self._built_cost = state.tree, state.built_cost
        if memory is not None:  # what is kept here must not be a lease
            self._tree = state.tree._replace(bounds=memory.columns.bounds)

    def publish(self) -> Snapshot:
        """A snapshot after moves in place. Another thread may publish an equal one."""
        assert self.memory is not None
        state = Snapshot(self.roster, self.layout, self.memory.lend(), self._tree, self._built_cost)
        vars(state)["places"] = self._places
        self.published = state
        return state

    def move(self, rig: RigRows, bones: Bones, place: Int64Array, scratch: PoseScratch) -> int:
        """Move the posed characters at these places, as `move_characters`; by one thread at a time."""
        state, memory = self.published, self.memory
        if memory is None:
            return READ_ELSEWHERE
        if state is not None:
            self._places = state.places
        held = None if state is None else ref(state)
        memory.lent[0] = 0  # from here on, whoever publishes sets it before it reads
        self.published = state = None
        if not memory.is_free:
            self.published = None if held is None else held()
            return READ_ELSEWHERE
        tree = (self._places, self._tree.space)
        return move_characters(rig, bones, place, self.layout.places, scratch, *tree, memory.columns, memory.lent)
