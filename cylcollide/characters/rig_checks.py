"""The arguments of a rig's constructor, checked; messages name the bone or limb."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import Float64Array, Int32Array
from cylcollide.constants import LARGEST_NUMBER, SMALLEST_SIZE
from cylcollide.limbs.limbs import Limbs


def bone_names(values: Sequence[str]) -> tuple[str, ...]:
    """Names of one or more bones, all different."""
    several = isinstance(values, Sequence) and not isinstance(values, str)
    names = tuple(values) if several else ()
    wrong = [name for name in names if not isinstance(name, str) or not name]
    if not names or wrong:
        got = repr(wrong[0]) if wrong else "none" if several else type(values).__name__
        raise ValueError(f"bone_names: expected a list of one or more strings that are not empty, got {got}")
    rows: dict[str, int] = {}
    for i, name in enumerate(names):
        if (before := rows.setdefault(str(name), i)) != i:
            raise ValueError(f"bone_names: expected names once, got {name!r} for bones {before} and {i}; rename it")
    return tuple(rows)


def bone(names: Sequence[str], i: int) -> str:
    """How a message names a bone."""
    return f"bone {i} ({names[i]!r})"


def limb(names: Sequence[str], i: int) -> str:
    """How a message names a limb."""
    return f"limb {i} ({names[i]!r})" if names[i] else f"limb {i}"


def parents(values: ArrayLike, names: Sequence[str]) -> Int32Array:
    """The parent of each bone, (b,): -1, or one of the bones before it."""
    given = np.atleast_1d(validate.integers(values, "parents", len(names), -(2**31), 2**31 - 1))
    row = validate.first_bad_row((given < -1) | (given >= np.arange(len(names))))
    if row is not None:
        raise ValueError(
            f"parents: expected -1 for a root, or the index of a bone before {bone(names, row)}, got {given[row]}; "
            "list parents before their children"
        )
    return given.astype(np.int32)


def offsets(positions: Float64Array, parents: Int32Array) -> Float64Array:
    """Where bones are in their parents' frames, and roots from the first of them: positions (..., b, 3), (·, b, 3)."""
    moved = np.where((parents < 0)[:, None], positions - positions[..., :1, :], positions)
    return moved.reshape(-1, *moved.shape[-2:])


def _of_bones(values: ArrayLike, name: str, width: int, names: Sequence[str]) -> Float64Array:
    """Accepted numbers, one row a bone, (b, width)."""
    shape = (len(names), width)
    given = validate.as_numbers(values, name, str(shape))
    if given.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, one row a bone, got {given.shape}")
    numbers = validate.as_float64(given, name)
    row = validate.first_bad_row(~(np.abs(numbers) <= LARGEST_NUMBER))
    if row is not None:
        raise ValueError(
            f"{name}: expected finite numbers of magnitude at most 2**500 (about 3e150), got {numbers[row].tolist()} "
            f"for {bone(names, row)}; repair it, or choose a larger unit"
        )
    return numbers


def bone_vectors(values: ArrayLike, name: str, names: Sequence[str]) -> Float64Array:
    """Vectors of the bones, (b, 3)."""
    return _of_bones(values, name, 3, names)


def bone_quaternions(values: ArrayLike, name: str, names: Sequence[str]) -> Float64Array:
    """Quaternions of the bones, (b, 4), none of them zero."""
    numbers = _of_bones(values, name, 4, names)
    row = validate.first_bad_row(np.asarray((np.abs(numbers) < SMALLEST_SIZE).all(axis=1)))
    if row is not None:
        raise ValueError(
            f"{name}: expected a quaternion other than zero, its largest component at least 2**-500 (about 3e-151), "
            f"got {numbers[row].tolist()} for {bone(names, row)}; 0, 0, 0, 1 turns by nothing"
        )
    return numbers


def limb_bones(values: ArrayLike, limbs: Limbs, names: Sequence[str]) -> Int32Array:
    """The bone of each limb, (m,)."""
    if not isinstance(limbs, Limbs):
        raise ValueError(f"limbs: expected Limbs, got {type(limbs).__name__}; make them with Limbs.cylinders(...)")
    given = validate.integers(values, "limb_bone", len(limbs), -(2**31), 2**31 - 1)
    row = validate.first_bad_row((given < 0) | (given >= len(names)))
    if row is not None:
        raise ValueError(
            f"limb_bone: expected 0 to {len(names) - 1}, the index of a bone, got {given[row]} for "
            f"{limb(limbs.names, row)}; fasten each limb to a bone of the rig"
        )
    return given.astype(np.int32)


def groups(values: Mapping[str, int]) -> dict[str, int]:
    """Numbers of hit groups by name, all different."""
    if not isinstance(values, Mapping):
        raise ValueError(f"groups: expected a mapping of names to numbers, got {type(values).__name__}")
    names: dict[int, str] = {}
    for name, number in values.items():
        whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
        if not isinstance(name, str) or not name or not whole or not -(2**31) <= number < 2**31:
            raise ValueError(f"groups: expected a name and an integer of 32 bits, got {name!r}: {number!r}")
        if (other := names.setdefault(int(number), str(name))) != name:
            raise ValueError(f"groups: expected one name a number, got {other!r} and {name!r} for {number}; rename one")
    return {name: number for number, name in names.items()}
