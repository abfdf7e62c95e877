"""Which bones mirror each other: by their names, and by where they and their skin are."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.characters.skin.samples import Parts, Samples
from cylcollide.characters.skin.skin import Skin

WORDS = {"left": "right", "Left": "Right", "LEFT": "RIGHT", "l": "r", "L": "R"}
WORDS |= {right: left for left, right in WORDS.items()}
SIDE = re.compile(r"left|right|Left|Right|LEFT|RIGHT|(?<![A-Za-z0-9])[lLrR](?![A-Za-z])|^[LR](?=[A-Z][a-z])")
"""A side in a name: LeftArm, arm_left, arm.L, r_arm, LThumb."""

BONES_APART = 0.01
"""Bones mirror each other if one is so near the other's mirror image, in units of the skeleton's extent."""

SKIN_APART, SKIN_DIFFERS = 0.15, 0.15
"""And if so are the centroids of their skin, in units of its own extent, and their areas differ by so much at most."""


class Plane(NamedTuple):
    """All x with x @ normal = offset."""

    normal: Float64Array  # (3,), unit
    offset: float

    def mirrored(self, points: Float64Array) -> Float64Array:
        """The mirror images of points (n, 3)."""
        image: Float64Array = points - 2.0 * np.outer(points @ self.normal - self.offset, self.normal)
        return image


class Symmetry(NamedTuple):
    """The plane of a symmetric body, None if it has none; the pairs of its bones, and those on the plane."""

    plane: Plane | None
    pairs: dict[int, int]  # from the first bone of a pair to the other
    middle: frozenset[int]


def counterpart(name: str) -> str:
    """The name with its sides swapped."""
    return SIDE.sub(lambda match: WORDS[match[0]], name)


def named_pairs(names: Sequence[str]) -> dict[int, int]:
    """Pairs of bones whose names differ by their side only, by row, the first first."""
    rows = {name: row for row, name in enumerate(names)}
    found = {row: rows.get(counterpart(name), -1) for row, name in enumerate(names)}
    return {one: other for one, other in found.items() if one < other and found[other] == one}


def find(skin: Skin, samples: Samples, parts: Parts) -> Symmetry:
    """The symmetry of a skin at rest; bones with mirrored names but another place or skin are no pair."""
    named, positions = named_pairs(skin.bone_names), skin.rest.positions
    nothing = Symmetry(None, {}, frozenset())
    if not named:
        return nothing
    one, other = (positions[list(rows)] for rows in (named.keys(), named.values()))
    across = (one - other).sum(axis=0)
    across = np.sign((one - other) @ across) @ (one - other)  # a name may be on the wrong side
    length = float(np.linalg.norm(across))
    extent = float(np.ptp(skin.vertices, axis=0).max())
    if not length > BONES_APART * extent:
        return nothing
    normal = across / length
    plane = Plane(normal, float(((one + other) / 2.0 @ normal).mean()))
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
