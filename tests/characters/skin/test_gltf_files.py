"""glTF files as programs write them: several meshes and skins, scene transforms, VRM, compressed and other layouts."""

import json
import sys

import numpy as np
import pytest
from support import skins
from support.cases.gltf import FLOAT, USHORT, Writer, document, gltf, known, pack, primitive

import cylcollide as cc
from cylcollide.characters.skin import Skin, skin_report


def written(tmp_path, parts):
    (tmp_path / "a.gltf").write_bytes(gltf(parts))
    return tmp_path / "a.gltf"


def read(tmp_path, parts, **options):
    return Skin.from_gltf(written(tmp_path, parts), **options)


BODY = skins.box([0, 0.5, 0], np.eye(3), [0.1, 0.5, 0.1], cuts=2)
HEAD = skins.box([0, 1.2, 0], np.eye(3), [0.1, 0.1, 0.1], cuts=3)
HAIR = skins.box([0, 1.3, 0], np.eye(3), [0.2, 0.2, 0.2], cuts=3)


def person(place=None):
    """Hips and head as nodes 4 and 5 below node 3; three meshes, each with its own skin and space.

    The second lists the joints in reverse order and is twice as large; `place` is the transform of node 3.
    """
    writer, place = Writer(), np.eye(4) if place is None else place
    rest = [np.eye(4), skins.matrix([0, 1.1, 0], skins.IDENTITY)]
    meshes, bindings = [], []
    for name, mesh, bone, order, size in (
        ("Body", BODY, 0, (0, 1), 1.0), ("Head", HEAD, 0, (1, 0), 2.0), ("Hair", HAIR, 1, (0, 1), 1.0),
    ):  # fmt: skip
        meshes.append({"name": name, "primitives": [primitive(writer, (size * mesh[0], mesh[1]), bone)]})
        shrink = np.diag([1 / size] * 3 + [1])
        binding = [(np.linalg.inv(rest[bone]) @ shrink).T.ravel() for bone in order]
        bindings.append(
            {"joints": [4 + bone for bone in order], "inverseBindMatrices": writer.add(binding, FLOAT, "MAT4")}
        )
    nodes = [
        *({"mesh": k, "skin": k, "name": f"node{k}"} for k in range(3)),
        {"children": [4], "matrix": place.T.ravel().tolist()},
        {"name": "hips", "children": [5]}, {"name": "head", "translation": [0, 1.1, 0]},
    ]  # fmt: skip
    return {"asset": {"version": "2.0"}, "nodes": nodes, "meshes": meshes, "skins": bindings} | pack(
        writer
    ), writer.data


def test_skins_with_common_joints_are_merged(tmp_path):
    skin = read(tmp_path, person())
    assert skin.bone_names == ("hips", "head")
    points, _, whose = skins.joined(BODY, HEAD, HAIR)
    np.testing.assert_allclose(skin.vertices, points, atol=1e-6)
    np.testing.assert_array_equal(skin.weights.argmax(axis=1), np.minimum(whose, 1))
    np.testing.assert_allclose(skin.rest_positions, [[0, 0, 0], [0, 1.1, 0]], atol=1e-6)


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"meshes": "Body"}, [BODY]), ({"meshes": ["B*", "node1"]}, [BODY, HEAD]), ({"without": "*air"}, [BODY, HEAD]),
        ({"meshes": "H*", "without": ["Hair"]}, [HEAD]),
    ],
)  # fmt: skip
def test_meshes_are_chosen_by_patterns(tmp_path, options, kept):
    skin = read(tmp_path, person(), **options)
    np.testing.assert_allclose(skin.vertices, np.vstack([points for points, _ in kept]), atol=1e-6)


def test_without_hair_the_head_has_its_own_size(tmp_path):
    box = {"shapes": [cc.Shape.BOX], "coverage": 1.0}
    with_hair = cc.Rig.from_gltf(written(tmp_path, person()), **box)
    rig = cc.Rig.from_gltf(tmp_path / "a.gltf", without="Hair", **box)
    assert with_hair.limbs.half_extents[1].max() > 0.19
    np.testing.assert_allclose(rig.limbs.half_extents[1], 0.1, rtol=0.03)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"meshes": "Teeth"}, "meshes: expected patterns of names .node0, Body, node1.*'Teeth', which matches none"),
        ({"without": "Teeth"}, "without: expected patterns"), ({"without": "*"}, "without: .* spare a mesh"),
        ({"meshes": 3}, "meshes: expected a pattern of names"), ({"names": "vrm"}, "names: expected 'file', since"),
        ({"names": "x"}, "names: expected 'file' or 'vrm'"), ({"space": "x"}, "space: expected 'auto', 'scene' or"),
    ],
)  # fmt: skip
def test_options_that_do_not_fit_are_refused(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, person(), **options)


