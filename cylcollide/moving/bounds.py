"""Bounds of the contact of a flying bullet with a moving limb, from float64 and a grown and a shrunk limb, as for rays.

In a tick interval the bullet and both ends of the limb move along straight lines, each affine in u from 0 to 1. A ball
around the limb restricts the interval; what is left is examined in windows, from the earliest on. In each window the
coefficients of a few polynomials (`solids.py`) bound how long the bullet is certainly outside, and decide whether it is
certainly inside at the end; the next window ends where they seem to fall below zero, so that two or three suffice. All
rounding is counted as a displacement of bullet and ends (`docs/moving.md`, "Bounds in float64").
"""

from math import inf
from typing import Generic, NamedTuple, TypeVar

from cylcollide._types import Face, Shape
from cylcollide.constants import (
    LARGEST_SAFE,
    MOST_WINDOWS,
    MOVING_ROUNDING_BOUND,
    NARROW_CONTACT,
    SLOPE_FLOOR,
    SMALLEST_SAFE,
)
from cylcollide.kernels.double_double import DoubleDoubleVector, Vector
from cylcollide.kernels.inside_policy import HitBounds
from cylcollide.kernels.interval import UNDECIDED_FACE, Interval
from cylcollide.kernels.line import along
from cylcollide.kernels.ray import dot, subtract
from cylcollide.moving.bernstein import NO_CROSSING
from cylcollide.moving.solids import Affine, Errors, Window, is_outside, window_crossing
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.simd import Real, Truth, larger, select, smaller, square_root

INSIDE = float(Face.INSIDE)
CYLINDER, TUBE, TAPERED = int(Shape.CYLINDER), int(Shape.TUBE), int(Shape.TAPERED)
ELLIPSOID, SPHERE = int(Shape.ELLIPSOID), int(Shape.SPHERE)

V = TypeVar("V", Vector, DoubleDoubleVector)

MOST_STALLS = 2
"""Limit of windows at whose begin float64 cannot resolve outside from inside; with more, the contact is undecided."""


class MovingLimb(NamedTuple):
    """A limb in one tick interval, its ends at u = 0 and at u = 1; metres. A sphere has p1 = p2 = its centre."""

    kind: int  # Shape; not BOX. SPHERE for a capsule only if it has no length at either end of the interval
    radius: Real  # at p1, if it varies; the outer one of a tube
    radius2: Real  # a tube's inner radius, a tapered cylinder's radius at p2, else 0
    p1: Vector  # at u = 0
    p2: Vector
    p1_end: Vector  # at u = 1
    p2_end: Vector


class RelativeMotion(NamedTuple, Generic[V]):
    """A bullet relative to a limb: at u it is at y + u dy from the axis' middle, and half the axis is h + u dh."""

    y: V
    dy: V
    h: V
    dh: V


@inlined
def moving_hit_bounds(bullet: Affine, limb: MovingLimb, extent: Real) -> HitBounds:
    """The first contact of a bullet with a limb in one interval, `lower` and `upper` as u in [0, 1].

    `bullet`: its positions at u = 0 and at u = 1; metres. `extent`: the largest |coordinate| of the bullet plus that of
    the limb, radius included, over all positions from which those in the interval are computed: for a bullet, start and
    end of its whole flight, whose size determines the rounding even near the origin. Coordinates of bullet and limb may
    have errors of 16 · 2⁻⁵³ of the largest of each. If one is beyond what kernels trust, `extent` is inf, and the
    result undecided (possible, not certain, from 0 on). `inside`: the bullet is certainly in the limb at u = 0, and
    `upper` is 0. `face`: `UNDECIDED_FACE` if the bounds do not decide it, or do not decide whether the contact is later
    than u = 0. The interval is closed, u = 1 included.
    """
    motion, delta = relative_motion(bullet, limb), MOVING_ROUNDING_BOUND * extent
    half_squared, width = longest_half_squared(motion), larger(limb.radius, limb.radius2)
    near = near_squared(limb.kind, half_squared, width, delta)
    first, last = ball_times(motion, near)
    if not is_trusted(extent):
        return HitBounds(True, False, 0.0, inf, False, UNDECIDED_FACE)
    if first > last:
        return HitBounds(False, False, inf, inf, False, UNDECIDED_FACE)
    errors = contact_errors(limb.kind, half_squared, square_root(near), width, delta)
    return first_solid_contact(motion, limb.kind, limb.radius, limb.radius2, first, last, errors)


@inlined
def certain_miss(bullet: Affine, limb: MovingLimb, extent: Real) -> tuple[Truth, Real]:
    """Whether a bullet certainly misses a limb in one interval: detects most misses; for one pair, or eight.

    Arguments and bounds are those of `moving_hit_bounds`; it tests the ball, and both halves of the times within the
    ball. Also returns a u before which there is certainly no contact.
    """
    motion, delta = relative_motion(bullet, limb), MOVING_ROUNDING_BOUND * extent
    kind, radius, radius2 = limb.kind, limb.radius, limb.radius2
    half_squared, width = longest_half_squared(motion), larger(radius, radius2)
    near = near_squared(kind, half_squared, width, delta)
    first, last = ball_times(motion, near)
    errors, middle = contact_errors(kind, half_squared, square_root(near), width, delta), 0.5 * (first + last)
    early, late = window_between(motion, first, middle), window_between(motion, middle, last)
    kind += 0  # int64, whatever the type of the column: one version of the test
    outside = is_outside(early, kind, radius, radius2, errors) & is_outside(late, kind, radius, radius2, errors)
    trusted = is_trusted(extent)
    return trusted & ((first > last) | outside), select(trusted, first, 0.0)


