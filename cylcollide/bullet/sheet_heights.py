"""Heights of the ends of a segment above a face of a plane, in float64 and in double-double, with bounds.

A plane is given by a normal of any length and a point on each of its two faces: the same point for a sheet without
thickness. Rays enter it from both sides.
"""

from typing import NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import Blocks, Column, Float64Array, Vectors
from cylcollide.constants import UNIT_ROUNDOFF
from cylcollide.kernels.double_double import two_product, two_sum
from cylcollide.kernels.limb_table import BOX_AXES, CENTRE
from cylcollide.kernels.ties import HALF, NEG_X, POS_Z
from cylcollide.runtime.compile import inlined

DOT_ERROR = 32.0 * UNIT_ROUNDOFF**2
"""Error of normal·(x - point) in double-double, relative to S, the sum of |terms|. Differences, products and sums of
high words are error-free; the low words amount to 4 u S at most and round in 4 additions (16 u² S) after 3 u² S."""

FLOAT_ERROR = 16.0 * UNIT_ROUNDOFF
"""The error in float64, relative to S: 1 u S of differences, 1 u S of products, 2 u S of sums; and that of S itself."""

UNDERFLOW = 1e-300  # far above what products lose to underflow, far below every length

LOWER, UPPER = 0, 1
"""The faces of a sheet: its normal points from the lower to the upper one."""

Plane: TypeAlias = tuple[int, float, float]
"""Index of the coordinate axis normal to the plane, -1 if there is none, and the plane's coordinate along it, as the
exact sum of two words."""

NO_PLANE = -1, 0.0, 0.0

Height: TypeAlias = tuple[float, float, float]
"""normal·(x - point): the rounded value, its error, and a bound on the error of their sum."""

FloatHeights: TypeAlias = tuple[float, float, float, float]
"""Heights of both ends of a segment in float64: value and error bound of the first, then of the last."""


class SheetTable(NamedTuple):
    """The columns of m sheets."""

    faces: Blocks[np.float64]  # (m, 2, 3), a point of the lower and one of the upper face
    normal: Vectors  # (m, 3), of any length
    unit: Vectors  # (m, 3), normals of length 1
    group: Column[np.uint32]  # (m,), filter groups
    rank: Column[np.int64]  # (m,), as in `MirrorState`


@inlined
def sheet_plane(sheets: SheetTable, k: int, face: int) -> Plane:
    """The plane of a face of sheet k, in the form of `box_plane`."""
    axis, _ = coordinate_axis(sheets.normal[k, 0], sheets.normal[k, 1], sheets.normal[k, 2])
    return axis, sheets.faces[k, face, max(axis, 0)], 0.0


@inlined
def are_equal(sheets: SheetTable, one: int, other: int) -> bool:
    """Whether two sheets have the same numbers."""
    differing = 0
    for axis in range(3):
        for face in (LOWER, UPPER):
            differing += sheets.faces[one, face, axis] != sheets.faces[other, face, axis]
        differing += sheets.normal[one, axis] != sheets.normal[other, axis]
    return differing == 0


@inlined
def entry_face(sheets: SheetTable, k: int, starts: Float64Array, i: int) -> int:
    """The face through which segment i may enter sheet k: the upper one if it starts above the lower one."""
    height = 0.0
    for axis in range(3):
        if sheets.normal[k, axis] != 0.0:
            height += sheets.normal[k, axis] * (starts[i, axis] - sheets.faces[k, LOWER, axis])
    return UPPER if height > 0.0 else LOWER


@inlined
def float_heights(
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
def starts_outside(face: int, height: float) -> bool:
    """Whether a start with this height above `entry_face` is outside the sheet; without thickness every start is."""
    return (height > 0.0) == (face == UPPER)


@inlined
def stays_outside(face: int, heights: FloatHeights) -> bool:
    """Whether both ends are certainly strictly beyond the face."""
    first, first_error, last, last_error = heights
    same_side = abs(first) > first_error and abs(last) > last_error and (first > 0.0) == (last > 0.0)
    return same_side and starts_outside(face, first)


@inlined
def crosses_after(heights: FloatHeights, time: float) -> bool:
    """Whether a segment with ends on different sides, or with the first end on the face, crosses it after a time.

    The crossing is at |first| / (|first| + |last|); if the side of the first end is not certain, it is not after.
    """
    first, first_error, last, last_error = heights
    whole = (abs(first) + first_error) + (abs(last) + last_error)
    return abs(first) - first_error > time * whole * (1.0 + FLOAT_ERROR)


@inlined
def height_of(sheets: SheetTable, k: int, face: int, points: Float64Array, i: int) -> Height:
    """Height of point i above a face of sheet k, times the length of the normal; (0, 0, 0) if it is certainly 0."""
    x, lost_x = two_sum(points[i, 0], -sheets.faces[k, face, 0])
    y, lost_y = two_sum(points[i, 1], -sheets.faces[k, face, 1])
    z, lost_z = two_sum(points[i, 2], -sheets.faces[k, face, 2])
    nx, ny, nz = sheets.normal[k, 0], sheets.normal[k, 1], sheets.normal[k, 2]
    if (x == 0.0 or nx == 0.0) and (y == 0.0 or ny == 0.0) and (z == 0.0 or nz == 0.0):
        return 0.0, 0.0, 0.0
    tx, low_x = two_product(x, nx)
    ty, low_y = two_product(y, ny)
    tz, low_z = two_product(z, nz)
    low = (low_x + nx * lost_x) + (low_y + ny * lost_y) + (low_z + nz * lost_z)
    high, carry = two_sum(tx, ty)
    high, more = two_sum(high, tz)
    high, rest = two_sum(high, carry + more + low)
    return high, rest, DOT_ERROR * (abs(tx) + abs(ty) + abs(tz)) + UNDERFLOW


@inlined
def is_certain(height: Height) -> bool:
    """Whether the sign of a height is certain."""
    return height[2] == 0.0 or abs(height[0]) > 2.0 * height[2] + UNIT_ROUNDOFF * abs(height[0])


@inlined
def are_one_plane(one: Plane, other: Plane) -> bool:
    """Whether both are the same plane, at right angles to a coordinate axis."""
    return one[0] >= 0 and one[0] == other[0] and one[1] == other[1] and one[2] == other[2]


@inlined
def box_plane(rows: Float64Array, k: int, face: float) -> Plane:
    """The plane of a face of box k; its two words are an exact sum, so that equal planes have equal words."""
    if not NEG_X <= face <= POS_Z:
        return NO_PLANE
    side = int(face) - NEG_X
    own = side // 2
    axis, sign = coordinate_axis(
        rows[k, BOX_AXES + 3 * own], rows[k, BOX_AXES + 3 * own + 1], rows[k, BOX_AXES + 3 * own + 2]
    )
    if axis < 0:
        return NO_PLANE
    half = rows[k, HALF + own] if side % 2 == 1 else -rows[k, HALF + own]
    offset, rest = two_sum(rows[k, CENTRE + axis], sign * half)
    return axis, offset, rest


@inlined
def coordinate_axis(x: float, y: float, z: float) -> tuple[int, float]:
    """Index of the coordinate axis that a vector is parallel to, -1 for none, and its component along it."""
    if y == 0.0 and z == 0.0:
        return 0, x
    if x == 0.0 and z == 0.0:
        return 1, y
    if x == 0.0 and y == 0.0:
        return 2, z
    return -1, 0.0
