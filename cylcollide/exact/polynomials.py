"""Polynomials with integer coefficients: common divisors, square-free parts, and intervals that isolate real roots.

A polynomial is the tuple of its coefficients, lowest degree first, without trailing zeros; () is the zero polynomial.
Rational numbers are numerators over one positive denominator.
"""

from collections.abc import Iterable
from functools import cache
from itertools import zip_longest
from math import comb, gcd, lcm
from typing import TypeAlias

from cylcollide.exact.numbers import sign

Polynomial: TypeAlias = tuple[int, ...]
RationalInterval: TypeAlias = tuple[int, int, int]
"""Numerators of both ends, and their denominator > 0. A root is a point, or within the open interval."""

PRIME = 2**61 - 1  # polynomials without a common divisor in this field have none


# Arithmetic ---------------------------------------------------------------------------------------------------------


def trimmed(coefficients: Iterable[int]) -> Polynomial:
    """The polynomial with these coefficients, lowest degree first."""
    found = list(coefficients)
    while found and found[-1] == 0:
        found.pop()
    return tuple(found)


def combined(p: Polynomial, q: Polynomial, factor: int = 1) -> Polynomial:
    """The sum p + factor q."""
    return trimmed(a + factor * b for a, b in zip_longest(p, q, fillvalue=0))


def product(p: Polynomial, q: Polynomial) -> Polynomial:
    """The product p q."""
    if not p or not q:
        return ()
    found = [0] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            found[i + j] += a * b
    return tuple(found)


def scaled_value(p: Polynomial, numerator: int, denominator: int) -> int:
    """The value p(numerator / denominator), times denominator to the power of the degree."""
    value, power = 0, 1
    for c in reversed(p):
        value, power = value * numerator + c * power, power * denominator
    return value


def sign_at(p: Polynomial, numerator: int, denominator: int) -> int:
    """The sign of p(numerator / denominator)."""
    return sign(scaled_value(p, numerator, denominator))


def derivative(p: Polynomial) -> Polynomial:
    """The derivative of p."""
    return tuple(i * c for i, c in enumerate(p) if i)


