"""PyBullet's humanoid as named limb cylinders, posed by its recorded motions.

The character is ``pybullet_data/humanoid/humanoid.urdf`` at a quarter of its size, as DeepMimic uses it: about 1.6 m
tall. PyBullet itself computes the pose; the frame of the data is kept, so the y axis points up. Units are metres.

Every collision shape becomes one cylinder that contains it, named after its link:

========  ==================================================================================================
shape     cylinder around the shape's centre
========  ==================================================================================================
sphere    radius R, length 2R along the link's own y axis, in which all bones of this model lie
capsule   radius r, length l + 2r along the capsule's axis, where l is the length between its ball centres
box       length of its longest side along that side (the first if equal), radius of the circle around the
          other two: half their diagonal
========  ==================================================================================================

Limbs overlap, as the model's shapes do: the thigh reaches into the pelvis, the hand into the forearm.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from xml.etree import ElementTree

import numpy as np

from cylcollide._pybullet import data_folder, pybullet
from cylcollide._types import Float64Array
from cylcollide.crosscheck.generate.motion import Motion, load_motions
from cylcollide.limbs.limbs import Limbs

SCALE = 0.25
"""DeepMimic's ``globalScaling``: the URDF is four times life size."""


@dataclass(frozen=True)
class LimbShape:
    """One limb in the inertial frame of its link: a cylinder and the link it is fastened to."""

    name: str
    link: int
    p1: Float64Array  # (3,)
    p2: Float64Array
    radius: float


def containing_cylinder(kind: int, dimensions: tuple[float, float, float]) -> tuple[Float64Array, float]:
    """Return the half axis (3,) and radius of the cylinder around a shape's centre, in the shape's own frame.

    Parameters
    ----------
    kind, dimensions
        Geometry type and dimensions as ``getCollisionShapeData`` gives them: a sphere's radius (three times), a
        capsule's length and radius along z, a box's three sides.

    Raises
    ------
    ValueError
        For any other kind of shape.
    """
    if kind == pybullet.GEOM_SPHERE:
        return np.array([0.0, dimensions[0], 0.0]), dimensions[0]
    if kind == pybullet.GEOM_CAPSULE:
        return np.array([0.0, 0.0, dimensions[0] / 2 + dimensions[1]]), dimensions[1]
    if kind == pybullet.GEOM_BOX:
        sides = np.array(dimensions)
        longest = int(np.argmax(sides))
        half_axis = np.zeros(3)
        half_axis[longest] = sides[longest] / 2
        return half_axis, float(np.hypot(*np.delete(sides, longest))) / 2
    raise ValueError(f"expected a sphere, capsule or box, got PyBullet geometry type {kind}; give it a rule here")


class Humanoid:
    """The character in a PyBullet client of its own. Use it as a context manager.

    Attributes
    ----------
    names
        Limb names, the names of their links, length m.
    radius
        Limb radii in metres, (m,).
    motions
        The recorded motions by name.
    """

    def __init__(self) -> None:
        self.motions: dict[str, Motion] = load_motions()
        self._client: int = pybullet.connect(pybullet.DIRECT)
        if self._client < 0:
            raise RuntimeError("PyBullet gave no DIRECT client: too many are open in this process; close some first")
        self._body = _load_body(self._client)
        joints = [
            pybullet.getJointInfo(self._body, j, physicsClientId=self._client)
            for j in range(pybullet.getNumJoints(self._body, physicsClientId=self._client))
        ]
        # Joints that move, in link order, which is the order of the motion files.
        widths = {pybullet.JOINT_SPHERICAL: 4, pybullet.JOINT_REVOLUTE: 1}
        self._moving = [joint[0] for joint in joints if joint[2] in widths]
        self._joint_widths = tuple(widths[joint[2]] for joint in joints if joint[2] in widths)
        self._shapes = [shape for joint in joints for shape in self._link_shapes(joint[0], joint[12].decode())]
        self.names = tuple(shape.name for shape in self._shapes)
        self.radius = np.array([shape.radius for shape in self._shapes])

    def pose(self, motion: str, time: float) -> tuple[Float64Array, Float64Array]:
        """Return the limb ends p1 and p2, (m, 3) each in metres, at ``time`` seconds into a motion.

        Raises
        ------
        ValueError
            If there is no such motion.
        """
        if motion not in self.motions:
            raise ValueError(f"expected a motion out of {', '.join(self.motions)}, got {motion!r}")
        root, joints = self.motions[motion].pose(time, self._joint_widths)
        pybullet.resetBasePositionAndOrientation(
            self._body, root.position.tolist(), root.orientation, physicsClientId=self._client
        )
        pybullet.resetJointStatesMultiDof(self._body, self._moving, joints, physicsClientId=self._client)
        return self._limb_ends()

    def limbs(self, p1: Float64Array, p2: Float64Array) -> Limbs:
        """Return the character's named limbs at these ends."""
        return Limbs.cylinders(p1, p2, self.radius, name=self.names)

    def close(self) -> None:
        """Disconnect the client."""
        if self._client >= 0:
            pybullet.disconnect(physicsClientId=self._client)
            self._client = -1

    def __enter__(self) -> Self:
        """Return the character itself."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Disconnect the client."""
        self.close()

    def _link_shapes(self, link: int, name: str) -> list[LimbShape]:
        found = pybullet.getCollisionShapeData(self._body, link, physicsClientId=self._client)
        shapes = []
        for number, (_, _, kind, dimensions, _, centre, orientation) in enumerate(found):
            half_axis, radius = containing_cylinder(kind, dimensions)
            # Local frames of collision shapes are relative to the link's inertial frame.
            half_axis = _rotation(orientation) @ half_axis
            label = name if number == 0 else f"{name}_{number + 1}"
            shapes.append(LimbShape(label, link, centre - half_axis, centre + half_axis, radius))
        return shapes

    def _limb_ends(self) -> tuple[Float64Array, Float64Array]:
        # Entries 0 and 1 of a link state are the inertial frame in float64; 4 and 5, the joint frame, are float32.
        links = [shape.link for shape in self._shapes]
        states = pybullet.getLinkStates(self._body, links, computeForwardKinematics=True, physicsClientId=self._client)
        origin = np.array([state[0] for state in states])
        rotation = np.array([_rotation(state[1]) for state in states])
        p1 = origin + np.einsum("mij,mj->mi", rotation, np.array([shape.p1 for shape in self._shapes]))
        p2 = origin + np.einsum("mij,mj->mi", rotation, np.array([shape.p2 for shape in self._shapes]))
        return p1, p2


def _rotation(quaternion: tuple[float, float, float, float]) -> Float64Array:
    return np.array(pybullet.getMatrixFromQuaternion(quaternion)).reshape(3, 3)


def _load_body(client: int) -> int:
    # PyBullet's own parser overlooks that the file ends in a zero byte.
    text = (data_folder() / "humanoid" / "humanoid.urdf").read_bytes().rstrip(b"\0")
    urdf = ElementTree.ElementTree(ElementTree.fromstring(text))
    # PyBullet prints a warning for each ball joint without an axis: give it the one it would assume.
    for joint in urdf.iter("joint"):
        if joint.get("type") == "spherical" and joint.find("axis") is None:
            ElementTree.SubElement(joint, "axis", xyz="1 0 0")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "humanoid.urdf"
        urdf.write(path)
        body: int = pybullet.loadURDF(
            str(path),
            useFixedBase=True,
            globalScaling=SCALE,
            flags=pybullet.URDF_MAINTAIN_LINK_ORDER,
            physicsClientId=client,
        )
    return body
