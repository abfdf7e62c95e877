"""RigData: bones in a tree, and limbs fastened to them; checked, immutable, comparable."""

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from cylcollide._types import Float64Array, Int32Array, Shape
from cylcollide.bones.rig_rows import RigRows
from cylcollide.bones.skeleton import Skeleton
from cylcollide.characters import rig_checks
from cylcollide.limbs.limbs import Limbs
from cylcollide.runtime.simd import LANES

EIGHT = np.arange(LANES, dtype=np.int32)
EIGHT.flags.writeable = False


class RigData:
    """What a `Rig` holds; its constructor, with the arguments that `Rig` names."""

    __hash__ = None  # type: ignore[assignment]  # arrays inside

    bone_names: tuple[str, ...]
    parents: Int32Array
    rest_positions: Float64Array
    rest_orientations: Float64Array
    limbs: Limbs
    """The limbs in the frames of their bones."""
    limb_bone: Int32Array
    groups: Mapping[str, int]
    """Numbers of hit groups by name, read-only."""
    rows: RigRows
    """The limbs as loops read them."""
    skeleton: Skeleton
    """The bones as loops read them."""
    rest_offsets: Float64Array
    """Where the bones are at rest, as loops read it: (1, b, 3), of roots from the first one."""

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
        names = rig_checks.bone_names(bone_names)
        parent_rows = rig_checks.parents(parents, names)
        positions = rig_checks.bone_vectors(rest_positions, "rest_positions", names)
        orientations = rig_checks.bone_quaternions(rest_orientations, "rest_orientations", names)
        bone = rig_checks.limb_bones(limb_bone, limbs, names)
        table = limbs.table
        offsets = rig_checks.offsets(positions, parent_rows)
        for column in (parent_rows, positions, orientations, bone, offsets):
            column.flags.writeable = False
        vars(self).update(
            bone_names=names, parents=parent_rows, rest_positions=positions, rest_orientations=orientations,
            limbs=limbs, limb_bone=bone, groups=MappingProxyType(rig_checks.groups(groups)),
            rows=RigRows(bone, table.p1, table.p2, table.box, table.boxes),
            skeleton=Skeleton(parent_rows, EIGHT),
            rest_offsets=offsets,
        )  # fmt: skip

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Rigs never change: AttributeError."""
        raise AttributeError(f"{name}: a Rig is immutable; make another with Rig(...)")

    def __delattr__(self, name: str) -> NoReturn:
        """Rigs never change: AttributeError."""
        raise AttributeError(f"{name}: a Rig is immutable; make another with Rig(...)")

    def __reduce__(self) -> tuple[type["RigData"], tuple[Any, ...]]:
        """Copies and pickles are made by the constructor, which makes their arrays read-only again."""
        return type(self), self.arguments

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments of the constructor, checked."""
        skeleton = (self.bone_names, self.parents, self.rest_positions, self.rest_orientations)
        return (*skeleton, self.limbs, self.limb_bone, dict(self.groups))

    def __eq__(self, other: object) -> bool:
        """Whether all columns, limbs and names are equal; the order of the groups does not count."""
        if not isinstance(other, RigData):
            return NotImplemented
        pairs = zip(self.arguments, other.arguments, strict=True)
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
