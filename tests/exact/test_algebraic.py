"""Real roots of products of known linear and quadratic factors: completeness, order, comparison and rounding."""

from fractions import Fraction
from functools import cmp_to_key, reduce
from math import nextafter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.oracle import algebraic as oracle

from cylcollide.exact import polynomials
from cylcollide.exact.algebraic import Algebraic, real_roots
from cylcollide.exact.contacts import rational_between
from cylcollide.exact.polynomials import Polynomial, common_divisor, product, sign_at, square_free

pytestmark = pytest.mark.plain_python

SMALL = st.integers(-6, 6)
NEAR = st.integers(0, 60).map(lambda bits: Fraction(1, 3) + Fraction(1, 2**bits))
DYADIC = st.builds(lambda n, k: Fraction(n, 2**k), st.integers(-64, 64), st.integers(0, 6))
RATIONALS = st.one_of(NEAR, DYADIC, st.builds(Fraction, SMALL, st.integers(1, 6)), st.floats(-8, 8).map(Fraction))
WIDE = Fraction(-(2**9)), Fraction(2**9) + Fraction(1, 3)


class Known:
    """A polynomial and its real roots in ascending order, in the oracle's form."""

    def __init__(self, factors: list[tuple[int, int, int]], rationals: list[Fraction]) -> None:
        linear = [(-x.numerator, x.denominator) for x in rationals]
        self.polynomial: Polynomial = reduce(product, [*factors, *linear], (1,))
        found: list[oracle.Param] = list(rationals)
        for c0, c1, c2 in factors:
            if c1 * c1 >= 4 * c2 * c0:
                up = 1 if c2 > 0 else -1
                found += [oracle.root(2 * up * c2, up * c1, 2 * up * c0, upper) for upper in (False, True)]
        self.roots = [x for i, x in enumerate(found) if x not in found[:i]]
        self.roots.sort(key=cmp_to_key(oracle.compare))


FACTOR = st.tuples(SMALL, SMALL, SMALL.filter(bool))
KNOWN = st.builds(
    lambda factors, rationals, double: Known([*factors, *factors[:double]], [*rationals, *rationals[:double]]),
    st.lists(FACTOR, max_size=2),
    st.lists(RATIONALS, max_size=2),
    st.integers(0, 1),
).filter(lambda known: len(known.polynomial) > 1)


def agrees(number: Algebraic, true: oracle.Param) -> bool:
    """Return whether a number is within 2^-400 of the truth."""
    low, high = oracle.enclosure(true, 400)
    return low <= number <= high


@given(KNOWN, RATIONALS, RATIONALS)
def test_roots_at_the_ends_of_an_interval_are_in_it(known, a, b):
    begin, end = min(a, b), max(a, b) + 1
    inside = [x for x in known.roots if oracle.compare(x, begin) >= 0 and oracle.compare(x, end) <= 0]
    found = real_roots(known.polynomial, begin, end)
    assert len(found) == len(inside)
    assert all(map(agrees, found, inside))
    ends = [x for x in known.roots if isinstance(x, Fraction)]
    if len(ends) > 1:
        assert real_roots(known.polynomial, ends[0], ends[-1])[0] == ends[0]
        assert real_roots(known.polynomial, ends[0], ends[-1])[-1] == ends[-1]


@given(KNOWN, KNOWN)
def test_order_matches_oracle(one, two):
    for a, x in zip(real_roots(one.polynomial, *WIDE), one.roots, strict=True):
        for known in (one, two):
            for b, y in zip(real_roots(known.polynomial, *WIDE), known.roots, strict=True):
                assert a.compare(b) == -b.compare(a) == oracle.compare(x, y)
                assert (a == b, a < b, a <= b, a > b, a >= b) == (
                    *(oracle.compare(x, y) == 0, oracle.compare(x, y) < 0, oracle.compare(x, y) <= 0),
                    *(oracle.compare(x, y) > 0, oracle.compare(x, y) >= 0),
                )
                if a < b:
                    assert a < rational_between(a, b) < b


@given(KNOWN, RATIONALS)
def test_order_with_rationals_matches_oracle(known, value):
    for number, true in zip(real_roots(known.polynomial, *WIDE), known.roots, strict=True):
        order = oracle.compare(true, value)
        assert number.compare(Algebraic.rational(value)) == order
        assert Algebraic.rational(value).compare(number) == -order
        assert (number == value, number < value, value < number) == (order == 0, order < 0, order > 0)


@given(KNOWN, KNOWN)
def test_signs_at_roots_equal_signs_nearby(one, two):
    """0 at common roots, else the sign at a rational number with no root of the other polynomial in between."""
    for number, true in zip(real_roots(one.polynomial, *WIDE), one.roots, strict=True):
        low, high = oracle.enclosure(true, 400)  # roots of the other polynomial are equal or farther away
        beside = {sign_at(two.polynomial, *x.as_integer_ratio()) for x in (low, high)}
        want = 0 if true in two.roots else beside.pop()
        assert beside <= {want} or want == 0
        assert number.sign_of(two.polynomial) == want
        assert number.sign_of(one.polynomial) == number.sign_of(()) == 0
        assert (number.sign_of((-3,)), number.sign_of((2,))) == (-1, 1)


@given(KNOWN, RATIONALS, RATIONALS)
def test_rounding_is_to_the_nearest_float64(known, c0, c1):
    for number, true in zip(real_roots(known.polynomial, *WIDE), known.roots, strict=True):
        bits = 400
        while True:  # the oracle's bounds converge; if they never round alike, the value is a tie or zero
            ends = [c0 + c1 * x for x in oracle.enclosure(true, bits)]
            if float(ends[0]) == float(ends[1]) or bits > 3000:
                break
            bits *= 2
        assert number.rounded(c0, c1) == float(ends[0])
        high, low = number.double_double(c0, c1)
        assert high == float(ends[0])
        assert abs(Fraction(low) - (ends[0] - Fraction(high))) <= abs(Fraction(low)) / 2**53 + Fraction(1, 2**1074)


