"""Limbs of the past, each at its place at the time of a ray; and the present positions of points on limbs."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import Float64Array, Int8Array, Int32Array, Int64Array
from cylcollide.bvh.traverse import Stack, make_stack
from cylcollide.characters.quaternions import normalised, rotated
from cylcollide.history.requests import Protected
from cylcollide.history.sample_times import NO_TICK, RequestedTimes, SampleTimes, sample_times
from cylcollide.history.ticks import NO_OWNER, Ring, Structure
from cylcollide.kernels.limb_table import BOX_AXES, CENTRE, P1, P2, ROW, LimbRows, LimbTable
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.pictures import Scene
from cylcollide.query.labels import NO_BONE, NO_STATIC, RowLabels
from cylcollide.query.loops.inputs import PointFilters
from cylcollide.query.loops.recorded_candidates import Protection
from cylcollide.query.loops.recorded_nearest import PastPoints, one_row
from cylcollide.query.results import LimbFields
from cylcollide.recorded.limbs import place_bones, place_recorded
from cylcollide.runtime import memory
from cylcollide.world.hit_world import HitWorld
from cylcollide.world.layout import index_among


class RewoundLimbs:
    """N limbs at moments, given by the index of a tick in the ring, alpha, 0 to 1, and a row of the tick's state.

    Results read them like a state; `_state_row` has their rows in the states of their ticks.

    A limb whose axis vanishes at its time, such as one whose ends swap places, is in no layer: it is not hit. Nor are
    the limbs of a character that is beyond the accepted range between two ticks.
    """

    def __init__(self, ring: Ring, tick_index: Int32Array, alpha: Float64Array, row: Int32Array) -> None:
        self._ring, self._tick_index, self._alpha, self._state_row = ring, tick_index, alpha, row

    @cached_property
    def _kernel_rows(self) -> LimbRows:
        n = len(self._state_row)
        shape, character, mask = np.empty(n, np.int8), np.empty(n, np.int32), np.empty(n, np.uint32)
        placed = LimbRows(shape, character, mask, memory.rows((n, ROW)), 0)
        place_recorded(self._ring.recorded, self._tick_index, self._alpha, np.arange(n + 1), self._state_row, placed)
        return placed

    @cached_property
    def _parts(self) -> list[tuple[Structure, Any, Int32Array]]:
        """The distinct structures of the ticks, the indices of the limbs of each, and their rows."""
        structures = [tick.structure for tick in self._ring.ticks]
        distinct = list({id(one): one for one in structures}.values())
        if len(distinct) == 1:
            return [(distinct[0], slice(None), self._state_row)]
        number = {id(one): k for k, one in enumerate(distinct)}
        which = np.array([number[id(one)] for one in structures])[self._tick_index]
        of_each = [np.flatnonzero(which == k) for k in range(len(distinct))]
        return [(one, own, self._state_row[own]) for one, own in zip(distinct, of_each, strict=True)]

    def column(self, name: str, *field: str) -> NDArray[Any]:
        """A column of the models, or one field of it, for each limb."""
        parts = [(getattr(one.models, name), own, one.limb["model"][row]) for one, own, row in self._parts]
        parts = [(values[field[0]] if field else values, own, model) for values, own, model in parts]
        column = np.empty((len(self._state_row), *parts[0][0].shape[1:]), parts[0][0].dtype)
        for values, own, model in parts:
            column[own] = values[model]
        return column

    @cached_property
    def _table(self) -> LimbTable:
        shape, character, mask, rows, _ = self._kernel_rows
        kind: Int8Array = self.column("codes", "kind").astype(np.int8)
        is_box = self.column("codes", "box") >= 0
        p1, p2 = rows[:, P1 : P1 + 3].copy(), rows[:, P2 : P2 + 3].copy()
        p1[is_box] = p2[is_box] = rows[is_box, CENTRE : CENTRE + 3]
        box = np.where(is_box, np.cumsum(is_box) - 1, -1).astype(np.int32)
        boxes = np.ascontiguousarray(rows[is_box, BOX_AXES : BOX_AXES + 12])
        radius, radius2 = self.column("numbers")[:, 6:].T.copy()
        return LimbTable(kind, p1, p2, radius, radius2, box, boxes, character, mask, shape, rows)

    @cached_property
    def _labels(self) -> RowLabels:
        """Names, hit groups and bones of the limbs; if ends are interpolated, only statics have transforms."""
        n, row = len(self._state_row), self._state_row
        bone, static = self.column("codes", "bone").astype(np.int32), np.full(n, NO_STATIC, np.int32)
        for one, own, rows in self._parts:
            static[own] = one.static[rows]
        is_static = static != NO_STATIC
        is_carried = is_static if self._ring.by_ends else bone != NO_BONE
        transform = np.where(is_carried, np.arange(n), NO_BONE).astype(np.int32)
        bones = np.zeros((n, 3)), np.zeros((n, 4))
        place_bones(self._ring.recorded, self._tick_index, self._alpha, row, *bones)
        bone[is_static] = NO_BONE
        names, groups, rig_limb = (self.column(name) for name in ("names", "hit_group", "rig_limb"))
        return RowLabels(names, groups, bone, rig_limb, transform, *bones, static)

    @property
    def identity(self) -> Int64Array:
        """A key of each limb, equal in all ticks: static, character, and number among its limbs; (limbs, 3)."""
        found = np.empty((len(self._state_row), 3), np.int64)
        for one, own, row in self._parts:
            owner = one.limb["owner"][row]
            owned, ids, first = owner >= 0, np.full(len(row), NO_OWNER), np.zeros(len(row), np.int64)
            ids[owned], first[owned] = (one.characters[name][owner[owned]] for name in ("id", "first_row"))
            found[own] = np.column_stack([one.static[row], ids, row - first])
        return found

    def limbs(self) -> Limbs:
        """The limbs as `Limbs`."""
        return Limbs(self._table, self._labels.hit_group, tuple(self._labels.names.tolist()))

    def _scene(self, tick: int, alpha: float) -> Scene:
        """All limbs at another moment, for pictures."""
        whole = all_limbs(self._ring, tick - self._ring.first, alpha)
        return Scene(whole.limbs(), whole._labels.static)


class AtTimes:
    """N rays or points, each at its own time, with their ticks and the limbs at these times."""

    def __init__(
        self, world: HitWorld, ring: Ring, n: int, requested: RequestedTimes | SampleTimes, protected: Protected
    ) -> None:
        """`ring`: the recorded ticks; `world`: for present positions. ValueError for times that are not kept."""
        self.ring, self.present = ring, partial(present_positions, world)
        self.times, self.tick_index = sample_times(ring, n, requested)
        self.protection = Protection(*protected, self.times.time)

    def protected(self, rows: Int64Array | slice) -> Protection:
        """The protected characters, for some of the rays."""
        return self.protection._replace(time=self.times.time[rows])

    def points(self, points: Float64Array, reach: Float64Array, filters: PointFilters) -> PastPoints:
        """Points at these times, in the form that loops read."""
        moments = self.ring.recorded, self.tick_index, self.times.alpha, self.protection
        return PastPoints(points, reach, filters, *moments)

    def memory(self) -> tuple[Stack, LimbRows]:
        """Scratch memory for loops over `points`."""
        return make_stack(self.ring.deepest_tree), one_row()

    def limbs(self, which: Int64Array, row: Int32Array) -> RewoundLimbs:
        """Rows of ticks, each limb at the moment of its ray."""
        return RewoundLimbs(self.ring, self.tick_index[which], self.times.alpha[which], row)


def all_limbs(ring: Ring, index: int, alpha: float) -> RewoundLimbs:
    """All limbs at a moment, in the order of their rows; `index`: of its tick in the ring, NO_TICK for no limbs."""
    rows = np.arange(0 if index == NO_TICK else ring.ticks[index].structure.rows, dtype=np.int32)
    return RewoundLimbs(ring, np.full_like(rows, index), np.full(len(rows), alpha), rows)


# Now ------------------------------------------------------------------------------------------------------------------

OPPOSITE = 2.0**-26
"""If the sum of two unit vectors is shorter, the plane of the shortest rotation between them is undetermined."""


def present_positions(
    world: HitWorld, places: LimbFields, position: Float64Array, row: Int32Array, judged: LimbTable
) -> Float64Array:
    """Positions (n, 3) of a result, moved with their limbs to the present; `row`: of the table that was judged.

    nan for misses, and for characters and statics that are gone.
    """
    state, local_position, rig_limb = world.snapshot(), places.local_position, places.rig_limb
    layout, is_static = state._layout, places.static != NO_STATIC
    index, lives = index_among(places.character, layout.ids)
    of_static, is_there = index_among(places.static, layout.statics.handles)
    index = np.where(is_static, len(layout.ids) + of_static, index)
    is_bare = (rig_limb < 0) & ~is_static
    kept = np.flatnonzero((row >= 0) & (is_bare | lives | (is_static & is_there)))
    has_bone = ~np.isnan(local_position[kept, 0])
    by_bone, by_ends = kept[has_bone], kept[~has_bone]
    moved = np.full(position.shape, np.nan)
    if len(by_bone):
        bone = layout.first.bones[index[by_bone]] + np.maximum(places.bone[by_bone], 0)  # a static's only bone is 0
        turn = normalised(state._columns.orientations[bone])
        moved[by_bone] = state._columns.positions[bone] + rotated(turn, local_position[by_bone])
    if len(by_ends):
        bare, new_row = is_bare[by_ends], places.limb[by_ends]  # a bare limb has the same row in every state
        if not bare.all():
            new_row = np.where(bare, new_row, layout.first.rows[index[by_ends]] + rig_limb[by_ends])
        moved[by_ends] = _moved(position[by_ends], judged, row[by_ends], state._table, new_row)
    return moved


def _moved(
    position: Float64Array, before: LimbTable, row: Int32Array, after: LimbTable, new_row: Int64Array
) -> Float64Array:
    """Points (n, 3) on limbs of one table, moved with the limbs to their places in another table.

    A point keeps its fraction along the axis, clipped to 0 to 1; its offset from the axis point is turned by the
    shortest rotation from the old axis to the new one. In a box a point keeps its coordinates.
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
    """Vectors (n, 3) turned by the shortest rotation from one direction to another; unchanged if a direction is 0.

    Two reflections: in the plane normal to the first direction, and in the plane normal to the bisector of both.
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