def primitive(p: Polynomial) -> Polynomial:
    """The multiple of p, which is not zero, whose coefficients are coprime, the highest of them positive."""
    divisor = gcd(*p) if p[-1] > 0 else -gcd(*p)
    return tuple(c // divisor for c in p)


# Common divisors ----------------------------------------------------------------------------------------------------


def certainly_coprime(p: Polynomial, q: Polynomial) -> bool:
    """Whether p and q, both nonzero, are coprime modulo a prime that keeps the degree of p; if so, they are coprime."""
    a, b = [c % PRIME for c in p], [c % PRIME for c in q]
    if a[-1] == 0:
        return False
    while b:
        if b[-1] == 0:
            b.pop()
            continue
        inverse = pow(b[-1], -1, PRIME)
        while len(a) >= len(b):
            factor, shift = a[-1] * inverse, len(a) - len(b)
            for i, c in enumerate(b, shift):
                a[i] = (a[i] - factor * c) % PRIME
            a.pop()
        a, b = b, a
    return len(a) == 1


def common_divisor(p: Polynomial, q: Polynomial) -> Polynomial:
    """The greatest common divisor of p and q, neither of them zero, primitive: by Euclid's algorithm."""
    if certainly_coprime(p, q):
        return (1,)
    a, b = primitive(p), primitive(q)
    while b:
        a, b = b, _remainder(a, b)
    return a


def _remainder(p: Polynomial, q: Polynomial) -> Polynomial:
    """A multiple of the remainder of p divided by q, primitive."""
    left = list(p)
    while len(left) >= len(q):
        shift, common = len(left) - len(q), gcd(left[-1], q[-1])
        times, factor = q[-1] // common, left[-1] // common
        left = [times * c for c in left]
        for i, c in enumerate(q, shift):
            left[i] -= factor * c
        while left and left[-1] == 0:
            left.pop()
    return primitive(tuple(left)) if left else ()


def _quotient(p: Polynomial, q: Polynomial) -> Polynomial:
    """The quotient of primitive p and q, where q divides p; by Gauss's lemma its coefficients are integers."""
    left, found = list(p), []
    for shift in range(len(p) - len(q), -1, -1):
        factor = left[shift + len(q) - 1] // q[-1]
        for i, c in enumerate(q, shift):
            left[i] -= factor * c
        found.append(factor)
    return tuple(reversed(found))


def square_free(p: Polynomial) -> Polynomial:
    """The primitive polynomial that has the roots of p, which is not constant, each of them once."""
    slope, whole = derivative(p), primitive(p)
    if certainly_coprime(p, slope):
        return whole
    return _quotient(whole, common_divisor(whole, slope))


# Real roots ---------------------------------------------------------------------------------------------------------


@cache
def _bernstein_weights(degree: int) -> tuple[tuple[int, ...], ...]:
    """Rows j of the matrix from powers to the Bernstein basis, C(j, i) / C(degree, i), times the lcm of these."""
    common = lcm(*(comb(degree, i) for i in range(degree + 1)))
    return tuple(tuple(comb(j, i) * (common // comb(degree, i)) for i in range(j + 1)) for j in range(degree + 1))


def bernstein(p: Polynomial, interval: RationalInterval) -> list[int]:
    """The coefficients of p, which is not zero, in the Bernstein basis of an interval, times a positive number.

    The first and the last have the signs of p at the ends. If all have one sign or are zero, p has it in between.
    """
    low, high, denominator = interval
    local, power, width = [0] * len(p), 1, high - low  # by Horner's rule in low + width t
    for c in reversed(p):
        for i in range(len(p) - 1, 0, -1):
            local[i] = local[i] * low + local[i - 1] * width
        local[0] = local[0] * low + c * power
        power *= denominator
    return [sum(map(int.__mul__, row, local)) for row in _bernstein_weights(len(p) - 1)]


def _halved(b: list[int]) -> tuple[list[int], list[int]]:
    """Bernstein coefficients on both halves of the interval, by de Casteljau's scheme, times 2 to the degree."""
    degree = len(b) - 1
    left, right, row = [b[0] << degree], [b[-1] << degree], b
    for shift in range(degree - 1, -1, -1):
        row = [row[i] + row[i + 1] for i in range(shift + 1)]
        left.append(row[0] << shift)
        right.append(row[-1] << shift)
    right.reverse()
    return left, right


def variations(coefficients: Iterable[int]) -> int:
    """Number of sign changes from one to the next, zeros left out."""
    count, last = 0, 0
    for c in coefficients:
        if c:
            now = 1 if c > 0 else -1
            count += now == -last
            last = now
    return count


def isolated_roots(p: Polynomial, interval: RationalInterval) -> list[RationalInterval]:
    """Points and open intervals, in order, each with one of the roots of a square-free p in the closed interval.

    By Descartes' rule, the open interval has at most as many roots as its Bernstein coefficients have variations, and
    one if there is one; else it is halved. At the ends of the intervals found, p is not zero.
    """
    low, high, denominator = interval
    whole = bernstein(p, interval)
    found = [(low, low, denominator)] if whole[0] == 0 else []
    pending = [(whole, interval)]
    while pending:
        b, (low, high, denominator) = pending.pop()
        count = variations(b)
        if low == high or (count == 1 and b[0] != 0 and b[-1] != 0):
            found.append((low, high, denominator))
        elif count:
            left, right = _halved(b)
            middle, denominator = low + high, 2 * denominator
            pending.append((right, (middle, 2 * high, denominator)))
            if right[0] == 0:
                pending.append(([], (middle, middle, denominator)))
            pending.append((left, (2 * low, middle, denominator)))
    if whole[-1] == 0:
        found.append((interval[1], interval[1], interval[2]))
    return found
