"""Where a thick ray touches a limb, accurately: its fraction, and the nearest place of the limb.

As in `curve.py`, a face is a function f of the fraction, its value computed in double-double: the squared distance from
the nearest place, less the squared radius of the ray. For tapered cylinders and ellipsoids the fraction is the bound
itself, and the place is computed in float64.
"""

from math import nan

from cylcollide._types import Face, Shape
from cylcollide.kernels.axis import dd_from_base
from cylcollide.kernels.chord import ChordEnds, unrefined_chord
from cylcollide.kernels.curve import Curve, difference, end_of, relative_to, short_step, unknown_curve, wall_curve
from cylcollide.kernels.double_double import (
    DoubleDouble,
    DoubleDoubleVector,
    Vector,
    as_double_double,
    dd_add,
    dd_cross,
    dd_divide,
    dd_dot,
    dd_multiply,
    dd_square_root,
    dd_subtract,
    high_words,
    two_product,
    two_sum,
    vector_difference,
)
from cylcollide.kernels.interval import Span
from cylcollide.kernels.limb_table import Limb, box_axes
from cylcollide.kernels.near_line import nearest_on_ellipse, nearest_on_tapered
from cylcollide.kernels.ray import Ray, cross, dot, largest_component
from cylcollide.kernels.surface import any_perpendicular, point_at, unit
from cylcollide.kernels.traits import BOUNDED
from cylcollide.runtime.compile import compiled, inlined, linkonce
from cylcollide.runtime.simd import Real, Truth, absolute, larger, select, square_root

BOX, CAPSULE, SPHERE = int(Shape.BOX), int(Shape.CAPSULE), int(Shape.SPHERE)
CYLINDER, TUBE, TAPERED = int(Shape.CYLINDER), int(Shape.TUBE), int(Shape.TAPERED)
ELLIPSOID = int(Shape.ELLIPSOID)
SHORTER = 2.0**-8
"""Largest ratio of the second of two Newton steps to the first."""
SIDE, CAP2, BORE, INSIDE = float(Face.SIDE), float(Face.CAP2), float(Face.BORE), float(Face.INSIDE)

NOWHERE = (nan, nan), (nan, nan), (nan, nan)


# Fractions ------------------------------------------------------------------------------------------------------------


@inlined
def squared_sum(a: Real, b: Real) -> DoubleDouble:
    """(a + b)², the sum without rounding."""
    total = two_sum(a, b)
    return dd_multiply(total, total)


