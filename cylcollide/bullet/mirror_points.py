"""The point queries of a Mirror; they consider its limbs, but neither planes nor wrapped shapes."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from cylcollide.bullet.following import Follower
from cylcollide.bullet.scene import MirrorScene
from cylcollide.process.signatures import Shown
from cylcollide.query.nearest import ClosestPoints, NearLimbs
from cylcollide.query.points import PointHits
from cylcollide.world import Snapshot


class MirrorPoints(metaclass=Shown):
    """Points and the limbs of the scene; `limb` is a row of `limbs`, `limb_name` its body and link."""

    _follower: Follower

    @property
    @abstractmethod
    def _scene(self) -> MirrorScene:
        """The scene as it was last read."""

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
