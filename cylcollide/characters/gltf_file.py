"""glTF 2.0 files: pygltflib gives structures, and this module the numbers of accessors, primitives and nodes.

Compressed data is read where the packages of the extra `gltf-compressed` are installed: meshopt (MIT) for
EXT_meshopt_compression, and DracoPy (Apache 2.0) for KHR_draco_mesh_compression.
"""

import base64
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from cylcollide import shapes
from cylcollide._types import Float64Array
from cylcollide._version import not_installed, to_install

if TYPE_CHECKING:
    from pygltflib import GLTF2

DTYPES = {5120 + code: np.dtype(kind) for code, kind in enumerate("bBhHiIf")}
LARGEST = {"b": 127.0, "B": 255.0, "h": 32767.0, "H": 65535.0}
"""The integers that mean 1 where integers are normalised."""

WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
TRIANGLES, STRIP, FAN = 4, 5, 6

MESHOPT, DRACO = ("EXT_meshopt_compression", "KHR_meshopt_compression"), "KHR_draco_mesh_compression"
PACKAGES = dict.fromkeys(MESHOPT, "meshopt") | {DRACO: "DracoPy"}
HARMLESS = ("KHR_materials_*", "*_texture_*", "*_lights_*", "*_lod", "KHR_mesh_quantization", "KHR_xmp*", "VRM*")
"""Required extensions that change neither the skin nor its bones nor how they move."""

Item = TypeVar("Item")


class ArgumentError(ValueError):
    """The file is right, but an argument does not suit it."""


