"""Skins from glTF 2.0 files: one skin of all meshes whose skins share joints.

A joint's rest is the inverse of its inverse bind matrix. So vertices and bones are in the space of the mesh. If all
joints of the scene are in their bind pose, one transform maps this space to the scene.
"""

from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal, TypeAlias

import numpy as np

from cylcollide import validate
from cylcollide._types import Float64Array, Int64Array
from cylcollide.characters import gltf_file, quaternions
from cylcollide.characters.gltf_checks import RIGID, ArgumentError, affine, element, unique_names, unscaled
from cylcollide.characters.gltf_file import GltfFile
from cylcollide.characters.name_patterns import matched

Names: TypeAlias = Literal["file", "vrm"]
Space: TypeAlias = Literal["auto", "scene", "mesh"]
Patterns: TypeAlias = str | Sequence[str]


def read(
    path: str | PathLike[str], meshes: Patterns | None, without: Patterns, names: Names, space: Space
) -> tuple[Any, ...]:
    """The arguments of `Skin` for the skinned meshes of a file; see `Skin.from_gltf`."""
    validate.one_of(names, "names", "file", "vrm")
    validate.one_of(space, "space", "auto", "scene", "mesh")
    return gltf_file.read(path, "a skinned mesh", lambda file: _skin(file, meshes, without, names, space))


def _skin(file: GltfFile, meshes: Patterns | None, without: Patterns, names: Names, space: Space) -> tuple[Any, ...]:
    if not file.document.skins:
        raise ValueError("it has no skin; export the mesh with its armature")
    nodes = _chosen(file, meshes, without)
    binds, spaces = _bound(file, [file.document.nodes[node].skin for node in nodes])
    joints, parents = _ordered(file, list(binds))
    rows = {joint: row for row, joint in enumerate(joints)}
    vertices, faces, weights, count = [], [], [], 0
    for node in nodes:
        skin = file.document.nodes[node].skin
        if skin not in spaces:
            continue
        rank = np.array([rows[joint] for joint in file.joints(skin)])
        for primitive in _mesh(file, node).primitives:
            points = _points(file, node, primitive)
            triangles = file.triangles(primitive, 0 if points is None else len(points))
            if points is None or not len(triangles):
                continue
            vertices.append(_moved(spaces[skin], points))
            faces.append(triangles + count)
            weights.append(_weights(file, primitive, rank, len(points), len(joints)))
            count += len(points)
    if not vertices:
        raise ValueError("no triangles refer to the first skin")
    points, corners, matrices = np.vstack(vertices), np.vstack(faces), np.stack([binds[joint] for joint in joints])
    scene = _to_scene(file, joints, matrices, points, space)
    rest = _rest(scene @ matrices, parents)
    return (
        _moved(scene, points),
        corners if np.linalg.det(scene[:3, :3]) > 0.0 else corners[:, ::-1],  # a reflection flips triangles
        np.vstack(weights),
        _names(file, joints, names),
        parents,
        *rest,
    )


def _chosen(file: GltfFile, meshes: Patterns | None, without: Patterns) -> list[int]:
    """Nodes of skinned meshes whose name, of the node or of the mesh, is chosen."""
    document = file.document
    nodes = [row for row, node in enumerate(document.nodes) if node.skin is not None and node.mesh is not None]
    names = [(document.nodes[row].name or "", _mesh(file, row).name or "") for row in nodes]
    try:
        kept = [True] * len(nodes) if meshes is None else matched(meshes, names, "meshes", "names")
        left_out = matched(without, names, "without", "names")
    except ValueError as error:
        raise ArgumentError(str(error)) from None
    chosen = [row for row, keep, leave in zip(nodes, kept, left_out, strict=True) if keep and not leave]
    if nodes and not chosen:
        raise ArgumentError("without: expected patterns that spare a mesh, got patterns that match all of them")
    return chosen


def _mesh(file: GltfFile, node: int) -> Any:
    """The mesh of a node."""
    return element(file.document.meshes, file.document.nodes[node].mesh, f"mesh of node {node}")


