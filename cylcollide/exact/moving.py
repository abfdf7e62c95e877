"""A bullet against a moving limb within one tick: when they are in contact, in exact arithmetic.

At s the bullet is at x(s) = start + s (end - start), and an end of the limb at (1 - alpha) p + alpha p', alpha being
affine in s with rational coefficients. With y = x - p1 and a = p2 - p1, which are affine in s too, each bound of the
solid is a polynomial of s that is at most 0 where the bound holds: of degree 2, 4 or 6 (docs/moving.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import NamedTuple

from cylcollide._types import Face, Shape
from cylcollide.exact.algebraic import Algebraic
from cylcollide.exact.contacts import Contact, common, contacts_where, united, without
from cylcollide.exact.line import Triple
from cylcollide.exact.numbers import Vector, dot, scaled_integers, subtract
from cylcollide.exact.polynomials import Polynomial, combined, product, trimmed

# The question -------------------------------------------------------------------------------------------------------


class TickInterval(NamedTuple):
    """The part of a flight within one tick: begin <= s < end, or <= end if closed; there alpha is alpha0 + alpha1 s."""

    begin: Fraction
    end: Fraction
    is_closed: bool
    alpha0: Fraction
    alpha1: Fraction


def tick_interval(first: float, last: float, tick_time: float, next_time: float | None) -> TickInterval | None:
    """The part of a flight, 0 <= s <= 1, on which tick_time <= T(s) < next_time; None if there is none.

    T(s) = first + s (last - first) is the targets' time, first <= last. The last tick has no next time: only
    T(s) = tick_time belongs to it, with alpha 0.
    """
    start, rate, tick = Fraction(first), Fraction(last) - Fraction(first), Fraction(tick_time)
    step = Fraction(0) if next_time is None else Fraction(next_time) - tick
    inverse = 1 / step if step else Fraction(0)
    if rate == 0:
        if not (tick == start or tick < start < tick + step):
            return None
        return TickInterval(Fraction(0), Fraction(1), True, (start - tick) * inverse, Fraction(0))
    enters, leaves = (tick - start) / rate, (tick + step - start) / rate
    if enters > 1 or leaves < 0 or (leaves == 0 and step):
        return None
    begin, end = max(enters, Fraction(0)), min(leaves, Fraction(1))
    return TickInterval(begin, end, leaves > 1 or not step, (start - tick) * inverse, rate * inverse)


class Motion(NamedTuple):
    """A bullet and a limb during one tick interval of the flight. An end at rest has the same position twice."""

    start: Triple  # of the bullet, at s = 0
    end: Triple  # at s = 1
    shape: Shape  # any but a box
    p1: tuple[Triple, Triple]  # at the tick, alpha = 0, and at the next, alpha = 1
    p2: tuple[Triple, Triple]
    radius: float
    radius2: float  # of a tube's bore, or at p2 of a tapered cylinder
    interval: TickInterval


# Polynomials --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AxisProducts:
    """Scalar products of y = x - p1 and a = p2 - p1 as polynomials of s, and radii; integers of one scale."""

    yy: Polynomial
    ya: Polynomial
    aa: Polynomial
    radius: int
    radius2: int

    @property
    def below(self) -> Polynomial:
        """The bound of p1's cap: -y·a <= 0."""
        return combined((), self.ya, -1)

    @property
    def above(self) -> Polynomial:
        """The bound of p2's cap: y·a - a² <= 0."""
        return combined(self.ya, self.aa, -1)

    @property
    def from_p2(self) -> Polynomial:
        """The squared distance from p2."""
        return combined(combined(self.yy, self.ya, -2), self.aa)

    @property
    def across(self) -> Polynomial:
        """The squared distance from the axis, times a²: a² y² - (y·a)²."""
        return combined(product(self.aa, self.yy), product(self.ya, self.ya), -1)

    def wall(self, radius: int) -> Polynomial:
        """The bound of a straight wall: a² y² - (y·a)² - r² a² <= 0."""
        return combined(self.across, self.aa, -(radius**2))


def axis_products(motion: Motion) -> AxisProducts:
    """The scalar products of a motion, every length times one common number."""
    interval = motion.interval
    unit = lcm(interval.alpha0.denominator, interval.alpha1.denominator)
    alpha0, alpha1 = (interval.alpha0 * unit).numerator, (interval.alpha1 * unit).numerator
    numbers = (motion.start, motion.end, *motion.p1, *motion.p2, (motion.radius, motion.radius2))
    scaled = scaled_integers(number for group in numbers for number in group)
    start, end, p1, p1_next, p2, p2_next = [(scaled[i], scaled[i + 1], scaled[i + 2]) for i in range(0, 18, 3)]
    x, x_rate = _affine(start, end, unit, 0, unit)
    p, p_rate = _affine(p1, p1_next, unit, alpha0, alpha1)
    q, q_rate = _affine(p2, p2_next, unit, alpha0, alpha1)
    y, a = (subtract(x, p), subtract(x_rate, p_rate)), (subtract(q, p), subtract(q_rate, p_rate))
    return AxisProducts(affine_dot(y, y), affine_dot(y, a), affine_dot(a, a), unit * scaled[18], unit * scaled[19])


