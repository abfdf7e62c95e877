"""Bounds of a hit of a ray with a whole limb, of one or two pieces, for one ray or sixteen."""

from cylcollide.kernels.dispatch import pieces, ray_limb, ray_limbs
from cylcollide.kernels.inside_policy import HitBounds, ray_hit_bounds
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.ray import Ray
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import logical_not, select


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
