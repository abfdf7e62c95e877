"""Hit bounds of rays that start or end next to a surface, as ricochets do, and the side of each end.

Float64 cannot resolve on which side of a surface a rounded point lies; the nearest place in double-double decides it,
and next to a level face the coordinates do. A ray that starts outside a convex limb and points away from its nearest
place misses the limb.
"""

from math import sqrt
from typing import TypeAlias

from cylcollide._types import HIT, MISS, POLICY_EXIT, POLICY_HIT, UNDECIDED, Face, Shape
from cylcollide.kernels.dispatch import pieces
from cylcollide.kernels.distance import distance_bounds
from cylcollide.kernels.double_double import DoubleDoubleVector, Vector, high_words
from cylcollide.kernels.hit_bounds import or_behind, span_of
from cylcollide.kernels.inside_policy import HitBounds, ray_hit_bounds
from cylcollide.kernels.interval import NOTHING, UNDECIDED_FACE, Interval, Span, empty
from cylcollide.kernels.level import beyond, has_level_faces, level_heights, level_ray, moved_to
from cylcollide.kernels.limb_table import Limb, box_axes
from cylcollide.kernels.nearest_place import nearest_place
from cylcollide.kernels.ray import Ray, Rays, as_vector, dot, largest_component, radius_of, subtract
from cylcollide.kernels.thick_surface import beyond_reach
from cylcollide.kernels.traits import BOUNDED, WITH_AXES
from cylcollide.runtime.compile import inlined, linkonce

FACE_INSIDE, NONE, SIDE, TUBE = float(Face.INSIDE), float(Face.NONE), float(Face.SIDE), int(Shape.TUBE)

UNKNOWN, OUTSIDE, LEAVING, INSIDE, ENTERING, EXITING, WITHIN = range(7)
"""Sides of a limb, for a ray from there. LEAVING: outside; the ray misses the limb. INSIDE: inside or on the surface.
ENTERING, EXITING: on a level face, through which the ray enters or exits. WITHIN: inside, or along such a face."""

Sides: TypeAlias = tuple[int, int]
"""The sides on which a ray starts and ends."""

SIDE_ERROR = 2.0**-70
"""Least distance from a surface at which its side is decided, relative to the coordinates: 2²⁰ times the error of the
distance, so that the normal errs by 2⁻¹⁸, also where it points to an edge."""

GROWTH_ERROR, SKEW_ERROR = 2.0**-52, 2.0**-48
"""`SIDE_ERROR` relative to the radius of a thick ray: the first as the distance is rounded, the second for rotated
boxes, whose axes count as orthonormal."""

SMALLEST_GROWTH = 2.0**-300
"""Least radius whose square does not underflow, in double-double."""

LEAST_COSINE = 2.0**-10
"""Least cosine between the normal and a direction that leads away from the limb."""

AFTER = 1.0 + 2.0**-50
"""Factor from a ray's limit to a time after it."""

LONGER = 1.0 + 2.0**-20
"""Factor from the limit of a thick ray to that of the ray whose bounds are computed."""

LEAST_TIME = 2.0**-1022
"""Lower bound, in metres, of the first contact of a ray that certainly starts outside."""

MISSED = HitBounds(False, False, 0.0, 0.0, False, UNDECIDED_FACE)


@linkonce
def sides_of_ray(rays: Rays, i: int, limb: Limb) -> Sides:
    """On which sides of a limb ray i starts and ends, from nearest places in double-double."""
    origin, second, radius = as_vector(rays.origin, i), as_vector(rays.second, i), radius_of(rays, i)
    if not rays.is_segment:
        return side_of_ball(origin, second, radius, limb, True), UNKNOWN
    start = side_of_ball(origin, subtract(second, origin), radius, limb, True)
    return start, side_of_ball(second, subtract(origin, second), radius, limb, True)


