"""Walking humanoids of 17 limbs on a square field: the moving targets of the workloads."""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.limbs.limbs import Limbs


class WalkerBone(NamedTuple):
    """One limb of the skeleton. x points forward, y to the left, z up; lengths in metres."""

    name: str
    parent: str  # "" for the root
    from_end: bool  # whether it is attached to its parent's end or start
    offset: tuple[float, float, float]  # of its start from there
    heading: tuple[float, float, float]
    length: float
    radius: float
    swing: float  # amplitude of its swing forward and back in a step, as a fraction of its length


TRUNK = (
    WalkerBone("pelvis", "", False, (0.0, 0.0, 0.92), (0.0, 0.0, 1.0), 0.14, 0.15, 0.03),
    WalkerBone("abdomen", "pelvis", True, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.16, 0.14, 0.04),
    WalkerBone("chest", "abdomen", True, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.26, 0.17, 0.05),
    WalkerBone("neck", "chest", True, (0.0, 0.0, 0.0), (0.1, 0.0, 1.0), 0.10, 0.055, 0.05),
    WalkerBone("head", "neck", True, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.22, 0.10, 0.05),
)
LEFT_SIDE = (
    WalkerBone("upper arm", "chest", True, (0.0, 0.21, -0.04), (0.0, 0.25, -1.0), 0.29, 0.05, 0.5),
    WalkerBone("forearm", "upper arm", True, (0.0, 0.0, 0.0), (0.35, 0.0, -1.0), 0.26, 0.04, 0.6),
    WalkerBone("hand", "forearm", True, (0.0, 0.0, 0.0), (0.3, 0.0, -1.0), 0.17, 0.035, 0.6),
    WalkerBone("thigh", "pelvis", False, (0.0, 0.10, 0.03), (0.0, 0.0, -1.0), 0.43, 0.08, -0.45),
    WalkerBone("shin", "thigh", True, (0.0, 0.0, 0.0), (-0.1, 0.0, -1.0), 0.42, 0.055, -0.35),
    WalkerBone("foot", "shin", True, (0.0, 0.0, 0.0), (1.0, 0.0, -0.1), 0.24, 0.045, 0.1),
)


def _mirrored(bone: WalkerBone, side: str) -> WalkerBone:
    sign = 1.0 if side == "left" else -1.0
    parent = f"{side} {bone.parent}" if bone.parent not in {"chest", "pelvis"} else bone.parent
    (x, y, z), (hx, hy, hz) = bone.offset, bone.heading
    # The sides swing against each other.
    offset, heading = (x, sign * y, z), (hx, sign * hy, hz)
    return bone._replace(
        name=f"{side} {bone.name}", parent=parent, offset=offset, heading=heading, swing=sign * bone.swing
    )


SKELETON = (*TRUNK, *(_mirrored(bone, side) for side in ("left", "right") for bone in LEFT_SIDE))
LIMBS = len(SKELETON)
SPEED = 1.4  # metres a second, a walk
STEPS = 1.0  # double steps a second


class Crowd:
    """Humanoids that walk over a field, each with its own size, posture and phase; times in seconds.

    All coordinates and radii are float32 numbers, so that no engine rounds them.
    """

    def __init__(self, characters: int, field: float, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self._root = rng.uniform(0.0, field, (characters, 2))
        self._yaw, self._phase = rng.uniform(0.0, 2 * np.pi, (2, characters))
        self._size = rng.uniform(0.9, 1.1, characters)
        self._posture = 0.1 * rng.standard_normal((characters, LIMBS, 3))
        radius = np.array([bone.radius for bone in SKELETON])
        self.radius: Float64Array = _float32((self._size[:, None] * radius).reshape(-1))

    def ends(self, time: float) -> tuple[Float64Array, Float64Array]:
        """Both ends of every limb, (17 characters, 3) each, character by character."""
        p1, p2 = self._standing(time)
        return self._placed(p1, time), self._placed(p2, time)

    def limbs(self, time: float = 0.0) -> Limbs:
        """All limbs as cylinders, `character` numbered from 0."""
        p1, p2 = self.ends(time)
        return Limbs.cylinders(p1, p2, self.radius, character=np.arange(len(p1)) // LIMBS)

    def _standing(self, time: float) -> tuple[Float64Array, Float64Array]:
        """The skeleton of every character at the origin, looking along x."""
        step = np.sin(2 * np.pi * STEPS * time + self._phase)
        p1, p2 = np.zeros((2, len(step), LIMBS, 3))
        row = {bone.name: k for k, bone in enumerate(SKELETON)}
        for k, bone in enumerate(SKELETON):
            joint = (p2 if bone.from_end else p1)[:, row[bone.parent]] if bone.parent else 0.0
            heading = np.array(bone.heading) + self._posture[:, k]
            heading[:, 0] += bone.swing * step
            p1[:, k] = joint + np.array(bone.offset)
            p2[:, k] = p1[:, k] + bone.length * heading / np.linalg.norm(heading, axis=1)[:, None]
        return p1, p2

    def _placed(self, points: Float64Array, time: float) -> Float64Array:
        cos, sin = np.cos(self._yaw)[:, None], np.sin(self._yaw)[:, None]
        x, y, z = np.moveaxis(self._size[:, None, None] * points, 2, 0)
        ahead = SPEED * time
        placed = np.stack([cos * (x + ahead) - sin * y, sin * (x + ahead) + cos * y, z], axis=2)
        placed[..., :2] += self._root[:, None]
        return _float32(placed.reshape(-1, 3))


def _float32(values: Float64Array) -> Float64Array:
    return values.astype(np.float32).astype(np.float64)
