"""Robots of URDF files as the arguments of `Rig`, parsed by yourdfpy.

Of the 1,095 URDF files that come with PyBullet, yourdfpy 0.0.60 reads 1,089 and urdf-parser-py 0.0.4 reads 1,081. Both
refuse capsules, which are no standard but PyBullet's, both fail on visuals, which no limb is made of, and neither says
which link is wrong. So yourdfpy is given links, collisions and joints alone, capsules as cylinders; and where it fails,
each element by itself, to find the one to name. That reads 1,091; of the others three have numbers that are none.
"""

from copy import deepcopy
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from cylcollide._types import Float64Array, Shape
from cylcollide.characters import quaternions, rig_parts
from cylcollide.characters.rig_parts import OtherShapes
from cylcollide.limbs.limbs import Limbs

SHAPES = {"cylinder": Shape.CYLINDER, "capsule": Shape.CAPSULE, "sphere": Shape.SPHERE, "box": Shape.BOX}
KEPT_OF_JOINT = ("parent", "child", "origin")
STILL = np.eye(4)


def rig_arguments(path: str | PathLike[str], mesh: OtherShapes) -> tuple[Any, ...]:
    """The arguments of the constructor of `Rig` for the robot of a file."""
    rig_parts.check_other_shapes(mesh)
    file = Path(path)
    try:
        root = ElementTree.fromstring(file.read_bytes().strip(b" \t\r\n\0"))  # PyBullet's humanoid ends in a zero
    except (ElementTree.ParseError, LookupError, ValueError) as error:  # the latter two: its encoding is none
        _refuse(file, "XML", f"{error}")
    robot = _parsed(file, _essentials(file, root, mesh))
    names = [link.name for link in robot.links]
    joint_of: dict[str, Any] = {}
    for joint in robot.joints:
        for end in (joint.parent, joint.child):
            if end not in names:
                _refuse(file, f"joint {joint.name!r} between links of the file", f"{end!r}")
        if joint.child in joint_of:
            _refuse(
                file, f"one joint with the child {joint.child!r}", f"{joint_of[joint.child].name!r} and {joint.name!r}"
            )
        joint_of[joint.child] = joint
    order = _parents_first(file, names, {child: joint.parent for child, joint in joint_of.items()})
    parents = [order.index(joint_of[name].parent) if name in joint_of else -1 for name in order]
    frames = [_frame(joint_of[name].origin if name in joint_of else None) for name in order]
    links = {link.name: link for link in robot.links}
    parts = [
        (bone, _limb(collision, f"{file}, link {name!r}, collision {i}"))
        for bone, name in enumerate(order)
        for i, collision in enumerate(links[name].collisions)
    ]
    return order, parents, *map(np.array, zip(*frames, strict=True)), *rig_parts.limbs_of(parts, order)


def _refuse(file: Path, expected: str, got: str) -> NoReturn:
    raise ValueError(f"{file}: expected {expected}, got {got}; repair the URDF")


def _essentials(file: Path, root: Element, mesh: OtherShapes) -> Element:
    """A robot of links with collisions and of joints, nothing else; the name of a collision begins with its shape."""
    robot = Element("robot", name="")
    if root.tag != "robot":
        _refuse(file, "a robot", f"{root.tag!r}")
    for link in root.findall("link"):
        kept = SubElement(robot, "link", name=link.get("name", ""))
        for i, collision in enumerate(link.findall("collision")):
            shape = next((inner.tag for inner in collision.findall("geometry/*")), "nothing")
            if shape in SHAPES:
                kept.append(_as_cylinder(collision, shape))
            elif mesh == "raise":
                raise ValueError(
                    f"{file}, link {kept.get('name')!r}, collision {i}: expected {', '.join(SHAPES)}, got {shape}; "
                    "replace it by one of these, or leave it out with mesh='skip'"
                )
    for joint in root.findall("joint"):
        kept = SubElement(robot, "joint", name=joint.get("name", ""), type="floating")
        kept.extend(inner for inner in joint if inner.tag in KEPT_OF_JOINT)
    if not len(root.findall("link")):
        _refuse(file, "a robot with links", "none")
    return robot


def _as_cylinder(collision: Element, shape: str) -> Element:
    """A copy with a cylinder in place of a capsule, which has the same fields."""
    collision = deepcopy(collision)
    collision.set("name", f"{shape}:{collision.get('name', '')}")
    if shape == "capsule":
        collision.findall("geometry/*")[0].tag = "cylinder"
    return collision


def _parsed(file: Path, robot: Element) -> Any:
    """The robot as yourdfpy reads it; ValueError names the first link or joint that it cannot read."""
    try:
        import yourdfpy  # noqa: PLC0415  # an extra: imported only when used
    except ImportError:
        raise ImportError("Rig.from_urdf needs yourdfpy: pip install 'cylcollide[rigs]'") from None

    def parse(element: Element) -> Any:
        for origin in element.iter("origin"):
            for name, numbers in origin.items():
                if len(numbers.split()) != 3:
                    raise ValueError(f"{name}={numbers!r} is not three numbers")
        stream = BytesIO(ElementTree.tostring(element))
        return yourdfpy.URDF.load(stream, build_scene_graph=False, load_meshes=False).robot

    try:
        return parse(robot)
    except Exception as error:  # whatever floats, attributes and matrices raise
        for element in robot:
            alone = Element("robot", name="")
            alone.append(element)
            try:
                parse(alone)
            except Exception as cause:  # the same
                what = f"{type(cause).__name__}: {str(cause)[:120]}"
                _refuse(file, f"a {element.tag} that can be read", f"{element.get('name')!r} ({what})")
        _refuse(file, "a robot that can be read", f"{type(error).__name__}: {str(error)[:120]}")


def _parents_first(file: Path, names: list[str], parent_of: dict[str, str]) -> list[str]:
    """The links, each behind its parent and before its siblings that come later in the file."""
    order: list[str] = []
    left = [name for name in reversed(names) if name not in parent_of]
    while left:
        order.append(left.pop())
        left.extend(name for name in reversed(names) if parent_of.get(name) == order[-1])
    if len(order) != len(names):
        _refuse(file, "joints in a tree", f"a loop through {next(name for name in names if name not in order)!r}")
    return order


def _frame(origin: Float64Array | None) -> tuple[Float64Array, Float64Array]:
    """Position and quaternion of a matrix (4, 4)."""
    matrix = STILL if origin is None else origin
    return matrix[:3, 3], quaternions.of_matrices(matrix[:3, :3])


def _limb(collision: Any, where: str) -> Limbs:
    """One collision as a limb in the frame of its link."""
    shape, _, name = collision.name.partition(":")
    geometry = collision.geometry
    if shape == "box":
        sizes = tuple(0.5 * edge for edge in geometry.box.size)
    elif shape == "sphere":
        sizes = (geometry.sphere.radius,)
    else:
        sizes = (geometry.cylinder.radius, geometry.cylinder.length)
    position, orientation = (tuple(column.tolist()) for column in _frame(collision.origin))
    return rig_parts.part(SHAPES[shape], position, orientation, sizes, name, where)
