"""Frames: limbs at one moment, which of them are statics, and bones; from worlds, rigs and histories."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int32Array
from cylcollide.characters.rig import Rig
from cylcollide.history.pose_history import PoseHistory
from cylcollide.history.ticks import Tick
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.labels import NO_STATIC
from cylcollide.world.snapshot import Snapshot

NO_BONES: Float64Array = np.empty((0, 2, 3))


@dataclass(frozen=True)
class Frame:
    """Limbs at one moment."""

    limbs: Limbs
    is_static: BoolArray
    """Which limbs are statics, such as walls and doors; (n,)."""
    bones: Float64Array
    """Lines from joint to joint, (k, 2, 3)."""


def frame_of_limbs(limbs: Limbs) -> Frame:
    """A frame of limbs without bones."""
    return Frame(limbs, np.zeros(len(limbs), np.bool_), NO_BONES)


def frame_of_rig(rig: Rig) -> Frame:
    """A rig at rest, at the origin."""
    positions, orientations = rig.forward(rig.rest_positions[0], [0.0, 0.0, 0.0, 1.0], rig.rest_orientations)
    limbs = rig.place(positions, orientations)
    return Frame(limbs, np.zeros(len(limbs), np.bool_), _lines(positions[0], rig.parents))


def frame_of_state(state: Snapshot) -> Frame:
    """A state of a world."""
    layout = state._layout
    bones = _bones(state._columns.positions, layout.rigs, layout.rig, layout.first.bones)
    return Frame(state.limbs, layout.static != NO_STATIC, bones)


def frame_of_tick(history: PoseHistory, tick: Tick) -> Frame:
    """A tick that a history keeps."""
    made, bones = tick.structure, NO_BONES
    if not tick.by_ends:
        bones = _bones(tick.bones[:, :3], made.models.rigs, made.rig, made.characters["first_bone"])
    return Frame(history.limbs_at(tick=tick.number), made.static != NO_STATIC, bones)


def frame_at(history: PoseHistory, time: float) -> Frame:
    """The limbs that a query at a time judges; without bones."""
    ticks = history._kept_ticks
    before = max(int(np.searchsorted(history.times, time, "right")) - 1, 0)
    return Frame(history.limbs_at(time), ticks[before].structure.static != NO_STATIC, NO_BONES)


def _bones(joints: Float64Array, rigs: Sequence[Rig], rig: Int32Array, first: Int32Array) -> Float64Array:
    """Lines of the bones of all characters, (k, 2, 3): a rig by its number, and the first of `joints`, for each."""
    each = zip(rig.tolist(), first.tolist(), strict=False)
    return np.concatenate([NO_BONES, *(_lines(joints[begin:], rigs[number].parents) for number, begin in each)])


def _lines(joints: Float64Array, parents: Int32Array) -> Float64Array:
    """Lines between bones and their parents, (k, 2, 3); the bones are the first of `joints`."""
    child = np.flatnonzero(parents >= 0)
    return np.stack([joints[parents[child]], joints[child]], axis=1)
