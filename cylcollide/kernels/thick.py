"""Thick rays: when the centre of a ball that moves along a ray touches a limb, bounded from both sides.

The limb grown by the ball's radius R is the set of points within R of it. Spheres and capsules grow into spheres and
capsules. Contacts with other shapes are found by Newton's method (`first_contact.py`, `bore.py`).
"""

from math import inf

from cylcollide._types import Face, Shape
from cylcollide.constants import LARGEST_SAFE, ROUNDING_BOUND
from cylcollide.kernels.axis import on_slope, slope_of
from cylcollide.kernels.bore import bore_gap, first_contact_in_tube
from cylcollide.kernels.capsule import ray_capsule, ray_sphere, zone
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.first_contact import MOST_STEPS, first_contact
from cylcollide.kernels.inside_policy import HitBounds
from cylcollide.kernels.interval import (
    NOTHING,
    UNDECIDED_FACE,
    Bracket,
    Interval,
    Span,
    intersection,
    select_interval,
    undecided_where,
)
from cylcollide.kernels.limb_table import Limb, box_axes
from cylcollide.kernels.line import Line, along, axis_approach, slab, slab_about, within
from cylcollide.kernels.near_line import backwards, spot_at, thick_line
from cylcollide.kernels.ray import Ray
from cylcollide.kernels.traits import WITH_AXES
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.simd import Real, Truth, absolute, broadcast_like, larger, logical_not, select, smaller

BOX, CAPSULE, SPHERE, ELLIPSOID = int(Shape.BOX), int(Shape.CAPSULE), int(Shape.SPHERE), int(Shape.ELLIPSOID)
CYLINDER, TUBE, TAPERED = int(Shape.CYLINDER), int(Shape.TUBE), int(Shape.TAPERED)
SIDE, CAP1, CAP2, BORE = float(Face.SIDE), float(Face.CAP1), float(Face.CAP2), float(Face.BORE)
NEG_X, NEG_Y, NEG_Z = float(Face.NEG_X), float(Face.NEG_Y), float(Face.NEG_Z)


@inlined
def thick_delta(ray: Ray, limb: Limb) -> Real:
    """Bound on all rounding errors, as a displacement in metres: twice that of a ray and the grown limb."""
    return 2.0 * ROUNDING_BOUND * (ray.extent + limb.extent + ray.radius)


@compiled
def thick_span(ray: Ray, limb: Limb, piece: int, whole: bool) -> Span:
    """Bounds of when the centre of a thick ray is inside one piece of the grown limb, clipped to the ray, metres.

    Unless `whole`, the exit is left open: as late as possible in `outer`, at the entry in `inner`.
    """
    if limb.kind == SPHERE:
        span = ray_sphere(ray, grown_ball(ray, limb))
    elif limb.kind == CAPSULE:
        span = ray_capsule(ray, grown_ball(ray, limb))
    else:
        span = contact_span(ray, limb, piece, whole)
    return undecided_where(logical_not(thick_delta(ray, limb) <= LARGEST_SAFE * ROUNDING_BOUND), span)


@inlined
def grown_ball(ray: Ray, limb: Limb) -> Limb:
    """A sphere or capsule, its radius larger by that of the ray."""
    radius, extent = limb.radius + ray.radius, limb.extent + ray.radius
    return Limb(
        limb.kind, limb.centre, limb.axis, limb.half_length, radius, limb.radius2, limb.p1, limb.p2, extent
    )  # fmt: skip


