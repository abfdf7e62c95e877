"""Does a ray hit a limb, when at the earliest and at the latest? From bounds to an answer, or to "not decided".

This is where the policy for a ray that starts inside comes in, and nowhere else.
"""

from math import inf
from typing import NamedTuple

from cylcollide._types import POLICY_HIT, POLICY_IGNORE, Face
from cylcollide.kernels.dispatch import pieces, ray_limb, ray_limbs
from cylcollide.kernels.interval import Span, empty
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.ray import Ray
from cylcollide.runtime.compile import merged
from cylcollide.runtime.simd import Real, Truth, opposite, select

INSIDE = float(Face.INSIDE)


class Event(NamedTuple):
    """What a ray does with a limb, as far as bounds tell. What is not possible is certainly no hit."""

    possible: Truth
    certain: Truth  # certainly a hit
    lower: Real  # earliest time of the hit, metres
    upper: Real  # latest time; inf if it is not certain
    inside: Truth  # the ray certainly starts inside
    face: Real  # UNDECIDED, if the bounds do not tell


@merged
def ray_event(ray: Ray, span: Span, policy: int) -> Event:
    """Does this stretch count as hit, when, and does the ray start in it?"""
    outer, inner = span.outer, span.inner
    possible = opposite(empty(outer)) & (outer[1] >= 0.0) & (outer[0] <= ray.limit)
    ahead = possible & (outer[0] > 0.0)
    reached = ahead & opposite(empty(inner)) & (inner[0] <= ray.limit)
    inside = possible & (inner[0] <= 0.0) & (inner[1] >= 0.0)
    earliest = select(ahead, outer[0], 0.0)
    if policy == POLICY_HIT:
        latest = select(inside, 0.0, select(reached, inner[0], inf))
        return Event(possible, reached | inside, earliest, latest, inside, select(inside, INSIDE, span.first_face))
    if policy == POLICY_IGNORE:
        latest = select(reached, inner[0], inf)
        return Event(possible & opposite(inside), reached, earliest, latest, inside, span.first_face)
    left = inside & (outer[1] <= ray.limit)
    return Event(
        possible & (opposite(inside) | (inner[1] <= ray.limit)),
        reached | left,
        select(inside, inner[1], earliest),
        select(left, outer[1], select(reached, inner[0], inf)),
        inside,
        select(inside, span.last_face, span.first_face),
    )


@merged
def limb_event(ray: Ray, limb: Limb, policy: int) -> Event:
    """The event of the first stretch that counts."""
    event = ray_event(ray, ray_limb(ray, limb, 0), policy)
    if pieces(limb.kind) == 2:
        event = or_behind(event, ray, limb, policy)
    return event


@merged
def two_events(one: Ray, two: Ray, limb_of_one: Limb, limb_of_two: Limb, policy: int) -> tuple[Event, Event]:
    """`limb_event` of twice eight rays with limbs of one shape: each chain of operations fills the other's waits."""
    first, second = ray_limbs(one, two, limb_of_one, limb_of_two)
    event, other = ray_event(one, first, policy), ray_event(two, second, policy)
    if pieces(limb_of_one.kind) == 2:
        event, other = or_behind(event, one, limb_of_one, policy), or_behind(other, two, limb_of_two, policy)
    return event, other


@merged
def or_behind(event: Event, ray: Ray, limb: Limb, policy: int) -> Event:
    """The event, or that of the stretch behind it.

    Unless the ray starts before it: then the limb is ignored, or never left.
    """
    behind = ray_event(ray, ray_limb(ray, limb, 1), policy)
    first = event.possible | event.inside
    return Event(
        event.possible | (opposite(first) & behind.possible),
        event.certain | (opposite(first) & behind.certain),
        select(first, event.lower, behind.lower),
        select(first, event.upper, behind.upper),
        event.inside | (opposite(first) & behind.inside),
        select(first, event.face, behind.face),
    )
