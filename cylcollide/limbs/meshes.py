"""Limbs as triangle meshes: every limb is a solid of revolution or a box.

A circle becomes a polygon whose corners lie as far outside it as the midpoints of its sides lie inside.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import Float64Array, Int32Array, Int64Array, Shape
from cylcollide._version import to_install
from cylcollide.kernels.limb_table import LimbTable
from cylcollide.limbs import tables
from cylcollide.query.boxes import BOX_CORNERS
from cylcollide.runtime.distinct import distinct_rows

if TYPE_CHECKING:
    import trimesh

Vertices: TypeAlias = NDArray[np.float32]

BOX_TRIANGLES = np.array(
    [
        [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
        [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ]
)  # fmt: skip


def tessellate(limbs: LimbTable, sides: int) -> tuple[Vertices, Int32Array, Int32Array]:
    """The mesh of all limbs, with polygons of `sides` sides for circles.

    Returns vertices (v, 3), triangles (t, 3) whose normals point outward, and the limb of each triangle (t,).
    """
    vertices, triangles, owner = _triangulated(limbs, sides)
    return vertices.astype(np.float32), triangles.astype(np.int32), owner.astype(np.int32)


def closed_mesh(limbs: LimbTable, sides: int) -> trimesh.Trimesh:
    """The mesh for trimesh: each limb is closed, and shares no vertex with another."""
    try:
        package = import_module("trimesh")
    except ImportError:
        raise ImportError(f"trimesh is not installed: {to_install('mesh')}") from None
    vertices, triangles, owner = _triangulated(limbs, sides)
    limb_of_vertex = np.zeros(len(vertices))
    limb_of_vertex[triangles] = owner[:, None]
    first, number = distinct_rows(np.column_stack([limb_of_vertex, vertices]))
    corners = number[triangles]
    whole = (corners != np.roll(corners, 1, axis=1)).all(axis=1)  # not degenerate, as at the apex of a cone
    mesh: trimesh.Trimesh = package.Trimesh(
        vertices[first], corners[whole], face_attributes={"limb": owner[whole]}, process=False
    )
    return mesh


def _triangulated(limbs: LimbTable, sides: int) -> tuple[Float64Array, Int64Array, Int64Array]:
    """`tessellate` in float64."""
    vertices, triangles, owner = [np.empty((0, 3))], [np.empty((0, 3), np.int64)], [np.empty(0, np.int64)]
    count = 0
    for kind in np.unique(limbs.kind).tolist():
        rows = np.flatnonzero(limbs.kind == kind)
        chosen = tables.chosen_rows(limbs, rows)
        if kind == Shape.BOX:
            points, corners = box_corners(chosen), BOX_TRIANGLES
        else:
            rings, radius = revolved(chosen, kind, sides, sides, 2 / (1 + np.cos(np.pi / sides)))
            points, corners = rings.reshape(len(rows), -1, 3), _bands((radius == 0).all(axis=0), sides)
        first = count + points.shape[1] * np.arange(len(rows))
        vertices.append(points.reshape(-1, 3))
        triangles.append((corners + first[:, None, None]).reshape(-1, 3))
        owner.append(np.repeat(rows, len(corners)))
        count += points.shape[0] * points.shape[1]
    return np.concatenate(vertices), np.concatenate(triangles), np.concatenate(owner)


def box_corners(limbs: LimbTable) -> Float64Array:
    """The corners of boxes, in the order of `BOX_CORNERS`; (n, 8, 3)."""
    axes, half_extents = np.split(tables.box_columns(limbs), [9], axis=1)
    local = BOX_CORNERS * half_extents[:, None]
    return np.asarray(limbs.p1[:, None] + np.einsum("nki,nij->nkj", local, axes.reshape(-1, 3, 3)))


def revolved(
    limbs: LimbTable, kind: int, fineness: int, around: int, swell: float = 1.0
) -> tuple[Float64Array, Float64Array]:
    """The profile of each limb of one kind, turned about its axis: points (n, rings, around, 3), radii (n, rings).

    `fineness`: the number of points that a full circle along the profile would have. `swell`: factor of the rings.
    """
    axis = limbs.p2 - limbs.p1
    height, radius = profile(kind, 0.5 * np.linalg.norm(axis, axis=1), limbs.radius, limbs.radius2, fineness)
    angle = 2 * np.pi * np.arange(around) / around
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1) * swell
    across, up = frames_along(axis)
    ring = np.einsum("si,nij->nsj", circle, across)
    points = (limbs.p1 + 0.5 * axis)[:, None, None] + height[:, :, None, None] * up[:, None, None]
    return points + radius[:, :, None, None] * ring[:, None], radius


def profile(
    kind: int, half: Float64Array, radius: Float64Array, radius2: Float64Array, sides: int
) -> tuple[Float64Array, Float64Array]:
    """Heights above the centre and radii of the rings, from the pole at p1 along the surface to p2; each (n, rings)."""
    none = np.zeros_like(half)
    quarter = np.linspace(0.0, np.pi / 2, max(sides // 4, 2) + 1)
    arc = np.concatenate([quarter - np.pi / 2, quarter[1:]])  # latitude
    around, along = np.cos(arc), np.sin(arc)
    around[[0, -1]] = 0.0
    columns: tuple[tuple[Float64Array, ...], tuple[Float64Array, ...]]
    match kind:
        case Shape.TUBE:
            columns = (-half, -half, half, half, -half), (radius2, radius, radius, radius2, radius2)
        case Shape.TAPERED:
            columns = (-half, -half, half, half), (none, radius, radius2, none)
        case Shape.CYLINDER:
            columns = (-half, -half, half, half), (none, radius, radius, none)
        case Shape.ELLIPSOID | Shape.SPHERE:
            return np.outer(radius if kind == Shape.SPHERE else half, along), np.outer(radius, around)
        case Shape.CAPSULE:
            k = len(quarter)
            along, around = np.insert(along, k, 0.0), np.insert(around, k, 1.0)  # the equator twice, for the wall
            lift = np.where(np.arange(len(along)) < k, -1.0, 1.0)
            return np.outer(radius, along) + np.outer(half, lift), np.outer(radius, around)
        case _:
            raise KeyError(kind)
    return np.stack(columns[0], axis=1), np.stack(columns[1], axis=1)


def _bands(pole: NDArray[np.bool_], sides: int) -> Int64Array:
    """Triangles (t, 3) between adjacent rings, half as many if one of them is a pole; `pole` (rings,)."""
    i, j = np.arange(sides), (np.arange(sides) + 1) % sides
    found = []
    for low in range(len(pole) - 1):
        a, b = low * sides, (low + 1) * sides
        if not pole[low]:
            found.append(np.stack([a + i, a + j, b + i], axis=1))
        if not pole[low + 1]:
            found.append(np.stack([a + j, b + j, b + i], axis=1))
    return np.concatenate(found)


def frames_along(axis: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Two unit vectors across each axis (n, 2, 3) and the unit axis (n, 3), right-handed; z for an axis of length 0."""
    axis = np.where((axis == 0).all(axis=1)[:, None], [0.0, 0.0, 1.0], axis)
    up = axis / np.linalg.norm(axis, axis=1)[:, None]
    least = np.eye(3)[np.abs(up).argmin(axis=1)]
    first = np.cross(least, up)
    first /= np.linalg.norm(first, axis=1)[:, None]
    return np.stack([first, np.cross(up, first)], axis=1), up
