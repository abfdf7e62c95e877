"""Thick rays: when the centre of a ball that moves along a ray touches a limb, bounded from both sides.

The limb grown by the ball's radius R is the set of points within R of it. Spheres and capsules grow into spheres and
capsules. For other shapes the distance D from the limb is bounded along the line: a convex function, but for a tube's
bore. At a point with nearest place k, a plane through k has the limb behind it, so D is at least the distance from that
plane, which is linear along the line; and D is at most the distance from k. One crosses R before the contact, the other
behind it. Newton's method brings both together (`docs/numerics.md`).
"""

from math import inf

from cylcollide._types import Face, Shape
from cylcollide.constants import LARGEST_SAFE, ROUNDING_BOUND, SLOPE_FLOOR
from cylcollide.kernels.box import box_axes
from cylcollide.kernels.capsule import ray_capsule, ray_sphere, zone
from cylcollide.kernels.interval import UNDECIDED_FACE, Bracket, Interval, Span, intersection, undecided_where
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.line import Line, along, axis_approach, slab, slab_about, within
from cylcollide.kernels.near import (
    Near,
    backwards,
    near_limb,
    on_slope,
    slope_of,
    spot_at,
    thick_line,
)
from cylcollide.kernels.ray import Ray
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.simd import (
    Real,
    Truth,
    absolute,
    broadcast_like,
    larger,
    logical_not,
    movemask,
    select,
    smaller,
    square_root,
)

BOX, CAPSULE, SPHERE = int(Shape.BOX), int(Shape.CAPSULE), int(Shape.SPHERE)
TUBE, TAPERED, ELLIPSOID = int(Shape.TUBE), int(Shape.TAPERED), int(Shape.ELLIPSOID)
SIDE, CAP1, CAP2 = float(Face.SIDE), float(Face.CAP1), float(Face.CAP2)
NEG_X, NEG_Y, NEG_Z = float(Face.NEG_X), float(Face.NEG_Y), float(Face.NEG_Z)

MOST_STEPS = 12
"""Steps to a contact: two or three suffice, but for grazes. What is still wide then is undecided."""

STEEP = 2.0**-20
"""Least sine of the angle of contact for which bounds need be narrow."""

TIGHT = 8.0
"""Bounds are narrow enough if they differ by so many rounding bounds, times the secant of the angle of contact."""


@inlined
def thick_delta(ray: Ray, limb: Limb) -> Real:
    """Bound on all rounding errors, as a displacement in metres: twice that of a ray and the grown limb."""
    return 2.0 * ROUNDING_BOUND * (ray.extent + limb.extent + ray.radius)


@compiled
def thick_span(ray: Ray, limb: Limb, piece: int, whole: bool) -> Span:
    """Bounds of when the centre of a thick ray is inside one piece of the grown limb, clipped to the ray, metres.

    Unless `whole`, the exit is left open: it is as late as possible from outside, and at the entry from inside.
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
    delta = thick_delta(ray, limb)
    line = thick_line(ray, limb, delta)
    around = interval_around(line, limb, ray.radius)
    nothing = broadcast_like(UNDECIDED_FACE, ray.limit)
    begin, end = larger(around[0], 0.0) - line.shift, smaller(around[1], ray.limit) - line.shift
    lower, upper, last = first_contact(line, limb, begin, end, ray.radius)
    first = contact_face(line, limb, lower, upper)
    outer: Interval = (lower, last)
    inner: Interval = (upper, select(upper < inf, upper, -inf))
    leaves = nothing
    if whole:
        sooner, later, _ = first_contact(backwards(line), limb, -last, -lower, ray.radius)
        ends_inside = (end + line.shift >= ray.limit) & (-sooner >= end)
        outer = (lower, select(ends_inside, inf, -sooner))
        certain = upper < inf
        still_inside = select((end + line.shift >= ray.limit) & (-later >= end), inf, larger(-later, upper))
        inner = (upper, select(certain, still_inside, -inf))
        leaves = contact_face(line, limb, smaller(-later, -sooner), -sooner)
        outer = (outer[0], select(lower > last, -inf, outer[1]))
    if limb.kind == TUBE:
        clear = clear_of_bore(line, limb, lower, smaller(upper, last))
        inner = (select(clear, inner[0], inf), select(clear, inner[1], -inf))
        first = select(clear, first, UNDECIDED_FACE)
        if whole:
            through = logical_not(clear_of_bore(line, limb, lower, smaller(last, -sooner)))
            inner = (inner[0], select(through & (inner[0] < inf), inner[0], inner[1]))
            leaves = select(through, UNDECIDED_FACE, leaves)
            if piece == 1:
                return Span(
                    (select(through, lower + line.shift, inf), select(through, outer[1] + line.shift, -inf)),
                    (broadcast_like(inf, lower), broadcast_like(-inf, lower)), nothing, nothing,
                )  # fmt: skip
        elif piece == 1:
            return Span(
                (lower + line.shift, last + line.shift),
                (broadcast_like(inf, lower), broadcast_like(-inf, lower)), nothing, nothing,
            )  # fmt: skip
    return Span(
        (outer[0] + line.shift, outer[1] + line.shift), (inner[0] + line.shift, inner[1] + line.shift), first, leaves
    )


@inlined
def interval_around(line: Line, limb: Limb, radius: Real) -> Interval:
    """An interval of the ray's line that contains all contacts: that of the box or cylinder around the grown limb."""
    if limb.kind == BOX:
        _, half = box_axes(limb)
        x = slab_about(line.q[0], line.p[0], half[0] + radius, line.shift, line.delta)
        y = slab_about(line.q[1], line.p[1], half[1] + radius, line.shift, line.delta)
        z = slab_about(line.q[2], line.p[2], half[2] + radius, line.shift, line.delta)
        return intersection(intersection(x.outer, y.outer), z.outer)
    largest = larger(limb.radius, limb.radius2)
    walls: Bracket = within(*axis_approach(line), largest + radius, line.delta)
    return intersection(walls.outer, slab(line, limb.half_length + radius).outer)


