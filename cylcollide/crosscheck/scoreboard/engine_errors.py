"""What one engine gets wrong, added up: verdicts, errors of right hits, what a start inside does, and the worst cases.

A segment that starts in a limb, its surface included, is kept out of the verdicts and of the errors: what it should do
is each engine's own choice. `EngineErrors.inside` says what it did. Errors are those of right hits at the scale of
people; the towers and far worlds of the families would hide them, and count by their verdicts.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int64Array
from cylcollide.crosscheck.cases.case import BULLET, Case, called, case_of, plain
from cylcollide.crosscheck.cases.fields import UNNAMED
from cylcollide.crosscheck.engine.setup import Setup
from cylcollide.crosscheck.generate.families import ChunkKey
from cylcollide.crosscheck.judge.comparison import Answers, Comparison, Truth, usable
from cylcollide.crosscheck.judge.disagreements import ERRORS, VERDICTS, Kind
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
    """Wrong verdicts, each proved, and those that were not, which are errors of this library; errors of hits."""

    missed: int = 0
    phantom: int = 0
    wrong_limb: int = 0
    lost: int = 0
    unproved: int = 0
    early: int = 0  # right hits that are off beyond the rounding of float64, at any scale
    late: int = 0
    normal: int = 0
    position: int = 0  # all hits, right or wrong
    moved: int = 0  # verdicts that are right where the limbs are built and wrong where they are moved to

    def count(self, kind: Kind, number: int) -> None:
        """Add to the number of a kind."""
        setattr(self, kind.field, getattr(self, kind.field) + number)

    @property
    def total(self) -> int:
        """All verdicts that count against the engine."""
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
    position: list[Float64Array] = field(default_factory=list)  # metres between position and fraction, all hits
    worst: dict[tuple[str, str], tuple[tuple[bool, float], Case]] = field(default_factory=dict)
    """The worst of every family and way to be wrong: how bad it is, and the case that the engine can be asked again."""

    def add(self, key: ChunkKey, number: int, truth: Truth, answers: Answers, cast: Cast) -> None:
        """Compare the answers to a scene, a chunk's ``number``-th; ``cast`` puts one more question to the engine."""
        self.rays += len(truth.start)
        wrong = self.wrong.setdefault(key.family, Wrong())
        both = Comparison(truth, *answers)
        keep = partial(self._keep, both, key, number, cast)
        outside = ~truth.hits.started_inside
        lost = both.wrong[Kind.LOST]
        wrong.lost += len(lost)
        keep("lost", Kind.LOST, lost, np.zeros(len(lost)))
        for kind in VERDICTS:
            rows = both.wrong[kind][outside[both.wrong[kind]]]
            proved = truth.confirms(rows)
            wrong.unproved += int((~proved).sum())
            rows = rows[proved]
            if kind == Kind.MISSED:
                alone = [cast(truth.start[[row]], truth.end[[row]]).limb[:1] == truth.hits.limb[row] for row in rows]
                back = np.array([one.all() and len(one) == 1 for one in alone], dtype=np.bool_)
                wrong.lost += int(back.sum())
                keep("lost by its place", kind, rows[back], _by_how_much(both, kind, rows[back]))
                rows = rows[~back]
            wrong.count(kind, len(rows))
            keep(kind.field, kind, rows, _by_how_much(both, kind, rows))
        right = both.right_hits[outside[both.right_hits]]
        error, tilt, rounding = both.distance_error(right), both.tilt(right), truth.rounding(right)
        limb = truth.hits.limb[right]
        half = 0.5 * np.linalg.norm(truth.limbs.p2[limb] - truth.limbs.p1[limb], axis=1)
        bent = rounding / np.minimum(truth.limbs.radius[limb], half) + 8 * np.finfo(np.float64).eps
        for kind, off, amount in (
            (Kind.EARLY, error < -rounding, error),
            (Kind.LATE, error > rounding, error),
            (Kind.NORMAL, tilt > bent, tilt),
        ):
            wrong.count(kind, int(off.sum()))
            keep(kind.field, kind, right[off], amount[off])
        wrong.count(Kind.POSITION, len(both.misplaced))
        keep("position", Kind.POSITION, both.misplaced, both.points[1][both.misplaced])
        near = _at_the_scale_of_people(truth)
        self.distance.append(np.abs(error[near[right]]))
        self.normal.append(tilt[near[right]])
        self.position.append(both.points[1][near & (both.theirs.limb >= 0)])
        if key.family == "inside-start":
            self._look_inside(both)

    def add_moved(self, key: ChunkKey, number: int, still: Answers, moved: Truth, answers: Answers, cast: Cast) -> None:
        """Compare the answers after limbs were moved into a scene with those of ``still``, where they were built."""
        both, wrong = Comparison(moved, *answers), self.wrong[key.family]
        right_before = still.answered & (still.hits.limb == moved.hits.limb) & ~moved.hits.started_inside
        for kind in (*VERDICTS, Kind.LOST):
            rows = both.wrong[kind][right_before[both.wrong[kind]]]
            rows = rows[moved.confirms(rows)]
            wrong.moved += len(rows)
            self._keep(
                both, key, number, cast, f"{kind.field} after a move", kind, rows, _by_how_much(both, kind, rows)
            )

    def _keep(
        self,
        both: Comparison,
        key: ChunkKey,
        number: int,
        cast: Cast,
        way: str,
        kind: Kind,
        rows: Int64Array,
        amounts: Float64Array,
    ) -> None:
        """Look at the rows that are wrong in one way, and keep the worst if there was none as bad in the family.

        An error at the scale of people is worse than one elsewhere. Where the segment alone is answered otherwise, the
        case holds the others of its call, as few as will do.
        """
        if not len(rows):
            return
        truth, size = both.truth, np.nan_to_num(np.abs(amounts), posinf=np.inf)
        near = np.full(len(rows), True) if kind not in ERRORS else _at_the_scale_of_people(truth)[rows]
        worst = int(np.argmax(np.where(near | ~near.any(), size, -1.0)))
        rank = bool(near.any()), float(size[worst])
        if (key.family, way) in self.worst and rank <= self.worst[key.family, way][0]:
            return
        # PyBullet's options are settings, which every other case of it has in its setup.
        setup, options = (Setup(**self.options), {}) if self.engine == BULLET else (Setup(), dict(self.options))
        row, n = int(rows[worst]), len(truth.start)
        calls = (row, row + 1), (max(row - 1, 0), row + 1), (row, min(row + 2, n)), (0, row + 1), (0, n)
        first, end = next((call for call in calls if _answered_alike(both, row, *call, cast)), (0, n))
        of_call = {"measured": float(both.answered.sum()), "bound": float(n)} if kind == Kind.LOST else {}
        self.worst[key.family, way] = rank, case_of(
            truth.scene, row, both.ours, both.theirs, family=key.family, seed=key.seed, chunk=key.number,
            scene=number, row=row, kind=kind.label, cause=UNNAMED, setup=asdict(setup), amount=plain(amounts[worst]),
            engine=self.engine, options=options, **{"measured": None, "bound": None, **of_call},
            **called(truth.scene, row, first, end),
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


def _by_how_much(both: Comparison, kind: Kind, rows: Int64Array) -> Float64Array:
    """Metres by which the verdicts of a kind are wrong, (k,)."""
    if kind == Kind.WRONG_LIMB:
        return np.abs(both.distance_error(rows))
    if kind == Kind.LOST or not len(rows):  # of none the search alone would take milliseconds
        return np.zeros(len(rows))
    return np.abs(both.truth.clearances(rows, (both.ours if kind == Kind.MISSED else both.theirs).limb[rows]))


def _answered_alike(both: Comparison, row: int, first: int, end: int, cast: Cast) -> bool:
    """Whether the engine says the same about a row when it is asked about these alone, to the last bit."""
    truth = both.truth
    again, answered, _ = usable(cast(truth.start[first:end], truth.end[first:end]), end - first, len(truth.limbs))
    same = [
        np.array_equal(getattr(again, name)[row - first], getattr(both.theirs, name)[row], equal_nan=True)
        for name in ("limb", "fraction", "position", "normal")
    ]
    return bool(answered[row - first] == both.answered[row]) and all(same)
