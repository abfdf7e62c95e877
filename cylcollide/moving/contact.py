"""The accurate time at which a flying bullet touches a face of a moving limb, with a proven error bound.

Bounds (`bounds.py`) have decided that the contact lies between two times, and through which face. Between them the
face's polynomial (`solids.py`) is evaluated in double-double. A bound on its second derivative shows that it is
decreasing throughout, so that its value at a guess, over its slope, bounds the distance of the guess from the contact.
`docs/moving.md`, "Accuracy of a contact".
"""

from math import nan
from typing import TypeAlias

from cylcollide._types import Face, Shape
from cylcollide.constants import CONTACT_ERROR, MOVING_ROUNDING_BOUND, UNIT_ROUNDOFF
from cylcollide.kernels.double_double import (
    DoubleDouble,
    DoubleDoubleVector,
    Vector,
    dd_add,
    dd_dot,
    dd_multiply,
    dd_subtract,
    high_words,
    scaled,
    two_product,
    two_sum,
)
from cylcollide.kernels.inside_policy import HitBounds
from cylcollide.kernels.ray import dot
from cylcollide.moving.bounds import RelativeMotion, contact_errors, longest_half_squared, near_squared
from cylcollide.moving.solids import Errors
from cylcollide.runtime.compile import compiled, inlined, noinline
from cylcollide.runtime.simd import Real, Truth, absolute, broadcast_like, larger, smaller, square_root

SIDE, CAP1, CAP2, BORE = float(Face.SIDE), float(Face.CAP1), float(Face.CAP2), float(Face.BORE)
CYLINDER, TUBE, TAPERED = int(Shape.CYLINDER), int(Shape.TUBE), int(Shape.TAPERED)
ELLIPSOID = int(Shape.ELLIPSOID)
CAPSULE, SPHERE = int(Shape.CAPSULE), int(Shape.SPHERE)

MOST_STEPS = 4
"""Limit of steps towards a contact; each one at least halves the distance, and usually removes nearly all of it."""

STEP_ROUNDING = 8.0 * UNIT_ROUNDOFF
"""Rounding of a step, relative: value, slope and quotient are float64."""


AccurateMotion: TypeAlias = RelativeMotion[DoubleDoubleVector]

Approach: TypeAlias = tuple[Truth, Real, Real, Real, Real]
"""How a face's polynomial falls between the bounds of a contact: whether it certainly decreases throughout; a guess of
the contact; the mean slope, downwards; a bound on how much other slopes differ from it; the error of its values."""


@compiled
def accurate_motion(
    bullet: tuple[DoubleDoubleVector, DoubleDoubleVector],
    limb: tuple[DoubleDoubleVector, DoubleDoubleVector],
    limb_end: tuple[DoubleDoubleVector, DoubleDoubleVector],
) -> AccurateMotion:
    """The motion of a bullet, given at u = 0 and 1, relative to a limb, given by p1 and p2 at u = 0 and at u = 1."""
    y, y_end = from_middle(bullet[0], limb), from_middle(bullet[1], limb_end)
    h, h_end = half_axis(limb), half_axis(limb_end)
    return RelativeMotion(y, dd_vector(y_end, y), h, dd_vector(h_end, h))


@compiled
def dd_vector(a: DoubleDoubleVector, b: DoubleDoubleVector) -> DoubleDoubleVector:
    """A - b."""
    return dd_subtract(a[0], b[0]), dd_subtract(a[1], b[1]), dd_subtract(a[2], b[2])


@inlined
def half_axis(ends: tuple[DoubleDoubleVector, DoubleDoubleVector]) -> DoubleDoubleVector:
    """Half the vector from p1 to p2."""
    x, y, z = dd_vector(ends[1], ends[0])
    return scaled(x, 0.5), scaled(y, 0.5), scaled(z, 0.5)


@inlined
def from_middle(x: DoubleDoubleVector, ends: tuple[DoubleDoubleVector, DoubleDoubleVector]) -> DoubleDoubleVector:
    """Vector to x from the middle of p1 and p2."""
    a, b = ends
    return (
        dd_subtract(x[0], scaled(dd_add(a[0], b[0]), 0.5)),
        dd_subtract(x[1], scaled(dd_add(a[1], b[1]), 0.5)),
        dd_subtract(x[2], scaled(dd_add(a[2], b[2]), 0.5)),
    )


@compiled
def dd_along(start: DoubleDoubleVector, change: DoubleDoubleVector, u: float) -> DoubleDoubleVector:
    """Start + u change."""
    time = (u, 0.0)
    return (
        dd_add(start[0], dd_multiply(change[0], time)),
        dd_add(start[1], dd_multiply(change[1], time)),
        dd_add(start[2], dd_multiply(change[2], time)),
    )


