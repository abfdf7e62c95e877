"""Is a point inside a limb, and how far from its axis?

Greg James' order: the axial place by one dot product, then the squared distance from the axis. Each shape answers with
its excess: how far outside the point is, negative inside, never changing faster than the point moves, so that a point
whose excess is beyond the rounding bound is certain.
"""

from math import sqrt

from cylcollide._types import HIT, LARGEST_SAFE, MISS, ROUNDING_BOUND, UNSURE, Shape
from cylcollide.compiling import compiled
from cylcollide.kernels.box import box_excess
from cylcollide.kernels.double_double import Vector, dd_cross, dd_divide, dd_dot, vector_difference
from cylcollide.kernels.line import Frame
from cylcollide.kernels.ray import dot, largest_component
from cylcollide.kernels.table import Limb, box_frame

TUBE, TAPERED, ELLIPSOID = int(Shape.TUBE), int(Shape.TAPERED), int(Shape.ELLIPSOID)
CAPSULE, SPHERE, BOX = int(Shape.CAPSULE), int(Shape.SPHERE), int(Shape.BOX)


@compiled
def point_limb(point: Vector, limb: Limb) -> int:
    """HIT if the point is certainly strictly inside, MISS if certainly outside, UNSURE on and next to the surface."""
    delta = ROUNDING_BOUND * (largest_component(point) + limb.frame.extent)
    if not delta <= LARGEST_SAFE:
        return UNSURE
    if limb.kind == BOX:
        excess = box_excess(box_frame(limb), point)
    else:
        excess = axial_excess(point, limb.frame, limb.kind, limb.radius, limb.radius2)
    if excess > delta:
        return MISS
    return HIT if excess < -delta else UNSURE


@compiled
def axial_excess(point: Vector, frame: Frame, kind: int, radius: float, radius2: float) -> float:
    """Excess of a point for the shapes with an axis, in metres."""
    w, h = frame.axis, frame.half_length
    v = (point[0] - frame.centre[0], point[1] - frame.centre[1], point[2] - frame.centre[2])
    if kind == SPHERE:
        return sqrt(dot(v, v)) - radius
    height = dot(v, w)
    beyond = abs(height) - h
    across = (v[0] - height * w[0], v[1] - height * w[1], v[2] - height * w[2])
    distance = sqrt(dot(across, across))
    if kind == CAPSULE:
        beyond = max(beyond, 0.0)
        return sqrt(distance * distance + beyond * beyond) - radius
    if kind == ELLIPSOID:
        x, z = distance / radius, height / h
        return (sqrt(x * x + z * z) - 1.0) * min(radius, h)
    if kind == TAPERED:
        slope = (radius2 - radius) / (2.0 * h)
        wall = 0.5 * (radius + radius2) + slope * height
        return max(beyond, (distance - wall) / sqrt(1.0 + slope * slope))
    if kind == TUBE:
        return max(beyond, distance - radius, radius2 - distance)
    return max(beyond, distance - radius)


@compiled
def point_axis_distance_squared(point: Vector, limb: Limb) -> float:
    """Squared distance of a point from the limb's axis, correctly rounded but for about u².

    From the centre of a sphere; from the third axis of a box.
    """
    if limb.kind == BOX:
        x, y, z = box_frame(limb).axes[2]
        v, a = vector_difference(point, limb.frame.centre), ((x, 0.0), (y, 0.0), (z, 0.0))
    else:
        v, a = vector_difference(point, limb.p1), vector_difference(limb.p2, limb.p1)
        if limb.p1 == limb.p2:
            return dd_dot(v, v)[0]
    across = dd_cross(v, a)
    quotient = dd_divide(dd_dot(across, across), dd_dot(a, a))
    return quotient[0]