def _bound(file: GltfFile, skins: Sequence[int]) -> tuple[dict[int, Float64Array], dict[int, Float64Array]]:
    """Bind matrices of joints, and the transform of each skin's vertices, in the space of the first skin.

    For all skins that share joints with the first one, directly or through other skins.
    """
    binds: dict[int, Float64Array] = {}
    spaces: dict[int, Float64Array] = {}
    left = list(dict.fromkeys(skins))
    while left:
        skin = next((row for row in left if not spaces or set(file.joints(row)) & set(binds)), None)
        if skin is None:
            break
        left.remove(skin)
        joints, inverse = file.joints(skin), _inverse_binds(file, skin)
        shared = next((row for row, joint in enumerate(joints) if joint in binds), None)
        spaces[skin] = np.eye(4) if shared is None else binds[joints[shared]] @ inverse[shared]
        for joint, matrix in zip(joints, inverse, strict=True):
            binds.setdefault(joint, spaces[skin] @ np.linalg.inv(matrix))
    return binds, spaces


def _inverse_binds(file: GltfFile, skin: int) -> Float64Array:
    """The matrices from the space of a mesh to its joints, (joints, 4, 4)."""
    joints, binding = file.joints(skin), file.document.skins[skin].inverseBindMatrices
    if binding is None:
        return np.tile(np.eye(4), (len(joints), 1, 1))
    found: Float64Array = file.accessor(binding, "MAT4").astype(np.float64).reshape(-1, 4, 4).transpose(0, 2, 1)
    if len(found) < len(joints):
        raise ValueError(f"expected {len(joints)} inverse bind matrices, got {len(found)}")
    found = found[: len(joints)]
    affine(found, f"inverse bind matrix {{}} of skin {skin}")
    row = validate.first_bad_row(np.linalg.matrix_rank(found[:, :3, :3]) < 3)
    if row is not None:
        raise ValueError(
            f"inverse bind matrix {row} of skin {skin}: expected one that has an inverse, got a scale "
            f"of 0; bind joint {joints[row]} again"
        )
    return found


def _ordered(file: GltfFile, joints: list[int]) -> tuple[list[int], list[int]]:
    """Nodes of the joints, parents before children, and for each the row of its nearest ancestor among them, or -1."""
    above, depth, _ = file.trees_of(set(joints))
    ordered = sorted(joints, key=lambda joint: depth[joint])
    rows = {joint: row for row, joint in enumerate(ordered)}
    return ordered, [rows.get(above[joint], -1) for joint in ordered]


def _points(file: GltfFile, node: int, primitive: Any) -> Float64Array | None:
    """The vertices of a primitive in the shape that its mesh has at rest, (n, 3); None without vertices.

    The default weights of a mesh, such as the sliders of a body, move them by its morph targets; those of the node, if
    it has some, stand for them.
    """
    given = file.attribute(primitive, "POSITION")
    if given is None:
        return None
    points: Float64Array = given.astype(np.float64)
    targets = primitive.targets or ()
    own = file.fields["nodes"][node].get("weights") if targets else None
    weights = own or _mesh(file, node).weights or ()
    if weights and targets and len(weights) != len(targets):
        raise ValueError(
            f"weights of {'' if own else 'the mesh of '}node {node}: expected {len(targets)}, one for each morph "
            f"target, got {len(weights)}"
        )
    for weight, target in zip(weights, targets, strict=False):
        if weight and target.get("POSITION") is not None:
            moves = file.accessor(target["POSITION"], "VEC3")
            if len(moves) != len(points):
                raise ValueError(f"morph targets of node {node}: expected {len(points)} rows, got {len(moves)}")
            points += weight * moves
    return points


