"""An engine's answers about a scene, compared with the truth.

The comparison has the differing verdicts, which of these exact arithmetic confirms, and the errors of hits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int64Array
from cylcollide.constants import ROUNDING_BOUND
from cylcollide.crosscheck.compare.disagreements import VERDICTS, Disagreements, Kind
from cylcollide.crosscheck.compare.truth import UNRESOLVED, Truth
from cylcollide.crosscheck.engine import BulletClient
from cylcollide.engines import Engine, EngineHits
from cylcollide.query.hits import RayHits

Cast = Callable[[Float64Array, Float64Array], EngineHits]
"""Casts segments, (n, 3) twice, by the engine."""

UNIT = 1e-6
"""Largest deviation of a unit vector's length from 1: float32 rounds it by a tenth of that."""
MEASURABLE = 1e100
"""Largest number that counts as an answer: the squares of larger ones overflow."""


def build(engine: Engine, truth: Truth) -> None:
    """Build the limbs of a scene in an engine; if the scene has earlier ends, build there and move."""
    scene = truth.scene
    if scene.was is None:
        engine.build(truth.limbs)
    else:
        engine.build(truth.limbs.moved(*scene.was))
        engine.set_endpoints(scene.p1, scene.p2)


def usable(reported: EngineHits, n: int, m: int) -> tuple[EngineHits, BoolArray]:
    """One answer for each of n segments at m limbs, and whether it is usable: a miss, or a limb and a fraction."""
    limb, fraction = np.full(n, float(UNRESOLVED)), np.full(n, np.nan)
    position, normal = np.full((n, 3), np.nan), np.full((n, 3), np.nan)
    for whole, part in ((limb, "limb"), (fraction, "fraction"), (position, "position"), (normal, "normal")):
        came = getattr(reported, part)[:n]
        whole[: len(came)] = came
    for whole in (fraction, position, normal):
        whole[~(np.abs(whole) <= MEASURABLE)] = np.nan
    answered = (limb == -1) | (np.isin(limb, np.arange(m)) & np.isfinite(fraction))
    for whole, silent in ((limb, -1.0), (fraction, np.nan), (position, np.nan), (normal, np.nan)):
        whole[~answered] = silent
    return EngineHits(limb.astype(np.int32), fraction, position, normal), answered


