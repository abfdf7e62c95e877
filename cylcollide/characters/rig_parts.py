"""Solids of other formats as limbs: each is given by a pose in the frame of its bone, with its axis along its own z."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

from cylcollide._types import Shape
from cylcollide.bones.bone import Quaternion, carried, rotation_of
from cylcollide.kernels.double_double import Vector
from cylcollide.limbs.limbs import Limbs

OtherShapes: TypeAlias = Literal["raise", "skip"]

MAKERS: Mapping[Shape, Callable[..., Limbs]] = {
    Shape.CYLINDER: Limbs.cylinders,
    Shape.TAPERED: Limbs.tapered_cylinders,
    Shape.ELLIPSOID: Limbs.ellipsoids,
    Shape.CAPSULE: Limbs.capsules,
    Shape.SPHERE: Limbs.spheres,
    Shape.BOX: Limbs.boxes,
}
"""The constructors of limbs."""


def part(
    shape: Shape, position: Vector, orientation: Quaternion, sizes: tuple[float, ...], name: str, where: str
) -> Limbs:
    """One solid as a limb; a ValueError for a bad one begins with `where`.

    `position` is the centre in the frame of the bone. `sizes`: the radius of a sphere; radius and length of a cylinder
    or capsule; radius and half axis of an ellipsoid; 3 half extents of a box.
    """
    try:
        if shape == Shape.SPHERE:
            return Limbs.spheres([position], sizes[0], name=name)
        if shape == Shape.BOX:
            return Limbs.boxes([position], orientation, sizes, name=name)
        if sizes[1] < 0.0:
            raise ValueError(f"length: expected >= 0, got {sizes[1]}; repair it, or leave such limbs out")
        rotation, half = rotation_of(orientation), sizes[1] if shape == Shape.ELLIPSOID else 0.5 * sizes[1]
        p1, p2 = (carried(rotation, position, (0.0, 0.0, z)) for z in (-half, half))
        return MAKERS[shape]([p1], [p2], sizes[0], name=name)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def limbs_of(parts: Sequence[tuple[int, Limbs]], bone_names: Sequence[str]) -> tuple[Limbs, list[int]]:
    """The limbs and the bones of all parts, in order.

    A limb without a name gets that of its bone, with the number of the limb appended if it is not the first of the
    bone. "_" is appended to a name that another limb or bone has.
    """
    bones = [bone for bone, _ in parts]
    limbs = Limbs.concat([Limbs.spheres([[0.0, 0.0, 0.0]], 1.0)[:0], *(limb for _, limb in parts)])
    names, counts, taken = list[str](), Counter[int](), {*limbs.names}
    others = {*bone_names}
    for name, bone in zip(limbs.names, bones, strict=True):
        counts[bone] += 1
        other = bone_names[bone] + (f"_{counts[bone]}" if counts[bone] > 1 else "")
        while other in taken or (counts[bone] > 1 and other in others):
            other += "_"
        names.append(name or other)
        taken.add(names[-1])
    return Limbs(limbs._table, limbs.hit_group, tuple(names)), bones
