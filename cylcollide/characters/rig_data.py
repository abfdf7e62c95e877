"""RigData: bones in a tree, and limbs fastened to them; checked, immutable, comparable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import Float64Array, Int32Array, Shape
from cylcollide.bones.rig_rows import RigRows
from cylcollide.characters.policy_checks import groups as checked_groups
from cylcollide.characters.skeleton import Skeleton, limb_label
from cylcollide.limbs.limbs import Limbs


class RigData(Skeleton):
    """The data of a `Rig`, and its constructor; arguments as in `Rig`."""

    __hash__ = None  # type: ignore[assignment]  # arrays inside

    limbs: Limbs
    """The limbs in the frames of their bones."""
    limb_bone: Int32Array
    groups: Mapping[str, int]
    """Numbers of hit groups by name, read-only."""
    _rows: RigRows
    """The limbs in the form that loops read."""
    _rest_offsets: Float64Array
    """`bone_offsets` of the bones at rest, (1, b, 3)."""
    skin: Skeleton | None = None
    """The `Skin` that the limbs were fitted to; None for other rigs, and for rigs from files, pickles and copies."""

    def __init__(
        self,
        bone_names: Sequence[str],
        parents: ArrayLike,
        rest_positions: ArrayLike,
        rest_orientations: ArrayLike,
        limbs: Limbs,
        limb_bone: ArrayLike,
        groups: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        super().__init__(bone_names, parents, rest_positions, rest_orientations)
        self._set_columns(
            limb_bone=_limb_bones(limb_bone, limbs, self.bone_names),
            _rest_offsets=bone_offsets(self.rest_positions, self.parents),
        )
        table = limbs._table
        vars(self).update(
            limbs=limbs,
            groups=_groups(groups),
            _rows=RigRows(self.limb_bone, table.p1, table.p2, table.box, table.boxes),
        )

    @property
    def _arguments(self) -> tuple[Any, ...]:
        """The arguments of the constructor, checked."""
        return (*self._bone_columns, self.limbs, self.limb_bone, dict(self.groups))

    def __eq__(self, other: object) -> bool:
        """Whether all columns, limbs and names are equal; the order of the groups is ignored."""
        if not isinstance(other, RigData):
            return NotImplemented
        pairs = zip(self._arguments, other._arguments, strict=True)
        return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)

    @property
    def limb_names(self) -> tuple[str, ...]:
        """The names of the limbs."""
        return self.limbs.names

    def __repr__(self) -> str:
        kinds = Counter(Shape(kind).name.lower() for kind in self.limbs.kind.tolist())
        limbs = ", ".join(f"{count} {name}" for name, count in kinds.items()) or "none"
        groups = ", ".join(f"{name} {number}" for name, number in self.groups.items()) or "none"
        roots = ", ".join(self.bone_names[i] for i in np.flatnonzero(self.parents < 0).tolist())
        bones, m = len(self.bone_names), len(self.limbs)
        many = [f"{bones} bone{'s' * (bones != 1)} from {roots}", f"{m} limb{'s' * (m != 1)}: {limbs}"]
        return f"Rig({'; '.join(many)}; groups: {groups})"


def bone_offsets(positions: Float64Array, parents: Int32Array) -> Float64Array:
    """Positions of bones in their parents' frames, of roots relative to the first; from (..., b, 3) to (·, b, 3)."""
    moved = np.where((parents < 0)[:, None], positions - positions[..., :1, :], positions)
    return moved.reshape(-1, *moved.shape[-2:])


def _limb_bones(values: ArrayLike, limbs: Limbs, names: Sequence[str]) -> Int32Array:
    """The bone of each limb, (m,)."""
    if not isinstance(limbs, Limbs):
        raise ValueError(f"limbs: expected Limbs, got {type(limbs).__name__}; make them with Limbs.cylinders(...)")
    given = validate.integers(values, "limb_bone", len(limbs), -(2**31), 2**31 - 1)
    row = validate.first_bad_row((given < 0) | (given >= len(names)))
    if row is not None:
        raise ValueError(
            f"limb_bone: expected 0 to {len(names) - 1}, the index of a bone, got {given[row]} for "
            f"{limb_label(limbs.names, row)}; fasten each limb to a bone of the rig"
        )
    return given.astype(np.int32)


def _groups(values: Mapping[str, int]) -> Mapping[str, int]:
    """Checked numbers of hit groups by name; all numbers differ."""
    numbers, names = checked_groups(values, reserved=""), dict[int, str]()
    for name, number in numbers.items():
        if (other := names.setdefault(number, name)) != name:
            raise ValueError(f"groups: expected one name per number, got {other!r}, {name!r} for {number}; change one")
    return numbers
