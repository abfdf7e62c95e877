"""The one judge: an engine's answers about a scene beside the truth.

It says which verdicts differ and which of these exact arithmetic confirms, and of hits on the right limb the errors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int32Array, Int64Array
from cylcollide.crosscheck.engine.pybullet_client import BulletClient
from cylcollide.crosscheck.engine.setup import RayEngine
from cylcollide.crosscheck.generate.families.shots import ShotScene
from cylcollide.crosscheck.judge.disagreements import VERDICTS, Disagreements, Kind
from cylcollide.crosscheck.judge.exact_truth import clearances, exact_first_limbs
from cylcollide.engines import EngineHits
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.hits import RayHits
from cylcollide.world import HitWorld

NOT_SETTLED = -2
"""Stands where exact arithmetic has not settled the limb yet: no limb, and not the -1 of a miss."""


class Truth:
    """What is true about a scene. Exact arithmetic settles a segment once, however many engines differ there.

    Attributes
    ----------
    hits
        This library's answers, (n,).
    length
        Of the segments in metres, (n,).
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
        confirmed: BoolArray = self._exact[rows] == self.hits.limb[rows]
        return confirmed

    def clearances(self, rows: Int64Array, limb: Int32Array) -> Float64Array:
        """Least signed distance in metres of some segments from a limb each, (k,): the gap, or < 0 the cut."""
        limbs = self.limbs
        return clearances(self.start[rows], self.end[rows], limbs.p1[limb], limbs.p2[limb], limbs.radius[limb])


def engine_answers(engine: RayEngine, scene: ShotScene) -> tuple[EngineHits, BoolArray]:
    """The answers of an engine that holds the scene's limbs, and which segments got one, (n,)."""
    shot, n = scene.shots, len(scene.shots.start)
    if not (scene.whole_batch and isinstance(engine, BulletClient)):
        return engine.cast_segments(shot.start, shot.end), np.ones(n, dtype=np.bool_)
    ends = (shot.start.tolist(), shot.end.tolist()) if scene.as_lists else (shot.start, shot.end)
    try:
        answers: Sequence[Any] = engine.cast_batch(*ends)
    except Exception:  # PyBullet's own error class: the call is refused, which is an answer too
        answers = ()
    return engine.as_hits(answers, n), np.arange(n) < len(answers)


@dataclass(frozen=True)
class Comparison:
    """Both answers about the segments of a scene; ``answered`` (n,) is False where the engine gave none."""

    truth: Truth
    theirs: EngineHits
    answered: BoolArray

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

    def distance_error(self, rows: Int64Array) -> Float64Array:
        """Metres by which the engine's hit lies behind the true one, < 0 before it."""
        error: Float64Array = (self.theirs.fraction[rows] - self.ours.fraction[rows]) * self.truth.length[rows]
        return error

    def tilt(self, rows: Int64Array) -> Float64Array:
        """Radians between both normals."""
        return angle(self.ours.normal[rows], self.theirs.normal[rows])

    def proved(self, found: Disagreements) -> BoolArray:
        """Which disagreements are verdicts of this library that exact arithmetic confirms, (k,)."""
        proved = np.isin(found.kind, VERDICTS)
        proved[proved] = self.truth.confirms(found.row[proved])
        return proved

    def disagreements(self) -> Disagreements:
        """Every wrong verdict, and the errors in distance and in normal of every right hit, those of 0 too."""
        right, error = self.right_hits, self.distance_error(self.right_hits)
        early = error < 0
        parts = [Disagreements.of_kind(self.wrong[kind], kind, self._amount(kind)) for kind in (*VERDICTS, Kind.LOST)]
        parts += [
            Disagreements.of_kind(right[early], Kind.EARLY, error[early]),
            Disagreements.of_kind(right[~early], Kind.LATE, error[~early]),
            Disagreements.of_kind(right, Kind.NORMAL, self.tilt(right)),
        ]
        return Disagreements.joined(parts)

    def _amount(self, kind: Kind) -> Float64Array:
        """How wrong the verdicts of a kind are, in metres."""
        rows = self.wrong[kind]
        if kind == Kind.WRONG_LIMB:
            apart: Float64Array = np.linalg.norm(self.ours.position[rows] - self.theirs.position[rows], axis=1)
            return apart
        return np.full(len(rows), np.nan) if kind == Kind.LOST else self.clearance(rows)

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
    sine = np.linalg.norm(np.cross(a, b), axis=1)
    radians: Float64Array = np.arctan2(sine, np.einsum("ni,ni->n", a, b))
    return radians
