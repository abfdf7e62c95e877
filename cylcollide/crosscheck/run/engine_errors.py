"""Sums the errors of one engine: verdicts, errors of right hits, the treatment of starts inside, and the worst cases.

A segment that starts in a limb, including its surface, counts only in `EngineErrors.inside`: each engine has its own
policy. Figures are those of right hits at human scale, which huge limbs and far worlds would hide.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int64Array
from cylcollide.crosscheck.cases.case import BULLET, UNNAMED, Case, case_at
from cylcollide.crosscheck.compare.comparison import Cast, Comparison
from cylcollide.crosscheck.compare.disagreements import ERRORS, VERDICTS, Kind
from cylcollide.crosscheck.compare.truth import Truth
from cylcollide.crosscheck.engine import Setup
from cylcollide.crosscheck.generate.families import ChunkKey
from cylcollide.crosscheck.records import plain

PEOPLE = 0.5
"""Metres: largest radius for which `Capabilities.accuracy` is stated, and for which errors are measured."""
NEAR = 100.0
"""Metres: largest coordinate of limbs and segments whose errors are measured; float32 rounds it by 4 µm."""

POLICIES = ("hit at once", "hit where it leaves", "no hit")
NEARLY_ALL = 0.99
"""Least share of starts inside for which one policy is stated as the engine's, together with the shares."""