@linkonce
def side_of_ball(point: Vector, way: Vector, radius: float, limb: Limb, are_orthonormal: bool) -> int:
    """On which side of a limb a ball lies; `way`: the direction of a ray from there.

    `are_orthonormal`: whether the axes of a box count so; else as given.
    """
    place = nearest_place(point, limb)
    off, is_convex, is_turned = place.distance - radius, limb.kind != TUBE or place.face == SIDE, False
    if limb.kind in WITH_AXES:
        for axis in box_axes(limb)[0]:
            for x in axis:
                is_turned |= x != 0.0 and abs(x) != 1.0
    of_side = SIDE_ERROR * (largest_component(point) + limb.extent + radius)
    least = of_side + (SKEW_ERROR if is_turned else GROWTH_ERROR) * radius
    is_close = radius >= SMALLEST_GROWTH and abs(off) <= least and is_convex  # not on the axis of a tube
    if is_close and limb.kind not in BOUNDED and (are_orthonormal or not is_turned):
        off, least = 0.5 * beyond_reach(point, limb, radius) / radius, of_side
    side = UNKNOWN
    if place.certain and off < -least:
        side = WITHIN
    elif place.certain and off > least:
        cosine = dot(place.normal, way) / max(sqrt(dot(way, way)), 1e-300)
        side = LEAVING if is_convex and cosine > LEAST_COSINE else OUTSIDE
    elif place.certain and place.distance == 0.0 and radius == 0.0:  # on a level face: exactly
        side = INSIDE
    if side == UNKNOWN and pieces(limb.kind) == 1:
        side, _ = level_side(point, way, radius, limb)
    return side


@linkonce
def settled_point(point: Vector, limb: Limb) -> int:
    """HIT if a limb contains a point, else MISS, by its nearest place; UNDECIDED if that is uncertain."""
    place = nearest_place(point, limb)
    if not place.certain:
        return UNDECIDED
    return HIT if place.distance <= 0.0 else MISS


@linkonce
def settled_bounds(ray: Ray, displacement: DoubleDoubleVector, limb: Limb, policy: int, sides: Sides) -> HitBounds:
    """The hit of one ray with a limb, given the side of its start and, for the reversed ray, of its end."""
    moved, is_beyond, _ = level_ray(ray, displacement, limb)
    start, end = sides
    if is_beyond or start == LEAVING or end == LEAVING:
        return MISSED
    if start >= INSIDE and policy != POLICY_EXIT:
        is_hit = policy == POLICY_HIT
        return HitBounds(is_hit, is_hit, 0.0, 0.0, True, FACE_INSIDE)
    bounds = ray_hit_bounds(ray, settled_piece(moved, limb, 0, (start, end)), policy)
    if pieces(limb.kind) == 2:
        bounds = or_behind(bounds, ray_hit_bounds(ray, settled_piece(moved, limb, 1, (start, end)), policy))
    return bounds


@inlined
def bound_pieces(ray: Ray, limb: Limb) -> bool:
    """Whether sides bound when a ray is in a piece of a limb: a thick ray can be in one piece of a tube repeatedly."""
    return bool(ray.radius == 0.0 or pieces(limb.kind) == 1)


@linkonce
def settled_piece(ray: Ray, limb: Limb, piece: int, sides: Sides) -> Span:
    """When a ray is in one piece of a limb, given the sides of its start and end."""
    start, end = sides if bound_pieces(ray, limb) else (UNKNOWN, UNKNOWN)
    span = span_of(lengthened(ray, end), limb, piece)
    if pieces(limb.kind) == 2:
        other = span_of(ray, limb, 1 - piece).outer
        start, end = side_of_piece(start, 0.0, span.outer, other), side_of_piece(end, ray.limit, span.outer, other)
    return settled_span(ray, span, start, end)


@inlined
def side_of_piece(side: int, time: float, own: Interval, other: Interval) -> int:
    """On which side of one of two pieces a ray is at a time, given the side of their union."""
    if side < INSIDE:
        return side
    if not own[0] <= time <= own[1]:
        return OUTSIDE
    return UNKNOWN if other[0] <= time <= other[1] else side


@inlined
def lengthened(ray: Ray, end: int) -> Ray:
    """The ray, or a slightly longer one if it is thick and ends in a limb: bounds of its contact end at its limit."""
    longer = ray.limit * (LONGER if ray.radius > 0.0 and end >= INSIDE else 1.0)
    return Ray(ray.origin, ray.direction, ray.length, ray.per_length, longer, ray.extent, ray.radius)


