"""Plans of a run: the humanoid at poses of its motions, or families of segments with the causes of disagreements."""

import hashlib
import json
import math
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version

from cylcollide._version import __version__
from cylcollide.bullet.humanoid import load_motions
from cylcollide.crosscheck.cases.case import BULLET
from cylcollide.crosscheck.engine import DEFAULT, BulletClient, EngineOf, NamedEngine
from cylcollide.crosscheck.generate.bullets import SweepPoses, draw_pose, spread_poses
from cylcollide.crosscheck.generate.families import (
    BATCH_LIMITS,
    FAMILIES,
    LEAST,
    OF_PYBULLET_ONLY,
    ChunkKey,
    draw_chunk,
    fitting,
)
from cylcollide.crosscheck.generate.shots import ShotScene
from cylcollide.crosscheck.records import JsonObject

CHUNK = 6000
"""Segments of a family in a chunk: a fraction of a second, so that little is lost if a sweep stops."""
POSES_IN_CHUNK = 5
MOST_RAYS = 100_000_000
"""A pose of a sweep is drawn and cast at once: with this many bullets, each pose has a million."""
MOST_SEED = 2**63 - 1
"""The largest int64."""
LAYOUT = 6
"""Version of the chunks: raised if their columns or records change."""
TRIED = 40
"""Number of cases of every cause on which the interventions are run."""


def own_versions(**engine: str) -> dict[str, str]:
    """Versions of this library, of an engine, and of all packages that take part."""
    numpy = version("numpy")
    return {"cylcollide": __version__, **engine, "numpy": numpy, "python": platform.python_version()}


class _Run:
    """The common part of plans; equal plans with equal versions give equal results. Picklable."""

    rays: int
    seed: int
    engine_of: EngineOf

    def _check(self) -> None:
        for name, value, least, most in (("rays", self.rays, 1, MOST_RAYS), ("seed", self.seed, 0, MOST_SEED)):
            if not least <= value <= most:
                bound = f"least {least}" if value < least else f"most {most:,}"
                raise ValueError(f"{name} must be at {bound}, got {value}")

    @property
    def engine_fields(self) -> JsonObject:
        """The engine, as fields of a case."""
        maker = self.engine_of
        if not isinstance(maker, NamedEngine):
            return {"engine": BULLET}
        return {"engine": maker.name, "options": dict(maker.options)}

    def engine(self) -> tuple[str, dict[str, str]]:
        """Name of the engine, and the versions of all packages that take part."""
        with self.engine_of(DEFAULT) as probe:
            return probe.name, own_versions(**probe.versions)


@dataclass(frozen=True)
class PosesPlan(_Run):
    """Bullets at the humanoid: ``rays``, distributed evenly over poses of the ``motions``; none means all."""

    rays: int
    seed: int
    motions: tuple[str, ...] = ()
    engine_of: EngineOf = BulletClient
    poses: SweepPoses = field(init=False, repr=False, compare=False)
    tried = 0
    not_tried = ()
    finds_causes = False
    name = "poses"
    thing = "bullet"  # the name of a segment in texts

    def __post_init__(self) -> None:
        """Check the numbers, and pose the humanoid, which checks the motions."""
        self._check()
        object.__setattr__(self, "poses", spread_poses(self.motions))

    @property
    def keys(self) -> list[ChunkKey]:
        """The chunks, each of some consecutive poses; the family in their keys is the name of the plan."""
        count = math.ceil(len(self.poses.motion) / POSES_IN_CHUNK)
        return [ChunkKey(self.name, self.seed, number) for number in range(count)]

    def draw(self, key: ChunkKey) -> Sequence[ShotScene]:
        """Draw the bullets at the poses of a chunk."""
        first = POSES_IN_CHUNK * key.number
        last = min(first + POSES_IN_CHUNK, len(self.poses.motion))
        return [draw_pose(self.poses, pose, self.rays, self.seed) for pose in range(first, last)]

    @property
    def settings(self) -> JsonObject:
        """The settings that determine a chunk besides its key, the engine and the versions, for JSON."""
        return {"rays": self.rays, "motions": list(dict.fromkeys(self.poses.motion))}

    @property
    def options(self) -> list[str]:
        """The options of the command line for this plan; without the motions if all are played."""
        motions = dict.fromkeys(self.poses.motion)
        chosen = [] if list(motions) == list(load_motions()) else [f"--motion {name}" for name in motions]
        return [f"--rays {self.rays}", f"--seed {self.seed}", *chosen]