@inlined
def contact_span(ray: Ray, limb: Limb, piece: int, whole: bool) -> Span:
    """`thick_span` of a shape whose nearest places are computed."""
    line = thick_line(ray, limb, thick_delta(ray, limb))
    around = interval_around(line, limb, ray.radius)
    nothing = broadcast_like(UNDECIDED_FACE, ray.limit)
    begin, end = larger(around[0], 0.0) - line.shift, smaller(around[1], ray.limit) - line.shift
    lower, upper, last, _ = first_contact(line, limb, begin, end, ray.radius, MOST_STEPS)
    if limb.kind == TUBE:
        lower, upper = first_contact_in_tube(line, limb, lower, upper, last, ray.radius)
    if not whole:
        return span_from(line, limb, lower, upper, last)
    first = contact_face(line, limb, lower, upper)
    back = backwards(line)
    sooner, later, _, _ = first_contact(back, limb, -last, -lower, ray.radius, MOST_STEPS)
    if limb.kind == TUBE:
        sooner, later = first_contact_in_tube(back, limb, sooner, later, -lower, ray.radius)
    leaves = contact_face(line, limb, smaller(-later, -sooner), -sooner)
    may_end_inside = around[1] >= ray.limit
    leave = select(lower > last, -inf, select(may_end_inside & (-sooner >= end), inf, -sooner))
    still_inside = select(may_end_inside & (-later >= end), inf, larger(-later, upper))
    outer: Interval = (lower, leave)
    inner = (upper, select(upper < inf, still_inside, -inf))
    if limb.kind == TUBE:
        filled, single, before, behind = bore_gap(line, limb, (lower, upper), (-sooner, -later), ray.radius)
        if piece == 0:
            inner = select_interval(filled, inner, (inner[0], -inf))
            inner = (inner[0], select(single, larger(before[1], upper), inner[1]))
            leaves = select(single, contact_face(line, limb, before[1], before[0]), leaves)
            outer = (lower, select(single, before[0], leave))
        else:
            inner = (select(single, behind[1], inf), select(single, inner[1], -inf))
            first = select(single, contact_face(line, limb, behind[0], behind[1]), nothing)
            outer = select_interval(filled, NOTHING, (select(single, behind[0], lower), leave))
    return Span(
        (outer[0] + line.shift, outer[1] + line.shift), (inner[0] + line.shift, inner[1] + line.shift), first, leaves
    )


@inlined
def span_from(line: Line, limb: Limb, lower: Real, upper: Real, last: Real) -> Span:
    """A span that begins between these times, and whose end is left open."""
    first, nothing = contact_face(line, limb, lower, upper), broadcast_like(UNDECIDED_FACE, lower)
    inner = (upper + line.shift, select(upper < inf, upper, -inf) + line.shift)
    return Span((lower + line.shift, last + line.shift), inner, first, nothing)


@inlined
def first_step_span(ray: Ray, limb: Limb) -> tuple[Span, Truth]:
    """`thick_span` of a cylinder, its exit left open, after one step; and which rays need more steps."""
    delta = thick_delta(ray, limb)
    line = thick_line(ray, limb, delta)
    around = interval_around(line, limb, ray.radius)
    begin, end = larger(around[0], 0.0) - line.shift, smaller(around[1], ray.limit) - line.shift
    lower, upper, last, is_open = first_contact(line, limb, begin, end, ray.radius, 1)
    untrusted = logical_not(delta <= LARGEST_SAFE * ROUNDING_BOUND)
    return undecided_where(untrusted, span_from(line, limb, lower, upper, last)), is_open


@inlined
def interval_around(line: Line, limb: Limb, radius: Real) -> Interval:
    """An interval of the ray's line that contains all contacts: that of the box or cylinder around the grown limb."""
    if limb.kind in WITH_AXES:
        _, half = box_axes(limb)
        x = slab_about(line.q[0], line.p[0], half[0] + radius, line.shift, line.delta)
        y = slab_about(line.q[1], line.p[1], half[1] + radius, line.shift, line.delta)
        z = slab_about(line.q[2], line.p[2], half[2] + radius, line.shift, line.delta)
        return intersection(intersection(x.outer, y.outer), z.outer)
    largest = larger(limb.radius, limb.radius2)
    walls: Bracket = within(*axis_approach(line), largest + radius, line.delta)
    return intersection(walls.outer, slab(line, limb.half_length + radius).outer)


# Faces ----------------------------------------------------------------------------------------------------------------


