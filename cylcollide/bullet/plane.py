"""Bullet's plane, which its rays hit from both sides like a sheet without thickness. One dot product, else exact.

The sheet is {x : normal·(x - point) = 0} for the float64 numbers of both. It is closed, as limbs are: a segment that
ends on it touches it, one that starts on it starts inside.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from cylcollide._types import BoolArray, Face, Float64Array, InsidePolicy
from cylcollide.bullet.error_free_transforms import two_product, two_sum
from cylcollide.constants import UNIT_ROUNDOFF
from cylcollide.exact.frame import line_from
from cylcollide.exact.line import RayNumbers, Triple
from cylcollide.exact.numbers import dot, scaled_integers
from cylcollide.exact.order import limb_hit
from cylcollide.exact.solid import Bound, Slab, Solid

DOT_ERROR = 32.0 * UNIT_ROUNDOFF**2
"""Error of normal·(x - point) in pairs, relative to S, the sum of |terms|. Differences, products and sums of high words
are error-free; the low words amount to 4 u S at most and round in 4 additions (16 u² S) after 3 u² S of their own."""

UNDERFLOW = 1e-300  # far above what products lose to underflow, far below every length


@dataclass(frozen=True, slots=True)
class Sheet(Solid):
    """A plane by a point and a normal of any length; its exact solid for `cylcollide.exact`."""

    point: Triple
    normal: Triple

    def bounds(self, ray: RayNumbers) -> Sequence[Bound]:
        """A slab without thickness, which contains one point of a line, all of it, or none."""
        offset, step, _, _ = line_from(ray, self.point)
        x, y, z = scaled_integers(self.normal)
        normal = (x, y, z)
        return (Slab("sheet", dot(normal, offset), dot(normal, step), 0, Face.SIDE, Face.SIDE),)

    def height(self, point: Triple) -> Fraction:
        """Signed distance of a point from the sheet, times the length of the normal."""
        terms = zip(self.normal, point, self.point, strict=True)
        return sum((Fraction(n) * (Fraction(x) - Fraction(p)) for n, x, p in terms), Fraction(0))


class SheetHits(NamedTuple):
    """The hits of n segments with one sheet."""

    fraction: Float64Array  # (n,), inf for a miss
    error: Float64Array  # (n,), of the fraction at most
    position: Float64Array  # (n, 3)
    normal: Float64Array  # (n, 3), unit, to the side the segment comes from; zero if it starts on the sheet


class Heights(NamedTuple):
    """Heights normal·(x - point) of n points, as double-double; (n,) each."""

    high: Float64Array  # the rounded value
    low: Float64Array  # its error
    error: Float64Array  # of high + low, at most

    def sign_is_certain(self) -> BoolArray:
        """Whether the sign is certain."""
        return np.asarray(np.abs(self.high) > 2.0 * self.error + UNIT_ROUNDOFF * np.abs(self.high))


def sheet_hits(sheet: Sheet, starts: Float64Array, ends: Float64Array, inside: InsidePolicy) -> SheetHits:
    """The hits of segments (n, 3), (n, 3) with a sheet; `inside` as in every query."""
    n = len(starts)
    found = SheetHits(np.full(n, np.inf), np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3)))
    unit = np.array(sheet.normal) / np.linalg.norm(sheet.normal)
    with np.errstate(all="ignore"):  # numbers too large or too small for pairs leave the sign undecided
        first, last = _heights(sheet, starts), _heights(sheet, ends)
        certain = first.sign_is_certain() & last.sign_is_certain()
        rows = certain & ((first.high > 0) != (last.high > 0))
        time, position, error = _crossings(first, last, starts, ends)
        largest = np.maximum(np.abs(starts), np.abs(ends)).max(axis=1, initial=0.0)
        sharp = error * np.abs(ends - starts).max(axis=1, initial=0.0) <= UNIT_ROUNDOFF * largest
    rows &= sharp
    found.fraction[rows], found.position[rows] = time[rows], position[rows]
    found.error[rows] = error[rows] + 2.0 * UNIT_ROUNDOFF
    found.normal[rows] = np.sign(first.high)[rows, None] * unit
    flat = certain & ~sharp & ((first.high > 0) != (last.high > 0))
    for i in np.flatnonzero(~certain | flat).tolist():
        _exact_sheet_hit(sheet, starts[i], ends[i], inside, unit, found, i)
    return found


def _heights(sheet: Sheet, points: Float64Array) -> Heights:
    """Heights of points (n, 3) with twice the digits of float64."""
    normal = np.array(sheet.normal)
    offset, lost = two_sum(points, -np.array(sheet.point))
    terms, low = two_product(offset, normal)
    low += normal * lost
    high, carry = two_sum(terms[:, 0], terms[:, 1])
    high, more = two_sum(high, terms[:, 2])
    high, rest = two_sum(high, carry + more + low.sum(axis=1))
    return Heights(high, rest, DOT_ERROR * np.abs(terms).sum(axis=1) + UNDERFLOW)


def _crossings(
    first: Heights, last: Heights, starts: Float64Array, ends: Float64Array
) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Fractions (n,) and points (n, 3) of height 0, and bounds (n,) on the fractions' errors besides their rounding."""
    drop, lost = two_sum(first.high, -last.high)
    lost += first.low - last.low
    time = first.high / drop
    back, rest = two_product(time, drop)
    after = ((first.high - back) - rest + first.low - time * lost) / drop  # the quotient's second word
    way, way_lost = two_sum(ends, -starts)
    part, part_lost = two_product(time[:, None], way)
    point, point_lost = two_sum(starts, part)
    point = point + (point_lost + (part_lost + after[:, None] * way + time[:, None] * way_lost))
    return time + after, point, (first.error + last.error) / np.abs(drop)


def _exact_sheet_hit(
    sheet: Sheet,
    start: Float64Array,
    end: Float64Array,
    inside: InsidePolicy,
    unit: Float64Array,
    found: SheetHits,
    row: int,
) -> None:
    """Write one row of `found` by exact arithmetic."""
    ray = segment_numbers(start, end)
    hit, started = limb_hit(ray, sheet, inside)
    if hit is None:
        return
    time = Fraction(*hit[0].approximate())
    found.fraction[row], found.error[row] = float(time), UNIT_ROUNDOFF
    points = zip(ray.origin, ray.second, strict=True)
    found.position[row] = [float(Fraction(a) + time * (Fraction(b) - Fraction(a))) for a, b in points]
    if started and inside == "hit":
        return
    from_above = sheet.height(ray.origin) - sheet.height(ray.second) > 0
    # what comes from above enters through the upper side, and leaves through the lower one
    found.normal[row] = unit if from_above != started else -unit


def segment_numbers(start: Float64Array, end: Float64Array) -> RayNumbers:
    """The numbers of one segment."""
    (x0, y0, z0), (x1, y1, z1) = start.tolist(), end.tolist()
    return RayNumbers((x0, y0, z0), (x1, y1, z1), True, 1.0)
