"""glTF files: skins in every supported layout; and files that are refused."""

import json
import sys

import numpy as np
import pytest
from support.cases.gltf import FLOAT, Writer, document, glb, gltf, known, pack

import cylcollide as cc
from cylcollide.characters.skin import Skin


def written(path, content):
    path.write_bytes(content)
    return path


def check(skin, given):
    assert skin.bone_names == ("low", "mid", "high")
    assert skin.parents.tolist() == [-1, 0, 1]
    expected = Skin(**given)
    np.testing.assert_allclose(skin.vertices[skin.faces], expected.vertices[expected.faces], atol=1e-7)
    np.testing.assert_allclose(skin.weights[skin.faces], expected.weights[expected.faces], atol=1e-6)
    np.testing.assert_allclose(skin.rest_positions, expected.rest_positions, atol=1e-5)
    turns = expected.rest_orientations / np.linalg.norm(expected.rest_orientations, axis=1, keepdims=True)
    np.testing.assert_allclose(np.abs((skin.rest_orientations * turns).sum(axis=1)), 1.0, atol=1e-6)


@pytest.mark.parametrize(
    "options",
    [
        {}, {"joints": (4, 2, 3)}, {"joints": (3, 4, 2)}, {"scale": 100.0}, {"stride": 20}, {"weight_code": FLOAT},
        {"indexed": False},
    ],
    ids=str,
)  # fmt: skip
def test_a_skin_is_read(tmp_path, options):
    given = known()
    check(Skin.from_gltf(written(tmp_path / "a.gltf", gltf(document(given, **options))), space="mesh"), given)
    check(Skin.from_gltf(written(tmp_path / "a.glb", glb(document(given, **options))), space="mesh"), given)


def test_a_buffer_beside_the_file(tmp_path):
    given = known()
    content, data = document(given)
    content["buffers"][0]["uri"] = "a.bin"
    (tmp_path / "a.bin").write_bytes(data)
    path = written(tmp_path / "a.gltf", json.dumps(content).encode())
    check(Skin.from_gltf(str(path)), given)
    path.with_suffix(".bin").unlink()
    with pytest.raises((OSError, ValueError), match=r"a\.(bin|gltf)"):
        Skin.from_gltf(path)


@pytest.mark.parametrize("name", ["a.VRM", "a.gltf"])
def test_the_first_bytes_decide_the_format_and_not_the_name(tmp_path, name):
    content, data = document(known())
    bones = {"hips": {"node": 2}, "spine": {"node": 3}, "chest": {"node": 4}}
    content["extensions"] = {"VRMC_vrm": {"humanoid": {"humanBones": bones}}}
    path = written(tmp_path / name, glb((content, data)))
    assert Skin.from_gltf(path).bone_names == ("low", "mid", "high")
    rig = cc.Rig.from_gltf(path, names="vrm", shapes=[cc.Shape.SPHERE])
    assert rig.bone_names == ("hips", "spine", "chest")


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_text_is_read_under_any_name_and_in_utf_8(tmp_path, mark):
    content, data = document(known())
    content["nodes"][2]["name"] = "腰"
    path = written(tmp_path / "a.glb", mark + gltf((content, data)))
    assert Skin.from_gltf(path).bone_names == ("腰", "mid", "high")


def no_joints(content):
    del content["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"]


SPARSE = {"count": 1, "indices": {"bufferView": 0, "componentType": 5121}, "values": {"bufferView": 0}}


