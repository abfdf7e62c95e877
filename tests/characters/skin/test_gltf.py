"""glTF files, written here byte by byte: skins in every layout that is read; and files that are refused."""

import base64
import json
import struct
import sys

import numpy as np
import pytest
from support import skins

import cylcollide as cc
from cylcollide.characters.skin import Skin

FLOAT, USHORT, UBYTE, UINT = 5126, 5123, 5121, 5125


def known():
    """Three bones in a chain, their skin, and weights of two bones a vertex in 65,535ths."""
    rng = np.random.default_rng(9)
    points, faces = skins.cylinder([0, 0, 0], [0, 0, 1.2], 0.1, sides=12, rings=8)
    points = np.float32(points).astype(float)
    first = np.clip((points[:, 2] / 0.6).astype(int), 0, 1)
    share = np.round(65535 * rng.uniform(0, 1, len(points)))
    weights = np.zeros((len(points), 3))
    weights[np.arange(len(points)), first] = share
    weights[np.arange(len(points)), first + 1] = 65535 - share
    return skins.arguments(
        (points, faces), weights, ("low", "mid", "high"), (-1, 0, 1), rng.normal(size=(3, 3)), rng.normal(size=(3, 4))
    )


class Writer:
    """The buffer, views and accessors of a document."""

    def __init__(self):
        self.data, self.views, self.accessors = b"", [], []

    def add(self, rows, code, kind, normalized=False, stride=None):
        rows = np.ascontiguousarray(rows, {FLOAT: "<f4", USHORT: "<u2", UBYTE: "u1", UINT: "<u4"}[code])
        width = rows.itemsize * (rows.shape[1] if rows.ndim > 1 else 1)
        raw = b"".join(row.tobytes() + b"\x55" * ((stride or width) - width) for row in rows)
        self.data += b"\0" * (-len(self.data) % 4)
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": len(raw)} | (
            {"byteStride": stride} if stride else {}
        )
        self.data += raw
        self.views.append(view)
        accessor = {"bufferView": len(self.views) - 1, "componentType": code, "count": len(rows), "type": kind}
        self.accessors.append(accessor | ({"normalized": True} if normalized else {}))
        return len(self.accessors) - 1


def document(given, joints=(2, 3, 4), scale=1.0, stride=None, weight_code=USHORT, indexed=True):
    """Nodes 0 and 1 are the mesh and an armature; the joints' nodes come in any order, one node lies between two."""
    writer, order = Writer(), [joints.index(node) for node in (2, 3, 4)]  # rank of low, mid, high among the joints
    rest = []
    for bone, parent in enumerate(given["parents"]):
        own = skins.matrix(given["rest_positions"][bone], given["rest_orientations"][bone])
        rest.append(own if parent < 0 else rest[parent] @ own)
    bind = np.zeros((3, 16))
    for bone in range(3):
        bind[order[bone]] = np.linalg.inv(rest[bone] @ np.diag([scale] * 3 + [1])).T.ravel()
    carriers = np.argsort(-given["weights"], axis=1, kind="stable")[:, [0, 1, 2, 2]]
    shares = np.take_along_axis(given["weights"], carriers, axis=1) * [1, 1, 1, 0]
    shares = shares / 65535 if weight_code == FLOAT else shares
    points, faces = given["vertices"], np.asarray(given["faces"])
    numbers = np.array(order)[carriers]
    if not indexed:
        rows = faces.ravel()
        points, numbers, shares = points[rows], numbers[rows], shares[rows]
    primitive = {"attributes": {
        "POSITION": writer.add(points, FLOAT, "VEC3", stride=stride),
        "JOINTS_0": writer.add(numbers, UBYTE, "VEC4"),
        "WEIGHTS_0": writer.add(shares, weight_code, "VEC4", weight_code != FLOAT),
    }}  # fmt: skip
    if indexed:
        primitive["indices"] = writer.add(faces.ravel(), USHORT, "SCALAR")
    skin = {"joints": list(joints), "inverseBindMatrices": writer.add(bind, FLOAT, "MAT4")}
    nodes = [
        {"mesh": 0, "skin": 0, "translation": [7, 7, 7]}, {"children": [2]}, {"name": "low", "children": [5]},
        {"name": "mid", "children": [4]}, {"name": "high"}, {"name": "between", "children": [3]},
    ]  # fmt: skip
    return {
        "asset": {"version": "2.0"}, "nodes": nodes, "meshes": [{"primitives": [primitive]}], "skins": [skin],
        "accessors": writer.accessors, "bufferViews": writer.views, "buffers": [{"byteLength": len(writer.data)}],
    }, writer.data  # fmt: skip


