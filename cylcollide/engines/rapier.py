"""Rapier: every limb is a collider, rays are cast by `cast_ray_and_get_normal`, one call per ray, in float32.

The Python package has no query for many rays. Directions are end - start of any length, so that the time of impact is
the fraction. With `solid=True` a ray that starts inside hits at fraction 0.
"""

from typing import Any

from cylcollide._types import Float64Array, Shape
from cylcollide.engines._adapter import BODY_SHAPES, BodyEngine, Solid, SolidPoses, installed, peer
from cylcollide.engines.protocol import Capabilities, EngineHits

rapier3d: Any = peer("rapier3d")


class RapierEngine(BodyEngine):
    """`rapier3d`, the Python bindings of the Rust engine."""

    name = "Rapier"
    capabilities = Capabilities(BODY_SHAPES, inside="hit", accuracy=1e-3, precision="float32", position=False)

    versions = installed("rapier3d")

    def _create(self, solids: SolidPoses, turns: Float64Array) -> None:
        self._world = rapier3d.PhysicsWorld()
        self._bodies = [self._world.add_collider(_collider(solid)) for solid in solids.rows()]
        self._place(solids.center, turns)

    def _place(self, centers: Float64Array, turns: Float64Array) -> None:
        colliders, place, rotation = self._world.colliders, rapier3d.Isometry3, rapier3d.Rotation3
        for body, center, (x, y, z, w) in zip(self._bodies, centers.tolist(), turns.tolist(), strict=True):
            colliders[body].position = place(center, rotation(w, x, y, z))
        self._world.detect_collisions()
        self._world.update_query_pipeline()

    def _cast(self, starts: Float64Array, ends: Float64Array, hits: EngineHits) -> None:
        cast, ray = self._world.query_pipeline.cast_ray_and_get_normal, rapier3d.Ray
        for i, (start, along) in enumerate(zip(starts.tolist(), (ends - starts).tolist(), strict=True)):
            found = cast(ray(start, along), 1.0, True)
            if found is not None:
                hits.limb[i], hits.fraction[i] = found[0].index, found[1].toi
                hits.normal[i] = tuple(found[1].normal)


def _collider(solid: Solid) -> Any:
    """The collider of a solid, centred at the origin; cylinders and capsules lie along y."""
    match solid.kind:
        case Shape.CYLINDER:
            return rapier3d.Collider.cylinder(solid.half_length, solid.radius)
        case Shape.CAPSULE:
            return rapier3d.Collider.capsule_y(solid.half_length, solid.radius)
        case Shape.SPHERE:
            return rapier3d.Collider.ball(solid.radius)
        case _:
            return rapier3d.Collider.cuboid(*solid.half_extents)
