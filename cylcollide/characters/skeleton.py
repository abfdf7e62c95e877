"""Bones in a tree: the common base of rigs and skins, checked, with the transforms of the bones at rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, NoReturn, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import shapes, validate
from cylcollide._types import Float64Array, Int32Array
from cylcollide.bones.rig_rows import Bones
from cylcollide.characters import quaternions
from cylcollide.process.signatures import Shown


class Immutable(metaclass=Shown):
    """An object whose attributes are set only by its constructor, in the dictionary of the instance."""

    _scaled: ClassVar[tuple[str, ...]] = ()
    """Columns that the constructor normalises; copies keep them, since a second pass would change their last bits."""

    @property
    def _arguments(self) -> tuple[Any, ...]:
        """The arguments of the constructor, checked."""
        raise NotImplementedError

    def _set_columns(self, **columns: Any) -> None:
        """Set attributes to arrays, which become read-only; only for constructors."""
        for column in columns.values():
            column.flags.writeable = False
        vars(self).update(columns)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Raise AttributeError: the object is immutable."""
        kind = type(self).__name__
        raise AttributeError(f"{name}: a {kind} is immutable; make another with {kind}(...)")

    def __delattr__(self, name: str) -> NoReturn:
        """Raise AttributeError: the object is immutable."""
        self.__setattr__(name, None)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by the constructor, which makes arrays read-only."""
        return _copied, (type(self), self._arguments, {name: vars(self)[name] for name in self._scaled})


Kind = TypeVar("Kind", bound=Immutable)


def _copied(kind: type[Kind], arguments: tuple[Any, ...], scaled: dict[str, Any]) -> Kind:
    made = kind(*arguments)
    made._set_columns(**scaled)
    return made


class Skeleton(Immutable):
    """Named bones in a tree, with rest transforms relative to the parent: positions, quaternions.

    Parents precede their children; -1 is a root. The arguments are those of `Rig`.
    """

    bone_names: tuple[str, ...]
    parents: Int32Array
    rest_positions: Float64Array
    rest_orientations: Float64Array

    def __init__(
        self, bone_names: Sequence[str], parents: ArrayLike, rest_positions: ArrayLike, rest_orientations: ArrayLike
    ) -> None:
        names = checked_names(bone_names)
        rows = _parents(parents, names)
        positions = _of_bones(rest_positions, "rest_positions", 3, names)
        orientations = _of_bones(rest_orientations, "rest_orientations", 4, names)
        shapes.check_quaternions(orientations, "rest_orientations", lambda row: f"for {bone_label(names, row)}")
        self._set_columns(parents=rows, rest_positions=positions, rest_orientations=orientations)
        vars(self).update(bone_names=names)

    @property
    def _bone_columns(self) -> tuple[tuple[str, ...], Int32Array, Float64Array, Float64Array]:
        """Names, parents, rest positions and rest orientations: the first arguments of `Rig`."""
        return self.bone_names, self.parents, self.rest_positions, self.rest_orientations

    @cached_property
    def _rest(self) -> Bones:
        """The bones at rest, in the frame of the root's rest transform; read-only."""
        positions = np.array(self.rest_positions)
        orientations = quaternions.normalised(self.rest_orientations)
        for bone, parent in enumerate(self.parents.tolist()):
            if parent >= 0:
                positions[bone] = positions[parent] + quaternions.rotated(orientations[parent], positions[bone])
                orientations[bone] = quaternions.product(orientations[parent], orientations[bone])
        positions.flags.writeable = orientations.flags.writeable = False
        return Bones(positions, orientations)

    @cached_property
    def _rest_turns(self) -> Float64Array:
        """Rotation matrices of the bones at rest, (b, 3, 3)."""
        return shapes.rotation_matrices(self._rest.orientations)


def upwards(parents: Sequence[int] | Int32Array, bone: int) -> Iterator[int]:
    """A bone, its parent, and so on to its root."""
    while bone >= 0:
        yield bone
        bone = int(parents[bone])


def in_bone(skeleton: Skeleton, bone: int, points: Float64Array) -> Float64Array:
    """Points (n, 3), given with the bones at rest, in the frame of one bone."""
    return np.asarray((points - skeleton._rest.positions[bone]) @ skeleton._rest_turns[bone])


def from_bone(skeleton: Skeleton, bone: int, points: Float64Array) -> Float64Array:
    """Points (n, 3), given in the frame of a bone, in the frame of the bones at rest; the inverse of `in_bone`."""
    return np.asarray(points @ skeleton._rest_turns[bone].T + skeleton._rest.positions[bone])


def bone_label(names: Sequence[str], i: int) -> str:
    """The label of a bone in messages."""
    return f"bone {i} ({names[i]!r})"


def limb_label(names: Sequence[str], i: int) -> str:
    """The label of a limb in messages."""
    return f"limb {i} ({names[i]!r})" if names[i] else f"limb {i}"


def checked_names(values: Sequence[str]) -> tuple[str, ...]:
    """Checked names of one or more bones, all different."""
    several = isinstance(values, Sequence) and not isinstance(values, str)
    names = tuple(values) if several else ()
    wrong = [name for name in names if not isinstance(name, str) or not name]
    if not names or wrong:
        got = validate.shown(wrong[0]) if wrong else "none" if several else type(values).__name__
        raise ValueError(f"bone_names: expected a list of one or more strings that are not empty, got {got}")
    rows: dict[str, int] = {}
    for i, name in enumerate(names):
        if (before := rows.setdefault(str(name), i)) != i:
            raise ValueError(f"bone_names: expected names once, got {name!r} for bones {before} and {i}; rename it")
    return tuple(rows)


def _parents(values: ArrayLike, names: Sequence[str]) -> Int32Array:
    """The parent of each bone, (b,): -1, or one of the bones before it."""
    given = validate.integers(values, "parents", len(names), -(2**31), 2**31 - 1, one=False)
    row = validate.first_bad_row((given < -1) | (given >= np.arange(len(names))))
    if row is not None:
        raise ValueError(
            f"parents: expected -1 for a root, or the index of a bone before {bone_label(names, row)}, got "
            f"{given[row]}; list parents before their children"
        )
    return given.astype(np.int32)


def _of_bones(values: ArrayLike, name: str, width: int, names: Sequence[str]) -> Float64Array:
    """Accepted numbers, one row per bone, (b, width)."""
    shape = (len(names), width)
    given = validate.as_numbers(values, name, str(shape))
    if given.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, one row per bone, got {given.shape}")
    return validate.in_range(validate.as_float64(given, name), name, lambda row: f"for {bone_label(names, row)}")