@dataclass(frozen=True)
class FamiliesPlan(_Run):
    """About ``rays`` segments of ``families``; interventions are run on ``tried`` cases of every cause."""

    families: tuple[str, ...]
    rays: int
    seed: int
    engine_of: EngineOf = BulletClient
    tried: int = TRIED
    finds_causes = True
    name = "families"
    thing = "segment"

    def __post_init__(self) -> None:
        """Check the numbers and names."""
        self._check()
        unknown = [family for family in self.families if family not in FAMILIES]
        if unknown:
            raise ValueError(f"expected families out of all, {', '.join(FAMILIES)}, got {unknown[0]!r}")
        if self.engine_of is not BulletClient and (only := OF_PYBULLET_ONLY.keys() & self.families):
            raise ValueError(f"families: expected those for any engine, got {sorted(only)[0]!r}, for PyBullet only")
        if not self.keys:
            raise ValueError(f"rays: expected at least {LEAST:,}, half a call of {self.families[0]}, got {self.rays:,}")

    def size_of(self, family: str) -> int:
        """Segments in a chunk of one of the families; 0 if it is not tried, because its share is too small."""
        chunks = self._chunks(family)
        return math.ceil(self._each(family) / chunks) if chunks else 0

    @property
    def settings(self) -> JsonObject:
        """The settings that determine a chunk besides its key, the engine and the versions, for JSON."""
        return {"sizes": {family: self.size_of(family) for family in self.families}}

    @property
    def options(self) -> list[str]:
        """The options of the command line for this plan; families by name, unless all are wanted."""
        ordered = sorted(self.families, key=lambda family: (not self.size_of(family), FAMILIES.index(family)))
        named = ["all"] if len(ordered) == len(FAMILIES) else ordered
        return [*(f"--families {family}" for family in named), f"--rays {self.rays}", f"--seed {self.seed}"]

    @property
    def not_tried(self) -> list[JsonObject]:
        """Families whose calls are larger than an even share, and the ``rays`` that they would need."""
        rays = LEAST * len(self.families)
        return [{"family": family, "rays": rays} for family in self.families if not self.size_of(family)]

    @property
    def keys(self) -> list[ChunkKey]:
        """The chunks, family by family."""
        wanted = [family for family in FAMILIES if family in self.families]
        return [ChunkKey(family, self.seed, n) for family in wanted for n in range(self._chunks(family))]

    def draw(self, key: ChunkKey) -> Sequence[ShotScene]:
        """Draw one chunk."""
        return draw_chunk(key, self.size_of(key.family))

    def _each(self, family: str) -> int:
        """Segments of a family: an even share, rounded to whole calls for `BATCH_LIMITS`; the others share the rest."""
        whole = fitting(self.rays // len(self.families))
        if family == BATCH_LIMITS:
            return whole
        calls = self.families.count(BATCH_LIMITS)
        return max(1, (self.rays - whole * calls) // (len(self.families) - calls))

    def _chunks(self, family: str) -> int:
        if family == BATCH_LIMITS:
            return min(1, self._each(family))
        return max(1, round(self._each(family) / CHUNK))


Plan = PosesPlan | FamiliesPlan


def stamp(plan: Plan, engine: str, versions: dict[str, str]) -> JsonObject:
    """The stamp of kept chunks, which must be equal to use them again."""
    maker = hashlib.sha256(repr(plan.engine_of).encode()).hexdigest()[:16]
    what = {"layout": LAYOUT, **plan.settings, "engine": engine, "versions": versions, "maker": maker}
    return dict(json.loads(json.dumps(what)))
