"""Left and right: names that differ only in their side, and the plane between both sides."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cylcollide._types import Float64Array

WORDS = {"left": "right", "Left": "Right", "LEFT": "RIGHT", "l": "r", "L": "R"}
WORDS |= {right: left for left, right in WORDS.items()}
SIDE = re.compile(r"left|right|Left|Right|LEFT|RIGHT|(?<![A-Za-z0-9])[lLrR](?![A-Za-z])|^[LR](?=[A-Z][a-z])")
"""Matches a side in a name: LeftArm, arm_left, arm.L, r_arm, LThumb."""


@dataclass(frozen=True)
class Plane:
    """The plane x @ normal = offset."""

    normal: Float64Array  # (3,), unit
    offset: float

    def mirrored(self, points: Float64Array) -> Float64Array:
        """The mirror images of points (n, 3)."""
        image: Float64Array = points - 2.0 * np.outer(points @ self.normal - self.offset, self.normal)
        return image


def counterpart(name: str) -> str:
    """The name with its sides swapped."""
    return SIDE.sub(lambda match: WORDS[match[0]], name)


def without_side(name: str) -> str:
    """The name without its sides."""
    return SIDE.sub("", name)


def named_pairs(names: Sequence[str]) -> dict[int, int]:
    """Pairs of rows whose names differ only in their side, the lower row as the key."""
    rows = {name: row for row, name in enumerate(names)}
    found = {row: rows.get(counterpart(name), -1) for row, name in enumerate(names)}
    return {one: other for one, other in found.items() if one < other and found[other] == one}


def plane_between(one: Float64Array, other: Float64Array, least: float) -> Plane | None:
    """The plane halfway between points and counterparts, (n, 3) each; None if differences sum to at most `least`."""
    across = (one - other).sum(axis=0)
    across = np.sign((one - other) @ across) @ (one - other)  # names of some pairs may be swapped
    length = float(np.linalg.norm(across))
    if not length > least:
        return None
    normal = across / length
    return Plane(normal, float(((one + other) / 2.0 @ normal).mean()))
