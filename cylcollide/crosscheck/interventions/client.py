"""A PyBullet client whose limbs are built in any of PyBullet's ways; see :class:`cylcollide.crosscheck.setup.Setup`.

With the default setup it builds the very bodies of :class:`cylcollide.engines.bullet.BulletEngine`, to the last bit.
"""

import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.crosscheck.setup import DEFAULT, Setup
from cylcollide.engines import EngineHits
from cylcollide.engines._pybullet import pybullet
from cylcollide.engines.bullet import BATCH, axis_quaternion
from cylcollide.limbs import Limbs

Quaternion = tuple[float, float, float, float]

URDF = """<robot name="limb"><link name="limb">
<inertial><mass value="0"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>
<collision><geometry><cylinder radius="{radius!r}" length="{length!r}"/></geometry></collision></link></robot>"""

VERSIONS = {"pybullet": version("pybullet")}

_IDLE: list[int] = []
"""Empty DIRECT clients of this process that nobody uses."""

MJCF = '<mujoco><worldbody><geom type="cylinder" size="{radius!r} {half!r}"/></worldbody></mujoco>'


class BulletClient:
    """PyBullet's ``rayTestBatch`` against limbs built as ``setup`` says; an :class:`cylcollide.engines.Engine`."""

    name = "PyBullet"

    def __init__(self, setup: Setup = DEFAULT) -> None:
        self.setup = setup
        self.versions = VERSIONS
        self._client: int = _IDLE.pop() if _IDLE else pybullet.connect(pybullet.DIRECT)
        if self._client < 0:
            raise RuntimeError("PyBullet gave no DIRECT client: too many are open in this process; close some first")
        self._radius: Float64Array = np.empty(0)
        self._limb_of_body: dict[int, int] = {}

    def build(self, limbs: Limbs) -> None:
        """Replace every body by a cylinder per limb."""
        self._radius = np.array(limbs.radius, dtype=np.float64)
        self.set_endpoints(np.asarray(limbs.p1), np.asarray(limbs.p2))

    def set_endpoints(self, p1: Float64Array, p2: Float64Array) -> None:
        """Build the bodies anew at these axes, both (m, 3) in metres, m as in the last ``build``."""
        pybullet.resetSimulation(physicsClientId=self._client)
        axis = p2 - p1
        length, centre = np.linalg.norm(axis, axis=1), p1 + 0.5 * axis
        bodies = [
            self._add_body(float(self._radius[limb]), float(length[limb]), centre[limb], self._turn(axis[limb]))
            for limb in range(len(p1))
        ]
        self._limb_of_body = {body: limb for limb, body in enumerate(bodies)}
        for body in bodies:
            if self.setup.margin is not None:
                pybullet.changeDynamics(body, -1, collisionMargin=self.setup.margin, physicsClientId=self._client)
        # Bodies that are made and left alone keep the boxes that a user gets.
        changed = self.setup.margin is not None or self.setup.moved
        if self.setup.fresh or (changed and not self.setup.stale):
            self.refresh_boxes()

    def refresh_boxes(self) -> None:
        """Let the broad phase compute its boxes anew."""
        pybullet.performCollisionDetection(physicsClientId=self._client)

    def cast_segments(self, starts: Float64Array, ends: Float64Array) -> EngineHits:
        """Ask in batches that PyBullet answers in full."""
        answers: list[Any] = []
        for first in range(0, len(starts), BATCH):
            rows = slice(first, first + BATCH)
            answers += self.cast_batch(starts[rows], ends[rows])
        return self.as_hits(answers, len(starts))

    def cast_batch(self, starts: Any, ends: Any) -> Sequence[Any]:
        """Call ``rayTestBatch`` once with arrays or lists, (n, 3); return what comes, be it too few answers."""
        answers: Sequence[Any] = pybullet.rayTestBatch(starts, ends, numThreads=1, physicsClientId=self._client)
        return answers

    def as_hits(self, answers: Sequence[Any], n: int) -> EngineHits:
        """Return PyBullet's answers as arrays of length n; rays without an answer are misses."""
        limb = np.full(n, -1, dtype=np.int32)
        fraction, position, normal = np.full(n, np.nan), np.full((n, 3), np.nan), np.full((n, 3), np.nan)
        rows = [row for row, answer in enumerate(answers) if answer[0] >= 0]
        if rows:
            found = [answers[row] for row in rows]
            limb[rows] = [self._limb_of_body[answer[0]] for answer in found]
            fraction[rows] = [answer[2] for answer in found]
            position[rows] = [answer[3] for answer in found]
            normal[rows] = [answer[4] for answer in found]
        return EngineHits(limb, fraction, position, normal)

    def close(self) -> None:
        """Empty the client and leave it to the next one; connecting costs more than most questions."""
        if self._client >= 0:
            pybullet.resetSimulation(physicsClientId=self._client)
            _IDLE.append(self._client)
            self._client = -1

    def __enter__(self) -> Self:
        """Return the client itself."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Leave the client to the next one."""
        self.close()

    def _turn(self, axis: Float64Array) -> Quaternion:
        turn = axis_quaternion(axis)
        if self.setup.spin == 0.0:
            return turn
        # First the spin about Bullet's cylinder axis z, then the turn of z to the limb's axis; multiplyTransforms of
        # PyBullet would round the product to float32.
        sine, cosine = float(np.sin(0.5 * self.setup.spin)), float(np.cos(0.5 * self.setup.spin))
        x, y, z, w = turn
        return x * cosine + y * sine, y * cosine - x * sine, z * cosine + w * sine, w * cosine - z * sine

    def _add_body(self, radius: float, length: float, centre: Float64Array, turn: Quaternion) -> int:
        place = centre + np.array([self.setup.moved, 0.0, 0.0]) if self.setup.moved else centre
        body = self._create(radius, length, place, turn)
        if self.setup.moved:
            pybullet.resetBasePositionAndOrientation(body, centre.tolist(), turn, physicsClientId=self._client)
        return body

    def _create(self, radius: float, length: float, centre: Float64Array, turn: Quaternion) -> int:
        if self.setup.construction != "geom":
            return self._load(radius, length, centre, turn)
        shape = pybullet.createCollisionShape(
            pybullet.GEOM_CYLINDER, radius=radius, height=length, physicsClientId=self._client
        )
        body: int = pybullet.createMultiBody(
            baseMass=0,
            baseCollisionShapeIndex=shape,
            basePosition=centre.tolist(),
            baseOrientation=turn,
            physicsClientId=self._client,
        )
        return body

    def _load(self, radius: float, length: float, centre: Float64Array, turn: Quaternion) -> int:
        with tempfile.TemporaryDirectory() as folder:
            if self.setup.construction == "mjcf":
                path = Path(folder) / "limb.xml"
                path.write_text(MJCF.format(radius=radius, half=0.5 * length))
                loaded: int = pybullet.loadMJCF(str(path), physicsClientId=self._client)[0]
            else:
                path = Path(folder) / "limb.urdf"
                path.write_text(URDF.format(radius=radius, length=length))
                implicit = self.setup.construction == "urdf-implicit"
                loaded = pybullet.loadURDF(
                    str(path),
                    useFixedBase=True,
                    flags=pybullet.URDF_USE_IMPLICIT_CYLINDER if implicit else 0,
                    physicsClientId=self._client,
                )
        pybullet.resetBasePositionAndOrientation(loaded, centre.tolist(), turn, physicsClientId=self._client)
        return loaded


def disconnect_idle() -> None:
    """Disconnect the clients that were left to the next one."""
    while _IDLE:
        pybullet.disconnect(physicsClientId=_IDLE.pop())