@inlined
def contact_face(line: Line, limb: Limb, first: Real, last: Real) -> Real:
    """The face with the nearest place, if it is the same from first to last; else `UNDECIDED_FACE`."""
    undecided = logical_not((absolute(first) < inf) & (absolute(last) < inf))
    first, last = select(undecided, 0.0, first), select(undecided, 0.0, last)
    if limb.kind == BOX:
        face = box_contact_face(line, limb, first, last)
    elif limb.kind == TAPERED:
        one, other = tapered_contact_face(line, limb, first), tapered_contact_face(line, limb, last)
        face = select(one == other, one, UNDECIDED_FACE)
    elif limb.kind == ELLIPSOID:
        face = broadcast_like(SIDE, first)
    elif limb.kind == CYLINDER or limb.kind == TUBE:
        face = zone(line, limb.half_length, (first + line.shift, last + line.shift))
        if limb.kind == TUBE:
            face = select(face == SIDE, wall_face(line, limb, first, last), face)
    else:
        face = broadcast_like(UNDECIDED_FACE, first)
    return select(undecided, UNDECIDED_FACE, face)


@inlined
def wall_face(line: Line, limb: Limb, first: Real, last: Real) -> Real:
    """The wall of a tube that is nearest at both times, the outer one or the bore's; else `UNDECIDED_FACE`."""
    one, other = spot_at(line, first).distance, spot_at(line, last).distance
    least, most, delta = smaller(one, other), larger(one, other), line.delta
    return select(most < limb.radius2 - delta, BORE, select(least > limb.radius2 + delta, SIDE, UNDECIDED_FACE))


@inlined
def tapered_contact_face(line: Line, limb: Limb, t: Real) -> Real:
    """The face of a tapered cylinder that is nearest at t; a rim belongs to its cap."""
    spot, delta, (_, _, length) = spot_at(line, t), line.delta, slope_of(limb)
    way, height = on_slope(spot.z, spot.distance, limb)
    side = select((way > delta) & (way < length - delta) & (height > delta), SIDE, UNDECIDED_FACE)
    below = height < -delta  # there, over a cap of a wide and short limb, `way` may be beyond the other rim
    above = logical_not(below)
    cap1, cap2 = (
        (above & (way < -delta)) | (below & (spot.z < 0.0)),
        (above & (way > length + delta)) | (below & (spot.z > 0.0)),
    )
    return select(cap1 & logical_not(cap2), CAP1, select(cap2 & logical_not(cap1), CAP2, side))


@inlined
def box_contact_face(line: Line, limb: Limb, first: Real, last: Real) -> Real:
    """The face of a box that is nearest from first to last; an edge or a corner belongs to its lowest face."""
    x, y, z = slab_faces(line, limb, first, last)
    # WITHIN is larger than any face code: the first slab that the points are not within counts, if decided
    return select(x < WITHIN, x, select(y < WITHIN, y, select(z < WITHIN, z, UNDECIDED_FACE)))


@compiled
def touches_between_edges(ray: Ray, limb: Limb, bounds: HitBounds) -> bool:
    """Whether one thick ray certainly touches a box first at a face, not at an edge or a corner."""
    if limb.kind != BOX or not bounds.upper < inf:
        return False
    line = thick_line(ray, limb, thick_delta(ray, limb))
    x, y, z = slab_faces(line, limb, bounds.lower - line.shift, bounds.upper - line.shift)
    return int(x == WITHIN) + int(y == WITHIN) + int(z == WITHIN) == 2


@inlined
def slab_faces(line: Line, limb: Limb, first: Real, last: Real) -> Vector:
    """`slab_face` of the three slabs of a box."""
    _, half = box_axes(limb)
    a, b = along(line.q, line.p, first), along(line.q, line.p, last)
    return (
        slab_face(a[0], b[0], half[0], line.delta, NEG_X),
        slab_face(a[1], b[1], half[1], line.delta, NEG_Y),
        slab_face(a[2], b[2], half[2], line.delta, NEG_Z),
    )


WITHIN = 100.0
"""In place of a face: between both faces of a slab."""


@inlined
def slab_face(a: Real, b: Real, half: Real, delta: Real, low: Real) -> Real:
    """The face of a slab that all points from a to b are beyond; WITHIN if all are within; else `UNDECIDED_FACE`."""
    least, most = smaller(a, b), larger(a, b)
    inside = select((least > delta - half) & (most < half - delta), WITHIN, UNDECIDED_FACE)
    return select(most < -half - delta, low, select(least > half + delta, low + 1.0, inside))
