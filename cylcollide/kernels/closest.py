"""The closest hit of a ray among limbs, from bounds of each hit, and whether the bounds decide it.

The result does not depend on the order in which limbs are tested.
"""

from math import inf
from typing import NamedTuple

from cylcollide._types import NO_LIMB, Face, Shape
from cylcollide.kernels.inside_policy import HitBounds
from cylcollide.kernels.interval import UNDECIDED_FACE
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import Real, Truth, broadcast_like, logical_not, select, smaller

INSIDE, NONE, TUBE = int(Face.INSIDE), int(Face.NONE), int(Shape.TUBE)


class ClosestHit(NamedTuple):
    """The closest hit of a ray among the limbs tested so far, as far as bounds decide it; or of eight rays."""

    limb: Real  # index of the limb with the least `upper`, NO_LIMB if none is certainly hit
    lower: Real  # earliest time of its hit, metres
    upper: Real  # latest time, inf if there is none
    face: Real  # `UNDECIDED_FACE` if the bounds do not decide it
    next_possible: Real  # earliest time at which another limb may be hit; decides nothing beyond `upper`
    inside: Truth  # the ray certainly starts in some limb


@inlined
def no_hit(like: Real) -> ClosestHit:
    """The `ClosestHit` before any limb is tested; `like` says whether of one ray or of eight."""
    never, none = broadcast_like(inf, like), broadcast_like(float(NO_LIMB), like)
    return ClosestHit(none, never, never, broadcast_like(UNDECIDED_FACE, like), never, none >= 0.0)


@inlined
def closer(best: ClosestHit, limb: Real, bounds: HitBounds) -> ClosestHit:
    """The closest hit updated by the bounds of one more limb, in any order of limbs.

    The closest limb is the one certainly hit with the least upper bound, ties by index; any other that may be hit
    before that bound goes into `next_possible`. Limbs that contain the start are all hit at exactly 0: among them the
    lowest index is the closest, and none counts as possibly earlier.
    """
    relevant = bounds.possible & (bounds.lower <= best.upper)
    sooner = (bounds.upper < best.upper) | ((bounds.upper == best.upper) & (limb < best.limb))
    replaces = relevant & bounds.certain & sooner
    other_lower = select(replaces, best.lower, bounds.lower)  # of the limb that is not the closest
    other_upper = select(replaces, best.upper, bounds.upper)
    may_precede = relevant & logical_not(other_upper == 0.0)
    return ClosestHit(
        select(replaces, limb, best.limb),
        select(replaces, bounds.lower, best.lower),
        select(replaces, bounds.upper, best.upper),
        select(replaces, bounds.face, best.face),
        select(may_precede, smaller(best.next_possible, other_lower), best.next_possible),
        best.inside | bounds.inside,
    )


@inlined
def is_undecided(best: ClosestHit) -> Truth:
    """Whether the bounds leave open which limb is hit first, or through which face."""
    contested = (best.next_possible < inf) & (best.next_possible <= best.upper)
    return contested | ((best.limb >= 0.0) & (best.face == UNDECIDED_FACE))
