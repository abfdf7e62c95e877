"""BVH files: channels in any order, units and axes; broken files, each refused with its line number."""

import itertools

import numpy as np
import pytest
from support.cases.frames import matrices
from support.cases.rigs import own_rig
from support.cases.text_files import BVH, BVH_HIERARCHY, BVH_ROWS

import cylcollide as cc


def about(axis, degrees):
    """The rotation matrix about x, y or z."""
    a = np.radians(degrees)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    m = np.eye(3)
    m[i, i] = m[j, j] = np.cos(a)
    m[j, i], m[i, j] = np.sin(a), -np.sin(a)
    return m


@pytest.fixture
def load(tmp_path):
    def from_text(text, **options):
        path = tmp_path / "clip.bvh"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return cc.Clip.load_bvh(path, **options)

    return from_text


def test_content_of_a_file(load):
    clip = load(BVH)
    assert clip.bone_names == ("hip", "upper leg", "arm")
    assert clip.parents.tolist() == [-1, 0, 0]
    assert clip.offsets.tolist() == [[1, 2, 3], [0, -4, 0.5], [10, 0, 0.5]]
    assert clip.tips.tolist() == [[0, -4, 0.5], [0, -5, 0], [0, 0, 0]]
    assert clip.times.tolist() == [0, 0.25]
    assert (clip.duration, clip.frame_rate) == (0.25, 4.0)
    assert clip.root_positions.tolist() == [[10, 20, 30], [11, 21, 31]]
    np.testing.assert_allclose(
        matrices(clip.orientations[0, 0]), about(2, 40) @ about(1, 50) @ about(0, 60), atol=1e-15
    )
    np.testing.assert_allclose(clip.orientations[:, 2], [[0, 0, 0, 1]] * 2)


@pytest.mark.parametrize("order", ["".join(p) for n in (1, 2, 3) for p in itertools.permutations("XYZ", n)])
def test_rotations_in_any_order(load, order):
    degrees = [-70, 15, 100][: len(order)]
    channels = " ".join(f"{axis}rotation" for axis in order)
    text = (BVH_HIERARCHY % channels).replace("CHANNELS 3 " + channels, f"CHANNELS {len(order)} {channels}")
    clip = load(text + "0 0 0 0 0 0 " + " ".join(map(str, degrees)) + "\n" + "0 " * (6 + len(order)))
    expected = np.eye(3)
    for axis, angle in zip(order, degrees, strict=True):
        expected = expected @ about("XYZ".index(axis), angle)
    np.testing.assert_allclose(matrices(clip.orientations[0, 1]), expected, atol=1e-15)


def test_unit_and_up(load):
    """A bone at (x, y, z) in one file is at (x, -z, y) in the other, in the new unit."""

    def bones(clip):
        rig = own_rig(clip)
        return rig.forward(*clip.at(clip.times, rig))

    plain, turned = load(BVH), load(BVH, up="z", scale=0.01)
    positions, _ = bones(plain)
    new, orientations = bones(turned)
    np.testing.assert_allclose(new, 0.01 * positions[..., [0, 2, 1]] * [1, -1, 1], atol=1e-14)
    tip = new[:, 1] + [matrices(q) @ turned.tips[1] for q in orientations[:, 1]]
    old = positions[:, 1] + [matrices(q) @ plain.tips[1] for q in bones(plain)[1][:, 1]]
    np.testing.assert_allclose(tip, 0.01 * old[:, [0, 2, 1]] * [1, -1, 1], atol=1e-14)


def test_layout_does_not_matter(load):
    expected = load(BVH)
    for text in (
        BVH.replace("\n", "\r\n\r\n"),
        BVH.replace("  ", "\t"),
        BVH.replace("rotation", "ROTATION"),
        BVH + "\n \n",
        b"\xef\xbb\xbf" + BVH.encode(),  # a byte order mark, which editors on Windows write
    ):
        clip = load(text)
        np.testing.assert_array_equal(clip.orientations, expected.orientations)
        assert clip.bone_names == expected.bone_names


def test_a_root_without_position_channels_stays_at_its_offset(load):
    text = (
        BVH.replace("6 Xposition Yposition Zposition Zrot", "4 Yposition Zrot")
        .replace("10 20 30", "20")
        .replace("11 21 31", "21")
    )
    assert load(text).root_positions.tolist() == [[1, 20, 3], [1, 21, 3]]


