"""cylcollide: exact, fast hit detection on character limbs."""

from importlib import import_module
from typing import TYPE_CHECKING

from cylcollide._types import Doubt, Face, Reason, Shape, Side
from cylcollide._version import __version__
from cylcollide.limbs.limbs import Limbs
from cylcollide.process.signatures import shown_short
from cylcollide.world import HitWorld, Snapshot

if TYPE_CHECKING:
    from cylcollide import quaternions
    from cylcollide.characters.clip import Clip
    from cylcollide.characters.judged import Judged
    from cylcollide.characters.policy import Policy
    from cylcollide.characters.poses import round_poses
    from cylcollide.characters.rig import Rig
    from cylcollide.history import Admission, MissExplanation, PoseHistory, RewindLimits, ViewClock, estimate_time
    from cylcollide.history.flight import FlightPath, flight
    from cylcollide.limbs.explain import Explanation
    from cylcollide.process.info import Info, info, warm_up
    from cylcollide.query.blades import SweptHits
    from cylcollide.query.chords import Chords
    from cylcollide.query.doubts import Doubts
    from cylcollide.query.hits import RayHit, RayHits
    from cylcollide.query.nearest import ClosestPoint, ClosestPoints, NearLimbs
    from cylcollide.query.overlaps import Overlaps
    from cylcollide.query.points import PointHits
    from cylcollide.shotlog.logged import LoggedShot, LoggedShots
    from cylcollide.shotlog.rejudged import Rejudged
    from cylcollide.shotlog.shot_log import ShotLog

__all__ = [
    "Admission",
    "Chords",
    "Clip",
    "ClosestPoint",
    "ClosestPoints",
    "Doubt",
    "Doubts",
    "Explanation",
    "Face",
    "FlightPath",
    "HitWorld",
    "Info",
    "Judged",
    "Limbs",
    "LoggedShot",
    "LoggedShots",
    "MissExplanation",
    "NearLimbs",
    "Overlaps",
    "PointHits",
    "Policy",
    "PoseHistory",
    "RayHit",
    "RayHits",
    "Reason",
    "Rejudged",
    "RewindLimits",
    "Rig",
    "Shape",
    "ShotLog",
    "Side",
    "Snapshot",
    "SweptHits",
    "ViewClock",
    "__version__",
    "estimate_time",
    "flight",
    "info",
    "quaternions",
    "round_poses",
    "warm_up",
]

_LAZY = {
    "characters.clip": ("Clip",),
    "characters.judged": ("Judged",),
    "characters.policy": ("Policy",),
    "characters.poses": ("round_poses",),
    "characters.rig": ("Rig",),
    "history": ("Admission", "MissExplanation", "PoseHistory", "RewindLimits", "ViewClock", "estimate_time"),
    "history.flight": ("FlightPath", "flight"),
    "limbs.explain": ("Explanation",),
    "query.hits": ("RayHit", "RayHits"),
    "query.nearest": ("ClosestPoint", "ClosestPoints", "NearLimbs"),
    "query.overlaps": ("Overlaps",),
    "query.points": ("PointHits",),
    "query.blades": ("SweptHits",),
    "query.doubts": ("Doubts",),
    "query.chords": ("Chords",),
    "process.info": ("Info", "info", "warm_up"),
    "shotlog.logged": ("LoggedShot", "LoggedShots"),
    "shotlog.rejudged": ("Rejudged",),
    "shotlog.shot_log": ("ShotLog",),
}
"""Modules, and their names that are imported at first use."""

_MODULES = {name: module for module, names in _LAZY.items() for name in names}


for _kind in (HitWorld, Limbs, Snapshot):
    shown_short(_kind)


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    if name == "quaternions":
        return import_module(f"{__name__}.quaternions")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = shown_short(getattr(import_module(f"{__name__}.{_MODULES[name]}"), name))
    return value


def __dir__() -> list[str]:
    """All public names."""
    return sorted({*globals(), *__all__})