def attributes(content):
    return content["meshes"][0]["primitives"][0]["attributes"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.pop("skins"), "it has no skin"),
        (lambda c: c["nodes"][0].pop("skin"), "no triangles refer to the first skin"),
        (no_joints, "no JOINTS_0"),
        (lambda c: c["accessors"][0].update(componentType=1), "KeyError"),
        (lambda c: c["accessors"][0].pop("bufferView"), "sparse or compressed"),
        (
            lambda c: c["accessors"][0].update(count=10**7, bufferView=None, sparse=SPARSE),
            "at most .* rows of zeros in",
        ),
        (lambda c: c["nodes"][4].update(children=[2]), "expected nodes in trees, got node 2 below nodes 1 and 4"),
        (lambda c: c["nodes"][1].pop("children") and c["nodes"][4].update(children=[2]), "got node 2 above itself"),
        (lambda c: c["nodes"][4].update(children=[-6]), "children of node 4: expected 0 to 5, got -6"),
        (lambda c: c["skins"][0].update(joints=[2, 3, -2]), "joints of skin 0: expected 0 to 5, got -2"),
        (lambda c: c["nodes"][0].update(mesh=-1), "mesh of node 0: expected 0 to 0, got -1"),
        (lambda c: c["nodes"][0].update(skin=-1), "skin of a node: expected 0 to 0, got -1"),
        (lambda c: c["accessors"][0].update(bufferView=-1), "bufferView: expected 0 to 4, got -1"),
        (lambda c: c["bufferViews"][0].update(buffer=-1), "buffer: expected 0 to 0, got -1"),
        (lambda c: attributes(c).update(POSITION=-1), "accessor: expected 0 to 4, got -1"),
        (lambda c: c["accessors"][attributes(c)["JOINTS_0"]].update(count=1), "JOINTS_0: expected .* rows.*got 1"),
        (lambda c: c["accessors"][attributes(c)["WEIGHTS_0"]].update(count=1), "WEIGHTS_0: expected .* rows.*got 1"),
        (lambda c: c["asset"].update(minVersion="2.1"), "asset.minVersion: expected at most 2.0, got '2.1'"),
        (lambda c: c["nodes"][2].update(translation=[1, 2]), "translation of node 2: expected 3 finite numbers"),
        (lambda c: c["nodes"][2].update(rotation=[0] * 4), "rotation of node 2: expected a quaternion, got zeros"),
        (lambda c: c.update(nodes=3), "a.gltf: expected a glTF"),
    ],
)
def test_broken_files_are_refused(tmp_path, change, message):
    content, data = document(known())
    change(content)
    path = written(tmp_path / "a.gltf", gltf((content, data)))
    with pytest.raises(ValueError, match=message):
        Skin.from_gltf(path)


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ({2: "low", 3: "low", 4: "high"}, ("low", "low_3", "high")),
        ({2: "joint_4", 3: None, 4: None}, ("joint_4", "joint_3", "joint_4_")),
        ({2: "a", 3: "a", 4: "a_3"}, ("a", "a_3_", "a_3")),
        ({0: "low", 5: "low"}, ("low", "mid", "high")),  # no joints
    ],
)
def test_nodes_of_equal_names_give_bones_of_different_names(tmp_path, nodes, expected):
    content, data = document(known())
    for row, name in nodes.items():
        content["nodes"][row]["name"] = name
    content["nodes"] = [{k: v for k, v in node.items() if v is not None} for node in content["nodes"]]
    assert Skin.from_gltf(written(tmp_path / "a.gltf", gltf((content, data)))).bone_names == expected


def test_a_clip_and_a_rig_of_one_file_share_bone_names(tmp_path):
    content, data = document(known(), joints=(4, 2, 3))
    for node in content["nodes"][2:]:
        node["name"] = "bone"
    writer = Writer(content, data)
    times, turns = writer.add([[0.0], [1.0]], FLOAT, "SCALAR"), writer.add(np.eye(4)[[3, 2]], FLOAT, "VEC4")
    content["animations"] = [{
        "samplers": [{"input": times, "output": turns}],
        "channels": [{"sampler": 0, "target": {"node": 4, "path": "rotation"}}],
    }]  # fmt: skip
    path = written(tmp_path / "a.gltf", gltf((content | pack(writer), writer.data)))
    assert cc.Clip.load_gltf(path).bone_names == Skin.from_gltf(path).bone_names == ("bone", "bone_3", "bone_4")


def test_other_files_are_refused(tmp_path):
    for name, data in (("a.gltf", b""), ("a.gltf", b"{"), ("a.glb", b"glTF"), ("a.glb", b"\0" * 64), ("a.gltf", b"[]")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match=r"a\.gl.*: expected a glTF 2.0 file"):
            Skin.from_gltf(tmp_path / name)


def spoiled_bind(joint, matrix):
    """A file with another inverse bind matrix of one joint, given row by row."""
    content, data = document(known())
    view = content["bufferViews"][content["accessors"][content["skins"][0]["inverseBindMatrices"]]["bufferView"]]
    raw, start = bytearray(data), view["byteOffset"] + 64 * joint
    raw[start : start + 64] = np.asarray(matrix).T.astype("<f4").tobytes()
    return gltf((content, bytes(raw)))


