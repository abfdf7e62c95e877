"""Limbs as instances of a few unit meshes for a browser: each is placed, turned and scaled."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from cylcollide import quaternions
from cylcollide._types import BoolArray, Float64Array, Int64Array, Shape
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.meshes import tessellate
from cylcollide.runtime.distinct import distinct_rows

SIDES, FEWER_SIDES, FEW = 24, 6, 400
"""Sides of the polygon that stands for a circle; the second for more limbs than `FEW`, for software renderers."""
FINE, COARSE, MANY = 2.0**-16, 2.0**-5, 48
"""Steps to which ratios of two radii are rounded, with one mesh per step; the second for more ratios than `MANY`."""
THINNEST = 1e-6
"""Wall length of a capsule without length, relative to its radius: invisible, but with an axis."""
FLAT = 0.99
"""A triangle of a straight wall or cap whose normal is nearer to the axis than this is a cap's."""


@dataclass(frozen=True)
class Mesh:
    """A mesh about the origin, its axis along z."""

    vertices: NDArray[np.float32]
    triangles: NDArray[np.int32]


@dataclass(frozen=True)
class Instances:
    """Limbs, or parts of them, that are drawn with one mesh."""

    name: str
    """Name of the mesh."""
    mesh: Mesh
    rows: Int64Array
    """The limb of each instance, (m,)."""
    positions: Float64Array
    """Positions of the mesh's origin, (m, 3)."""
    orientations: Float64Array
    """Quaternions w, x, y, z, (m, 4): the browser's order."""
    scales: Float64Array
    """Scales along the axes of the mesh, (m, 3)."""


def instances_of(limbs: Limbs, chosen: BoolArray | None = None) -> list[Instances]:
    """The instances of limbs, or of those chosen by a mask (n,); their order depends only on shapes and radii."""
    rows = np.arange(len(limbs)) if chosen is None else np.flatnonzero(chosen)
    found: list[Instances] = []
    for kind in np.unique(limbs.kind[rows]).tolist():
        own, sides = rows[limbs.kind[rows] == kind], SIDES if len(limbs) <= FEW else FEWER_SIDES
        found += _boxes(limbs, own) if kind == Shape.BOX else _round(limbs, own, Shape(kind), sides)
    return found


def _boxes(limbs: Limbs, rows: Int64Array) -> list[Instances]:
    turn = quaternions.from_matrix(limbs.box_axes[rows].transpose(0, 2, 1), order="wxyz")
    return [Instances("box", unit_mesh("box", SIDES), rows, limbs.p1[rows], turn, limbs.half_extents[rows])]


def _round(limbs: Limbs, rows: Int64Array, kind: Shape, sides: int) -> list[Instances]:
    p1, p2, r1, r2 = limbs.p1[rows], limbs.p2[rows], limbs.radius[rows], limbs.radius2[rows]
    middle, half, turn = 0.5 * p1 + 0.5 * p2, 0.5 * np.linalg.norm(p2 - p1, axis=1), turns_to(p2 - p1)
    if kind in (Shape.SPHERE, Shape.ELLIPSOID):
        along = r1 if kind == Shape.SPHERE else half
        scales = np.column_stack([r1, r1, along])
        return [Instances(kind.name.lower(), unit_mesh("ball", sides), rows, middle, turn, scales)]
    if kind == Shape.CAPSULE and sides == SIDES:
        wall, balls = np.column_stack([r1, r1, np.maximum(half, THINNEST * r1)]), np.tile(r1, (3, 2)).T
        both, upright = np.concatenate([rows, rows]), np.tile([1.0, 0.0, 0.0, 0.0], (2 * len(rows), 1))
        return [
            Instances("wall", unit_mesh("wall", sides), rows, middle, turn, wall),
            Instances("ball-of-capsule", unit_mesh("ball", sides), both, np.concatenate([p1, p2]), upright, balls),
        ]
    largest, ratios = np.maximum(r1, r2) if kind == Shape.TAPERED else r1, np.zeros((len(rows), 2))
    if kind == Shape.CAPSULE:  # one mesh for wall and caps; the caps' share of the length is rounded
        half = half + r1
        ratios[:, 0] = np.maximum(np.round(r1 / half / COARSE), 1.0) * COARSE
    elif kind in (Shape.TAPERED, Shape.TUBE):
        ratios = np.column_stack([r1, r2]) / largest[:, None]
        step = FINE if len(distinct_rows(np.round(ratios / FINE))[0]) <= MANY else COARSE
        ratios = np.round(ratios / step) * step
    name, scales, found = kind.name.lower(), np.column_stack([largest, largest, half]), []
    for ratio in ratios[distinct_rows(ratios)[0]]:
        at = np.flatnonzero((ratios == ratio).all(axis=1))
        mesh = unit_mesh(name, sides, *ratio.tolist())
        of_ratio = name if not ratio.any() else f"{name}-{ratio[0]:.5f}-{ratio[1]:.5f}".replace(".", "_")
        found.append(Instances(of_ratio, mesh, rows[at], middle[at], turn[at], scales[at]))
    return found


