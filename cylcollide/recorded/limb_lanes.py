"""Eight limbs of recorded states side by side, each placed by its bone at its own moment.

They are bit-equal to what `limbs.place_by_bone` writes for each.
"""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Column
from cylcollide.bones.bone import carried, orientation_between, rotation_of, vector_between
from cylcollide.kernels.limb_table import Limb, limb_between
from cylcollide.kernels.traits import WITH_AXES
from cylcollide.recorded.limbs import BONE_SIZE, TickRows, is_by_ends, model_of
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import load, load_rows, prefetch


class LaneRows(NamedTuple):
    """A list of limbs: the rows of each limb's numbers."""

    ray: Column[np.int32]  # the ray that each is placed for
    row: Column[np.int32]  # in its tick
    model: Column[np.int32]
    bone: Column[np.int32]
    next_bone: Column[np.int32]  # in the next tick; the first row there for one that stays
    alpha: Column[np.float64]  # 0 for one that stays


def make_lane_rows(count: int) -> LaneRows:
    """A list of `count` limbs."""
    ray, row, model, bone, following = np.zeros((5, count), np.int32)
    return LaneRows(ray, row, model, bone, following, np.zeros(count))


@inlined
def fits_lanes(here: TickRows, row: int) -> bool:
    """Whether the limb has no axes of its own, and a bone of an ordinary character, or of a static, carries it."""
    if is_by_ends(here, row) or model_of(here, row)["kind"] in WITH_AXES:
        return False
    return bool(here.character[here.limb[row]["owner"]]["is_ordinary"] != 0)


@inlined
def set_lane(lanes: LaneRows, k: int, ray: int, here: TickRows, there: TickRows, row: int, alpha: float) -> None:
    """Set limb k to a tick's row, which a bone of an ordinary character carries; and prefetch its numbers."""
    character, bone = here.character[here.limb[row]["owner"]], model_of(here, row)["bone"]
    following = character["next_bone"]
    lanes.ray[k], lanes.row[k], lanes.model[k] = ray, row, here.limb[row]["model"]
    lanes.bone[k] = character["first_bone"] + bone
    lanes.next_bone[k] = following + bone if following >= 0 else 0
    lanes.alpha[k] = alpha if following >= 0 else 0.0
    prefetch(here.bones, BONE_SIZE * lanes.bone[k])
    prefetch(there.bones, BONE_SIZE * lanes.next_bone[k])


@inlined
def copy_lane(lanes: LaneRows, source: int, k: int) -> None:
    """Copy another limb to limb k."""
    lanes.ray[k], lanes.row[k] = lanes.ray[source], lanes.row[source]
    lanes.model[k], lanes.bone[k] = lanes.model[source], lanes.bone[source]
    lanes.next_bone[k], lanes.alpha[k] = lanes.next_bone[source], lanes.alpha[source]


@inlined
def limbs_at_moments(here: TickRows, there: TickRows, shape: int, lanes: LaneRows, first: int) -> Limb:
    """Limbs `first` to `first + 7`, of one shape other than a box."""
    alpha = load(lanes.alpha, first)
    x, y, z, a, b, c, d, m = load_rows(here.bones, lanes.bone, first, 0)
    u, v, w, e, f, g, h, n = load_rows(there.bones, lanes.next_bone, first, 0)
    origin = vector_between((x, y, z), (u, v, w), alpha)
    rotation = rotation_of(orientation_between((a, b, c, d), m, (e, f, g, h), n, alpha))
    x1, y1, z1, x2, y2, z2, radius, radius2 = load_rows(here.numbers, lanes.model, first, 0)
    p1, p2 = carried(rotation, origin, (x1, y1, z1)), carried(rotation, origin, (x2, y2, z2))
    return limb_between(shape, p1, p2, radius, radius2)
