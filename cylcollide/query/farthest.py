"""Support points of limbs: the farthest along given directions. A limb lies behind the plane through its point."""

import numpy as np

from cylcollide._types import Float64Array, Int32Array, Int64Array, Shape
from cylcollide.kernels.limb_table import LimbTable

BOX, TAPERED, ELLIPSOID, CAPSULE = int(Shape.BOX), int(Shape.TAPERED), int(Shape.ELLIPSOID), int(Shape.CAPSULE)
BETWEEN_RIMS = int(Shape.CYLINDER), int(Shape.TUBE), TAPERED, CAPSULE, int(Shape.SPHERE)
"""Shapes whose farthest point is on the rim of an end, or on the ball around it."""


def rows_of(table: LimbTable, row: Int32Array | Int64Array) -> LimbTable:
    """Some rows of a table; its `boxes` are kept whole."""
    return LimbTable._make(column if column is table.boxes else column[row] for column in table)


def dot(a: Float64Array, b: Float64Array) -> Float64Array:
    """Scalar products of rows, (k, 1); with the same bits wherever they are computed."""
    return np.asarray(a[:, :1] * b[:, :1] + a[:, 1:2] * b[:, 1:2] + a[:, 2:] * b[:, 2:])


def cross(a: Float64Array, b: Float64Array) -> Float64Array:
    """Cross products of rows, (k, 3), with the bits of numpy's, which takes three times as long for a few."""
    (p, q, r), (x, y, z) = a.T, b.T
    return np.stack([q * z - r * y, r * x - p * z, p * y - q * x], axis=1)


def unit(v: Float64Array) -> Float64Array:
    """Unit vectors along rows, zero for a zero vector."""
    length = np.sqrt(dot(v, v))
    return np.asarray(v / np.where(length > 0.0, length, 1.0))


def parts(n: Float64Array, table: LimbTable) -> tuple[Float64Array, ...]:
    """Components of unit vectors along and across the axes of limbs; unit axes, half lengths and middles of limbs."""
    way = table.p2 - table.p1
    w, h = unit(way), 0.5 * np.sqrt(dot(way, way))
    along = dot(n, w)
    return along, n - along * w, w, h, table.p1 + 0.5 * way


def direction(across: Float64Array, w: Float64Array) -> Float64Array:
    """Unit vectors along `across`, perpendicular to w up to rounding; any perpendicular if it is only rounding."""
    e = unit(across)
    e = e - dot(e, w) * w
    return np.asarray(np.where(dot(e, e) > 0.25, unit(e), any_across(w)))


def farthest(n: Float64Array, table: LimbTable) -> Float64Array:
    """The point of limb i that is farthest along unit vector i, up to rounding; a tube counts as a cylinder.

    NaN for a shape that is not listed here. The table's `boxes` have one row per limb.
    """
    along, across, w, h, middle = parts(n, table)
    kind, r = table.kind[:, None], table.radius[:, None]
    e = np.where(kind == CAPSULE, n, direction(across, w))
    r2 = np.where(kind == TAPERED, table.radius2[:, None], r)
    size = np.sqrt(np.where(kind == CAPSULE, 1.0, dot(across, across)))
    first, last = size * r - along * h, size * r2 + along * h
    end = np.where(last >= first, middle + h * w + r2 * e, middle - h * w + r * e)
    stretch = np.sqrt(along * along * (h * h) + size * size * (r * r))
    pole = middle + (along * (h * h) * w + size * (r * r) * e) / np.where(stretch > 0.0, stretch, 1.0)
    corner = table.p1.copy()
    for k in range(3):
        axis, half = table.boxes[:, 3 * k : 3 * k + 3], table.boxes[:, 9 + k, None]
        corner += np.where(dot(n, axis) > 0.0, half, -half) * axis
    end[~np.isin(table.kind, BETWEEN_RIMS)] = np.nan
    return np.asarray(np.where(kind == BOX, corner, np.where(kind == ELLIPSOID, pole, end)))


def any_across(w: Float64Array) -> Float64Array:
    """A unit vector perpendicular to each row."""
    return unit(cross(w, np.eye(3)[np.abs(w).argmin(axis=1)]))
