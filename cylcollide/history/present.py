"""Places on limbs of the past, carried to where the limbs are now."""

import numpy as np

from cylcollide._types import Float64Array, Int32Array, Int64Array
from cylcollide.characters.quaternions import normalised, rotated
from cylcollide.kernels.limb_table import LimbTable
from cylcollide.query.results import LimbFields
from cylcollide.world.hit_world import HitWorld

OPPOSITE = 2.0**-26
"""Of two unit vectors whose sum is shorter, no plane of the shortest turn can be told."""


def present_positions(
    world: HitWorld, places: LimbFields, position: Float64Array, row: Int32Array, judged: LimbTable
) -> Float64Array:
    """Where positions (n, 3) of a result are now, on the limbs in these rows of the table that was judged.

    nan for misses, and for characters that are gone.
    """
    state, local_position, rig_limb = world.snapshot(), places.local_position, places.rig_limb
    index, lives = state.layout.index_of(places.character)
    is_bare = rig_limb < 0
    kept = np.flatnonzero((row >= 0) & (is_bare | lives))
    has_bone = ~np.isnan(local_position[kept, 0])
    by_bone, by_ends = kept[has_bone], kept[~has_bone]
    moved = np.full(position.shape, np.nan)
    if len(by_bone):
        bone = state.layout.first.bones[index[by_bone]] + places.bone[by_bone]
        turn = normalised(state.columns.orientations[bone])
        moved[by_bone] = state.columns.positions[bone] + rotated(turn, local_position[by_bone])
    if len(by_ends):
        bare, new_row = is_bare[by_ends], places.limb[by_ends]  # a bare limb has the same row in every state
        if not bare.all():
            new_row = np.where(bare, new_row, state.layout.first.rows[index[by_ends]] + rig_limb[by_ends])
        moved[by_ends] = _moved(position[by_ends], judged, row[by_ends], state.table, new_row)
    return moved


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
