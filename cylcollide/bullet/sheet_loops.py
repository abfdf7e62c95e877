"""Loops over segments and planes, in double-double: which are crossed, where, and whether before a limb.

A plane is given by a normal of any length and two faces, each by a point of it: the same one for a sheet without
thickness. It is entered from both sides. A start between the faces is left to exact arithmetic.
"""

from typing import NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import Column, Float64Array, Int64Array, Vectors
from cylcollide.bullet.sheet_table import LOWER, UPPER, SheetTable, are_equal, sheet_plane
from cylcollide.constants import UNIT_ROUNDOFF
from cylcollide.kernels.double_double import two_product, two_sum
from cylcollide.kernels.limb_table import LimbRows
from cylcollide.kernels.ties import BOX, are_one_plane, box_plane
from cylcollide.runtime.compile import compiled_loop, inlined

DOT_ERROR = 32.0 * UNIT_ROUNDOFF**2
"""Error of normal·(x - point) in double-double, relative to S, the sum of |terms|. Differences, products and sums of
high words are error-free; the low words amount to 4 u S at most and round in 4 additions (16 u² S) after 3 u² S."""

FLOAT_ERROR = 16.0 * UNIT_ROUNDOFF
"""The same in float64: 1 u S of the differences, 1 u S of the products, 2 u S of the sums; and those of S itself."""

UNDERFLOW = 1e-300  # far above what products lose to underflow, far below every length

POSITION_ERROR = 16.0 * UNIT_ROUNDOFF
"""A limb's fraction belongs to a point that errs by less than 4 ulp of the largest coordinate, 8 u, on each axis: by
14 u along the ray; the rest covers the rounding of the fraction. Hits closer than that are compared exactly."""


MISSED, CROSSED, UNDECIDED = 0, 1, 2
OPEN_ORDER = -2
"""In place of a shape: which one comes first is not decided in float64."""

Height: TypeAlias = tuple[float, float, float]
"""normal·(x - point): the rounded value, its error, and a bound on the error of their sum."""

FloatHeights: TypeAlias = tuple[float, float, float, float]
"""The same of the ends of a segment in float64: value and bound of its error for the first, and for the last."""


class SheetColumns(NamedTuple):
    """The crossings of n segments with one sheet."""

    fraction: Column[np.float64]  # inf for a miss
    error: Column[np.float64]  # of the fraction at most
    position: Vectors
    normal: Vectors  # unit, to the side that the segment comes from
    undecided: Column[np.bool_]


@inlined
def _entry_face(sheets: SheetTable, k: int, starts: Float64Array, i: int) -> int:
    """The face through which segment i may enter sheet k: the upper one if it starts above the lower one."""
    height = 0.0
    for axis in range(3):
        if sheets.normal[k, axis] != 0.0:
            height += sheets.normal[k, axis] * (starts[i, axis] - sheets.faces[k, LOWER, axis])
    return UPPER if height > 0.0 else LOWER


@inlined
def _float_heights(
    sheets: SheetTable, k: int, face: int, starts: Float64Array, ends: Float64Array, i: int
) -> FloatHeights:
    """Heights of the ends of segment i above a face of sheet k, times the length of the normal."""
    first, first_size, last, last_size = 0.0, 0.0, 0.0, 0.0
    for axis in range(3):
        n, p = sheets.normal[k, axis], sheets.faces[k, face, axis]
        if n != 0.0:
            a, b = n * (starts[i, axis] - p), n * (ends[i, axis] - p)
            first, first_size, last, last_size = first + a, first_size + abs(a), last + b, last_size + abs(b)
    return first, FLOAT_ERROR * first_size + UNDERFLOW, last, FLOAT_ERROR * last_size + UNDERFLOW


@inlined
def _starts_outside(face: int, height: float) -> bool:
    """Whether the height above `_entry_face` is that of a start beyond it. Without thickness every start is."""
    return (height > 0.0) == (face == UPPER)


@inlined
def _stays_outside(face: int, heights: FloatHeights) -> bool:
    """Whether both ends are certainly strictly beyond the face."""
    first, first_error, last, last_error = heights
    same_side = abs(first) > first_error and abs(last) > last_error and (first > 0.0) == (last > 0.0)
    return same_side and _starts_outside(face, first)


@inlined
def _crosses_after(heights: FloatHeights, time: float) -> bool:
    """Whether a segment whose ends are on different sides, or whose first end is on neither, crosses after a time.

    The crossing is at |first| / (|first| + |last|); a first end whose side is not certain is too close to be after.
    """
    first, first_error, last, last_error = heights
    whole = (abs(first) + first_error) + (abs(last) + last_error)
    return abs(first) - first_error > time * whole * (1.0 + FLOAT_ERROR)