@noinline
def face_value(motion: AccurateMotion, u: float, kind: int, radius: float, radius2: float, face: float) -> DoubleDouble:
    """The polynomial of a face at u, positive outside; NaN for the wall of a shape not registered here."""
    y, h = dd_along(motion.y, motion.dy, u), dd_along(motion.h, motion.dh, u)
    square = dd_dot(y, y)
    allowed = two_product(radius, radius)
    if kind == SPHERE:
        return dd_subtract(square, allowed)
    a, along_axis = dd_dot(h, h), dd_dot(y, h)
    if face in (CAP1, CAP2):
        height = along_axis if face == CAP2 else (-along_axis[0], -along_axis[1])
        if kind == CAPSULE:
            return dd_subtract(dd_add(square, dd_subtract(a, scaled(height, 2.0))), allowed)
        return dd_subtract(height, a)
    distance = dd_subtract(dd_multiply(a, square), dd_multiply(along_axis, along_axis))
    if kind == TAPERED:
        mean, slope = scaled(two_sum(radius, radius2), 0.5), scaled(two_sum(radius2, -radius), 0.5)
        width = dd_add(dd_multiply(mean, a), dd_multiply(slope, along_axis))
        return dd_subtract(dd_multiply(a, distance), dd_multiply(width, width))
    if kind == ELLIPSOID:
        room = dd_subtract(dd_multiply(a, a), dd_multiply(along_axis, along_axis))
        return dd_subtract(dd_multiply(a, distance), dd_multiply(allowed, room))
    if face == BORE:
        return dd_subtract(dd_multiply(two_product(radius2, radius2), a), distance)
    if kind in (CYLINDER, TUBE, CAPSULE):
        return dd_subtract(distance, dd_multiply(allowed, a))
    unknown = broadcast_like(nan, allowed[0])
    return unknown, unknown


@inlined
def face_error(errors: Errors, kind: int, face: float) -> float:
    """The one of `Errors` that holds for a face."""
    if kind == SPHERE or (kind == CAPSULE and face != SIDE):
        return errors.ball
    if face in (CAP1, CAP2):
        return errors.cap
    return errors.slope if kind in (TAPERED, ELLIPSOID) else errors.wall


@inlined
def largest_bend(motion: RelativeMotion[Vector], kind: int, radius: float, face: float, h: float, y: float) -> float:
    """Bound on the second derivative of a face's polynomial, for |h| <= h and |y| <= y."""
    dy, dh = square_root(dot(motion.dy, motion.dy)), square_root(dot(motion.dh, motion.dh))
    if kind == SPHERE or (kind == CAPSULE and face != SIDE):
        return 2.0 * (dy + dh) * (dy + dh)
    if face in (CAP1, CAP2):
        return 2.0 * dh * (dy + dh)
    turn = h * dy + y * dh
    if kind in (TAPERED, ELLIPSOID):
        return turn * turn * (16.0 * h * h + 18.0 * radius * radius)
    return 6.0 * turn * turn


@inlined
def approach_of(
    motion: AccurateMotion, kind: int, radius: Real, radius2: Real, bounds: HitBounds, extent: Real
) -> Approach:
    """The `Approach` between the bounds of a contact; of one contact, or of eight through the same face."""
    low, high = bounds.lower, bounds.upper
    width = high - low
    rounded = RelativeMotion(high_words(motion.y), high_words(motion.dy), high_words(motion.h), high_words(motion.dh))
    larger_radius = larger(radius, radius2)
    delta = MOVING_ROUNDING_BOUND * extent
    half_squared = longest_half_squared(rounded)
    near = square_root(near_squared(kind, half_squared, larger_radius, delta))
    errors = contact_errors(kind, half_squared, near, larger_radius, delta)
    error = 10.0 * UNIT_ROUNDOFF * face_error(errors, kind, bounds.face)
    bend = largest_bend(rounded, kind, larger_radius, bounds.face, square_root(half_squared) + delta, near + delta)
    first = face_value(motion, low, kind, radius, radius2, bounds.face)[0]
    drop = first - face_value(motion, high, kind, radius, radius2, bounds.face)[0]
    slope = drop / width
    # between both times the slope differs from the mean by less than this
    doubt = width * bend + 2.0 * error / width
    return 2.0 * doubt <= slope, low + width * (first / drop), slope, doubt, error


@inlined
def stepped(
    motion: AccurateMotion, kind: int, radius: Real, radius2: Real, bounds: HitBounds, way: Approach, guess: Real
) -> tuple[DoubleDouble, Truth, Real]:
    """The u of the contact after one step from a guess, whether it is accurate, and the next guess."""
    falls, _, slope, doubt, error = way
    time = smaller(larger(guess, bounds.lower), bounds.upper)
    step = face_value(motion, time, kind, radius, radius2, bounds.face)[0] / slope
    left = 2.0 * (doubt * absolute(step) + error)
    accurate = falls & (left <= slope * (CONTACT_ERROR - STEP_ROUNDING * absolute(step)))
    return two_sum(time, step), accurate, time + step


@inlined
def first_step(
    motion: AccurateMotion, kind: int, radius: Real, radius2: Real, bounds: HitBounds, extent: Real
) -> tuple[DoubleDouble, Truth]:
    """The first step of `accurate_contact`, for eight contacts; usually it is accurate."""
    way = approach_of(motion, kind, radius, radius2, bounds, extent)
    time, accurate, _ = stepped(motion, kind, radius, radius2, bounds, way, way[1])
    return time, accurate


@compiled
def accurate_contact(
    motion: AccurateMotion, kind: int, radius: float, radius2: float, bounds: HitBounds, extent: float
) -> tuple[DoubleDouble, bool]:
    """The u of a contact later than u = 0 that `bounds` decides, with its face; and whether it is accurate.

    Accurate: certainly within `CONTACT_ERROR` of the exact one; else it needs exact arithmetic.

    `extent` is that of `moving_hit_bounds`. Both bounds differ: a polynomial takes 9 u or more to fall by its error.

    The coordinates of which `motion` is made may have errors of 100 · 2⁻¹⁰⁶ of the largest one.
    """
    way = approach_of(motion, kind, radius, radius2, bounds, extent)
    falls, guess, _, _, _ = way
    steps = MOST_STEPS if falls else 0
    for _ in range(steps):
        time, accurate, guess = stepped(motion, kind, radius, radius2, bounds, way, guess)
        if accurate:
            return time, True
    return (guess, 0.0), False
