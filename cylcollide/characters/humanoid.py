"""The proportions of a standing person: bones, and a limb for each.

Heights and lengths of segments are fractions of the stature from R. Drillis and R. Contini, "Body Segment Parameters",
New York University, Technical Report 1166.03, 1966, as shown by D. A. Winter in *Biomechanics and Motor Control of
Human Movement*: shoulder 0.818, hip 0.530, knee 0.285, ankle 0.039, chin 0.870, upper arm 0.186, forearm 0.146, hand
0.108, foot 0.152. The breadth of the shoulders there, 0.259, is nearly that over both arms, so joints are 0.224 apart.
Girths are not given there: radii are those of circles of usual girths (for 1.75 m: chest 0.95 m, thigh 0.55 m, upper
arm 0.32 m, ankle 0.23 m), and hip joints are 0.1 apart.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import Float64Array, Shape
from cylcollide.characters.rig_parts import MAKERS
from cylcollide.characters.standard_names import GROUPS
from cylcollide.limbs.limbs import Limbs

SHOULDER, HIP, KNEE, ANKLE, CHIN = 0.818, 0.530, 0.285, 0.039, 0.870
ELBOW = SHOULDER - 0.186
WRIST = ELBOW - 0.146
SHOULDER_SIDE, HIP_SIDE = 0.112, 0.050
SMALLEST_HEIGHT, LARGEST_HEIGHT = 2.0**-400, 2.0**400


@dataclass(frozen=True)
class Part:
    """One bone with its limb, in fractions of the stature; x forward, y to the left, z up, the origin at the soles."""

    name: str
    parent: str
    group: str
    joint: tuple[float, float, float]
    shape: Shape
    p1: tuple[float, float, float]
    p2: tuple[float, float, float]
    radii: tuple[float, ...]  # two for a tapered cylinder, else one


def _trunk(name: str, parent: str, group: str, low: float, high: float, shape: Shape, *radii: float) -> Part:
    joint = HIP if name == "pelvis" else low
    return Part(name, parent, group, (0, 0, joint), shape, (0, 0, low), (0, 0, high), radii)


TRUNK = (
    _trunk("pelvis", "", "torso", 0.485, 0.600, Shape.TAPERED, 0.088, 0.080),
    _trunk("abdomen", "pelvis", "torso", 0.600, 0.690, Shape.TAPERED, 0.080, 0.084),
    _trunk("chest", "abdomen", "torso", 0.690, 0.830, Shape.CYLINDER, 0.086),
    _trunk("neck", "chest", "torso", 0.830, 0.885, Shape.CYLINDER, 0.034),
    _trunk("head", "neck", "head", CHIN, 1.0, Shape.ELLIPSOID, 0.050),
)

SIDE = (
    Part("upper_arm", "chest", "arm", (0, SHOULDER_SIDE, SHOULDER), Shape.CAPSULE,
         (0, SHOULDER_SIDE, SHOULDER), (0, SHOULDER_SIDE, ELBOW), (0.029,)),
    Part("forearm", "upper_arm", "arm", (0, SHOULDER_SIDE, ELBOW), Shape.TAPERED,
         (0, SHOULDER_SIDE, ELBOW), (0, SHOULDER_SIDE, WRIST), (0.026, 0.016)),
    Part("hand", "forearm", "arm", (0, SHOULDER_SIDE, WRIST), Shape.CAPSULE,
         (0, SHOULDER_SIDE, WRIST - 0.020), (0, SHOULDER_SIDE, WRIST - 0.088), (0.020,)),
    Part("thigh", "pelvis", "leg", (0, HIP_SIDE, HIP), Shape.TAPERED,
         (0, HIP_SIDE, HIP), (0, HIP_SIDE, KNEE), (0.050, 0.035)),
    Part("shank", "thigh", "leg", (0, HIP_SIDE, KNEE), Shape.TAPERED,
         (0, HIP_SIDE, KNEE), (0, HIP_SIDE, ANKLE), (0.034, 0.021)),
    Part("foot", "shank", "leg", (0, HIP_SIDE, ANKLE), Shape.CAPSULE,
         (-0.0185, HIP_SIDE, 0.0195), (0.0945, HIP_SIDE, 0.0195), (0.0195,)),
)  # fmt: skip


def _mirrored(part: Part, side: str, sign: int) -> Part:
    """The part for one side; the left side is at y > 0."""

    def flipped(v: tuple[float, float, float]) -> tuple[float, float, float]:
        return v[0], sign * v[1], v[2]

    paired = any(part.parent == other.name for other in SIDE)
    return replace(
        part, name=f"{side}_{part.name}", parent=f"{side}_{part.parent}" if paired else part.parent,
        joint=flipped(part.joint), p1=flipped(part.p1), p2=flipped(part.p2),
    )  # fmt: skip


PARTS = (*TRUNK, *(_mirrored(part, side, sign) for side, sign in (("left", 1), ("right", -1)) for part in SIDE))

FORWARD_TO_UP = {"z": (0, 1, 2), "y": (1, 2, 0)}
"""The indices, among forward, left and up, of x, y and z."""


def rig_arguments(height: ArrayLike, up: str) -> tuple[Any, ...]:
    """The arguments of the constructor of `Rig` for a person of this height; checked."""
    validate.one_of(up, "up", "y", "z")
    (size,) = validate.per_row(height, "height", 1).tolist()
    if not SMALLEST_HEIGHT <= size <= LARGEST_HEIGHT:
        raise ValueError(f"height: expected a length from 2**-400 to 2**400, in any unit, got {size}")
    rows = {part.name: i for i, part in enumerate(PARTS)}
    parents = [rows.get(part.parent, -1) for part in PARTS]
    axes = list(FORWARD_TO_UP[up])

    def column(vectors: list[tuple[float, float, float]]) -> Float64Array:
        return np.asarray(size * np.array(vectors, float)[:, axes])

    joints = column([part.joint for part in PARTS])
    p1, p2 = column([part.p1 for part in PARTS]) - joints, column([part.p2 for part in PARTS]) - joints
    limbs = [
        MAKERS[part.shape](a, b, *(size * r for r in part.radii), name=part.name, hit_group=GROUPS[part.group])
        for part, a, b in zip(PARTS, p1, p2, strict=True)
    ]
    rest = np.where(np.array(parents)[:, None] < 0, joints, joints - joints[parents])
    turns = np.tile([0.0, 0.0, 0.0, 1.0], (len(PARTS), 1))
    return list(rows), parents, rest, turns, Limbs.concat(limbs), range(len(PARTS)), GROUPS
