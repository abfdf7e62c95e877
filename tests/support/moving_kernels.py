"""Motions of rational arithmetic as arguments of the kernels: on a stretch, rounded, or as double-doubles."""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from support.machine_code import as_machine_code

from cylcollide.exact.line import Triple
from cylcollide.exact.moving import Motion
from cylcollide.kernels.double_double import DoubleDouble, DoubleDoubleVector, as_double_double
from cylcollide.kernels.ray import as_vector
from cylcollide.moving.bounds import Flight, MovingLimb, moving_hit_bounds
from cylcollide.moving.contact import AccurateMotion, accurate_contact, accurate_motion
from cylcollide.runtime.compile import compiled

Point = tuple[Fraction, Fraction, Fraction]


class Place(NamedTuple):
    """Bullet and limb at one end of a stretch, exactly."""

    bullet: Point
    p1: Point
    p2: Point


def places(motion: Motion) -> tuple[Place, Place]:
    """Return where bullet and limb are at u = 0 and at u = 1 of the stretch."""
    first, last = (place_at(motion, s) for s in (motion.stretch.begin, motion.stretch.end))
    return first, last


def place_at(motion: Motion, s: Fraction) -> Place:
    """Return where bullet and limb are at s."""
    alpha = motion.stretch.alpha0 + motion.stretch.alpha1 * s
    p1, p2 = between(*motion.p1, alpha), between(*motion.p2, alpha)
    return Place(between(motion.start, motion.end, s), p1, p2)


def between(a: Triple, b: Triple, share: Fraction) -> Point:
    """Return a + share (b - a)."""
    x, y, z = (Fraction(p) + share * (Fraction(q) - Fraction(p)) for p, q in zip(a, b, strict=True))
    return x, y, z


def rounded(point: Point) -> tuple[float, float, float]:
    """Return the float64 nearest to each coordinate."""
    return float(point[0]), float(point[1]), float(point[2])


def kernel_arguments(motion: Motion) -> tuple[Flight, MovingLimb, float]:
    """Return the arguments of `moving_hit_bounds`, coordinates rounded to nearest."""
    (start, p1, p2), (end, p1_end, p2_end) = ([rounded(point) for point in place] for place in places(motion))
    limb = MovingLimb(int(motion.shape), motion.radius, motion.radius2, p1, p2, p1_end, p2_end)
    size = largest([p1, p2, p1_end, p2_end]) + max(motion.radius, motion.radius2)
    return Flight(start, end), limb, largest([start, end]) + size


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
    """Return s at u of the stretch."""
    return motion.stretch.begin + Fraction(u) * (motion.stretch.end - motion.stretch.begin)


@as_machine_code
@compiled
def fly(start, end, p1, p2, p1_end, p2_end, sizes, kinds, found):
    """Write verdict, bounds, face, and the accurate time of decided contacts."""
    for i in range(len(kinds)):
        bullet = Flight(as_vector(start, i), as_vector(end, i))
        ends = as_vector(p1, i), as_vector(p2, i), as_vector(p1_end, i), as_vector(p2_end, i)
        limb = MovingLimb(kinds[i], sizes[i, 0], sizes[i, 1], ends[0], ends[1], ends[2], ends[3])
        bounds = moving_hit_bounds(bullet, limb, sizes[i, 2])
        found[i, 0] = bounds.possible + 2.0 * bounds.certain + 4.0 * bounds.inside
        found[i, 1], found[i, 2], found[i, 3] = bounds.lower, bounds.upper, bounds.face
        if bounds.certain and bounds.face >= 0.0 and not bounds.inside:
            motion = accurate_motion(
                (as_double_double(bullet.start), as_double_double(bullet.end)),
                (as_double_double(ends[0]), as_double_double(ends[1])),
                (as_double_double(ends[2]), as_double_double(ends[3])),
            )
            contact = accurate_contact(motion, kinds[i], sizes[i, 0], sizes[i, 1], bounds, sizes[i, 2])
            found[i, 4], found[i, 5], found[i, 6] = contact.time[0], contact.time[1], contact.accurate


def flight_columns(motions):
    """Return the arguments of `fly` but the last."""
    rows = [kernel_arguments(motion) for motion in motions]
    points = [
        np.array(column)
        for column in zip(*[(*b, limb.p1, limb.p2, limb.p1_end, limb.p2_end) for b, limb, _ in rows], strict=True)
    ]
    sizes = np.array([(limb.radius, limb.radius2, extent) for _, limb, extent in rows])
    return *points, sizes, np.array([limb.kind for _, limb, _ in rows], dtype=np.int8)
