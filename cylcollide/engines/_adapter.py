"""The base class of adapters: checks, misses and positions. An adapter adds how its engine builds and casts."""

from abc import ABC, abstractmethod
from importlib import import_module
from importlib.metadata import version
from typing import Any, NamedTuple, Self

import numpy as np

from cylcollide._types import Float64Array, Int32Array
from cylcollide.engines.protocol import Capabilities, EngineHits, refuse_unknown_shapes
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


def installed(*distributions: str) -> str:
    """Version of the first of these distributions that is installed."""
    known = [version(name) for name in distributions if _has(name)]
    return known[0] if known else "unknown"


def _has(distribution: str) -> bool:
    try:
        version(distribution)
    except ModuleNotFoundError:
        return False
    return True


class RawHits(NamedTuple):
    """The result of an engine for n segments; rows whose limb is -1 may hold any values in the other fields."""

    limb: Int32Array  # (n,)
    fraction: Float64Array  # (n,)
    normal: Float64Array  # (n, 3)
    position: Float64Array | None = None  # (n, 3); None: to be computed from the fraction


class Adapter(ABC):
    """An engine whose limbs may move; see :class:`cylcollide.engines.Engine`."""

    name: str
    capabilities: Capabilities
    versions: dict[str, str]

    def __init__(self) -> None:
        self._limbs: Limbs | None = None

    @abstractmethod
    def _build(self, limbs: Limbs) -> None:
        """Replace all solids of the engine by these limbs, at least one."""

    def _move(self, limbs: Limbs) -> None:
        """Move the solids to these limbs, which differ from the present ones only in their ends."""
        self._build(limbs)

    @abstractmethod
    def _cast(self, starts: Float64Array, ends: Float64Array) -> RawHits:
        """Cast at least one segment against at least one limb; starts, ends (n, 3)."""

    def build(self, limbs: Limbs) -> None:
        """Replace all limbs by these; ValueError for a shape that the engine does not have."""
        refuse_unknown_shapes(self.name, self.capabilities, limbs)
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
        n = len(starts)
        if len(self._built()) == 0 or n == 0:
            missing = np.full((n, 3), np.nan)
            return EngineHits(np.full(n, -1, np.int32), np.full(n, np.nan), missing, missing.copy())
        hits = self._cast(starts, ends)
        miss = hits.limb < 0
        fraction = np.array(hits.fraction, np.float64)
        fraction[miss] = np.nan
        if hits.position is None:
            position = starts + fraction[:, None] * (ends - starts)
        else:
            position = np.array(hits.position, np.float64)
            position[miss] = np.nan
        normal = np.array(hits.normal, np.float64)
        normal[miss] = np.nan
        return EngineHits(np.asarray(hits.limb, np.int32), fraction, position, normal)

    def _built(self) -> Limbs:
        if self._limbs is None:
            raise ValueError(f"{self.name}: expected limbs, got none; call build() first")
        return self._limbs

    def close(self) -> None:
        """Release the limbs; closing twice is harmless."""
        self._limbs = None

    def __enter__(self) -> Self:
        """Return the engine itself."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Close the engine."""
        self.close()