def _weights(file: GltfFile, primitive: Any, rank: Int64Array, count: int, bones: int) -> Float64Array:
    """Weights of all joints in order, (n, b); up to 16 per vertex."""
    weights = np.zeros((count, bones))
    vertex = np.arange(count)[:, None]
    for number in range(4):
        joints, shares = (file.attribute(primitive, f"{name}_{number}") for name in ("JOINTS", "WEIGHTS"))
        if joints is not None and shares is not None:
            for name, found in (("JOINTS", joints), ("WEIGHTS", shares)):
                if len(found) != count:
                    raise ValueError(f"{name}_{number}: expected {count} rows, one for each POSITION, got {len(found)}")
            if joints.min(initial=0) < 0 or joints.max(initial=0) >= len(rank):
                raise ValueError(
                    f"JOINTS_{number}: expected rows below {len(rank)}, the joints of the skin, got others"
                )
            np.add.at(weights, (vertex, rank[joints.astype(np.int64)]), shares)
        elif number == 0:
            raise ValueError("a mesh of the skin has no JOINTS_0 and WEIGHTS_0")
    return weights


def _to_scene(
    file: GltfFile, joints: list[int], binds: Float64Array, points: Float64Array, space: Space
) -> Float64Array:
    """The transform (4, 4) of vertices and bind matrices; with "auto" only a scale, if joints are not in bind pose.

    The scale is that of the scene, in whose units the clips of the file are. Otherwise it places the first root as in
    the scene. The bones of a mesh that was mirrored or scaled non-uniformly when it was bound are rotations in the
    space of the scene, but not in that of the mesh.
    """
    if space == "mesh":
        return np.eye(4)
    found = file.worlds[joints] @ np.linalg.inv(binds)
    first = np.asarray(found[0])
    rigid = unscaled(first @ binds) is not None
    if space == "scene":
        if not rigid:
            raise ArgumentError(
                "space: expected 'mesh', since the scene shows joints mirrored or scaled by axes, got 'scene'"
            )
        return first
    extent = float(np.ptp(points, axis=0).max())
    apart = np.abs((found - first) @ np.diag([extent, extent, extent, 1.0])).max()
    together = apart <= RIGID * np.linalg.norm(first[:3, :3], ord=2) * extent
    if not rigid or (not together and unscaled(binds) is not None):
        size = float(np.cbrt(np.linalg.det(first[:3, :3]))) if rigid else 1.0
        return np.eye(4) if abs(size - 1.0) < RIGID else np.diag([size, size, size, 1.0])
    return first


def _moved(matrix: Float64Array, points: Float64Array) -> Float64Array:
    """Points (n, 3) after a transform."""
    return np.asarray(points @ matrix[:3, :3].T + matrix[:3, 3])


def _rest(matrices: Float64Array, parents: list[int]) -> tuple[Float64Array, Float64Array]:
    """Positions (b, 3) and orientations (b, 4) of joints relative to their parents."""
    parts = unscaled(matrices)
    if parts is None:
        raise ValueError("a joint is bound mirrored, sheared or scaled by axes; apply its scale before the export")
    turns, _ = parts
    positions, orientations = matrices[:, :3, 3].copy(), turns.copy()
    for row, parent in enumerate(parents):
        if parent >= 0:
            positions[row] = turns[parent].T @ (matrices[row, :3, 3] - matrices[parent, :3, 3])
            orientations[row] = turns[parent].T @ turns[row]
    return positions, quaternions.of_matrices(orientations)


def _names(file: GltfFile, joints: list[int], names: Names) -> list[str]:
    """The names of joints; with "vrm", the VRM names of the bones of the file's person."""
    own = file.bone_names(joints)
    if names == "file":
        return own
    known = file.humanoid
    if not known:
        raise ArgumentError("names: expected 'file', since this is no VRM file, got 'vrm'")
    people_first = sorted(range(len(joints)), key=lambda row: joints[row] not in known)
    given = [known.get(joints[row], own[row]) for row in people_first]
    found = unique_names(given, [f"{name}_{joints[row]}" for name, row in zip(given, people_first, strict=True)])
    of_row = dict(zip(people_first, found, strict=True))
    return [of_row[row] for row in range(len(joints))]
