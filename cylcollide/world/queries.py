"""The queries of a world and of its snapshots."""

from abc import ABC, abstractmethod
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import ALL_LAYERS, BoolArray, InsidePolicy
from cylcollide.characters.judge import GroupedState, judge
from cylcollide.characters.judged import Judged
from cylcollide.characters.policy import Policy
from cylcollide.limbs.limbs import Limbs
from cylcollide.query import chords as chord_queries
from cylcollide.query import closest as closest_queries
from cylcollide.query import points as point_queries
from cylcollide.query.hits import RayHits
from cylcollide.query.point_hits import PointHits
from cylcollide.query.ray_chords import Chords
from cylcollide.query.request import ray_request, segment_request


class WorldState(GroupedState, Protocol):
    """What queries read of a world: columns and tree of its limbs at one moment, none of which changes any more."""

    @property
    def limbs(self) -> Limbs:
        """The limbs at that moment."""


class Queries(ABC):
    """The queries of a world and of a snapshot.

    They share these arguments: `inside`, what a ray that starts in a limb does ("hit" it at fraction 0, hit it where it
    leaves: "exit", or "ignore" the limb); `mask`, the layers whose limbs are tested, (n,) or one for all;
    `ignore_character`, whose limbs are skipped, (n,) or one for all; `threads`, how many work at once (None: the number
    of processors). Starts and ends, or origins and directions, go row by row; one of either stands for all rows. Bad
    input raises ValueError, which names the first bad row; accepted numbers are at most 2**500 in magnitude.
    """

    @abstractmethod
    def snapshot(self) -> WorldState:
        """An immutable view of the present state; queries on it are safe while the world moves on."""

    @property
    def limbs(self) -> Limbs:
        """The limbs where they are now."""
        return self.snapshot().limbs

    def __len__(self) -> int:
        return len(self.snapshot().table.solid)

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

    def judge_segments(
        self,
        starts: ArrayLike,
        ends: ArrayLike,
        policy: Policy,
        energy: ArrayLike = 1.0,
        shot: ArrayLike | None = None,
        inside: InsidePolicy = "hit",
        mask: ArrayLike = ALL_LAYERS,
        ignore_character: ArrayLike | None = None,
        threads: int | None = None,
    ) -> Judged:
        """Which limb of each closed segment counts, and what the shot does; `energy` at the start, one or (n,).

        `shot`: integers (n,), the same for all pellets of a shot, whom `Judged.by_shot` sums. Limbs are those of
        `chords_segments`, in that order: one that contains the start is entered there, if `inside` does not leave it
        out.
        """
        request = segment_request(starts, ends, inside, mask, ignore_character)
        return judge(self.snapshot(), request, policy, energy, shot, validate.workers(threads))

    def judge_rays(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        policy: Policy,
        max_distance: ArrayLike = np.inf,
        energy: ArrayLike = 1.0,
        shot: ArrayLike | None = None,
        inside: InsidePolicy = "hit",
        mask: ArrayLike = ALL_LAYERS,
        ignore_character: ArrayLike | None = None,
        threads: int | None = None,
    ) -> Judged:
        """Which limb of each ray counts, and what the shot does; as `judge_segments`. A wall is a `max_distance`."""
        request = ray_request(origins, directions, max_distance, inside, mask, ignore_character)
        return judge(self.snapshot(), request, policy, energy, shot, validate.workers(threads))

    def contains_points(self, points: ArrayLike, threads: int | None = None) -> PointHits:
        """The limb that contains each point (n, 3): lowest index, its squared axis distance; and how many limbs do."""
        return point_queries.contains(self.snapshot(), validate.as_vectors(points, "points"), validate.workers(threads))
