"""Transforms as matrices, as engines give them: conversion to positions and orientations, and error messages."""

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import Float64Array
from cylcollide.bones.matrices import pose_matrices
from cylcollide.constants import LARGEST_NUMBER, MATRICES_PER_THREAD, OFF_ORTHONORMAL
from cylcollide.process.threads import in_chunks

MatrixOrder: TypeAlias = Literal["row", "column"]
"""The translation in the last column (matrix times column vector), or in the last row (its transpose)."""

Poses: TypeAlias = tuple[Float64Array, Float64Array]
"""Positions and orientations."""

SHAPES: dict[str, tuple[tuple[int, int], tuple[int, int]]] = {"row": ((4, 4), (3, 4)), "column": ((4, 4), (4, 3))}


def poses_of_matrices(matrices: ArrayLike, order: MatrixOrder, bones: int) -> tuple[Poses, Float64Array, int]:
    """The poses of matrices (k, b, ., .), or (b, ., .) for one character; ValueError for other shapes.

    Returns positions (k, b, 3) and orientations (k, b, 4), unit quaternions x, y, z, w; the matrices as numbers; and
    the index, among the k b, of the first that is no rotation and translation, -1 if none; see `transform_error`.
    """
    validate.one_of(order, "order", *SHAPES)
    shapes = [(bones, *shape) for shape in SHAPES[order]]
    expected = " or ".join(f"(k, {', '.join(map(str, shape))})" for shape in shapes)
    given = validate.as_numbers(matrices, "matrices", expected)
    if given.shape == (0,):  # of an empty list
        given = given.reshape(0, *shapes[0])
    if given.shape in shapes:
        given = given[None]
    if given.shape[1:] not in shapes:
        raise ValueError(f"matrices: expected shape {expected} for order={order!r}, got {given.shape}")
    in_form = given.dtype is validate.FLOAT64 and given.flags.c_contiguous
    numbers = given if in_form else validate.as_float64(given, "matrices")
    k, _, rows, columns = numbers.shape
    position, turn, flat = np.empty((k * bones, 3)), np.empty((k * bones, 4)), numbers.reshape(-1, rows * columns)
    down, right = (columns, 1) if order == "row" else (1, columns)

    def convert(begin: int, end: int) -> int:
        bad = pose_matrices(flat[begin:end], down, right, position[begin:end], turn[begin:end])
        return bad if bad < 0 else begin + bad

    bad = next((one for one in in_chunks(k * bones, None, convert, MATRICES_PER_THREAD) if one >= 0), -1)
    return (position.reshape(k, bones, 3), turn.reshape(k, bones, 4)), numbers, bad


def transform_error(matrix: Float64Array, order: MatrixOrder) -> str:
    """The message about an invalid transform: the expected and the given numbers."""
    m = matrix if order == "row" else matrix.T
    if not (np.abs(matrix) <= LARGEST_NUMBER).all():
        return f"expected finite numbers of magnitude at most 2**500 (about 3e150), got {matrix.tolist()}"
    if len(m) == 4 and m[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
        line, other = ("row", "column") if order == "row" else ("column", "row")
        turned = m[:, 3].tolist() == [0.0, 0.0, 0.0, 1.0]
        hint = f"; with the translation in the last {line} it is order={other!r}" if turned else ""
        return f"expected 0, 0, 0, 1 as the last {line} for order={order!r}, got {m[3].tolist()}{hint}"
    return rotation_error(m[:3, :3])


def rotation_error(m: Float64Array) -> str:
    """The message about a matrix (3, 3) that is no rotation."""
    lengths = np.sqrt((m * m).sum(axis=0))
    scale = " ".join(f"{length:.6g}" for length in lengths)
    if not (np.abs(lengths - 1.0) <= OFF_ORTHONORMAL).all():
        return (
            f"expected a rotation, with columns of length 1 to {OFF_ORTHONORMAL:g}, got columns of lengths {scale}; "
            "divide them by that scale, or scale the rig"
        )
    if np.linalg.det(m) < 0.0:
        return f"expected a rotation, got a mirrored one of scale {scale}; negate an axis, or mirror the rig"
    return (
        f"expected a rotation, got a sheared one of scale {scale}, whose columns are not at right angles: {m.tolist()}"
    )
