"""The one judge: an engine's answers about a scene beside the truth.

It says which verdicts differ and which of these exact arithmetic confirms, and of hits on the right limb the errors.
"""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int32Array, Int64Array
from cylcollide.constants import ROUNDING_BOUND
from cylcollide.crosscheck.engine import BulletClient
from cylcollide.crosscheck.generate.shots import ShotScene
from cylcollide.crosscheck.judge.disagreements import VERDICTS, Disagreements, Kind
from cylcollide.crosscheck.judge.rounded_cylinder import Rounded, least_distance
from cylcollide.engines import Engine, EngineHits
from cylcollide.exact.cylinder import Cylinder
from cylcollide.exact.line import RayNumbers
from cylcollide.exact.order import Chord, closest
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.hits import RayHits
from cylcollide.world import HitWorld


def exact_first_limbs(
    starts: Float64Array, ends: Float64Array, p1: Float64Array, p2: Float64Array, radius: Float64Array
) -> Int32Array:
    """The limb that each closed segment (n, 3) meets first out of m limbs, -1 for none, in rational arithmetic, (n,).

    Metres, taken as the exact numbers they are; limbs met at the same point are ordered by their index.
    """
    limbs = solids(p1.tolist(), p2.tolist(), radius.tolist())
    first = [exact_hit(start, end, limbs) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    return np.array([-1 if hit is None else hit[0] for hit in first], dtype=np.int32)


def solids(p1: Iterable[Any], p2: Iterable[Any], radius: Iterable[float]) -> list[tuple[int, Cylinder]]:
    """The limbs as exact arithmetic holds them, with their indices."""
    ends = zip(p1, p2, radius, strict=True)
    return [(index, Cylinder(tuple(a), tuple(b), r)) for index, (a, b, r) in enumerate(ends)]


def exact_hit(start: Any, end: Any, limbs: list[tuple[int, Cylinder]]) -> tuple[int, Chord] | None:
    """The limb that a closed segment meets first, and its way through it; None for a miss."""
    hit, _ = closest(RayNumbers(tuple(start), tuple(end), True, 1.0), limbs, "hit")
    return hit


def clearances(
    starts: Float64Array, ends: Float64Array, p1: Float64Array, p2: Float64Array, radius: Float64Array
) -> Float64Array:
    """Return the least signed distance of each segment from its own cylinder, in metres, (n,).

    Positive is the gap of a segment that misses; negative the depth to which a segment cuts in, measured from the
    nearest face. All arguments row by row: (n, 3) in metres, ``radius`` (n,).
    """
    none = np.zeros(len(starts))
    solids = Rounded(np.ascontiguousarray(p1), np.ascontiguousarray(p2), np.ascontiguousarray(radius), none, none)
    return least_distance(solids, np.ascontiguousarray(starts), np.ascontiguousarray(ends)).distance


UNIT = 1e-6
"""By how much a unit vector's length may differ from 1: float32 rounds it by a tenth of that."""
MEASURABLE = 1e100
"""Greatest number that an engine can mean: the squares of greater ones overflow."""
NOT_SETTLED = -2
"""Stands where exact arithmetic has not settled the limb yet: no limb, and not the -1 of a miss."""


class Truth:
    """What is true about a scene. Exact arithmetic settles a segment once, however many engines differ there.

    ``hits`` are this library's answers, ``length`` is that of the segments in metres, (n,).
    """

    def __init__(self, scene: ShotScene) -> None:
        self.scene = scene
        self.limbs = Limbs.cylinders(scene.p1, scene.p2, scene.radius)
        self.start, self.end = scene.shots.start, scene.shots.end
        self._world = HitWorld(self.limbs)
        self.hits: RayHits = self._world.cast_segments(self.start, self.end)
        self.length: Float64Array = np.linalg.norm(self.end - self.start, axis=1)
        self._exact: Int32Array = np.full(len(self.start), NOT_SETTLED, np.int32)

    @cached_property
    def leaves(self) -> Float64Array:
        """Metres from a start inside to where the segment leaves; inf where it does not, or starts outside, (n,)."""
        out = self._world.cast_segments(self.start, self.end, inside="exit")
        return np.where(self.hits.started_inside & out.hit, out.distance, np.inf)

    def confirms(self, rows: Int64Array) -> BoolArray:
        """Whether exact arithmetic over all limbs gives this library's limb."""
        left = rows[self._exact[rows] == NOT_SETTLED]
        limbs = self.limbs
        self._exact[left] = exact_first_limbs(self.start[left], self.end[left], limbs.p1, limbs.p2, limbs.radius)
        return np.asarray(self._exact[rows] == self.hits.limb[rows])

    def rounding(self, rows: Int64Array) -> Float64Array:
        """Metres that float64 leaves open about true hits: the bound that this library's kernels are proved to keep."""
        limbs, limb = self.limbs, self.hits.limb[rows]
        points = np.abs([self.start[rows], self.end[rows], limbs.p1[limb], limbs.p2[limb]])
        half: Float64Array = 0.5 * np.linalg.norm(limbs.p2[limb] - limbs.p1[limb], axis=1)
        extent: Float64Array = points.max(axis=(0, 2), initial=0.0) + limbs.radius[limb] + half
        return ROUNDING_BOUND * extent

    def moved_from(self, p1: Float64Array, p2: Float64Array) -> "Truth":
        """The same about limbs that an engine is built with at other ends, and moves; nothing is computed anew."""
        moved = copy(self)
        moved.scene = replace(self.scene, was=(p1, p2))
        return moved

    def clearances(self, rows: Int64Array, limb: Int32Array) -> Float64Array:
        """Least signed distance in metres of some segments from a limb each, (k,): the gap, or < 0 the cut."""
        limbs = self.limbs
        return clearances(self.start[rows], self.end[rows], limbs.p1[limb], limbs.p2[limb], limbs.radius[limb])


class Answers(NamedTuple):
    """What an engine says about n segments."""

    hits: EngineHits
    answered: BoolArray
    """Which segments got an answer that means something: a miss, or a limb that is there and a finite fraction."""
    tells_normal: bool = True


def engine_answers(engine: Engine, truth: Truth) -> Answers:
    """Let an engine hold the limbs of a scene, moved there if the scene says so, and cast the scene's segments."""
    scene, limbs = truth.scene, truth.limbs
    if scene.was is None:
        engine.build(limbs)
    else:
        engine.build(limbs.moved(*scene.was))
        engine.set_endpoints(scene.p1, scene.p2)
    if not (scene.whole_batch and isinstance(engine, BulletClient)):
        reported = engine.cast_segments(truth.start, truth.end)
    else:
        ends = (truth.start.tolist(), truth.end.tolist()) if scene.as_lists else (truth.start, truth.end)
        try:
            told: Sequence[Any] = engine.cast_batch(*ends)
        except Exception:  # PyBullet's own error class: the call is refused, which is an answer too
            told = ()
        reported = engine.as_hits(told, len(told))
    return usable(reported, len(truth.start), len(limbs), engine.capabilities.normal)


def usable(reported: EngineHits, n: int, m: int, tells_normal: bool = True) -> Answers:
    """The answers to n segments at m limbs, as long as there are segments, and which of them mean something."""
    limb, fraction = np.full(n, float(NOT_SETTLED)), np.full(n, np.nan)
    position, normal = np.full((n, 3), np.nan), np.full((n, 3), np.nan)
    for whole, part in ((limb, "limb"), (fraction, "fraction"), (position, "position"), (normal, "normal")):
        came = getattr(reported, part)[:n]
        whole[: len(came)] = came
    for whole in (fraction, position, normal):
        whole[~(np.abs(whole) <= MEASURABLE)] = np.nan
    answered = (limb == -1) | (np.isin(limb, np.arange(m)) & np.isfinite(fraction))
    for whole, silent in ((limb, -1.0), (fraction, np.nan), (position, np.nan), (normal, np.nan)):
        whole[~answered] = silent
    return Answers(EngineHits(limb.astype(np.int32), fraction, position, normal), answered, tells_normal)


def points_told(hits: EngineHits, start: Float64Array, end: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Where the reported hits of some segments are, (n, 3), and metres by which their positions contradict that, (n,).

    It is the position, where the fraction leads to it up to the rounding of float64, else the point at the fraction; a
    position that is no number contradicts by inf. Rows without a hit hold nan.
    """
    at = start + hits.fraction[:, None] * (end - start)
    off: Float64Array = np.linalg.norm(hits.position - at, axis=1)
    agrees = off <= ROUNDING_BOUND * np.abs([start, end]).max(axis=(0, 2), initial=0.0)
    off = np.where(np.isfinite(hits.fraction) & np.isnan(off), np.inf, np.where(agrees, 0.0, off))
    return np.where(agrees[:, None], hits.position, at), off


@dataclass(frozen=True)
class Comparison:
    """Both answers about the segments of a scene; ``answered`` (n,) is False where the engine gave none."""

    truth: Truth
    theirs: EngineHits
    answered: BoolArray
    tells_normal: bool

    @property
    def ours(self) -> RayHits:
        """The answers of this library."""
        return self.truth.hits

    @cached_property
    def wrong(self) -> dict[Kind, Int64Array]:
        """The rows whose verdicts differ, by kind, and those that are lost."""
        hit, reported = self.ours.hit & self.answered, (self.theirs.limb >= 0) & self.answered
        return {
            Kind.LOST: np.flatnonzero(~self.answered),
            Kind.PHANTOM: np.flatnonzero(reported & ~hit),
            Kind.MISSED: np.flatnonzero(hit & ~reported),
            Kind.WRONG_LIMB: np.flatnonzero(hit & reported & (self.ours.limb != self.theirs.limb)),
        }

    @cached_property
    def right_hits(self) -> Int64Array:
        """The rows where both hit the same limb."""
        return np.flatnonzero(self.ours.hit & self.answered & (self.ours.limb == self.theirs.limb))

    @cached_property
    def points(self) -> tuple[Float64Array, Float64Array]:
        """Where the engine's hits are, (n, 3), and how far its positions are from there in metres, (n,)."""
        return points_told(self.theirs, self.truth.start, self.truth.end)

    @cached_property
    def misplaced(self) -> Int64Array:
        """The rows whose position contradicts the fraction, of all that are reported as hits."""
        return np.flatnonzero(self.answered & (self.theirs.limb >= 0) & (self.points[1] > 0.0))

    def distance_error(self, rows: Int64Array) -> Float64Array:
        """Metres by which the engine's hit lies behind the true one, < 0 before it."""
        return np.asarray((self.theirs.fraction[rows] - self.ours.fraction[rows]) * self.truth.length[rows])

    def tilt(self, rows: Int64Array) -> Float64Array:
        """Radians between both normals; nan where the engine tells none.

        What is no unit vector counts as the unit normal that would be as far from the true one; what is no number at
        all, of an engine that tells normals, as the opposite of the true one.
        """
        ours, theirs = self.ours.normal[rows], self.theirs.normal[rows]
        if not self.tells_normal:
            return np.full(len(rows), np.nan)
        apart = np.linalg.norm(theirs - ours, axis=1)
        as_far = 2.0 * np.arcsin(np.minimum(0.5 * np.where(np.isfinite(apart), apart, 2.0), 1.0))
        return np.where(self.malformed(rows), as_far, angle(ours, theirs))

    def malformed(self, rows: Int64Array) -> BoolArray:
        """Whether the normal is no unit vector where there is one to tell, (k,)."""
        length = np.linalg.norm(self.theirs.normal[rows], axis=1)
        return np.asarray(self.ours.normal[rows].any(axis=1) & ~(np.abs(length - 1.0) <= UNIT) & self.tells_normal)

    def proved(self, found: Disagreements) -> BoolArray:
        """Which disagreements are verdicts of this library that exact arithmetic confirms, (k,)."""
        proved = np.isin(found.kind, VERDICTS)
        proved[proved] = self.truth.confirms(found.row[proved])
        return proved

    def disagreements(self) -> Disagreements:
        """Every wrong verdict, and the errors in distance and in normal of every right hit, those of 0 too."""
        right, early = self.right_hits, self.distance_error(self.right_hits) < 0
        of_right = {Kind.EARLY: right[early], Kind.LATE: right[~early], Kind.POSITION: self.misplaced}
        every = self.wrong | of_right | {Kind.NORMAL: right if self.tells_normal else right[:0]}
        return Disagreements.joined([Disagreements.of_kind(rows, k, self.amount(k, rows)) for k, rows in every.items()])

    def amount(self, kind: Kind, rows: Int64Array) -> Float64Array:
        """How wrong rows of a kind are, in metres; normals in radians, (k,)."""
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

    def clearance(self, rows: Int64Array) -> Float64Array:
        """Metres by which the verdicts of some rows are decided, see ``docs/crosscheck.md``; rows of VERDICTS, (k,)."""
        truth, true, other = self.truth, self.ours.limb[rows], self.theirs.limb[rows]
        clearance = np.empty(len(rows))
        # Missed: how deep the line cuts the limb that the engine does not see.
        at = np.flatnonzero(other < 0)
        clearance[at] = -truth.clearances(rows[at], true[at])
        # A limb that the engine reports and the line does not touch: the gap between them.
        at = np.flatnonzero(other >= 0)
        reported = truth.limbs[other[at]].cast_segments(truth.start[rows[at]], truth.end[rows[at]])
        apart = at[~reported.hit]
        clearance[apart] = truth.clearances(rows[apart], other[apart])
        # A limb that the line touches, but later: how much later, or how deep the line cuts the first one, if less.
        behind = at[reported.hit]
        later = (reported.fraction[reported.hit] - self.ours.fraction[rows[behind]]) * truth.length[rows[behind]]
        clearance[behind] = np.minimum(later, -truth.clearances(rows[behind], true[behind]))
        return clearance


def angle(a: Float64Array, b: Float64Array) -> Float64Array:
    """Angles between vectors (n, 3), in radians, (n,)."""
    return np.asarray(np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), np.einsum("ni,ni->n", a, b)))
