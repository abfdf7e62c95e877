"""The arrays that the kernels read limbs from, one row a limb."""

from typing import NamedTuple

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int32Array, Uint32Array
from cylcollide.kernels.cylinder import Cylinder, make_cylinder
from cylcollide.kernels.ray import as_vector
from cylcollide.simd import compiled


class LimbTable(NamedTuple):
    """Limbs as given and as prepared for the fast kernels; n rows, lengths in the unit of the input. Never changed."""

    p1: Float64Array  # (n, 3)
    p2: Float64Array  # (n, 3)
    radius: Float64Array  # (n,)
    character: Int32Array  # (n,)
    mask: Uint32Array  # (n,)
    prepared: Float64Array  # (n, 9): centre, axis, half length, radius, extent


def make_table(
    p1: Float64Array, p2: Float64Array, radius: Float64Array, character: Int32Array, mask: Uint32Array
) -> LimbTable:
    """Prepare checked limbs."""
    return LimbTable(p1, p2, radius, character, mask, _prepared(p1, p2, radius))


@compiled
def _prepared(p1: Float64Array, p2: Float64Array, radius: Float64Array) -> Float64Array:
    rows = np.empty((radius.size, 9))
    for i in range(radius.size):
        limb = make_cylinder(as_vector(p1, i), as_vector(p2, i), radius[i])
        for k in range(3):
            rows[i, k], rows[i, 3 + k] = limb.centre[k], limb.axis[k]
        rows[i, 6], rows[i, 7], rows[i, 8] = limb.half_length, limb.radius, limb.extent
    return rows


@compiled
def cylinder_at(prepared: Float64Array, i: int) -> Cylinder:
    """Row i as the kernels want it."""
    r = prepared[i]
    return Cylinder((r[0], r[1], r[2]), (r[3], r[4], r[5]), r[6], r[7], r[8])


@compiled
def considered(table: LimbTable, limb: int, mask: int, ignored: int) -> bool:
    """Whether a query with this mask sees the limb, and the limb is not of the character it ignores."""
    if ignored >= 0 and table.character[limb] == ignored:
        return False
    return bool((table.mask[limb] & mask) != 0)


def all_considered(table: LimbTable, mask: int, ignored: int) -> BoolArray:
    """`considered` for every limb."""
    seen: BoolArray = (table.mask & np.uint32(mask)) != 0
    return seen if ignored < 0 else seen & (table.character != ignored)
