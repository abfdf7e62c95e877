"""The bones that mirror each other: by their names, their places and their skin."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.characters.skin.samples import Pieces
from cylcollide.characters.skin.skin import Skin

WORDS = {"left": "right", "Left": "Right", "LEFT": "RIGHT", "l": "r", "L": "R"}
WORDS |= {right: left for left, right in WORDS.items()}
SIDE = re.compile(r"left|right|Left|Right|LEFT|RIGHT|(?<![A-Za-z0-9])[lLrR](?![A-Za-z])|^[LR](?=[A-Z][a-z])")
"""A side in a name: LeftArm, arm_left, arm.L, r_arm, LThumb."""

BONES_APART = 0.01
"""Largest distance of a bone from the mirror image of its twin, in units of the skin's extent."""

SKIN_APART, SKIN_DIFFERS = 0.15, 0.15
"""Largest distance of the centroid of a bone's skin from its twin's image, in units of the extent of this skin; and
largest relative difference of their areas."""


class Mirror(NamedTuple):
    """The plane of a symmetric body, all x with x @ normal = offset, and the bones that mirror each other in it."""

    normal: Float64Array  # (3,), unit
    offset: float
    twins: dict[int, int]  # from the first bone of a pair to the other, and from a bone on the plane to itself

    def image(self, points: Float64Array) -> Float64Array:
        """The mirror images of points (n, 3)."""
        return np.asarray(points - 2.0 * np.outer(points @ self.normal - self.offset, self.normal))


def counterpart(name: str) -> str:
    """The name of the other side."""
    return SIDE.sub(lambda match: WORDS[match[0]], name)


def named_pairs(names: Sequence[str]) -> dict[int, int]:
    """Rows of pairs of bones whose names differ only by their side, the lower row first."""
    rows = {name: row for row, name in enumerate(names)}
    found = {row: rows.get(counterpart(name), -1) for row, name in enumerate(names)}
    return {one: other for one, other in found.items() if one < other and found[other] == one}


def find(skin: Skin, pieces: Pieces) -> Mirror | None:
    """The symmetry of a skin at rest, if any; bones with mirrored names but another place or skin are no pair."""
    named, positions = named_pairs(skin.bone_names), skin.rest.positions
    if not named:
        return None
    one, other = (positions[list(rows)] for rows in (named.keys(), named.values()))
    across = (one - other).sum(axis=0)
    across = np.sign((one - other) @ across) @ (one - other)  # names may be on the wrong side
    length = float(np.linalg.norm(across))
    extent = float(np.ptp(skin.vertices, axis=0).max())
    if not length > BONES_APART * extent:
        return None
    normal = across / length
    mirror = Mirror(normal, float(((one + other) / 2.0 @ normal).mean()), {})
    for a, b in named.items():
        apart = float(np.linalg.norm(positions[a] - mirror.image(positions[[b]])[0]))
        if apart <= BONES_APART * extent and _same_skin(pieces, a, b, mirror):
            mirror.twins[a] = b
    if not mirror.twins:
        return None
    for bone in sorted(set(range(len(positions))) - {*named.keys(), *named.values()}):
        apart = abs(float(positions[bone] @ normal) - mirror.offset)
        if apart <= BONES_APART * extent and _same_skin(pieces, bone, bone, mirror):
            mirror.twins[bone] = bone
    return mirror


def _same_skin(pieces: Pieces, a: int, b: int, mirror: Mirror) -> bool:
    """Whether the skin of one bone is about the mirror image of another's; two bones without skin are alike."""
    rows = [pieces.of(bone) for bone in (a, b)]
    if not len(rows[0]) or not len(rows[1]):
        return len(rows[0]) == len(rows[1])
    shares = [pieces.carried[row] / pieces.carried[row].sum() for row in rows]
    one, other = (share @ pieces.points[row] for share, row in zip(shares, rows, strict=True))
    extent = np.sqrt(shares[0] @ ((pieces.points[rows[0]] - one) ** 2).sum(axis=1))
    areas = sorted(float(pieces.carried[row].sum()) for row in rows)
    near = np.linalg.norm(one - mirror.image(other[None])[0]) <= SKIN_APART * extent
    return bool(near and areas[1] <= (1.0 + SKIN_DIFFERS) * areas[0])
