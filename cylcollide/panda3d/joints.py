"""The joints of an actor: their names, parents and places; and the only import of Panda3D."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cylcollide._types import Float64Array
from cylcollide._version import not_installed

try:
    from panda3d import core
except ImportError as missing:
    raise not_installed("Panda3D", "panda3d", missing) from missing

SAME_SCALE = 1e-4
"""Largest relative difference of the three scales of a matrix, and largest deviation of its axes from right angles."""


def array_of(matrix: Any) -> Float64Array:
    """A matrix of Panda3D, which acts on row vectors, as float64 (4, 4)."""
    return np.array([list(row) for row in matrix], dtype=np.float64)


def scale_of(matrix: Float64Array, name: str) -> float:
    """The one scale of a matrix (4, 4); negative if it mirrors.

    ValueError, with a message that begins with `name`, if it scales its axes differently or shears.
    """
    axes = matrix[:3, :3]
    scale = float(np.cbrt(np.linalg.det(axes)))
    if not (scale != 0.0 and np.abs(axes @ axes.T / scale**2 - np.eye(3)).max() < 2.0 * SAME_SCALE):
        lengths = np.linalg.norm(axes, axis=1).round(6).tolist()
        raise ValueError(f"{name}: expected one scale for all axes and no shear, got axes of lengths {lengths}")
    return scale


@dataclass(frozen=True)
class Joints:
    """Joints of one part of an actor, parents before children."""

    character: Any  # NodePath of the node in whose frame the joints are
    joints: list[Any]  # CharacterJoint
    parents: list[int]  # rows of the nearest ancestor joints; -1 for roots
    bound: Float64Array  # (b, 4, 4): places when the skin was bound, with axes of length 1
    sizes: Float64Array  # (b,): lengths of axes as bound; negative: left-handed axes, whose z is reversed in a rig
    scale: float  # of `character` in the scene

    @property
    def names(self) -> list[str]:
        """The names of the joints."""
        return [joint.name for joint in self.joints]


def joints_of(actor: Any, part: str, lod: str) -> Joints:
    """The joints of a part of an actor, in one level of detail.

    TypeError if `actor` is not an Actor. ValueError if it has no such part or level of detail, or no joints; if it or a
    joint is sheared or scaled differently by axis; or if it is mirrored.
    """
    if not hasattr(actor, "getPartBundle"):
        raise TypeError(f"expected a direct.actor.Actor.Actor, got {type(actor).__name__}; a plain model has no joints")
    bundle = actor.getPartBundle(part, lod)
    if bundle is None:
        raise ValueError(f"the actor has no part {part!r} in level of detail {lod!r}; it has {actor.getPartNames()}")
    joints: list[Any] = []
    parents: list[int] = []

    def walk(group: Any, above: int) -> None:
        for child in group.children:
            row = above
            if isinstance(child, core.CharacterJoint):
                row = len(joints)
                joints.append(child)
                parents.append(above)
            walk(child, row)

    walk(bundle, -1)
    if not joints:
        raise ValueError(f"part {part!r} of the actor has no joints: it has nothing that limbs could be fastened to")
    character = actor.getPart(part, lod)
    scale = scale_of(array_of(character.getNetTransform().getMat()), f"actor {actor.getName()!r}")
    if scale < 0.0:
        raise ValueError(f"actor {actor.getName()!r} is mirrored: its scale is {scale:.6g}; limbs cannot be")
    bound = np.array([_bound(joint) for joint in joints])
    names = [f"joint {joint.name!r} as bound" for joint in joints]
    sizes = np.array(list(map(scale_of, bound, names)))
    bound[:, :3, :3] *= axis_factors(sizes)
    return Joints(character, joints, parents, bound, sizes, scale)


def axis_factors(sizes: Float64Array) -> Float64Array:
    """Factors (..., b, 3, 1), one per row, that turn axes of these sizes (..., b) into right-handed unit axes."""
    factors = 1.0 / np.abs(sizes[..., None, None] * np.ones((3, 1)))
    factors[..., 2, :] *= np.sign(sizes)[..., None]  # reverses z of left-handed axes
    return factors


def _bound(joint: Any) -> Float64Array:
    """The matrix (4, 4) of a joint when the skin was bound."""
    now, since = core.LMatrix4f(), core.LMatrix4f()
    joint.getNetTransform(now)
    core.JointVertexTransform(joint).getMatrix(since)  # the inverse of the bound matrix, times the present one
    return array_of(now) @ np.linalg.inv(array_of(since))


__all__ = ["Joints", "array_of", "axis_factors", "core", "joints_of"]
