"""Skins from glTF 2.0 files: pygltflib gives structures and bytes, and this module interprets them.

A joint's rest is the inverse of its inverse bind matrix, so vertices and bones are in the space of the mesh, in its
units. The pose of the nodes, and the place of the mesh in its scene, do not count.
"""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import Float64Array
from cylcollide.characters import quaternions

if TYPE_CHECKING:
    from pygltflib import GLTF2

DTYPES = {5120 + code: np.dtype(kind) for code, kind in enumerate("bBhHiIf")}
LARGEST = {"b": 127.0, "B": 255.0, "h": 32767.0, "H": 65535.0}
"""The integers that mean 1 where integers are normalised."""

WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
TRIANGLES = 4

RIGID = 1e-3
"""Largest distance of a bind matrix from a rotation with one scale, relative to that scale."""


def read(path: str | PathLike[str]) -> tuple[Any, ...]:
    """The arguments of `Skin` for the meshes of the first skin; see `Skin.from_gltf`."""
    try:
        import pygltflib  # noqa: PLC0415  # an extra
    except ImportError as missing:
        raise ImportError(
            f"pygltflib is needed to read glTF and could not be imported ({missing}); install it with: "
            "pip install 'cylcollide[gltf]'"
        ) from missing
    file = Path(path)
    file.open("rb").close()  # pygltflib prints what it cannot open
    try:
        document = pygltflib.GLTF2().load(file)
        if document is None or not document.skins:
            raise ValueError("it has no skin; export the mesh with its armature")
        return _skin(document)
    except FileNotFoundError:
        raise
    except Exception as error:  # damaged files raise what json, struct, dataclasses and numpy raise
        raise ValueError(
            f"{file}: expected a glTF 2.0 file with a skinned mesh, got one that cannot be read "
            f"({type(error).__name__}: {str(error)[:160]})"
        ) from None


def _skin(document: "GLTF2") -> tuple[Any, ...]:
    joints, parents = _ordered_joints(document)
    original = document.skins[0].joints
    rank = np.empty(len(original), dtype=np.int64)  # of a joint as vertices number it
    for row, joint in enumerate(joints):
        rank[original.index(joint)] = row
    vertices, faces, weights, count = [], [], [], 0
    for node in document.nodes:
        if node.skin != 0 or node.mesh is None:
            continue
        for primitive in document.meshes[node.mesh].primitives:
            if primitive.mode not in (None, TRIANGLES):
                continue
            points = _accessor(document, primitive.attributes.POSITION).astype(np.float64)
            rows = np.arange(len(points))
            if primitive.indices is not None:
                rows = _accessor(document, primitive.indices).ravel().astype(np.int64)
            vertices.append(points)
            faces.append(rows.reshape(-1, 3) + count)
            weights.append(_weights(document, primitive.attributes, rank, len(points)))
            count += len(points)
    if not vertices:
        raise ValueError("no triangles refer to the first skin")
    names = [document.nodes[joint].name or f"joint_{joint}" for joint in joints]
    positions, orientations = _rest(document, rank, parents)
    return np.vstack(vertices), np.vstack(faces), np.vstack(weights), names, parents, positions, orientations


def _ordered_joints(document: "GLTF2") -> tuple[list[int], list[int]]:
    """Nodes of the joints, parents before children, and for each the row of its nearest ancestor among them, or -1."""
    joints = document.skins[0].joints
    above = {child: row for row, node in enumerate(document.nodes) for child in node.children or ()}

    def ancestors(node: int) -> list[int]:
        path: list[int] = []
        while node in above and len(path) <= len(document.nodes):
            node = above[node]
            path.append(node)
        return path

    paths = {joint: [node for node in ancestors(joint) if node in joints] for joint in joints}
    ordered = sorted(joints, key=lambda joint: len(paths[joint]))
    return ordered, [ordered.index(paths[joint][0]) if paths[joint] else -1 for joint in ordered]


def _weights(document: "GLTF2", attributes: Any, rank: NDArray[np.int64], count: int) -> Float64Array:
    """Weights of all joints in their order, (n, b); up to eight a vertex."""
    weights = np.zeros((count, len(rank)))
    vertex = np.arange(count)[:, None]
    for number in range(2):
        joints, shares = (getattr(attributes, f"{name}_{number}", None) for name in ("JOINTS", "WEIGHTS"))
        if joints is None or shares is None:
            if number == 0:
                raise ValueError("a mesh of the skin has no JOINTS_0 and WEIGHTS_0")
            continue
        np.add.at(weights, (vertex, rank[_accessor(document, joints).astype(np.int64)]), _accessor(document, shares))
    return weights


def _rest(document: "GLTF2", rank: NDArray[np.int64], parents: list[int]) -> tuple[Float64Array, Float64Array]:
    """Positions (b, 3) and orientations (b, 4) of the joints relative to their parents."""
    binding = document.skins[0].inverseBindMatrices
    inverse = np.tile(np.eye(4), (len(rank), 1, 1))
    if binding is not None:
        inverse[rank] = _accessor(document, binding).reshape(-1, 4, 4).transpose(0, 2, 1)
    matrices = np.linalg.inv(inverse)
    scale = np.cbrt(np.linalg.det(matrices[:, :3, :3]))
    turns: Float64Array = matrices[:, :3, :3] / scale[:, None, None]
    if not (scale > 0.0).all() or not np.abs(turns @ turns.transpose(0, 2, 1) - np.eye(3)).max() < RIGID:
        raise ValueError("a joint is bound mirrored, sheared or scaled by axes; apply its scale before the export")
    positions: Float64Array = matrices[:, :3, 3].astype(np.float64)
    orientations = turns.copy()
    for row, parent in enumerate(parents):
        if parent >= 0:
            positions[row] = turns[parent].T @ (matrices[row, :3, 3] - matrices[parent, :3, 3])
            orientations[row] = turns[parent].T @ turns[row]
    return positions, quaternions.of_matrices(orientations)


def _accessor(document: "GLTF2", number: int) -> NDArray[Any]:
    """The rows of an accessor, (count, width); normalised integers become numbers up to 1."""
    accessor = document.accessors[number]
    if accessor.sparse is not None or accessor.bufferView is None:
        raise ValueError(f"accessor {number} is sparse or compressed; export without")
    view = document.bufferViews[accessor.bufferView]
    data = document.get_data_from_buffer_uri(document.buffers[view.buffer].uri)
    dtype, width = DTYPES[accessor.componentType], WIDTHS[accessor.type]
    rows: NDArray[Any] = np.ndarray(
        (accessor.count, width),
        dtype.newbyteorder("<"),
        buffer=data,
        offset=(view.byteOffset or 0) + (accessor.byteOffset or 0),
        strides=(view.byteStride or width * dtype.itemsize, dtype.itemsize),
    )
    if accessor.normalized:
        rows = np.maximum(rows / LARGEST[dtype.char], -1.0)
    return rows
