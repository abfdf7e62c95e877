"""Polynomials on a window [0, 1] in Bernstein form, and bounds from their coefficients on where they are positive.

A polynomial lies between the least and the largest of its coefficients, and above every line from its first or last
coefficient that has no other coefficient below it (G. Farin, "Curves and Surfaces for CAGD", chapter 6: convex hull and
linear precision). Coefficients of products are weighted means of products of coefficients, so rounding errors stay
those of a single product (R. T. Farouki, V. T. Rajan, "Algorithms for polynomials in Bernstein form", CAGD 5, 1988).
"""

from typing import NamedTuple, TypeAlias

from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import Real, Truth, absolute, larger, logical_not, select, smaller, square_root

Quadratic: TypeAlias = tuple[Real, Real, Real]
Quartic: TypeAlias = tuple[Real, Real, Real, Real, Real]
Sextic: TypeAlias = tuple[Real, Real, Real, Real, Real, Real, Real]
Coefficients: TypeAlias = Quadratic | Quartic | Sextic

AIM = 3.0
"""A guess aims at f = -3 errors: there f is certainly negative, and the window ends no later than needed."""

NO_CROSSING = 2.0
"""The guess if a polynomial does not seem to fall below 0."""


class SignBounds(NamedTuple):
    """Where on a window [0, 1] a polynomial f is certainly positive (outside of a limb) or negative."""

    positive_until: Real  # positive from 0 to here
    positive_from: Real  # positive from here to 1
    negative_at_0: Truth  # negative at 0
    negative_at_1: Truth  # negative at 1
    negative: Truth  # negative everywhere
    guess: Real  # estimate of where f falls below 0; 0 if f(0) is below, beyond 1 if no crossing is found


@inlined
def product(a: Quadratic, b: Quadratic) -> Quartic:
    """The product of two quadratics."""
    return (
        a[0] * b[0],
        0.5 * (a[0] * b[1] + a[1] * b[0]),
        (a[0] * b[2] + a[2] * b[0] + 4.0 * (a[1] * b[1])) * (1.0 / 6.0),
        0.5 * (a[1] * b[2] + a[2] * b[1]),
        a[2] * b[2],
    )


@inlined
def square(a: Quadratic) -> Quartic:
    """The square of a quadratic."""
    return (a[0] * a[0], a[0] * a[1], (a[0] * a[2] + 2.0 * (a[1] * a[1])) * (1.0 / 3.0), a[1] * a[2], a[2] * a[2])


@inlined
def as_quartic(a: Quadratic, factor: Real) -> Quartic:
    """A quadratic times a number, degree-elevated."""
    x, y, z = factor * a[0], factor * a[1], factor * a[2]
    return x, 0.5 * (x + y), (x + 4.0 * y + z) * (1.0 / 6.0), 0.5 * (y + z), z


@inlined
def sextic_product(a: Quartic, b: Quadratic) -> Sextic:
    """The product of a quartic and a quadratic."""
    return (
        a[0] * b[0],
        (2.0 * (a[1] * b[0]) + a[0] * b[1]) * (1.0 / 3.0),
        (6.0 * (a[2] * b[0]) + 8.0 * (a[1] * b[1]) + a[0] * b[2]) * (1.0 / 15.0),
        (a[3] * b[0] + 3.0 * (a[2] * b[1]) + a[1] * b[2]) * 0.2,
        (a[4] * b[0] + 8.0 * (a[3] * b[1]) + 6.0 * (a[2] * b[2])) * (1.0 / 15.0),
        (a[4] * b[1] + 2.0 * (a[3] * b[2])) * (1.0 / 3.0),
        a[4] * b[2],
    )


@inlined
def as_sextic(a: Quartic) -> Sextic:
    """A quartic, degree-elevated."""
    return (
        a[0],
        (2.0 * a[1] + a[0]) * (1.0 / 3.0),
        (6.0 * a[2] + 8.0 * a[1] + a[0]) * (1.0 / 15.0),
        (a[3] + 3.0 * a[2] + a[1]) * 0.2,
        (a[4] + 8.0 * a[3] + 6.0 * a[2]) * (1.0 / 15.0),
        (a[4] + 2.0 * a[3]) * (1.0 / 3.0),
        a[4],
    )


@inlined
def quartic_difference(a: Quartic, b: Quartic) -> Quartic:
    """A - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3], a[4] - b[4]


@inlined
def sextic_difference(a: Sextic, b: Sextic) -> Sextic:
    """A - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3], a[4] - b[4], a[5] - b[5], a[6] - b[6]