@inlined
def _height(sheets: SheetTable, k: int, face: int, points: Float64Array, i: int) -> Height:
    """Height of point i above a face of sheet k, times the length of the normal."""
    x, lost_x = two_sum(points[i, 0], -sheets.faces[k, face, 0])
    y, lost_y = two_sum(points[i, 1], -sheets.faces[k, face, 1])
    z, lost_z = two_sum(points[i, 2], -sheets.faces[k, face, 2])
    nx, ny, nz = sheets.normal[k, 0], sheets.normal[k, 1], sheets.normal[k, 2]
    tx, low_x = two_product(x, nx)
    ty, low_y = two_product(y, ny)
    tz, low_z = two_product(z, nz)
    low = (low_x + nx * lost_x) + (low_y + ny * lost_y) + (low_z + nz * lost_z)
    high, carry = two_sum(tx, ty)
    high, more = two_sum(high, tz)
    high, rest = two_sum(high, carry + more + low)
    return high, rest, DOT_ERROR * (abs(tx) + abs(ty) + abs(tz)) + UNDERFLOW


@inlined
def _is_certain(height: Height) -> bool:
    """Whether the sign of a height is certain."""
    return abs(height[0]) > 2.0 * height[2] + UNIT_ROUNDOFF * abs(height[0])


@inlined
def _crossing_time(first: Height, last: Height) -> tuple[float, float, float]:
    """Fraction at height 0, as a sum of two words, and a bound on its error besides its rounding."""
    drop, lost = two_sum(first[0], -last[0])
    lost += first[1] - last[1]
    time = first[0] / drop
    back, rest = two_product(time, drop)
    after = ((first[0] - back) - rest + first[1] - time * lost) / drop
    return time, after, (first[2] + last[2]) / abs(drop)


@inlined
def _crossing(
    sheets: SheetTable, k: int, face: int, starts: Float64Array, ends: Float64Array, i: int
) -> tuple[int, float, float, float, float]:
    """Whether segment i enters sheet k by a face; time in two words, bound on its error, and the height of the start.

    It is undecided where the start is not beyond the face.
    """
    first, last = _height(sheets, k, face, starts, i), _height(sheets, k, face, ends, i)
    if not (_is_certain(first) and _is_certain(last) and _starts_outside(face, first[0])):
        return UNDECIDED, 0.0, 0.0, 0.0, 0.0
    if (first[0] > 0.0) == (last[0] > 0.0):
        return MISSED, 0.0, 0.0, 0.0, 0.0
    time, after, error = _crossing_time(first, last)
    largest, longest = 0.0, 0.0
    for axis in range(3):
        a, b = starts[i, axis], ends[i, axis]
        largest, longest = max(largest, abs(a), abs(b)), max(longest, abs(b - a))
    if not error * longest <= UNIT_ROUNDOFF * largest:
        return UNDECIDED, 0.0, 0.0, 0.0, 0.0
    return CROSSED, time, after, error + 2.0 * UNIT_ROUNDOFF, first[0]


@inlined
def _write_crossing(
    starts: Float64Array, ends: Float64Array, i: int, time: float, after: float, position: Float64Array
) -> None:
    """Write the point of segment i at a time in two words."""
    for axis in range(3):
        a = starts[i, axis]
        way, way_lost = two_sum(ends[i, axis], -a)
        part, part_lost = two_product(time, way)
        point, point_lost = two_sum(a, part)
        position[i, axis] = point + (point_lost + (part_lost + after * way + time * way_lost))


@compiled_loop
def cross_sheet(sheets: SheetTable, k: int, starts: Vectors, ends: Vectors, found: SheetColumns) -> int:
    """Fill `found`, all misses so far, with the crossings of n segments and sheet k; how many are undecided."""
    count = 0
    for i in range(len(starts)):
        status, time, after, error, height = MISSED, 0.0, 0.0, 0.0, 0.0
        face = _entry_face(sheets, k, starts, i)
        if not _stays_outside(face, _float_heights(sheets, k, face, starts, ends, i)):
            status, time, after, error, height = _crossing(sheets, k, face, starts, ends, i)
        found.undecided[i] = status == UNDECIDED
        count += status == UNDECIDED
        if status == CROSSED:
            found.fraction[i], found.error[i] = time + after, error
            _write_crossing(starts, ends, i, time, after, found.position)
            for axis in range(3):
                found.normal[i, axis] = sheets.unit[k, axis] if height > 0.0 else -sheets.unit[k, axis]
    return count


