"""cylcollide: exact, fast hit detection on character limbs."""

from cylcollide._types import Face, Shape, Side
from cylcollide.characters.clip import Clip
from cylcollide.characters.rig import Rig
from cylcollide.limbs.explain import Explanation
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.hits import Chords, PointHits, RayHit, RayHits
from cylcollide.warm_up.warm_up import WarmUp, warm_up
from cylcollide.world import HitWorld, Snapshot

__version__ = "0.1.0"

__all__ = [
    "Chords",
    "Clip",
    "Explanation",
    "Face",
    "HitWorld",
    "Limbs",
    "PointHits",
    "RayHit",
    "RayHits",
    "Rig",
    "Shape",
    "Side",
    "Snapshot",
    "WarmUp",
    "__version__",
    "warm_up",
]
