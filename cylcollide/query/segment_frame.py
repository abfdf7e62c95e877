"""A ray and one limb in a frame at the limb, in which float64 computes their clearance or their distance."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fractions import Fraction
from math import frexp, hypot, inf

from cylcollide._types import RayNumbers
from cylcollide.kernels.about_limb import FARTHEST_TOUCH, FARTHEST_TOUCH_OF_ALL, steepness
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.limb_table import BOX_AXES, CENTRE, EXTENT, HALF_LENGTH, P1, P2, Limb, LimbTable, plain_limb

LARGEST = Fraction(sys.float_info.max)


@dataclass(frozen=True, slots=True)
class SegmentAboutLimb:
    """The points place + s direction, -before <= s <= behind: the part of a ray that may be nearest to a limb.

    The limb's centre is the origin, and the unit is about its size and distance. So no product overflows, and a distant
    limb or start loses no digits.
    """

    place: Vector
    """The point closest to the limb's centre."""
    direction: Vector
    """Of length 1; zero for a segment without length."""
    before: float
    behind: float
    limb: Limb
    unit: float
    """The factor of all lengths, a power of two."""
    centre: tuple[Fraction, Fraction, Fraction]
    closest: float
    """The fraction of the ray at `place`."""
    length: float
    """The length of the ray's direction, or of the segment; in the unit of the input."""
    limit: float
    """The largest fraction, 1 for a segment."""

    def point(self, s: float) -> Vector:
        """The point at s."""
        (x, y, z), (u, v, w) = self.place, self.direction
        return x + s * u, y + s * v, z + s * w

    def fraction(self, s: float) -> float:
        """The fraction of the ray at s."""
        nearest = self.closest + s / self.unit / self.length if self.length else 0.0
        return min(max(nearest, 0.0), self.limit)

    def in_world(self, point: Vector) -> Vector:
        """A point in the coordinates of the input, each rounded once."""
        x, y, z = (float(c + Fraction(v) / Fraction(self.unit)) for c, v in zip(self.centre, point, strict=True))
        return x, y, z


def segment_about_limb(ray: RayNumbers, table: LimbTable, index: int) -> SegmentAboutLimb:
    """A segment, or a ray up to its limit, and one limb of a table."""
    p1, p2 = ([Fraction(x) for x in ends[index].tolist()] for ends in (table.p1, table.p2))
    cx, cy, cz = centre = tuple((a + b) / 2 for a, b in zip(p1, p2, strict=True))
    origin = [Fraction(x) - c for x, c in zip(ray.origin, centre, strict=True)]
    step = [Fraction(x) for x in ray.second]
    if ray.is_segment:
        step = [d - c - o for d, c, o in zip(step, centre, origin, strict=True)]
    square = sum(d * d for d in step)
    along = sum(o * d for o, d in zip(origin, step, strict=True))
    ahead = min(max(-along / square, Fraction(0)), LARGEST) if square else Fraction(0)
    closest = Fraction(min(float(ahead), ray.limit))
    place = [float(o + closest * d) for o, d in zip(origin, step, strict=True)]
    row = table.rows[index].copy()
    row[CENTRE : CENTRE + 3] = 0.0
    if table.box.item(index) >= 0:
        lengths = slice(BOX_AXES + 9, BOX_AXES + 12)
    else:
        lengths = slice(HALF_LENGTH, EXTENT)
        row[P1 : P1 + 3], row[P2 : P2 + 3] = ([float(x - c) for x, c in zip(p, centre, strict=True)] for p in (p1, p2))
    size = max(map(abs, (*place, *row[lengths].tolist())))
    unit = 0.5 ** frexp(size)[1]
    row[lengths] *= unit
    limb = plain_limb(table._replace(rows=row[None], kernel_shape=table.kernel_shape[index : index + 1]), 0)
    length = hypot(*map(float, step))
    u, v, w = (float(d) / length if length else 0.0 for d in step)
    farthest = min(FARTHEST_TOUCH * (1.0 + steepness(limb)), FARTHEST_TOUCH_OF_ALL)
    left = inf if ray.limit == inf else float(Fraction(ray.limit) - closest)
    before, behind = (min(share * length * unit, farthest) if length else 0.0 for share in (float(closest), left))
    x, y, z = (coordinate * unit for coordinate in place)
    return SegmentAboutLimb(
        (x, y, z), (u, v, w), before, behind, limb, unit, (cx, cy, cz), float(closest), length, ray.limit
    )