TURN, Q = skins.rotation(np.random.default_rng(2))
PLACE = skins.matrix([1, 2, 3], Q) @ np.diag([0.01, 0.01, 0.01, 1])


def test_a_scene_gives_unit_axes_and_place(tmp_path):
    skin, plain = read(tmp_path, person(PLACE)), read(tmp_path, person(PLACE), space="mesh")
    np.testing.assert_allclose(skin.vertices, 0.01 * plain.vertices @ TURN.T + [1, 2, 3], atol=1e-6)
    np.testing.assert_allclose(skin.rest_positions, [[1, 2, 3], [0, 0.011, 0]], atol=1e-6)
    np.testing.assert_allclose(np.abs((skin.rest_orientations * [Q, skins.IDENTITY]).sum(axis=1)), 1.0, atol=1e-6)
    np.testing.assert_allclose(skin.posed(*skin._rest), skin.vertices, atol=1e-9)


def test_a_scene_in_another_pose_only_scales_the_mesh(tmp_path):
    content, data = person(PLACE)
    content["nodes"][5]["rotation"] = [0.6, 0, 0, 0.8]
    plain = read(tmp_path, person())
    np.testing.assert_allclose(read(tmp_path, (content, data)).vertices, 0.01 * plain.vertices, rtol=1e-6)
    np.testing.assert_allclose(
        read(tmp_path, (content, data), space="scene").vertices, 0.01 * plain.vertices @ TURN.T + [1, 2, 3], atol=1e-6
    )


def test_a_mirrored_scene_is_refused_if_requested(tmp_path):
    parts = person(np.diag([-1, 1, 1, 1]))
    np.testing.assert_array_equal(read(tmp_path, parts).vertices, read(tmp_path, parts, space="mesh").vertices)
    with pytest.raises(ValueError, match="space: expected 'mesh', since the scene shows joints mirrored"):
        read(tmp_path, parts, space="scene")


@pytest.mark.parametrize("posed", [False, True])
@pytest.mark.parametrize("stretch", [np.diag([1.2, 1.0, 1.0, 1.0]), np.diag([-1.0, 1.0, 1.0, 1.0])])
def test_a_mesh_bound_with_unequal_or_negative_scales_follows_its_bones(tmp_path, stretch, posed):
    content, data = person(PLACE)
    for skin in content["skins"]:  # vertices x in the file are stretch·x of the bound mesh
        view = content["bufferViews"][content["accessors"][skin["inverseBindMatrices"]]["bufferView"]]
        span = slice(view["byteOffset"], view["byteOffset"] + view["byteLength"])
        binding = np.frombuffer(data[span], np.float32).reshape(-1, 4, 4).transpose(0, 2, 1) @ stretch
        data = data[: span.start] + np.float32(binding).transpose(0, 2, 1).tobytes() + data[span.stop :]
    content["nodes"][5] |= {"rotation": [0.6, 0, 0, 0.8]} if posed else {}
    plain, skin = read(tmp_path, person(PLACE)), read(tmp_path, (content, data))
    placed = (plain.vertices - PLACE[:3, 3]) @ TURN / 0.01
    np.testing.assert_allclose(skin.vertices, 0.01 * placed @ stretch[:3, :3] @ TURN.T + PLACE[:3, 3], atol=1e-6)
    np.testing.assert_allclose(skin.rest_positions, plain.rest_positions, atol=1e-6)
    np.testing.assert_allclose(np.abs((skin.rest_orientations * plain.rest_orientations).sum(axis=1)), 1.0, atol=1e-6)
    assert np.linalg.det(skin.vertices[skin.faces]).sum() > 0.0  # triangles face out
    with pytest.raises(ValueError, match="mirrored, sheared or scaled by axes"):
        read(tmp_path, (content, data), space="mesh")


@pytest.mark.parametrize(
    "extension",
    [
        {"VRM": {"humanoid": {"humanBones": [{"bone": "hips", "node": 4}, {"bone": "neck", "node": 5}]}}},
        {"VRMC_vrm": {"humanoid": {"humanBones": {"hips": {"node": 4}, "neck": {"node": 5}}}}},
    ],
)
def test_bones_have_vrm_names(tmp_path, extension):
    content, data = person()
    content["extensions"] = extension
    content["nodes"][4]["name"] = "腰"
    assert read(tmp_path, (content, data), names="vrm").bone_names == ("hips", "neck")
    assert read(tmp_path, (content, data)).bone_names == ("腰", "head")


