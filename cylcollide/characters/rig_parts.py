"""Solids of other formats as limbs: each with a pose in the frame of its bone, its axis along its own z."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

from cylcollide import validate
from cylcollide._types import Shape
from cylcollide.bones.bone import Quaternion, carried, rotation_of
from cylcollide.kernels.double_double import Vector
from cylcollide.limbs.limbs import Limbs

OtherShapes: TypeAlias = Literal["raise", "skip"]


class Part(NamedTuple):
    """One solid of a bone."""

    bone: int
    name: str  # empty: it is called after its bone
    shape: Shape
    position: Vector  # of its centre, in the frame of the bone
    orientation: Quaternion
    sizes: tuple[float, ...]  # a radius; of a cylinder or capsule, radius and length; of an ellipsoid, radius and half
    # axis; of a box, three half extents
    where: str  # what a message says of it


def check_other_shapes(mesh: str) -> None:
    """Raise ValueError unless the policy for other shapes is one."""
    validate.one_of(mesh, "mesh", *get_args(OtherShapes))


def limbs_of(parts: Sequence[Part], bone_names: Sequence[str]) -> Limbs:
    """The limbs of all parts, in order; ValueError says which of them is none.

    A part without a name is called after its bone; if it is not the first of the bone, with its number behind it.
    """
    count = dict.fromkeys(range(len(bone_names)), 0)
    limbs = [Limbs.spheres([[0.0, 0.0, 0.0]], 1.0)[:0]]
    for part in parts:
        count[part.bone] += 1
        number = count[part.bone]
        name = part.name or bone_names[part.bone] + (f"_{number}" if number > 1 else "")
        try:
            limbs.append(MAKERS[part.shape](part, name))
        except ValueError as error:
            raise ValueError(f"{part.where}: {error}") from None
    return Limbs.concat(limbs)


def _ends(part: Part, half: float) -> tuple[list[Vector], list[Vector]]:
    """The ends of the axis, which reaches so far to both sides of the centre."""
    rotation = rotation_of(part.orientation)
    first, last = (carried(rotation, part.position, (0.0, 0.0, z)) for z in (-half, half))
    return [first], [last]


MAKERS: dict[Shape, Callable[[Part, str], Limbs]] = {
    Shape.CYLINDER: lambda p, name: Limbs.cylinders(*_ends(p, 0.5 * p.sizes[1]), p.sizes[0], name=name),
    Shape.CAPSULE: lambda p, name: Limbs.capsules(*_ends(p, 0.5 * p.sizes[1]), p.sizes[0], name=name),
    Shape.ELLIPSOID: lambda p, name: Limbs.ellipsoids(*_ends(p, p.sizes[1]), p.sizes[0], name=name),
    Shape.SPHERE: lambda p, name: Limbs.spheres([p.position], p.sizes[0], name=name),
    Shape.BOX: lambda p, name: Limbs.boxes([p.position], p.orientation, p.sizes, name=name),
}
