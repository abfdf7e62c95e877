"""Embree 4 through `embreex`: limbs as triangles, since the package does not wrap curves and user geometry."""

from typing import Any

import numpy as np

from cylcollide._types import Float64Array, Int32Array
from cylcollide.engines._adapter import MeshEngine, installed, peer
from cylcollide.engines.protocol import EngineHits
from cylcollide.limbs.meshes import Vertices

scenes: Any = peer("embreex.rtcore_scene")
meshes: Any = peer("embreex.mesh_construction")


class EmbreeEngine(MeshEngine):
    """`EmbreeScene.run`; see `MeshEngine` for `sides`."""

    name = "Embree"
    versions = installed("embreex")

    def _build_mesh(self, vertices: Vertices, triangles: Int32Array) -> None:
        self._world = scenes.EmbreeScene()
        meshes.TriangleMesh(self._world, vertices, triangles)

    def _cast(self, starts: Float64Array, ends: Float64Array, hits: EngineHits) -> None:
        n = len(starts)
        origins, along = starts.astype(np.float32), (ends - starts).astype(np.float32)
        found = self._world.run(origins, along, dists=np.ones(n, np.float32), output=True)
        triangle, normal = found["primID"], found["Ng"].astype(np.float64)
        with np.errstate(invalid="ignore"):  # a miss has no normal
            hits.normal[:] = normal / np.linalg.norm(normal, axis=1)[:, None]
        hits.limb[:] = np.where(triangle < 0, -1, self._limb_of_triangle[triangle])
        hits.fraction[:] = found["tfar"]
