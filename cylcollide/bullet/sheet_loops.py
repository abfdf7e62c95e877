"""Loops over segments and planes, in double-double: which are crossed, where, and whether before a limb.

A start between the faces of a plane is left to exact arithmetic.
"""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Column, Float64Array, Int64Array, Vectors
from cylcollide.bullet.sheet_heights import (
    Height,
    SheetTable,
    are_equal,
    are_one_plane,
    box_plane,
    crosses_after,
    entry_face,
    float_heights,
    height_of,
    is_certain,
    sheet_plane,
    starts_outside,
    stays_outside,
)
from cylcollide.constants import UNIT_ROUNDOFF
from cylcollide.kernels.double_double import two_product, two_sum
from cylcollide.kernels.limb_table import LimbRows
from cylcollide.kernels.ties import BOX
from cylcollide.runtime.compile import compiled_loop, inlined

POSITION_ERROR = 16.0 * UNIT_ROUNDOFF
"""A limb's fraction belongs to a point that errs by less than 4 ulp of the largest coordinate, 8 u, on each axis: by
14 u along the ray; the rest covers the rounding of the fraction. Hits closer than that are compared exactly."""

MISSED, CROSSED, UNDECIDED = 0, 1, 2
OPEN_ORDER = -2
"""In place of a shape: float64 does not decide which one is first."""


class SheetColumns(NamedTuple):
    """The crossings of n segments with one sheet."""

    fraction: Column[np.float64]  # inf for a miss
    error: Column[np.float64]  # bound on the error of the fraction
    position: Vectors
    normal: Vectors  # unit, to the side that the segment comes from
    undecided: Column[np.bool_]


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

    A start that is not strictly beyond the face is UNDECIDED. An end on the face counts.
    """
    first, last = height_of(sheets, k, face, starts, i), height_of(sheets, k, face, ends, i)
    if not (is_certain(first) and is_certain(last) and starts_outside(face, first[0]) and first[0] != 0.0):
        return UNDECIDED, 0.0, 0.0, 0.0, 0.0
    if last[0] != 0.0 and (first[0] > 0.0) == (last[0] > 0.0):
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
    starts: Float64Array,
    ends: Float64Array,
    i: int,
    time: float,
    after: float,
    up: Float64Array,
    height: float,
    position: Float64Array,
    normal: Float64Array,
) -> None:
    """Write the point of segment i at a time in two words, and the normal of a sheet to the side of its start.

    `up`: the sheet's unit normal; `height`: that of the start.
    """
    for axis in range(3):
        normal[i, axis] = up[axis] if height > 0.0 else -up[axis]
        a = starts[i, axis]
        way, way_lost = two_sum(ends[i, axis], -a)
        part, part_lost = two_product(time, way)
        point, point_lost = two_sum(a, part)
        position[i, axis] = point + (point_lost + (part_lost + after * way + time * way_lost))


@compiled_loop
def cross_sheet(sheets: SheetTable, k: int, starts: Vectors, ends: Vectors, found: SheetColumns) -> int:
    """Fill `found`, all misses so far, with the crossings of n segments and sheet k; returns how many are undecided."""
    count = 0
    for i in range(len(starts)):
        status, time, after, error, height = MISSED, 0.0, 0.0, 0.0, 0.0
        face = entry_face(sheets, k, starts, i)
        if not stays_outside(face, float_heights(sheets, k, face, starts, ends, i)):
            status, time, after, error, height = _crossing(sheets, k, face, starts, ends, i)
        found.undecided[i] = status == UNDECIDED
        count += status == UNDECIDED
        if status == CROSSED:
            found.fraction[i], found.error[i] = time + after, error
            _write_crossing(starts, ends, i, time, after, sheets.unit[k], height, found.position, found.normal)
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
    sheets: SheetTable, table: LimbRows, limb_rank: Int64Array, k: int, face: int, best: int, best_face: int
) -> int:
    """CROSSED if sheet k counts, MISSED if the first shape so far does, in case one plane has both; else UNDECIDED.

    The first shape is limb `best`, or sheet `best` - the number of limbs, of lower rank. The ray enters by these faces.
    """
    limbs, plane = len(limb_rank), sheet_plane(sheets, k, face)
    if best >= limbs:
        other = best - limbs
        equal = are_equal(sheets, k, other) or are_one_plane(plane, sheet_plane(sheets, other, best_face))
        return MISSED if equal else UNDECIDED
    if table.kernel_shape[best] != BOX or not are_one_plane(plane, box_plane(table.rows, best, float(best_face))):
        return UNDECIDED
    return MISSED if limb_rank[best] < sheets.rank[k] else CROSSED


@compiled_loop
def first_sheets(
    sheets: SheetTable,
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
    `fraction` (n,): the first shape, that limb or the number of limbs + a sheet, and its fraction. Faces in one plane
    are hit at once, and the lower rank counts. Undecided rows get the shape OPEN_ORDER; returns their number.
    """
    count, limbs = 0, len(limb_rank)
    for i in range(begin, end):
        best, best_time, best_error = limb[i], limb_fraction[i], -1.0
        for k in range(len(sheets.group)):
            if sheets.group[k] & layers == 0:
                continue
            face = entry_face(sheets, k, starts, i)
            heights = float_heights(sheets, k, face, starts, ends, i)
            if stays_outside(face, heights):
                continue
            if best_time < np.inf and starts_outside(face, heights[0]):
                if best_error < 0.0:
                    best_error = _limb_error(starts, ends, i, largest)
                if crosses_after(heights, best_time + best_error):
                    continue
            status, time, after, error, _ = _crossing(sheets, k, face, starts, ends, i)
            if status == CROSSED and best_time < np.inf and not abs(time + after - best_time) > error + best_error:
                best_face = entry_face(sheets, best - limbs, starts, i) if best >= limbs else int(limb_face[i])
                status = _tie(sheets, table, limb_rank, k, face, best, best_face)
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
            face = entry_face(sheets, k, starts, i)
            _, time, after, _, height = _crossing(sheets, k, face, starts, ends, i)
            _write_crossing(starts, ends, i, time, after, sheets.unit[k], height, position, normal)