def _affine(first: Vector, last: Vector, unit: int, c0: int, c1: int) -> tuple[Vector, Vector]:
    """Coefficients of unit first + (c0 + c1 s) (last - first)."""
    x, y, z = subtract(last, first)
    return (unit * first[0] + c0 * x, unit * first[1] + c0 * y, unit * first[2] + c0 * z), (c1 * x, c1 * y, c1 * z)


def affine_dot(u: tuple[Vector, Vector], v: tuple[Vector, Vector]) -> Polynomial:
    """The scalar product of affine vectors."""
    return trimmed((dot(u[0], v[0]), dot(u[0], v[1]) + dot(u[1], v[0]), dot(u[1], v[1])))


# Shapes -------------------------------------------------------------------------------------------------------------


def axial_bounds(shape: Shape, m: AxisProducts) -> tuple[Polynomial, ...]:
    """The bounds of the part of a solid that needs an axis, those of its caps first; none for a sphere.

    For a tapered cylinder, the square of distance <= r1 + (r2 - r1) u, whose right side is not negative between the
    caps; for an ellipsoid, distance² <= 4 r² u (1 - u), which no point beyond the poles satisfies.
    """
    match shape:
        case Shape.SPHERE:
            return ()
        case Shape.ELLIPSOID:
            return (combined(product(m.aa, m.across), product(m.ya, m.above), 4 * m.radius**2),)
        case Shape.TAPERED:
            thickness = combined(combined((), m.aa, m.radius), m.ya, m.radius2 - m.radius)
            return m.below, m.above, combined(product(m.aa, m.across), product(thickness, thickness), -1)
        case Shape.TUBE:
            return m.below, m.above, m.wall(m.radius), combined((), m.wall(m.radius2), -1)
        case Shape.CYLINDER | Shape.CAPSULE:
            return m.below, m.above, m.wall(m.radius)
    raise KeyError(shape)


def ball_bounds(shape: Shape, m: AxisProducts) -> tuple[Polynomial, ...]:
    """One bound for each ball of a sphere or capsule: the solid is the union of these and of the axial part."""
    if shape not in (Shape.SPHERE, Shape.CAPSULE):
        return ()
    squares = (m.yy, m.from_p2) if shape == Shape.CAPSULE else (m.yy,)
    return tuple(combined(square, (m.radius**2,), -1) for square in squares)


CAPPED = (Shape.CYLINDER, Shape.TUBE, Shape.TAPERED, Shape.CAPSULE)


# Answers ------------------------------------------------------------------------------------------------------------


def contact_intervals(motion: Motion) -> tuple[Contact, ...]:
    """The intervals of s, within a tick interval, in which the bullet is in the limb: in order, no two adjoining.

    They are closed except where the tick interval is half open, and where the axis of a limb that needs one vanishes.
    """
    m, interval = axis_products(motion), motion.interval
    found = _axial_contacts(axial_bounds(motion.shape, m), m.aa, interval)
    for ball in ball_bounds(motion.shape, m):
        found += contacts_where(ball, interval.begin, interval.end)
    found = united(found)
    return tuple(found if interval.is_closed else without(found, interval.end))


def _axial_contacts(bounds: Sequence[Polynomial], aa: Polynomial, interval: TickInterval) -> list[Contact]:
    """The contacts in a closed interval with the part that needs an axis; none where the axis vanishes."""
    if not bounds or not aa:
        return []
    found = [Contact(Algebraic.rational(interval.begin), Algebraic.rational(interval.end))]
    for bound in bounds:
        found = found and common(found, contacts_where(bound, interval.begin, interval.end))
    moment = vanishing_moment(aa)
    return found if moment is None else without(found, moment)


def vanishing_moment(aa: Polynomial) -> Fraction | None:
    """The s at which an axis, not zero throughout, is zero; None if there is none. `aa` is its squared length."""
    if len(aa) < 3 or aa[1] ** 2 != 4 * aa[0] * aa[2]:
        return None
    return Fraction(-aa[1], 2 * aa[2])


def contact_face(motion: Motion, contact: Contact) -> Face:
    """The face of the limb where a contact begins; INSIDE for the start of the flight, and where there is no surface.

    The latter is where the limb appears around the bullet: at its first tick, or when its axis stops vanishing.
    """
    m, s = axis_products(motion), contact.entry
    signs = [s.sign_of(bound) for bound in axial_bounds(motion.shape, m)]
    inside_ball = any(s.sign_of(ball) < 0 for ball in ball_bounds(motion.shape, m))
    if contact.entry_open or s == 0 or inside_ball or (signs and max(signs) < 0):
        return Face.INSIDE
    if motion.shape in CAPPED and s.sign_of(m.aa) > 0:
        if signs[0] >= 0:
            return Face.CAP1
        if signs[1] >= 0:
            return Face.CAP2
    return Face.BORE if motion.shape == Shape.TUBE and signs[3] == 0 else Face.SIDE
