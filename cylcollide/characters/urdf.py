"""Robots of URDF files as the arguments of `Rig`.

Only links, collisions and joints are read, and of these only the data of a rig. Of the 1,095 URDF files that come with
PyBullet 1,091 can be read; 3 of the others contain invalid numbers.
"""

from collections.abc import Mapping
from math import cos, isfinite, sin
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from cylcollide import validate
from cylcollide._types import Float64Array, Shape
from cylcollide.characters import quaternions, rig_parts
from cylcollide.characters.rig_parts import OtherShapes
from cylcollide.limbs.limbs import Limbs

SHAPES = {"cylinder": Shape.CYLINDER, "capsule": Shape.CAPSULE, "sphere": Shape.SPHERE, "box": Shape.BOX}


def rig_arguments(path: str | PathLike[str], mesh: OtherShapes) -> tuple[Any, ...]:
    """The arguments of the constructor of `Rig` for the robot of a file; messages of errors do not name the file."""
    validate.one_of(mesh, "mesh", "raise", "skip")
    try:
        data = Path(path).read_bytes()  # PyBullet's humanoid ends in a zero byte; half the bytes of UTF-16 are zero
        robot = ElementTree.fromstring(data if b"\0" in data[:4] else data.strip(b" \t\r\n\0"))
    except (ElementTree.ParseError, LookupError, ValueError) as error:  # the latter two: an unknown encoding
        _refuse("XML", f"{error}")
    if robot.tag != "robot":
        _refuse("a robot", f"{robot.tag!r}")
    links = {link.get("name", ""): link for link in robot.findall("link")}
    if not links:
        _refuse("a robot with links", "none")
    names = [link.get("name", "") for link in robot.findall("link")]
    twice = next((name for name in links if names.count(name) > 1), None) if len(links) < len(names) else None
    if twice is not None:
        _refuse("links of different names", f"{names.count(twice)} links {twice!r}")
    joint_of: dict[str, Element] = {}
    for joint in robot.findall("joint"):
        name = joint.get("name", "")
        for end in ("parent", "child"):
            if _link(joint, end) not in links:
                _refuse(f"joint {name!r} between links of the file", f"{_link(joint, end)!r}")
        before = joint_of.setdefault(_link(joint, "child"), joint)
        if before is not joint:
            child = _link(joint, "child")
            _refuse(f"one joint with the child {child!r}", f"{before.get('name')!r} and {name!r}")
    order = _parents_first(names, {child: _link(joint, "parent") for child, joint in joint_of.items()})
    rows = {name: row for row, name in enumerate(order)}
    parents = [rows[_link(joint_of[name], "parent")] if name in joint_of else -1 for name in order]
    frames = [_frame(f"the joint of link {name!r}", joint_of.get(name)) for name in order]
    parts = [
        (bone, limb)
        for bone, name in enumerate(order)
        for i, collision in enumerate(links[name].findall("collision"))
        if (limb := _limb(f"link {name!r}, collision {i}", collision, mesh)) is not None
    ]
    return order, parents, *map(np.array, zip(*frames, strict=True)), *rig_parts.limbs_of(parts, order)


def _refuse(expected: str, got: str) -> NoReturn:
    raise ValueError(f"expected {expected}, got {got}; repair the URDF")


def _link(joint: Element, end: str) -> str:
    """The name of the parent or child of a joint, empty if it has none."""
    found = joint.find(end)
    return "" if found is None else found.get("link", "")


def _parents_first(names: list[str], parent_of: Mapping[str, str]) -> list[str]:
    """The links in depth-first order, siblings in the order of the file."""
    children: dict[str | None, list[str]] = {}
    for name in reversed(names):
        children.setdefault(parent_of.get(name), []).append(name)
    order, left = list[str](), children.get(None, [])
    while left:
        order.append(left.pop())
        left.extend(children.get(order[-1], ()))
    if len(order) != len(names):
        _refuse("joints in a tree", f"a loop through {next(name for name in names if name not in order)!r}")
    return order


def _numbers(where: str, element: Element, name: str, count: int, default: str = "") -> list[float]:
    """The numbers of an attribute, in the syntax of C."""
    text = element.get(name, default)
    try:
        numbers = [] if "_" in text or not text.isascii() else [float(word) for word in text.split()]
    except ValueError:
        numbers = []
    if len(numbers) != count:
        expected = "a number" if count == 1 else f"{count} numbers"
        _refuse(f"{expected} for {name} of {where}", repr(text[:120]))
    return numbers


def _frame(where: str, element: Element | None) -> tuple[Float64Array, Float64Array]:
    """Position and quaternion of the origin of a joint or collision; rpy angles are about fixed axes, x first."""
    origin = None if element is None else element.find("origin")
    if origin is None:
        return np.zeros(3), quaternions.IDENTITY
    position, angles = (_numbers(where, origin, name, 3, "0 0 0") for name in ("xyz", "rpy"))
    if not all(map(isfinite, angles)):
        _refuse(f"finite angles for rpy of {where}", f"{angles}")
    (sx, sy, sz), (cx, cy, cz) = map(sin, angles), map(cos, angles)
    matrix = [
        [cy * cz, sy * (sx * cz) - cx * sz, sy * (cx * cz) + sx * sz],
        [cy * sz, sy * (sx * sz) + cx * cz, sy * (cx * sz) - sx * cz],
        [-sy, cy * sx, cy * cx],
    ]
    return np.array(position) + 0.0, quaternions.of_matrices(np.array(matrix) + 0.0)  # + 0.0 makes 0.0 of -0.0


def _limb(where: str, collision: Element, mesh: OtherShapes) -> Limbs | None:
    """A collision as a limb in the frame of its link; None for another shape if `mesh` is "skip"."""
    geometry = next(iter(collision.findall("geometry/*")), None)
    tag = "nothing" if geometry is None else geometry.tag
    if geometry is None or tag not in SHAPES:
        if mesh == "skip":
            return None
        raise ValueError(
            f"{where}: expected {', '.join(SHAPES)}, got {tag}; replace it by one of these, or leave it out with "
            "mesh='skip'"
        )
    if tag == "box":
        geometry.set("size", geometry.get("size", "").replace(",", " "))
        sizes = [0.5 * edge for edge in _numbers(where, geometry, "size", 3)]
    else:
        names = ("radius",) if tag == "sphere" else ("radius", "length")
        sizes = [_numbers(where, geometry, name, 1)[0] for name in names]
    position, orientation = (tuple(column.tolist()) for column in _frame(where, collision))
    return rig_parts.part(SHAPES[tag], position, orientation, tuple(sizes), collision.get("name", ""), where)
