"""Planes that have a limb behind them, and the vector from its nearest place: they prove that a solid misses it.

A limb lies behind the plane with unit normal n at its support along n. A solid in front of the plane does not touch the
limb, whatever n is: errors in n make no bound wrong. A tube counts as a cylinder.
"""

from math import inf

from cylcollide._types import Shape
from cylcollide.constants import SLOPE_FLOOR
from cylcollide.kernels.axis import from_centre
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.limb_table import Limb, box_axes
from cylcollide.kernels.near_line import beyond_face, nearest_on_ellipse, nearest_on_tapered
from cylcollide.kernels.ray import dot
from cylcollide.runtime.compile import compiled
from cylcollide.runtime.simd import square_root

BOX, CAPSULE, SPHERE = int(Shape.BOX), int(Shape.CAPSULE), int(Shape.SPHERE)
CYLINDER, TUBE, TAPERED = int(Shape.CYLINDER), int(Shape.TUBE), int(Shape.TAPERED)
ELLIPSOID = int(Shape.ELLIPSOID)


@compiled
def support(n: Vector, limb: Limb) -> float:
    """The largest n · (x - centre) of all points x of a limb; n is a unit vector. For unregistered shapes, inf."""
    if limb.kind == BOX:
        (u, v, w), half = box_axes(limb)
        return abs(dot(n, u)) * half[0] + abs(dot(n, v)) * half[1] + abs(dot(n, w)) * half[2]
    if limb.kind == SPHERE:
        return limb.radius
    along, a, h = dot(n, limb.axis), limb.axis, limb.half_length
    if limb.kind == CAPSULE:
        return abs(along) * h + limb.radius
    out = (n[0] - along * a[0], n[1] - along * a[1], n[2] - along * a[2])
    across = square_root(dot(out, out))
    if limb.kind == ELLIPSOID:
        return square_root(along * along * (h * h) + across * across * (limb.radius * limb.radius))
    if limb.kind == TAPERED:
        return max(across * limb.radius - along * h, across * limb.radius2 + along * h)
    if limb.kind == CYLINDER or limb.kind == TUBE:
        return abs(along) * h + across * limb.radius
    return inf


@compiled
def way_from(point: Vector, limb: Limb) -> Vector:
    """The vector to a point from a limb's nearest place, up to rounding; zero inside and for unregistered shapes."""
    v = from_centre(point, limb)
    if limb.kind == BOX:
        (a, b, c), half = box_axes(limb)
        x, y, z = dot(v, a), dot(v, b), dot(v, c)
        along_x, rise_x = beyond_face(x, 1.0, half[0])
        along_y, rise_y = beyond_face(y, 1.0, half[1])
        along_z, rise_z = beyond_face(z, 1.0, half[2])
        along_x, along_y, along_z = along_x * rise_x, along_y * rise_y, along_z * rise_z
        return (
            along_x * a[0] + along_y * b[0] + along_z * c[0],
            along_x * a[1] + along_y * b[1] + along_z * c[1],
            along_x * a[2] + along_y * b[2] + along_z * c[2],
        )
    w, h = limb.axis, limb.half_length
    z = dot(v, w)
    u = (v[0] - z * w[0], v[1] - z * w[1], v[2] - z * w[2])
    distance = square_root(dot(u, u))
    if limb.kind == ELLIPSOID:
        along, out = nearest_on_ellipse(z, distance, limb)
    elif limb.kind == TAPERED:
        along, out = nearest_on_tapered(z, distance, limb)
    else:
        along, out = max(abs(z) - h, 0.0) * (1.0 if z > 0.0 else -1.0), distance
        if limb.kind == CAPSULE or limb.kind == SPHERE:
            size = square_root(along * along + out * out)
            share = max(size - limb.radius, 0.0) / max(size, SLOPE_FLOOR)
            along, out = along * share, out * share
        elif limb.kind == CYLINDER or limb.kind == TUBE:
            out = max(out - limb.radius, 0.0)
        else:
            return 0.0, 0.0, 0.0
    share = out / max(distance, SLOPE_FLOOR)
    return along * w[0] + share * u[0], along * w[1] + share * u[1], along * w[2] + share * u[2]
