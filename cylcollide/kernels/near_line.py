"""The place of a limb that is nearest to a point of a line, for each shape; bounds of thick rays follow from it.

A `Line` here has coordinates about the axis, or along the axes of a limb that has three. Points are at t metres from
the line's closest approach to the limb's centre.
"""

from math import inf
from typing import NamedTuple

from cylcollide._types import Shape
from cylcollide.constants import SLOPE_FLOOR
from cylcollide.kernels.axis import on_slope, slope_of
from cylcollide.kernels.limb_table import Limb, box_axes
from cylcollide.kernels.line import Line, along, closest_approach, line_about
from cylcollide.kernels.ray import Ray, dot
from cylcollide.kernels.traits import WITH_AXES
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import (
    Real,
    Truth,
    absolute,
    broadcast_like,
    larger,
    select,
    smaller,
    square_root,
    with_sign,
)

CYLINDER, TUBE, TAPERED = int(Shape.CYLINDER), int(Shape.TUBE), int(Shape.TAPERED)
BOX, ELLIPSOID = int(Shape.BOX), int(Shape.ELLIPSOID)

NEWTON_STEPS = 8
"""Steps to the nearest place of an ellipse; the remaining error only widens the bounds."""

LEAST_SLOPE = 1e-200
"""Replaces a divisor of zero, where the dividend is zero, too."""


class Near(NamedTuple):
    """A place of a limb next to a point of the line, and a plane with the limb behind it. All zero inside the limb."""

    square: Real  # squared distance of the point from the place, m²
    half_slope: Real  # half its derivative along the line, the place being fixed
    curvature: Real  # about half the second derivative of the squared distance from the limb; 0 to 1
    height: Real  # distance of the point from the plane, m: at most that from the limb
    rate: Real  # its derivative along the line, times `unit`
    unit: Real  # > 0


class Spot(NamedTuple):
    """A point of a line seen in the half plane through the axis."""

    z: Real  # along the axis, from the limb's centre
    distance: Real  # from the axis
    rate: Real  # derivative of z along the line
    slope: Real  # derivative of the distance
    bend: Real  # its second derivative


@inlined
def thick_line(ray: Ray, limb: Limb, delta: Real) -> Line:
    """The ray's line about the limb's axis; or its closest approach and direction (q, p) along the limb's axes."""
    if limb.kind in WITH_AXES:
        shift, x = closest_approach(ray, limb.centre)
        (a, b, c), _ = box_axes(limb)
        d = ray.direction
        q, p = (dot(x, a), dot(x, b), dot(x, c)), (dot(d, a), dot(d, b), dot(d, c))
        return Line(shift, shift, shift, q, p, delta)
    line = line_about(ray, limb)
    return Line(line.shift, line.height, line.rate, line.q, line.p, delta)


@inlined
def backwards(line: Line) -> Line:
    """The same line in the other direction: what was at t is at -t."""
    p = line.p
    return Line(-line.shift, line.height, -line.rate, line.q, (-p[0], -p[1], -p[2]), line.delta)


@inlined
def spot_at(line: Line, t: Real) -> Spot:
    """The point at t in the half plane."""
    v = along(line.q, line.p, t)
    distance = square_root(dot(v, v))
    per_distance = 1.0 / larger(distance, SLOPE_FLOOR)
    slope = dot(v, line.p) * per_distance
    bend = (dot(line.p, line.p) - slope * slope) * per_distance
    return Spot(line.height + line.rate * t, distance, line.rate, slope, bend)


@inlined
def near_limb(line: Line, limb: Limb, t: Real) -> Near:
    """The nearest place of a limb other than a sphere or capsule. A tube counts as the cylinder around it.

    For a shape not registered here, the place is infinitely far away and the plane bounds nothing.
    """
    if limb.kind == BOX:
        return near_box(line, limb, t)
    if limb.kind == TAPERED:
        return near_tapered(spot_at(line, t), limb)
    if limb.kind == ELLIPSOID:
        return near_ellipsoid(spot_at(line, t), limb)
    if limb.kind == CYLINDER or limb.kind == TUBE:
        return near_cylinder(spot_at(line, t), limb)
    zero = broadcast_like(0.0, t)
    return Near(zero + inf, zero, zero, zero - inf, zero, zero + 1.0)


