"""Bounds of a hit: from when a ray is inside a limb to whether it hits, and when at the earliest and at the latest.

Only here the loops apply the policy for a ray that starts inside.
"""

from math import inf
from typing import NamedTuple

from cylcollide._types import POLICY_HIT, POLICY_IGNORE, Face
from cylcollide.kernels.dispatch import pieces, ray_limb, ray_limbs
from cylcollide.kernels.interval import Span, empty
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.ray import Ray
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import Real, Truth, logical_not, select

INSIDE = float(Face.INSIDE)


class HitBounds(NamedTuple):
    """Whether and when a ray hits a limb, as far as bounds decide it; certainly a miss if not possible."""

    possible: Truth
    certain: Truth  # certainly a hit
    lower: Real  # earliest time of the hit, metres
    upper: Real  # latest time; inf if it is not certain
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


@inlined
def limb_hit_bounds(ray: Ray, limb: Limb, policy: int) -> HitBounds:
    """The hit of a ray with a limb: with the first piece that counts under the policy."""
    bounds = ray_hit_bounds(ray, ray_limb(ray, limb, 0), policy)
    if pieces(limb.kind) == 2:
        bounds = or_second_piece(bounds, ray, limb, policy)
    return bounds


@inlined
def two_hit_bounds(
    one: Ray, two: Ray, limb_of_one: Limb, limb_of_two: Limb, policy: int
) -> tuple[HitBounds, HitBounds]:
    """`limb_hit_bounds` of sixteen rays and limbs of one shape: two independent chains hide each other's latency."""
    first, second = ray_limbs(one, two, limb_of_one, limb_of_two)
    bounds, other_bounds = ray_hit_bounds(one, first, policy), ray_hit_bounds(two, second, policy)
    if pieces(limb_of_one.kind) == 2:
        bounds, other_bounds = (
            or_second_piece(bounds, one, limb_of_one, policy),
            or_second_piece(other_bounds, two, limb_of_two, policy),
        )
    return bounds, other_bounds


@inlined
def or_second_piece(bounds: HitBounds, ray: Ray, limb: Limb, policy: int) -> HitBounds:
    """The hit of a ray with a tube, given the hit with its first piece: that one, or the hit with the second piece.

    The second piece counts only if the first is certainly missed and the ray does not start in it; else the policy has
    already decided about the whole limb.
    """
    behind = ray_hit_bounds(ray, ray_limb(ray, limb, 1), policy)
    first = bounds.possible | bounds.inside
    return HitBounds(
        bounds.possible | (logical_not(first) & behind.possible),
        bounds.certain | (logical_not(first) & behind.certain),
        select(first, bounds.lower, behind.lower),
        select(first, bounds.upper, behind.upper),
        bounds.inside | (logical_not(first) & behind.inside),
        select(first, bounds.face, behind.face),
    )
