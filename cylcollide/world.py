"""HitWorld: limbs, their tree, and the queries. Each query reads one whole, immutable state."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from threading import Lock, Thread, main_thread
from weakref import ReferenceType, ref

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import ALL_LAYERS, BoolArray, InsidePolicy
from cylcollide.bvh.build import build
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.refit import refit, tree_cost
from cylcollide.constants import REBUILD_COST, REBUILT_AT_ONCE
from cylcollide.kernels.aabb import limb_boxes
from cylcollide.kernels.limb_table import LimbRows, LimbTable
from cylcollide.limbs.limbs import Limbs
from cylcollide.query import chords as chord_queries
from cylcollide.query import closest as closest_queries
from cylcollide.query import points as point_queries
from cylcollide.query.hits import Chords, PointHits, RayHits
from cylcollide.query.request import ray_request, segment_request


class Queries(ABC):
    """The queries of a world and of a snapshot.

    They share these arguments: `inside`, what a ray that starts in a limb does ("hit" it at fraction 0, hit it where it
    leaves: "exit", or "ignore" the limb); `mask`, the layers whose limbs are tested, (n,) or one for all;
    `ignore_character`, whose limbs are skipped, (n,) or one for all; `threads`, how many work at once (None: the number
    of processors). Starts and ends, or origins and directions, go row by row; one of either stands for all rows. Bad
    input raises ValueError, which names the first bad row; accepted numbers are at most 2**500 in magnitude.
    """

    @abstractmethod
    def snapshot(self) -> "Snapshot":
        """An immutable view of the present state; queries on it are safe while the world moves on."""

    @property
    def limbs(self) -> Limbs:
        """The limbs where they are now."""
        return self.snapshot().limbs

    def __len__(self) -> int:
        return len(self.limbs)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} limbs)"

    def cast_segments(
        self,
        starts: ArrayLike,
        ends: ArrayLike,
        inside: InsidePolicy = "hit",
        mask: ArrayLike = ALL_LAYERS,
        ignore_character: ArrayLike | None = None,
        threads: int | None = None,
    ) -> RayHits:
        """The first limb along each closed segment; starts, ends (n, 3), or (3,) for all."""
        request = segment_request(starts, ends, inside, mask, ignore_character)
        return closest_queries.closest(self.snapshot(), request, validate.workers(threads))

    def cast_rays(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        max_distance: ArrayLike = np.inf,
        inside: InsidePolicy = "hit",
        mask: ArrayLike = ALL_LAYERS,
        ignore_character: ArrayLike | None = None,
        threads: int | None = None,
    ) -> RayHits:
        """The first limb along each ray; origins, directions (n, 3), or (3,) for all; directions of any length but 0.

        `max_distance` (one, or one a ray, in metres) limits `fraction` to max_distance / |direction|.
        """
        request = ray_request(origins, directions, max_distance, inside, mask, ignore_character)
        return closest_queries.closest(self.snapshot(), request, validate.workers(threads))

    def occluded_segments(
        self,
        starts: ArrayLike,
        ends: ArrayLike,
        inside: InsidePolicy = "hit",
        mask: ArrayLike = ALL_LAYERS,
        ignore_character: ArrayLike | None = None,
        threads: int | None = None,
    ) -> BoolArray:
        """Whether each closed segment hits any limb; bool (n,)."""
        request = segment_request(starts, ends, inside, mask, ignore_character)
        return closest_queries.occluded(self.snapshot(), request, validate.workers(threads))

    def occluded_rays(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        max_distance: ArrayLike = np.inf,
        inside: InsidePolicy = "hit",
        mask: ArrayLike = ALL_LAYERS,
        ignore_character: ArrayLike | None = None,
        threads: int | None = None,
    ) -> BoolArray:
        """Whether each ray hits any limb; bool (n,)."""
        request = ray_request(origins, directions, max_distance, inside, mask, ignore_character)
        return closest_queries.occluded(self.snapshot(), request, validate.workers(threads))

    def chords_segments(
        self,
        starts: ArrayLike,
        ends: ArrayLike,
        inside: InsidePolicy = "hit",
        mask: ArrayLike = ALL_LAYERS,
        ignore_character: ArrayLike | None = None,
        threads: int | None = None,
    ) -> Chords:
        """Every limb that each closed segment crosses, sorted by entry.

        The chord of a limb that contains the start begins at fraction 0 with face INSIDE; "exit" leaves it out if the
        ray ends in it, "ignore" leaves it out.
        """
        request = segment_request(starts, ends, inside, mask, ignore_character)
        return chord_queries.chords(self.snapshot(), request, validate.workers(threads))

    def chords_rays(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        max_distance: ArrayLike = np.inf,
        inside: InsidePolicy = "hit",
        mask: ArrayLike = ALL_LAYERS,
        ignore_character: ArrayLike | None = None,
        threads: int | None = None,
    ) -> Chords:
        """Every limb that each ray crosses, sorted by entry; as `chords_segments`."""
        request = ray_request(origins, directions, max_distance, inside, mask, ignore_character)
        return chord_queries.chords(self.snapshot(), request, validate.workers(threads))

    def contains_points(self, points: ArrayLike, threads: int | None = None) -> PointHits:
        """The limb that contains each point (n, 3): lowest index, its squared axis distance; and how many limbs do."""
        return point_queries.contains(self.snapshot(), validate.as_vectors(points, "points"), validate.workers(threads))


class Snapshot(Queries):
    """Limbs at one moment, with their tree. Immutable; queries are safe from any thread."""

    _limbs: Limbs
    _built_cost: float
    tree: Tree
    """The tree over the limbs' boxes."""
    table: LimbTable
    """The columns of the limbs."""
    kernel_rows: LimbRows
    """The columns that compiled loops read."""

    def __init__(self, limbs: Limbs, tree: Tree, built_cost: float) -> None:
        vars(self).update(
            _limbs=limbs, _built_cost=built_cost, tree=tree, table=limbs.table, kernel_rows=limbs.table.kernel_rows
        )

    def __setattr__(self, name: str, value: object) -> None:
        """Snapshots never change: AttributeError."""
        raise AttributeError(f"{name}: snapshots are immutable; move the world and take another")

    def __delattr__(self, name: str) -> None:
        """Snapshots never change: AttributeError."""
        raise AttributeError(f"{name}: snapshots are immutable; move the world and take another")

    def __reduce__(self) -> tuple[Callable[[Limbs], "Snapshot"], tuple[Limbs]]:
        """A copy or pickle has the same limbs and a newly built tree; answers are the same with any tree."""
        return Snapshot.of, (self._limbs,)

    @classmethod
    def of(cls, limbs: Limbs) -> "Snapshot":
        """The limbs with a newly built tree."""
        tree = build(*limb_boxes(limbs.table))
        return cls(limbs, tree, tree_cost(tree.bounds, tree.child, tree.space.scale))

    def moved(self, limbs: Limbs) -> "Snapshot":
        """The same limbs with new ends: the same tree, its boxes refitted."""
        return Snapshot(limbs, refit(self.tree, *limb_boxes(limbs.table)), self._built_cost)

    @property
    def fits(self) -> bool:
        """Whether the boxes are still about as large as when the tree was built; if not, a rebuild pays."""
        cost, built = tree_cost(self.tree.bounds, self.tree.child, self.tree.space.scale), self._built_cost
        return cost <= REBUILD_COST * built and built <= REBUILD_COST * cost

    @property
    def limbs(self) -> Limbs:
        """The limbs where they were."""
        return self._limbs

    def snapshot(self) -> "Snapshot":
        """Itself."""
        return self


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
        self._rebuild: Thread | None = None

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
            rebuild.join()

    def _rebuilds(self, limbs: Limbs) -> bool:
        """Whether a thread rebuilds the tree, started here if none does; few limbs do not pay for one."""
        if len(limbs) < REBUILT_AT_ONCE:
            return False
        if self._rebuild is None or not self._rebuild.is_alive():  # dead: it failed, or this process is a fork
            # not a daemon: Python must not end while compiled code runs
            rebuild = Thread(target=_rebuild, args=(ref(self), limbs), name="cylcollide rebuild", daemon=False)
            try:
                rebuild.start()
            except RuntimeError:  # Python is exiting, or no more threads can be started
                return False
            self._rebuild = rebuild
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
