"""Is a point inside a capped cylinder, and how far from its axis?

Greg James' order: the caps first, by one dot product, then the squared distance from the axis.
"""

from cylcollide._types import HIT, LARGEST_SAFE, MISS, ROUNDING_BOUND, UNSURE
from cylcollide.kernels.cylinder import Cylinder
from cylcollide.kernels.double_double import (
    Vector,
    dd_cross,
    dd_divide,
    dd_dot,
    vector_difference,
)
from cylcollide.kernels.ray import dot, largest_component
from cylcollide.simd import compiled


@compiled
def point_cylinder(point: Vector, limb: Cylinder) -> int:
    """HIT if the point is certainly strictly inside, MISS if certainly outside, UNSURE on and next to the surface."""
    delta = ROUNDING_BOUND * (largest_component(point) + limb.extent)
    if not delta <= LARGEST_SAFE:
        return UNSURE
    w = limb.axis
    v = (point[0] - limb.centre[0], point[1] - limb.centre[1], point[2] - limb.centre[2])
    height = dot(v, w)
    if abs(height) > limb.half_length + delta:
        return MISS
    across = (v[0] - height * w[0], v[1] - height * w[1], v[2] - height * w[2])
    distance_squared = dot(across, across)
    if distance_squared > (limb.radius + delta) * (limb.radius + delta):
        return MISS
    room = limb.radius - delta
    if room > 0.0 and distance_squared < room * room and abs(height) < limb.half_length - delta:
        return HIT
    return UNSURE


@compiled
def point_axis_distance_squared(point: Vector, p1: Vector, p2: Vector) -> float:
    """Squared distance of a point from the line through p1 and p2, correctly rounded but for about u²."""
    a = vector_difference(p2, p1)
    across = dd_cross(vector_difference(point, p1), a)
    quotient = dd_divide(dd_dot(across, across), dd_dot(a, a))
    return quotient[0]
