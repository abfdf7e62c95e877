"""The surface of a skin as small pieces, each with the weights of all bones and assigned to one bone."""

from dataclasses import dataclass, replace

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int64Array
from cylcollide.characters.skeleton import upwards
from cylcollide.characters.skin.skin import Skin

SEARCHED, MEASURED = 20_000, 60_000
"""Approximate numbers of pieces of a skin of equal triangles: for the search of limbs, and for the measurement of their
coverage. Larger triangles are cut; small ones are not joined."""

MOST_CUTS = 64
"""Largest number of parts of an edge of one triangle."""


@dataclass(frozen=True, slots=True)
class SkinPieces:
    """The s pieces of a skin, each assigned to one bone."""

    points: Float64Array  # a point in each piece, (s, 3)
    normals: Float64Array  # unit, outwards, (s, 3)
    areas: Float64Array  # (s,)
    weights: Float64Array  # of each bone, (s, b); rows add up to 1
    bone: Int64Array  # the bone of each piece, (s,): the one with the largest weight at its point

    def of(self, bone: int) -> Int64Array:
        """Rows of the pieces of one bone."""
        return np.flatnonzero(self.bone == bone)


def centroids(skin: Skin) -> SkinPieces:
    """The pieces for the search of limbs, each represented by its centroid."""
    return _pieces(skin, SEARCHED, None)


def sample(skin: Skin) -> SkinPieces:
    """The pieces for the measurement of coverage, each represented by a uniform random point, from a fixed seed.

    The share of these points inside a limb is an unbiased estimate of the share of the area inside. Centroids would be
    biased, since limbs are convex; so would the points of the search, since the limb is fitted tightly to them.
    """
    return _pieces(skin, MEASURED, np.random.default_rng(0))


def _pieces(skin: Skin, count: int, rng: np.random.Generator | None) -> SkinPieces:
    """Cut the triangles of a skin at rest into pieces of about equal edges, assigned to all bones.

    ValueError if the skin has no area.
    """
    corners = skin.vertices[skin.faces]  # (f, 3, 3)
    crosses = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(crosses, axis=1) / 2.0
    if not areas.sum() > 0.0:
        raise ValueError("faces: expected triangles with an area, got none; check the vertices")
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    longest = np.sqrt(areas.sum() / count) * 2.0  # the edge of an equilateral triangle of that area is 1.52 times
    cuts = np.clip(np.ceil(edges / longest), 1, MOST_CUTS).astype(np.int64)
    parts = [_cut(np.flatnonzero((cuts == k) & (areas > 0.0)), int(k), rng) for k in np.unique(cuts)]
    triangle, inside = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(triangle, kind="stable")
    triangle, inside = triangle[order], inside[order]
    faces = skin.faces[triangle]
    weights = sum(inside[:, k, None] * skin.weights[faces[:, k]] for k in range(3))
    points = np.einsum("sk,ski->si", inside, corners[triangle])
    normals = crosses[triangle] / (2.0 * areas[triangle, None])
    areas = areas[triangle] / cuts[triangle] ** 2
    pieces = SkinPieces(points, normals, areas, np.asarray(weights), triangle)
    return divided(pieces, skin, np.ones(len(skin.parents), dtype=np.bool_))


def _cut(triangles: Int64Array, k: int, rng: np.random.Generator | None) -> tuple[Int64Array, Float64Array]:
    """The k² equal pieces of each triangle: its row, and barycentric coordinates of the centroid or a random point."""
    i, j = (axis.ravel() for axis in np.mgrid[:k, :k])
    upright, flipped = i + j < k, i + j < k - 1
    drawn = np.full((len(triangles), k * k, 2), 1 / 3) if rng is None else rng.random((len(triangles), k * k, 2))
    drawn = np.where(drawn.sum(axis=2, keepdims=True) > 1.0, 1.0 - drawn, drawn)  # folds the square to a triangle
    corner = np.concatenate([np.stack([i, j], 1)[upright], np.stack([i, j], 1)[flipped] + 1])
    inwards = np.repeat([1.0, -1.0], [upright.sum(), flipped.sum()])[:, None]
    uv = ((corner + inwards * drawn) / k).reshape(-1, 2)
    return np.repeat(triangles, k * k), np.column_stack([1.0 - uv.sum(axis=1), uv])


def divided(pieces: SkinPieces, skin: Skin, kept: BoolArray) -> SkinPieces:
    """The pieces assigned to the kept bones, (b,): the weights of other bones go to their nearest kept ancestor.

    The first kept bone gets the weights of bones without such an ancestor.
    """
    weights = np.zeros_like(pieces.weights)
    for bone in range(len(kept)):
        ancestor = next((above for above in upwards(skin.parents, bone) if kept[above]), int(kept.argmax()))
        weights[:, ancestor] += pieces.weights[:, bone]
    return replace(pieces, bone=weights.argmax(axis=1))


def divided_among_large(pieces: SkinPieces, skin: Skin, least_share: float) -> tuple[SkinPieces, BoolArray]:
    """The pieces assigned to bones with at least a share of the skin's area; and whether each bone is kept, (b,).

    Bones are removed from the last to the first, children before parents. Their skin goes to an ancestor, so that many
    small parts may together be large enough.
    """
    kept = np.ones(len(skin.parents), dtype=np.bool_)
    least = least_share * pieces.areas.sum()
    for bone in range(len(kept) - 1, -1, -1):
        rows = pieces.of(bone)
        if (pieces.areas[rows].sum() < least or not len(rows)) and kept.sum() > 1:
            kept[bone] = False
            pieces = divided(pieces, skin, kept)
    return pieces, kept
