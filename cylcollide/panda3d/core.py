"""The only import of Panda3D, so that its absence always raises the same error, with the remedy."""

from typing import Any

import numpy as np

from cylcollide._types import Float64Array
from cylcollide._version import not_installed

try:
    from panda3d import core
except ImportError as missing:
    raise not_installed("Panda3D", "panda3d", missing) from missing

SAME_SCALE = 1e-4
"""How far the three scales of a matrix may be from each other, and its axes from right angles, relative to them."""


def array_of(matrix: Any) -> Float64Array:
    """A matrix of Panda3D, which multiplies rows from the right, as float64 (4, 4)."""
    return np.array([list(row) for row in matrix], dtype=np.float64)


def scale_of(matrix: Float64Array, name: str) -> float:
    """The one scale of a matrix (4, 4); negative if it mirrors.

    ValueError, with a message that begins with `name`, if it scales its axes differently or shears.
    """
    axes = matrix[:3, :3]
    scale = float(np.cbrt(np.linalg.det(axes)))
    if not (scale != 0.0 and np.abs(axes @ axes.T / scale**2 - np.eye(3)).max() < 2.0 * SAME_SCALE):
        lengths = np.linalg.norm(axes, axis=1).round(6).tolist()
        raise ValueError(f"{name}: expected one scale for all axes and no shear, got axes of lengths {lengths}")
    return scale


__all__ = ["SAME_SCALE", "array_of", "core", "scale_of"]
