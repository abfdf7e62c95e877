"""Clips from glTF files: every interpolation, scenes with scales, files with and without a skin."""

import json
from time import process_time

import numpy as np
import pytest
from support import skins
from support.cases.gltf import FLOAT, Writer, document, gltf, known, pack
from support.cases.rigs import own_rig

import cylcollide as cc

IDENTITY = [0.0, 0.0, 0.0, 1.0]
QUARTER = [0.0, 0.0, 0.5**0.5, 0.5**0.5]


def animation(writer, *channels, name="walk"):
    """Channels: node, path, times, values, interpolation."""
    samplers, targets = [], []
    for node, path, times, values, how in channels:
        rows = np.array(values, float).reshape(
            -1, len(np.ravel(values)) // len(times) // (3 if how == "CUBICSPLINE" else 1)
        )
        samplers.append({
            "input": writer.add(np.array(times, float)[:, None], FLOAT, "SCALAR"), "interpolation": how,
            "output": writer.add(rows, FLOAT, f"VEC{rows.shape[1]}"),
        })  # fmt: skip
        targets.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": path}})
    return {"name": name, "samplers": samplers, "channels": targets}


def written(tmp_path, *channels, nodes=None, **more):
    writer = Writer()
    default = [
        {"name": "armature", "scale": [0.01] * 3, "translation": [0, 0, 1], "children": [1]},
        {"name": "hips", "translation": [0, 100, 0], "children": [2]}, {"name": "spine", "translation": [0, 50, 0]},
    ]  # fmt: skip
    content = {
        "asset": {"version": "2.0"},
        "nodes": nodes or default,
        "animations": [animation(writer, *channels)],
        **more,
    }
    path = tmp_path / "a.gltf"
    path.write_bytes(gltf((content | pack(writer), writer.data)))
    return path


TURNS = (2, "rotation", [0, 1], [IDENTITY, QUARTER], "LINEAR")
WAY = (1, "translation", [0, 2], [[0, 100, 0], [200, 100, 0]], "LINEAR")


def test_turns_are_spherically_interpolated_and_the_root_moves_in_the_scene(tmp_path):
    clip = cc.Clip.load_gltf(written(tmp_path, TURNS, WAY))
    assert clip.bone_names == ("hips", "spine")
    assert clip.duration == 2.0
    np.testing.assert_allclose(clip.offsets[1], [0, 0.5, 0], atol=1e-7)
    times = np.linspace(0, 2, 41)
    positions, _, joints = clip.at(times)
    np.testing.assert_allclose(positions, np.column_stack([times, np.ones(41), np.ones(41)]), atol=1e-6)
    angles = 2 * np.arctan2(joints[:, 1, 2], joints[:, 1, 3])
    np.testing.assert_allclose(angles, np.pi / 2 * np.minimum(times, 1), atol=1e-4)  # linear steps of 5 degrees


@pytest.mark.parametrize(("in_bind_pose", "size"), [(True, 0.01), (False, 0.01), (False, 1.0)])
def test_a_rig_and_a_clip_of_one_file_have_the_units_of_the_scene(tmp_path, in_bind_pose, size):
    given = known() | {"rest_orientations": np.tile(IDENTITY, (3, 1))}
    content, data = document(given)
    writer, places = Writer(content, data), given["rest_positions"]
    content["nodes"][1]["scale"] = [size] * 3
    for node, place in zip((2, 3, 4), places.tolist(), strict=True):
        content["nodes"][node]["translation"] = place
    if not in_bind_pose:
        content["nodes"][3]["rotation"] = QUARTER
    content["animations"] = [animation(writer, (3, "rotation", [0, 1], [IDENTITY, QUARTER], "LINEAR"))]
    path = tmp_path / "a.gltf"
    path.write_bytes(gltf((content | pack(writer), writer.data)))
    rig = cc.Rig.from_gltf(path, shapes=[cc.Shape.SPHERE])
    positions, _ = rig.forward(*cc.Clip.load_gltf(path).at(1.0, rig))
    x, y, z = places[2]
    expected = size * np.cumsum([places[0], places[1], [-y, x, z]], axis=0)
    np.testing.assert_allclose(positions[0], expected, atol=1e-6 * size)


def test_steps_and_curves(tmp_path):
    step = (2, "rotation", [0, 1], [IDENTITY, QUARTER], "STEP")
    curve = (
        1,
        "translation",
        [0, 2],
        [[[0, 0, 0], [0, 100, 0], [90, 0, 0]], [[0, 0, 0], [200, 100, 0], [0, 0, 0]]],
        "CUBICSPLINE",
    )
    clip = cc.Clip.load_gltf(written(tmp_path, step, curve))
    times = np.array([0.0, 0.5, 0.99, 1.0, 1.5])
    positions, _, joints = clip.at(times)
    np.testing.assert_allclose(np.abs(joints[:, 1, 2]), [0, 0, 0, 0.5**0.5, 0.5**0.5], atol=1e-6)
    t = times / 2
    hermite = 180 * (t**3 - 2 * t**2 + t) + 200 * (3 * t**2 - 2 * t**3)
    np.testing.assert_allclose(positions[:, 0], 0.01 * hermite, atol=1e-4)


