"""MuJoCo: every limb is a geom of the world body, rays are cast by `mj_ray`, one call per ray, in float64.

`mj_ray` takes a direction of any length; with end - start it returns the fraction. It hits surfaces from either side: a
ray that starts inside hits where it leaves. It has no tree over geoms of the world body, so its cost grows with
their number. A direction shorter than `mjMINVAL` aborts the process: such a segment is not cast and counts as a miss.
"""

from typing import Any

import numpy as np

from cylcollide._types import Float64Array, Int32Array, Shape
from cylcollide.engines._adapter import FARTHEST, PROBE, Adapter, installed, peer, poses
from cylcollide.engines.protocol import Capabilities, EngineHits
from cylcollide.limbs.limbs import Limbs

mujoco: Any = peer("mujoco")

GEOM = {
    Shape.CYLINDER: mujoco.mjtGeom.mjGEOM_CYLINDER,
    Shape.CAPSULE: mujoco.mjtGeom.mjGEOM_CAPSULE,
    Shape.SPHERE: mujoco.mjtGeom.mjGEOM_SPHERE,
    Shape.ELLIPSOID: mujoco.mjtGeom.mjGEOM_ELLIPSOID,
    Shape.BOX: mujoco.mjtGeom.mjGEOM_BOX,
}


class MujocoEngine(Adapter):
    """MuJoCo 3.5 or newer: the first version observed to return the normal from `mj_ray`."""

    name = "MuJoCo"
    capabilities = Capabilities(shapes=frozenset(GEOM), inside="exit", accuracy=1e-9, position=False)
    versions = installed("mujoco")

    def _build(self, limbs: Limbs) -> None:
        model = self._spec(limbs).compile()
        self._world = model, mujoco.MjData(model)
        mujoco.mj_kinematics(*self._world)

    def _spec(self, limbs: Limbs) -> Any:
        spec = mujoco.MjSpec()
        add = spec.worldbody.add_geom
        for kind, *columns in zip(limbs.kind.tolist(), *_columns(limbs), strict=True):
            add(type=GEOM[Shape(kind)], **dict(zip(("size", "pos", "quat"), columns, strict=True)))
        return spec

    def _move(self, limbs: Limbs) -> None:
        model, data = self._world
        model.geom_size[:], model.geom_pos[:], model.geom_quat[:] = _columns(limbs)
        mujoco.mj_kinematics(model, data)

    def signed_distances(self, points: Float64Array, limb: Int32Array) -> Float64Array:
        """Distances by `mj_geomDistance` of a ball of radius `PROBE`; see `MeasuresDistances`."""
        spec = self._spec(self._built())
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[PROBE, 0.0, 0.0])
        model = spec.compile()
        data, ball, distance = mujoco.MjData(model), len(self._built()), np.empty(len(points))
        mujoco.mj_kinematics(model, data)
        for i, geom in enumerate(limb.tolist()):
            data.geom_xpos[ball] = points[i]
            distance[i] = mujoco.mj_geomDistance(model, data, geom, ball, FARTHEST, None) + PROBE
        return distance

    def _cast(self, starts: Float64Array, ends: Float64Array, hits: EngineHits) -> None:
        limb, fraction, normal, one = hits.limb, hits.fraction, hits.normal, np.zeros(1, np.int32)
        cast, (model, data) = mujoco.mj_ray, self._world
        along = ends - starts
        for i in np.flatnonzero(np.linalg.norm(along, axis=1) >= mujoco.mjMINVAL).tolist():
            fraction[i] = cast(model, data, starts[i], along[i], None, True, -1, one, normal[i])
            limb[i] = one[0]
        limb[(fraction < 0) | (fraction > 1)] = -1


def _columns(limbs: Limbs) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Sizes (n, 3), positions (n, 3) and quaternions w, x, y, z (n, 4) of MuJoCo's geoms."""
    solids = poses(limbs)
    radius, half = solids.radius, solids.half_length
    size = np.stack([radius, half, 0 * radius], axis=1)
    ellipsoid, box = limbs.kind == int(Shape.ELLIPSOID), limbs.kind == int(Shape.BOX)
    size[ellipsoid] = np.stack([radius, radius, half], axis=1)[ellipsoid]
    size[box] = solids.half_extents[box]
    return size, solids.center, solids.turn[:, [3, 0, 1, 2]]
