"""The engine under test: PyBullet with its settings, or any other engine without such settings."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ConfigDict, with_config

from cylcollide._pybullet import pybullet
from cylcollide.crosscheck.records import Length, Truth
from cylcollide.engines import Engine, registry
from cylcollide.engines._adapter import Solid
from cylcollide.engines.bullet import BulletEngine, Construction


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class Setup:
    """One way to build the same limb; the default is that of ``createCollisionShape``."""

    construction: Construction = "geom"
    margin: Length | None = None  # metres, by changeDynamics; None leaves the margin of the construction
    spin: Length = 0.0  # radians about the limb's own axis: the same solid
    moved: Length = 0.0  # metres: built this far away, then moved into place without a simulation step
    stale: Truth = False  # moved or given a margin without a step: the boxes of the broad phase are old
    fresh: Truth = False  # the boxes are recomputed even without a change, which widens them by 2 cm

    @property
    def label(self) -> str:
        """The fields that differ from the default, in words; "default" if there are none."""
        wanted = [f"{name} {value}" for name, value in asdict(self).items() if value != getattr(Setup(), name)]
        return ", ".join(wanted) or "default"


DEFAULT = Setup()
"""PyBullet's default settings, the only ones that any other engine can build."""

EngineOf = Callable[[Setup], Engine]
"""Makes an engine whose limbs are built with a setup. Picklable if it is sent to another process."""


@dataclass(frozen=True)
class NamedEngine:
    """An engine of :mod:`cylcollide.engines.registry`, which a saved case can name; only for the default setup."""

    name: str
    options: tuple[tuple[str, Any], ...] = ()  # names and values for its constructor

    def __call__(self, setup: Setup) -> Engine:
        """Return a new engine; ValueError for any other setup and for an unknown name, ImportError if not installed."""
        if setup != DEFAULT:
            raise ValueError(f"setup: expected the default, got {setup.label}; only PyBullet has these settings")
        return registry.create(self.name, **dict(self.options))


_IDLE: list[int] = []
"""DIRECT clients of this process that nothing uses."""


class BulletClient(BulletEngine):
    """PyBullet's ``rayTestBatch`` against limbs built with ``setup``; an :class:`cylcollide.engines.Engine`."""

    def __init__(self, setup: Setup = DEFAULT) -> None:
        super().__init__(setup.construction, setup.margin)
        self.setup = setup

    def _connected(self) -> int:
        return _IDLE.pop() if _IDLE else super()._connected()

    def _add(self, body: Solid, stem: Path) -> int:
        setup = self.setup
        if setup.spin:
            body = replace(body, turn=_spun(body.turn, setup.spin))
        if not setup.moved:
            return super()._add(body, stem)
        x, y, z = body.center
        added = super()._add(replace(body, center=[x + setup.moved, y, z]), stem)
        pybullet.resetBasePositionAndOrientation(added, body.center, body.turn, physicsClientId=self._client)
        return added

    def _finish(self) -> None:
        # A body that was not changed keeps PyBullet's own boxes.
        changed = self.setup.margin is not None or self.setup.moved
        if self.setup.fresh or (changed and not self.setup.stale):
            self.refresh_boxes()

    def close(self) -> None:
        """Keep the client for reuse, which empties it: connecting takes longer than most casts."""
        if self._client >= 0:
            _IDLE.append(self._client)
            self._client = -1


def _spun(turn: Sequence[float], angle: float) -> tuple[float, ...]:
    """A spin about Bullet's cylinder axis z, followed by the turn; PyBullet's multiplyTransforms rounds to float32."""
    sine, cosine = float(np.sin(0.5 * angle)), float(np.cos(0.5 * angle))
    x, y, z, w = turn
    return x * cosine + y * sine, y * cosine - x * sine, z * cosine + w * sine, w * cosine - z * sine


def disconnect_idle() -> None:
    """Disconnect the clients that are kept for reuse."""
    while _IDLE:
        pybullet.disconnect(physicsClientId=_IDLE.pop())