@inlined
def _limb_error(starts: Float64Array, ends: Float64Array, i: int, largest: float) -> float:
    """Bound on the error of a limb's fraction; `largest`: no |coordinate| of a limb is larger."""
    square = 0.0
    for axis in range(3):
        a, b = starts[i, axis], ends[i, axis]
        largest = max(largest, abs(a), abs(b))
        square += (b - a) * (b - a)
    if not square > 0.0:
        return np.inf
    return float(POSITION_ERROR * largest / np.sqrt(square) + 2.0 * UNIT_ROUNDOFF)


@inlined
def _tie(
    sheets: SheetTable,
    sheet_rank: Int64Array,
    table: LimbRows,
    limb_rank: Int64Array,
    k: int,
    face: int,
    best: int,
    best_face: int,
) -> int:
    """Whether sheet k counts, CROSSED, or the first shape so far, MISSED, if one plane has both; else UNDECIDED.

    That is limb `best`, or sheet `best` - the number of limbs, which has a lower rank. Both are entered by these faces.
    """
    limbs, plane = len(limb_rank), sheet_plane(sheets, k, face)
    if best >= limbs:
        other = best - limbs
        equal = are_equal(sheets, k, other) or are_one_plane(plane, sheet_plane(sheets, other, best_face))
        return MISSED if equal else UNDECIDED
    if table.solid[best] != BOX or not are_one_plane(plane, box_plane(table.rows, best, float(best_face))):
        return UNDECIDED
    return MISSED if limb_rank[best] < sheet_rank[k] else CROSSED


@compiled_loop
def first_sheets(
    sheets: SheetTable,
    sheet_rank: Column[np.int64],
    table: LimbRows,
    limb_rank: Column[np.int64],
    starts: Vectors,
    ends: Vectors,
    layers: int,
    largest: float,
    limb: Column[np.int32],
    limb_fraction: Column[np.float64],
    limb_face: Column[np.int8],
    shape: Column[np.int32],
    fraction: Column[np.float64],
    begin: int,
    end: int,
) -> int:
    """Write the first of limbs and sheets in rows `begin` to `end`.

    `limb`, `limb_fraction`, `limb_face` (n,): the first limb, its fraction, inf for none, and its face. `shape`,
    `fraction` (n,): the same of the first shape: that limb, or the number of limbs + a sheet. What lies in one plane is
    met at once, and the lower rank counts. Rows whose order is still not decided get the shape OPEN_ORDER; how many
    they are.
    """
    count, limbs = 0, len(limb_rank)
    for i in range(begin, end):
        best, best_time, best_error = limb[i], limb_fraction[i], -1.0
        for k in range(len(sheets.group)):
            if sheets.group[k] & layers == 0:
                continue
            face = _entry_face(sheets, k, starts, i)
            heights = _float_heights(sheets, k, face, starts, ends, i)
            if _stays_outside(face, heights):
                continue
            if best_time < np.inf and _starts_outside(face, heights[0]):
                if best_error < 0.0:
                    best_error = _limb_error(starts, ends, i, largest)
                if _crosses_after(heights, best_time + best_error):
                    continue
            status, time, after, error, _ = _crossing(sheets, k, face, starts, ends, i)
            if status == CROSSED and best_time < np.inf and not abs(time + after - best_time) > error + best_error:
                best_face = _entry_face(sheets, best - limbs, starts, i) if best >= limbs else int(limb_face[i])
                status = _tie(sheets, sheet_rank, table, limb_rank, k, face, best, best_face)
                best_time = np.inf if status == CROSSED else best_time
            if status == MISSED:
                continue
            if status == UNDECIDED:
                best = OPEN_ORDER
                count += 1
                break
            if time + after < best_time:
                best, best_time, best_error = limbs + k, time + after, error
        shape[i], fraction[i] = best, best_time
    return count


@compiled_loop
def fill_sheets(
    sheets: SheetTable,
    starts: Vectors,
    ends: Vectors,
    limbs: int,
    shape: Column[np.int32],
    position: Vectors,
    normal: Vectors,
    begin: int,
    end: int,
) -> None:
    """Write points and normals (n, 3) of rows `begin` to `end` whose `shape` is a sheet, as `first_sheets` wrote it."""
    for i in range(begin, end):
        k = shape[i] - limbs
        if k >= 0:
            face = _entry_face(sheets, k, starts, i)
            _, time, after, _, height = _crossing(sheets, k, face, starts, ends, i)
            _write_crossing(starts, ends, i, time, after, position)
            for axis in range(3):
                normal[i, axis] = sheets.unit[k, axis] if height > 0.0 else -sheets.unit[k, axis]
