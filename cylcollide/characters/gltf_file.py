"""glTF 2.0 files: pygltflib parses structures, and this module reads the data of accessors, primitives and nodes.

Compressed data is read if the packages of the extra `gltf-compressed` are installed: meshopt (MIT) for
EXT_meshopt_compression, and DracoPy (Apache 2.0) for KHR_draco_mesh_compression.
"""

import base64
import json
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from cylcollide import shapes, validate
from cylcollide._types import Float64Array
from cylcollide._version import not_installed
from cylcollide.characters import gltf_checks, quaternions
from cylcollide.characters.gltf_checks import DRACO, MESHOPT, PACKAGES, ArgumentError, package

if TYPE_CHECKING:
    from pygltflib import GLTF2

DTYPES = {5120 + code: np.dtype(kind) for code, kind in enumerate("bBhHiIf")}
LARGEST = {"b": 127.0, "B": 255.0, "h": 32767.0, "H": 65535.0}
"""The integers that represent 1 in normalised integers."""

WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
TRIANGLES, STRIP, FAN = 4, 5, 6

Item = TypeVar("Item")


class GltfFile:
    """A parsed file whose required extensions are all supported."""

    def __init__(self, document: "GLTF2", path: Path, text: bytes) -> None:
        self.document, self.path, self._text = document, path, text
        gltf_checks.version(document.asset)
        gltf_checks.extensions(document.extensionsRequired or ())
        self._buffers: dict[int, bytes] = {}
        self._views: dict[int, NDArray[np.uint8]] = {}
        self._draco: dict[int, Any] = {}

    @cached_property
    def fields(self) -> Any:
        """The JSON of the document, of which pygltflib does not keep all."""
        return json.loads(self._text)

    @cached_property
    def parents(self) -> list[int]:
        """The node above each node, or -1."""
        nodes = self.document.nodes
        above = [-1] * len(nodes)
        for row, node in enumerate(nodes):
            for child in node.children or ():
                if above[validate.index(child, f"children of node {row}", len(nodes))] >= 0:
                    raise ValueError(f"expected nodes in trees, got node {child} below nodes {above[child]} and {row}")
                above[child] = row
        return above

    @cached_property
    def order(self) -> list[int]:
        """All nodes, parents before their children."""
        found = [node for node, parent in enumerate(self.parents) if parent < 0]
        for node in found:
            found.extend(self.document.nodes[node].children or ())
        if len(found) < len(self.parents):
            node = next(iter(set(range(len(self.parents))) - set(found)))
            raise ValueError(f"expected nodes in trees, got node {node} above itself")
        return found

    def trees_of(self, known: Collection[int]) -> tuple[dict[int, int], dict[int, int], dict[int, int]]:
        """For each node: its nearest ancestor among the `known` nodes, or -1; its depth below these; and their top."""
        above, depth, top = dict[int, int](), {-1: 0}, dict[int, int]()
        for node in self.order:
            parent = self.parents[node]
            above[node] = parent if parent < 0 or parent in known else above[parent]
            depth[node] = depth[above[node]] + 1
            top[node] = top.get(above[node], node)
        return above, depth, top

    @cached_property
    def local(self) -> Float64Array:
        """The transform of each node in the frame of its parent, (nodes, 4, 4), for column vectors."""
        matrices = np.tile(np.eye(4), (len(self.document.nodes), 1, 1))
        for row, (own, node) in enumerate(zip(matrices, self.document.nodes, strict=True)):
            if node.matrix is not None:
                own[:] = np.reshape(node.matrix, (4, 4)).T
                gltf_checks.affine(own[None], f"matrix of node {row}")
            else:
                translation, turn, scale = self.parts(row)
                own[:3, :3] = shapes.rotation_matrices(turn[None])[0] * scale
                own[:3, 3] = translation
        return matrices

    def parts(self, row: int) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Translation, rotation and scale of a node at rest; from its matrix if it has one."""
        node = self.document.nodes[row]
        if node.matrix is not None:
            matrix = self.local[row]
            scale = np.linalg.norm(matrix[:3, :3], axis=0) * (-1.0 if np.linalg.det(matrix[:3, :3]) < 0.0 else 1.0)
            turn = matrix[:3, :3] / scale if scale.all() else np.eye(3)
            return matrix[:3, 3], quaternions.of_matrices(turn[None])[0], scale
        found = []
        for name, default in (("translation", [0.0] * 3), ("rotation", [0.0, 0.0, 0.0, 1.0]), ("scale", [1.0] * 3)):
            value = getattr(node, name)
            numbers = np.array(default if value is None else value, np.float64)
            if numbers.shape != (len(default),) or not np.isfinite(numbers).all():
                raise ValueError(f"{name} of node {row}: expected {len(default)} finite numbers, got {value}")
            found.append(numbers)
        if not found[1].any():
            raise ValueError(f"rotation of node {row}: expected a quaternion, got zeros")
        return found[0], found[1], found[2]

    @cached_property
    def worlds(self) -> Float64Array:
        """The transform of each node in the scene, (nodes, 4, 4)."""
        found = self.local.copy()
        for node in self.order:
            if self.parents[node] >= 0:
                found[node] = found[self.parents[node]] @ found[node]
        return found

    def joints(self, skin: int) -> list[int]:
        """The nodes of the joints of a skin."""
        nodes = gltf_checks.element(self.document.skins, skin, "skin of a node").joints
        return [validate.index(node, f"joints of skin {skin}", len(self.document.nodes)) for node in nodes]

    def bone_names(self, bones: Sequence[int]) -> list[str]:
        """Unique names of nodes as bones, equal for a skin and a clip of this file.

        Names need only differ among joints of trees that share skins: separate people may have equal names.
        """
        skins = [self.joints(skin) for skin in range(len(self.document.skins or ()))]
        _, _, tops = self.trees_of({joint for joints in skins for joint in joints})
        trees, count = {tops[bone] for bone in bones}, 0
        while len(trees) > count:
            count = len(trees)
            for joints in skins:
                its = {tops[joint] for joint in joints}
                trees |= its if its & trees else set()
        joints_of_trees = sorted({*bones, *(joint for joints in skins for joint in joints if tops[joint] in trees)})
        given = [self.document.nodes[node].name or None for node in joints_of_trees]
        fallback = [f"{name or 'joint'}_{node}" for name, node in zip(given, joints_of_trees, strict=True)]
        names = dict(zip(joints_of_trees, gltf_checks.unique_names(given, fallback), strict=True))
        return [names[bone] for bone in bones]

    @property
    def humanoid(self) -> dict[int, str]:
        """The VRM names of the bones of a VRM file's person, by node; empty for other files."""
        extensions = self.document.extensions or {}
        for name in ("VRMC_vrm", "VRMC_vrm_animation", "VRM"):
            bones = extensions.get(name, {}).get("humanoid", {}).get("humanBones")
            if isinstance(bones, dict):
                return {int(bone["node"]): str(key) for key, bone in bones.items()}
            if bones:
                return {int(bone["node"]): str(bone["bone"]) for bone in bones}
        return {}

    # Numbers ---------------------------------------------------------------------------------------------------------

    def accessor(self, number: int, kind: str) -> NDArray[Any]:
        """The rows of an accessor of type `kind`, (count, width); normalised integers are divided by their largest."""
        accessor = gltf_checks.element(self.document.accessors, number, "an accessor")
        if accessor.type != kind:
            raise ValueError(f"accessor {number}: expected {kind}, got {accessor.type}")
        dtype, width = DTYPES[accessor.componentType], WIDTHS[accessor.type]
        sparse = accessor.sparse
        if sparse is not None:
            changed = self._rows(sparse.indices, number, sparse.count, DTYPES[sparse.indices.componentType], 1)[:, 0]
            values = self._rows(sparse.values, number, sparse.count, dtype, width)
        if accessor.bufferView is not None:
            rows = self._rows(accessor, number, accessor.count, dtype, width)
        elif sparse is not None:
            gltf_checks.size(f"rows of zeros in accessor {number}", accessor.count, self._most_rows)
            rows = np.zeros((accessor.count, width), dtype)
        else:
            raise ValueError(f"accessor {number} has no data: it is sparse or compressed in a way that is not known")
        if sparse is not None:
            rows = rows.copy()
            rows[changed] = values
        if accessor.normalized:
            rows = np.maximum(rows / LARGEST[dtype.char], -1.0)
        return rows

    @cached_property
    def _most_rows(self) -> int:
        """At least the rows of any accessor that has data: its bytes, or its points where Draco has compressed them.

        Attributes of a mesh have equally many, and no motion has three times as many rows as its times have bytes.
        """
        accessors = self.document.accessors
        views = [one.bufferView for one in accessors if one.bufferView is not None]
        views += [one.sparse.values.bufferView for one in accessors if one.sparse is not None]
        primitives = (each for mesh in self.document.meshes or () for each in mesh.primitives)
        packed = (found[1] for each in primitives if (found := self._packed(each)) is not None)
        return max([*(len(self._view(view)) for view in views), *(len(mesh.points) for mesh in packed)])

    def _rows(self, part: Any, number: int, count: int, dtype: np.dtype[Any], width: int) -> NDArray[Any]:
        """The rows that a part of accessor `number` has in a buffer view, (count, width)."""
        view, offset, size = part.bufferView, part.byteOffset or 0, width * dtype.itemsize
        stride = gltf_checks.element(self.document.bufferViews, view, "bufferView").byteStride or size
        data = self._view(view)
        if min(count, offset) < 0 or offset + stride * (count - 1) + size > len(data):
            raise ValueError(f"accessor {number}: expected {count} rows in {len(data)} bytes, got fewer bytes")
        return np.ndarray((count, width), dtype.newbyteorder("<"), data, offset, (stride, dtype.itemsize))

    def _view(self, number: int) -> NDArray[np.uint8]:
        """The bytes of a buffer view, decompressed."""
        if number not in self._views:
            view = self.document.bufferViews[number]
            packed = next((name for name in MESHOPT if self._uses(name, view)), "")
            self._views[number] = self._unpacked(view.extensions[packed], packed) if packed else self._part(view)
        return self._views[number]

    def _unpacked(self, how: dict[str, Any], extension: str) -> NDArray[np.uint8]:
        """The decompressed bytes of a buffer view that meshopt compressed."""
        start, length = how.get("byteOffset", 0), how["byteLength"]
        packed = self._buffer(how["buffer"])[start : start + length]
        if len(packed) < length:
            raise ValueError(f"expected {length} bytes of {extension}, got {len(packed)}")
        gltf_checks.size(f"bytes of {extension}", how["count"] * how["byteStride"], gltf_checks.MESHOPT_RATIO * length)
        decode = package(extension).decode_gltf_buffer
        rows = decode(packed, how["count"], how["byteStride"], how["mode"], how.get("filter", "NONE"))
        return np.ascontiguousarray(rows).view(np.uint8).reshape(-1)

    def _part(self, view: Any) -> NDArray[np.uint8]:
        start = view.byteOffset or 0
        return np.frombuffer(self._buffer(view.buffer), np.uint8)[start : start + view.byteLength]

    def _buffer(self, number: int) -> bytes:
        if number not in self._buffers:
            uri = gltf_checks.element(self.document.buffers, number, "buffer").uri
            if uri is None:
                data = self.document.binary_blob() or b""
            elif uri.startswith("data:"):
                data = base64.b64decode(uri.partition(",")[2])
            else:
                data = (self.path.parent / unquote(uri)).read_bytes()
            self._buffers[number] = data
        return self._buffers[number]

    def _uses(self, extension: str, part: Any) -> bool:
        """Whether to read a part by an extension it has: if the extension is required, or its package installed."""
        if extension not in (part.extensions or {}):
            return False
        return extension in (self.document.extensionsRequired or ()) or find_spec(PACKAGES[extension]) is not None

    # Meshes ----------------------------------------------------------------------------------------------------------

    def attribute(self, primitive: Any, name: str) -> NDArray[Any] | None:
        """An attribute of each vertex of a primitive, (vertices, width), or None."""
        number = getattr(primitive.attributes, name, None)
        packed = self._packed(primitive)
        if number is None:
            return None
        if packed is None or name not in packed[0]["attributes"]:
            return self.accessor(number, "VEC3" if name == "POSITION" else "VEC4")
        found: NDArray[Any] = packed[1].get_attribute_by_unique_id(packed[0]["attributes"][name])["data"]
        accessor = self.document.accessors[number]
        return np.maximum(found / LARGEST[found.dtype.char], -1.0) if accessor.normalized else found

    def triangles(self, primitive: Any, vertices: int) -> NDArray[np.int64]:
        """The triangles of a primitive, (f, 3), by rows of vertices; none for points and lines."""
        mode, packed = TRIANGLES if primitive.mode is None else primitive.mode, self._packed(primitive)
        if packed is not None:
            return np.asarray(packed[1].faces, np.int64).reshape(-1, 3)
        if mode not in (TRIANGLES, STRIP, FAN):
            return np.empty((0, 3), np.int64)
        given = None if primitive.indices is None else self.accessor(primitive.indices, "SCALAR")
        rows = np.arange(vertices) if given is None else given.ravel().astype(np.int64)
        if mode == TRIANGLES:
            return rows.reshape(-1, 3)
        if mode == FAN:
            return np.stack([np.full(len(rows) - 2, rows[0]), rows[1:-1], rows[2:]], axis=1)
        strip = np.stack([rows[:-2], rows[1:-1], rows[2:]], axis=1)
        strip[1::2] = strip[1::2, [1, 0, 2]]
        return strip

    def _packed(self, primitive: Any) -> tuple[dict[str, Any], Any] | None:
        """The Draco extension of a primitive and the decompressed mesh; None if it is not compressed."""
        if not self._uses(DRACO, primitive):
            return None
        how = primitive.extensions[DRACO]
        number = how["bufferView"]
        if number not in self._draco:
            self._draco[number] = package(DRACO).decode(self._view(number).tobytes())
        return how, self._draco[number]


def read(path: str | PathLike[str], what: str, interpret: Callable[[GltfFile], Item]) -> Item:
    """The result of `interpret`, which may raise anything, for a file with `what`; errors as of `Clip.load_gltf`."""
    try:
        import pygltflib  # noqa: PLC0415  # an extra
    except ImportError as missing:
        raise not_installed("pygltflib", "gltf", missing) from missing
    file = Path(path)
    data = file.read_bytes()
    try:
        binary, kind = data[:4] == b"glTF", pygltflib.GLTF2
        document = kind.load_from_bytes(data) if binary else kind.gltf_from_json(data.decode("utf-8-sig"))
        if document is None:
            raise ValueError("it is empty")
        text = data[20 : 20 + int.from_bytes(data[12:16], "little")] if binary else data  # the first chunk is JSON
        return interpret(GltfFile(document, file, text))
    except (FileNotFoundError, ArgumentError):
        raise
    except Exception as error:  # damaged files raise what json, struct, dataclasses and numpy raise
        raise ValueError(
            f"{file}: expected a glTF 2.0 file with {what}, got one that cannot be read; export it again "
            f"({type(error).__name__}: {str(error)[:300]})"
        ) from None
