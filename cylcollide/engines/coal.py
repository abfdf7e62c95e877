"""Coal, formerly hpp-fcl: distances of convex shapes by GJK and EPA in float64, one call per pair. It casts no rays."""

from typing import Any, NoReturn

import numpy as np

from cylcollide._types import Float64Array, Int32Array, Shape
from cylcollide.engines._adapter import BODY_SHAPES, PROBE, Adapter, Solid, installed, peer, poses
from cylcollide.engines.protocol import Capabilities
from cylcollide.limbs.limbs import Limbs

coal: Any = peer("coal")


class CoalEngine(Adapter):
    """`coal.distance`, with its default settings."""

    name = "Coal"
    capabilities = Capabilities(shapes=BODY_SHAPES | {Shape.ELLIPSOID}, inside="hit", accuracy=1e-5, rays=False)
    versions = installed("coal")

    def _build(self, limbs: Limbs) -> None:
        self._world = []
        for solid in poses(limbs).rows():
            x, y, z, w = solid.turn
            place = coal.Transform3s(coal.Quaternion(w, x, y, z), np.array(solid.center))
            self._world.append((_shape(solid), place))

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


def _shape(solid: Solid) -> Any:
    """A Coal shape centred at the origin, along z."""
    radius, length = solid.radius, 2.0 * solid.half_length
    match solid.kind:
        case Shape.BOX:
            return coal.Box(*(2.0 * half for half in solid.half_extents))
        case Shape.SPHERE:
            return coal.Sphere(radius)
        case Shape.CAPSULE:
            return coal.Capsule(radius, length)
        case Shape.ELLIPSOID:
            return coal.Ellipsoid(radius, radius, solid.half_length)
    return coal.Cylinder(radius, length)