def reported_points(hits: EngineHits, start: Float64Array, end: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Points of reported hits, (n, 3), and distances in metres of the reported positions from them, (n,).

    The point is the position if it agrees with the fraction up to the rounding of float64, else the point at the
    fraction; the distance of a position that is not a number is inf. Rows without a hit are nan.
    """
    at = start + hits.fraction[:, None] * (end - start)
    off: Float64Array = np.linalg.norm(hits.position - at, axis=1)
    agrees = off <= ROUNDING_BOUND * np.abs([start, end]).max(axis=(0, 2), initial=0.0)
    off = np.where(np.isfinite(hits.fraction) & np.isnan(off), np.inf, np.where(agrees, 0.0, off))
    return np.where(agrees[:, None], hits.position, at), off


@dataclass(frozen=True)
class Comparison:
    """Both answers to the segments of a scene; ``answered`` (n,) is False where the engine gave none."""

    truth: Truth
    theirs: EngineHits
    answered: BoolArray
    reports_normal: bool

    @classmethod
    def of(cls, engine: Engine, truth: Truth, *more: Any) -> Self:
        """Build the limbs of a scene in an engine, and cast its segments; ``more``: fields of a subclass."""
        build(engine, truth)
        scene, n = truth.scene, len(truth.start)
        if not (scene.whole_batch and isinstance(engine, BulletClient)):
            reported = engine.cast_segments(truth.start, truth.end)
        else:
            ends = (truth.start.tolist(), truth.end.tolist()) if scene.as_lists else (truth.start, truth.end)
            try:
                results: Sequence[Any] = engine.cast_batch(*ends)
            except Exception:  # PyBullet's own error class: a refused call counts as an answer
                results = ()
            reported = EngineHits.misses(len(results))
            engine.fill(reported, results)
        return cls(truth, *usable(reported, n, len(truth.limbs)), engine.capabilities.normal, *more)

    @property
    def ours(self) -> RayHits:
        """The answers of this library."""
        return self.truth.hits

    @cached_property
    def wrong(self) -> dict[Kind, Int64Array]:
        """The rows with different verdicts, by kind, and lost ones."""
        hit, reported = self.ours.hit & self.answered, self.theirs.limb >= 0
        return {
            Kind.LOST: np.flatnonzero(~self.answered),
            Kind.PHANTOM: np.flatnonzero(reported & ~hit),
            Kind.MISSED: np.flatnonzero(hit & ~reported),
            Kind.WRONG_LIMB: np.flatnonzero(hit & reported & (self.ours.limb != self.theirs.limb)),
        }

    @cached_property
    def own(self) -> RayHits:
        """The true hit of the limb that the engine reports, first or not; of limb 0 where it reports none."""
        limbs = self.truth.limbs[np.maximum(self.theirs.limb, 0)]
        return limbs.cast_segments(self.truth.start, self.truth.end)

    @cached_property
    def crossing(self) -> Int64Array:
        """The rows whose hit reports a limb that the segment crosses, first or not."""
        return np.flatnonzero((self.theirs.limb >= 0) & np.isfinite(self.own.fraction))

    @cached_property
    def aside(self) -> Int64Array:
        """The rows whose hit reports a limb that the segment does not cross, with a normal not of unit length."""
        rows = np.flatnonzero((self.theirs.limb >= 0) & ~np.isfinite(self.own.fraction))
        return rows[self.malformed(rows)]

    @cached_property
    def right_hits(self) -> Int64Array:
        """The rows in which both hit the same limb."""
        return np.flatnonzero(self.ours.hit & (self.ours.limb == self.theirs.limb))

    @cached_property
    def points(self) -> tuple[Float64Array, Float64Array]:
        """Points of the engine's hits, (n, 3), and distances of its positions from them in metres, (n,)."""
        return reported_points(self.theirs, self.truth.start, self.truth.end)

    @cached_property
    def misplaced(self) -> Int64Array:
        """The rows of reported hits whose position contradicts the fraction."""
        return np.flatnonzero((self.theirs.limb >= 0) & (self.points[1] > 0.0))

    @cached_property
    def errors(self) -> dict[Kind, Int64Array]:
        """The rows of reported hits, right or wrong, with errors beyond the rounding of float64, by kind."""
        rows = self.crossing
        early, off = self.distance_error(rows) < 0, self.off(rows)
        normal = np.union1d(rows[self.tilted(rows)], self.aside)
        return {
            Kind.EARLY: rows[off & early],
            Kind.LATE: rows[off & ~early],
            Kind.NORMAL: normal,
            Kind.POSITION: self.misplaced,
        }

    def distance_error(self, rows: Int64Array) -> Float64Array:
        """Metres from the true entry into the limb that a hit reports to the hit; negative if the hit is early."""
        return np.asarray((self.theirs.fraction[rows] - self.own.fraction[rows]) * self.truth.length[rows])

    def off(self, rows: Int64Array) -> BoolArray:
        """Whether hits are early or late, (k,), by more than the rounding of the reported limb.

        Their points lie off its surface, or beyond the place where the segment is deepest in it. For a start inside,
        the distance along the segment counts.
        """
        truth, limb, start, end = self.truth, self.theirs.limb[rows], self.truth.start[rows], self.truth.end[rows]
        solids, rounding = truth.rounded(limb), truth.rounding(rows, limb)
        nearest = solids.least_distance(start, end)
        on_surface = np.abs(solids.signed_distance(self.points[0][rows])) <= rounding
        near_side = (self.theirs.fraction[rows] <= nearest.fraction) | (nearest.distance >= -rounding)
        late = np.abs(self.distance_error(rows)) > rounding
        return np.where(solids.signed_distance(start) <= 0.0, late, ~(on_surface & near_side))

    def tilted(self, rows: Int64Array) -> BoolArray:
        """Whether normals are off by more than the rounding of the point explains, or malformed, (k,)."""
        limbs, limb = self.truth.limbs, self.theirs.limb[rows]
        half = 0.5 * np.linalg.norm(limbs.p2[limb] - limbs.p1[limb], axis=1)
        rounding = self.truth.rounding(rows, limb) / np.minimum(limbs.radius[limb], half)
        off = angle(self.own.normal[rows], self.theirs.normal[rows])
        return np.asarray((off > rounding + 8 * np.finfo(np.float64).eps) | self.malformed(rows))

    def tilt(self, rows: Int64Array) -> Float64Array:
        """Radians between the reported normals and the true ones; nan if the engine reports none.

        A vector that is not of unit length counts as a unit normal at the same distance from the true one. NaN from an
        engine that reports normals counts as the opposite of the true one. If the limb is not crossed, there is no true
        normal, and the reported direction replaces it.
        """
        ours, theirs = self.own.normal[rows], self.theirs.normal[rows]
        if not self.reports_normal:
            return np.full(len(rows), np.nan)
        with np.errstate(invalid="ignore"):
            ours = np.where(np.isnan(ours), theirs / np.linalg.norm(theirs, axis=1, keepdims=True), ours)
        apart = np.linalg.norm(theirs - ours, axis=1)
        as_far = 2.0 * np.arcsin(np.minimum(0.5 * np.where(np.isfinite(apart), apart, 2.0), 1.0))
        return np.where(self.malformed(rows), as_far, angle(ours, theirs))

    def malformed(self, rows: Int64Array) -> BoolArray:
        """Whether the engine should report a normal and it is not a unit vector, (k,)."""
        length = np.linalg.norm(self.theirs.normal[rows], axis=1)
        return np.asarray(self.own.normal[rows].any(axis=1) & ~(np.abs(length - 1.0) <= UNIT) & self.reports_normal)

    def proved(self, found: Disagreements) -> BoolArray:
        """Which disagreements are verdicts of this library that exact arithmetic confirms, (k,)."""
        proved = np.isin(found.kind, VERDICTS)
        proved[proved] = self.truth.confirms(found.row[proved])
        return proved

    def disagreements(self) -> Disagreements:
        """Every wrong verdict, and the errors in distance and in normal of every right hit, including those of 0."""
        right, early = self.right_hits, self.distance_error(self.right_hits) < 0
        of_right = {Kind.EARLY: right[early], Kind.LATE: right[~early], Kind.POSITION: self.misplaced}
        every = self.wrong | of_right | {Kind.NORMAL: right if self.reports_normal else right[:0]}
        return Disagreements.joined([Disagreements.of_kind(rows, k, self.amount(k, rows)) for k, rows in every.items()])

    def amount(self, kind: Kind, rows: Int64Array) -> Float64Array:
        """Amount of the disagreement in rows of a kind, in metres; of normals in radians, (k,)."""
        match kind:
            case Kind.LOST:
                return np.full(len(rows), np.nan)
            case Kind.WRONG_LIMB:
                return np.asarray(np.linalg.norm(self.ours.position[rows] - self.theirs.position[rows], axis=1))
            case Kind.EARLY | Kind.LATE:
                return self.distance_error(rows)
            case Kind.NORMAL:
                return self.tilt(rows)
            case Kind.POSITION:
                return self.points[1][rows]
        return self.clearance(rows)

    def call_of(self, row: int, cast: Cast) -> tuple[int, int]:
        """First row and end of the shortest call in which the engine gives the same answer to a row."""
        n = len(self.answered)
        calls = (row, row + 1), (max(row - 1, 0), row + 1), (row, min(row + 2, n)), (0, row + 1), (0, n)
        return next((call for call in calls if self._is_answered_alike(row, *call, cast)), (0, n))

    def _is_answered_alike(self, row: int, first: int, end: int, cast: Cast) -> bool:
        """Whether the engine's answer to a row has the same bits when only these rows are cast."""
        truth, theirs = self.truth, self.theirs
        again, answered = usable(cast(truth.start[first:end], truth.end[first:end]), end - first, len(truth.limbs))
        same = [
            np.array_equal(getattr(again, name)[row - first], getattr(theirs, name)[row], equal_nan=True)
            for name in ("limb", "fraction", "position", "normal")
        ]
        return bool(answered[row - first] == self.answered[row]) and all(same)

    def clearance(self, rows: Int64Array) -> Float64Array:
        """Metres by which the verdicts of some rows are decided, see ``docs/crosscheck.md``; rows of VERDICTS, (k,)."""
        truth, true, other = self.truth, self.ours.limb[rows], self.theirs.limb[rows]
        clearance = np.empty(len(rows))
        # Missed: the depth of the cut in the limb that the engine misses.
        at = np.flatnonzero(other < 0)
        clearance[at] = -truth.clearances(rows[at], true[at])
        # A limb that the engine reports and the segment misses: the gap between them.
        at = np.flatnonzero(other >= 0)
        reported = truth.limbs[other[at]].cast_segments(truth.start[rows[at]], truth.end[rows[at]])
        apart = at[~reported.hit]
        clearance[apart] = truth.clearances(rows[apart], other[apart])
        # A limb that the segment hits later: its distance behind the first one, or the depth of the cut there, if less.
        behind = at[reported.hit]
        later = (reported.fraction[reported.hit] - self.ours.fraction[rows[behind]]) * truth.length[rows[behind]]
        clearance[behind] = np.minimum(later, -truth.clearances(rows[behind], true[behind]))
        return clearance


def angle(a: Float64Array, b: Float64Array) -> Float64Array:
    """Angles between vectors (n, 3), in radians, (n,)."""
    return np.asarray(np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), np.einsum("ni,ni->n", a, b)))
