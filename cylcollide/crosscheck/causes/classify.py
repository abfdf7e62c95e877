"""Both answers about the segments of a scene: every disagreement with its kind, its cause and its evidence."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cylcollide._types import BoolArray, Face, Float64Array, Int32Array, Int64Array
from cylcollide.constants import ROUNDING_BOUND
from cylcollide.crosscheck.causes.calibration import Calibration
from cylcollide.crosscheck.causes.cause import Cause, Verdict
from cylcollide.crosscheck.causes.distances import distances
from cylcollide.crosscheck.causes.normals import differs, normals
from cylcollide.crosscheck.causes.ray_geometry import Sight, sight
from cylcollide.crosscheck.causes.verdicts import Reported, missed, phantoms, wrong_limbs
from cylcollide.crosscheck.judge.comparison import Comparison
from cylcollide.crosscheck.judge.disagreements import Disagreements, Kind


@dataclass(frozen=True)
class Classified(Comparison):
    """A comparison whose disagreements get causes: errors of right hits count beyond the rounding of float64."""

    calibrations: Sequence[Calibration]  # of each limb

    def disagreements(self) -> Disagreements:
        """Every disagreement of the scene."""
        wrong = self.wrong
        parts = [
            self._lost(wrong[Kind.LOST]),
            self._phantoms(wrong[Kind.PHANTOM]),
            self._missed(wrong[Kind.MISSED]),
            self._wrong_limbs(wrong[Kind.WRONG_LIMB]),
            *self._agreed(self.right_hits),
            self._misplaced(self.misplaced),
        ]
        return Disagreements.joined(parts)

    def _lost(self, rows: Int64Array) -> Disagreements:
        found = Verdict(len(rows))
        total, came = float(len(self.answered)), float(self.answered.sum())
        found.claim(Cause.API_LIMIT, np.ones(len(rows), bool), np.full(len(rows), came), total)
        return _table(rows, Kind.LOST, found, np.full(len(rows), np.nan))

    def _phantoms(self, rows: Int64Array) -> Disagreements:
        view = self._sight(rows, self.theirs.limb[rows])
        return _table(rows, Kind.PHANTOM, phantoms(view, self._reported(rows, view)), view.least_true.distance)

    def _missed(self, rows: Int64Array) -> Disagreements:
        view = self._sight(rows, self.ours.limb[rows])
        found = missed(view, self.ours.distance[rows], self._on_cap(rows))
        return _table(rows, Kind.MISSED, found, -view.least_true.distance)

    def _wrong_limbs(self, rows: Int64Array) -> Disagreements:
        true, other = self._sight(rows, self.ours.limb[rows]), self._sight(rows, self.theirs.limb[rows])
        reported, entry = self._reported(rows, true), self.ours.distance[rows]
        found = wrong_limbs(true, other, reported, entry, self._on_cap(rows))
        return _table(rows, Kind.WRONG_LIMB, found, np.abs(reported.distance - entry))

    def _misplaced(self, rows: Int64Array) -> Disagreements:
        found, off = Verdict(len(rows)), self.points[1][rows]
        # Half a unit in the last place of float32 coordinates as large as these, once for each of three.
        ends = np.abs([self.truth.start[rows], self.truth.end[rows]]).max(axis=(0, 2), initial=0.0)
        found.claim(Cause.SINGLE_PRECISION, off <= 2.0**-22 * ends, off, 2.0**-22 * ends)
        found.rest(off, ROUNDING_BOUND * ends)
        return _table(rows, Kind.POSITION, found, off)

    def _agreed(self, rows: Int64Array) -> list[Disagreements]:
        view = self._sight(rows, self.ours.limb[rows])
        reported, entry = self._reported(rows, view), self.ours.distance[rows]
        error = reported.distance - entry
        normal, reported_normal = self.ours.normal[rows], self.theirs.normal[rows]
        off = self._is_off(view, reported, error)
        # Where the true normal is zero, inside the limb, no unit normal is right.
        meaningless = ~normal.any(axis=1) & np.nan_to_num(reported_normal).any(axis=1)
        tilted = differs(normal, reported_normal, view) | meaningless | self.malformed(rows)
        parts = []
        for kind, wrong in ((Kind.EARLY, off & (error < 0)), (Kind.LATE, off & (error >= 0))):
            some = np.flatnonzero(wrong)
            seen = self._sight(rows[some], self.ours.limb[rows[some]])
            found = distances(seen, reported.of_rows(some), entry[some], self._on_cap(rows[some]))
            parts.append(_table(rows[some], kind, found, error[some]))
        some = np.flatnonzero(tilted)
        seen = self._sight(rows[some], self.ours.limb[rows[some]])
        found = normals(seen, reported.of_rows(some), entry[some], normal[some], reported_normal[some])
        amount = np.where(normal[some].any(axis=1), self.tilt(rows[some]), np.nan)
        return [*parts, _table(rows[some], Kind.NORMAL, found, amount)]

    def _is_off(self, view: Sight, reported: Reported, error: Float64Array) -> BoolArray:
        # The point lies on the surface up to the rounding, and on the near side of where the segment is deepest:
        # then it is the hit of a limb that differs from the true one by no more than the rounding.
        on_surface = np.abs(view.from_true(reported.position)) <= view.rounding
        nearest = view.least_true
        near_side = (reported.distance <= nearest.fraction * view.length) | (nearest.distance >= -view.rounding)
        inside = view.start_true <= 0.0
        return np.where(inside, np.abs(error) > view.rounding, ~(on_surface & near_side))

    def _reported(self, rows: Int64Array, view: Sight) -> Reported:
        return Reported(self.theirs.fraction[rows] * view.length, self.points[0][rows])

    def _on_cap(self, rows: Int64Array) -> BoolArray:
        return np.isin(self.ours.face[rows], (Face.CAP1, Face.CAP2))

    def _sight(self, rows: Int64Array, limb: Int32Array) -> Sight:
        return sight(self.truth.scene, rows, self.calibrations, limb)


def _table(rows: Int64Array, kind: Kind, found: Verdict, amount: Float64Array) -> Disagreements:
    codes = np.full(len(rows), kind, dtype=np.int8)
    return Disagreements(rows.astype(np.int64), codes, found.cause, amount, found.measured, found.bound)
