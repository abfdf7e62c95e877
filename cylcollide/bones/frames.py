"""Recorded motions: the loop that poses the bones of rigs between two frames of a motion."""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Blocks, Column, Float64Array, Quaternions, Vectors
from cylcollide.bones.bone import Quaternion
from cylcollide.bones.bone_rows import as_quaternion
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.ray import as_vector
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.simd import square_root


class Followers(NamedTuple):
    """The bones of a rig that follow a motion. Never changed once in use."""

    source: Column[np.int32]  # (bones,): the bone of the motion that each bone follows; none if 0, the root, or less
    rest: Quaternions  # (bones, 4): the joints of those that follow none
    undone: Quaternions  # (1, 4): turn of the bone that follows the root, to be undone in the rig's root; or (0, 4)
    shift: Vectors  # (1, 3): position of that bone relative to the rig's root; or (0, 3)


@inlined
def product(a: Quaternion, b: Quaternion) -> Quaternion:
    """Hamilton's product a b, each sum from left to right."""
    return (
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    )


@inlined
def rotated(q: Quaternion, v: Vector) -> Vector:
    """A vector turned by a unit quaternion: v + w t + q × t with t = 2 q × v."""
    tx = 2.0 * (q[1] * v[2] - q[2] * v[1])
    ty = 2.0 * (q[2] * v[0] - q[0] * v[2])
    tz = 2.0 * (q[0] * v[1] - q[1] * v[0])
    return (
        v[0] + q[3] * tx + (q[1] * tz - q[2] * ty),
        v[1] + q[3] * ty + (q[2] * tx - q[0] * tz),
        v[2] + q[3] * tz + (q[0] * ty - q[1] * tx),
    )


@compiled
def _between(a: Float64Array, b: Float64Array, bone: int, share: float) -> Quaternion:
    """A bone's turn between two frames: linear, the short way, then normalised."""
    p, q = as_quaternion(a, bone), as_quaternion(b, bone)
    product = ((p[0] * q[0] + p[1] * q[1]) + p[2] * q[2]) + p[3] * q[3]
    m, n = 1.0 - share, -share if product < 0.0 else share
    x, y, z, w = m * p[0] + n * q[0], m * p[1] + n * q[1], m * p[2] + n * q[2], m * p[3] + n * q[3]
    length = square_root(((x * x + y * y) + z * z) + w * w)
    return x / length, y / length, z / length, w / length


@compiled_loop
def pose_frames(
    ways: Vectors,
    turns: Blocks[np.float64],
    followers: Followers,
    first: Column[np.int64],
    second: Column[np.int64],
    shares: Column[np.float64],
    positions: Vectors,
    roots: Quaternions,
    joints: Blocks[np.float64],
) -> None:
    """Write k poses of a rig, as `pose_bones` takes them, interpolated by shares from a first frame to a second.

    The frames of a motion of b bones are `ways` of the root, (frames, 3), and `turns` of each bone in the frame of its
    parent, the root first, (frames, b, 4), of length 1. Results are the root's positions (k, 3) and turns (k, 4), and
    joints (k, bones, 4).
    """
    for i in range(first.shape[0]):
        a, b, share = first[i], second[i], shares[i]
        m, p, q = 1.0 - share, as_vector(ways, a), as_vector(ways, b)
        x, y, z = m * p[0] + share * q[0], m * p[1] + share * q[1], m * p[2] + share * q[2]
        root = _between(turns[a], turns[b], 0, share)
        if followers.shift.shape[0] > 0:
            root = product(root, as_quaternion(followers.undone, 0))
            v = rotated(root, as_vector(followers.shift, 0))
            x, y, z = x - v[0], y - v[1], z - v[2]
        positions[i, 0], positions[i, 1], positions[i, 2] = x, y, z
        roots[i, 0], roots[i, 1], roots[i, 2], roots[i, 3] = root
        for bone in range(joints.shape[1]):
            turn, source = as_quaternion(followers.rest, bone), followers.source[bone]
            if source > 0:
                turn = _between(turns[a], turns[b], source, share)
            joints[i, bone, 0], joints[i, bone, 1], joints[i, bone, 2], joints[i, bone, 3] = turn
