"""Rigs derived from others: scaled, with other hit groups, or without bones that carry no limbs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from cylcollide import shapes, validate
from cylcollide._types import Int64Array, Shape
from cylcollide.characters import quaternions
from cylcollide.characters.name_patterns import matched
from cylcollide.characters.policy_checks import Group, group_number
from cylcollide.characters.policy_checks import groups as checked_groups
from cylcollide.characters.rig_data import RigData
from cylcollide.characters.skeleton import limb_label, upwards
from cylcollide.constants import LARGEST_NUMBER, SMALLEST_SIZE
from cylcollide.kernels.limb_table import make_table
from cylcollide.limbs.limbs import Limbs

if TYPE_CHECKING:
    from cylcollide.characters.rig_symmetry import RigSymmetry

NO_NAMES: Mapping[str, int] = MappingProxyType({})


class EditableRig(RigData):
    """The methods of a `Rig` that derive another one, or compare its sides."""

    def scaled(self, by: float) -> Self:
        """The rig scaled by `by` > 0: rest positions, and ends and sizes of limbs.

        ValueError if `by` is not a number > 0, or a limb leaves the range of accepted numbers; the
        message names the limb.
        """
        factor = validate.one_number(by)
        if not 0.0 < factor <= LARGEST_NUMBER:
            raise ValueError(f"by: expected a number > 0 and at most 2**500, got {validate.shown(by)}")
        return self._with(rest_positions=self.rest_positions * factor, limbs=_scaled(self.limbs, factor))

    def with_groups(self, patterns: Mapping[str, Group] | None = None, groups: Mapping[str, int] = NO_NAMES) -> Self:
        """The rig with limbs in other hit groups.

        Parameters
        ----------
        patterns
            Groups by patterns of limb names (`fnmatch`: `*`, `?`, `[...]`, case-sensitive); the
            last match wins, other limbs keep theirs. None: head 1, torso 2, arm 3 and leg 4, as in
            `Rig.humanoid`, by the bone names of Mixamo, VRM, Unreal, SMPL and motion capture; a
            bone with another name is in the group of its nearest known ancestor.
        groups
            Numbers of groups by name, in addition to those of the rig.

        Raises
        ------
        ValueError
            For a pattern that matches no limb, an unknown group, or, without patterns, a rig
            without a known bone.
        """
        groups = checked_groups(groups, reserved="")
        if patterns is None:
            from cylcollide.characters import standard_names  # noqa: PLC0415  imported on first use

            numbers = {**standard_names.GROUPS, **self.groups, **groups}
            of_bone = standard_names.group_of_each(self.bone_names, self.parents)
            names = [of_bone[bone] for bone in self.limb_bone.tolist()]
            if not any(names):
                raise ValueError(
                    f"patterns: expected bones with standard names, such as Hips, spine, L_Knee or upperarm_l, got "
                    f"{', '.join(self.bone_names[:5])} ...; give patterns of limb names"
                )
        else:
            numbers = {**self.groups, **groups}
            names = _matched(patterns, self.limb_names)
        column = self.limbs.hit_group.copy()
        for row, name in enumerate(names):
            if name is not None:
                column[row] = group_number(name, "patterns", numbers, "the rig, or of groups=")
        rig = self._with(limbs=Limbs(self.limbs._table, column, self.limbs.names), groups=numbers)
        vars(rig).update(skin=self.skin)
        return rig

    def pruned(self) -> tuple[Self, Int64Array]:
        """The rig of the bones that carry limbs and of their common root, and their rows, (kept,).

        `rig.place(p, q)` has the limbs of `pruned.place(p[:, kept], q[:, kept])`, bit for bit. The
        other joints are fixed at rest: a joint of the pruned rig is relative to its nearest kept
        ancestor. Each of several trees keeps a root.
        """
        kept = _kept(self.parents.tolist(), sorted(set(self.limb_bone.tolist())))
        rows = {bone: row for row, bone in enumerate(kept)}
        parents, positions, orientations = [], self.rest_positions[kept].copy(), self.rest_orientations[kept].copy()
        for row, bone in enumerate(kept):
            above = int(self.parents[bone])
            at, turn = positions[row], orientations[row]
            while above >= 0 and above not in rows:
                up = quaternions.normalised(self.rest_orientations[above])
                at = self.rest_positions[above] + quaternions.rotated(up, at)
                turn, above = quaternions.product(up, quaternions.normalised(turn)), int(self.parents[above])
            positions[row], orientations[row] = at, turn
            parents.append(rows.get(above, -1))
        pruned = self._with(
            bone_names=[self.bone_names[bone] for bone in kept], parents=parents, rest_positions=positions,
            rest_orientations=orientations, limb_bone=[rows[bone] for bone in self.limb_bone.tolist()],
        )  # fmt: skip
        return pruned, np.array(kept, np.int64)

    def symmetry(self, plane: Literal["auto", "x", "y", "z"] = "auto") -> RigSymmetry:
        """The limbs that mirror each other by name at rest, and their differences.

        Lengths are in the unit of the rig. Names differ only in their side, such as left_arm and
        right_arm, arm.L and arm.R, LThumb and RThumb; for a limb without a name, or with a name
        that other limbs have, its bone's name is used. A limb without a side mirrors itself.

        Parameters
        ----------
        plane
            "x", "y" or "z": the plane on which that coordinate of the character is 0. "auto": the
            plane halfway between the limbs of pairs.

        Raises
        ------
        ValueError
            For another plane; with "auto", if no names differ only in their side, or such limbs
            coincide.
        """
        from cylcollide.characters import rig_symmetry  # noqa: PLC0415  imported on first use

        return rig_symmetry.symmetry_of(self, plane)

    def _with(self, **changes: object) -> Self:
        """The rig with other arguments."""
        names = ("bone_names", "parents", "rest_positions", "rest_orientations", "limbs", "limb_bone", "groups")
        return type(self)(**{**dict(zip(names, self._arguments, strict=True)), **changes})


def _scaled(limbs: Limbs, by: float) -> Limbs:
    """The limbs scaled by a factor about the origins of their bones."""
    t, boxes = limbs._table, limbs._table.boxes.copy()
    p1, p2, radius, radius2 = (column * by for column in (t.p1, t.p2, t.radius, t.radius2))
    boxes[:, 9:] *= by
    half = np.ones((len(limbs), 3))
    half[t.box >= 0] = boxes[t.box[t.box >= 0], 9:]
    sizes = np.column_stack([np.where(t.radius > 0.0, radius, 1.0), np.where(t.radius2 > 0.0, radius2, 1.0), half])
    small = (sizes < SMALLEST_SIZE).any(axis=1) | (shapes.short(p2 - p1) & (t.p1 != t.p2).any(axis=1))
    large = (np.abs(np.column_stack([p1, p2, sizes])) > LARGEST_NUMBER).any(axis=1)
    closed = (t.kind == int(Shape.TUBE)) & (radius2 >= radius)
    row = validate.first_bad_row(small | large | closed)
    if row is not None:
        raise ValueError(
            f"by: expected a factor that leaves numbers within 2**500 and sizes above 2**-500, got {by} for "
            f"{limb_label(limbs.names, row)}"
        )
    table = make_table(t.kind, p1, p2, radius, radius2, t.box, boxes, t.character, t.mask)
    return Limbs(table, limbs.hit_group, limbs.names)


def _matched(patterns: Mapping[str, Group], names: tuple[str, ...]) -> list[Group | None]:
    """The group of the last matching pattern for each name, None without a match."""
    if not isinstance(patterns, Mapping) or not all(isinstance(pattern, str) for pattern in patterns):
        raise ValueError(f"patterns: expected a mapping of patterns to groups, got {validate.shown(patterns)}")
    found: list[Group | None] = [None] * len(names)
    for pattern, group in patterns.items():
        hits = matched(pattern, [(name,) for name in names], "patterns", "limb names")
        found = [group if hit else before for hit, before in zip(hits, found, strict=True)]
    return found


def _kept(parents: list[int], carriers: list[int]) -> list[int]:
    """The bones that carry limbs, and their lowest common ancestor in each tree, ascending; the first bone if none."""
    paths: dict[int, list[list[int]]] = {}
    for bone in carriers:
        path = [*upwards(parents, bone)]
        paths.setdefault(path[-1], []).append(path[::-1])
    kept = set(carriers)
    for of_tree in paths.values():
        common = [bones[0] for bones in zip(*of_tree, strict=False) if len(set(bones)) == 1]
        kept.add(common[-1])
    return sorted(kept) or [0]
