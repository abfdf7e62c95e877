"""Places on limbs of the past, carried to where the limbs are now."""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Float64Array, Int32Array, Int64Array
from cylcollide.characters.quaternions import normalised, rotated
from cylcollide.kernels.limb_table import LimbTable
from cylcollide.world.snapshot import Snapshot

OPPOSITE = 2.0**-26
"""Of two unit vectors whose sum is shorter, no plane of the shortest turn can be told."""


class Touched(NamedTuple):
    """Places on limbs, a row each; -1 and nan for none."""

    limb: Int32Array  # row of the table that was judged
    state_row: Int32Array  # row of the state that was judged, which is that of now for bare limbs
    character: Int32Array
    rig_limb: Int32Array  # -1 for bare limbs
    bone: Int32Array
    position: Float64Array  # (n, 3)
    local_position: Float64Array  # (n, 3), in the frame of the bone; nan where no bones are known


def present_positions(touched: Touched, judged: LimbTable, state: Snapshot) -> Float64Array:
    """Where these places are in a state of the same world, (n, 3), nan for none and for characters that are gone."""
    index, lives = state.layout.index_of(touched.character)
    is_bare = touched.rig_limb < 0
    kept = np.flatnonzero((touched.limb >= 0) & (is_bare | lives))
    by_bone = kept[~np.isnan(touched.local_position[kept, 0])]
    by_ends = kept[np.isnan(touched.local_position[kept, 0])]
    places = np.full(touched.position.shape, np.nan)
    if len(by_bone):
        bone = state.layout.first.bones[index[by_bone]] + touched.bone[by_bone]
        turn = normalised(state.columns.orientations[bone])
        places[by_bone] = state.columns.positions[bone] + rotated(turn, touched.local_position[by_bone])
    if len(by_ends):
        own, bare = touched.rig_limb[by_ends], is_bare[by_ends]
        row = np.where(bare, touched.state_row[by_ends], 0)
        if not bare.all():
            row = np.where(bare, row, state.layout.first.rows[index[by_ends]] + own)
        places[by_ends] = _moved(touched.position[by_ends], judged, touched.limb[by_ends], state.table, row)
    return places


def _moved(
    position: Float64Array, before: LimbTable, row: Int32Array, after: LimbTable, new_row: Int64Array
) -> Float64Array:
    """Places (n, 3) on limbs of one table, moved with these to where they are in another one.

    A place keeps its share of the way between the ends, 0 to 1, and what is left is turned by the shortest turn from
    the old axis to the new one. In a box it keeps its coordinates.
    """
    first, step = before.p1[row], before.p2[row] - before.p1[row]
    new_first, new_step = after.p1[new_row], after.p2[new_row] - after.p1[new_row]
    square = (step * step).sum(axis=1, keepdims=True)
    along = ((position - first) * step).sum(axis=1, keepdims=True)
    share = np.clip(along / np.where(square > 0.0, square, 1.0), 0.0, 1.0)
    rest = position - (first + share * step)
    moved: Float64Array = new_first + share * new_step + _turned(rest, step, new_step)
    box = np.flatnonzero(before.box[row] >= 0)
    axes = before.boxes[before.box[row[box]], :9].reshape(-1, 3, 3)
    new_axes = after.boxes[after.box[new_row[box]], :9].reshape(-1, 3, 3)
    moved[box] = new_first[box] + np.einsum("nk,nki->ni", np.einsum("nki,ni->nk", axes, rest[box]), new_axes)
    return moved


def _turned(v: Float64Array, step: Float64Array, new_step: Float64Array) -> Float64Array:
    """Vectors (n, 3) turned the shortest way from one direction to another; as they are, where one has no length.

    It is two reflections: at the plane across the first, and at the one across the middle of both.
    """
    length, new_length = (np.linalg.norm(d, axis=1, keepdims=True) for d in (step, new_step))
    turns = np.flatnonzero(((length > 0.0) & (new_length > 0.0))[:, 0])
    a, b = step[turns] / length[turns], new_step[turns] / new_length[turns]
    middle = a + b
    size = np.linalg.norm(middle, axis=1, keepdims=True)
    across = np.cross(a, np.eye(3)[np.abs(a).argmin(axis=1)])
    middle = np.where(
        size > OPPOSITE, middle / np.maximum(size, OPPOSITE), across / np.linalg.norm(across, axis=1, keepdims=True)
    )
    turned = v.copy()
    for normal in (a, middle):
        turned[turns] -= 2.0 * (turned[turns] * normal).sum(axis=1, keepdims=True) * normal
    return turned
