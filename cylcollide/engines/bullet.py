"""PyBullet as an engine: every limb a static ``GEOM_CYLINDER`` body in a DIRECT client of its own.

The bodies are the limbs up to the rounding of a float64 centre and quaternion (about 1e-16 of a coordinate). Bullet's
own settings are left as they come: collision margin, broadphase and ray test are what a user of PyBullet gets.

Two properties of PyBullet shape this file. ``rayTestBatch`` loses rays beyond 16,383 in one call, so that batches stay
below. ``getQuaternionFromAxisAngle`` returns float32 numbers, which would tilt the bodies by up to 1e-7, so that the
orientation comes from ``getQuaternionFromEuler``, which computes in float64 and knows no singular direction.
"""

from importlib.metadata import version
from typing import Self

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.engines import EngineHits
from cylcollide.engines._pybullet import pybullet
from cylcollide.limbs import Limbs

BATCH = 16_000
"""Rays in one ``rayTestBatch``; PyBullet's limit is 16,383 and it drops what is above without an error."""


def axis_quaternion(axis: Float64Array) -> tuple[float, float, float, float]:
    """Return the quaternion x, y, z, w that turns Bullet's cylinder axis z to ``axis`` (3,), of any length but 0."""
    x, y, z = (float(c) for c in axis)
    # Tilt z towards x by the polar angle, then turn about z to the azimuth: both angles are well defined everywhere.
    quaternion: tuple[float, float, float, float] = pybullet.getQuaternionFromEuler(
        [0.0, float(np.arctan2(np.hypot(x, y), z)), float(np.arctan2(y, x))]
    )
    return quaternion


class BulletEngine:
    """PyBullet's ``rayTestBatch`` against the limbs of one pose; see :class:`cylcollide.engines.Engine`."""

    name = "PyBullet"

    def __init__(self) -> None:
        self.versions = {"pybullet": version("pybullet")}
        self._client: int = pybullet.connect(pybullet.DIRECT)
        if self._client < 0:
            raise RuntimeError("PyBullet gave no DIRECT client: too many are open in this process; close some first")
        self._radius: Float64Array = np.empty(0)
        self._limb_of_body: dict[int, int] = {}

    def build(self, limbs: Limbs) -> None:
        """Replace every body by a cylinder per limb."""
        self._radius = np.array(limbs.radius, dtype=np.float64)
        self.set_endpoints(np.asarray(limbs.p1), np.asarray(limbs.p2))

    def set_endpoints(self, p1: Float64Array, p2: Float64Array) -> None:
        """Build the bodies anew at these axes, since PyBullet cannot change the length of a shape.

        Raises
        ------
        ValueError
            If there is not one axis per limb of the last ``build``.
        """
        expected = (len(self._radius), 3)
        if p1.shape != expected or p2.shape != expected:
            raise ValueError(
                f"p1 and p2 must be {expected}, one axis per limb built, got {p1.shape} and {p2.shape}; "
                "call build() with the new limbs first"
            )
        pybullet.resetSimulation(physicsClientId=self._client)
        axis = p2 - p1
        length = np.linalg.norm(axis, axis=1)
        centre = p1 + 0.5 * axis
        self._limb_of_body = {
            self._add_body(float(self._radius[limb]), float(length[limb]), centre[limb], axis[limb]): limb
            for limb in range(len(p1))
        }

    def cast_segments(self, starts: Float64Array, ends: Float64Array) -> EngineHits:
        """Ask ``rayTestBatch``, in as many calls as its limit needs.

        Raises
        ------
        RuntimeError
            If PyBullet returns another number of answers than it was asked for.
        """
        n = len(starts)
        limb = np.full(n, -1, dtype=np.int32)
        fraction, position, normal = np.full(n, np.nan), np.full((n, 3), np.nan), np.full((n, 3), np.nan)
        for first in range(0, n, BATCH):
            rows = slice(first, min(first + BATCH, n))
            answers = pybullet.rayTestBatch(starts[rows], ends[rows], numThreads=1, physicsClientId=self._client)
            if len(answers) != rows.stop - rows.start:
                raise RuntimeError(f"PyBullet answered {len(answers)} of {rows.stop - rows.start} rays")
            for row, (body, _, t, point, n_out) in enumerate(answers, start=first):
                if body >= 0:
                    limb[row], fraction[row], position[row], normal[row] = self._limb_of_body[body], t, point, n_out
        return EngineHits(limb, fraction, position, normal)

    def close(self) -> None:
        """Disconnect the client."""
        if self._client >= 0:
            pybullet.disconnect(physicsClientId=self._client)
            self._client = -1

    def __enter__(self) -> Self:
        """Return the engine itself."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Disconnect the client."""
        self.close()

    def _add_body(self, radius: float, length: float, centre: Float64Array, axis: Float64Array) -> int:
        shape = pybullet.createCollisionShape(
            pybullet.GEOM_CYLINDER, radius=radius, height=length, physicsClientId=self._client
        )
        body: int = pybullet.createMultiBody(
            baseMass=0,
            baseCollisionShapeIndex=shape,
            basePosition=centre.tolist(),
            baseOrientation=axis_quaternion(axis),
            physicsClientId=self._client,
        )
        return body
