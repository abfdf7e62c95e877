"""Coal, formerly hpp-fcl: distances of convex shapes by GJK and EPA in float64, one call per pair. It casts no rays."""

from typing import Any, NoReturn

import numpy as np

from cylcollide._types import Float64Array, Int32Array, Shape
from cylcollide.engines._adapter import BODY_SHAPES, PROBE, Adapter, installed, peer, poses
from cylcollide.engines.protocol import Capabilities
from cylcollide.limbs.limbs import Limbs

coal: Any = peer("coal")


class CoalEngine(Adapter):
    """`coal.distance`, with its default settings."""

    name = "Coal"
    capabilities = Capabilities(shapes=BODY_SHAPES | {Shape.ELLIPSOID}, inside="hit", accuracy=1e-5, rays=False)
    versions = installed("coal")

    def _build(self, limbs: Limbs) -> None:
        solids = poses(limbs)
        columns = solids.kind, solids.radius, 2.0 * solids.half_length, solids.half_extents, solids.turn, solids.center
        self._world = [
            (_shape(Shape(kind), radius, length, half), coal.Transform3s(coal.Quaternion(w, x, y, z), np.array(center)))
            for kind, radius, length, half, (x, y, z, w), center in zip(*(c.tolist() for c in columns), strict=True)
        ]

    def _cast(self, *_: object) -> NoReturn:
        raise ValueError("Coal: expected no segments, it casts no rays; call signed_distances()")

    def signed_distances(self, points: Float64Array, limb: Int32Array) -> Float64Array:
        """Distances by that of a ball of radius `PROBE`; see `MeasuresDistances`."""
        ball, request, place = coal.Sphere(PROBE), coal.DistanceRequest(), coal.Transform3s()
        distance = np.empty(len(points))
        for i, row in enumerate(limb.tolist()):
            place.setTranslation(points[i])
            distance[i] = coal.distance(*self._world[row], ball, place, request, coal.DistanceResult()) + PROBE
        return distance


def _shape(kind: Shape, radius: float, length: float, half: list[float]) -> Any:
    """A Coal shape centred at the origin, along z."""
    match kind:
        case Shape.BOX:
            return coal.Box(*(2.0 * h for h in half))
        case Shape.SPHERE:
            return coal.Sphere(radius)
        case Shape.CAPSULE:
            return coal.Capsule(radius, length)
        case Shape.ELLIPSOID:
            return coal.Ellipsoid(radius, radius, 0.5 * length)
    return coal.Cylinder(radius, length)
