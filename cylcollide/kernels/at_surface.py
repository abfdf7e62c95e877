"""Bounds of hits of rays that run along a level face, or that start or end next to a surface, as a ricochet does.

Where a face is level, across x, y or z, float64 tells without error whether a ray along it is beyond it. Otherwise
float64 leaves open on which side of a surface a rounded point lies; the nearest place in double-double decides it. A
ray that starts outside a convex limb and leads away from its nearest place never meets the limb.
"""

from cylcollide._types import POLICY_EXIT, POLICY_HIT, Face, Shape
from cylcollide.kernels.box import level_face, parallel_box_span
from cylcollide.kernels.double_double import DoubleDoubleVector
from cylcollide.kernels.hit_bounds import or_behind, span_of
from cylcollide.kernels.inside_policy import HitBounds, ray_hit_bounds
from cylcollide.kernels.interval import NOTHING, UNDECIDED_FACE, Span, empty
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.ray import Ray
from cylcollide.kernels.traits import BOUNDED
from cylcollide.runtime.compile import compiled, inlined, linkonce

CAP1, CAP2, BORE = float(Face.CAP1), float(Face.CAP2), float(Face.BORE)
FACE_INSIDE, NONE = float(Face.INSIDE), float(Face.NONE)
BOX, CYLINDER, TUBE = int(Shape.BOX), int(Shape.CYLINDER), int(Shape.TUBE)

UNKNOWN, INSIDE, OUTSIDE, LEAVING = range(4)
"""Sides of a limb; LEAVING: outside, and a ray from there in this direction never meets the limb."""

LEAST_TIME = 2.0**-1022
"""Metres, less than to the first contact of a ray that is known to start outside."""

MISSED = HitBounds(False, False, 0.0, 0.0, False, UNDECIDED_FACE)


@linkonce
def level_span(ray: Ray, displacement: DoubleDoubleVector, limb: Limb, piece: int) -> Span:
    """`span_of`, exact where the ray runs along level faces of a box, or level caps of a cylinder or tube."""
    if ray.radius == 0.0:
        if limb.kind == BOX:
            return parallel_box_span(ray, displacement, limb)
        if limb.kind in (CYLINDER, TUBE):
            for k in range(3):
                if displacement[k][0] == 0.0 and is_along(limb, k):
                    return span_between_caps(ray, limb, piece, k)
    return span_of(ray, limb, piece)


@inlined
def is_along(limb: Limb, k: int) -> bool:
    """Whether the axis of a limb is exactly along x, y or z."""
    i, j = (k + 1) % 3, (k + 2) % 3
    return bool(limb.p1[i] == limb.p2[i] and limb.p1[j] == limb.p2[j])


@inlined
def span_between_caps(ray: Ray, limb: Limb, piece: int, k: int) -> Span:
    """The span of a ray at one height along an axis that is exactly along x, y or z: the same at any height."""
    low, high = min(limb.p1[k], limb.p2[k]), max(limb.p1[k], limb.p2[k])
    if not low <= ray.origin[k] <= high:
        return Span(NOTHING, NOTHING, UNDECIDED_FACE, UNDECIDED_FACE)
    x, y, z = ray.origin
    middle = 0.5 * low + 0.5 * high
    origin = (middle if k == 0 else x, middle if k == 1 else y, middle if k == 2 else z)
    moved = Ray(origin, ray.direction, ray.length, ray.per_length, ray.limit, ray.extent, ray.radius)
    return span_of(moved, limb, piece)


@compiled
def level_plane(ray: Ray, displacement: DoubleDoubleVector, limb: Limb) -> float:
    """The face of a box, or the cap of a cylinder or tube, in whose level plane the ray runs; else NONE.

    Of several faces of a box the lowest: it owns their edge.
    """
    plane = NONE
    for k in range(3):
        if displacement[k][0] == 0.0:
            if limb.kind == BOX:
                plane = min(plane, level_face(ray.origin[k], limb, k))
            elif is_along(limb, k):
                plane = CAP1 if ray.origin[k] == limb.p1[k] else CAP2 if ray.origin[k] == limb.p2[k] else NONE
    return plane


@inlined
def owner(face: float, plane: float) -> float:
    """The face that owns the end of a chord in a plane: caps own their rims, the lowest face an edge of a box."""
    if face == FACE_INSIDE or plane == NONE:
        return face
    return min(face, plane) if plane > BORE else plane


@linkonce
def settled_bounds(
    ray: Ray, displacement: DoubleDoubleVector, limb: Limb, policy: int, start: int, end: int
) -> HitBounds:
    """The hit of one ray with a limb, given the sides of its start and, for the way back, of its end."""
    span, is_tube = level_span(ray, displacement, limb, 0), limb.kind == TUBE
    bounds = ray_hit_bounds(ray, span, policy)
    if is_tube:
        bounds = or_behind(bounds, ray_hit_bounds(ray, level_span(ray, displacement, limb, 1), policy))
    if bounds.certain or not bounds.possible or bounds.inside:
        return bounds
    if ray.radius > 0.0 and limb.kind in BOUNDED:  # bounds are all there is of these
        return bounds
    first, inner = span.outer[0], span.inner
    if start == LEAVING or end == LEAVING:
        return MISSED
    if start == INSIDE and policy != POLICY_EXIT:
        is_hit = policy == POLICY_HIT
        return HitBounds(is_hit, is_hit, 0.0, 0.0, True, FACE_INSIDE)
    if is_tube:  # what is in one piece says little about the other
        return bounds
    if start == OUTSIDE:
        if inner[0] <= inner[1] < 0.0:
            return MISSED  # what is inside is behind the start
        first = max(first, LEAST_TIME)
    if end == OUTSIDE and ray.limit < inner[0] <= inner[1]:
        return MISSED
    if end == INSIDE:
        inner = (ray.limit, ray.limit) if empty(inner) else (min(inner[0], ray.limit), max(inner[1], ray.limit))
    return ray_hit_bounds(ray, Span((first, span.outer[1]), inner, span.first_face, span.last_face), policy)
