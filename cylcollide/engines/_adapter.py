"""The base class of adapters: checks, misses and positions. An adapter adds how its engine builds and casts."""

from abc import ABC, abstractmethod
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np

from cylcollide._types import Float64Array, Shape
from cylcollide.engines.protocol import Engine, EngineHits
from cylcollide.limbs.limbs import Limbs


def peer(module: str, extra: str = "peers") -> Any:
    """Import the package of an engine, or raise an ImportError that names the extra to install."""
    try:
        return import_module(module)
    except ImportError as missing:
        raise ImportError(
            f"{module.partition('.')[0]} is needed here and could not be imported ({missing}); install it with: "
            f"pip install 'cylcollide[{extra}]'",
            name=missing.name,
        ) from missing


def installed(distribution: str) -> dict[str, str]:
    """A distribution and its version, as engines state it."""
    try:
        return {distribution: version(distribution)}
    except ModuleNotFoundError:
        return {distribution: "unknown"}


class Adapter(Engine, ABC):
    """An engine whose limbs may move; see :class:`cylcollide.engines.Engine`.

    An adapter keeps the engine's own objects in ``_world``.
    """

    _limbs: Limbs | None = None
    _world: Any = None

    @abstractmethod
    def _build(self, limbs: Limbs) -> None:
        """Replace all solids of the engine by these limbs, at least one."""

    def _move(self, limbs: Limbs) -> None:
        """Move the solids to these limbs, which differ from the present ones only in their ends."""
        self._build(limbs)

    @abstractmethod
    def _cast(self, starts: Float64Array, ends: Float64Array, hits: EngineHits) -> None:
        """Cast at least one segment against at least one limb; starts, ends (n, 3).

        Write the answers into ``hits``, which are misses. Rows whose limb stays -1 may get any values elsewhere;
        positions only if the capabilities include them.
        """

    def build(self, limbs: Limbs) -> None:
        """Replace all limbs by these; ValueError for a shape that the engine does not have."""
        known = np.isin(limbs.kind, [int(shape) for shape in self.capabilities.shapes])
        if not known.all():
            row = int((~known).argmax())
            held = ", ".join(shape.name.lower() for shape in sorted(self.capabilities.shapes))
            raise ValueError(
                f"limbs: {self.name} holds {held}, got a {Shape(int(limbs.kind[row])).name.lower()} in row {row}; "
                "leave such limbs out or use another engine"
            )
        self._limbs = None
        if len(limbs):
            self._build(limbs)
        self._limbs = limbs

    def set_endpoints(self, p1: Float64Array, p2: Float64Array) -> None:
        """Move every limb to new ends, both (m, 3) in metres.

        Raises
        ------
        ValueError
            If nothing was built, or there is not one axis per limb.
        """
        limbs = self._built().moved(p1, p2)
        if len(limbs):
            self._move(limbs)
        self._limbs = limbs

    def cast_segments(self, starts: Float64Array, ends: Float64Array) -> EngineHits:
        """The closest hit of each segment; starts, ends (n, 3) in metres."""
        hits = EngineHits.misses(len(starts))
        if len(self._built()) and len(starts):
            self._cast(starts, ends, hits)
            for column in (hits.fraction, hits.position, hits.normal):
                column[hits.limb < 0] = np.nan
            if not self.capabilities.position:
                hits.position[:] = starts + hits.fraction[:, None] * (ends - starts)
        return hits

    def _built(self) -> Limbs:
        if self._limbs is None:
            raise ValueError(f"{self.name}: expected limbs, got none; call build() first")
        return self._limbs

    def close(self) -> None:
        """Release the limbs and the engine's own objects; closing twice is harmless."""
        self._limbs = self._world = None