@pytest.mark.coverage
@pytest.mark.parametrize("ulps", [1, 3])
@pytest.mark.parametrize("offset", [0, 1, -1])
def test_ties_go_to_even(ulps, offset):
    """A root midway between two float64 numbers, and roots 2^-300 below and above it."""
    middle = 1 + Fraction(ulps, 2**53) + offset * Fraction(1, 2**300)
    want = float(middle)
    for p in [(-middle.numerator, middle.denominator), product((-middle.numerator, middle.denominator), (-2, 0, 1))]:
        number = next(x for x in real_roots(p, Fraction(0), Fraction(5, 4)))
        assert number.rounded() == want == number.rounded(0, 1) == -number.rounded(0, -1)
        assert number.rounded(7, -1) == float(7 - middle)
        assert number.rounded(5, 0) == 5.0


def test_zero_value_is_recognised():
    third = real_roots(product((-1, 3), (-2, 0, 1)), Fraction(0), Fraction(1))[0]
    assert not third.is_rational
    assert third.rounded(Fraction(-1, 3), 1) == 0.0
    assert third.is_rational


def test_tiny_values_are_rounded_into_the_subnormal_numbers():
    root = real_roots((-2, 0, 1), Fraction(1), Fraction(2))[0]
    assert root.rounded(0, Fraction(1, 2**1074)) == 2.0**-1074
    assert root.rounded(0, Fraction(1, 2**1076)) == 0.0


def test_nearly_equal_roots_are_ordered():
    """√2 and √(2 + 2^-900), as roots of separate polynomials and of their product."""
    one = real_roots((-2, 0, 1), Fraction(1), Fraction(2))[0]
    two = real_roots((-(2**901) - 1, 0, 2**900), Fraction(1), Fraction(2))[0]
    both = real_roots(product((-2, 0, 1), (-(2**901) - 1, 0, 2**900)), Fraction(1), Fraction(2))
    assert one < two
    assert both[0] < both[1]
    assert (one == both[0], two == both[1], one == both[1], two == both[0]) == (True, True, False, False)


def test_refinement_is_quadratic():
    """12 steps narrow the interval of a simple root to less than 2^-200; bisection reaches 2^-12."""
    root = real_roots((-2, 0, 0, 1), Fraction(1), Fraction(2))[0]
    for _ in range(12):
        root.refine()
    low, high = root.bounds
    assert low**3 < 2 < high**3
    assert high - low < Fraction(1, 2**200)


def test_refining_a_rational_changes_nothing():
    half = Algebraic.rational(0.5)
    half.refine()
    assert half.bounds == (Fraction(1, 2), Fraction(1, 2))


@pytest.mark.coverage
def test_repr_shows_the_value():
    assert repr(Algebraic.rational(0.5)) == "Algebraic(1/2)"
    assert repr(real_roots((-2, 0, 1), Fraction(1), Fraction(2))[0]) == "Algebraic((-2, 0, 1), 1.0...2.0)"


@pytest.mark.coverage
def test_other_types_are_refused():
    with pytest.raises(TypeError, match="expected an Algebraic, a Fraction, an int or a float, got str"):
        _ = Algebraic.rational(0.5) < "1"
    assert Algebraic.rational(0.5) != "1"
    with pytest.raises(TypeError):
        hash(Algebraic.rational(0.5))


@pytest.mark.coverage
def test_common_divisors_with_an_unlucky_prime(monkeypatch):
    """Modulo 3 leading coefficients vanish or coprime polynomials share a factor: Euclid's algorithm decides."""
    monkeypatch.setattr(polynomials, "PRIME", 3)
    assert common_divisor((1, 3), (2, 3)) == (1,)
    assert common_divisor((1, 1), (4, 1)) == (1,)
    assert common_divisor(product((1, 3), (1, 1)), product((1, 3), (5, 7))) == (1, 3)
    assert square_free(product((1, 3), (1, 3))) == (1, 3)
    assert square_free((1, 0, 3)) == (1, 0, 3)


@given(KNOWN, KNOWN)
def test_common_divisors_have_the_common_roots(one, two):
    divisor = common_divisor(one.polynomial, two.polynomial)
    shared = [x for x in one.roots if x in two.roots]
    found = real_roots(divisor, *WIDE)
    assert len(found) == len(shared)
    assert all(map(agrees, found, shared))
    assert real_roots(square_free(one.polynomial), *WIDE) == real_roots(one.polynomial, *WIDE)


def test_a_root_next_to_a_rational_end():
    """An end of the interval is the root, or one float64 below or above it."""
    for begin, count in ((nextafter(1.0, 0.0), 1), (1.0, 1), (nextafter(1.0, 2.0), 0)):
        assert len(real_roots((-1, 1), Fraction(begin), Fraction(2))) == count
        assert len(real_roots((-1, 1), Fraction(-2), Fraction(begin))) == (begin >= 1.0)


def test_many_comparisons_do_not_multiply_digits():
    """Comparisons refine the other 100 numbers, not this one 100 times, which would double its digits each time."""
    number = real_roots((-2, 0, 1), Fraction(0), Fraction(2))[0]
    for k in range(100):
        other = real_roots((-2 * 10**12 - k - 1, 0, 10**12), Fraction(0), Fraction(2))[0]
        assert number < other
    assert number.denominator.bit_length() < 400
