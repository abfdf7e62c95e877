"""Jolt through `culverin`: every limb is a static body, rays are cast by `raycast_batch`.

Positions of bodies are float64, their shapes and the rays float32. A batch has one distance limit for all its rays, and
results are fractions of it in float32: directions are unit vectors, and a hit beyond a segment's own end is a miss.
Segments with the same power of two above their length form a batch, with this power as the limit: so a long segment
does not coarsen the others, and the result of a segment does not depend on the rest of the batch.
Wheels exist for CPython 3.13 and newer only.
"""

from typing import Any

import numpy as np

from cylcollide._types import Float64Array, Int32Array, Shape
from cylcollide.engines._adapter import BODY_SHAPES, BodyEngine, Solid, SolidPoses, installed, peer
from cylcollide.engines.protocol import Capabilities, EngineHits

culverin: Any = peer("culverin")

HIT = np.dtype(
    [("handle", "u8"), ("fraction", "f4"), ("normal", "f4", 3), ("position", "f4", 3), ("ids", "u4", 2), ("pad", "u4")]
)
"""The 48 bytes that the package documents for each ray; a handle of 0 is a miss."""
SLOT = 0xFFFFFFFF
"""Mask of the low half of a handle, the body's slot; the high half counts how often the slot was used."""


class JoltEngine(BodyEngine):
    """`culverin.PhysicsWorld`; a ray that starts inside hits at fraction 0."""

    name = "Jolt"
    capabilities = Capabilities(shapes=BODY_SHAPES, inside="hit", accuracy=1e-3, precision="float32")

    versions = installed("culverin")
    _limb_of_slot: Int32Array

    def _create(self, solids: SolidPoses, turns: Float64Array) -> None:
        count = len(solids.kind)
        self._world = culverin.PhysicsWorld(settings={"max_bodies": max(count + 1, 64), "gravity": (0, 0, 0)})
        self._bodies = [
            self._world.create_body(pos=solid.center, rot=turn, motion=culverin.MOTION_STATIC, **_shape(solid))
            for solid, turn in zip(solids.rows(), turns.tolist(), strict=True)
        ]
        slots = np.array(self._bodies, np.uint64) & np.uint64(SLOT)
        self._limb_of_slot = np.full(int(slots.max()) + 1, -1, np.int32)
        self._limb_of_slot[slots.astype(np.int64)] = np.arange(count)
        self._world.step(0.0)

    def _place(self, centers: Float64Array, turns: Float64Array) -> None:
        for body, center, turn in zip(self._bodies, centers.tolist(), turns.tolist(), strict=True):
            self._world.set_transform(body, center, turn)
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


def _shape(solid: Solid) -> dict[str, Any]:
    """The shape and size of a solid as arguments of `create_body`."""
    size: Any = solid.half_length, solid.radius
    if solid.kind in (Shape.SPHERE, Shape.BOX):
        size = solid.radius if solid.kind == Shape.SPHERE else tuple(solid.half_extents)
    return {"shape": getattr(culverin, f"SHAPE_{solid.kind.name}"), "size": size}
