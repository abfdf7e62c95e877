"""The surface of a skin as small pieces, each with the weights of all bones, and divided among bones."""

from typing import NamedTuple

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int64Array
from cylcollide.characters.skin.skin import Skin

PIECES = 20_000
"""About the number of pieces of a skin of equal triangles. Larger triangles are cut; small ones are not joined."""

MOST_CUTS = 64
"""Most parts of an edge of one triangle."""


class Pieces(NamedTuple):
    """Pieces of the skin, s of them, divided among bones."""

    points: Float64Array  # centroids, (s, 3)
    normals: Float64Array  # unit, outwards, (s, 3)
    areas: Float64Array  # (s,)
    weights: Float64Array  # of each bone, (s, b); rows add up to 1
    bone: Int64Array  # the bone that each piece belongs to, (s,): the one that carries most of it
    carried: Float64Array  # the area of each piece times the weight of its bone, (s,)

    def of(self, bone: int) -> Int64Array:
        """Rows of the pieces of one bone."""
        return np.flatnonzero(self.bone == bone)


def sample(skin: Skin) -> Pieces:
    """Cut the triangles of a skin at rest into pieces of about equal edges, divided among all bones.

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
    areas = areas[triangle] / cuts[triangle] ** 2
    pieces = Pieces(points, normals, areas, np.asarray(weights), triangle, areas)
    return divided(pieces, skin, np.ones(len(skin.parents), dtype=np.bool_))


def _cut(triangles: Int64Array, k: int) -> tuple[Int64Array, Float64Array]:
    """The k² equal pieces of each triangle: its row, and the piece's centroid in barycentric coordinates."""
    i, j = (axis.ravel() for axis in np.mgrid[:k, :k])
    upright = i + j < k
    flipped = i + j < k - 1
    u = np.concatenate([i[upright] + 1 / 3, i[flipped] + 2 / 3]) / k
    v = np.concatenate([j[upright] + 1 / 3, j[flipped] + 2 / 3]) / k
    inside = np.stack([1.0 - u - v, u, v], axis=1)
    return np.repeat(triangles, k * k), np.tile(inside, (len(triangles), 1))


def divided(pieces: Pieces, skin: Skin, kept: BoolArray) -> Pieces:
    """The pieces divided among the bones that are kept, (b,): each bone's nearest kept ancestor gets its weights.

    The first kept bone gets the weights of bones without such an ancestor.
    """
    weights = np.zeros_like(pieces.weights)
    for bone in range(len(kept)):
        heir = bone
        while heir >= 0 and not kept[heir]:
            heir = int(skin.parents[heir])
        weights[:, heir if heir >= 0 else int(kept.argmax())] += pieces.weights[:, bone]
    owner = weights.argmax(axis=1)
    carried = pieces.areas * np.take_along_axis(weights, owner[:, None], axis=1)[:, 0]
    return pieces._replace(bone=owner, carried=carried)


def divided_among_large(pieces: Pieces, skin: Skin, least_share: float) -> tuple[Pieces, BoolArray]:
    """The pieces divided among bones whose part is at least a share of the skin's area; and which these are, (b,).

    Bones are left out from the last to the first, children before parents. Their skin goes to a parent's, so that many
    small parts may make one that is large enough.
    """
    kept = np.ones(len(skin.parents), dtype=np.bool_)
    least = least_share * pieces.areas.sum()
    for bone in range(len(kept) - 1, -1, -1):
        rows = pieces.of(bone)
        if (pieces.areas[rows].sum() < least or not len(rows)) and kept.sum() > 1:
            kept[bone] = False
            pieces = divided(pieces, skin, kept)
    return pieces, kept
