"""Skin: a triangle mesh that bones move."""

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import shapes, validate
from cylcollide._types import Float64Array, Int32Array
from cylcollide.characters.skeleton import Skeleton
from cylcollide.process import files

if TYPE_CHECKING:
    from cylcollide.characters.skin.gltf import Names, Space


class Skin(Skeleton):
    """A mesh, the bones under it, and the weight of each bone at each vertex. Immutable.

    Parameters
    ----------
    vertices
        The mesh at rest, (v, 3), in the space of the roots' rest transforms.
    faces
        Triangles, (f, 3), by rows of vertices; counterclockwise seen from outside.
    weights
        The weight of each bone at each vertex, (v, b), none negative; rows are divided by their sums.
    bone_names, parents, rest_positions, rest_orientations
        The bones, as `Rig` takes them.

    Raises
    ------
    ValueError
        On wrong shapes, numbers that are not accepted, vertices without weight, and triangles of vertices that do not
        exist; the message has the first bad row and the remedy.
    """

    vertices: Float64Array
    faces: Int32Array
    weights: Float64Array
    _scaled = ("weights",)

    def __init__(
        self,
        vertices: ArrayLike,
        faces: ArrayLike,
        weights: ArrayLike,
        bone_names: Sequence[str] | np.ndarray,
        parents: ArrayLike,
        rest_positions: ArrayLike,
        rest_orientations: ArrayLike,
    ) -> None:
        names = bone_names.tolist() if isinstance(bone_names, np.ndarray) else bone_names
        super().__init__(names, parents, rest_positions, rest_orientations)
        points = validate.vectors(vertices, "vertices")
        self._set_columns(
            vertices=points,
            faces=_triangles(faces, len(points)),
            weights=_shares(weights, len(points), self.bone_names),
        )

    @property
    def _arguments(self) -> tuple[Any, ...]:
        """The arguments of the constructor, checked."""
        return self.vertices, self.faces, self.weights, *self._bone_columns

    def __repr__(self) -> str:
        return f"Skin({len(self.vertices)} vertices, {len(self.faces)} triangles, {len(self.bone_names)} bones)"

    @classmethod
    def from_gltf(
        cls,
        path: str | PathLike[str],
        *,
        meshes: str | Sequence[str] | None = None,
        without: str | Sequence[str] = (),
        names: "Names" = "file",
        space: "Space" = "auto",
    ) -> "Skin":
        """Read the skinned meshes of a glTF 2.0 file, .gltf, .glb or .vrm, whose skins share joints; metres, y up.

        Morph targets have the default weights of their mesh.

        Parameters
        ----------
        path
            The file.
        meshes, without
            Patterns (`fnmatch`) of names of meshes or of their nodes, one or several: the meshes to read (None: all),
            and the ones among them to leave out, such as hair and glasses.
        names
            "vrm" gives the bones of a VRM file's person their VRM names (hips, leftUpperArm ...); others keep theirs.
        space
            "scene": scaled and placed so that the first root is as in the scene. "mesh": in the space of the mesh.
            "auto": as "scene" if the scene's joints are in bind pose, otherwise as "mesh", but in the scale of the
            scene, as the clips of the file.

        Raises
        ------
        ImportError
            Without pygltflib: install the extra `gltf`.
        OSError
            If the file, or one that it names, cannot be opened.
        ValueError
            If it is not glTF, requires an extension that cannot be read, or has no skin or one that the constructor
            rejects; and if a pattern matches nothing. EXT_meshopt_compression and KHR_draco_mesh_compression need the
            extra `gltf-compressed`.
        """
        from cylcollide.characters.skin import gltf  # noqa: PLC0415  # needs an extra

        with files.named_in_errors(path):
            return cls(*gltf.read(path, meshes, without, names, space))

    def posed(self, positions: ArrayLike, orientations: ArrayLike) -> Float64Array:
        """The vertices, (v, 3), for bones in the world: positions (b, 3), orientations (b, 4); linear blend skinning.

        ValueError on wrong shapes and numbers that are not accepted.
        """
        b = len(self.bone_names)
        at = validate.vectors(positions, "positions", b)
        turns = shapes.rotation_matrices(shapes.quaternions(orientations, "orientations", b))
        turns = turns @ self._rest_turns.transpose(0, 2, 1)
        shifts = at - np.einsum("bij,bj->bi", turns, self._rest.positions)
        blended = (self.weights @ turns.reshape(b, 9)).reshape(-1, 3, 3)
        return np.asarray(np.einsum("vij,vj->vi", blended, self.vertices) + self.weights @ shifts)


def _triangles(faces: ArrayLike, vertices: int) -> Int32Array:
    given = validate.as_numbers(faces, "faces", "(f, 3)")
    if given.ndim != 2 or given.shape[1] != 3 or not len(given):
        raise ValueError(f"faces: expected triangles of shape (f, 3), got {given.shape}; split larger faces")
    rows = validate.integers(given.reshape(-1), "faces, corner by corner", given.size, 0, vertices - 1)
    return rows.reshape(-1, 3).astype(np.int32)


def _shares(weights: ArrayLike, vertices: int, names: Sequence[str]) -> Float64Array:
    expected = f"({vertices}, {len(names)})"
    given = validate.as_numbers(weights, "weights", expected)
    if given.shape != (vertices, len(names)):
        raise ValueError(
            f"weights: expected shape {expected}, a row per vertex and a column per bone, got {given.shape}"
        )
    shares = validate.in_range(validate.as_float64(given, "weights"), "weights")
    sums = shares.sum(axis=1)
    row = validate.first_bad_row((shares < 0.0).any(axis=1) | ~(sums > 1e-9))
    if row is not None:
        raise ValueError(
            f"weights: expected none negative and a sum > 0, got {shares[row].min()} and the sum {sums[row]} in row "
            f"{row}; give such vertices to a bone"
        )
    shares /= sums[:, None]
    return shares
