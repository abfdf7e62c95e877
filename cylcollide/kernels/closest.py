"""Which limb does a ray hit first, and is that certain?

The answer does not depend on the order in which limbs are met.
"""

from math import inf
from typing import NamedTuple

from cylcollide._types import NO_LIMB, Face, Shape
from cylcollide.kernels.hit_bounds import Event
from cylcollide.kernels.interval import UNDECIDED
from cylcollide.runtime.compile import merged
from cylcollide.runtime.simd import Real, Truth, alike, opposite, select, smaller

INSIDE, NONE, TUBE = int(Face.INSIDE), int(Face.NONE), int(Shape.TUBE)


class Nearest(NamedTuple):
    """The first limb along a ray so far, and how close any other limb may come to it; or for eight rays."""

    limb: Real  # index, NO_LIMB if none is certain to be hit
    lower: Real  # earliest time, metres
    upper: Real  # latest time, inf if there is none
    face: Real
    rival: Real  # earliest time of any other limb that may be hit
    inside: Truth  # the ray certainly starts in some limb


@merged
def nothing_yet(like: Real) -> Nearest:
    """Before the first limb."""
    never, none = alike(inf, like), alike(float(NO_LIMB), like)
    return Nearest(none, never, never, alike(UNDECIDED, like), never, none >= 0.0)


@merged
def nearer(best: Nearest, limb: Real, event: Event) -> Nearest:
    """With one more limb. The answer does not depend on the order in which limbs come.

    First is who is certainly hit by the earliest time; a rival is who may be hit before that. Limbs that hold the start
    are all hit at 0: the lowest index is first, and they are no rivals.
    """
    counts = event.possible & (event.lower <= best.upper)
    sooner = (event.upper < best.upper) | ((event.upper == best.upper) & (limb < best.limb))
    first = counts & event.certain & sooner
    behind_lower, behind_upper = select(first, best.lower, event.lower), select(first, best.upper, event.upper)
    rivals = counts & opposite(behind_upper == 0.0)
    return Nearest(
        select(first, limb, best.limb),
        select(first, event.lower, best.lower),
        select(first, event.upper, best.upper),
        select(first, event.face, best.face),
        select(rivals, smaller(best.rival, behind_lower), best.rival),
        best.inside | event.inside,
    )


@merged
def undecided(best: Nearest) -> Truth:
    """Whether the bounds leave open which limb is first, or by which face."""
    contested = (best.rival < inf) & (best.rival <= best.upper)
    return contested | ((best.limb >= 0.0) & (best.face == UNDECIDED))
