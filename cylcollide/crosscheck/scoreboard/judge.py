"""One engine's answers beside the truth: verdicts, errors of right hits, and what a start inside does.

A segment that starts in a limb, its surface included, is kept out of the verdicts and of the errors: what it should do
is each engine's own choice. `Judge.inside` says what it did. Errors are those of right hits at the scale of people; the
towers and far worlds of the families would hide them, and count by their verdicts.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int32Array, Int64Array
from cylcollide.crosscheck.causes.kinds_and_causes import Kind
from cylcollide.crosscheck.causes.ray_geometry import angle
from cylcollide.crosscheck.generate.families.shots import Scene
from cylcollide.crosscheck.judge.exact_truth import exact_first_limbs
from cylcollide.crosscheck.scoreboard.cases import Place, Shelf, Told
from cylcollide.engines import EngineHits
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.hits import RayHits
from cylcollide.world import HitWorld

Ask = Callable[[Float64Array, Float64Array], EngineHits]
"""Puts segments, (n, 3) twice, to an engine."""

Figures = tuple[float, float, float]
"""Median, 99th percentile, greatest; nan if there is nothing to measure."""

UNASKED = -2
"""Stands where exact arithmetic was not asked yet: no limb, and not the -1 of a miss."""

PEOPLE = 0.5
"""Metres: the greatest radius for which `Capabilities.accuracy` is stated, and for which errors are measured."""
NEAR = 100.0
"""Metres: the greatest coordinate of limbs and segments whose errors are measured; float32 rounds it by 4 µm."""

POLICIES = ("hit at once", "hit where it leaves", "no hit")
NEARLY_ALL = 0.99
"""Share of starts inside from which a policy is stated as one; shares are told all the same."""


class Truth:
    """What is true about a scene. Exact arithmetic is asked once a segment, however many engines differ there."""

    def __init__(self, scene: Scene, place: Place | None = None) -> None:
        self.place = place or Place("", 0, 0)
        self.limbs = Limbs.cylinders(scene.p1, scene.p2, scene.radius)
        self.start, self.end = scene.shots.start, scene.shots.end
        self._world = HitWorld(self.limbs)
        self.hits: RayHits = self._world.cast_segments(self.start, self.end, threads=1)
        self.length: Float64Array = np.linalg.norm(self.end - self.start, axis=1)
        self._exact: Int32Array = np.full(len(self.start), UNASKED, np.int32)

    @cached_property
    def at_the_scale_of_people(self) -> BoolArray:
        """Segments whose limbs are that thick and whose coordinates are that small, (n,)."""
        limbs = self.limbs
        small = limbs.radius.max() <= PEOPLE and np.abs([limbs.p1, limbs.p2]).max() <= NEAR
        near: BoolArray = np.abs([self.start, self.end]).max(axis=(0, 2)) <= NEAR
        return near & bool(small)

    @cached_property
    def leaves(self) -> Float64Array:
        """Metres from a start inside to where the segment leaves; inf where it does not, or starts outside, (n,)."""
        out = self._world.cast_segments(self.start, self.end, inside="exit", threads=1)
        return np.where(self.hits.started_inside & out.hit, out.distance, np.inf)

    def confirms(self, rows: Int64Array) -> BoolArray:
        """Whether exact arithmetic over all limbs gives this library's limb."""
        left = rows[self._exact[rows] == UNASKED]
        limbs = self.limbs
        self._exact[left] = exact_first_limbs(self.start[left], self.end[left], limbs.p1, limbs.p2, limbs.radius)
        confirmed: BoolArray = self._exact[rows] == self.hits.limb[rows]
        return confirmed


@dataclass
class Wrong:
    """Wrong verdicts, each proved, and those that were not: these are errors of this library."""

    missed: int = 0
    phantom: int = 0
    wrong_limb: int = 0
    lost: int = 0
    unproved: int = 0

    @property
    def total(self) -> int:
        """All that count against the engine."""
        return self.missed + self.phantom + self.wrong_limb + self.lost


