"""Part of the oracle: real roots isolated by Sturm's theorem, over fractions.

A polynomial is the tuple of its coefficients, lowest degree first, without trailing zeros; () is zero. The library
isolates roots by Descartes' rule on Bernstein coefficients of square-free parts. This module counts sign changes along
a Sturm chain, which needs no square-free part, and only ever halves intervals.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from math import gcd, lcm

Coefficients = tuple[int, ...]


def whole(fractions: Sequence[Fraction]) -> Coefficients:
    """Return the polynomial times the positive number that makes its coefficients coprime integers."""
    found = list(fractions)
    while found and found[-1] == 0:
        found.pop()
    if not found:
        return ()
    common = lcm(*(x.denominator for x in found))
    integers = [x.numerator * (common // x.denominator) for x in found]
    divisor = gcd(*integers)
    return tuple(x // divisor for x in integers)


def divided(p: Coefficients, q: Coefficients) -> tuple[list[Fraction], list[Fraction]]:
    """Return quotient and remainder."""
    rest, quotient = [Fraction(c) for c in p], [Fraction(0)] * max(len(p) - len(q) + 1, 0)
    for k in range(len(quotient) - 1, -1, -1):
        quotient[k] = rest[k + len(q) - 1] / q[-1]
        for i, c in enumerate(q):
            rest[k + i] -= quotient[k] * c
    return quotient, rest[: len(q) - 1]


def sign(p: Coefficients, x: Fraction) -> int:
    """Return the sign of p(x)."""
    n, d = x.numerator, x.denominator
    value, scale = 0, 1
    for c in reversed(p):
        value, scale = value * n + c * scale, scale * d
    return (value > 0) - (value < 0)


@dataclass(frozen=True)
class Curve:
    """A polynomial with its Sturm chain."""

    coefficients: Coefficients

    @cached_property
    def chain(self) -> list[Coefficients]:
        """Return the Sturm chain of the polynomial, divided by its greatest common divisor."""
        found = [self.coefficients, whole([Fraction(i * c) for i, c in enumerate(self.coefficients) if i])]
        while found[-1]:
            found.append(whole([-c for c in divided(found[-2], found[-1])[1]]))
        found.pop()
        return [whole(divided(p, found[-1])[0]) for p in found]

    @lru_cache(maxsize=4096)  # noqa: B019 - the same ends of intervals recur
    def changes(self, x: Fraction) -> int:
        """Return the number of sign changes along the chain at x, without zeros."""
        signs = [s for s in (sign(p, x) for p in self.chain) if s]
        return sum(a != b for a, b in pairwise(signs))

    def count(self, low: Fraction, high: Fraction) -> int:
        """Return the number of distinct roots in low < x <= high; 0 for a constant."""
        return self.changes(low) - self.changes(high) if len(self.coefficients) > 1 and low < high else 0

    def has_root_of(self, other: "Curve", low: Fraction, high: Fraction) -> bool:
        """Return whether both polynomials have a common root in low < x <= high."""
        return low < high and divisor(self, other).count(low, high) > 0


@lru_cache(maxsize=256)
def divisor(one: Curve, other: Curve) -> Curve:
    """Return the greatest common divisor, by Euclid's algorithm."""
    p, q = one.coefficients, other.coefficients
    while q:
        p, q = q, whole(divided(p, q)[1])
    return Curve(p)


@dataclass
class Cut:
    """A number: the only root in low < x <= high of each of the named curves."""

    low: Fraction
    high: Fraction
    curves: dict[str, Curve]

    @property
    def curve(self) -> Curve:
        """Return the curve of lowest degree."""
        return min(self.curves.values(), key=lambda curve: len(curve.coefficients))

    def narrow(self) -> None:
        """Halve the interval."""
        middle = (self.low + self.high) / 2
        if self.curve.count(self.low, middle):
            self.high = middle
        else:
            self.low = middle

    def compare(self, other: "Cut") -> int:
        """Return -1, 0 or 1 as self <, = or > other."""
        if self.curve.has_root_of(other.curve, max(self.low, other.low), min(self.high, other.high)):
            return 0
        while True:
            if self.high <= other.low:
                return -1
            if other.high <= self.low:
                return 1
            self.narrow()
            other.narrow()

    def rounded(self, c0: Fraction, c1: Fraction) -> float:
        """Return the float64 nearest to c0 + c1 x, ties to even."""
        for _ in range(300):
            ends = [c0 + c1 * self.low, c0 + c1 * self.high]
            if float(ends[0]) == float(ends[1]):
                return float(ends[0])
            self.narrow()
        middle = (Fraction(float(ends[0])) + Fraction(float(ends[1]))) / 2  # or it is 0
        exact = [x for x in (middle, Fraction(0)) if c1 and sign(self.curve.coefficients, (x - c0) / c1) == 0]
        assert exact, "a number within 2^-300 of a tie that is none"
        return float(exact[0])


def cuts(curves: dict[str, Curve], low: Fraction, high: Fraction) -> list[Cut]:
    """Return all roots of the curves in low < x <= high, in order; each occurs once, with all curves that have it."""
    present = {name: curve.count(low, high) for name, curve in curves.items()}
    found = {name: curves[name] for name, count in present.items() if count}
    if not found:
        return []
    if max(present.values()) == 1:
        first, *others = found.values()
        if all(first.has_root_of(other, low, high) for other in others):
            return [Cut(low, high, found)]
    middle = (low + high) / 2
    return cuts(found, low, middle) + cuts(found, middle, high)