@inlined
def near_place(square: Real, half_slope: Real, curvature: Real) -> Near:
    """The nearest place of a limb, and its plane: perpendicular to the vector from the place to the point."""
    distance = square_root(square)
    return Near(square, half_slope, curvature, distance, half_slope, select(square > 0.0, distance, 1.0))


@inlined
def near_cylinder(spot: Spot, limb: Limb) -> Near:
    """The nearest place of a cylinder: of the wall, a cap or a rim."""
    return near_ring(spot, limb, larger(spot.distance - limb.radius, 0.0))


@inlined
def near_tube(spot: Spot, limb: Limb) -> Near:
    """The nearest place of a tube: of a wall, a cap or a rim. In the bore, no plane has the tube behind it."""
    outside = select(
        spot.distance > limb.radius, spot.distance - limb.radius, smaller(spot.distance - limb.radius2, 0.0)
    )
    return near_ring(spot, limb, outside)


@inlined
def near_ring(spot: Spot, limb: Limb, outside: Real) -> Near:
    """The nearest place of a cylinder or tube; `outside` is the distance to it across the axis, > 0 if inward."""
    beyond = larger(absolute(spot.z) - limb.half_length, 0.0)
    rise = select(spot.z > 0.0, spot.rate, -spot.rate)
    bend = spot.slope * spot.slope + outside * spot.bend
    curvature = select(beyond > 0.0, rise * rise, 0.0) + select(outside == 0.0, 0.0, bend)
    return near_place(beyond * beyond + outside * outside, beyond * rise + outside * spot.slope, curvature)


@inlined
def near_box(line: Line, limb: Limb, t: Real) -> Near:
    """The nearest place of a box: of a face, an edge or a corner."""
    _, half = box_axes(limb)
    u, v, w = along(line.q, line.p, t)
    x, rise_x = beyond_face(u, line.p[0], half[0])
    y, rise_y = beyond_face(v, line.p[1], half[1])
    z, rise_z = beyond_face(w, line.p[2], half[2])
    curvature = rise_x * rise_x + rise_y * rise_y + rise_z * rise_z
    return near_place(x * x + y * y + z * z, x * rise_x + y * rise_y + z * rise_z, curvature)


@inlined
def beyond_face(coordinate: Real, rate: Real, half: Real) -> tuple[Real, Real]:
    """Distance of a point beyond either face of a slab, and its rate; 0 within."""
    beyond = absolute(coordinate) - half
    rise = select(coordinate > 0.0, rate, -rate)
    return larger(beyond, 0.0), select(beyond > 0.0, rise, 0.0)


@inlined
def nearest_on_tapered(z: Real, distance: Real, limb: Limb) -> tuple[Real, Real]:
    """The vector from the nearest place of a tapered cylinder to a point of the half plane; zero inside.

    However short, it is normal to a plane with the limb behind it: along the wall's normal, the cap's, or, at a rim,
    between both.
    """
    h, (along_axis, across, length) = limb.half_length, slope_of(limb)
    way, height = on_slope(z, distance, limb)
    past = way - smaller(larger(way, 0.0), length)
    wall_z, wall_out = past * along_axis - height * across, larger(past * across + height * along_axis, 0.0)
    up, beyond = z > 0.0, absolute(z) - h
    over_cap = (beyond > 0.0) & (distance <= select(up, limb.radius2, limb.radius))
    inside = (beyond <= 0.0) & (height <= 0.0)
    return (
        select(inside, 0.0, select(over_cap, select(up, beyond, -beyond), wall_z)),
        select(inside | over_cap, 0.0, wall_out),
    )