def test_positions_of_other_bones_must_stay(load):
    text = BVH.replace("CHANNELS 0", "CHANNELS 1 Xposition")
    rows = BVH_ROWS.replace("100\n", "100 10\n").replace("90 0\n", "90 0 %s\n")
    assert load(text.replace(BVH_ROWS, rows % "10")).offsets[2].tolist() == [10, 0, 0.5]
    with pytest.raises(ValueError, match=r"clip.bvh, line 15: expected constant positions.*'arm'"):
        load(text.replace(BVH_ROWS, rows % "11"))


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("HIERARCHY", "hello", 1, "expected HIERARCHY, got 'hello'"),
        ("ROOT hip", "JOINT hip", 2, "expected ROOT"),
        ("ROOT hip", "ROOT", 2, "expected a unique name, got ''"),
        ("JOINT arm", "JOINT hip", 15, "expected a unique name, got 'hip'"),
        ("OFFSET 0 -4 0.5", "OFFSET 0 -4", 8, "expected 3 numbers, x, y and z of the offset, got '2'"),
        ("OFFSET 0 -4 0.5", "OFFSET 0 four 0", 8, "expected finite numbers.*got 'four'"),
        ("OFFSET 0 -4 0.5", "OFFSET 0 1e400 0", 8, "got '1e400'"),
        ("OFFSET 0 -4 0.5", "OFFSET 0 0 0\nOFFSET 0 0 0", 9, "once each"),
        ("    OFFSET 0 -4 0.5\n", "", 13, "OFFSET and CHANNELS once each.*in upper leg"),
        ("CHANNELS 3", "CHANNELS 2", 9, "expected a count and so many different channels"),
        ("CHANNELS 3 Zrotation", "CHANNELS 3 Xrotation", 9, "expected a count"),
        ("End Site", "End", 10, "End Site or }}? in upper leg, got 'End'"),
        ("MOTION", "", 22, "expected MOTION"),
        ("}\nMOTION", "MOTION", 20, "in hip, got 'MOTION'"),
        ("Frames: 2", "Frames: 0", 22, "whole number of frames"),
        ("Frames: 2", "Frames: 1000000000000", 26, "frame 3 of 1000000000000, got 'the end of the file'.*cut off"),
        ("Frames: 2", "Frames: 1", 25, "the end of the file after 1 frames"),
        ("Frame Time: 0.25", "Frame Time: 0", 23, "seconds > 0"),
        ("11 21 31", "11 21", 25, "expected 9 numbers, one per channel, got '8'"),
        ("11 21 31", "11 21 31 41", 25, "expected 9 numbers, one per channel, got '10'"),
        ("11 21 31", "11 NaN 31", 25, "got 'NaN'"),
        ("11 21 31", "11 2,1 31", 25, "got '2,1'"),
    ],
)  # fmt: skip
def test_broken_files_are_refused_with_the_line(load, old, new, line, message):
    assert BVH.count(old) >= 1
    with pytest.raises(ValueError, match=rf"clip\.bvh, line {line}: .*{message}"):
        load(BVH.replace(old, new, 1))


def test_truncated_files_are_refused(load):
    whole = BVH.rstrip()
    for length in range(len(whole)):
        with pytest.raises(ValueError, match=r"clip\.bvh, line \d+: expected"):
            load(whole[:length])


def test_deep_skeletons_are_read(load):
    depth = 3000
    text = "HIERARCHY\nROOT b\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n" + "".join(
        f"JOINT b{k}\n{{\nOFFSET 0 1 0\nCHANNELS 0\n" for k in range(depth)
    )
    clip = load(text + "}\n" * (depth + 1) + "MOTION\nFrames: 1\nFrame Time: 1\n90\n")
    assert len(clip.bone_names) == depth + 1


def test_wrong_options_are_refused(load):
    with pytest.raises(ValueError, match="up: expected 'y' or 'z', got 'x'"):
        load(BVH, up="x")
    for scale in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="scale: expected"):
            load(BVH, scale=scale)


def test_names_in_latin_1(load):
    text = BVH.replace("JOINT ", "JOINT ä", 1)
    names = load(text).bone_names
    assert any(name.startswith("ä") for name in names)
    assert load(text.encode("latin-1")).bone_names == names
    assert load(b"\xef\xbb\xbf" + text.encode()).bone_names == names
