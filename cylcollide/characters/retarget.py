"""Retargeting of a motion to a skeleton of other proportions, by rotations relative to both rest poses."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.characters import quaternions, standard_names
from cylcollide.characters.sides import counterpart
from cylcollide.characters.skeleton import Skeleton, upwards
from cylcollide.validate import shown

SNAPPED = np.deg2rad(30.0)
"""A rotation between axes within this angle of quarter turns is rounded to these; the rest is posture."""


def pairs_by_name(rig: Skeleton, clip: Skeleton, bones: Mapping[str, str] | None) -> dict[int, int]:
    """The bone of the clip that each bone of the rig follows: by `bones`, else by equal or by standard names.

    ValueError if a name is unknown, or there is no pair.
    """
    of_rig, of_clip = ({name: row for row, name in enumerate(one.bone_names)} for one in (rig, clip))
    if bones is not None:
        if not isinstance(bones, Mapping):
            raise ValueError(f"bones: expected a mapping of the rig's bones to the clip's, got {type(bones).__name__}")
        for one, other in bones.items():
            if one not in of_rig or other not in of_clip:
                raise ValueError(
                    f"bones: expected bones of the rig ({', '.join(list(of_rig)[:8])} ...) with bones of the clip "
                    f"({', '.join(list(of_clip)[:8])} ...), got {shown(one)}: {shown(other)}"
                )
        found = {of_rig[one]: of_clip[other] for one, other in bones.items()}
    else:
        found = {row: of_clip[name] for name, row in of_rig.items() if name in of_clip}
        roles = standard_names.roles(rig.bone_names), standard_names.roles(clip.bone_names)
        standard = {row: roles[1][role] for role, row in roles[0].items() if role in roles[1]}
        found = max(found, standard, key=len)
    if not found:
        raise ValueError(
            f"bones: expected bones of equal or of standard names, got {', '.join(list(of_rig)[:8])} ... and "
            f"{', '.join(list(of_clip)[:8])} ...; give a mapping"
        )
    return found


def carried_over(
    rig: Skeleton, clip: Skeleton, pairs: dict[int, int], root_positions: Float64Array, turns: Float64Array
) -> dict[str, Any]:
    """Arguments of `Clip`, without times, for the bones of the rig's tree with most pairs.

    `clip` has the rest pose, `turns` (f, b, 4) the joints of all frames. In the world, each bone of a pair rotates from
    its rest like the other from its own. Limbs with other directions at rest are first turned to those of the clip.
    """
    axes = _between_axes(rig, clip, pairs)
    world = _world(clip, turns)
    tops = [[*upwards(rig.parents, bone)][-1] for bone in range(len(rig.bone_names))]
    of_pairs = [tops[bone] for bone in sorted(pairs)]
    top = max(of_pairs, key=of_pairs.count)
    kept = [bone for bone, its in enumerate(tops) if its == top]
    aligned = _aligned(rig, clip, pairs, axes)
    whole = np.empty((len(turns), len(rig.bone_names), 4))
    joints = np.empty_like(whole)
    rest, back = quaternions.normalised(rig.rest_orientations), quaternions.conjugate(axes)
    for bone in kept:
        parent = int(rig.parents[bone])
        if bone in pairs:
            source = pairs[bone]
            moved = quaternions.product(world[:, source], quaternions.conjugate(clip._rest.orientations[source]))
            moved = quaternions.product(quaternions.product(axes, moved), back)
            start = quaternions.product(aligned[bone], rig._rest.orientations[bone])
            whole[:, bone] = quaternions.product(moved, start)
            above = quaternions.conjugate(whole[:, parent]) if parent >= 0 else quaternions.IDENTITY
            joints[:, bone] = quaternions.product(above, whole[:, bone])
        else:
            joints[:, bone] = rest[bone]
            up = whole[:, parent] if parent >= 0 else quaternions.IDENTITY
            whole[:, bone] = quaternions.product(up, joints[:, bone])
    path = quaternions.rotated(axes, root_positions) * _size(rig, clip, pairs)
    hips = next((bone for bone in kept if pairs.get(bone) == 0), kept[0])
    rows = {bone: row for row, bone in enumerate(kept)}
    return {
        "bone_names": [rig.bone_names[bone] for bone in kept],
        "parents": [rows.get(int(rig.parents[bone]), -1) for bone in kept],
        "offsets": rig.rest_positions[kept],
        "root_positions": path - (rig._rest.positions[hips] - rig._rest.positions[top]),
        "orientations": joints[:, kept],
        "rest_orientations": rest[kept],
    }


def _world(skeleton: Skeleton, turns: Float64Array) -> Float64Array:
    """Orientations of bones in the world, (f, b, 4), from those of their joints."""
    found = turns.copy()
    for bone, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            found[:, bone] = quaternions.product(found[:, parent], turns[:, bone])
    return found


def _between_axes(rig: Skeleton, clip: Skeleton, pairs: dict[int, int]) -> Float64Array:
    """The rotation (4,) from the clip's world to the rig's, from the directions left and up of both skeletons."""
    bases = [_basis(rig, list(pairs)), _basis(clip, list(pairs.values()))]
    if bases[0] is None or bases[1] is None:
        return quaternions.IDENTITY
    turn: Float64Array = bases[0] @ bases[1].T
    snapped = np.round(turn)
    by = np.arccos(np.clip((np.trace(snapped.T @ turn) - 1.0) / 2.0, -1.0, 1.0))
    if abs(np.linalg.det(snapped) - 1.0) < 0.5 and np.abs(snapped).sum() == 3.0 and by < SNAPPED:
        turn = snapped
    found: Float64Array = quaternions.of_matrices(turn[None])[0]
    return found


def _basis(skeleton: Skeleton, bones: list[int]) -> Float64Array | None:
    """The directions left, up and forward of a person at rest, in columns; None if sides or a trunk are not found."""
    at, rows = skeleton._rest.positions, {skeleton.bone_names[bone]: bone for bone in bones}
    roles = standard_names.roles(skeleton.bone_names)
    across = np.zeros(3)
    for name, bone in rows.items():
        other = rows.get(counterpart(name))
        if other is not None and other != bone and standard_names.is_left(name):
            across += at[bone] - at[other]
    top = next((roles[role] for role in ("head", "neck", "chest", "spine") if role in roles), None)
    low = roles.get("hips", 0)
    if top is None or not np.linalg.norm(across) > 0.0 or top == low:
        return None
    x = across / np.linalg.norm(across)
    y = (at[top] - at[low]) - x * (x @ (at[top] - at[low]))
    height = np.linalg.norm(y)
    return np.stack([x, y / height, np.cross(x, y / height)], axis=1) if height > 0.0 else None


def _aligned(rig: Skeleton, clip: Skeleton, pairs: dict[int, int], axes: Float64Array) -> Float64Array:
    """Rotations (b, 4) in the world from the rig's limbs at rest to the clip's; other bones follow their parents."""
    found = np.tile(quaternions.IDENTITY, (len(rig.bone_names), 1))
    straight = {row for role, row in standard_names.roles(rig.bone_names).items() if role in standard_names.STRAIGHT}
    for bone in range(len(found)):
        parent = int(rig.parents[bone])
        if parent >= 0:
            found[bone] = found[parent]
        ends = [other for other in pairs if _nearest(rig, other, pairs) == bone]
        if bone not in pairs or bone not in straight or len(ends) != 1:
            continue
        of_rig = rig._rest.positions[ends[0]] - rig._rest.positions[bone]
        of_clip = clip._rest.positions[pairs[ends[0]]] - clip._rest.positions[pairs[bone]]
        found[bone] = _shortest(of_rig, quaternions.rotated(axes, of_clip))
    return found


def _nearest(rig: Skeleton, bone: int, pairs: dict[int, int]) -> int:
    """The nearest ancestor of a bone that is in a pair, or -1."""
    return next((above for above in upwards(rig.parents, bone) if above != bone and above in pairs), -1)


def _shortest(a: Float64Array, b: Float64Array) -> Float64Array:
    """The shortest rotation (4,) from one direction to another; identity for opposite or zero vectors."""
    lengths = float(np.linalg.norm(a)) * float(np.linalg.norm(b))
    q = np.append(np.cross(a, b), lengths + float(a @ b))
    return quaternions.normalised(q) if np.linalg.norm(q) > 1e-9 * lengths else quaternions.IDENTITY.copy()


def _size(rig: Skeleton, clip: Skeleton, pairs: dict[int, int]) -> float:
    """The size of the rig relative to the clip, from the legs if both have them, else from all pairs."""
    roles = standard_names.roles(rig.bone_names)
    legs = [roles[role] for role in standard_names.LEGS if roles.get(role) in pairs]
    bones = legs if len(legs) > 1 else list(pairs)
    sizes = [0.0, 0.0]
    for bone in bones:
        above = _nearest(rig, bone, pairs)
        if above >= 0:
            sizes[0] += float(np.linalg.norm(rig._rest.positions[bone] - rig._rest.positions[above]))
            sizes[1] += float(np.linalg.norm(clip._rest.positions[pairs[bone]] - clip._rest.positions[pairs[above]]))
    return sizes[0] / sizes[1] if min(sizes) > 0.0 else 1.0
