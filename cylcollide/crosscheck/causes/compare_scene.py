"""Casts a scene in an engine and assigns each disagreement its kind, its cause and its evidence.

Rays that geometry cannot explain are cast again: alone, with fresh boxes, and with only their limb in the world.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cylcollide._types import BoolArray, Face, Int32Array, Int64Array
from cylcollide.constants import ROUNDING_BOUND
from cylcollide.crosscheck.causes.calibration import Calibration
from cylcollide.crosscheck.causes.predicates import (
    SegmentGeometry,
    distances,
    missed,
    normals,
    phantoms,
    sight,
    wrong_limbs,
)
from cylcollide.crosscheck.compare.comparison import Comparison
from cylcollide.crosscheck.compare.disagreements import Cause, Disagreements, Kind
from cylcollide.crosscheck.compare.truth import Truth
from cylcollide.crosscheck.engine import EngineOf
from cylcollide.crosscheck.generate.shots import ShotScene
from cylcollide.engines import Engine
from cylcollide.engines.bullet import BulletEngine
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.hits import RayHits

DOUBTFUL = (Cause.UNEXPLAINED, Cause.NO_CORE_DISTANCE, Cause.NOISY_NORMAL, Cause.BIG_SHAPE, Cause.SEGMENT_END)
"""Causes that geometry alone cannot confirm: their rays are cast again, alone."""


def compare(
    scene: ShotScene, engine_of: EngineOf, calibrations: Sequence[Calibration] | None
) -> tuple[Comparison, Disagreements]:
    """Cast the segments of a scene on both sides; with calibrations of its limbs every disagreement gets its cause."""
    with engine_of(scene.setup) as engine:
        if calibrations is None:
            compared = Comparison.of(engine, Truth(scene))
            return compared, compared.disagreements()
        classified = Classified.of(engine, Truth(scene), calibrations)
        return classified, _cast_again(classified.disagreements(), classified, engine, engine_of)


@dataclass(frozen=True)
class Classified(Comparison):
    """A comparison whose disagreements get causes; errors of hits count if they exceed the rounding of float64."""

    calibrations: Sequence[Calibration]  # of each limb

    def disagreements(self) -> Disagreements:
        """Every disagreement of the scene."""
        wrong, ours, theirs = self.wrong, self.ours.limb, self.theirs.limb
        rows = wrong[Kind.LOST]
        lost = Disagreements.of_kind(rows, Kind.LOST, np.full(len(rows), np.nan))
        came, total = np.full(len(rows), float(self.answered.sum())), float(len(self.answered))
        lost.claim(Cause.API_LIMIT, True, came, total)
        view = self._sight(rows := wrong[Kind.PHANTOM], theirs)
        parts = [lost, phantoms(Disagreements.of_kind(rows, Kind.PHANTOM, view.least_true.distance), view)]
        view = self._sight(rows := wrong[Kind.MISSED], ours)
        parts.append(missed(Disagreements.of_kind(rows, Kind.MISSED, -view.least_true.distance), view))
        view = self._sight(rows := wrong[Kind.WRONG_LIMB], ours)
        found = Disagreements.of_kind(rows, Kind.WRONG_LIMB, np.abs(view.reported - view.entry))
        parts.append(wrong_limbs(found, view, self._sight(rows, theirs)))
        parts += [*self._errors(self.crossing), self._misplaced(self.misplaced), self._aside(self.aside)]
        return Disagreements.joined(parts)

    def _aside(self, rows: Int64Array) -> Disagreements:
        found = Disagreements.of_kind(rows, Kind.NORMAL, self.tilt(rows))
        found.claim(Cause.UNEXPLAINED, True, found.amount, 0.0)
        return found

    def _misplaced(self, rows: Int64Array) -> Disagreements:
        off = self.points[1][rows]
        found = Disagreements.of_kind(rows, Kind.POSITION, off)
        # Half a unit in the last place of the largest float32 coordinate, for each of the three coordinates.
        ends = np.abs([self.truth.start[rows], self.truth.end[rows]]).max(axis=(0, 2), initial=0.0)
        found.claim(Cause.SINGLE_PRECISION, off <= 2.0**-22 * ends, off, 2.0**-22 * ends)
        found.claim(Cause.UNEXPLAINED, True, off, ROUNDING_BOUND * ends)
        return found

    def _errors(self, rows: Int64Array) -> list[Disagreements]:
        """Disagreements in distance and normal, beyond the rounding, of hits with the limbs that they report."""
        limb, normal, said = self.theirs.limb, self.own.normal[rows], self.theirs.normal[rows]
        parts = []
        for kind in (Kind.EARLY, Kind.LATE):
            off = self.errors[kind]
            found = Disagreements.of_kind(off, kind, self.distance_error(off))
            parts.append(distances(found, self._sight(off, limb, self.own)))
        # The true normal of a start inside is zero, so every reported normal is wrong.
        tilted = self.tilted(rows) | (~normal.any(axis=1) & np.nan_to_num(said).any(axis=1))
        some, normal = rows[tilted], normal[tilted]
        found = Disagreements.of_kind(some, Kind.NORMAL, np.where(normal.any(axis=1), self.tilt(some), np.nan))
        return [*parts, normals(found, self._sight(some, limb, self.own), normal, said[tilted])]

    def _sight(self, rows: Int64Array, limb: Int32Array, true: RayHits | None = None) -> SegmentGeometry:
        """The geometry of rows with a limb each, and both answers; the true one is ours, unless `true` is given."""
        view, true = sight(self.truth.scene, rows, self.calibrations, limb[rows]), true or self.ours
        return replace(
            view,
            reported=self.theirs.fraction[rows] * view.length,
            position=self.points[0][rows],
            entry=true.distance[rows],
            on_cap=np.isin(true.face[rows], (Face.CAP1, Face.CAP2)),
        )


def _cast_again(found: Disagreements, compared: Comparison, engine: Engine, engine_of: EngineOf) -> Disagreements:
    """The disagreements with the causes that a second cast shows: API limit or broad phase."""
    true = compared.ours.limb[found.row]
    rows = np.flatnonzero(np.isin(found.kind, (Kind.MISSED, Kind.WRONG_LIMB)) & np.isin(found.cause, DOUBTFUL))
    if not len(rows):
        return found
    cause, bound = found.cause.copy(), found.bound.copy()
    truth, scene = compared.truth, compared.truth.scene
    start, end = truth.start[found.row], truth.end[found.row]

    def right_alone(rows: Int64Array) -> BoolArray:
        limbs = [engine.cast_segments(start[[row]], end[[row]]).limb[0] for row in rows]
        return np.asarray(np.array(limbs, dtype=np.int32) == true[rows])

    def without(rows: Int64Array, right: BoolArray, shown: Cause) -> Int64Array:
        """The other rows; those that are right now have this cause, to which no bound applies."""
        cause[rows[right]], bound[rows[right]] = shown, np.nan
        return rows[~right]

    rows = without(rows, right_alone(rows), Cause.API_LIMIT)
    if isinstance(engine, BulletEngine):
        engine.refresh_boxes()
        rows = without(rows, right_alone(rows), Cause.BROAD_PHASE)
    for limb in np.unique(true[rows]) if len(scene.radius) > 1 else ():
        mine = rows[true[rows] == limb]
        with engine_of(scene.setup) as other:
            other.build(Limbs.cylinders(scene.p1[[limb]], scene.p2[[limb]], scene.radius[[limb]]))
            without(mine, other.cast_segments(start[mine], end[mine]).limb == 0, Cause.BROAD_PHASE)
    return replace(found, cause=cause, bound=bound)
