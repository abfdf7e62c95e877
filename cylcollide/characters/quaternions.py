"""Quaternions x, y, z, w in the last axis of arrays, by IEEE operations in a fixed order; shapes broadcast.

Expressions written by components give the same bits for single rows and for batches of any shape.
"""

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.bones import frames
from cylcollide.bones.matrices import turn_matrices

IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])


def dot(a: Float64Array, b: Float64Array) -> Float64Array:
    """Dot product of the four components, summed from x to w."""
    return ((a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1]) + a[..., 2] * b[..., 2]) + a[..., 3] * b[..., 3]


def normalised(q: Float64Array) -> Float64Array:
    """The quaternions normalised to length 1; the square of the length must be finite and above 0."""
    return q / np.sqrt(dot(q, q))[..., None]


def conjugate(q: Float64Array) -> Float64Array:
    """The inverse of unit quaternions."""
    return np.asarray(q * np.array([-1.0, -1.0, -1.0, 1.0]))


def product(a: Float64Array, b: Float64Array) -> Float64Array:
    """The rotation b followed by a."""
    of_a, of_b = (tuple(np.moveaxis(q, -1, 0)) for q in (a, b))
    return np.stack(frames.product(of_a, of_b), axis=-1)


def rotated(q: Float64Array, vectors: Float64Array) -> Float64Array:
    """Vectors (..., 3) turned by unit quaternions (..., 4)."""
    t = 2.0 * np.cross(q[..., :3], vectors)
    return np.asarray(vectors + q[..., 3:] * t + np.cross(q[..., :3], t))


def about_axis(axis: int, angles: Float64Array) -> Float64Array:
    """Rotations by angles in radians about x, y or z (0, 1, 2)."""
    q = np.zeros((*angles.shape, 4))
    q[..., axis], q[..., 3] = np.sin(angles / 2), np.cos(angles / 2)
    return q


def slerp(a: Float64Array, b: Float64Array, share: Float64Array) -> Float64Array:
    """Spherical interpolation of unit quaternions (..., 4) at a share (...) of the way from a to b, the short way."""
    near = np.where((dot(a, b) < 0.0)[..., None], -b, b)
    apart, together = near - a, near + a
    angle = 2.0 * np.arctan2(np.sqrt(dot(apart, apart)), np.sqrt(dot(together, together)))
    same = angle == 0.0
    sine = np.where(same, 1.0, np.sin(angle))
    first, second = np.sin((1.0 - share) * angle) / sine, np.sin(share * angle) / sine
    turned = first[..., None] * a + second[..., None] * near
    return normalised(np.where(same[..., None], a + share[..., None] * apart, turned))


def of_matrices(m: Float64Array) -> Float64Array:
    """Unit quaternions (..., 4) of rotation matrices (..., 3, 3), by the largest of the four components."""
    turns = np.empty((*m.shape[:-2], 4))
    turn_matrices(np.ascontiguousarray(m, np.float64).reshape(-1, 3, 3), turns.reshape(-1, 4), False)
    return turns
