"""PyBullet's humanoid as named limb cylinders, posed by its recorded motions; ``docs/crosscheck.md``, "The character".

PyBullet itself computes the pose; the frame of the data is kept, so the y axis points up. Units are metres. Limbs
overlap, as the model's shapes do: the thigh reaches into the pelvis, the hand into the forearm.

Between two frames of a motion positions and angles are linear and rotations follow ``getQuaternionSlerp``, the short
way round. A motion that wraps begins again at its end, and each cycle moves its root on by the displacement from the
first frame to the last, as in DeepMimic's PyBullet environment; a motion that does not wrap stays in its first or last
frame outside its duration.
"""

import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from cylcollide._pybullet import connect, data_folder, pybullet
from cylcollide._types import Float64Array
from cylcollide.bullet.client import Client
from cylcollide.characters import deepmimic
from cylcollide.characters.clip import frames_around
from cylcollide.characters.deepmimic import ROOT_COLUMNS, Recording
from cylcollide.limbs.limbs import Limbs

SCALE = 0.25
"""DeepMimic's ``globalScaling``: the URDF is four times life size."""
MOTION_PREFIX = "humanoid3d_"

JointValue = tuple[float, ...]
"""A ball joint's quaternion x, y, z, w or a hinge's angle in radians, as ``resetJointStatesMultiDof`` takes it."""


def pose_at(
    motion: Recording, time: float, joint_widths: tuple[int, ...]
) -> tuple[Float64Array, JointValue, list[JointValue]]:
    """Position (3,) and quaternion x, y, z, w of the root, and the joints, at ``time`` seconds; any finite number.

    ``joint_widths`` are the columns of each joint in the order of the file: 4 for a quaternion, 1 for an angle.
    ValueError if the joints do not fill a frame of the file exactly.
    """
    motion.check_columns(sum(joint_widths))
    first, second, way, turns = frames_around(motion.times, np.asarray(time, dtype=np.float64), motion.wraps)
    share, a, b = float(way), motion.frames[first], motion.frames[second]
    position = a[1:4] + share * (b[1:4] - a[1:4]) + turns * motion.travel
    joints, column = [], ROOT_COLUMNS
    for width in joint_widths:
        one, other = (frame[column : column + width] for frame in (a, b))
        joints.append(_slerp(one, other, share) if width == 4 else tuple((one + share * (other - one)).tolist()))
        column += width
    return position, _slerp(a[4:8], b[4:8], share), joints


def load_motions() -> dict[str, Recording]:
    """Read every motion of PyBullet's humanoid, by short name ("walk", "backflip", ...), in alphabetical order."""
    paths = sorted((data_folder() / "data" / "motions").glob(f"{MOTION_PREFIX}*.txt"))
    if not paths:
        raise FileNotFoundError(
            f"expected motions {MOTION_PREFIX}*.txt in {data_folder()}, found none; reinstall pybullet"
        )
    return {path.stem.removeprefix(MOTION_PREFIX): deepmimic.read(path) for path in paths}


def _slerp(a: Float64Array, b: Float64Array, share: float) -> JointValue:
    # The files' quaternions are not all of unit length: see deepmimic.SHORTEST.
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    q: JointValue = pybullet.getQuaternionSlerp(np.roll(a, -1).tolist(), np.roll(b, -1).tolist(), share)
    return q


def containing_cylinder(kind: int, dimensions: tuple[float, float, float]) -> tuple[Float64Array, float]:
    """Half axis (3,) and radius of the cylinder around a shape's centre, in the shape's own frame.

    Geometry type and dimensions are those of ``getCollisionShapeData``: a sphere's radius (three times), a capsule's
    length and radius along z, a box's three sides. ValueError for any other kind of shape.
    """
    if kind == pybullet.GEOM_SPHERE:
        return np.array([0.0, dimensions[0], 0.0]), dimensions[0]
    if kind == pybullet.GEOM_CAPSULE:
        return np.array([0.0, 0.0, dimensions[0] / 2 + dimensions[1]]), dimensions[1]
    if kind == pybullet.GEOM_BOX:
        sides = np.array(dimensions)
        longest = int(np.argmax(sides))
        return sides[longest] / 2 * np.eye(3)[longest], float(np.hypot(*np.delete(sides, longest))) / 2
    raise ValueError(f"expected a sphere, capsule or box, got PyBullet geometry type {kind}; give it a rule here")


