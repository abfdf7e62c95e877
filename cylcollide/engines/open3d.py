"""Open3D's `RaycastingScene`, which is Embree 4 on triangles, with its own threads."""

from typing import Any

import numpy as np

from cylcollide._types import Float64Array, Int32Array
from cylcollide.engines._adapter import MeshEngine, peer
from cylcollide.engines.protocol import EngineHits
from cylcollide.limbs.meshes import Vertices

o3d: Any = peer("open3d")


class Open3dEngine(MeshEngine):
    """`RaycastingScene.cast_rays`; see `MeshEngine` for `sides`.

    `threads` is the number of threads; 0: Open3D decides.
    """

    name = "Open3D"

    def __init__(self, sides: int = 32, threads: int = 1) -> None:
        super().__init__(sides)
        self.versions = {"open3d": o3d.__version__}
        self._threads = threads

    def _build_mesh(self, vertices: Vertices, triangles: Int32Array) -> None:
        self._world = o3d.t.geometry.RaycastingScene()
        self._world.add_triangles(o3d.core.Tensor(vertices), o3d.core.Tensor(triangles.astype(np.uint32)))

    def signed_distances(self, points: Float64Array, _: Int32Array) -> Float64Array:
        """Distances by `compute_signed_distance` of all triangles, signed by parity; see `MeasuresDistances`."""
        places = o3d.core.Tensor(points.astype(np.float32))
        found = self._world.compute_signed_distance(places, nthreads=self._threads)
        return np.asarray(found.numpy(), np.float64)

    def _cast(self, starts: Float64Array, ends: Float64Array, hits: EngineHits) -> None:
        rays = np.concatenate([starts, ends - starts], axis=1).astype(np.float32)
        found = self._world.cast_rays(o3d.core.Tensor(rays), nthreads=self._threads)
        fraction, triangle = found["t_hit"].numpy(), found["primitive_ids"].numpy()
        hit = fraction <= 1.0
        hits.limb[hit] = self._limb_of_triangle[triangle[hit]]
        hits.fraction[:], hits.normal[:] = fraction, found["primitive_normals"].numpy()