def test_the_skin_comes_with_the_rig(tmp_path):
    rig = cc.Rig.from_gltf(written(tmp_path, person()), coverage=0.9, shapes=[cc.Shape.CYLINDER])
    assert rig.skin.bone_names == rig.bone_names
    report = skin_report(rig)
    assert report == skin_report(rig, rig.skin)
    assert all(0.9 <= fit.own_coverage < 0.93 for fit in report.bones)
    assert rig.with_groups({"h*": 3}).skin is rig.skin
    assert cc.Rig.humanoid().skin is None
    for other, message in ((cc.Rig.humanoid(), "skin: expected a Skin, got none"), (rig.scaled(2), "got none")):
        with pytest.raises(ValueError, match=message):
            skin_report(other)
    with pytest.raises(ValueError, match="skin: expected a Skin, got Rig"):
        skin_report(rig, rig)


# Extensions and layouts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["EXT_unknown", "KHR_animation_pointer"])
def test_an_unknown_required_extension_is_named(tmp_path, name):
    content, data = person()
    content |= {"extensionsUsed": [name], "extensionsRequired": [name]}
    with pytest.raises(ValueError, match=rf"a.gltf: .*{name}; export without it"):
        read(tmp_path, (content, data))
    content["extensionsRequired"] = ["KHR_materials_unlit", "KHR_texture_transform", "VRM"]
    assert len(read(tmp_path, (content, data)).bone_names) == 2


@pytest.mark.parametrize(
    ("name", "package"), [("EXT_meshopt_compression", "meshopt"), ("KHR_draco_mesh_compression", "DracoPy")]
)
def test_without_its_package_a_compressed_file_is_refused(tmp_path, monkeypatch, name, package):
    monkeypatch.setitem(sys.modules, package, None)
    content, data = person()
    content |= {"extensionsUsed": [name], "extensionsRequired": [name]}
    with pytest.raises(ValueError, match=rf"expected {package}, which reads the extension {name}.*gltf-compressed"):
        read(tmp_path, (content, data))


