"""Signed distance of a point from a limb's surface, bounded from both sides: negative inside, a tube's bore outside."""

from math import inf

from cylcollide.constants import LARGEST_SAFE, ROUNDING_BOUND
from cylcollide.kernels.dispatch import distance_to
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.interval import Interval
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.ray import largest_component
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import select


@inlined
def distance_bounds(point: Vector, limb: Limb) -> Interval:
    """Bounds of the signed distance of a point from the limb's surface, metres; of one point and one limb, or of eight.

    They include the rounding bound that `docs/numerics.md` derives, and are infinite if float64 is not trusted.
    """
    delta = ROUNDING_BOUND * (largest_component(point) + limb.extent)
    (lower, upper), trusted = distance_to(point, limb), delta <= LARGEST_SAFE
    return select(trusted, lower - delta, -inf), select(trusted, upper + delta, inf)