class Humanoid(AbstractContextManager["Humanoid"]):
    """The character in a separate PyBullet client, which the end of a `with` block disconnects.

    It has m limbs with ``names``, those of their links, and ``radius`` (m,) in metres; and ``motions`` by name.
    """

    def __init__(self) -> None:
        self.motions: dict[str, Recording] = load_motions()
        self._bullet = bullet = Client(connect())
        self._body = _load_body(bullet)
        joints = [bullet.getJointInfo(self._body, joint) for joint in range(bullet.getNumJoints(self._body))]
        # Joints that move, in link order, which is the order of the motion files.
        widths = {pybullet.JOINT_SPHERICAL: 4, pybullet.JOINT_REVOLUTE: 1}
        self._moving = [joint[0] for joint in joints if joint[2] in widths]
        self._joint_widths = tuple(widths[joint[2]] for joint in joints if joint[2] in widths)
        shapes = [shape for joint in joints for shape in self._link_shapes(joint[0], joint[12].decode())]
        self.names, self._links, p1, p2, radius = zip(*shapes, strict=True)
        self._p1, self._p2, self.radius = np.array(p1), np.array(p2), np.array(radius)

    def pose(self, motion: str, time: float) -> tuple[Float64Array, Float64Array]:
        """The limb ends p1 and p2, (m, 3) each in metres, at ``time`` seconds into a motion; ValueError if unknown."""
        if motion not in self.motions:
            raise ValueError(f"expected a motion out of {', '.join(self.motions)}, got {motion!r}")
        position, orientation, joints = pose_at(self.motions[motion], time, self._joint_widths)
        self._bullet.resetBasePositionAndOrientation(self._body, position.tolist(), orientation)
        self._bullet.resetJointStatesMultiDof(self._body, self._moving, joints)
        # Entries 0 and 1 of a link state are the inertial frame in float64; 4 and 5, the joint frame, are float32.
        states = self._bullet.getLinkStates(self._body, self._links, computeForwardKinematics=True)
        origin, turn = np.array([state[0] for state in states]), np.array([_rotation(state[1]) for state in states])
        p1, p2 = (origin + np.einsum("mij,mj->mi", turn, end) for end in (self._p1, self._p2))
        return p1, p2

    def limbs(self, p1: Float64Array, p2: Float64Array) -> Limbs:
        """The character's named limbs at these ends."""
        return Limbs.cylinders(p1, p2, self.radius, name=self.names)

    def __exit__(self, *exc_info: object) -> None:
        """Disconnect the client."""
        self._bullet.disconnect()

    def _link_shapes(self, link: int, name: str) -> list[tuple[str, int, Float64Array, Float64Array, float]]:
        """The limbs of a link: name, link, both ends (3,) in its inertial frame, and radius."""
        shapes: list[tuple[str, int, Float64Array, Float64Array, float]] = []
        for _, _, kind, dimensions, _, centre, orientation in self._bullet.getCollisionShapeData(self._body, link):
            half_axis, radius = containing_cylinder(kind, dimensions)
            # Local frames of collision shapes are relative to the link's inertial frame.
            half_axis = _rotation(orientation) @ half_axis
            label = f"{name}_{len(shapes) + 1}" if shapes else name
            shapes.append((label, link, centre - half_axis, centre + half_axis, radius))
        return shapes


def _rotation(quaternion: tuple[float, float, float, float]) -> Float64Array:
    return np.array(pybullet.getMatrixFromQuaternion(quaternion)).reshape(3, 3)


def _load_body(bullet: Client) -> int:
    # PyBullet's own parser ignores the zero byte at the end of the file.
    text = (data_folder() / "humanoid" / "humanoid.urdf").read_bytes().rstrip(b"\0")
    urdf = ElementTree.ElementTree(ElementTree.fromstring(text))
    # PyBullet prints a warning for each ball joint without an axis: give it the one it would assume.
    for joint in urdf.iter("joint"):
        if joint.get("type") == "spherical" and joint.find("axis") is None:
            ElementTree.SubElement(joint, "axis", xyz="1 0 0")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "humanoid.urdf"
        urdf.write(path)
        order = pybullet.URDF_MAINTAIN_LINK_ORDER
        body: int = bullet.loadURDF(str(path), useFixedBase=True, globalScaling=SCALE, flags=order)
    return body
