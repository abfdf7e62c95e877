"""Planes as columns for loops, and which of them are the same plane."""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Blocks, Column, Vectors
from cylcollide.kernels.ties import Plane, coordinate_axis
from cylcollide.runtime.compile import inlined

LOWER, UPPER = 0, 1
"""The faces of a sheet: its normal leads from the lower to the upper one."""


class SheetTable(NamedTuple):
    """The columns of m sheets."""

    faces: Blocks[np.float64]  # (m, 2, 3), a point of the lower and one of the upper face
    normal: Vectors  # (m, 3), of any length
    unit: Vectors  # (m, 3), normals of length 1
    group: Column[np.uint32]  # (m,), filter groups


@inlined
def sheet_plane(sheets: SheetTable, k: int, face: int) -> Plane:
    """The plane of a face of sheet k, as `box_plane` has those of boxes."""
    axis, _ = coordinate_axis(sheets.normal[k, 0], sheets.normal[k, 1], sheets.normal[k, 2])
    return axis, sheets.faces[k, face, max(axis, 0)], 0.0


@inlined
def are_equal(sheets: SheetTable, one: int, other: int) -> bool:
    """Whether two sheets have the same numbers."""
    differing = 0
    for axis in range(3):
        for face in (LOWER, UPPER):
            differing += sheets.faces[one, face, axis] != sheets.faces[other, face, axis]
        differing += sheets.normal[one, axis] != sheets.normal[other, axis]
    return differing == 0