@inlined
def first_contact(line: Line, limb: Limb, begin: Real, end: Real, radius: Real) -> tuple[Real, Real, Real]:
    """Earliest and latest t of the first contact in begin <= t <= end, and the end of any, all times of the line.

    There is none if the earliest is behind the end of any; none is certain if the latest is inf.
    """
    grown, shrunk = radius + line.delta, radius - line.delta
    t, lower, last = begin, begin, end
    upper = broadcast_like(inf, begin)
    is_open = begin <= end
    for _ in range(MOST_STEPS):
        if movemask(is_open) == 0:
            break
        near = near_limb(line, limb, t)
        # the plane is farther away than the radius on one side of its crossing
        falling = near.rate < 0.0
        rate = select(falling, smaller(near.rate, -SLOPE_FLOOR), larger(near.rate, SLOPE_FLOOR))
        crossing = t + (grown - near.height) * near.unit / rate
        lower = select(is_open & falling, larger(lower, crossing), lower)
        last = select(is_open & logical_not(falling), smaller(last, crossing), last)
        touched = certain_contact(near, shrunk, t, begin, end)
        upper = select(is_open, smaller(upper, touched), upper)
        top = smaller(upper, last)
        step = newton_step(near, radius)
        halved = 0.5 * (lower + top)
        t = select(is_open, select(near.square > 0.0, larger(lower, smaller(t + step, top)), halved), t)
        wide = (upper - lower) * larger(-rate, STEEP * near.unit) > TIGHT * line.delta * near.unit
        is_open = is_open & (lower <= last) & wide & (upper > begin)
    return lower, upper, last


@inlined
def certain_contact(near: Near, radius: Real, t: Real, begin: Real, end: Real) -> Real:
    """The first t from `begin` on at which the point is within `radius` of the given place; inf if there is none.

    The squared distance from a fixed place is s² + 2 b s + square at s behind t.
    """
    b, c = near.half_slope, near.square - radius * radius
    radicand = b * b - c
    root = square_root(larger(radicand, 0.0))
    first = larger(t - (b + root), begin)  # if digits cancel, it errs by less than the rounding bound
    exists = (radius > 0.0) & (radicand >= 0.0) & (first <= smaller(t + (root - b), end))
    return select(exists, first, inf)


@inlined
def newton_step(near: Near, radius: Real) -> Real:
    """The step to the first root of a s² + 2 b s + square = radius², or, if it has none, to its least value."""
    a, b, c = larger(near.curvature, SLOPE_FLOOR), near.half_slope, near.square - radius * radius
    radicand = b * b - a * c
    root = square_root(larger(radicand, 0.0))
    ahead = (b < 0.0) & (radicand >= 0.0)
    return select(ahead, c, -(b + root)) / select(ahead, larger(root - b, SLOPE_FLOOR), a)


@inlined
def clear_of_bore(line: Line, limb: Limb, begin: Real, end: Real) -> Truth:
    """Whether no point from begin to end can be nearer to the axis than the wall of the bore."""
    middle = axis_approach(line)[0] - line.shift
    nearest = spot_at(line, larger(begin, smaller(middle, end)))
    return nearest.distance > limb.radius2 + line.delta


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
    else:
        face = zone(line, limb.half_length, (first + line.shift, last + line.shift))
    return select(undecided, UNDECIDED_FACE, face)


@inlined
def tapered_contact_face(line: Line, limb: Limb, t: Real) -> Real:
    """The face of a tapered cylinder that is nearest at t, a rim being its cap's."""
    spot, slope = spot_at(line, t), slope_of(limb)
    way, height = on_slope(spot, limb, slope)
    delta = line.delta
    side = select((way > delta) & (way < slope.length - delta) & (height > delta), SIDE, UNDECIDED_FACE)
    below = height < -delta
    cap1, cap2 = (way < -delta) | (below & (spot.z < 0.0)), (way > slope.length + delta) | (below & (spot.z > 0.0))
    return select(cap1 & logical_not(cap2), CAP1, select(cap2 & logical_not(cap1), CAP2, side))


@inlined
def box_contact_face(line: Line, limb: Limb, first: Real, last: Real) -> Real:
    """The face of a box that is nearest from first to last: an edge or a corner is its lowest face's."""
    _, half = box_axes(limb)
    a, b = along(line.q, line.p, first), along(line.q, line.p, last)
    x = slab_face(a[0], b[0], half[0], line.delta, NEG_X)
    y = slab_face(a[1], b[1], half[1], line.delta, NEG_Y)
    z = slab_face(a[2], b[2], half[2], line.delta, NEG_Z)
    # WITHIN is larger than any face: the first slab that is left counts, if it is known
    return select(x < WITHIN, x, select(y < WITHIN, y, select(z < WITHIN, z, UNDECIDED_FACE)))


WITHIN = 100.0
"""In place of a face: between both faces of a slab."""


@inlined
def slab_face(a: Real, b: Real, half: Real, delta: Real, low: Real) -> Real:
    """The face of a slab that points from a to b are all beyond, WITHIN it, or `UNDECIDED_FACE`."""
    least, most = smaller(a, b), larger(a, b)
    inside = select((least > delta - half) & (most < half - delta), WITHIN, UNDECIDED_FACE)
    return select(most < -half - delta, low, select(least > half + delta, low + 1.0, inside))
