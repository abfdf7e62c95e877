"""Skins with known limbs: meshes of revolution and boxes, and their bones."""

from itertools import pairwise

import numpy as np
from support.cases.frames import matrices

IDENTITY = [0.0, 0.0, 0.0, 1.0]


def revolved(outline, origin, axis, sides=48, rings=16):
    """A closed mesh of revolution; outline (c, 2) is along and away from the axis, each edge is split into rings."""
    outline = np.asarray(outline, float)
    steps = [np.linspace(a, b, rings, endpoint=False) for a, b in pairwise(outline)]
    profile = np.vstack([*steps, outline[-1:]])
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    x = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
    x /= np.linalg.norm(x)
    y = np.cross(axis, x)
    angles = 2 * np.pi * np.arange(sides) / sides
    around = np.outer(np.cos(angles), x) + np.outer(np.sin(angles), y)
    points = np.asarray(origin) + profile[:, None, :1] * axis + profile[:, None, 1:] * around
    row, k = np.meshgrid(np.arange(len(profile) - 1) * sides, np.arange(sides), indexing="ij")
    a, b = row + k, row + (k + 1) % sides
    faces = np.stack([a, a + sides, b, b, a + sides, b + sides], -1).reshape(-1, 3)[:, ::-1]
    return points.reshape(-1, 3), faces


def cylinder(p1, p2, radius1, radius2=None, **cuts):
    length = np.linalg.norm(np.subtract(p2, p1))
    radius2 = radius1 if radius2 is None else radius2
    return revolved([(0, 0), (0, radius1), (length, radius2), (length, 0)], p1, np.subtract(p2, p1), **cuts)


def capsule(p1, p2, radius):
    length = np.linalg.norm(np.subtract(p2, p1))
    turn = np.linspace(0, np.pi / 2, 24)
    first = np.stack([-radius * np.cos(turn), radius * np.sin(turn)], 1)
    outline = [*first, *(first[::-1] * [-1, 1] + [length, 0])]
    return revolved(outline, p1, np.subtract(p2, p1) if length else [0, 0, 1], rings=2)


def ellipsoid(p1, p2, radius):
    length = np.linalg.norm(np.subtract(p2, p1))
    turn = np.linspace(0, np.pi, 49)
    outline = np.stack([length / 2 * (1 - np.cos(turn)), radius * np.sin(turn)], 1)
    return revolved(outline, p1, np.subtract(p2, p1), rings=2)


def box(center, axes, half, cuts=12):
    """A box mesh; the axes are rows."""
    grid = np.linspace(-1, 1, cuts + 1)
    u, v = (g.ravel() for g in np.meshgrid(grid, grid, indexing="ij"))
    i, j = (g.ravel() for g in np.meshgrid(np.arange(cuts), np.arange(cuts), indexing="ij"))
    a = i * (cuts + 1) + j
    quad = np.concatenate([np.stack([a, a + cuts + 1, a + 1], 1), np.stack([a + 1, a + cuts + 1, a + cuts + 2], 1)])
    points, faces = [], []
    for k in range(3):
        for side in (-1.0, 1.0):
            face = np.empty((len(u), 3))
            face[:, k], face[:, (k + 1) % 3], face[:, (k + 2) % 3] = side, u, v
            faces.append((quad if side > 0 else quad[:, ::-1]) + len(points) * len(u))
            points.append(face)
    return np.asarray(center) + (np.vstack(points) * half) @ np.asarray(axes), np.vstack(faces)


def joined(*meshes):
    """One mesh of several, and the index of each vertex's mesh."""
    starts = np.cumsum([0, *(len(points) for points, _ in meshes)])
    faces = np.vstack([faces + start for (_, faces), start in zip(meshes, starts, strict=False)])
    whose = np.repeat(np.arange(len(meshes)), [len(points) for points, _ in meshes])
    return np.vstack([points for points, _ in meshes]), faces, whose


def arguments(mesh, weights=None, names=("bone",), parents=(-1,), positions=((0.0, 0.0, 0.0),), orientations=None):
    """Arguments of `Rig.from_skin`; without weights, one bone carries the whole skin."""
    points, faces = mesh[:2]
    return {
        "vertices": points,
        "faces": faces,
        "weights": np.ones((len(points), 1)) if weights is None else weights,
        "bone_names": list(names),
        "parents": parents,
        "rest_positions": np.asarray(positions, float),
        "rest_orientations": np.array([IDENTITY] * len(names)) if orientations is None else orientations,
    }


def rotation(rng):
    """A random rotation matrix and its quaternion x, y, z, w."""
    q = rng.normal(size=4)
    return matrices(q), q / np.linalg.norm(q)


def rest_matrices(given):
    """World transforms of the bones at rest, (4, 4) each."""
    rest = []
    for bone, parent in enumerate(given["parents"]):
        own = matrix(given["rest_positions"][bone], given["rest_orientations"][bone])
        rest.append(own if parent < 0 else rest[parent] @ own)
    return rest


def matrix(position, q):
    """The transforms of bones, (..., 4, 4)."""
    m = np.zeros((*np.shape(q)[:-1], 4, 4))
    m[..., :3, :3], m[..., :3, 3], m[..., 3, 3] = matrices(q), position, 1.0
    return m
