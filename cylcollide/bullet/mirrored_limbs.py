"""The limbs of a Mirror, and its point queries, which consider neither planes nor wrapped shapes."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from cylcollide._types import Float64Array
from cylcollide.bullet.arguments import MirrorInside
from cylcollide.bullet.client import BodyLink, Client
from cylcollide.bullet.following import Follower
from cylcollide.bullet.merge_hits import MirrorState
from cylcollide.bullet.tuples import RayTestResult
from cylcollide.limbs.limbs import Limbs
from cylcollide.process.signatures import Shown
from cylcollide.query.nearest import ClosestPoints, NearLimbs
from cylcollide.query.points import PointHits
from cylcollide.world import Snapshot


class MirroredLimbs(metaclass=Shown):
    """A client's bodies as limbs; in answers about points `limb` is a row of `limbs`, `limb_name` its body and link."""

    _client: Client
    _follower: Follower
    inside: MirrorInside
    """The inside policy."""
    tolerance: float
    """The growth of limbs."""

    @property
    def _state(self) -> MirrorState:
        """All shapes as they were at the last `sync`, for the modules of this package."""
        return self._follower.whole_scene.state

    @property
    def limbs(self) -> Limbs:
        """The limbs at the last `sync` or query of many rays; after a query of few rays, at present.

        Their names are those of body and link ("ant 3/front_left_foot"). Their masks are the filter
        groups, 0 if no ray can hit them.
        """
        return self._state.world.limbs

    @property
    def limb_places(self) -> list[BodyLink]:
        """Body and link of every limb."""
        state = self._follower.scene.state
        return state.links[: len(state.limb_rank)]

    @abstractmethod
    def rayTestBatch(  # noqa: N802  # PyBullet's name
        self, rayFromPositions: Float64Array, rayToPositions: Float64Array, /
    ) -> tuple[RayTestResult, ...]:
        """The first shape along each segment (n, 3)."""

    def _world(self) -> Snapshot:
        """The limbs of the scene, which is read anew if necessary."""
        return self._follower.sync_if_due().state.world

    def contains_points(self, points: ArrayLike, threads: int | None = None) -> PointHits:
        """The limb that contains each point (n, 3); planes and wrapped shapes contain none."""
        return self._world().contains_points(points, threads=threads)

    def closest_points(
        self, points: ArrayLike, *, max_distance: ArrayLike = np.inf, threads: int | None = None
    ) -> ClosestPoints:
        """The limb of least distance from each point (n, 3); as `HitWorld.closest_points`."""
        return self._world().closest_points(points, max_distance=max_distance, threads=threads)

    def overlap_spheres(self, centers: ArrayLike, radii: ArrayLike, *, threads: int | None = None) -> NearLimbs:
        """All limbs that each ball overlaps or touches, by row; as `HitWorld.overlap_spheres`."""
        return self._world().overlap_spheres(centers, radii, threads=threads)
