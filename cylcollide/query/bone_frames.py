"""Vectors in the frames of bones."""

import numpy as np

from cylcollide._types import Float64Array


def into_frames(orientations: Float64Array, vectors: Float64Array) -> Float64Array:
    """Vectors (n, 3) in frames that are turned by quaternions x, y, z, w (n, 4) of any length but 0; (n, 3).

    Each is multiplied by the columns of the rotation matrix of the normalised quaternion, in one sequence of IEEE
    operations, the same for one row and for many.
    """
    x, y, z, w = orientations.T
    length = np.sqrt(((x * x + y * y) + z * z) + w * w)
    x, y, z, w = x / length, y / length, z / length, w / length
    columns = (
        (1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)),
        (2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)),
        (2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)),
    )
    a, b, c = vectors.T
    return np.stack([((a * i + b * j) + c * k) + 0.0 for i, j, k in columns], axis=1)  # no negative zeros