def test_nodes_between_joints_and_the_armature_count(tmp_path):
    nodes = [
        {"name": "armature", "rotation": QUARTER, "children": [1]}, {"name": "hips", "children": [3]},
        {"name": "spine"}, {"name": "between", "translation": [1, 0, 0], "rotation": QUARTER, "children": [2]},
    ]  # fmt: skip
    turns = [(node, "rotation", [0, 1], [IDENTITY, QUARTER], "LINEAR") for node in (1, 2)]
    clip = cc.Clip.load_gltf(written(tmp_path, *turns, nodes=nodes))
    own = own_rig(clip)
    positions, orientations = own.forward(*clip.at([0.0, 1.0], own))
    np.testing.assert_allclose(positions[:, 1], [[0, 1, 0], [-1, 0, 0]], atol=1e-6)
    half, whole = (skins.matrix([0, 0, 0], q)[:3, :3] for q in ([0, 0, 1, 0], [0, 0, 0, 1]))
    for q, expected in zip(orientations[:, 1], (half, whole), strict=True):
        np.testing.assert_allclose(skins.matrix([0, 0, 0], q)[:3, :3], expected, atol=1e-6)
    np.testing.assert_allclose(np.abs(clip.rest_orientations @ QUARTER), [1, 1], atol=1e-6)


def scene(tmp_path, *, arm=None, a=None, b=None, turn=1, **more):
    """Positions of joints a and b of an arm, from its clip, after a quarter turn of one node."""
    nodes = [
        {"name": "arm", "children": [1], **(arm or {})}, {"name": "a", "translation": [1, 0, 0], "children": [2]},
        {"name": "b", "translation": [1, 1, 0]},
    ]  # fmt: skip
    nodes[1] |= a or {}
    nodes[2] |= b or {}
    turns = (turn, "rotation", [0, 1], [IDENTITY, QUARTER], "LINEAR")
    clip = cc.Clip.load_gltf(written(tmp_path, turns, nodes=nodes, skins=[{"joints": [1, 2]}], **more))
    own = own_rig(clip)
    return own.forward(*clip.at([1.0], own))[0][0]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"a": {"scale": [-1, -1, 1]}}, [[1, 0, 0], [2, -1, 0]]),
        ({"a": {"scale": [-1, -1, 1]}, "turn": 0}, [[0, 1, 0], [1, 0, 0]]),
        ({"arm": {"scale": [2, 2, 2]}}, [[2, 0, 0], [0, 2, 0]]),
        ({"arm": {"matrix": np.diag([-1, -1, 1, 1]).ravel().tolist()}}, [[-1, 0, 0], [0, -1, 0]]),
        ({"arm": {"scale": [-1, 1, 1]}, "a": {"scale": [-1, 1, 1]}, "turn": 0},
         [[0, -1, 0], [-1, 0, 0]]),
        ({"b": {"scale": [0, 0, 0]}}, [[1, 0, 0], [0, 1, 0]]),
    ],
)  # fmt: skip
def test_negative_scales_that_are_turns_and_hidden_joints_match_the_scene(tmp_path, options, expected):
    np.testing.assert_allclose(scene(tmp_path, **options), expected, atol=1e-6)


SHEARED = [1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    "arm",
    [{"scale": [1, 2, 1]}, {"scale": [-1, -1, -1]}, {"scale": [-1, 1, 1]}, {"scale": [1, 1, 0]}, {"matrix": SHEARED}],
)
def test_a_mirrored_or_sheared_bone_is_refused(tmp_path, arm):
    with pytest.raises(ValueError, match=r"node 1 \('a'\): expected a bone that is turned and has one scale > 0"):
        scene(tmp_path, arm=arm)


@pytest.mark.timeout(20)
def test_a_deep_chain_is_read_in_one_pass(tmp_path):
    nodes = [{"translation": [0, 0, 1], "children": [k + 1]} for k in range(1200)] + [{}]
    turns = (0, "rotation", [0, 1], [IDENTITY, QUARTER], "LINEAR")
    started = process_time()
    clip = cc.Clip.load_gltf(written(tmp_path, turns, nodes=nodes, skins=[{"joints": list(range(1201))}]))
    assert process_time() - started < 4.0
    assert clip.parents.tolist() == list(range(-1, 1200))


