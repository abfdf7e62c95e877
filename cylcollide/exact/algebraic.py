"""Real roots of polynomials as numbers: exact order, signs of other polynomials at them, and correct rounding."""

from fractions import Fraction
from functools import total_ordering
from math import inf, isqrt, nextafter

from cylcollide.exact.numbers import Number, QuadraticNumber, sign
from cylcollide.exact.polynomials import (
    Polynomial,
    RationalInterval,
    bernstein,
    certainly_coprime,
    common_divisor,
    isolated_roots,
    scaled_value,
    sign_at,
    square_free,
)


@total_ordering
class Algebraic:
    """The one root of a square-free integer polynomial in an open interval, or a rational number.

    Comparisons narrow the interval, `low` / `denominator` to `high` / `denominator`, as far as needed. The polynomial
    has opposite signs at its ends; the ends are equal if the number is known to be rational.
    """

    __slots__ = ("denominator", "high", "low", "polynomial", "step")

    def __init__(self, polynomial: Polynomial, interval: RationalInterval) -> None:
        self.polynomial = polynomial
        self.low, self.high, self.denominator = interval
        self.step = 2

    @classmethod
    def rational(cls, value: Fraction | float) -> "Algebraic":
        """The exact value of a fraction or a finite float64."""
        numerator, denominator = value.as_integer_ratio()
        return cls((-numerator, denominator), (numerator, numerator, denominator))

    @property
    def is_rational(self) -> bool:
        """Whether the number is known to be rational."""
        return self.low == self.high

    @property
    def bounds(self) -> tuple[Fraction, Fraction]:
        """Two rational numbers with this one between them, or equal to it."""
        return Fraction(self.low, self.denominator), Fraction(self.high, self.denominator)

    def __repr__(self) -> str:
        low, high = self.bounds
        return f"Algebraic({low})" if low == high else f"Algebraic({self.polynomial}, {float(low)}...{float(high)})"

    # Order ----------------------------------------------------------------------------------------------------------

    def compare(self, other: Number, /) -> int:
        """Sign of self - other."""
        other = as_algebraic(other)
        apart = self._apart(other)
        if apart:
            return apart
        if other.is_rational:
            return self._from_rational(other.low, other.denominator)
        if self.is_rational:
            return -other._from_rational(self.low, self.denominator)
        if self._is_root_beside(other):
            return 0
        while not (apart := self._apart(other)):
            is_wider = (self.high - self.low) * other.denominator >= (other.high - other.low) * self.denominator
            (self if is_wider else other).refine()  # each step may double the digits of an interval
        return apart

    def _apart(self, other: "Algebraic") -> int:
        """Sign of self - other if the intervals decide it, else 0."""
        if self.high * other.denominator < other.low * self.denominator:
            return -1
        return int(other.high * self.denominator < self.low * other.denominator)

    def _from_rational(self, numerator: int, denominator: int) -> int:
        """Sign of self - numerator / denominator, a number in the interval or equal to this one."""
        if self.is_rational or (beyond := sign_at(self.polynomial, numerator, denominator)) == 0:
            self.low, self.high, self.denominator = numerator, numerator, denominator
            return 0
        return 1 if beyond == sign_at(self.polynomial, self.low, self.denominator) else -1

    def _is_root_beside(self, other: "Algebraic") -> bool:
        """Whether both numbers are equal: the intersection of the intervals contains a root of both polynomials."""
        p, q = self.polynomial, other.polynomial
        divisor = p if p == q else common_divisor(p, q)
        (low, high), (first, last) = self.bounds, other.bounds
        low, high = max(low, first), min(high, last)  # p or q is not zero at these ends, nor is the divisor
        below, above = sign_at(divisor, *low.as_integer_ratio()), sign_at(divisor, *high.as_integer_ratio())
        return below != above

    def _against(self, other: object) -> int:
        if isinstance(other, Algebraic):
            return self.compare(other)
        if isinstance(other, Fraction | int | float):
            return self.compare(Algebraic.rational(other))
        raise TypeError(f"expected an Algebraic, a Fraction, an int or a float, got {type(other).__name__}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Algebraic | Fraction | int | float) and self._against(other) == 0

    def __lt__(self, other: object) -> bool:
        return self._against(other) < 0

    __hash__ = None  # type: ignore[assignment]  # equal numbers may have different polynomials

    # Values ---------------------------------------------------------------------------------------------------------

    def refine(self) -> None:
        """Narrow the interval by a quarter or more, eventually quadratically (after J. Abbott's interval refinement).

        Tries, of 2^`step` equal parts, the one in which the secant crosses zero and its two neighbours. If the root is
        there, the next call uses the square of that number of parts; if not, its square root, and halves the interval.
        """
        if self.is_rational:
            return
        below = scaled_value(self.polynomial, self.low, self.denominator)
        above = scaled_value(self.polynomial, self.high, self.denominator)
        parts, width = 1 << self.step, self.high - self.low
        part = below * parts // (below - above)
        first, last = max(part - 1, 0), min(part + 2, parts)
        if self._keep(parts * self.low + first * width, parts * self.low + last * width, parts * self.denominator):
            self.step *= 2
        else:
            self.step = max(self.step // 2, 2)
            middle, denominator = self.low + self.high, 2 * self.denominator
            if not self._keep(2 * self.low, middle, denominator):
                self._keep(middle, 2 * self.high, denominator)

    def _keep(self, low: int, high: int, denominator: int) -> bool:
        """Keep a part of the interval if the number lies in it or at its ends; returns whether it does."""
        at_low, at_high = sign_at(self.polynomial, low, denominator), sign_at(self.polynomial, high, denominator)
        if at_low * at_high > 0:
            return False
        self.low, self.high = high if at_high == 0 else low, low if at_low == 0 else high
        self.denominator = denominator
        return True

    def sign_of(self, p: Polynomial) -> int:
        """The sign of a polynomial at this number."""
        if len(p) < 2:
            return sign(sum(p))
        if not self.is_rational and not certainly_coprime(self.polynomial, p):
            divisor = common_divisor(self.polynomial, p)
            if sign_at(divisor, self.low, self.denominator) != sign_at(divisor, self.high, self.denominator):
                return 0
        while True:
            signs = {sign(c) for c in bernstein(p, (self.low, self.high, self.denominator))} - {0}
            if len(signs) < 2:  # none at a rational root
                return sum(signs)
            self.refine()

    def rounded(self, c0: Fraction | float = 0, c1: Fraction | float = 1) -> float:
        """The float64 nearest to c0 + c1 times this number, ties to even."""
        start, slope = Fraction(c0), Fraction(c1)
        if slope == 0:
            return float(start)
        if not self.is_rational:
            self.compare(Algebraic.rational(-start / slope))  # detects a value of zero
        while True:
            one, other = (float(start + slope * end) for end in self.bounds)
            below, above = min(one, other), max(one, other)
            if below == above:
                return below
            if nextafter(below, inf) == above:
                break
            self.refine()
        middle = (Fraction(below) + Fraction(above)) / 2
        order = sign(slope.numerator) * self.compare(Algebraic.rational((middle - start) / slope))
        return float(middle) if order == 0 else below if order < 0 else above

    def double_double(self, c0: Fraction | float = 0, c1: Fraction | float = 1) -> tuple[float, float]:
        """The number c0 + c1 times this one as two float64, each nearest to the remainder."""
        high = self.rounded(c0, c1)
        return high, self.rounded(Fraction(c0) - Fraction(high), c1)


def as_algebraic(number: Number) -> Algebraic:
    """The number as a root of its polynomial."""
    if not isinstance(number, QuadraticNumber):
        assert isinstance(number, Algebraic)
        return number
    p, q, root_sign, radicand = number.rational, number.denominator, number.root_sign, number.radicand
    root = isqrt(radicand) if root_sign else 0
    if root_sign == 0 or root * root == radicand:
        return Algebraic.rational(Fraction(p + root_sign * root, q))
    low, high = sorted((p + root_sign * root, p + root_sign * (root + 1)))
    return Algebraic((p * p - radicand, -2 * p * q, q * q), (low, high, q))


def real_roots(p: Polynomial, begin: Fraction, end: Fraction) -> list[Algebraic]:
    """The real roots of p, which is not zero, in begin <= s <= end, begin < end; in order, each once."""
    if len(p) < 3:
        roots = [Fraction(-p[0], p[1])] if len(p) == 2 else []
        return [Algebraic.rational(root) for root in roots if begin <= root <= end]
    (n, d), (m, e) = begin.as_integer_ratio(), end.as_integer_ratio()
    shift = max(0, (d * e).bit_length() - (m * d - n * e).bit_length())  # at most two such steps fit into the interval
    interval = (n << shift) // d, -((-m << shift) // e), 1 << shift
    if {sign(c) for c in bernstein(p, interval)} in ({1}, {-1}):  # one sign, ends included: most polynomials
        return []
    single = square_free(p)
    found = [Algebraic(single, root) for root in isolated_roots(single, interval)]
    first, last = Algebraic.rational(begin), Algebraic.rational(end)
    return [root for root in found if root.compare(first) >= 0 and root.compare(last) <= 0]
