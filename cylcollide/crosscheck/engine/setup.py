"""How a limb is given to PyBullet: construction path, margin, spin about its own axis, boxes refreshed or not."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Protocol, Self

from cylcollide._types import Float64Array
from cylcollide.engines import Capabilities, EngineHits, registry
from cylcollide.engines._bullet_bodies import CONSTRUCTIONS, Construction
from cylcollide.limbs.limbs import Limbs

__all__ = [
    "CONSTRUCTIONS",
    "DEFAULT",
    "Construction",
    "EngineOf",
    "NamedEngine",
    "PlainEngine",
    "RayEngine",
    "Setup",
    "as_record",
]


@dataclass(frozen=True)
class Setup:
    """One way to build the same limb; the default is what a user of ``createCollisionShape`` gets."""

    construction: Construction = "geom"
    margin: float | None = None  # metres, by changeDynamics; None leaves what the construction path gives
    spin: float = 0.0  # radians about the limb's own axis: the same solid
    moved: float = 0.0  # metres: built this far away, then moved into place without a simulation step
    stale: bool = False  # moved or given a margin without a step, so that the boxes of the broad phase are old
    fresh: bool = False  # the boxes are computed anew even if nothing was changed, which widens them by 2 cm

    @property
    def is_default(self) -> bool:
        """Whether any engine can be asked, since nothing of PyBullet's own is wanted."""
        return self == Setup()

    @property
    def label(self) -> str:
        """The fields that differ from the default, in words; "default" if none does."""
        wanted = [f"{name} {value}" for name, value in asdict(self).items() if value != getattr(Setup(), name)]
        return ", ".join(wanted) or "default"


DEFAULT = Setup()
"""What a user of PyBullet gets without asking."""


class RayEngine(Protocol):
    """What a run of families needs of an engine; every `cylcollide.engines.Engine` has it."""

    name: str
    versions: dict[str, str]
    capabilities: Capabilities

    def build(self, limbs: Limbs) -> None:
        """Hold these limbs, and no others."""

    def set_endpoints(self, p1: Float64Array, p2: Float64Array) -> None:
        """Move every limb to the axis from ``p1`` to ``p2``, both (m, 3) in metres."""

    def cast_segments(self, starts: Float64Array, ends: Float64Array) -> EngineHits:
        """The closest hit of each segment, ``starts`` and ``ends`` (n, 3) in metres."""

    def __enter__(self) -> Self:
        """Return the engine itself."""

    def __exit__(self, *exc_info: object) -> None:
        """Close the engine."""


Options = tuple[tuple[str, Any], ...]
"""Names and values for an engine's constructor."""

EngineOf = Callable[[Setup], RayEngine]
"""Makes an engine whose limbs are built in the given way. Picklable where it goes to another process."""


@dataclass(frozen=True)
class PlainEngine:
    """An engine that knows nothing of PyBullet's settings, as a maker of engines; see :data:`EngineOf`."""

    factory: Callable[[], RayEngine]

    @property
    def name(self) -> str:
        """What the engine calls itself."""
        return str(getattr(self.factory, "name", "an engine without a name"))

    @property
    def options(self) -> Options:
        """None: they are the factory's own."""
        return ()

    def __call__(self, setup: Setup) -> RayEngine:
        """Return a new engine.

        Raises
        ------
        ValueError
            For any setup but the default.
        """
        _refuse_settings(setup)
        return self.factory()


@dataclass(frozen=True)
class NamedEngine:
    """An engine of :mod:`cylcollide.engines.registry`, as a maker of engines that a saved case can name."""

    name: str
    options: Options = ()

    def __call__(self, setup: Setup) -> RayEngine:
        """Return a new engine.

        Raises
        ------
        ValueError
            For any setup but the default, and for an unknown name.
        ImportError
            If its package is missing; the message names the extra.
        """
        _refuse_settings(setup)
        return registry.create(self.name, **dict(self.options))


def _refuse_settings(setup: Setup) -> None:
    if not setup.is_default:
        raise ValueError(f"setup: expected the default, got {setup.label}; only PyBullet has these settings")


def as_record(setup: Setup) -> dict[str, Any]:
    """Return the fields as JSON has them; ``Setup(**record)`` reads them back."""
    return asdict(setup)
