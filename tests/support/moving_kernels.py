"""Convert motions of rational arithmetic to arguments of the kernels: rounded, or as double-doubles."""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from cylcollide.exact.line import Triple
from cylcollide.exact.moving import Motion
from cylcollide.kernels.double_double import DoubleDouble, DoubleDoubleVector
from cylcollide.moving.bounds import MovingLimb
from cylcollide.moving.contact import AccurateMotion, accurate_motion
from cylcollide.moving.solids import Affine

Point = tuple[Fraction, Fraction, Fraction]


class Place(NamedTuple):
    """Exact bullet and limb at one end of an interval."""

    bullet: Point
    p1: Point
    p2: Point


def places(motion: Motion) -> tuple[Place, Place]:
    """Return bullet and limb at u = 0 and at u = 1 of the interval."""
    first, last = (place_at(motion, s) for s in (motion.interval.begin, motion.interval.end))
    return first, last


def place_at(motion: Motion, s: Fraction) -> Place:
    """Return bullet and limb at s."""
    alpha = motion.interval.alpha0 + motion.interval.alpha1 * s
    p1, p2 = between(*motion.p1, alpha), between(*motion.p2, alpha)
    return Place(between(motion.start, motion.end, s), p1, p2)


def between(a: Triple, b: Triple, share: Fraction) -> Point:
    """Return a + share (b - a)."""
    x, y, z = (Fraction(p) + share * (Fraction(q) - Fraction(p)) for p, q in zip(a, b, strict=True))
    return x, y, z


def rounded(point: Point) -> tuple[float, float, float]:
    """Return the float64 nearest to each coordinate."""
    return float(point[0]), float(point[1]), float(point[2])


def kernel_arguments(motion: Motion) -> tuple[Affine, MovingLimb, float]:
    """Return the arguments of `moving_hit_bounds`, coordinates rounded to nearest."""
    (start, p1, p2), (end, p1_end, p2_end) = ([rounded(point) for point in place] for place in places(motion))
    limb = MovingLimb(int(motion.shape), motion.radius, motion.radius2, p1, p2, p1_end, p2_end)
    size = largest([p1, p2, p1_end, p2_end]) + max(motion.radius, motion.radius2)
    return (start, end), limb, largest([start, end]) + size


def largest(points: Sequence[Triple]) -> float:
    """Return the largest magnitude of a coordinate."""
    return max(abs(c) for point in points for c in point)


def in_double_double(point: Point) -> DoubleDoubleVector:
    """Return each coordinate as two float64."""
    x, y, z = (split(c) for c in point)
    return x, y, z


def split(number: Fraction) -> DoubleDouble:
    """Return a number as the sum of two float64."""
    high = float(number)
    return high, float(number - Fraction(high))


def accurate(motion: Motion) -> AccurateMotion:
    """Return the motion in double-double."""
    (start, p1, p2), (end, p1_end, p2_end) = ([in_double_double(point) for point in place] for place in places(motion))
    return accurate_motion((start, end), (p1, p2), (p1_end, p2_end))


def flight_parameter(motion: Motion, u: float) -> Fraction:
    """Return s at u of the interval."""
    return motion.interval.begin + Fraction(u) * (motion.interval.end - motion.interval.begin)
