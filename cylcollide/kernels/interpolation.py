"""Bones between two recorded poses."""

from cylcollide.kernels.bone import Quaternion, normalised, rescaled
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import Real, select


@inlined
def between(a: Real, b: Real, alpha: Real) -> Real:
    """The number between a and b."""
    return (1.0 - alpha) * a + alpha * b


@inlined
def turned_between(a: Quaternion, b: Quaternion, alpha: Real) -> Quaternion:
    """Normalised linear interpolation the short way, not yet normalised; a and b are of any length but 0.

    Within 0.01° of spherical interpolation for turns of 20°. The length of the result is at least √½.
    """
    p, q = normalised(rescaled(a)), normalised(rescaled(b))
    cosine = (p[0] * q[0] + p[1] * q[1]) + (p[2] * q[2] + p[3] * q[3])
    beta = select(cosine >= 0.0, alpha, -alpha)
    rest = 1.0 - alpha
    return rest * p[0] + beta * q[0], rest * p[1] + beta * q[1], rest * p[2] + beta * q[2], rest * p[3] + beta * q[3]