@inlined
def settled_span(ray: Ray, span: Span, start: int, end: int) -> Span:
    """When a ray is in a limb of one piece, given the bounds of this and the sides of its start and end."""
    (first, last), inner = span.outer, span.inner
    is_before, is_after = inner[0] <= inner[1] < 0.0, ray.limit < inner[0] <= inner[1]
    if (start == OUTSIDE and is_before) or (end == OUTSIDE and is_after):
        return Span(NOTHING, NOTHING, span.first_face, span.last_face)
    is_graze = empty(inner)  # of the line: bounds do not decide its faces
    if start == OUTSIDE:
        first = max(first, LEAST_TIME)
    if end == OUTSIDE:
        last = min(last, ray.limit)
    if start >= INSIDE:
        inner = extended(inner, 0.0, 0.0)
    if start == EXITING:
        last = min(last, 0.0)
    if end >= INSIDE:
        inner = extended(inner, ray.limit, ray.limit * AFTER + LEAST_TIME if end >= EXITING else ray.limit)
    if end == ENTERING:  # backwards: the ray exits at its end
        last = min(last, ray.limit)
    first_face, last_face = (UNDECIDED_FACE, UNDECIDED_FACE) if is_graze else (span.first_face, span.last_face)
    return Span((first, last), inner, first_face, last_face)


@inlined
def extended(inner: Interval, begin: float, end: float) -> Interval:
    """The least interval that contains both."""
    return (begin, end) if empty(inner) else (min(inner[0], begin), max(inner[1], end))


LevelSide: TypeAlias = tuple[int, float]
"""A side, and the level face that a point is on, NONE for no face."""

NO_SIDE: LevelSide = (UNKNOWN, NONE)


@linkonce
def level_sides(
    ray: Ray, displacement: DoubleDoubleVector, end: Vector, has_end: bool, limb: Limb
) -> tuple[LevelSide, LevelSide]:
    """`level_side` of the start, and of the end if it has one, of a ray; UNKNOWN for a limb of two pieces."""
    if pieces(limb.kind) == 2:
        return NO_SIDE, NO_SIDE
    x, y, z = high_words(displacement)
    start = level_side(ray.origin, (x, y, z), ray.radius, limb)
    return start, level_side(end, (-x, -y, -z), ray.radius, limb) if has_end else NO_SIDE


@linkonce
def level_side(point: Vector, way: Vector, radius: float, limb: Limb) -> LevelSide:
    """The side on which a ball lies, next to level faces without error; `way`: the direction of a ray from there.

    UNKNOWN on an edge of two of them, which one of both owns, and for a ball that is next to an edge.
    """
    moved, is_level, is_outside, planes, faces, side, face = point, False, False, 0, 0, WITHIN, NONE
    for k in range(3):
        if has_level_faces(limb, k):
            low, high, low_face, high_face, middle = level_heights(limb, k)
            under, over = beyond(-point[k], low, radius), beyond(point[k], (-high[0], -high[1]), radius)
            faces += beyond(-point[k], low, 0.0) > 0.0 or beyond(point[k], (-high[0], -high[1]), 0.0) > 0.0
            if (under > 0.0 and way[k] <= 0.0) or (over > 0.0 and way[k] >= 0.0):
                return LEAVING, NONE
            moved, is_level, is_outside = moved_to(moved, k, middle), True, is_outside or under > 0.0 or over > 0.0
            if under == 0.0 or over == 0.0:
                inward, face = (way[k], low_face) if under == 0.0 else (-way[k], high_face)
                planes, side = planes + 1, ENTERING if inward > 0.0 else EXITING if inward < 0.0 else side
    if is_outside or not is_level or planes > 1 or faces > 1:
        return OUTSIDE if is_outside else UNKNOWN, NONE
    lower, upper = distance_bounds(moved, limb)
    if upper <= 0.0:
        return side, face
    return OUTSIDE if lower > radius and faces == 0 else UNKNOWN, NONE
