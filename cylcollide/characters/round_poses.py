"""Poses rounded before a world is given them, so that a log of them is small."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import Float64Array
from cylcollide.characters.quaternions import dot

ROUNDING = 2.0**-14
"""Step of positions, in the unit of lengths, and of the components of unit quaternions."""


def round_poses(positions: ArrayLike, orientations: ArrayLike) -> tuple[Float64Array, Float64Array]:
    """Positions (..., 3) and orientations (..., 4) as multiples of 2**-14: in metres, 1/16 mm.

    Give the result to `set_poses`: a `ShotLog` then needs a quarter of the room, and keeps what was
    judged. Quaternions are normalised first; a limb of 1 m turns by at most 0.1 mm.

    Raises
    ------
    ValueError
        On numbers that are not accepted, other shapes, and quaternions of length 0.
    """
    given = validate.as_numbers(positions, "positions", "(..., 3)")
    turns = validate.as_numbers(orientations, "orientations", "(..., 4)")
    if given.shape[-1:] != (3,):
        raise ValueError(f"positions: expected shape (..., 3), got {given.shape}")
    if turns.shape != (*given.shape[:-1], 4):
        raise ValueError(f"orientations: expected shape {(*given.shape[:-1], 4)}, as of positions, got {turns.shape}")
    at = validate.in_range(validate.as_float64(given, "positions"), "positions")
    turn = validate.in_range(validate.as_float64(turns, "orientations"), "orientations")
    size = np.abs(turn).max(axis=-1, keepdims=True, initial=0.0)
    if not size.all():
        row = int(np.flatnonzero(size.reshape(-1) == 0.0)[0])
        raise ValueError(f"orientations: expected quaternions other than zero, got zeros in row {row}")
    turn = turn / size
    turn = turn / np.sqrt(dot(turn, turn))[..., None]
    return _rounded(at), _rounded(turn)


def _rounded(numbers: Float64Array) -> Float64Array:
    """The nearest multiples; 0.0 for those that round to -0.0."""
    return np.rint(numbers / ROUNDING) * ROUNDING + 0.0
