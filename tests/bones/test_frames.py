"""Poses between two frames of a motion: the bits of the same steps in numpy, as machine code and as plain Python."""

import numpy as np
import pytest
from support.machine_code import interpreted

from cylcollide.bones.frames import Followers, pose_frames
from cylcollide.characters import quaternions

pytestmark = [pytest.mark.plain_python, pytest.mark.coverage]

POSES, BONES = 23, 6


def unit(rng, *shape):
    return quaternions.normalised(rng.normal(size=(*shape, 4)))


def motion(rng):
    frames = rng.normal(size=(9, 3)), unit(rng, 9, 5)
    first = rng.integers(0, 8, POSES)
    return frames, first, first + 1, rng.uniform(0, 1, POSES)


def followers(rng, below_the_root):
    source = np.array([-1, 0, 3, -1, 2, 3], np.int32)
    count = int(below_the_root)
    return Followers(source, unit(rng, BONES), unit(rng, count), rng.normal(size=(count, 3)))


def nlerp(a, b, share):
    """Unit quaternions at a share of the way from a to b: linear, the short way, then normalised."""
    near = np.where(quaternions.dot(a, b) < 0.0, -1.0, 1.0)
    return quaternions.normalised((1.0 - share)[..., None] * a + (share * near)[..., None] * b)


def by_numpy(frames, chosen, first, second, share):
    ways, orientations = frames
    turns = nlerp(orientations[first], orientations[second], share[:, None])
    positions = (1 - share)[:, None] * ways[first] + share[:, None] * ways[second]
    roots = turns[:, 0]
    if len(chosen.shift):
        roots = quaternions.product(roots, chosen.undone)
        positions = positions - quaternions.rotated(roots, np.tile(chosen.shift, (POSES, 1)))
    joints = np.tile(chosen.rest, (POSES, 1, 1))
    for bone, source in enumerate(chosen.source):
        if source > 0:
            joints[:, bone] = turns[:, source]
    return positions, roots, joints


@pytest.mark.parametrize("below_the_root", [False, True])
def test_poses_have_the_bits_of_numpy(below_the_root):
    rng = np.random.default_rng(3)
    frames, first, second, share = motion(rng)
    chosen = followers(rng, below_the_root)
    expected = by_numpy(frames, chosen, first, second, share)
    dots = quaternions.dot(frames[1][first], frames[1][second])
    assert dots.min() < 0.0 < dots.max()
    for pose_all in (pose_frames, interpreted(pose_frames)):
        got = np.empty((POSES, 3)), np.empty((POSES, 4)), np.empty((POSES, BONES, 4))
        pose_all(*frames, chosen, first, second, share, *got)
        for one, other in zip(got, expected, strict=True):
            np.testing.assert_array_equal(one, other)