def test_bones_are_the_skin_s_joints_in_the_largest_tree(tmp_path):
    nodes = [{"name": "a", "children": [1]}, {"name": "b"}, {"name": "other"}, {"name": "still"}]
    turns = [(node, "rotation", [0, 1], [IDENTITY, QUARTER], "LINEAR") for node in (0, 1, 2)]
    path = written(tmp_path, *turns, nodes=nodes, skins=[{"joints": [1, 0, 2]}])
    assert cc.Clip.load_gltf(path).bone_names == ("a", "b")


def test_sliding_joints_are_named(tmp_path):
    slides = (2, "translation", [0, 1], [[0, 50, 0], [0, 60, 0]], "LINEAR")
    with pytest.warns(
        UserWarning, match=r"1 joints translate in their parents' frames; a clip has only their rotations: spine"
    ):
        cc.Clip.load_gltf(written(tmp_path, slides, WAY))


def test_animations_are_chosen_by_name_or_row(tmp_path):
    path = written(tmp_path, TURNS)
    assert cc.Clip.load_gltf(path, "walk").duration == cc.Clip.load_gltf(path, 0).duration == 1.0
    assert cc.Clip.load_gltf(path, np.int64(0)).duration == 1.0
    for wanted in ("run", 1, -1, True, 0.5):
        with pytest.raises(ValueError, match=rf"a.gltf: animation: expected a name or row of 'walk', got {wanted!r}"):
            cc.Clip.load_gltf(path, wanted)


@pytest.mark.parametrize(
    ("channels", "more", "message"),
    [
        ((TURNS,), {"animations": []}, "it has no animation"),
        (((2, "scale", [0, 1], [[1, 1, 1]] * 2, "LINEAR"),), {}, "moves no node"),
        (((9, *TURNS[1:]),), {}, "node of channel 0: expected 0 to 2, got 9"),
        (((2, "spin", *TURNS[2:]),), {}, "path of channel 0: expected 'translation', .*got 'spin'"),
        (((*TURNS[:4], "BEZIER"),), {}, "interpolation of channel 0: expected 'LINEAR'.*got 'BEZIER'"),
        (((2, "translation", *TURNS[2:]),), {}, "a.gltf.*export it again .*accessor 1: expected VEC3, got VEC4"),
        (((2, "rotation", [0, 1], [IDENTITY] * 4, "LINEAR"),), {}, "accessor 1: expected VEC4, got VEC8"),
        (((2, "rotation", [0, np.inf], [IDENTITY] * 2, "LINEAR"),), {}, "a.gltf.*accessor 0: expected finite incr"),
        (((2, "rotation", [0, 1], [IDENTITY, [np.inf] * 4], "LINEAR"),), {}, "accessor 1: expected 2 finite rows"),
        (((2, "rotation", [0, 1], [[0] * 4, IDENTITY], "LINEAR"),), {}, "rotations of node 2: expected quaternions"),
        (((2, "rotation", [1, 0], [IDENTITY] * 2, "LINEAR"),), {}, "increasing times, got others for node 2"),
        (
            ((2, "rotation", [0, 1], [[[0] * 4, [0, 0, 0, w], [0] * 4] for w in (1, -1)], "CUBICSPLINE"),), {},
            "rotations of node 2: expected quaternions, got zeros at 0.5 s, where a spline .*; negate the keys after",
        ),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("error")
def test_broken_motions_are_refused(tmp_path, channels, more, message):
    with pytest.raises(ValueError, match=message):
        cc.Clip.load_gltf(written(tmp_path, *channels, **more))


@pytest.mark.parametrize(("field", "value"), [("count", 3), ("count", -1), ("byteOffset", 4)])
def test_an_accessor_beyond_its_bytes_is_named(tmp_path, field, value):
    path = written(tmp_path, TURNS)
    content = json.loads(path.read_text())
    content["accessors"][1][field] = value
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"a.gltf.*accessor 1: expected -?\d rows in 32 bytes, got fewer"):
        cc.Clip.load_gltf(path)


def test_long_curves_have_limited_frames(tmp_path):
    keys = [[[0] * 4, IDENTITY, [0] * 4], [[0] * 4, QUARTER, [0] * 4]]
    clip = cc.Clip.load_gltf(written(tmp_path, (2, "rotation", [0, 3600], keys, "CUBICSPLINE")))
    assert len(clip.times) == 101
    shown, t = clip.at(np.linspace(0, 3600, 3601))[1][:, 2:], np.linspace(0, 1, 3601)[:, None]
    share = 3 * t**2 - 2 * t**3
    curve = ((1 - share) * IDENTITY + share * QUARTER)[:, 2:]
    np.testing.assert_allclose(shown, curve / np.linalg.norm(curve, axis=1, keepdims=True), atol=1e-4)
