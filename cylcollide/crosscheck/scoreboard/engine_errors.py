"""What one engine gets wrong, added up: verdicts, errors of right hits, what a start inside does, and the worst cases.

A segment that starts in a limb, its surface included, is kept out of the verdicts and of the errors: what it should do
is each engine's own choice. `EngineErrors.inside` says what it did. Errors are those of right hits at the scale of
people; the towers and far worlds of the families would hide them, and count by their verdicts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int64Array
from cylcollide.crosscheck.cases.case import BULLET, UNNAMED, Case, case_of
from cylcollide.crosscheck.engine.setup import Setup, as_record
from cylcollide.crosscheck.generate.families import ChunkKey
from cylcollide.crosscheck.judge.comparison import NOT_SETTLED, Comparison, Truth
from cylcollide.crosscheck.judge.disagreements import VERDICTS, Kind
from cylcollide.engines import EngineHits

Cast = Callable[[Float64Array, Float64Array], EngineHits]
"""Casts segments, (n, 3) twice, by the engine."""

Figures = tuple[float, float, float]
"""Median, 99th percentile, greatest; nan if there is nothing to measure."""

PEOPLE = 0.5
"""Metres: the greatest radius for which `Capabilities.accuracy` is stated, and for which errors are measured."""
NEAR = 100.0
"""Metres: the greatest coordinate of limbs and segments whose errors are measured; float32 rounds it by 4 µm."""

POLICIES = ("hit at once", "hit where it leaves", "no hit")
NEARLY_ALL = 0.99
"""Share of starts inside from which a policy is stated as one; shares are given all the same."""


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
class EngineErrors:
    """What is known of one engine, which is made with these options, added up over scenes."""

    engine: str = BULLET
    options: Mapping[str, Any] = field(default_factory=dict)
    rays: int = 0
    wrong: dict[str, Wrong] = field(default_factory=dict)  # by family
    distance: list[Float64Array] = field(default_factory=list)  # metres along the ray, right hits
    normal: list[Float64Array] = field(default_factory=list)  # radians
    policies: list[int] = field(default_factory=lambda: [0] * len(POLICIES))
    worst: dict[tuple[str, Kind], Case] = field(default_factory=dict)
    """The worst wrong verdict of every family and kind, as a case that the engine can be asked again."""

    def add(self, key: ChunkKey, number: int, truth: Truth, reported: EngineHits, cast: Cast) -> None:
        """Compare the answers to a scene, a chunk's ``number``-th; ``cast`` puts one more question to the engine."""
        self.rays += len(truth.start)
        wrong = self.wrong.setdefault(key.family, Wrong())
        both = Comparison(truth, *_usable(reported, len(truth.start), len(truth.limbs)))
        outside = ~truth.hits.started_inside
        wrong.lost += len(both.wrong[Kind.LOST])
        for kind in VERDICTS:
            rows = both.wrong[kind][outside[both.wrong[kind]]]
            proved = truth.confirms(rows)
            wrong.unproved += int((~proved).sum())
            rows = rows[proved]
            if kind == Kind.MISSED:
                alone = [cast(truth.start[[row]], truth.end[[row]]).limb[:1] == truth.hits.limb[row] for row in rows]
                back = np.array([one.all() and len(one) == 1 for one in alone], dtype=np.bool_)
                wrong.lost += int(back.sum())
                rows = rows[~back]
            setattr(wrong, kind.field, getattr(wrong, kind.field) + len(rows))
            self._keep(kind, rows, both, key, number)
        right = both.right_hits[(outside & _at_the_scale_of_people(truth))[both.right_hits]]
        self.distance.append(np.abs(both.distance_error(right)))
        # Where the engine reports no direction there is nothing to compare.
        self.normal.append(np.where(both.theirs.normal[right].any(axis=1), both.tilt(right), np.nan))
        if key.family == "inside-start":
            self._look_inside(both)

    def _keep(self, kind: Kind, rows: Int64Array, both: Comparison, key: ChunkKey, number: int) -> None:
        """Look at the rows that are wrong in one way, and keep the worst if there was none as bad in the family."""
        if not len(rows):
            return
        if kind == Kind.WRONG_LIMB:
            amounts = np.abs(both.distance_error(rows))
        else:
            about = (both.ours if kind == Kind.MISSED else both.theirs).limb[rows]
            amounts = np.abs(both.truth.clearances(rows, about))
        worst = int(np.argmax(amounts))
        known = self.worst.get((key.family, kind))
        if known is not None and amounts[worst] <= (known.amount or 0.0):
            return
        # PyBullet's options are settings, which every other case of it has in its setup.
        setup, options = (Setup(**self.options), {}) if self.engine == BULLET else (Setup(), dict(self.options))
        row = int(rows[worst])
        self.worst[key.family, kind] = case_of(
            both.truth.scene, row, both.ours, both.theirs, family=key.family, seed=key.seed, chunk=key.number,
            scene=number, row=row, kind=kind.label, cause=UNNAMED, setup=as_record(setup), amount=float(amounts[worst]),
            measured=None, bound=None, engine=self.engine, options=options,
        )  # fmt: skip

    def _look_inside(self, both: Comparison) -> None:
        # Where all three policies differ: the segment leaves, and not at its start.
        truth = both.truth
        rows = np.flatnonzero(both.answered & np.isfinite(truth.leaves) & (truth.leaves > 0.0))
        at, leaves = both.theirs.fraction[rows] * truth.length[rows], truth.leaves[rows]
        silent = both.theirs.limb[rows] < 0
        at_once = ~silent & (at <= 0.5 * leaves)  # nearer to the start than to where it leaves
        for policy, did in enumerate((at_once, ~silent & ~at_once, silent)):
            self.policies[policy] += int(did.sum())

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


def _at_the_scale_of_people(truth: Truth) -> BoolArray:
    """Segments whose limbs are that thick and whose coordinates are that small, (n,)."""
    limbs = truth.limbs
    small = limbs.radius.max() <= PEOPLE and np.abs([limbs.p1, limbs.p2]).max() <= NEAR
    near: BoolArray = np.abs([truth.start, truth.end]).max(axis=(0, 2)) <= NEAR
    return near & bool(small)


def _usable(reported: EngineHits, n: int, m: int) -> tuple[EngineHits, BoolArray]:
    """The answers to n segments at m limbs, and which of them are there and mean something."""
    came = min(n, len(reported.limb))
    limb, fraction = np.full(n, NOT_SETTLED, np.int32), np.full(n, np.nan)
    position, normal = np.full((n, 3), np.nan), np.full((n, 3), np.nan)
    for whole, part in ((limb, "limb"), (fraction, "fraction"), (position, "position"), (normal, "normal")):
        whole[:came] = getattr(reported, part)[:came]
    answered = (limb == -1) | ((limb >= 0) & (limb < m) & np.isfinite(fraction))
    return EngineHits(limb, fraction, position, normal), answered
