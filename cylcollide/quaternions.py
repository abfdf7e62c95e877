"""Rotations as quaternions, in the orders that engines use: x, y, z, w (`order="xyzw"`) or w, x, y, z ("wxyz").

The last axes of each argument hold one rotation; the others broadcast. `order` applies to every quaternion of a call.
All other functions of this library take and return x, y, z, w.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import Float64Array
from cylcollide.bones.matrices import turn_matrices
from cylcollide.characters import quaternions as of_arrays
from cylcollide.characters.matrices import rotation_error
from cylcollide.constants import SMALLEST_SIZE
from cylcollide.process.signatures import shown_short

__all__ = ["QuaternionOrder", "from_axis_angle", "from_matrix", "multiply", "slerp"]

QuaternionOrder: TypeAlias = Literal["xyzw", "wxyz"]
"""As in PyBullet, Unity, Unreal, Godot, glTF and SciPy; or as in MuJoCo, Blender, Panda3D and Eigen's constructor."""

_PLACES = {"xyzw": [0, 1, 2, 3], "wxyz": [1, 2, 3, 0]}


def multiply(a: ArrayLike, b: ArrayLike, order: QuaternionOrder = "xyzw") -> Float64Array:
    """Hamilton's product a b (..., 4): the rotation b followed by a.

    Raises
    ------
    ValueError
        On wrong shapes and numbers that are not accepted.
    """
    first, second = _quaternions(a, "a", order), _quaternions(b, "b", order)
    _broadcast({"a": first[..., 0], "b": second[..., 0]})
    return _in_order(of_arrays.product(first, second), order)


def from_axis_angle(axis: ArrayLike, angle: ArrayLike, order: QuaternionOrder = "xyzw") -> Float64Array:
    """Unit quaternions (..., 4) of turns by angles (...), in radians, about axes (..., 3).

    Counterclockwise as seen against the axis.

    Raises
    ------
    ValueError
        On wrong shapes, an axis of zeros, and numbers that are not accepted.
    """
    about, by = _numbers(axis, "axis", (3,)), _numbers(angle, "angle", ())
    about, half = _not_zero(about, "axis"), 0.5 * by
    _broadcast({"axis": about[..., 0], "angle": half})
    largest = np.abs(about).max(axis=-1, keepdims=True)
    unit = about / largest
    unit = unit / np.sqrt((unit * unit).sum(axis=-1, keepdims=True))
    vector = unit * np.sin(half)[..., None]
    scalar = np.broadcast_to(np.cos(half)[..., None], (*vector.shape[:-1], 1))
    return _in_order(np.concatenate([vector, scalar], axis=-1), order)


def from_matrix(matrices: ArrayLike, order: QuaternionOrder = "xyzw") -> Float64Array:
    """Unit quaternions (..., 4) of matrices (..., 3, 3) that turn columns; largest component > 0.

    Raises
    ------
    ValueError
        If columns are off orthonormal by more than 1e-4, or left-handed (the message has their
        lengths); on wrong shapes and numbers that are not accepted.
    """
    given = _numbers(matrices, "matrices", (3, 3))
    flat, turns = given.reshape(-1, 3, 3), np.empty((given.size // 9, 4))
    bad = turn_matrices(flat, turns, True)
    if bad >= 0:
        raise ValueError(f"matrices: {rotation_error(flat[bad])} in row {bad}")
    return _in_order(turns.reshape(*given.shape[:-2], 4), order)


def slerp(a: ArrayLike, b: ArrayLike, share: ArrayLike, order: QuaternionOrder = "xyzw") -> Float64Array:
    """Unit quaternions (..., 4) at a share (...) of the turn from a (0) to b (1), the short way.

    Quaternions have any length but 0. Between opposite orientations either way may be taken.

    Raises
    ------
    ValueError
        On wrong shapes, quaternions of zeros, and numbers that are not accepted.
    """
    first, second = (_not_zero(_quaternions(q, name, order), name) for q, name in ((a, "a"), (b, "b")))
    part = _numbers(share, "share", ())
    _broadcast({"a": first[..., 0], "b": second[..., 0], "share": part})
    turned = of_arrays.slerp(of_arrays.normalised(first), of_arrays.normalised(second), part)
    return _in_order(turned, order)


def _quaternions(values: ArrayLike, name: str, order: QuaternionOrder) -> Float64Array:
    """Accepted numbers (..., 4) as x, y, z, w."""
    validate.one_of(order, "order", *_PLACES)
    return _numbers(values, name, (4,))[..., _PLACES[order]]


def _in_order(q: Float64Array, order: QuaternionOrder) -> Float64Array:
    """Quaternions x, y, z, w in the requested order."""
    validate.one_of(order, "order", *_PLACES)
    return q if order == "xyzw" else q[..., [3, 0, 1, 2]]


def _numbers(values: ArrayLike, name: str, last: tuple[int, ...]) -> Float64Array:
    """Accepted numbers whose last axes have these lengths."""
    shape = f"({', '.join(['...', *map(str, last)])})" if last else "(...)"
    given = validate.as_numbers(values, name, shape, *last)
    if given.shape[given.ndim - len(last) :] != last or given.ndim < len(last):
        raise ValueError(f"{name}: expected shape {shape}, got {given.shape}")
    numbers = validate.as_float64(given, name)
    validate.in_range(numbers.reshape(-1, *last), name)
    return numbers


def _not_zero(vectors: Float64Array, name: str) -> Float64Array:
    """The same vectors, if each has a component that is as large as a size must be."""
    short = np.abs(vectors.reshape(-1, vectors.shape[-1])).max(axis=-1, initial=0.0) < SMALLEST_SIZE
    row = validate.first_bad_row(short)
    if row is not None:
        raise ValueError(f"{name}: expected a component of at least 2**-500, got zeros or less in row {row}")
    return vectors


def _broadcast(columns: dict[str, Float64Array]) -> None:
    """Raise a ValueError unless the arrays broadcast."""
    try:
        np.broadcast_shapes(*(column.shape for column in columns.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {column.shape}" for name, column in columns.items())
        raise ValueError(f"{next(iter(columns))}: expected shapes that broadcast, got {shapes}") from None


for _function in (from_axis_angle, from_matrix, multiply, slerp):
    shown_short(_function)
