"""Labels of the limbs of a state: names, hit groups, and the bone that carries each."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import Float64Array, Int32Array
from cylcollide.runtime.memory import frozen

NO_BONE = -1
"""The bone of a limb that no character carries, and the row of transforms of a bare limb."""

NO_STATIC = -1
"""The handle of a limb that belongs to no static."""


NO_POSITIONS, NO_ORIENTATIONS = frozen(np.empty((0, 3))), frozen(np.empty((0, 4)))
"""The transforms of no bones."""


class RowLabels(NamedTuple):
    """Labels of n limbs, and the transforms of the bones or statics that carry them. Never changed once in use."""

    names: NDArray[Any]  # (n,) of str
    hit_group: Int32Array  # (n,)
    bone: Int32Array  # (n,): bone of the character's rig, -1 for a limb that no character carries
    rig_limb: Int32Array  # (n,): limb of the character's rig, -1 for a limb that no character carries
    transform: Int32Array  # (n,): row of the two columns below, -1 for a bare limb
    bone_positions: Float64Array  # (transforms, 3)
    bone_orientations: Float64Array  # (transforms, 4): quaternions x, y, z, w of any length but 0
    static: Int32Array  # (n,): handle of the static, -1 for other limbs


def bare_labels(names: Sequence[str], hit_group: Int32Array) -> RowLabels:
    """Labels of limbs that no bone carries."""
    text, nothing = frozen(np.array(names, object)), frozen(np.full(len(hit_group), NO_BONE, np.int32))
    return RowLabels(text, hit_group, nothing, nothing, nothing, NO_POSITIONS, NO_ORIENTATIONS, nothing)