def test_a_joint_with_unequal_scales_is_refused(tmp_path):
    with pytest.raises(ValueError, match="mirrored, sheared or scaled"):
        Skin.from_gltf(written(tmp_path / "a.gltf", spoiled_bind(0, np.diag([1, 2, 1, 1]))))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.eye(4) + np.diag([1, 1, 1], -1), "finite numbers, column by column, and 0, 0, 0, 1 .*, got .0.0, 0.0, 1.0"),
        (np.full((4, 4), np.nan), r"finite numbers, .* got NaN or infinity; transpose"),
        (np.diag([1.0, 0, 1, 1]), "one that has an inverse, got a scale of 0; bind joint 3 again"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_matrices_of_another_form_are_refused(tmp_path, matrix, message):
    with pytest.raises(ValueError, match=f"inverse bind matrix 1 of skin 0: expected {message}"):
        Skin.from_gltf(written(tmp_path / "a.gltf", spoiled_bind(1, matrix)))
    if matrix[3].tolist() != [0, 0, 0, 1]:
        content, data = document(known())
        content["nodes"][1]["matrix"] = matrix.T.ravel().tolist()
        with pytest.raises(ValueError, match=r"matrix of node 1: expected finite numbers, column by column"):
            Skin.from_gltf(written(tmp_path / "a.gltf", gltf((content, data))))


@pytest.mark.parametrize("write", [gltf, glb])
@pytest.mark.parametrize("of_node", [False, True])
@pytest.mark.parametrize("weights", [None, [], [0, 0], [0.5, -2], [0, 1]])
def test_a_mesh_has_the_shape_of_its_default_weights(tmp_path, weights, of_node, write):
    """Those of the node stand for those of the mesh: glTF 2.0, 3.7.2.2."""
    content, data = document(known())
    writer, count, rng = Writer(content, data), content["accessors"][0]["count"], np.random.default_rng(4)
    moves = np.float32(rng.normal(size=(2, count, 3)))
    mesh = content["meshes"][0]
    mesh["primitives"][0]["targets"] = [{"POSITION": writer.add(one, FLOAT, "VEC3")} for one in moves]
    if weights is not None:
        (content["nodes"][0] if of_node else mesh)["weights"] = weights
    if of_node and weights:
        mesh["weights"] = [3.0, 4.0]
    found = Skin.from_gltf(written(tmp_path / "a", write((content | pack(writer), writer.data)))).vertices
    expected = known()["vertices"] + sum(w * one.astype(float) for w, one in zip(weights or [0, 0], moves, strict=True))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_default_weights_and_targets_that_do_not_match_are_refused(tmp_path):
    content, data = document(known())
    mesh = content["meshes"][0]
    mesh["primitives"][0]["targets"], mesh["weights"] = [{"POSITION": 0}], [1.0, 2.0]
    with pytest.raises(ValueError, match="weights of the mesh of node 0: expected 1, one for each morph target, got 2"):
        Skin.from_gltf(written(tmp_path / "a.gltf", gltf((content, data))))
    content["nodes"][0]["weights"], mesh["weights"] = [1.0, 2.0, 3.0], [1.0]
    with pytest.raises(ValueError, match="weights of node 0: expected 1, one for each morph target, got 3"):
        Skin.from_gltf(written(tmp_path / "a.gltf", gltf((content, data))))
    del content["nodes"][0]["weights"]
    content["accessors"] = [*content["accessors"], {**content["accessors"][0], "count": 5}]
    mesh["primitives"][0]["targets"] = [{"POSITION": len(content["accessors"]) - 1}]
    content["buffers"][0].pop("uri")
    with pytest.raises(ValueError, match=r"morph targets of node 0: expected \d+ rows, got 5"):
        Skin.from_gltf(written(tmp_path / "a.gltf", gltf((content, data))))


def test_without_pygltflib_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pygltflib", None)
    with pytest.raises(ImportError, match=r"cylcollide\[gltf\]"):
        Skin.from_gltf(tmp_path / "a.glb")
