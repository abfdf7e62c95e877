"""Which bones mirror each other: by their names, and by where they and their skin are."""

from typing import NamedTuple

import numpy as np

from cylcollide.characters.sides import Plane, named_pairs, plane_between
from cylcollide.characters.skin.samples import Parts, Samples
from cylcollide.characters.skin.skin import Skin

BONES_APART = 0.01
"""Bones mirror each other if one is so near the other's mirror image, in units of the skeleton's extent."""

SKIN_APART, SKIN_DIFFERS = 0.15, 0.15
"""And if so are the centroids of their skin, in units of its own extent, and their areas differ by so much at most."""


class Symmetry(NamedTuple):
    """The plane of a symmetric body, None if it has none; the pairs of its bones, and those on the plane."""

    plane: Plane | None
    pairs: dict[int, int]  # from the first bone of a pair to the other
    middle: frozenset[int]


def find(skin: Skin, samples: Samples, parts: Parts) -> Symmetry:
    """The symmetry of a skin at rest; bones with mirrored names but another place or skin are no pair."""
    named, positions = named_pairs(skin.bone_names), skin.rest.positions
    nothing = Symmetry(None, {}, frozenset())
    if not named:
        return nothing
    one, other = (positions[list(rows)] for rows in (named.keys(), named.values()))
    extent = float(np.ptp(skin.vertices, axis=0).max())
    plane = plane_between(one, other, BONES_APART * extent)
    if plane is None:
        return nothing
    pairs = {
        a: b
        for a, b in named.items()
        if np.linalg.norm(positions[a] - plane.mirrored(positions[[b]])[0]) <= BONES_APART * extent
        and _same_skin(samples, parts, a, b, plane)
    }
    if not pairs:
        return nothing
    paired = {*named.keys(), *named.values()}
    middle = {
        bone
        for bone in range(len(positions))
        if bone not in paired
        and abs(float(positions[bone] @ plane.normal) - plane.offset) <= BONES_APART * extent
        and _same_skin(samples, parts, bone, bone, plane)
    }
    return Symmetry(plane, pairs, frozenset(middle))


def _same_skin(samples: Samples, parts: Parts, a: int, b: int, plane: Plane) -> bool:
    """Whether the skin of one bone is about the mirror image of that of another; two without skin are alike."""
    rows = [parts.of(bone) for bone in (a, b)]
    if not len(rows[0]) or not len(rows[1]):
        return len(rows[0]) == len(rows[1])
    shares = [parts.areas[row] / parts.areas[row].sum() for row in rows]
    one, other = (share @ samples.points[row] for share, row in zip(shares, rows, strict=True))
    extent = np.sqrt(shares[0] @ ((samples.points[rows[0]] - one) ** 2).sum(axis=1))
    areas = sorted(float(parts.areas[row].sum()) for row in rows)
    near = np.linalg.norm(one - plane.mirrored(other[None])[0]) <= SKIN_APART * extent
    return bool(near and areas[1] <= (1.0 + SKIN_DIFFERS) * areas[0])
