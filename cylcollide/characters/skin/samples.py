"""The surface of a skin as small pieces of area, each with its share of every bone."""

from typing import NamedTuple

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int64Array
from cylcollide.characters.skin.skin import Skin

PIECES = 20_000
"""A skin of equal triangles is cut into about so many; a triangle larger than these is cut, none are joined."""

MOST_CUTS = 64
"""Of an edge of one triangle."""


class Samples(NamedTuple):
    """Pieces of the skin, s of them."""

    points: Float64Array  # centroids, (s, 3)
    normals: Float64Array  # unit, outwards, (s, 3)
    areas: Float64Array  # (s,)
    weights: Float64Array  # of each bone, (s, b), rows add up to 1


def sample(skin: Skin) -> Samples:
    """Cut the triangles of a skin at rest into pieces of about equal edges, triangle by triangle.

    Raises
    ------
    ValueError
        If the skin has no area.
    """
    corners = skin.vertices[skin.faces]  # (f, 3, 3)
    crosses = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(crosses, axis=1) / 2.0
    if not areas.sum() > 0.0:
        raise ValueError("faces: expected triangles with an area, got none; check the vertices")
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    longest = np.sqrt(areas.sum() / PIECES) * 2.0  # the edge of an equilateral triangle of that area is 1.52 times
    cuts = np.clip(np.ceil(edges / longest), 1, MOST_CUTS).astype(np.int64)
    parts = [_cut(np.flatnonzero((cuts == k) & (areas > 0.0)), int(k)) for k in np.unique(cuts)]
    triangle, inside = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(triangle, kind="stable")
    triangle, inside = triangle[order], inside[order]
    faces = skin.faces[triangle]
    weights = sum(inside[:, k, None] * skin.weights[faces[:, k]] for k in range(3))
    points = np.einsum("sk,ski->si", inside, corners[triangle])
    normals = crosses[triangle] / (2.0 * areas[triangle, None])
    return Samples(points, normals, areas[triangle] / cuts[triangle] ** 2, np.asarray(weights))


def _cut(triangles: Int64Array, k: int) -> tuple[Int64Array, Float64Array]:
    """The k² equal pieces of each triangle: its row, and the piece's centroid in barycentric coordinates."""
    i, j = (axis.ravel() for axis in np.mgrid[:k, :k])
    upright = i + j < k
    flipped = i + j < k - 1
    u = np.concatenate([i[upright] + 1 / 3, i[flipped] + 2 / 3]) / k
    v = np.concatenate([j[upright] + 1 / 3, j[flipped] + 2 / 3]) / k
    inside = np.stack([1.0 - u - v, u, v], axis=1)
    return np.repeat(triangles, k * k), np.tile(inside, (len(triangles), 1))


class Parts(NamedTuple):
    """A skin divided among bones: each piece belongs to the one that carries most of it."""

    bone: Int64Array  # (s,)
    areas: Float64Array  # of each piece, times that bone's weight, (s,)

    def of(self, bone: int) -> Int64Array:
        """Rows of the pieces of one bone."""
        return np.flatnonzero(self.bone == bone)


def parts_of(samples: Samples, skin: Skin, kept: BoolArray) -> Parts:
    """The parts of the bones that are kept, (b,); the weights of others go to their nearest ancestor that is kept.

    Where there is none, they go to the first kept bone.
    """
    weights = np.zeros_like(samples.weights)
    for bone in range(len(kept)):
        heir = bone
        while heir >= 0 and not kept[heir]:
            heir = int(skin.parents[heir])
        weights[:, heir if heir >= 0 else int(kept.argmax())] += samples.weights[:, bone]
    owner = weights.argmax(axis=1)
    return Parts(owner, samples.areas * np.take_along_axis(weights, owner[:, None], axis=1)[:, 0])


def large_parts(samples: Samples, skin: Skin, least_share: float) -> BoolArray:
    """The bones whose part is at least a share of the skin's area, (b,).

    Bones are left out from the last to the first, children before parents, and their skin goes to a parent's, so that
    many small parts may make one that is large enough.
    """
    kept = np.ones(len(skin.parents), dtype=np.bool_)
    least = least_share * samples.areas.sum()
    parts = parts_of(samples, skin, kept)
    for bone in range(len(kept) - 1, -1, -1):
        rows = parts.of(bone)
        if (samples.areas[rows].sum() < least or not len(rows)) and kept.sum() > 1:
            kept[bone] = False
            parts = parts_of(samples, skin, kept)
    return kept
