"""From one interval to one hit: `inside="hit" | "exit" | "ignore"`, the policy for a ray that starts inside a limb.

It is applied here and nowhere else in kernels and loops; the exact counterpart is `exact.order`. One ray, or eight.
"""

from math import inf
from typing import NamedTuple

from cylcollide._types import POLICY_HIT, POLICY_IGNORE, Face
from cylcollide.kernels.interval import Span, empty
from cylcollide.kernels.ray import Ray
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import Real, Truth, logical_not, select

INSIDE = float(Face.INSIDE)


class HitBounds(NamedTuple):
    """Whether and when a ray hits a limb, as far as bounds decide it; certainly a miss unless possible."""

    possible: Truth
    certain: Truth  # certainly a hit
    lower: Real  # least distance of the hit along the ray, metres
    upper: Real  # largest distance; inf if it is not certain
    inside: Truth  # the ray certainly starts inside
    face: Real  # of the hit; `UNDECIDED_FACE` if the bounds do not decide it


@inlined
def ray_hit_bounds(ray: Ray, span: Span, policy: int) -> HitBounds:
    """The hit of a ray with one piece of a limb that `span` bounds, under a policy for a start inside."""
    outer, inner = span.outer, span.inner
    possible = logical_not(empty(outer)) & (outer[1] >= 0.0) & (outer[0] <= ray.limit)
    ahead = possible & (outer[0] > 0.0)
    reached = ahead & logical_not(empty(inner)) & (inner[0] <= ray.limit)
    inside = possible & (inner[0] <= 0.0) & (inner[1] >= 0.0)
    earliest = select(ahead, outer[0], 0.0)
    if policy == POLICY_HIT:
        latest = select(inside, 0.0, select(reached, inner[0], inf))
        return HitBounds(possible, reached | inside, earliest, latest, inside, select(inside, INSIDE, span.first_face))
    if policy == POLICY_IGNORE:
        latest = select(reached, inner[0], inf)
        return HitBounds(possible & logical_not(inside), reached, earliest, latest, inside, span.first_face)
    left = inside & (outer[1] <= ray.limit)
    return HitBounds(
        possible & (logical_not(inside) | (inner[1] <= ray.limit)),
        reached | left,
        select(inside, inner[1], earliest),
        select(left, outer[1], select(reached, inner[0], inf)),
        inside,
        select(inside, span.last_face, span.first_face),
    )
