"""cylcollide as an engine, used through the same protocol as the others."""

import numpy as np

from cylcollide._types import Float64Array, Int32Array, Shape
from cylcollide._version import __version__
from cylcollide.engines.protocol import Capabilities, Engine, EngineHits
from cylcollide.limbs.limbs import Limbs
from cylcollide.world import HitWorld


class OwnEngine(Engine):
    """`HitWorld.cast_segments`; see :class:`cylcollide.engines.Engine`. `threads` None: the number of processors."""

    name = "cylcollide"
    capabilities = Capabilities(shapes=frozenset(Shape), inside="hit", accuracy=1e-14)

    def __init__(self, threads: int | None = 1) -> None:
        self.versions = {"cylcollide": __version__}
        self.threads = threads
        self._world: HitWorld | None = None

    @property
    def world(self) -> HitWorld:
        """The world that was built; ValueError if none was."""
        if self._world is None:
            raise ValueError("cylcollide: expected limbs, got none; call build() first")
        return self._world

    def build(self, limbs: Limbs) -> None:
        """Build the tree."""
        self._world = HitWorld(limbs)

    def set_endpoints(self, p1: Float64Array, p2: Float64Array) -> None:
        """Refit the tree."""
        self.world.set_endpoints(p1, p2)

    def cast_segments(self, starts: Float64Array, ends: Float64Array) -> EngineHits:
        """The closest hits, with all fields computed."""
        hits = self.world.cast_segments(starts, ends, threads=self.threads)
        return EngineHits(hits.limb, np.where(hits.hit, hits.fraction, np.nan), hits.position, hits.normal)

    def signed_distances(self, points: Float64Array, limb: Int32Array) -> Float64Array:
        """`Limbs.closest_points`; see `MeasuresDistances`."""
        return self.world.limbs[limb].closest_points(points).distance

    def close(self) -> None:
        """Release the world."""
        self._world = None
