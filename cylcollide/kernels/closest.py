"""Which limb does a ray hit first, and is that certain?

The answer does not depend on the order in which limbs are met.
"""

from math import inf
from typing import NamedTuple

from cylcollide._types import NO_LIMB, Face, Shape
from cylcollide.kernels.hit_bounds import HitBounds
from cylcollide.kernels.interval import UNDECIDED_FACE
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import Real, Truth, broadcast_like, logical_not, select, smaller

INSIDE, NONE, TUBE = int(Face.INSIDE), int(Face.NONE), int(Shape.TUBE)


class ClosestHit(NamedTuple):
    """The first limb along a ray so far, and how close any other limb may come to it; or for eight rays."""

    limb: Real  # index, NO_LIMB if none is certain to be hit
    lower: Real  # earliest time, metres
    upper: Real  # latest time, inf if there is none
    face: Real
    next_possible: Real  # earliest time of any other limb that may be hit
    inside: Truth  # the ray certainly starts in some limb


@inlined
def no_hit(like: Real) -> ClosestHit:
    """Before the first limb."""
    never, none = broadcast_like(inf, like), broadcast_like(float(NO_LIMB), like)
    return ClosestHit(none, never, never, broadcast_like(UNDECIDED_FACE, like), never, none >= 0.0)


@inlined
def closer(best: ClosestHit, limb: Real, bounds: HitBounds) -> ClosestHit:
    """With one more limb. The answer does not depend on the order in which limbs come.

    First is who is certainly hit by the earliest time; a rival is who may be hit before that. Limbs that hold the start
    are all hit at 0: the lowest index is first, and they are no rivals.
    """
    counts = bounds.possible & (bounds.lower <= best.upper)
    sooner = (bounds.upper < best.upper) | ((bounds.upper == best.upper) & (limb < best.limb))
    first = counts & bounds.certain & sooner
    behind_lower, behind_upper = select(first, best.lower, bounds.lower), select(first, best.upper, bounds.upper)
    contested = counts & logical_not(behind_upper == 0.0)
    return ClosestHit(
        select(first, limb, best.limb),
        select(first, bounds.lower, best.lower),
        select(first, bounds.upper, best.upper),
        select(first, bounds.face, best.face),
        select(contested, smaller(best.next_possible, behind_lower), best.next_possible),
        best.inside | bounds.inside,
    )


@inlined
def is_undecided(best: ClosestHit) -> Truth:
    """Whether the bounds leave open which limb is first, or by which face."""
    contested = (best.next_possible < inf) & (best.next_possible <= best.upper)
    return contested | ((best.limb >= 0.0) & (best.face == UNDECIDED_FACE))
