"""Engines by name: ours, and those of any package that declares an entry point of the group `cylcollide.engines`."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from cylcollide.engines.protocol import Engine

GROUP = "cylcollide.engines"

_MODULE = "cylcollide.engines."
_OURS = {
    "cylcollide": "own:OwnEngine",
    "bullet": "bullet:BulletEngine",
    "mujoco": "mujoco:MujocoEngine",
    "rapier": "rapier:RapierEngine",
    "jolt": "jolt:JoltEngine",
    "embree": "embree:EmbreeEngine",
    "open3d": "open3d:Open3dEngine",
    "coal": "coal:CoalEngine",
    "warp": "warp:WarpEngine",
}
"""The module and the class of each engine of this package."""


def names() -> tuple[str, ...]:
    """Names of all engines, installed or not, our own first."""
    return tuple(_points())


def available() -> dict[str, str | None]:
    """For each engine by name, why it cannot be used here; None if it can.

    Imports every engine's package, which takes a second or two if many are installed.
    """
    reasons: dict[str, str | None] = {}
    for name in names():
        try:
            _factory(name)
        except ImportError as missing:
            reasons[name] = str(missing)
        else:
            reasons[name] = None
    return reasons


def create(name: str, **options: Any) -> Engine:
    """Make an engine, as in ``create("bullet", construction="urdf")``; options are its constructor's.

    ValueError if there is no engine of that name. ImportError if its package is missing; the
    message names the extra to install.
    """
    return _factory(name)(**options)


def variants(name: str) -> dict[str, dict[str, Any]]:
    """Options of :func:`create` for the variants of an engine that are worth comparing, by label.

    An engine lists them in an attribute ``variants``; without one it has a single variant, labelled
    "".

    Raises
    ------
    ValueError, ImportError
        As :func:`create`.
    """
    stated: dict[str, dict[str, Any]] = getattr(_factory(name), "variants", {"": {}})
    return stated


def _factory(name: str) -> Callable[..., Engine]:
    points = _points()
    if name not in points:
        raise ValueError(f"engine: expected one of {', '.join(points)}, got {name!r}")
    try:
        factory: Callable[..., Engine] = points[name].load()
    except AttributeError as wrong:
        raise ImportError(f"engine {name!r}: its entry point names a class that does not exist ({wrong})") from wrong
    return factory


def _points() -> dict[str, EntryPoint]:
    ours = [EntryPoint(name, _MODULE + place, GROUP) for name, place in _OURS.items()]
    return {point.name: point for point in (*ours, *entry_points(group=GROUP))}
