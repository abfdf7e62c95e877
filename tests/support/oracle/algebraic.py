"""Exact ray parameters: rationals, and roots of quadratics with integer coefficients.

Part of the oracle. A `Root` is irrational by construction, so it equals no rational, and it equals another root only if
polynomial and branch are the same; different numbers are compared by integer square roots of growing length.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, isqrt


@dataclass(frozen=True)
class Root:
    """The lower or upper root of c2 t² + 2 c1 t + c0: irrational; the polynomial is primitive, irreducible, c2 > 0."""

    c2: int
    c1: int
    c0: int
    upper: bool

    @cached_property
    def value(self) -> Fraction:
        """Return the root within 2^-160 relative."""
        bits = 192
        while True:
            lo, hi = enclosure(self, bits)
            if hi - lo <= abs(lo) / 2**160:
                return (lo + hi) / 2
            bits *= 2


Param = Fraction | Root


def root(c2: int, c1: int, c0: int, upper: bool) -> Param:
    """Return a root of c2 t² + 2 c1 t + c0 (c2 > 0, discriminant >= 0), as a Fraction wherever it is rational."""
    common = gcd(c2, c1, c0)
    c2, c1, c0 = c2 // common, c1 // common, c0 // common
    discriminant = c1 * c1 - c2 * c0
    whole = isqrt(discriminant)
    if whole * whole == discriminant:
        return Fraction(-c1 + whole if upper else -c1 - whole, c2)
    return Root(c2, c1, c0, upper)


def enclosure(t: Param, bits: int) -> tuple[Fraction, Fraction]:
    """Return rationals lo <= t <= hi that converge to t as `bits` grows; lo == hi for a rational t."""
    if isinstance(t, Fraction):
        return t, t
    scaled = isqrt((t.c1 * t.c1 - t.c2 * t.c0) << (2 * bits))
    ends = [(-t.c1 << bits) + (s if t.upper else -s) for s in (scaled, scaled + 1)]
    return Fraction(min(ends), t.c2 << bits), Fraction(max(ends), t.c2 << bits)


def compare(s: Param, t: Param) -> int:
    """Return -1, 0 or 1 as s < t, s == t, s > t; exact."""
    if s == t:
        return 0
    bits = 64
    while True:
        (s_lo, s_hi), (t_lo, t_hi) = enclosure(s, bits), enclosure(t, bits)
        if s_hi < t_lo:
            return -1
        if t_hi < s_lo:
            return 1
        bits *= 2


def value(t: Param) -> Fraction:
    """Return t within 2^-160 relative (exactly where t is rational)."""
    return t if isinstance(t, Fraction) else t.value
