"""Bones at rest: what rigs and skins have in common, and where their bones stand before anything moves."""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import Float64Array
from cylcollide.characters import quaternions


class Skeleton(Protocol):
    """Named bones in a tree; parents precede their children, -1 is a root."""

    @property
    def bone_names(self) -> tuple[str, ...]:
        """Names, b of them."""

    @property
    def parents(self) -> NDArray[Any]:
        """Row of each bone's parent, integers (b,)."""

    @property
    def rest_positions(self) -> Float64Array:
        """Where each bone begins in the frame of its parent, (b, 3)."""

    @property
    def rest_orientations(self) -> Float64Array:
        """Quaternions x, y, z, w relative to the parent, (b, 4)."""


class Frames(NamedTuple):
    """Frames of bones: positions (b, 3) and unit quaternions (b, 4)."""

    positions: Float64Array
    orientations: Float64Array


def rest_frames(skeleton: Skeleton) -> Frames:
    """The frames of all bones at rest, in the frame that the root's rest transform is given in."""
    positions = np.array(skeleton.rest_positions)
    orientations = quaternions.normalised(skeleton.rest_orientations)
    for bone, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            positions[bone] = positions[parent] + quaternions.rotated(orientations[parent], positions[bone])
            orientations[bone] = quaternions.product(orientations[parent], orientations[bone])
    return Frames(positions, orientations)
