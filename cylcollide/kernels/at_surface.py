"""Hit bounds of rays that start or end next to a surface, as ricochets do, given the side of each end.

Float64 cannot resolve on which side of a surface a rounded point lies; the nearest place in double-double decides it. A
ray that starts outside a convex limb and points away from its nearest place misses the limb.
"""

from cylcollide._types import POLICY_EXIT, POLICY_HIT, Face, Shape
from cylcollide.kernels.double_double import DoubleDoubleVector
from cylcollide.kernels.hit_bounds import or_behind
from cylcollide.kernels.inside_policy import HitBounds, ray_hit_bounds
from cylcollide.kernels.interval import UNDECIDED_FACE, Span, empty
from cylcollide.kernels.level import level_span
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.ray import Ray
from cylcollide.kernels.traits import BOUNDED
from cylcollide.runtime.compile import linkonce

FACE_INSIDE, TUBE = float(Face.INSIDE), int(Shape.TUBE)

UNKNOWN, INSIDE, OUTSIDE, LEAVING = range(4)
"""Sides of a limb; LEAVING: outside, and a ray from there in this direction misses the limb."""

LEAST_TIME = 2.0**-1022
"""Lower bound, in metres, of the first contact of a ray that certainly starts outside."""

MISSED = HitBounds(False, False, 0.0, 0.0, False, UNDECIDED_FACE)


@linkonce
def settled_bounds(
    ray: Ray, displacement: DoubleDoubleVector, limb: Limb, policy: int, start: int, end: int
) -> HitBounds:
    """The hit of one ray with a limb, given the side of its start and, for the reversed ray, of its end."""
    span, is_tube = level_span(ray, displacement, limb, 0), limb.kind == TUBE
    bounds = ray_hit_bounds(ray, span, policy)
    if is_tube:
        bounds = or_behind(bounds, ray_hit_bounds(ray, level_span(ray, displacement, limb, 1), policy))
    if bounds.certain or not bounds.possible or bounds.inside:
        return bounds
    if ray.radius > 0.0 and limb.kind in BOUNDED:  # contacts with these are only bounded
        return bounds
    first, inner = span.outer[0], span.inner
    if start == LEAVING or end == LEAVING:
        return MISSED
    if start == INSIDE and policy != POLICY_EXIT:
        is_hit = policy == POLICY_HIT
        return HitBounds(is_hit, is_hit, 0.0, 0.0, True, FACE_INSIDE)
    if is_tube:  # the rest holds for a single piece
        return bounds
    if start == OUTSIDE:
        if inner[0] <= inner[1] < 0.0:
            return MISSED  # the part inside is behind the start
        first = max(first, LEAST_TIME)
    if end == OUTSIDE and ray.limit < inner[0] <= inner[1]:
        return MISSED
    if end == INSIDE:
        inner = (ray.limit, ray.limit) if empty(inner) else (min(inner[0], ray.limit), max(inner[1], ray.limit))
    return ray_hit_bounds(ray, Span((first, span.outer[1]), inner, span.first_face, span.last_face), policy)
