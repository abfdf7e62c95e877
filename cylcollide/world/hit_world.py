"""HitWorld: limbs that move. Each query reads one whole, immutable state."""

import os
from threading import Lock, main_thread
from weakref import ReferenceType, ref

from numpy.typing import ArrayLike

from cylcollide.constants import REBUILT_AT_ONCE
from cylcollide.limbs.limbs import Limbs
from cylcollide.runtime.threads import Task
from cylcollide.world.queries import Queries
from cylcollide.world.snapshot import Snapshot


class HitWorld(Queries):
    """Limbs that move, and the queries on their present state.

    `set_endpoints` puts a new state in place of the old one in one step; a query that is under way, a `snapshot` and
    hits already returned keep the state they were made of. A failed update changes nothing. When limbs have moved so
    far that a new tree pays, a thread builds it while updates and queries go on; results are the same with either tree.
    """

    def __init__(self, limbs: Limbs) -> None:
        if not isinstance(limbs, Limbs):
            raise ValueError(f"limbs: expected Limbs, got {type(limbs).__name__}; make them with Limbs.cylinders(...)")
        self._state = Snapshot.of(limbs)
        self._moving, self._fork = Lock(), _forks
        self._rebuild: Task | None = None

    def __reduce__(self) -> tuple[type["HitWorld"], tuple[Limbs]]:
        """A copy or pickle has the limbs where they are now, and a newly built tree; answers are the same."""
        return type(self), (self._state.limbs,)

    def snapshot(self) -> Snapshot:
        """An immutable view of the present state; queries on it are safe while the world moves on."""
        return self._state

    def set_endpoints(self, p1: ArrayLike, p2: ArrayLike, limbs: ArrayLike | None = None) -> None:
        """Move all limbs, or those of the given indices, to new ends (n, 3); radii and all else stay.

        Raises
        ------
        ValueError
            On bad numbers, a wrong number of rows, p1 = p2, or a bad index; the world is left as it was.
        """
        with self._lock():
            state = self._state.moved(self._state.limbs.moved(p1, p2, limbs))
            if not state.fits and not self._rebuilds(state.limbs):
                state = Snapshot.of(state.limbs)
            self._state = state

    def _lock(self) -> Lock:
        """What an update holds; a new one in the child of a fork."""
        if self._fork != _forks:
            with _renewing:
                if self._fork != _forks:
                    self._moving, self._fork = Lock(), _forks
        return self._moving

    def finish_rebuild(self) -> None:
        """Wait for the tree that is being rebuilt, if any: pays after large motions, before very many rays."""
        rebuild = self._rebuild
        if rebuild is not None:
            rebuild.wait()

    def _rebuilds(self, limbs: Limbs) -> bool:
        """Whether a thread rebuilds the tree, started here if none does; few limbs do not pay for one."""
        if len(limbs) < REBUILT_AT_ONCE:
            return False
        if self._rebuild is None or not self._rebuild.is_running:  # not running: it failed, or this process is a fork
            world = ref(self)
            try:
                self._rebuild = Task(lambda: _rebuild(world, limbs))
            except RuntimeError:  # Python is exiting, or no more threads can be started
                return False
        return True

    def _take(self, rebuilt: Snapshot) -> Limbs | None:
        """Replace the tree by a rebuilt one; returns the present limbs if they have moved too far for it meanwhile."""
        with self._lock():
            limbs = self._state.limbs
            self._state = state = rebuilt if rebuilt.limbs is limbs else rebuilt.moved(limbs)
            if not state.fits and main_thread().is_alive():  # at exit no further rebuild
                return limbs
            self._rebuild = None
            return None


def _rebuild(of: ReferenceType[HitWorld], limbs: Limbs | None) -> None:
    """Rebuild trees until the world has one that fits. A weak reference lets the world be deleted during a build."""
    while limbs is not None:
        rebuilt = Snapshot.of(limbs)
        world = of()
        limbs = world._take(rebuilt) if world is not None else None
        del world


_forks, _renewing = 0, Lock()
"""How many forks lead to this process, and what is held while a world gets a lock of this process."""


def _count_fork() -> None:
    """In the child of a fork: the threads that held locks do not exist here, and have changed nothing.

    Each world notices by the count; a list of all worlds would need a destructor, in which an interrupt is lost.
    """
    global _forks, _renewing  # facts of the process
    _forks, _renewing = _forks + 1, Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)
