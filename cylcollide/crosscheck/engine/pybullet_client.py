"""PyBullet with limbs built in any of the ways of :class:`setup.Setup`, clients used again.

With the default setup it is :class:`cylcollide.engines.bullet.BulletEngine`, which builds the bodies and asks.
"""

from pathlib import Path

import numpy as np

from cylcollide._pybullet import pybullet
from cylcollide.crosscheck.engine.setup import DEFAULT, Setup
from cylcollide.engines._bullet_bodies import Body
from cylcollide.engines.bullet import BulletEngine

_IDLE: list[int] = []
"""Empty DIRECT clients of this process that nobody uses."""


class BulletClient(BulletEngine):
    """PyBullet's ``rayTestBatch`` against limbs built as ``setup`` says; an :class:`cylcollide.engines.Engine`."""

    def __init__(self, setup: Setup = DEFAULT) -> None:
        super().__init__(setup.construction, setup.margin)
        self.setup = setup

    def _connected(self) -> int:
        return _IDLE.pop() if _IDLE else super()._connected()

    def _add(self, body: Body, stem: Path) -> int:
        setup = self.setup
        if setup.spin:
            body = body._replace(turn=_spun(body.turn, setup.spin))
        if not setup.moved:
            return super()._add(body, stem)
        x, y, z = body.center
        added = super()._add(body._replace(center=[x + setup.moved, y, z]), stem)
        pybullet.resetBasePositionAndOrientation(added, body.center, body.turn, physicsClientId=self._client)
        return added

    def _finish(self) -> None:
        # Bodies that are made and left alone keep the boxes that a user gets.
        changed = self.setup.margin is not None or self.setup.moved
        if self.setup.fresh or (changed and not self.setup.stale):
            self.refresh_boxes()

    def close(self) -> None:
        """Empty the client and leave it to the next one; connecting costs more than most questions."""
        if self._client >= 0:
            pybullet.resetSimulation(physicsClientId=self._client)
            _IDLE.append(self._client)
            self._client = -1


def _spun(turn: tuple[float, ...], angle: float) -> tuple[float, ...]:
    """First a spin about Bullet's cylinder axis z, then the turn; multiplyTransforms of PyBullet rounds to float32."""
    sine, cosine = float(np.sin(0.5 * angle)), float(np.cos(0.5 * angle))
    x, y, z, w = turn
    return x * cosine + y * sine, y * cosine - x * sine, z * cosine + w * sine, w * cosine - z * sine


def disconnect_idle() -> None:
    """Disconnect the clients that were left to the next one."""
    while _IDLE:
        pybullet.disconnect(physicsClientId=_IDLE.pop())
