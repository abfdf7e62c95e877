"""Places and normals of hits in the frames of the bones that carry their limbs."""

from math import nan

import numpy as np

from cylcollide._types import NO_LIMB, Column, Quaternions, Vectors
from cylcollide.bones.bone import into_bone, rotation_of
from cylcollide.kernels.ray import as_vector
from cylcollide.runtime.compile import compiled_loop


@compiled_loop
def write_local_surface(
    limb: Column[np.int32],
    transform: Column[np.int32],
    bone_position: Vectors,
    bone_orientation: Quaternions,
    position: Vectors,
    normal: Vectors,
    local_position: Vectors,
    local_normal: Vectors,
) -> None:
    """Write position and normal (n, 3) of each hit into the frame of its limb's bone, NaN if there is none.

    The difference of hit and bone is rounded, then what it becomes in the frame; `transform` has a row a limb.
    """
    for i in range(limb.size):
        bone = -1 if limb[i] == NO_LIMB else transform[limb[i]]
        if bone < 0:
            for axis in range(3):
                local_position[i, axis] = local_normal[i, axis] = nan
            continue
        q, origin, place = bone_orientation[bone], as_vector(bone_position, bone), as_vector(position, i)
        rotation = rotation_of((q[0], q[1], q[2], q[3]))
        here = into_bone(rotation, (place[0] - origin[0], place[1] - origin[1], place[2] - origin[2]))
        outward = into_bone(rotation, as_vector(normal, i))
        for axis in range(3):
            local_position[i, axis], local_normal[i, axis] = here[axis], outward[axis]
