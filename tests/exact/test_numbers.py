"""Quadratic numbers compared with the oracle, which represents roots by polynomials, not by radicals."""

from fractions import Fraction
from itertools import product
from math import inf, isqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.oracle import algebraic

from cylcollide.exact.numbers import DIGITS, QuadraticNumber, scaled_integers

pytestmark = [pytest.mark.plain_python, pytest.mark.coverage]

SMALL, LARGE = st.integers(-6, 6), st.integers(-(2**200), 2**200)


@st.composite
def roots(draw: st.DrawFn) -> tuple[QuadraticNumber, algebraic.Param]:
    """A root of c2 t² + 2 c1 t + c0 in both representations; small coefficients often give ties."""
    whole = draw(st.sampled_from([SMALL, LARGE]))
    c2, c1, c0, upper = abs(draw(whole)) or 1, draw(whole), draw(whole), draw(st.booleans())
    if c1 * c1 < c2 * c0:
        c0 = -c0
    sign = draw(st.sampled_from([-1, 1]))  # the denominator may be negative
    number = QuadraticNumber(-c1 * sign, c2 * sign, (1 if upper else -1) * sign, c1 * c1 - c2 * c0)
    return number, algebraic.root(c2, c1, c0, upper)


@given(roots(), roots())
def test_order_matches_oracle(one, two):
    assert one[0].compare(two[0]) == algebraic.compare(one[1], two[1])
    assert one[0].compare(one[0]) == 0


@given(roots(), st.floats(-8, 8))
def test_order_with_rationals_matches_oracle(one, value):
    number = QuadraticNumber.of_float(value)
    assert one[0].compare(number) == -number.compare(one[0]) == algebraic.compare(one[1], Fraction(value))


@given(roots())
def test_approximations_are_accurate(one):
    number, true = one
    near = Fraction(*number.approximate())
    lo, hi = algebraic.enclosure(true, 700)
    assert max(abs(near - lo), abs(near - hi)) <= abs(near) / 2**DIGITS + (hi - lo)
    high, low = number.double_double()
    assert high == float(near)
    assert abs(Fraction(high) + Fraction(low) - near) <= abs(near) / 2**105 + Fraction(1, 2**1074)


def test_repr_shows_the_radical():
    assert repr(QuadraticNumber(1, -3, 1, 2)) == "(-1 -1*sqrt(2)) / 3"


def test_cancelling_roots_keep_their_digits():
    """p - √(p² - 1) is about 1/2p: more than 100 digits cancel."""
    p = 10**80
    near = Fraction(*QuadraticNumber(p, 1, -1, p * p - 1).approximate())
    scaled = (p << 2000) - isqrt((p * p - 1) << 4000)
    assert abs(near / Fraction(scaled, 1 << 2000) - 1) < Fraction(1, 2**139)


@pytest.mark.parametrize("sign", [-1, 1])
def test_beyond_the_largest_float_is_infinite(sign):
    assert QuadraticNumber(sign * 10**400, 1).double_double() == (sign * inf, 0.0)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6))
def test_scaled_integers_keep_all_ratios(values):
    whole = scaled_integers(values)
    for (a, x), (b, y) in product(zip(values, whole, strict=True), repeat=2):
        assert Fraction(a) * y == Fraction(b) * x
        assert (x > 0) == (a > 0)
