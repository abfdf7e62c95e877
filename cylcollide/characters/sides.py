"""Left and right: names that differ by their side only, and the plane between both."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cylcollide._types import Float64Array

WORDS = {"left": "right", "Left": "Right", "LEFT": "RIGHT", "l": "r", "L": "R"}
WORDS |= {right: left for left, right in WORDS.items()}
SIDE = re.compile(r"left|right|Left|Right|LEFT|RIGHT|(?<![A-Za-z0-9])[lLrR](?![A-Za-z])|^[LR](?=[A-Z][a-z])")
"""A side in a name: LeftArm, arm_left, arm.L, r_arm, LThumb."""


@dataclass(frozen=True)
class Plane:
    """All x with x @ normal = offset."""

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
    """Pairs of rows whose names differ by their side only, the first first."""
    rows = {name: row for row, name in enumerate(names)}
    found = {row: rows.get(counterpart(name), -1) for row, name in enumerate(names)}
    return {one: other for one, other in found.items() if one < other and found[other] == one}


def plane_between(one: Float64Array, other: Float64Array, least: float) -> Plane | None:
    """The plane halfway between points and their counterparts, (n, 3) each; None if their ways add up to no more."""
    across = (one - other).sum(axis=0)
    across = np.sign((one - other) @ across) @ (one - other)  # a name may be on the wrong side
    length = float(np.linalg.norm(across))
    if not length > least:
        return None
    normal = across / length
    return Plane(normal, float(((one + other) / 2.0 @ normal).mean()))
