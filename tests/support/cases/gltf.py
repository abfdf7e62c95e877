"""glTF files, assembled byte by byte: skins in every layout that the reader supports."""

import base64
import json
import struct

import numpy as np
from support import skins

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
    """The buffer, views and accessors of a document, new or given with its data."""

    def __init__(self, content=None, data=b""):
        self.data = data
        self.views, self.accessors = (content[name] if content else [] for name in ("bufferViews", "accessors"))

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


def pack(writer):
    """Accessors, views and buffer of a document."""
    return {"accessors": writer.accessors, "bufferViews": writer.views, "buffers": [{"byteLength": len(writer.data)}]}


def primitive(writer, mesh, bone, **more):
    """A mesh skinned to one bone."""
    points = np.asarray(mesh[0])
    carriers = np.zeros((len(points), 4))
    carriers[:, 0] = bone
    attributes = {
        "POSITION": writer.add(points, FLOAT, "VEC3"),
        "JOINTS_0": writer.add(carriers, UBYTE, "VEC4"),
        "WEIGHTS_0": writer.add(np.eye(4)[np.zeros(len(points), int)], FLOAT, "VEC4"),
    }
    return {"attributes": attributes, "indices": writer.add(np.ravel(mesh[1]), USHORT, "SCALAR")} | more


def document(given, joints=(2, 3, 4), scale=1.0, stride=None, weight_code=USHORT, indexed=True):
    """Node 0 is the mesh and node 1 an armature; `joints` may be in any order; node 5 lies between two joints."""
    writer, order = Writer(), [joints.index(node) for node in (2, 3, 4)]  # rank of low, mid, high among the joints
    rest = skins.rest_matrices(given)
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
    } | pack(writer), writer.data  # fmt: skip


def gltf(parts):
    """The document as .gltf text, with its buffer in base64."""
    content, data = parts
    content["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    return json.dumps(content).encode()


def glb(parts):
    """The document as .glb, in two chunks."""
    content, data = parts
    text = json.dumps(content).encode()
    text += b" " * (-len(text) % 4)
    data += b"\0" * (-len(data) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(data), 0x004E4942) + data
    return struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks
