"""Rapier: every limb a collider, rays cast by `cast_ray_and_get_normal`, one call a ray, in float32.

The Python package has no query for many rays. Directions are end - start of any length, so that the time of impact is
the fraction. With `solid=True` a ray that starts inside hits at fraction 0.
"""

from typing import Any

import numpy as np

from cylcollide._types import Float64Array, Shape
from cylcollide.engines._adapter import Adapter, installed, peer
from cylcollide.engines._poses import SolidPoses, poses, same_lengths, y_up
from cylcollide.engines.protocol import Capabilities, EngineHits
from cylcollide.limbs.limbs import Limbs

rapier3d: Any = peer("rapier3d")


class RapierEngine(Adapter):
    """`rapier3d`, the Python bindings of the Rust engine."""

    name = "Rapier"
    capabilities = Capabilities(
        shapes=frozenset({Shape.CYLINDER, Shape.CAPSULE, Shape.SPHERE, Shape.BOX}),
        inside="hit",
        accuracy=1e-3,
        precision="float32",
        position=False,
    )

    def __init__(self) -> None:
        super().__init__()
        self.versions = {"rapier3d": installed("rapier3d")}
        self._world: Any = None
        self._shaped: Limbs | None = None
        self._handles: list[Any] = []

    def _build(self, limbs: Limbs) -> None:
        self._shaped = limbs
        self._world = rapier3d.PhysicsWorld()
        solids = poses(limbs)
        self._handles = [self._world.add_collider(_collider(solids, i)) for i in range(len(limbs))]
        self._place(solids)

    def _move(self, limbs: Limbs) -> None:
        if self._shaped is None or not same_lengths(self._shaped, limbs):  # shapes have a fixed size: rebuild
            self._build(limbs)
        else:
            self._place(poses(limbs))

    def _place(self, solids: SolidPoses) -> None:
        box = (solids.kind == int(Shape.BOX))[:, None]
        turn = np.where(box, solids.turn, y_up(solids.turn))[:, [3, 0, 1, 2]]  # w first
        colliders, place, rotation = self._world.colliders, rapier3d.Isometry3, rapier3d.Rotation3
        for handle, center, quaternion in zip(self._handles, solids.center.tolist(), turn.tolist(), strict=True):
            colliders[handle].position = place(center, rotation(*quaternion))
        self._world.detect_collisions()
        self._world.update_query_pipeline()

    def _cast(self, starts: Float64Array, ends: Float64Array, hits: EngineHits) -> None:
        cast, ray = self._world.query_pipeline.cast_ray_and_get_normal, rapier3d.Ray
        for i, (start, along) in enumerate(zip(starts.tolist(), (ends - starts).tolist(), strict=True)):
            found = cast(ray(start, along), 1.0, True)
            if found is not None:
                hits.limb[i], hits.fraction[i] = found[0].index, found[1].toi
                hits.normal[i] = tuple(found[1].normal)

    def close(self) -> None:
        """Release the world."""
        super().close()
        self._world, self._handles = None, []


def _collider(solids: SolidPoses, i: int) -> Any:
    """The collider of solid i, centred at the origin; cylinders and capsules lie along y."""
    match Shape(int(solids.kind[i])):
        case Shape.CYLINDER:
            return rapier3d.Collider.cylinder(solids.half_length[i], solids.radius[i])
        case Shape.CAPSULE:
            return rapier3d.Collider.capsule_y(solids.half_length[i], solids.radius[i])
        case Shape.SPHERE:
            return rapier3d.Collider.ball(solids.radius[i])
        case _:
            return rapier3d.Collider.cuboid(*solids.half_extents[i])