@inlined
def is_trusted(extent: Real) -> Truth:
    """Whether products of coordinates of this size neither overflow nor underflow."""
    return (extent >= SMALLEST_SAFE) & (extent <= LARGEST_SAFE)


@inlined
def relative_motion(bullet: Affine, limb: MovingLimb) -> RelativeMotion[Vector]:
    """The bullet relative to the middle of the limb's axis, and half the axis."""
    y, y_end = from_middle(bullet[0], limb.p1, limb.p2), from_middle(bullet[1], limb.p1_end, limb.p2_end)
    h, h_end = half_difference(limb.p1, limb.p2), half_difference(limb.p1_end, limb.p2_end)
    return RelativeMotion(y, subtract(y_end, y), h, subtract(h_end, h))


@inlined
def from_middle(x: Vector, a: Vector, b: Vector) -> Vector:
    """Vector to x from the middle between a and b."""
    return x[0] - 0.5 * (a[0] + b[0]), x[1] - 0.5 * (a[1] + b[1]), x[2] - 0.5 * (a[2] + b[2])


@inlined
def half_difference(a: Vector, b: Vector) -> Vector:
    """Half the vector from a to b."""
    return 0.5 * (b[0] - a[0]), 0.5 * (b[1] - a[1]), 0.5 * (b[2] - a[2])


@inlined
def longest_half_squared(motion: RelativeMotion[Vector]) -> Real:
    """The larger of |h|² at both ends, which bounds |h|² in between, since it is convex in u."""
    h_end = along(motion.h, motion.dh, 1.0)
    return larger(dot(motion.h, motion.h), dot(h_end, h_end))


@inlined
def near_squared(kind: int, half_squared: Real, width: Real, delta: Real) -> Real:
    """Square of a radius about the middle of the axis beyond which there is no contact.

    The radius exceeds the largest distance of a point of the limb by at least 4 delta, which also covers the rounding
    of the times at which the ball is crossed. No square root is needed.
    """
    reach_squared = half_squared + width * width
    if kind == ELLIPSOID:
        reach_squared = larger(half_squared, width * width)
    elif kind not in (CYLINDER, TUBE, TAPERED, SPHERE):
        reach = square_root(half_squared) + width
        reach_squared = reach * reach
    return reach_squared * (1.0 + 2.0**-19) + 2.0**23 * delta * delta


@inlined
def ball_times(motion: RelativeMotion[Vector], radius_squared: Real) -> Interval:
    """The interval of u, clipped to [0, 1], in which the bullet is in a ball around the middle; may be empty."""
    square, least = dot(motion.dy, motion.dy), SLOPE_FLOOR * SLOPE_FLOOR
    per_square = 1.0 / larger(square, least)
    middle = -select(square < least, 0.0, dot(motion.y, motion.dy)) * per_square
    nearest = along(motion.y, motion.dy, middle)
    half_squared = (radius_squared - dot(nearest, nearest)) * per_square
    half = select(half_squared >= 0.0, square_root(larger(half_squared, 0.0)), -inf)
    return larger(middle - half, 0.0), smaller(middle + half, 1.0)


@inlined
def contact_errors(kind: int, half_squared: Real, near: Real, width: Real, delta: Real) -> Errors:
    """Bounds on the errors of coefficients, for |y| <= near, |h|² <= half_squared and radii up to `width`."""
    h, y = square_root(half_squared) + delta, near + delta
    wall = delta * h * y * y
    ball = 2.0 if kind == SPHERE else 7.0
    return Errors(delta * (3.0 * h + y), ball * delta * y, 4.0 * wall, wall * (6.0 * h * h + 8.0 * width * width))


@inlined
def window_between(motion: RelativeMotion[Vector], begin: Real, end: Real) -> Window:
    """Bullet and limb at two times."""
    return (
        (along(motion.y, motion.dy, begin), along(motion.y, motion.dy, end)),
        (along(motion.h, motion.dh, begin), along(motion.h, motion.dh, end)),
    )


@compiled
def first_solid_contact(
    motion: RelativeMotion[Vector], kind: int, radius: float, radius2: float, first: float, last: float, errors: Errors
) -> HitBounds:
    """The first contact, given that there is none outside of `first` to `last`."""
    begin, end, until = first, last, last  # no contact before `begin`, nor behind `end` unless `certain`
    certain, face, stalls = False, UNDECIDED_FACE, 0
    for _ in range(MOST_WINDOWS):
        signs, passed_face = window_crossing(window_between(motion, begin, until), kind, radius, radius2, errors)
        if signs.negative_at_0:
            return HitBounds(True, True, 0.0, 0.0, True, INSIDE)
        length, free = until - begin, signs.positive_until >= 1.0
        aim = end if signs.guess >= NO_CROSSING else min(begin + signs.guess * length, end)
        if signs.negative_at_1:
            certain, end, face = True, until, passed_face
        elif until >= end:
            end = begin + signs.positive_from * length
        begin = until if free else begin + signs.positive_until * length
        if certain:
            if end - begin <= NARROW_CONTACT and face != UNDECIDED_FACE:
                break
        elif begin >= end:
            return HitBounds(False, False, inf, inf, False, UNDECIDED_FACE)
        stalls += signs.positive_until <= 0.0
        # the next window ends where contact is expected; in the middle, if that would not be much shorter
        until = min(aim, end) if aim > begin else end
        if not free and until - begin > 0.75 * length:
            until = begin + 0.5 * (min(begin + length, until) - begin)
        if stalls > MOST_STALLS or until <= begin:
            break
    decided = certain and begin > 0.0
    return HitBounds(True, certain, begin, end if certain else inf, False, face if decided else UNDECIDED_FACE)
