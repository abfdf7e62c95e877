"""A rig of an actor: limbs fitted to its skin, in the units of the scene."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import Float64Array, Shape
from cylcollide.characters import quaternions
from cylcollide.characters.rig import Rig
from cylcollide.panda3d.joints import Joints, array_of, core, joints_of

if TYPE_CHECKING:
    from cylcollide.characters.skin.gauges import Least

INTEGERS: dict[int, np.dtype[Any]] = {1: np.dtype(np.uint8), 2: np.dtype(np.uint16), 4: np.dtype(np.uint32)}


def rig_of(
    actor: Any,
    *,
    part: str = "modelRoot",
    lod: str = "lodRoot",
    shapes: Iterable[Shape] = (Shape.CYLINDER, Shape.TAPERED, Shape.CAPSULE),
    coverage: float = 0.95,
    least_share: float = 0.005,
    least: Least = "volume",
    groups: Mapping[str, int] = MappingProxyType({}),
    bone_groups: Mapping[str, str] = MappingProxyType({}),
) -> Rig:
    """Fit limbs to the skin of an actor; the rig has a bone for each of its joints, in their order.

    Limbs have the actor's present scale in the scene. Actors of one model and scale share a rig.

    Parameters
    ----------
    actor
        A `direct.actor.Actor.Actor`. Its pose has no effect: the skin is taken as it was bound.
    part, lod
        Names of the part and of the level of detail, if the actor has several.
    shapes, coverage, least_share, least, groups, bone_groups
        As those of `Rig.from_skin`.

    Raises
    ------
    TypeError
        If `actor` is not an Actor.
    ValueError
        If the part has no joints or no skin, or is mirrored, sheared or scaled differently by axis;
        and as `Rig.from_skin`.
    """
    found = joints_of(actor, part, lod)
    vertices, faces, weights = _skin(found)
    return Rig.from_skin(
        found.scale * vertices, faces, weights, found.names, found.parents, *rest_of(found), shapes=shapes,
        coverage=coverage, least_share=least_share, least=least, groups=groups, bone_groups=bone_groups,
    )  # fmt: skip


def rest_of(found: Joints) -> tuple[Float64Array, Float64Array]:
    """Positions (b, 3), in units of the scene, and quaternions (b, 4) of joints as bound, relative to their parents."""
    turns, places = found.bound[:, :3, :3], found.scale * found.bound[:, 3, :3]  # for row vectors
    above = np.array(found.parents)
    has_parent = above >= 0
    relative, positions = turns.copy(), places.copy()
    to_parent = turns[above[has_parent]].swapaxes(1, 2)
    relative[has_parent] = turns[has_parent] @ to_parent
    offsets = places[has_parent] - places[above[has_parent]]
    positions[has_parent] = (offsets[:, None] @ to_parent)[:, 0]
    return positions, quaternions.of_matrices(relative.swapaxes(1, 2))


def _skin(found: Joints) -> tuple[Float64Array, NDArray[np.int64], Float64Array]:
    """Vertices (v, 3) as bound, triangles (f, 3) and the weights of all joints (v, b)."""
    row_of = {joint.name: row for row, joint in enumerate(found.joints)}
    vertices, faces, weights, count = [], [], [], 0
    for path in found.character.findAllMatches("**/+GeomNode"):
        to_character = array_of(path.getMat(found.character))
        for geom in path.node().getGeoms():
            data = geom.getVertexData()
            table = data.getTransformBlendTable()
            if table is None or not data.hasColumn(core.InternalName.getTransformBlend()):
                continue  # not part of the skin
            points = _column(data, core.InternalName.getVertex())[:, :3].astype(np.float64)
            blend = _column(data, core.InternalName.getTransformBlend())[:, 0]
            vertices.append(points @ to_character[:3, :3] + to_character[3, :3])
            faces.append(_triangles(geom) + count)
            weights.append(_blends(table, row_of)[blend])
            count += len(points)
    if not vertices:
        raise ValueError("the actor has no vertices that its joints move: there is no skin to fit limbs to")
    return np.vstack(vertices), np.vstack(faces), np.vstack(weights)


def _blends(table: Any, row_of: dict[str, int]) -> Float64Array:
    """The weight of each joint in each blend of a table, (blends, b)."""
    weights = np.zeros((table.getNumBlends(), len(row_of)))
    for k in range(table.getNumBlends()):
        blend = table.getBlend(k)
        for i in range(blend.getNumTransforms()):
            transform = blend.getTransform(i)
            if isinstance(transform, core.JointVertexTransform) and transform.getJoint().name in row_of:
                weights[k, row_of[transform.getJoint().name]] += blend.getWeight(i)
    return weights


def _column(data: Any, name: Any) -> NDArray[Any]:
    """A column of vertex data, (vertices, components)."""
    layout = data.getFormat()
    number = layout.getArrayWith(name)
    column = layout.getArray(number).getColumn(name)
    floats = column.getNumericType() in {core.GeomEnums.NT_float32, core.GeomEnums.NT_float64}
    width = column.getComponentBytes()
    kind: np.dtype[Any] = np.dtype(f"f{width}") if floats else INTEGERS[width]
    raw = _bytes(data.getArray(number)).reshape(-1, layout.getArray(number).getStride())
    wanted = raw[:, column.getStart() : column.getStart() + width * column.getNumComponents()]
    return np.ascontiguousarray(wanted).view(kind)


def _triangles(geom: Any) -> NDArray[np.int64]:
    """The triangles of a geom, (f, 3): strips and fans are decomposed."""
    apart = geom.decompose()
    parts = [np.empty((0, 3), np.int64)]
    for primitive in apart.getPrimitives():
        if not isinstance(primitive, core.GeomTriangles):
            continue
        if primitive.isIndexed():
            width = primitive.getVertices().getArrayFormat().getStride()
            rows = _bytes(primitive.getVertices()).view(INTEGERS[width]).astype(np.int64)
        else:
            rows = primitive.getFirstVertex() + np.arange(primitive.getNumVertices())
        parts.append(rows.reshape(-1, 3))
    return np.vstack(parts)


def _bytes(array: Any) -> NDArray[np.uint8]:
    """The bytes of an array of vertices or of vertex indices."""
    return np.frombuffer(bytes(array.getHandle().getData()), np.uint8)
