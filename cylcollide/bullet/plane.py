"""Bullet's plane, which its rays hit from both sides like a sheet without thickness: two heights, else exact tests.

The sheet is {x : normal·(x - point) = 0} for the float64 numbers of both. It is closed, as limbs are: a segment that
ends on it touches it, one that starts on it starts inside. With a thickness, it lies between two such faces.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import hypot
from typing import cast

import numpy as np

from cylcollide._types import Face, Float64Array, InsidePolicy, Int64Array, RayNumbers, Uint32Array
from cylcollide.bullet.sheet_heights import SheetTable
from cylcollide.bullet.sheet_loops import SheetColumns, cross_sheet
from cylcollide.constants import UNIT_ROUNDOFF
from cylcollide.exact.line import Triple, segment_numbers
from cylcollide.exact.numbers import QuadraticNumber, dot, scaled_integers, subtract
from cylcollide.exact.order import limb_hit
from cylcollide.exact.shapes import line_from
from cylcollide.exact.solid import Bound, Solid, slab


@dataclass(frozen=True, slots=True)
class Sheet(Solid):
    """A plane by a point and a normal of any length; its exact solid for `cylcollide.exact`."""

    point: Triple
    normal: Triple
    half_thickness: float = 0.0

    @property
    def faces(self) -> tuple[Triple, Triple]:
        """A point of the lower and one of the upper face, in float64."""
        (x, y, z), length = self.point, hypot(*self.normal)
        a, b, c = (self.half_thickness * (n / length) for n in self.normal)
        return (x - a, y - b, z - c), (x + a, y + b, z + c)

    def bounds(self, ray: RayNumbers) -> Sequence[Bound]:
        """A slab between the faces; without thickness it contains one point of a line, all of it, or none."""
        lower, upper = self.faces
        offset, step, low, (a, b, c) = line_from(ray, lower, *upper)
        x, y, z = scaled_integers(self.normal)
        normal = (x, y, z)
        top = dot(normal, subtract((a, b, c), low))
        return (slab("sheet", dot(normal, offset), dot(normal, step), top, Face.SIDE, Face.SIDE),)


def sheet_table(sheets: Sequence[Sheet], groups: Uint32Array, ranks: Int64Array) -> SheetTable:
    """The columns of sheets for loops; `groups`, `ranks` (m,): their filter groups, and their ranks among shapes."""
    normal = np.array([sheet.normal for sheet in sheets], dtype=np.float64).reshape(-1, 3)
    unit = np.array([row / np.linalg.norm(row) for row in normal], dtype=np.float64).reshape(-1, 3)
    faces = np.array([sheet.faces for sheet in sheets], dtype=np.float64).reshape(-1, 2, 3)
    return SheetTable(faces, normal, unit, groups, ranks)


def sheet_hits(sheet: Sheet, starts: Float64Array, ends: Float64Array, inside: InsidePolicy) -> SheetColumns:
    """The hits of segments (n, 3), (n, 3) with a sheet; `inside` as in every query.

    The normal is zero if the segment starts on the sheet.
    """
    n, table = len(starts), sheet_table([sheet], np.ones(1, np.uint32), np.zeros(1, np.int64))
    found = SheetColumns(np.full(n, np.inf), np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n, bool))
    if cross_sheet(table, 0, starts, ends, found):
        for i in np.flatnonzero(found.undecided).tolist():
            _exact_sheet_hit(sheet, starts[i], ends[i], inside, table.unit[0], found, i)
    return found


def _exact_sheet_hit(
    sheet: Sheet,
    start: Float64Array,
    end: Float64Array,
    inside: InsidePolicy,
    unit: Float64Array,
    found: SheetColumns,
    row: int,
) -> None:
    """Write one row of `found` by exact arithmetic."""
    ray = segment_numbers(start, end)
    hit, started = limb_hit(ray, sheet, inside)
    if hit is None:
        return
    time = Fraction(*cast(QuadraticNumber, hit[0]).approximate())
    found.fraction[row], found.error[row] = float(time), UNIT_ROUNDOFF
    points = zip(ray.origin, ray.second, strict=True)
    found.position[row] = [float(Fraction(a) + time * (Fraction(b) - Fraction(a))) for a, b in points]
    if started and inside == "hit":
        return
    descent = zip(sheet.normal, ray.origin, ray.second, strict=True)
    from_above = sum(Fraction(n) * (Fraction(a) - Fraction(b)) for n, a, b in descent) > 0
    # a segment from above enters through the upper side, and leaves through the lower one
    found.normal[row] = unit if from_above != started else -unit
