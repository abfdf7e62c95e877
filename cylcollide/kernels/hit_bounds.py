"""Hits of rays with limbs: whether, when and through which face, and which limb is first. One ray, or eight."""

from math import inf
from typing import TypeAlias

from cylcollide._types import NO_LIMB, POLICY_HIT
from cylcollide.kernels.dispatch import pieces, ray_limb, ray_limbs
from cylcollide.kernels.inside_policy import HitBounds, ray_hit_bounds
from cylcollide.kernels.interval import UNDECIDED_FACE, Span
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.ray import Ray
from cylcollide.kernels.thick import first_step_span, thick_span
from cylcollide.runtime.compile import compiled, inlined, linkonce
from cylcollide.runtime.simd import Real, Truth, broadcast_like, logical_not, select, smaller


@inlined
def limb_hit_bounds(ray: Ray, limb: Limb, policy: int) -> HitBounds:
    """The hit of one ray with a limb: with the first piece that counts under the policy."""
    if ray.radius > 0.0:
        return one_thick_hit_bounds(ray, limb, policy)
    bounds = ray_hit_bounds(ray, ray_limb(ray, limb, 0), policy)
    if pieces(limb.kind) == 2:
        bounds = or_second_piece(bounds, ray, limb, policy)
    return bounds


@linkonce
def one_thick_hit_bounds(ray: Ray, limb: Limb, policy: int) -> HitBounds:
    """`thick_hit_bounds` of one ray."""
    return thick_hit_bounds(ray, limb, policy)


@compiled
def thick_hit_bounds(ray: Ray, limb: Limb, policy: int) -> HitBounds:
    """The hit of a thick ray with a limb, or of eight rays."""
    whole = policy != POLICY_HIT
    bounds = ray_hit_bounds(ray, thick_span(ray, limb, 0, whole), policy)
    if whole and pieces(limb.kind) == 2:
        bounds = or_behind(bounds, ray_hit_bounds(ray, thick_span(ray, limb, 1, whole), policy))
    return bounds


@inlined
def first_step_bounds(ray: Ray, limb: Limb) -> tuple[HitBounds, Truth]:
    """`thick_hit_bounds` of a cylinder and the policy "hit", after one step; and which rays need more steps."""
    span, is_open = first_step_span(ray, limb)
    return ray_hit_bounds(ray, span, POLICY_HIT), is_open


@inlined
def span_of(ray: Ray, limb: Limb, piece: int) -> Span:
    """Bounds of when one ray is inside one piece of a limb, which is grown by the ray's radius; metres."""
    if ray.radius > 0.0:
        return whole_thick_span(ray, limb, piece)
    return ray_limb(ray, limb, piece)


@linkonce
def whole_thick_span(ray: Ray, limb: Limb, piece: int) -> Span:
    """`thick_span` of one ray, both ends bounded."""
    return thick_span(ray, limb, piece, True)


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

    The second piece counts only if the first is certainly missed and the ray does not start in it; else the hit with
    the first piece decides for the whole limb.
    """
    return or_behind(bounds, ray_hit_bounds(ray, ray_limb(ray, limb, 1), policy))


@inlined
def or_behind(bounds: HitBounds, behind: HitBounds) -> HitBounds:
    """As `or_second_piece`, given the hits with both pieces."""
    first = bounds.possible | bounds.inside
    return HitBounds(
        bounds.possible | (logical_not(first) & behind.possible),
        bounds.certain | (logical_not(first) & behind.certain),
        select(first, bounds.lower, behind.lower),
        select(first, bounds.upper, behind.upper),
        bounds.inside | (logical_not(first) & behind.inside),
        select(first, bounds.face, behind.face),
    )


Closest: TypeAlias = tuple[Real, Real, HitBounds]
"""The closest hit among the limbs tested so far, in any order: `limb, next_possible, bounds`.

`limb` is the index of the certainly hit limb with the least upper bound, NO_LIMB if there is none. `bounds` are those
of its hit, except `inside`: whether the ray certainly starts in any limb. `next_possible` is the earliest time at which
another limb may be hit; it has no effect beyond the upper bound.
"""


@inlined
def no_hit(like: Real) -> Closest:
    """The closest hit before any limb is tested, for one ray or eight as in `like`."""
    never, none = broadcast_like(inf, like), broadcast_like(float(NO_LIMB), like)
    nothing = none >= 0.0
    return none, never, HitBounds(nothing, nothing, never, never, nothing, broadcast_like(UNDECIDED_FACE, like))


@inlined
def closer(closest: Closest, limb: Real, bounds: HitBounds) -> Closest:
    """The closest hit updated by the bounds of one more limb.

    The closest limb is the one certainly hit with the least upper bound, ties by index; any other that may be hit
    before that bound goes into `next_possible`. Limbs that contain the start are all hit at exactly 0: among them the
    lowest index is the closest, and none counts as possibly earlier.
    """
    best, next_possible, hit = closest
    relevant = bounds.possible & (bounds.lower <= hit.upper)
    sooner = (bounds.upper < hit.upper) | ((bounds.upper == hit.upper) & (limb < best))
    replaces = relevant & bounds.certain & sooner
    other_lower = select(replaces, hit.lower, bounds.lower)  # of the limb that is not the closest
    other_upper = select(replaces, hit.upper, bounds.upper)
    may_precede = relevant & logical_not(other_upper == 0.0)
    known = hit.certain | replaces
    return (
        select(replaces, limb, best),
        select(may_precede, smaller(next_possible, other_lower), next_possible),
        HitBounds(
            known,
            known,
            select(replaces, bounds.lower, hit.lower),
            select(replaces, bounds.upper, hit.upper),
            hit.inside | bounds.inside,
            select(replaces, bounds.face, hit.face),
        ),
    )


@inlined
def is_undecided(closest: Closest) -> Truth:
    """Whether the bounds do not decide which limb is hit first, or through which face."""
    limb, next_possible, hit = closest
    contested = (next_possible < inf) & (next_possible <= hit.upper)
    return contested | ((limb >= 0.0) & (hit.face == UNDECIDED_FACE))
