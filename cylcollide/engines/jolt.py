"""Jolt through `culverin`: every limb a static body, rays cast by `raycast_batch`.

Positions of bodies are float64, their shapes and the rays float32. A batch has one distance limit for all its rays, and
results are fractions of it in float32: directions are unit vectors, and a hit beyond a segment's own end is a miss.
Segments with the same power of two above their length form a batch, with it as the limit: so a long segment does not
coarsen the others, and the result of a segment does not depend on the rest of the batch.
Wheels exist for CPython 3.13 and newer only.
"""

from typing import Any

import numpy as np

from cylcollide._types import Float64Array, Int32Array, Shape
from cylcollide.engines._adapter import Adapter, installed, peer
from cylcollide.engines._poses import SolidPoses, poses, same_lengths, y_up
from cylcollide.engines.protocol import Capabilities, EngineHits
from cylcollide.limbs.limbs import Limbs

culverin: Any = peer("culverin")

HIT = np.dtype(
    [("handle", "u8"), ("fraction", "f4"), ("normal", "f4", 3), ("position", "f4", 3), ("ids", "u4", 2), ("pad", "u4")]
)
"""The 48 bytes that the package documents for each ray; a handle of 0 is a miss."""
SLOT = 0xFFFFFFFF
"""Mask of the low half of a handle, the body's slot; the high half counts how often the slot was used."""


class JoltEngine(Adapter):
    """`culverin.PhysicsWorld`; a ray that starts inside hits at fraction 0."""

    name = "Jolt"
    capabilities = Capabilities(
        shapes=frozenset({Shape.CYLINDER, Shape.CAPSULE, Shape.SPHERE, Shape.BOX}),
        inside="hit",
        accuracy=1e-3,
        precision="float32",
    )

    def __init__(self) -> None:
        super().__init__()
        self.versions = {"culverin": installed("culverin")}
        self._world: Any = None
        self._shaped: Limbs | None = None
        self._handles: list[int] = []
        self._limb_of_slot: Int32Array = np.empty(0, np.int32)

    def _build(self, limbs: Limbs) -> None:
        self._shaped = limbs
        self._world = culverin.PhysicsWorld(settings={"max_bodies": max(len(limbs) + 1, 64), "gravity": (0, 0, 0)})
        solids = poses(limbs)
        turn = _turns(solids).tolist()
        self._handles = [
            self._world.create_body(pos=center, rot=quaternion, motion=culverin.MOTION_STATIC, **_shape(solids, i))
            for i, (center, quaternion) in enumerate(zip(solids.center.tolist(), turn, strict=True))
        ]
        slots = np.array(self._handles, np.uint64) & np.uint64(SLOT)
        self._limb_of_slot = np.full(int(slots.max()) + 1, -1, np.int32)
        self._limb_of_slot[slots.astype(np.int64)] = np.arange(len(limbs))
        self._world.step(0.0)

    def _move(self, limbs: Limbs) -> None:
        if self._shaped is None or not same_lengths(self._shaped, limbs):  # shapes have a fixed size: rebuild
            self._build(limbs)
            return
        solids = poses(limbs)
        move = self._world.set_transform
        for handle, center, turn in zip(self._handles, solids.center.tolist(), _turns(solids).tolist(), strict=True):
            move(handle, center, turn)
        self._world.step(0.0)

    def _cast(self, starts: Float64Array, ends: Float64Array, hits: EngineHits) -> None:
        along = ends - starts
        length = np.linalg.norm(along, axis=1)
        with np.errstate(invalid="ignore"):
            unit = np.where(length[:, None] > 0, along / length[:, None], 0.0)
        rows = np.zeros(len(starts), HIT)
        fraction = hits.fraction
        exponent = np.frexp(length)[1]
        for each in np.unique(exponent):
            batch, limit = np.flatnonzero(exponent == each), float(np.ldexp(1.0, each))
            rays = starts[batch].astype(np.float32), unit[batch].astype(np.float32)
            rows[batch] = np.frombuffer(self._world.raycast_batch(*rays, limit), HIT)
            with np.errstate(invalid="ignore", divide="ignore"):
                fraction[batch] = rows["fraction"][batch].astype(np.float64) * (limit / length[batch])
        hit = (rows["handle"] != 0) & (fraction <= 1.0)
        hits.limb[hit] = self._limb_of_slot[(rows["handle"][hit] & np.uint64(SLOT)).astype(np.int64)]
        hits.normal[:], hits.position[:] = rows["normal"], rows["position"]

    def close(self) -> None:
        """Release the world."""
        super().close()
        self._world, self._handles = None, []


def _turns(solids: SolidPoses) -> Float64Array:
    """Quaternions x, y, z, w (n, 4) for Jolt, whose cylinders and capsules lie along y."""
    return np.where((solids.kind == int(Shape.BOX))[:, None], solids.turn, y_up(solids.turn))


def _shape(solids: SolidPoses, i: int) -> dict[str, Any]:
    """The shape and size of solid i as arguments of `create_body`."""
    half, radius = float(solids.half_length[i]), float(solids.radius[i])
    match Shape(int(solids.kind[i])):
        case Shape.CYLINDER:
            return {"shape": culverin.SHAPE_CYLINDER, "size": (half, radius)}
        case Shape.CAPSULE:
            return {"shape": culverin.SHAPE_CAPSULE, "size": (half, radius)}
        case Shape.SPHERE:
            return {"shape": culverin.SHAPE_SPHERE, "size": radius}
        case _:
            return {"shape": culverin.SHAPE_BOX, "size": tuple(solids.half_extents[i].tolist())}