def turns_to(axis: Float64Array) -> Float64Array:
    """Quaternions w, x, y, z (n, 4) that turn z the shortest way to axes (n, 3); identity for an axis of length 0."""
    length = np.linalg.norm(axis, axis=1)
    x, y, z = np.where(length[:, None] > 0.0, axis / np.maximum(length, 5e-324)[:, None], [0.0, 0.0, 1.0]).T
    turn = np.column_stack([1.0 + z, -y, x, np.zeros_like(z)])
    turn[1.0 + z < 1e-12] = [0.0, 1.0, 0.0, 0.0]
    return np.asarray(turn / np.linalg.norm(turn, axis=1, keepdims=True))


LOW, HIGH = [0.0, 0.0, -1.0], [0.0, 0.0, 1.0]
SOLIDS: Mapping[str, Callable[[float, float], Limbs]] = {
    "box": lambda *_: Limbs.boxes([0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0]),
    "ball": lambda *_: Limbs.spheres([0.0, 0.0, 0.0], 1.0),
    "capsule": lambda r1, _: Limbs.capsules([0.0, 0.0, r1 - 1.0], [0.0, 0.0, 1.0 - r1], r1),
    "tapered": lambda r1, r2: Limbs.tapered_cylinders(LOW, HIGH, r1, r2),
    "tube": lambda _, r2: Limbs.tubes(LOW, HIGH, 1.0, r2),
    "cylinder": lambda *_: Limbs.cylinders(LOW, HIGH, 1.0),
}
"""The solids of the meshes, by name."""


@cache
def unit_mesh(name: str, sides: int, r1: float = 1.0, r2: float = 1.0) -> Mesh:
    """The mesh of a solid of radius 1 from z = -1 to 1, by its name.

    `r1`, `r2`: radii of a tapered cylinder at both ends; `r2`: of a tube's bore; `r1`: height of a capsule's caps.
    """
    apart, corners, _ = tessellate(SOLIDS["cylinder" if name == "wall" else name](r1, r2)._table, sides)
    first, number = distinct_rows(apart)  # equal vertices, as at a pole, become one
    vertices, triangles = apart[first], number[corners].astype(np.int32)
    if name in ("ball", "capsule"):
        return Mesh((vertices / [r1, r1, 1.0]).astype(np.float32), triangles)
    mesh, normal = _creased(vertices, triangles)
    return Mesh(mesh.vertices, mesh.triangles[np.abs(normal[:, 2]) < FLAT]) if name == "wall" else mesh


def _creased(vertices: NDArray[np.float32], triangles: NDArray[np.int32]) -> tuple[Mesh, Float64Array]:
    """A mesh whose caps, walls and sides share no vertices, so that its edges look sharp; normals of its triangles."""
    corners = vertices[triangles].astype(np.float64)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    is_box = len(vertices) == 8
    part = np.round(normal @ [1.0, 2.0, 4.0]) if is_box else np.where(np.abs(normal[:, 2]) > FLAT, 2.0, 0.0)
    pairs = np.column_stack([triangles.reshape(-1), np.repeat(part, 3)])
    first, number = distinct_rows(pairs)
    parts = Mesh(vertices[triangles.reshape(-1)[first]], number.reshape(-1, 3).astype(np.int32))
    return parts, normal