@dataclass
class Judge:
    """What is known of one engine, added up over scenes."""

    rays: int = 0
    wrong: dict[str, Wrong] = field(default_factory=dict)  # by family
    distance: list[Float64Array] = field(default_factory=list)  # metres along the ray, right hits
    normal: list[Float64Array] = field(default_factory=list)  # radians
    policies: list[int] = field(default_factory=lambda: [0] * len(POLICIES))
    shelf: Shelf = field(default_factory=Shelf)

    def add(self, family: str, truth: Truth, told: EngineHits, ask: Ask) -> None:
        """Compare the answers to a scene; ``ask`` puts one more question to the engine."""
        self.rays += len(truth.start)
        wrong = self.wrong.setdefault(family, Wrong())
        limb, fraction, answered = _usable(told, len(truth.start), len(truth.limbs))
        hits, outside = truth.hits, ~truth.hits.started_inside
        wrong.lost += int((~answered).sum())
        rows = np.flatnonzero(answered & outside & (limb != hits.limb))
        proved = truth.confirms(rows)
        wrong.unproved += int((~proved).sum())
        rows = rows[proved]
        silent = rows[limb[rows] < 0]
        alone = [ask(truth.start[[row]], truth.end[[row]]).limb[:1].tolist() == [hits.limb[row]] for row in silent]
        back = np.array(alone, dtype=np.bool_)
        phantoms = rows[hits.limb[rows] < 0]
        others = rows[(hits.limb[rows] >= 0) & (limb[rows] >= 0)]
        wrong.lost += int(back.sum())
        wrong.missed += int((~back).sum())
        wrong.phantom += len(phantoms)
        wrong.wrong_limb += len(others)
        seen = Told(truth.place, truth.limbs, truth.start, truth.end, hits, told)
        for kind, of_kind in ((Kind.MISSED, silent[~back]), (Kind.PHANTOM, phantoms), (Kind.WRONG_LIMB, others)):
            self.shelf.keep(kind, of_kind, seen)
        right = np.flatnonzero(answered & outside & hits.hit & (limb == hits.limb) & truth.at_the_scale_of_people)
        self.distance.append(np.abs(fraction[right] - hits.fraction[right]) * truth.length[right])
        self.normal.append(_tilt(hits.normal[right], told.normal[right]))
        if family == "inside-start":
            self._look_inside(truth, limb, fraction, answered)

    def _look_inside(self, truth: Truth, limb: Int32Array, fraction: Float64Array, answered: BoolArray) -> None:
        # Where all three policies differ: the segment leaves, and not at its start.
        rows = np.flatnonzero(answered & np.isfinite(truth.leaves) & (truth.leaves > 0.0))
        at, leaves = fraction[rows] * truth.length[rows], truth.leaves[rows]
        silent = limb[rows] < 0
        at_once = ~silent & (at <= 0.5 * leaves)  # nearer to the start than to where it leaves
        for policy, said in enumerate((at_once, ~silent & ~at_once, silent)):
            self.policies[policy] += int(said.sum())

    @property
    def inside(self) -> str:
        """What starts inside did, in words, with shares unless all did the same; "" if there were none."""
        total = sum(self.policies)
        order = sorted(range(len(POLICIES)), key=lambda policy: -self.policies[policy])
        parts = [(POLICIES[policy], self.policies[policy] / total) for policy in order if self.policies[policy]]
        if len(parts) <= 1:
            return "".join(words for words, _ in parts)
        shares = ", ".join(f"{words} {100 * share:.3g} %" for words, share in parts)
        return shares if parts[0][1] >= NEARLY_ALL else f"mixed: {shares}"


def figures(parts: list[Float64Array], unit: float) -> Figures:
    """Median, 99 % and greatest of all finite numbers, in a unit."""
    values = np.concatenate([*parts, np.empty(0)])
    values = unit * values[np.isfinite(values)]
    if not len(values):
        return (np.nan, np.nan, np.nan)
    return float(np.median(values)), float(np.percentile(values, 99)), float(values.max())


def _tilt(true: Float64Array, told: Float64Array) -> Float64Array:
    """Angles in radians; nan where the engine tells no direction."""
    return np.where(told.any(axis=1), angle(true, told), np.nan)


def _usable(told: EngineHits, n: int, m: int) -> tuple[Int32Array, Float64Array, BoolArray]:
    """Limb and fraction of n segments, and which of them got an answer that means something."""
    limb, fraction = np.full(n, UNASKED, np.int32), np.full(n, np.nan)
    came = min(n, len(told.limb))
    limb[:came], fraction[:came] = told.limb[:came], told.fraction[:came]
    return limb, fraction, (limb == -1) | ((limb >= 0) & (limb < m) & np.isfinite(fraction))
