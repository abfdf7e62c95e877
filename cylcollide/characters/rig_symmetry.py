"""Symmetry of rigs: limbs that mirror each other by name, and their differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from cylcollide import validate
from cylcollide._types import Float64Array, Int64Array, Shape
from cylcollide.characters.rig_data import RigData
from cylcollide.characters.sides import Plane, named_pairs, plane_between, without_side
from cylcollide.characters.skeleton import from_bone
from cylcollide.query.boxes import BOX_CORNERS
from cylcollide.query.record import of_arrays
from cylcollide.runtime.memory import frozen

Outline: TypeAlias = tuple[Float64Array, Float64Array]
"""A limb at rest: its ends (2, 3), or a box's corners (8, 3); and outer and inner radius at each end, (2, 2)."""


@of_arrays
class RigSymmetry(NamedTuple):
    """Limbs that mirror each other by name, and their differences; `print` it. Arrays are read-only."""

    normal: Float64Array  # (3,): unit normal of the plane, in the frame of the character
    offset: float  # the plane is x @ normal = offset
    pairs: Int64Array  # (k, 2): rows of limbs; the same row twice for a limb on the plane
    difference: Float64Array  # (k,): largest distance of ends or corners, or difference of radii, from the mirror image
    alone: Int64Array  # rows of limbs whose counterpart is missing
    names: tuple[str, ...]  # of all limbs

    def __str__(self) -> str:
        plane = f"plane: x @ {[round(c, 6) for c in self.normal.tolist()]} = {self.offset:.6g}"
        pairs = [
            f"  {' and '.join(dict.fromkeys((self.names[a], self.names[b])))}: {by:.6g}"
            for (a, b), by in zip(self.pairs.tolist(), self.difference.tolist(), strict=True)
        ]
        alone = [f"  {self.names[row]}: no counterpart" for row in self.alone.tolist()]
        return "\n".join([plane, *pairs, *alone])


def symmetry_of(rig: RigData, plane: str) -> RigSymmetry:
    """Implements `Rig.symmetry`."""
    validate.one_of(plane, "plane", "auto", "x", "y", "z")
    names = _labels(rig)
    named = named_pairs(names)
    outlines = [_outline(rig, row) for row in range(len(names))]
    mirror = _plane(plane, named, outlines)
    paired = {row for both in named.items() for row in both}
    single = [row for row in range(len(names)) if row not in paired]
    alone = [row for row in single if without_side(names[row]) != names[row]]
    pairs = sorted([*named.items(), *((row, row) for row in single if row not in alone)])
    kinds = rig.limbs.kind
    differences = [_difference(outlines[a], outlines[b], mirror) if kinds[a] == kinds[b] else np.inf for a, b in pairs]
    rows = frozen(np.array(pairs, np.int64).reshape(-1, 2)), frozen(np.array(differences, np.float64))
    return RigSymmetry(frozen(mirror.normal), mirror.offset, *rows, frozen(np.array(alone, np.int64)), names)


def _plane(plane: str, named: Mapping[int, int], outlines: list[Outline]) -> Plane:
    """The plane of a coordinate, or the one halfway between pairs."""
    if plane != "auto":
        return Plane(np.eye(3)["xyz".index(plane)], 0.0)
    centres = np.array([points.mean(axis=0) for points, _ in outlines]).reshape(-1, 3)
    extent = float(np.ptp(centres, axis=0).max(initial=0.0)) if len(centres) else 0.0
    found = None
    if named:
        found = plane_between(centres[[*named]], centres[[*named.values()]], 1e-9 * extent)
    if found is None:
        raise ValueError(
            "plane: expected limbs whose names differ by their side and that lie apart, got none; give 'x', 'y' or 'z'"
        )
    return found


def _labels(rig: RigData) -> tuple[str, ...]:
    """Unique labels of limbs: the own name if no other limb has it, else the name of the bone."""
    own, bones = Counter(rig.limb_names), [rig.bone_names[bone] for bone in rig.limb_bone.tolist()]
    given = [name if name and own[name] == 1 else bone for name, bone in zip(rig.limb_names, bones, strict=True)]
    count: Counter[str] = Counter()
    labels = []
    for name in given:
        count[name] += 1
        labels.append(name if count[name] == 1 else f"{name} #{count[name]}")
    return tuple(labels)


def _outline(rig: RigData, row: int) -> Outline:
    limbs, bone = rig.limbs, int(rig.limb_bone[row])
    t, shape = limbs._table, Shape(int(limbs.kind[row]))
    if t.box[row] >= 0:
        axes, half = limbs.box_axes[row], limbs.half_extents[row]
        return from_bone(rig, bone, t.p1[row] + BOX_CORNERS * half @ axes), np.zeros((2, 2))
    radius, second = float(t.radius[row]), float(t.radius2[row])
    radii = [[radius, 0.0], [second, 0.0]] if shape == Shape.TAPERED else [[radius, second]] * 2
    return from_bone(rig, bone, np.array([t.p1[row], t.p2[row]])), np.array(radii)


def _difference(a: Outline, b: Outline, mirror: Plane) -> float:
    """The difference between one limb and the mirror image of another of the same shape, a length."""
    (points, radii), (others, other_radii) = a, b
    image = mirror.mirrored(others)
    apart = np.linalg.norm(points[:, None] - image[None], axis=2)
    if len(image) == 8:
        return float(max(apart.min(axis=0).max(), apart.min(axis=1).max()))
    ends = [max(apart[0, j], apart[1, 1 - j], np.abs(radii - other_radii[[j, 1 - j]]).max()) for j in (0, 1)]
    return float(min(ends))
