"""Poses between two frames of a motion: plain Python has the bits of machine code; test_clip.py says which poses."""

import numpy as np
import pytest
from support.machine_code import interpreted

from cylcollide.bones.frames import Followers, pose_frames
from cylcollide.characters import quaternions

pytestmark = [pytest.mark.plain_python, pytest.mark.coverage]

POSES, BONES = 23, 6


def unit(rng, *shape):
    return quaternions.normalised(rng.normal(size=(*shape, 4)))


@pytest.mark.parametrize("below_the_root", [False, True])
def test_plain_python_has_the_bits_of_machine_code(below_the_root):
    rng, count = np.random.default_rng(3), int(below_the_root)
    ways, turns, first = rng.normal(size=(9, 3)), unit(rng, 9, 5), rng.integers(0, 8, POSES)
    source = np.array([-1, 0, 3, -1, 2, 3], np.int32)
    chosen = Followers(source, unit(rng, BONES), unit(rng, count), rng.normal(size=(count, 3)))
    share, posed = rng.uniform(0, 1, POSES), []
    dots = quaternions.dot(turns[first], turns[first + 1])
    assert dots.min() < 0.0 < dots.max()
    for pose_all in (pose_frames, interpreted(pose_frames)):
        got = np.empty((POSES, 3)), np.empty((POSES, 4)), np.empty((POSES, BONES, 4))
        pose_all(ways, turns, chosen, first, first + 1, share, *got)
        posed.append(got)
    for one, other in zip(*posed, strict=True):
        assert one.tobytes() == other.tobytes()
