"""cylcollide: exact, fast hit detection on character limbs."""

from cylcollide._types import Face, Reason, Shape, Side
from cylcollide._version import __version__
from cylcollide.characters.clip import Clip
from cylcollide.characters.judged import Judged
from cylcollide.characters.policy import Policy
from cylcollide.characters.rig import Rig
from cylcollide.history import MissExplanation, PoseHistory, RewindLimits, estimate_time
from cylcollide.history.flight import FlightPath, flight
from cylcollide.limbs.explain import Explanation
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.hits import RayHit, RayHits
from cylcollide.query.point_hits import PointHits
from cylcollide.query.ray_chords import Chords
from cylcollide.warm_up.warm_up import WarmUp, warm_up
from cylcollide.world import HitWorld, Snapshot

__all__ = [
    "Chords",
    "Clip",
    "Explanation",
    "Face",
    "FlightPath",
    "HitWorld",
    "Judged",
    "Limbs",
    "MissExplanation",
    "PointHits",
    "Policy",
    "PoseHistory",
    "RayHit",
    "RayHits",
    "Reason",
    "RewindLimits",
    "Rig",
    "Shape",
    "Side",
    "Snapshot",
    "WarmUp",
    "__version__",
    "estimate_time",
    "flight",
    "warm_up",
]
