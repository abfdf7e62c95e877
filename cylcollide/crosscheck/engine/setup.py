"""How a limb is given to PyBullet: construction path, margin, spin about its own axis, boxes refreshed or not."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from cylcollide.engines import Engine, registry
from cylcollide.engines._bullet_bodies import Construction


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


Options = tuple[tuple[str, Any], ...]
"""Names and values for an engine's constructor."""

EngineOf = Callable[[Setup], Engine]
"""Makes an engine whose limbs are built in the given way. Picklable where it goes to another process."""


def _refuse_settings(setup: Setup) -> None:
    if not setup.is_default:
        raise ValueError(f"setup: expected the default, got {setup.label}; only PyBullet has these settings")


@dataclass(frozen=True)
class PlainEngine:
    """Any engine's class, or another function that makes one; an :data:`EngineOf` for the default setup alone."""

    factory: Callable[[], Engine]
    options: ClassVar[Options] = ()

    @property
    def name(self) -> str:
        """What the engine calls itself."""
        return str(getattr(self.factory, "name", "an engine without a name"))

    def __call__(self, setup: Setup) -> Engine:
        """Return a new engine; ValueError for any other setup."""
        _refuse_settings(setup)
        return self.factory()


@dataclass(frozen=True)
class NamedEngine:
    """An engine of :mod:`cylcollide.engines.registry`, which a saved case can name; for the default setup alone."""

    name: str
    options: Options = ()

    def __call__(self, setup: Setup) -> Engine:
        """Return a new engine; ValueError for any other setup and for an unknown name, ImportError if not installed."""
        _refuse_settings(setup)
        return registry.create(self.name, **dict(self.options))
