"""DeepMimic motions as clips: the poses of the cross-check's own reader, and the skeleton of PyBullet's humanoid."""

import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from support.cases.text_files import DEEPMIMIC

import cylcollide as cc
from cylcollide._pybullet import data_folder
from cylcollide.bullet.humanoid import SCALE, load_motions, pose_at
from cylcollide.characters import deepmimic

MOTIONS = data_folder() / "data" / "motions"
WIDTHS = tuple(joint.width for joint in deepmimic.HUMANOID if joint.width)


def test_the_skeleton_is_that_of_pybullets_humanoid():
    text = (data_folder() / "humanoid" / "humanoid.urdf").read_bytes().rstrip(b"\0")
    joints = [joint for joint in ElementTree.fromstring(text).iter("joint") if joint.get("name") != "root"]
    assert len(joints) == len(deepmimic.HUMANOID)
    for joint, own in zip(joints, deepmimic.HUMANOID, strict=True):
        assert (joint.find("child").get("link"), joint.find("parent").get("link")) == (own.name, own.parent)
        assert own.width == {"spherical": 4, "revolute": 1, "fixed": 0}[joint.get("type")]
        offset = SCALE * np.array(joint.find("origin").get("xyz").split(), dtype=float)
        np.testing.assert_allclose(own.offset, offset, atol=1e-12)


@pytest.mark.parametrize("motion", ["backflip", "crawl", "walk"])
def test_a_motion_has_the_poses_of_the_cross_check(motion):
    """The same rotations at frames; between frames nlerp and slerp differ slightly."""
    clip, known = cc.Clip.load_deepmimic(MOTIONS / f"humanoid3d_{motion}.txt"), load_motions()[motion]
    assert clip.duration == known.duration
    np.testing.assert_array_equal(clip.times, known.times)
    between = (known.times[:-1] + 0.3 * np.diff(known.times))[::5]
    for times, tolerance in ((known.times[:-1:3], 1e-6), (between, 1e-2)):
        positions, roots, joints = clip.at(times)
        moving = [clip.bone_names.index(joint.name) for joint in deepmimic.HUMANOID if joint.width]
        for k, time in enumerate(times.tolist()):
            position, orientation, values = pose_at(known, time, WIDTHS)
            np.testing.assert_allclose(positions[k], position, atol=1e-12)
            expected = [v if len(v) == 4 else (0, 0, np.sin(v[0] / 2), np.cos(v[0] / 2)) for v in values]
            got = np.vstack([roots[k], joints[k, moving]])
            cosines = np.abs((got * np.vstack([orientation, *expected])).sum(axis=1))
            assert 2 * np.arccos(np.minimum(cosines, 1.0)).max() < max(tolerance, 2e-3)


def changed(row, column, value):
    frames = [list(frame) for frame in DEEPMIMIC["Frames"]]
    frames[row][column] = value
    return json.dumps({"Loop": "none", "Frames": frames})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected JSON"),
        ("{" * 100_000, "expected JSON"),
        (b"\xff\x00", "expected JSON"),
        ("[]", "expected an object with Loop and Frames"),
        (json.dumps(DEEPMIMIC | {"Loop": 1}), "Loop: expected 'wrap' or 'none', got '1'"),
        (json.dumps(DEEPMIMIC | {"Frames": []}), "Frames: expected a list of one or more lists"),
        (json.dumps(DEEPMIMIC | {"Frames": [[1, 2]]}), "frame 0: expected 8 numbers, got 2"),
        (json.dumps(DEEPMIMIC | {"Frames": [DEEPMIMIC["Frames"][0], [1] * 8]}), "frame 1: expected 44 numbers, got 8"),
        (json.dumps(DEEPMIMIC | {"Frames": [[1.0] * 9]}), "motion 'm' has frames of 9 numbers, expected 44"),
        (changed(1, 9, float("nan")), "Frames: expected finite.*row 1"),
        (changed(1, 9, 10**400), "Frames: expected numbers that float64 holds.*row 1"),
        (changed(1, 0, 0.0), "frame 1: expected a duration > 0, got 0.0"),
        (changed(2, 4, 0.0), r"frame 2, columns from 4 on: expected a unit quaternion w, x, y, z, got \[0.0, 0.0"),
        (changed(2, 16, 3.0), "frame 2, columns from 16 on: expected a unit quaternion"),
    ],
)
def test_broken_files_are_refused(tmp_path, text, message):
    path = tmp_path / "m.txt"
    path.write_text(json.dumps(DEEPMIMIC))
    assert len(cc.Clip.load_deepmimic(path).times) == 3
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=rf"^{re.escape(str(path))}: .*{message}"):
        cc.Clip.load_deepmimic(path)