def with_meshopt(parts):
    """The given document with every view compressed as by gltfpack."""
    meshopt = pytest.importorskip("meshopt")
    content, data = json.loads(json.dumps(parts[0])), parts[1]
    packed = b""
    indices = [p["indices"] for mesh in content["meshes"] for p in mesh["primitives"]]
    for number, view in enumerate(content["bufferViews"]):
        (accessor,) = [a for a in content["accessors"] if a["bufferView"] == number]
        raw = data[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
        triangles = content["accessors"].index(accessor) in indices
        rows = np.frombuffer(raw, np.uint16 if triangles else np.uint8).copy()
        mode, count = ("TRIANGLES", len(rows)) if triangles else ("ATTRIBUTES", accessor["count"])
        code = meshopt.encode_gltf_buffer(rows if triangles else rows.reshape(count, -1), mode)
        view["extensions"] = {"EXT_meshopt_compression": {
            "buffer": 0, "byteOffset": len(packed), "byteLength": len(code), "count": count, "mode": mode,
            "byteStride": 2 if triangles else view["byteLength"] // count,
        }}  # fmt: skip
        view["buffer"] = 1
        packed += code
    content["buffers"] = [{"byteLength": len(packed)}, {"byteLength": len(data)}]
    content |= {name: ["EXT_meshopt_compression"] for name in ("extensionsUsed", "extensionsRequired")}
    return content, packed


def triangles_of(skin):
    """Corners with their weights, in an order that does not depend on triangles or first corners."""
    corners = np.concatenate([skin.vertices, skin.weights], axis=1)[skin.faces]
    first = np.lexsort(np.moveaxis(corners[..., :3].round(4), -1, 0), axis=1)[:, 0]
    corners = np.stack([np.roll(c, -k, axis=0) for c, k in zip(corners, first, strict=True)]).reshape(len(corners), -1)
    return corners[np.lexsort(corners.round(4).T)]


def test_meshopt_is_read(tmp_path):
    expected, got = read(tmp_path, person()), read(tmp_path, with_meshopt(person()))
    np.testing.assert_array_equal(triangles_of(got), triangles_of(expected))
    np.testing.assert_array_equal(got.rest_positions, expected.rest_positions)
    content, packed = with_meshopt(person())
    for size, more, said in ((len(packed) // 2, {}, "bytes of .*, got"), (None, {"count": 10**7}, "expected at most ")):
        content["bufferViews"][0]["extensions"]["EXT_meshopt_compression"] |= more
        with pytest.raises(ValueError, match=said):
            read(tmp_path, (content, packed[:size]))


def test_draco_is_read(tmp_path):
    draco = pytest.importorskip("DracoPy")
    content, data = person()
    for mesh, (points, faces) in zip(content["meshes"], (BODY, (2 * HEAD[0], HEAD[1]), HAIR), strict=True):
        (part,) = mesh["primitives"]
        carriers, shares = (
            np.tile(row, (len(points), 1))
            for row in (np.uint8([[mesh["name"] == "Hair", 0, 0, 0]]), np.float32([[1, 0, 0, 0]]))
        )
        code = draco.encode(np.float32(points), np.uint32(faces), 16, generic_attributes={1: carriers, 2: shares})
        position = max(attribute["unique_id"] for attribute in draco.decode(code).attributes)
        content["bufferViews"].append({"buffer": 0, "byteOffset": len(data), "byteLength": len(code)})
        data += code
        where = {"POSITION": position, "JOINTS_0": 1, "WEIGHTS_0": 2}
        part["extensions"] = {
            "KHR_draco_mesh_compression": {"bufferView": len(content["bufferViews"]) - 1, "attributes": where}
        }
        for number in (*part["attributes"].values(), part["indices"]):
            del content["accessors"][number]["bufferView"]
    content |= {name: ["KHR_draco_mesh_compression"] for name in ("extensionsUsed", "extensionsRequired")}
    expected = read(tmp_path, person())
    np.testing.assert_allclose(triangles_of(read(tmp_path, (content, data))), triangles_of(expected), atol=1e-4)


@pytest.mark.parametrize("extension", ["EXT_meshopt_compression", "KHR_draco_mesh_compression"])
def test_plain_data_beside_compressed_is_read_without_the_package(tmp_path, monkeypatch, extension):
    import cylcollide.characters.gltf_file as module

    content, data = person()
    content["extensionsUsed"] = [extension]
    for part in (*content["bufferViews"], *(p for mesh in content["meshes"] for p in mesh["primitives"])):
        part["extensions"] = {extension: {}}
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    np.testing.assert_array_equal(read(tmp_path, (content, data)).vertices, read(tmp_path, person()).vertices)


def test_strips_and_fans_become_triangles_without_lines(tmp_path):
    square = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    writer = Writer()
    parts = [
        primitive(writer, (square, [0, 1, 2, 3]), 0, mode=5), primitive(writer, (square, [0, 1, 3, 2]), 0, mode=6),
        primitive(writer, (square, [0, 1, 2, 3]), 0, mode=1),
    ]  # fmt: skip
    nodes = [{"mesh": 0, "skin": 0}, {"name": "only"}]
    content = {"asset": {"version": "2.0"}, "nodes": nodes, "meshes": [{"primitives": parts}]}
    content["skins"] = [{"joints": [1]}]
    skin = read(tmp_path, (content | pack(writer), writer.data))
    assert skin.faces.tolist() == [[0, 1, 2], [2, 1, 3], [4, 5, 7], [4, 7, 6]]
    corners = skin.vertices[skin.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    np.testing.assert_array_equal(normals, [[0, 0, 1]] * 4)


@pytest.mark.parametrize("base", [True, False])
def test_sparse_accessors_are_read(tmp_path, base):
    content, data = document(known())
    writer = Writer()
    writer.data, writer.views, writer.accessors = data, content["bufferViews"], []
    count = content["accessors"][0]["count"]
    rows = np.array([3, 70]) if base else np.arange(count)
    points = np.float32(np.random.default_rng(1).normal(size=(len(rows), 3)))
    indices, values = writer.add(rows, USHORT, "SCALAR"), writer.add(points, FLOAT, "VEC3")
    views = [writer.accessors[k]["bufferView"] for k in (indices, values)]
    content["accessors"][0]["sparse"] = {
        "count": len(rows), "indices": {"bufferView": views[0], "componentType": USHORT},
        "values": {"bufferView": views[1]},
    }  # fmt: skip
    if not base:
        del content["accessors"][0]["bufferView"]
    expected = known()["vertices"].copy()
    expected[rows] = points
    np.testing.assert_array_equal(read(tmp_path, (content, writer.data)).vertices, expected)