@inlined
def near_tapered(spot: Spot, limb: Limb) -> Near:
    """The nearest place of a tapered cylinder: that of the wall or of a cap, rims included."""
    along_axis, across, length = slope_of(limb)
    z, out = nearest_on_tapered(spot.z, spot.distance, limb)
    way, height = on_slope(spot.z, spot.distance, limb)
    bend = out * spot.bend
    steep = spot.slope * along_axis - spot.rate * across
    of_rim = spot.rate * spot.rate + spot.slope * spot.slope + bend
    of_cap = select(out > 0.0, of_rim, spot.rate * spot.rate)
    flat = (way > 0.0) & (way < length) & (height > 0.0)
    curvature = select(flat, steep * steep + absolute(bend), of_cap)
    return near_place(z * z + out * out, z * spot.rate + out * spot.slope, curvature)


@inlined
def place_on_ellipse(z: Real, distance: Real, limb: Limb) -> tuple[Real, Real]:
    """The place of an ellipse nearest to a point outside, z >= 0, divided by the half axes: on the unit circle.

    It is (h z / (λ + h²), r d / (λ + r²)), of length 1 (D. Eberly); Newton's method converges to λ from below.
    """
    h, r = limb.half_length, limb.radius
    h2, r2, a, b = h * h, r * r, h * z, r * distance
    root = larger(larger(a - h2, b - r2), 0.0)
    for _ in range(NEWTON_STEPS):
        per_h, per_r = 1.0 / (root + h2), 1.0 / (root + r2)
        x, y = a * per_h, b * per_r
        x, y = x * x, y * y
        root = root + larger(x + y - 1.0, 0.0) / larger(2.0 * (x * per_h + y * per_r), LEAST_SLOPE)
    x, y = a / (root + h2), b / (root + r2)
    size = larger(square_root(x * x + y * y), SLOPE_FLOOR)
    return x / size, y / size


@inlined
def in_ellipse(z: Real, distance: Real, limb: Limb) -> Truth:
    """Whether a point of the half plane is inside."""
    x, y = z / limb.half_length, distance / limb.radius
    return x * x + y * y <= 1.0


@inlined
def nearest_on_ellipse(z: Real, distance: Real, limb: Limb) -> tuple[Real, Real]:
    """The vector from the nearest place of an ellipse to a point of the half plane; zero inside."""
    inside = in_ellipse(z, distance, limb)
    x, y = place_on_ellipse(absolute(z), distance, limb)
    return (
        select(inside, 0.0, z - with_sign(limb.half_length * x, z)),
        select(inside, 0.0, distance - limb.radius * y),
    )


@inlined
def near_ellipsoid(spot: Spot, limb: Limb) -> Near:
    """A place of an ellipsoid very close to the nearest one, and the tangent plane there.

    Any other place gives valid bounds, too, but less tight ones.
    """
    h, r, height = limb.half_length, limb.radius, absolute(spot.z)
    x, y = place_on_ellipse(height, spot.distance, limb)
    inside = in_ellipse(spot.z, spot.distance, limb)
    z, out = select(inside, 0.0, height - h * x), select(inside, 0.0, spot.distance - r * y)
    normal_z, normal_out = r * x, h * y
    size = larger(square_root(normal_z * normal_z + normal_out * normal_out), SLOPE_FLOOR)
    normal_z, normal_out = normal_z / size, normal_out / size
    rise = select(spot.z > 0.0, spot.rate, -spot.rate)
    rate = select(inside, 0.0, normal_z * rise + normal_out * spot.slope)
    above = larger(normal_z * z + normal_out * out, 0.0)
    # the tangent plane turns as the place moves, by the radius of curvature
    tangential = larger(rise * rise + spot.slope * spot.slope - rate * rate, 0.0)
    bend = tangential * above / (size * size * size / (h * r) + above) + absolute(out * spot.bend)
    square, one = z * z + out * out, broadcast_like(1.0, rate)
    return Near(square, z * rise + out * spot.slope, rate * rate + bend, above, rate, one)
