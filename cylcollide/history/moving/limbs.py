"""The limbs that flying bullets may hit: where they are at both ends of a tick."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cylcollide._types import Float64Array, Int8Array, Int32Array, Int64Array, Shape, Uint32Array
from cylcollide.history.ticks import Tick
from cylcollide.kernels.rig_rows import Placed, Places, place_limbs
from cylcollide.query.loops.moving_rows import AXES, CENTRE, HALF, HERE, PATH_ROW, THERE, TURN, TURN_NEXT
from cylcollide.world.state_rows import ranges

NO_BOX = -1
"""Of a limb that is no box, the row among the paths."""


class MovingLimbs(NamedTuple):
    """Limbs between a tick and the next one, sorted by tick and row of the state; (m,) rows."""

    tick: Int64Array  # place among the ticks
    state_row: Int32Array  # row of the state of the tick
    next_row: Int32Array  # row of the state of the next tick, -1 for a limb that stays where it is until then
    kind: Int8Array  # Shape
    radius: Float64Array
    radius2: Float64Array
    character: Int32Array
    rig_limb: Int32Array  # -1 for a bare limb
    mask: Uint32Array
    box: Int32Array  # row among the paths of boxes, -1 for other shapes
    here: Float64Array  # (m, 2, 3): ends at the tick, recorded
    there: Float64Array  # (m, 2, 3): ends at the next one; the same of a limb that stays


class Part(NamedTuple):
    """Some limbs of one tick."""

    limbs: MovingLimbs
    paths: Float64Array  # (boxes, PATH_ROW): of the boxes among them
    sizes: Int64Array  # how many limbs each entry has


def joined(parts: Sequence[Part]) -> Part:
    """The limbs of all parts, one part after another."""
    nothing, ends = np.empty(0, np.int64), np.empty((0, 2, 3))
    row, number, before = nothing.astype(np.int32), np.empty(0), 0
    limbs = [MovingLimbs(
        nothing, row, row, nothing.astype(np.int8), number, number, row, row, nothing.astype(np.uint32), row, ends, ends
    )]  # fmt: skip
    for part in parts:
        box = np.where(part.limbs.box < 0, NO_BOX, part.limbs.box + before).astype(np.int32)
        limbs.append(part.limbs._replace(box=box))
        before += len(part.paths)
    return Part(
        MovingLimbs._make(np.concatenate(column) for column in zip(*limbs, strict=True)),
        np.concatenate([np.empty((0, PATH_ROW)), *(part.paths for part in parts)]),
        np.concatenate([nothing, *(part.sizes for part in parts)]),
    )


def limbs_of(ticks: Sequence[Tick], k: int, entry: Int64Array) -> Part:
    """The limbs of these entries of tick k, ascending."""
    tick, rows, bare = ticks[k], ticks[k].rows, len(ticks[k].rows.bare)
    place = entry[entry >= bare] - bare
    count = np.ones(len(entry), np.int64)
    count[entry >= bare] = rows.counts.rows[place]
    begin = entry.astype(np.int32)
    begin[entry >= bare] = rows.first_row[place]
    next_begin = np.where(entry < bare, begin, -1).astype(np.int32)
    if tick.next is None:
        next_begin[:] = -1
    else:
        next_begin[entry >= bare] = tick.next.first_row[place]
    state_row = ranges(begin, count)
    stays = np.repeat(next_begin, count) < 0
    next_row = np.where(stays, -1, ranges(next_begin, count)).astype(np.int32)
    here = ends_of(tick, state_row)
    there = here.copy()
    if tick.next is not None:
        there[~stays] = ends_of(tick.next.tick, next_row[~stays])
    kind, radius, radius2 = rows.kind[state_row], rows.radius[state_row], rows.radius2[state_row]
    character, rig_limb, mask = rows.character[state_row], rows.rig_limb[state_row], rows.mask[state_row]
    solid = np.flatnonzero(kind == Shape.BOX)
    box = np.full(len(state_row), NO_BOX, np.int32)
    box[solid] = np.arange(len(solid))
    paths = _box_paths(tick, state_row[solid], next_row[solid], here[solid, 0], there[solid, 0])
    tick_of = np.full(len(state_row), k)
    return Part(
        MovingLimbs(
            tick_of, state_row, next_row, kind, radius, radius2, character, rig_limb, mask, box, here, there
        ),
        paths, count,
    )  # fmt: skip


def _box_paths(
    tick: Tick, row: Int32Array, next_row: Int32Array, here: Float64Array, there: Float64Array
) -> Float64Array:
    """The ways of boxes, by rows of their states, with centres `here` and `there`; rows of `MovingRows.paths`."""
    rows, paths = tick.rows, np.zeros((len(row), PATH_ROW))
    carried = rows.transform[row] >= 0 if len(tick.bones.positions) else np.zeros(len(row), np.bool_)
    paths[:, HERE : HERE + 3], paths[:, THERE : THERE + 3] = here, there
    paths[:, TURN + 3] = paths[:, TURN_NEXT + 3] = 1.0
    paths[~carried, AXES : HALF + 3] = tick.box_rows[rows.box[row[~carried]]]
    for own in np.flatnonzero(carried).tolist():
        rig = rows.rigs[rows.rig[np.searchsorted(rows.first_row, row[own], side="right") - 1]].rows
        limb, bone = rows.rig_limb[row[own]], rows.transform[row[own]]
        pose = later = (tick.bones.positions[bone], tick.bones.orientations[bone])
        if tick.next is not None and next_row[own] >= 0:
            following = tick.next.tick
            bone = following.rows.transform[next_row[own]]
            later = (following.bones.positions[bone], following.bones.orientations[bone])
        paths[own, HERE : CENTRE + 3] = np.concatenate([pose[0], later[0], pose[1], later[1], rig.p1[limb]])
        paths[own, AXES : HALF + 3] = rig.boxes[rig.box[limb]]
    return paths


def ends_of(tick: Tick, row: Int32Array) -> Float64Array:
    """Ends of limbs at a tick, by rows of its state, the recorded state's own bits; (n, 2, 3).

    All limbs of a character are among the rows, in order, or none.
    """
    recorded, ends = row < len(tick.ends[0]), np.empty((2, len(row), 3))
    for mine, column in zip(ends, tick.ends, strict=True):
        mine[recorded] = column[row[recorded]]
    first = np.flatnonzero(~recorded)
    if len(first):
        _place(tick, row, int(first[0]), ends)
    return np.ascontiguousarray(ends.transpose(1, 0, 2))


def _place(tick: Tick, row: Int32Array, begin: int, ends: Float64Array) -> None:
    """Write the ends of the limbs of posed characters, from `begin` on, which their recorded bones carry."""
    rows = tick.rows
    place = np.searchsorted(rows.first_row, row[begin:], side="right") - 1
    at = np.flatnonzero(np.append(True, np.diff(place) != 0))
    character, into = place[at], (at + begin).astype(np.int32)
    boxes = np.empty((int(rows.counts.boxes[character].sum()), 12))
    box = (np.cumsum(rows.counts.boxes[character]) - rows.counts.boxes[character]).astype(np.int32)
    for number in np.unique(rows.rig[character]).tolist():
        own, rig = np.flatnonzero(rows.rig[character] == number), rows.rigs[number]
        places = Places(rows.first_bone[character[own]], into[own], box[own])
        place_limbs(rig.rows, len(rig.bone_names), tick.bones, places, Placed(ends[0], ends[1], boxes))