class EngineErrors:
    """The errors of one engine, made with these options, summed over scenes."""

    def __init__(self, engine: str, options: Mapping[str, Any]) -> None:
        self.engine, self.options, self.rays = engine, dict(options), 0
        # By family, the number of errors of each kind; verdicts are proved, else they count as `unproved`.
        self.wrong: dict[str, Counter[str]] = defaultdict(Counter)
        # For right hits `distance` along the ray in metres and `normal` in radians; for all hits `position` in metres.
        self.off: dict[str, list[Float64Array]] = defaultdict(list)
        self.policies = [0] * len(POLICIES)
        # For every family and kind of error, the rank of the worst one, and its case, which can be cast again.
        self.worst: dict[tuple[str, str], tuple[tuple[bool, float], Case]] = {}

    def add(self, key: ChunkKey, number: int, both: Comparison, cast: Cast) -> None:
        """Count the errors in a chunk's ``number``-th scene; ``cast`` casts more segments in the engine."""
        truth, outside, count = both.truth, ~both.ours.started_inside, partial(self._count, key, number, both, cast)
        self.rays += len(truth.start)
        count("lost", Kind.LOST, both.wrong[Kind.LOST])
        for kind in VERDICTS:
            rows = both.wrong[kind][outside[both.wrong[kind]]]
            proved = truth.confirms(rows)
            self.wrong[key.family]["unproved"] += int((~proved).sum())
            rows = rows[proved]
            if kind == Kind.MISSED:
                alone = [cast(truth.start[[row]], truth.end[[row]]).limb[:1] == truth.hits.limb[row] for row in rows]
                back = np.array([one.all() and len(one) == 1 for one in alone], dtype=np.bool_)
                count("lost", kind, rows[back], "lost by its place")
                rows = rows[~back]
            count(kind.field, kind, rows)
        for kind, rows in both.errors.items():
            count(kind.field, kind, rows if kind == Kind.POSITION else rows[outside[rows]])
        near = _at_the_scale_of_people(truth)
        right = both.right_hits[(outside & near)[both.right_hits]]
        self.off["distance"].append(np.abs(both.distance_error(right)))
        self.off["normal"].append(both.tilt(right))
        self.off["position"].append(both.points[1][near & (both.theirs.limb >= 0)])
        if key.family == "inside-start":
            self._look_inside(both)

    def add_moved(self, key: ChunkKey, number: int, still: Comparison, both: Comparison, cast: Cast) -> None:
        """Count answers that are wrong after limbs were moved into a scene, but right in ``still``, without a move."""
        right_before = still.answered & (still.theirs.limb == both.ours.limb) & ~both.ours.started_inside
        for kind in (*VERDICTS, Kind.LOST):
            rows = both.wrong[kind][right_before[both.wrong[kind]]]
            rows = rows[both.truth.confirms(rows)]
            self._count(key, number, both, cast, "moved", kind, rows, f"{kind.field} after a move")

    def _count(
        self, key: ChunkKey, number: int, both: Comparison, cast: Cast, counted: str, kind: Kind, rows: Int64Array,
        way: str = "",
    ) -> None:  # fmt: skip
        """Count rows with one kind of error, and keep the worst of the family: errors at human scale come first."""
        truth, place = both.truth, (key.family, way or kind.field)
        self.wrong[key.family][counted] += len(rows)
        if not len(rows):
            return
        # For a wrong limb the size is the distance along the segment; a loss has no size.
        amounts = both.amount(kind, rows)
        if kind == Kind.WRONG_LIMB:
            amounts = np.abs(both.theirs.fraction[rows] - both.ours.fraction[rows]) * truth.length[rows]
        amounts = np.zeros(len(rows)) if kind == Kind.LOST else amounts
        size = np.nan_to_num(np.abs(amounts), posinf=np.inf)
        near = np.full(len(rows), True) if kind not in ERRORS else _at_the_scale_of_people(truth)[rows]
        worst = int(np.argmax(np.where(near | ~near.any(), size, -1.0)))
        rank = bool(near.any()), float(size[worst])
        if place in self.worst and rank <= self.worst[place][0]:
            return
        row, n = int(rows[worst]), len(truth.start)
        # PyBullet's options are settings, which are in the setup of all its cases.
        setup, options = (Setup(**self.options), {}) if self.engine == BULLET else (Setup(), dict(self.options))
        of_call = (float(both.answered.sum()), float(n)) if kind == Kind.LOST else (None, None)
        self.worst[place] = rank, case_at(
            both, row, cast, family=key.family, seed=key.seed, chunk=key.number, scene=number, row=row,
            kind=kind.label, cause=UNNAMED, setup=setup, engine=self.engine, options=options,
            amount=plain(amounts[worst]), measured=of_call[0], bound=of_call[1],
        )  # fmt: skip

    def _look_inside(self, both: Comparison) -> None:
        # Segments for which all three policies differ: those that leave, and not at their start.
        truth = both.truth
        rows = np.flatnonzero(both.answered & np.isfinite(truth.leaves) & (truth.leaves > 0.0))
        at, leaves = both.theirs.fraction[rows] * truth.length[rows], truth.leaves[rows]
        silent = both.theirs.limb[rows] < 0
        at_once = ~silent & (at <= 0.5 * leaves)  # nearer to the start than to the exit
        for policy, did in enumerate((at_once, ~silent & ~at_once, silent)):
            self.policies[policy] += int(did.sum())

    @property
    def inside(self) -> str:
        """The results of starts inside, in words, with shares unless all are equal; "" if there were none."""
        total = sum(self.policies)
        order = sorted(range(len(POLICIES)), key=lambda policy: -self.policies[policy])
        parts = [(POLICIES[policy], self.policies[policy] / total) for policy in order if self.policies[policy]]
        if len(parts) <= 1:
            return "".join(words for words, _ in parts)
        shares = ", ".join(f"{words} {100 * share:.3g} %" for words, share in parts)
        return shares if parts[0][1] >= NEARLY_ALL else f"mixed: {shares}"


def _at_the_scale_of_people(truth: Truth) -> BoolArray:
    """Whether limbs and coordinates of each segment are within `PEOPLE` and `NEAR`, (n,)."""
    limbs = truth.limbs
    small = limbs.radius.max() <= PEOPLE and np.abs([limbs.p1, limbs.p2]).max() <= NEAR
    near: BoolArray = np.abs([truth.start, truth.end]).max(axis=(0, 2)) <= NEAR
    return near & bool(small)
