"""The place of an ellipse that is nearest to a point: its squared distance as an algebraic number, and its last digits.

With squared half axes α, β and the squared coordinates x, y of the point, G(t) = t (x / (α + t) + y / (β + t) - 1) for
t >= -min(α, β) is concave, and its maximum is the squared distance (the Lagrange dual). If G'(t) = 0, the coordinates
of the place are those of the point times α / (α + t) and β / (β + t). If G' has no zero, the maximum is at the end
t = -min(α, β): the point is on the longer axis between the centres of curvature, and two places are equally near.
"""

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import NamedTuple

from cylcollide.exact.algebraic import Algebraic, real_roots
from cylcollide.exact.polynomials import Polynomial, combined, product, trimmed

DIGITS = 400
SAME_DIGITS = 100
"""Digits in which the bounds of a shift agree."""
PRECISE = Context(prec=DIGITS, Emax=10**9, Emin=-(10**9))
"""The context of last digits: more digits than the magnitudes of accepted numbers span."""


class Ellipse(NamedTuple):
    """An ellipse and a point: squared lengths as integers of one scale."""

    a: int  # half axis along the first coordinate, squared
    b: int
    x: int  # first coordinate of the point, squared
    y: int

    @property
    def medial(self) -> Fraction | None:
        """The squared distance of a point with several nearest places; None for other points."""
        a, b, x, y = self if self.a >= self.b else (self.b, self.a, self.y, self.x)
        if y or a * x > (a - b) ** 2:
            return None
        return Fraction(b * (a - b - x), a - b) if a > b else Fraction(a)

    def squared_distance(self, unit: int) -> Algebraic:
        """The squared distance divided by `unit`."""
        if self.medial is not None:
            return Algebraic.rational(self.medial / unit)
        (root,) = real_roots(self._critical_values(), *self._bounds())
        in_unit = tuple(c * unit**k for k, c in enumerate(root.polynomial))
        return Algebraic(in_unit, (root.low, root.high, root.denominator * unit))

    def shift(self) -> Decimal:
        """The t of a point with one nearest place, plus the smaller of both squared half axes."""
        least = min(self.a, self.b)
        with localcontext(PRECISE):
            more_a, more_b, ax, by = (
                Decimal(n) for n in (self.a - least, self.b - least, self.a * self.x, self.b * self.y)
            )
            s = max(ax.sqrt() - more_a, by.sqrt() - more_b)
            while True:
                u, v = ax / (s + more_a) ** 2, by / (s + more_b) ** 2
                step = (u + v) * ((u + v).sqrt() - 1) / (u / (s + more_a) + v / (s + more_b))
                s += step
                if not step > s.scaleb(20 - DIGITS):
                    return s

    def _bounds(self) -> tuple[Fraction, Fraction]:
        """Bounds of the squared distance, with no other critical value between them.

        Critical values of a point near the medial axis differ by about the shift, those of other points by more.
        """
        least, s = min(self.a, self.b), self.shift()
        with localcontext(PRECISE):
            width = s.scaleb(-SAME_DIGITS)
            low, high = Fraction(s - width), Fraction(s + width)
        value, slope = self._dual(low - least)
        return value, value + slope * (high - low)

    def _dual(self, t: Fraction) -> tuple[Fraction, Fraction]:
        """G and its slope at t; the tangent of a concave function is above it."""
        u, v = 1 / (self.a + t), 1 / (self.b + t)
        return t * (self.x * u + self.y * v - 1), self.a * self.x * u * u + self.b * self.y * v * v - 1

    def _critical_values(self) -> Polynomial:
        """The polynomial whose roots are the critical values D of G: where t³ + p t² + q t + r has a double root.

        That is (α + t)(β + t)(D - G(t)), its coefficients linear in D; the result is its discriminant.
        """
        a, b, x, y = self
        p, q, r = (a + b - x - y, 1), (a * b - x * b - y * a, a + b), trimmed((0, a * b))
        pp, qq, pq = product(p, p), product(q, q), product(p, q)
        total = combined(product(pp, qq), product(qq, q), -4)
        total = combined(total, product(product(pp, p), r), -4)
        total = combined(total, product(pq, r), 18)
        return combined(total, product(r, r), -27)