class GltfFile:
    """A file whose structures are read and whose required extensions are known."""

    def __init__(self, document: "GLTF2", path: Path) -> None:
        self.document, self.path = document, path
        for name in document.extensionsRequired or ():
            if name in PACKAGES:
                _package(name)
            elif not any(fnmatchcase(name, pattern) for pattern in HARMLESS):
                raise ValueError(f"expected only known extensions to be required, got {name}; export without it")
        self._buffers: dict[int, bytes] = {}
        self._views: dict[int, NDArray[np.uint8]] = {}
        self._draco: dict[int, Any] = {}

    @cached_property
    def parents(self) -> list[int]:
        """The node above each node, or -1."""
        above = [-1] * len(self.document.nodes)
        for row, node in enumerate(self.document.nodes):
            for child in node.children or ():
                above[child] = row
        return above

    def ancestors(self, node: int) -> Iterator[int]:
        """The nodes above a node, the nearest first."""
        for _ in range(len(self.parents)):
            node = self.parents[node]
            if node < 0:
                return
            yield node
        raise ValueError("expected nodes in trees, got a node above itself")

    @cached_property
    def local(self) -> Float64Array:
        """The transform of each node in the frame of its parent, (nodes, 4, 4), of column vectors."""
        matrices = np.tile(np.eye(4), (len(self.document.nodes), 1, 1))
        for own, node in zip(matrices, self.document.nodes, strict=True):
            if node.matrix is not None:
                own[:] = np.reshape(node.matrix, (4, 4)).T
            else:
                turn = shapes.rotation_matrices(np.array([node.rotation or [0.0, 0.0, 0.0, 1.0]], np.float64))[0]
                own[:3, :3] = turn * np.array(node.scale or [1.0, 1.0, 1.0])
                own[:3, 3] = node.translation or [0.0, 0.0, 0.0]
        return matrices

    def world(self, node: int) -> Float64Array:
        """The transform of a node in the scene, (4, 4)."""
        found = self.local[node]
        for above in self.ancestors(node):
            found = self.local[above] @ found
        return np.asarray(found)

    def joint_name(self, node: int) -> str:
        """The name of a node as a bone."""
        return self.document.nodes[node].name or f"joint_{node}"

    @property
    def humanoid(self) -> dict[int, str]:
        """The names that a VRM file gives to bones of its person, by node; empty in other files."""
        extensions = self.document.extensions or {}
        for name in ("VRMC_vrm", "VRMC_vrm_animation", "VRM"):
            bones = extensions.get(name, {}).get("humanoid", {}).get("humanBones")
            if isinstance(bones, dict):
                return {int(bone["node"]): str(key) for key, bone in bones.items()}
            if bones:
                return {int(bone["node"]): str(bone["bone"]) for bone in bones}
        return {}

    # Numbers ---------------------------------------------------------------------------------------------------------

    def accessor(self, number: int) -> NDArray[Any]:
        """The rows of an accessor, (count, width); normalised integers become numbers up to 1."""
        accessor = self.document.accessors[number]
        dtype, width = DTYPES[accessor.componentType], WIDTHS[accessor.type]
        sparse = accessor.sparse
        if accessor.bufferView is not None:
            rows = self._rows(accessor.bufferView, accessor.byteOffset or 0, accessor.count, dtype, width)
        elif sparse is not None:
            rows = np.zeros((accessor.count, width), dtype)
        else:
            raise ValueError(f"accessor {number} has no data: it is sparse or compressed in a way that is not known")
        if sparse is not None:
            kind, where = DTYPES[sparse.indices.componentType], sparse.indices
            changed = self._rows(where.bufferView, where.byteOffset or 0, sparse.count, kind, 1)[:, 0]
            rows = rows.copy()
            rows[changed] = self._rows(
                sparse.values.bufferView, sparse.values.byteOffset or 0, sparse.count, dtype, width
            )
        if accessor.normalized:
            rows = np.maximum(rows / LARGEST[dtype.char], -1.0)
        return rows

    def _rows(self, view: int, offset: int, count: int, dtype: np.dtype[Any], width: int) -> NDArray[Any]:
        """Rows of numbers in a view of a buffer."""
        stride = self.document.bufferViews[view].byteStride or width * dtype.itemsize
        data = self._view(view)
        return np.ndarray((count, width), dtype.newbyteorder("<"), data, offset, (stride, dtype.itemsize))

    def _view(self, number: int) -> NDArray[np.uint8]:
        """The bytes of a view, decompressed."""
        if number not in self._views:
            view = self.document.bufferViews[number]
            packed = next((name for name in MESHOPT if self._uses(name, view)), None)
            self._views[number] = (
                self._part(view) if packed is None else self._unpacked(view.extensions[packed], packed)
            )
        return self._views[number]

    def _unpacked(self, how: dict[str, Any], extension: str) -> NDArray[np.uint8]:
        """The bytes of a view that meshopt has compressed."""
        start, length = how.get("byteOffset", 0), how["byteLength"]
        packed = self._buffer(how["buffer"])[start : start + length]
        if len(packed) < length:
            raise ValueError(f"expected {length} bytes of {extension}, got {len(packed)}")
        decode = _package(extension).decode_gltf_buffer
        rows = decode(packed, how["count"], how["byteStride"], how["mode"], how.get("filter", "NONE"))
        return np.ascontiguousarray(rows).view(np.uint8).reshape(-1)

    def _part(self, view: Any) -> NDArray[np.uint8]:
        start = view.byteOffset or 0
        return np.frombuffer(self._buffer(view.buffer), np.uint8)[start : start + view.byteLength]

    def _buffer(self, number: int) -> bytes:
        if number not in self._buffers:
            uri = self.document.buffers[number].uri
            if uri is None:
                data = self.document.binary_blob() or b""
            elif uri.startswith("data:"):
                data = base64.b64decode(uri.partition(",")[2])
            else:
                data = (self.path.parent / unquote(uri)).read_bytes()
            self._buffers[number] = data
        return self._buffers[number]

    def _uses(self, extension: str, part: Any) -> bool:
        """Whether a part has an extension, and plain data does not stand for it where its package is missing."""
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
            return self.accessor(number)
        found: NDArray[Any] = packed[1].get_attribute_by_unique_id(packed[0]["attributes"][name])["data"]
        accessor = self.document.accessors[number]
        return np.maximum(found / LARGEST[found.dtype.char], -1.0) if accessor.normalized else found

    def triangles(self, primitive: Any, vertices: int) -> NDArray[np.int64]:
        """The triangles of a primitive, (f, 3), by rows of vertices; none of points and lines."""
        mode, packed = TRIANGLES if primitive.mode is None else primitive.mode, self._packed(primitive)
        if packed is not None:
            return np.asarray(packed[1].faces, np.int64).reshape(-1, 3)
        if mode not in (TRIANGLES, STRIP, FAN):
            return np.empty((0, 3), np.int64)
        given = None if primitive.indices is None else self.accessor(primitive.indices)
        rows = np.arange(vertices) if given is None else given.ravel().astype(np.int64)
        if mode == TRIANGLES:
            return rows.reshape(-1, 3)
        if mode == FAN:
            return np.stack([np.full(len(rows) - 2, rows[0]), rows[1:-1], rows[2:]], axis=1)
        strip = np.stack([rows[:-2], rows[1:-1], rows[2:]], axis=1)
        strip[1::2] = strip[1::2, [1, 0, 2]]
        return strip

    def _packed(self, primitive: Any) -> tuple[dict[str, Any], Any] | None:
        """What Draco has compressed of a primitive: the extension, and the mesh; None if there is nothing."""
        if not self._uses(DRACO, primitive):
            return None
        how = primitive.extensions[DRACO]
        number = how["bufferView"]
        if number not in self._draco:
            self._draco[number] = _package(DRACO).decode(self._view(number).tobytes())
        return how, self._draco[number]


def read(path: str | PathLike[str], what: str, interpret: Callable[[GltfFile], Item]) -> Item:
    """What a function, which may raise anything, makes of a file that holds `what`; errors as of `Clip.load_gltf`."""
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
        return interpret(GltfFile(document, file))
    except (FileNotFoundError, ArgumentError):
        raise
    except Exception as error:  # damaged files raise what json, struct, dataclasses and numpy raise
        raise ValueError(
            f"{file}: expected a glTF 2.0 file with {what}, got one that cannot be read "
            f"({type(error).__name__}: {str(error)[:300]})"
        ) from None


def _package(extension: str) -> Any:
    """The package that reads an extension."""
    name = PACKAGES[extension]
    try:
        return import_module(name)
    except ImportError as missing:
        raise ValueError(
            f"expected {name}, which reads the extension {extension} of this file, got none ({missing}); install "
            f"it with {to_install('gltf-compressed')}, or export without this extension"
        ) from missing