@inlined
def least(c: Coefficients) -> Real:
    """The least coefficient."""
    found = c[0]
    for k in range(1, len(c)):
        found = smaller(found, c[k])
    return found


@inlined
def polynomial_signs(c: Coefficients, error: Real) -> SignBounds:
    """Where a polynomial is certainly positive or negative; `error` bounds the error of each coefficient."""
    n = len(c) - 1
    a, b, largest = c[1] - c[0], c[n] - c[n - 1], c[0]
    rise, fall = n * a, -n * b
    for k in range(1, n + 1):
        largest = larger(largest, c[k])
        rise, fall = smaller(rise, n / k * (c[k] - c[0])), smaller(fall, n / k * (c[n - k] - c[n]))
    bends = n * (n - 1.0) * (c[2] - c[1] - a), n * (n - 1.0) * (b - (c[n - 1] - c[n - 2]))
    return sign_bounds((c[0], n * a, bends[0]), (c[n], n * b, bends[1]), rise, fall, least(c), largest, error)


@inlined
def sign_bounds(
    first: Quadratic, last: Quadratic, rise: Real, fall: Real, smallest: Real, largest: Real, error: Real
) -> SignBounds:
    """Where f is certainly positive or negative, from its coefficients and from the lines below them.

    `first` and `last` are value, first and second derivative at 0 and at 1, `smallest` and `largest` bound the
    coefficients; f(v) >= f(0) + rise v, and f(v) >= f(1) + fall (1 - v).
    """
    before, behind = first[0] - error, last[0] - error
    everywhere = smallest > error
    outside_first, outside_last = before > 0.0, behind > 0.0
    rising = logical_not(outside_first) & (rise > -before)
    falling = logical_not(outside_last) & (fall > -behind)
    # a line that falls from f > 0 at one end is positive up to its root, one that rises from f <= 0 beyond its root
    from_first = before / select(outside_first, larger(-rise, before), 1.0)
    from_last = 1.0 + behind / select(falling, fall, 1.0)
    to_last = 1.0 - behind / select(outside_last, larger(-fall, behind), 1.0)
    to_first = -before / select(rising, rise, 1.0)
    from_first, from_last = select(outside_first, from_first, 0.0), select(falling, from_last, 0.0)
    to_first, to_last = select(rising, to_first, 1.0), select(outside_last, to_last, 1.0)
    return SignBounds(
        select(everywhere, 1.0, larger(from_first, from_last)),
        select(everywhere, 0.0, smaller(to_last, to_first)),
        first[0] < -error,
        last[0] < -error,
        largest < -error,
        select(first[0] > -error, crossing_guess(first, last, error), 0.0),
    )


@inlined
def crossing_guess(first: Quadratic, last: Quadratic, error: Real) -> Real:
    """Where f falls to -`AIM` error, estimated by its parabola at the end at which |f| is smaller."""
    near_last = absolute(last[0]) < absolute(first[0])
    value = select(near_last, last[0], first[0]) + AIM * error
    slope, bend = select(near_last, last[1], first[1]), select(near_last, last[2], first[2])
    under = slope * slope - 2.0 * value * bend
    root = square_root(larger(under, 0.0))
    falling, rising = slope < 0.0, bend > 0.0
    ahead = 2.0 * value / select(falling, root - slope, 1.0)
    back = -(slope + root) / select(rising, bend, 1.0)
    step = select(falling, ahead, select(rising, back, NO_CROSSING))
    guess = select(near_last, 1.0, 0.0) + step
    return select((under < 0.0) | (guess < 0.0), NO_CROSSING, guess)


# Several polynomials ------------------------------------------------------------------------------------------------


@inlined
def intersection(a: SignBounds, b: SignBounds) -> SignBounds:
    """The `SignBounds` of an intersection: outside where either is, inside where both are."""
    return SignBounds(
        larger(a.positive_until, b.positive_until),
        smaller(a.positive_from, b.positive_from),
        a.negative_at_0 & b.negative_at_0,
        a.negative_at_1 & b.negative_at_1,
        a.negative & b.negative,
        larger(a.guess, b.guess),
    )


@inlined
def union(a: SignBounds, b: SignBounds) -> SignBounds:
    """The `SignBounds` of a union: outside where both are, inside where either is."""
    return SignBounds(
        smaller(a.positive_until, b.positive_until),
        larger(a.positive_from, b.positive_from),
        a.negative_at_0 | b.negative_at_0,
        a.negative_at_1 | b.negative_at_1,
        a.negative | b.negative,
        smaller(a.guess, b.guess),
    )
