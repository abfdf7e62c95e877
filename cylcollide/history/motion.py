"""Bounds on the motion of limbs between two ticks, and whether any limb disappears, appears or jumps there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.history.ticks import STAYS, Ring, Tick
from cylcollide.recorded.motion import LimbMotion, fill_motions


class Motion(NamedTuple):
    """`recorded.motion.LimbMotion` of all limbs of a tick, (rows,) each."""

    straight: Float64Array
    turning: Float64Array
    most_turning: Float64Array
    jump: Float64Array
    extent: Float64Array


def motion(ring: Ring, place: int) -> Motion:
    """Bounds on the motion of the limbs of the tick at index `place` until the next one."""
    found = Motion(*np.empty((len(LimbMotion._fields), ring.ticks[place].structure.rows)))
    fill_motions(ring.recorded, place, *found)
    return found


def is_settled(here: Tick, there: Tick) -> bool:
    """Whether no limb disappears, appears, jumps or changes its layers from one tick to the next."""
    structure = here.structure
    statics = structure.settled["next_row"] == STAYS
    bones = structure.settled["first_bone"][statics]
    return (
        structure is there.structure
        and (here.characters is structure.settled or not len(structure.ids))
        and np.array_equal(here.bones[bones], there.bones[bones])
    )