@inlined
def select_pair(truth: Truth, a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
    """`a` where `truth`, else `b`."""
    return select(truth, a[0], b[0]), select(truth, a[1], b[1])


@compiled
def thick_curve(
    origin: Vector, displacement: DoubleDoubleVector, fraction: Real, limb: Limb, face: float, radius: Real
) -> Curve:
    """The `Curve` of the surface at `radius` from a face of a limb, expanded about a fraction near the contact."""
    if limb.kind == BOX:
        return box_curve(origin, displacement, fraction, limb, radius)
    if limb.kind == SPHERE or (limb.kind == CAPSULE and face != SIDE):
        x, d = relative_to(origin, displacement, fraction, end_of(limb, face)), high_words(displacement)
        value = difference(dd_dot(x, x), squared_sum(limb.radius, radius))
        v = high_words(x)
        return Curve(value, dot(v, d), dot(d, d), dot(v, v) * dot(d, d))
    if limb.kind not in (CYLINDER, TUBE, CAPSULE):
        return unknown_curve(fraction)
    if face in (SIDE, BORE):
        own = squared_sum(limb.radius2 if face == BORE else limb.radius, radius if face == SIDE else -radius)
        return wall_curve(origin, displacement, fraction, limb, own)
    return cap_curve(origin, displacement, fraction, limb, face, radius)


@inlined
def cap_curve(
    origin: Vector, displacement: DoubleDoubleVector, fraction: Real, limb: Limb, face: float, radius: Real
) -> Curve:
    """The `Curve` of the distance from a cap: from its plane or, beyond its rim or a bore's, from that rim."""
    d, axis = high_words(displacement), vector_difference(limb.p2, limb.p1)
    x, a = relative_to(origin, displacement, fraction, end_of(limb, face)), high_words(axis)
    m, top, height = dd_cross(x, axis), dd_dot(axis, axis), dd_dot(x, axis)
    distance = dd_square_root(dd_divide(dd_dot(m, m), top))
    in_bore = distance[0] < limb.radius2
    rim = select(in_bore, limb.radius2, limb.radius)
    out = dd_subtract(distance, (rim, 0.0 * rim))
    beyond = in_bore | (out[0] > 0.0)
    square = dd_divide(dd_multiply(height, height), top)
    out_square = dd_multiply(out, out)
    total = dd_add(square, select_pair(beyond, out_square, (0.0 * rim, 0.0 * rim)))
    per_top, n = 1.0 / top[0], cross(d, a)
    slope = dot(high_words(m), n) * per_top / larger(distance[0], 1e-200)
    rate = dot(d, a)
    bend = slope * slope + out[0] * (dot(n, n) * per_top - slope * slope) / larger(distance[0], 1e-200)
    v = high_words(x)
    return Curve(
        difference(total, two_product(radius, radius)),
        height[0] * rate * per_top + select(beyond, out[0] * slope, 0.0),
        rate * rate * per_top + select(beyond, absolute(bend), 0.0),
        dot(v, v) * dot(d, d),
    )


@inlined
def box_curve(origin: Vector, displacement: DoubleDoubleVector, fraction: Real, limb: Limb, radius: Real) -> Curve:
    """The `Curve` of the distance from a box: from a face, an edge or a corner."""
    (x, y, z), (a, b, c) = box_axes(limb)
    v, d = relative_to(origin, displacement, fraction, limb.centre), high_words(displacement)
    one, slope_x, bend_x, size_x = slab_distance(v, d, x, a)
    two, slope_y, bend_y, size_y = slab_distance(v, d, y, b)
    three, slope_z, bend_z, size_z = slab_distance(v, d, z, c)
    total = dd_add(dd_add(one, two), three)
    size = size_x + size_y + size_z
    return Curve(
        difference(total, two_product(radius, radius)), slope_x + slope_y + slope_z, bend_x + bend_y + bend_z,
        size * dot(d, d),
    )  # fmt: skip


@inlined
def slab_distance(x: DoubleDoubleVector, d: Vector, axis: Vector, half: Real) -> tuple[DoubleDouble, Real, Real, Real]:
    """Squared distance of a point from a slab, half its slope and curvature along d, and the square rounded."""
    coordinate, rate = dd_dot(x, as_double_double(axis)), dot(d, axis)
    negative = coordinate[0] < 0.0
    beyond = dd_subtract(select_pair(negative, (-coordinate[0], -coordinate[1]), coordinate), (half, 0.0 * half))
    zero = 0.0 * half
    beyond = select_pair(beyond[0] > 0.0, beyond, (zero, zero))
    rate = select(beyond[0] > 0.0, select(negative, -rate, rate), 0.0)
    square = dd_multiply(beyond, beyond)
    return square, beyond[0] * rate, rate * rate, square[0]


@inlined
def second_step(
    origin: Vector, displacement: DoubleDoubleVector, guess: Real, first: Curve, limb: Limb, face: float, radius: Real
) -> tuple[Real, Real, Truth]:
    """A better guess than `guess`, about which the curve is `first`; the step from there, and whether it is enough.

    The step must be much shorter than the one before, and the slope must keep its sign, so that it leads to the same
    end of a chord. Far from the origin, where the bounds of a contact are wide, one step is too few.
    """
    nearer = guess - 0.5 * first.value / first.half_slope
    second = thick_curve(origin, displacement, nearer, limb, face, radius)
    step, short = short_step(second, nearer)
    is_same = (second.half_slope * first.half_slope > 0.0) & (absolute(step) <= absolute(nearer - guess) * SHORTER)
    return nearer, step, short & is_same


@inlined
def thick_crossing(
    ray: Ray, displacement: DoubleDoubleVector, guess: float, limb: Limb, face: float
) -> tuple[DoubleDouble, bool]:
    """The fraction at which a thick ray touches a face, near a guess; and whether one or two steps lead there."""
    if limb.kind in BOUNDED:
        return (guess, 0.0), True
    curve = thick_curve(ray.origin, displacement, guess, limb, face, ray.radius)
    step, short = short_step(curve, guess)
    if not short:
        guess, step, short = second_step(ray.origin, displacement, guess, curve, limb, face, ray.radius)
    return two_sum(guess, step), short


@compiled
def thick_chord(
    displacement: DoubleDoubleVector, ray: Ray, limit: float, limb: Limb, span: Span
) -> tuple[bool, ChordEnds]:
    """`chord.certain_chord` of a thick ray. For a BOUNDED shape, entry is the earliest possible, exit the latest."""
    decided, (entry, leave, first, last) = unrefined_chord(ray, limit, span)
    if decided and first != INSIDE:
        earliest = span.outer[0] * ray.per_length
        guess = earliest if limb.kind in BOUNDED else 0.5 * (earliest + span.inner[0] * ray.per_length)
        entry, decided = thick_crossing(ray, displacement, guess, limb, first)
    if decided and last != INSIDE:
        latest = span.outer[1] * ray.per_length
        guess = latest if limb.kind in BOUNDED else 0.5 * (latest + span.inner[1] * ray.per_length)
        leave, decided = thick_crossing(ray, displacement, guess, limb, last)
    return decided, (entry, leave, first, last)


# Places ---------------------------------------------------------------------------------------------------------------


@compiled
def contact_place(
    origin: Vector, displacement: DoubleDoubleVector, fraction: DoubleDouble, limb: Limb, face: float
) -> tuple[Vector, Vector]:
    """The place of a limb that is nearest to the centre at a fraction, and the unit vector from there to the centre.

    The vector is zero for the face INSIDE.
    """
    centre = point_at(origin, displacement, fraction)
    place = nearest_place(centre, limb)
    outward = vector_between(place, centre)
    normal = (0.0, 0.0, 0.0)
    if face != INSIDE:
        normal = unit(outward)
    return high_words(place), normal


@compiled
def beyond_reach(point: Vector, limb: Limb, radius: float) -> float:
    """By how much the squared distance of a limb's nearest place exceeds the square of a radius, in double-double.

    Not on the axis of a tube, where the place is computed in float64.
    """
    x = as_double_double(point)
    if limb.kind == BOX:  # its axes count as orthonormal
        still = as_double_double((0.0, 0.0, 0.0))
        return box_curve(point, still, 0.0, limb, radius).value
    place = nearest_place(x, limb)
    v = dd_subtract(x[0], place[0]), dd_subtract(x[1], place[1]), dd_subtract(x[2], place[2])
    return difference(dd_dot(v, v), two_product(radius, radius))


@inlined
def vector_between(a: DoubleDoubleVector, b: DoubleDoubleVector) -> Vector:
    """B - a, rounded."""
    return dd_subtract(b[0], a[0])[0], dd_subtract(b[1], a[1])[0], dd_subtract(b[2], a[2])[0]


@linkonce
def nearest_place(point: DoubleDoubleVector, limb: Limb) -> DoubleDoubleVector:
    """The place of a limb that is nearest to a point; the point itself inside; NaN for a shape not registered here."""
    if limb.kind == BOX:
        return nearest_in_box(point, limb)
    x, axis = dd_from_base(point, limb.p1), vector_difference(limb.p2, limb.p1)
    top, height = dd_dot(axis, axis), dd_dot(x, axis)
    share = (0.0, 0.0) if top[0] == 0.0 else dd_divide(height, top)
    within = (0.0, 0.0) if share[0] < 0.0 else (1.0, 0.0) if share[0] > 1.0 else share
    if limb.kind == SPHERE or limb.kind == CAPSULE:
        foot = scaled_vector(axis, within)
        return towards(point, dd_from_place(point, limb.p1, foot), limb.radius, 0.0)
    across = dd_from_place(point, limb.p1, scaled_vector(axis, share))
    if limb.kind in BOUNDED:
        return nearest_in_profile(point, across, axis, share[0], limb)
    if limb.kind != CYLINDER and limb.kind != TUBE:
        return NOWHERE
    shift = scaled_vector(axis, dd_subtract(within, share))  # to the nearer cap; 0 between the caps
    moved = (dd_add(point[0], shift[0]), dd_add(point[1], shift[1]), dd_add(point[2], shift[2]))
    if limb.kind == TUBE and largest_component(high_words(across)) == 0.0:
        n = any_perpendicular(high_words(axis))
        away = scaled_vector(as_double_double(n), (limb.radius2, 0.0))
        return dd_add(moved[0], away[0]), dd_add(moved[1], away[1]), dd_add(moved[2], away[2])
    return towards(moved, across, limb.radius, limb.radius2 if limb.kind == TUBE else 0.0)


@inlined
def scaled_vector(v: DoubleDoubleVector, by: DoubleDouble) -> DoubleDoubleVector:
    """V times a number."""
    return dd_multiply(v[0], by), dd_multiply(v[1], by), dd_multiply(v[2], by)


@inlined
def dd_from_place(point: DoubleDoubleVector, base: Vector, foot: DoubleDoubleVector) -> DoubleDoubleVector:
    """Point - (base + foot)."""
    x = dd_from_base(point, base)
    return dd_subtract(x[0], foot[0]), dd_subtract(x[1], foot[1]), dd_subtract(x[2], foot[2])


@inlined
def towards(point: DoubleDoubleVector, v: DoubleDoubleVector, most: float, least: float) -> DoubleDoubleVector:
    """The point moved along v, its vector from an axis or centre, until least <= |v| <= most."""
    length = dd_square_root(dd_dot(v, v))
    if least <= length[0] <= most:
        return point
    wanted = most if length[0] > most else least
    less = dd_subtract(dd_divide((wanted, 0.0), length), (1.0, 0.0))
    by = scaled_vector(v, less)
    return dd_add(point[0], by[0]), dd_add(point[1], by[1]), dd_add(point[2], by[2])


@inlined
def nearest_in_box(point: DoubleDoubleVector, limb: Limb) -> DoubleDoubleVector:
    """The place of a box that is nearest to a point."""
    axes, half = box_axes(limb)
    x, place = dd_from_base(point, limb.centre), point
    for k in range(3):
        axis = as_double_double(axes[0] if k == 0 else axes[1] if k == 1 else axes[2])
        extent = half[0] if k == 0 else half[1] if k == 1 else half[2]
        coordinate = dd_dot(x, axis)
        if abs(coordinate[0]) > extent:
            by = scaled_vector(axis, dd_subtract((extent if coordinate[0] > 0.0 else -extent, 0.0), coordinate))
            place = dd_add(place[0], by[0]), dd_add(place[1], by[1]), dd_add(place[2], by[2])
    return place


@inlined
def nearest_in_profile(
    point: DoubleDoubleVector, across: DoubleDoubleVector, axis: DoubleDoubleVector, share: float, limb: Limb
) -> DoubleDoubleVector:
    """The place of a tapered cylinder or an ellipsoid that is nearest to a point; in float64.

    `across` is the vector from the axis to the point, `share` its coordinate along the axis, 0 at p1 and 1 at p2.
    """
    v, a = high_words(across), high_words(axis)
    length, distance = square_root(dot(a, a)), square_root(dot(v, v))
    z = (share - 0.5) * length
    if limb.kind == ELLIPSOID:
        along, out = nearest_on_ellipse(z, distance, limb)
    elif limb.kind == TAPERED:
        along, out = nearest_on_tapered(z, distance, limb)
    else:
        along, out = nan, nan
    shift, less = along / length, 0.0 if distance == 0.0 else out / distance
    return (
        dd_add(point[0], (-(shift * a[0] + less * v[0]), 0.0)),
        dd_add(point[1], (-(shift * a[1] + less * v[1]), 0.0)),
        dd_add(point[2], (-(shift * a[2] + less * v[2]), 0.0)),
    )