def write_gltf(path, parts, separate=False):
    content, data = parts
    if separate:
        path.with_suffix(".bin").write_bytes(data)
        content["buffers"][0]["uri"] = path.with_suffix(".bin").name
    else:
        content["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    path.write_text(json.dumps(content))
    return path


def write_glb(path, parts):
    content, data = parts
    text = json.dumps(content).encode()
    text += b" " * (-len(text) % 4)
    data += b"\0" * (-len(data) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(data), 0x004E4942) + data
    path.write_bytes(struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks)
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
def test_a_skin_comes_back(tmp_path, options):
    given = known()
    check(Skin.from_gltf(write_gltf(tmp_path / "a.gltf", document(given, **options))), given)
    check(Skin.from_gltf(write_glb(tmp_path / "a.glb", document(given, **options))), given)


def test_a_buffer_beside_the_file(tmp_path):
    given = known()
    path = write_gltf(tmp_path / "a.gltf", document(given), separate=True)
    check(Skin.from_gltf(str(path)), given)
    path.with_suffix(".bin").unlink()
    with pytest.raises((OSError, ValueError), match=r"a\.(bin|gltf)"):
        Skin.from_gltf(path)


def test_a_rig_from_a_file(tmp_path):
    skin = Skin.from_gltf(write_glb(tmp_path / "a.glb", document(known())))
    rig = cc.Rig.from_gltf(tmp_path / "a.glb", shapes=[cc.Shape.CYLINDER], least_share=0.01)
    assert rig.bone_names == skin.bone_names
    assert set(rig.limb_names) <= set(skin.bone_names)
    assert len(rig.limbs) >= 2


def no_joints(content):
    del content["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.pop("skins"), "it has no skin"),
        (lambda c: c["nodes"][0].pop("skin"), "no triangles refer to the first skin"),
        (no_joints, "no JOINTS_0"),
        (lambda c: c["accessors"][0].update(count=10**6), "TypeError|ValueError"),
        (lambda c: c["accessors"][0].update(componentType=1), "KeyError"),
        (lambda c: c["accessors"][0].pop("bufferView"), "sparse or compressed"),
        (lambda c: c["skins"][0].update(joints=[2, 3]), "IndexError|ValueError"),
        (lambda c: c["nodes"][4].update(name="low"), "once, got 'low'"),
        (lambda c: c["nodes"][4].update(children=[2]), "ValueError|parents"),
        (lambda c: c.update(nodes=3), "a.gltf: expected a glTF"),
    ],
)
def test_broken_files_are_refused(tmp_path, change, message):
    content, data = document(known())
    change(content)
    path = write_gltf(tmp_path / "a.gltf", (content, data))
    with pytest.raises(ValueError, match=message):
        Skin.from_gltf(path)


def test_what_is_no_gltf_is_refused(tmp_path):
    for name, data in (("a.gltf", b""), ("a.gltf", b"{"), ("a.glb", b"glTF"), ("a.glb", b"\0" * 64), ("a.gltf", b"[]")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match=r"a\.gl.*: expected a glTF 2.0 file"):
            Skin.from_gltf(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        Skin.from_gltf(tmp_path / "none.glb")


def test_a_joint_that_is_scaled_by_axes_is_refused(tmp_path):
    content, data = document(known())
    view = content["bufferViews"][content["accessors"][content["skins"][0]["inverseBindMatrices"]]["bufferView"]]
    raw = bytearray(data)
    raw[view["byteOffset"] : view["byteOffset"] + 64] = np.diag([1, 2, 1, 1]).astype("<f4").tobytes()
    with pytest.raises(ValueError, match="mirrored, sheared or scaled"):
        Skin.from_gltf(write_gltf(tmp_path / "a.gltf", (content, bytes(raw))))


def test_without_pygltflib_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pygltflib", None)
    with pytest.raises(ImportError, match=r"cylcollide\[gltf\]"):
        Skin.from_gltf(tmp_path / "a.glb")
