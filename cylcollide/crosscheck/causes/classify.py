"""Both answers about the segments of a scene: every disagreement with its kind, its cause and its evidence."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cylcollide._types import BoolArray, Face, Float64Array, Int8Array, Int32Array, Int64Array
from cylcollide.crosscheck.causes.calibration import Calibration
from cylcollide.crosscheck.causes.distances import distances
from cylcollide.crosscheck.causes.kinds_and_causes import Cause, Kind, Verdict
from cylcollide.crosscheck.causes.normals import differs, normals
from cylcollide.crosscheck.causes.ray_geometry import Sight, angle, sight
from cylcollide.crosscheck.causes.verdicts import Reported, missed, phantoms, wrong_limbs
from cylcollide.crosscheck.generate.families.shots import Scene
from cylcollide.engines import EngineHits
from cylcollide.query.hits import RayHits


@dataclass(frozen=True)
class Findings:
    """Disagreements, length k: a row of the scene may stand here twice, for its distance and for its normal."""

    row: Int64Array  # segment of the scene
    kind: Int8Array  # codes of Kind
    cause: Int8Array  # codes of Cause
    amount: Float64Array
    """How wrong. Verdicts: metres by which the segment cuts or passes the limb; distances: signed metres; radians."""
    measured: Float64Array  # what the cause's bound is for, metres or radians
    bound: Float64Array

    @classmethod
    def joined(cls, parts: Sequence["Findings"]) -> "Findings":
        """All rows of the parts, in the order of segments, then of kinds."""
        columns = [np.concatenate([getattr(part, name) for part in parts]) for name in cls.__dataclass_fields__]
        order = np.lexsort((columns[1], columns[0]))
        return cls(*(column[order] for column in columns))


@dataclass(frozen=True)
class Compared:
    """A scene's two answers; ``answered`` is False where the engine gave none."""

    scene: Scene
    ours: RayHits
    theirs: EngineHits
    answered: BoolArray
    calibrations: Sequence[Calibration]  # of each limb

    def findings(self) -> Findings:
        """Every disagreement of the scene."""
        ours, theirs = self.ours, self.theirs
        hit, said = ours.hit & self.answered, (theirs.limb >= 0) & self.answered
        same = hit & (ours.limb == theirs.limb)
        parts = [
            self._lost(np.flatnonzero(~self.answered)),
            self._phantoms(np.flatnonzero(said & ~hit)),
            self._missed(np.flatnonzero(hit & ~said)),
            self._wrong_limbs(np.flatnonzero(hit & said & ~same)),
            *self._agreed(np.flatnonzero(same)),
        ]
        return Findings.joined(parts)

    def _lost(self, rows: Int64Array) -> Findings:
        found = Verdict(len(rows))
        asked, came = float(len(self.answered)), float(self.answered.sum())
        found.claim(Cause.API_LIMIT, np.ones(len(rows), bool), np.full(len(rows), came), asked)
        return _findings(rows, Kind.LOST, found, np.full(len(rows), np.nan))

    def _phantoms(self, rows: Int64Array) -> Findings:
        view = self._sight(rows, self.theirs.limb[rows])
        return _findings(rows, Kind.PHANTOM, phantoms(view, self._said(rows, view)), view.least_true.distance)

    def _missed(self, rows: Int64Array) -> Findings:
        view = self._sight(rows, self.ours.limb[rows])
        found = missed(view, self.ours.distance[rows], self._on_cap(rows))
        return _findings(rows, Kind.MISSED, found, -view.least_true.distance)

    def _wrong_limbs(self, rows: Int64Array) -> Findings:
        true, other = self._sight(rows, self.ours.limb[rows]), self._sight(rows, self.theirs.limb[rows])
        said, entry = self._said(rows, true), self.ours.distance[rows]
        found = wrong_limbs(true, other, said, entry, self._on_cap(rows))
        return _findings(rows, Kind.WRONG_LIMB, found, np.abs(said.distance - entry))

    def _agreed(self, rows: Int64Array) -> list[Findings]:
        view = self._sight(rows, self.ours.limb[rows])
        said, entry = self._said(rows, view), self.ours.distance[rows]
        error = said.distance - entry
        normal, said_normal = self.ours.normal[rows], self.theirs.normal[rows]
        off = self._is_off(view, said, error)
        # Where the true normal is zero, inside the limb, no unit normal is right.
        meaningless = ~normal.any(axis=1) & said_normal.any(axis=1)
        tilted = differs(normal, said_normal, view) | meaningless
        parts = []
        for kind, wrong in ((Kind.EARLY, off & (error < 0)), (Kind.LATE, off & (error >= 0))):
            some = np.flatnonzero(wrong)
            seen = self._sight(rows[some], self.ours.limb[rows[some]])
            found = distances(seen, _take(said, some), entry[some], self._on_cap(rows[some]))
            parts.append(_findings(rows[some], kind, found, error[some]))
        some = np.flatnonzero(tilted)
        seen = self._sight(rows[some], self.ours.limb[rows[some]])
        found = normals(seen, _take(said, some), entry[some], normal[some], said_normal[some])
        amount = np.where(normal[some].any(axis=1), angle(normal[some], said_normal[some]), np.nan)
        return [*parts, _findings(rows[some], Kind.NORMAL, found, amount)]

    def _is_off(self, view: Sight, said: Reported, error: Float64Array) -> BoolArray:
        # The point lies on the surface up to the rounding, and on the near side of where the segment is deepest:
        # then it is the hit of a limb that differs from the true one by no more than the rounding.
        on_surface = np.abs(view.from_true(said.position)) <= view.rounding
        nearest = view.least_true
        near_side = (said.distance <= nearest.fraction * view.length) | (nearest.distance >= -view.rounding)
        inside = view.start_true <= 0.0
        return np.where(inside, np.abs(error) > view.rounding, ~(on_surface & near_side))

    def _said(self, rows: Int64Array, view: Sight) -> Reported:
        return Reported(self.theirs.fraction[rows] * view.length, self.theirs.position[rows])

    def _on_cap(self, rows: Int64Array) -> BoolArray:
        return np.isin(self.ours.face[rows], (Face.CAP1, Face.CAP2))

    def _sight(self, rows: Int64Array, limb: Int32Array) -> Sight:
        return sight(self.scene, rows, self.calibrations, limb)


def _take(said: Reported, rows: Int64Array) -> Reported:
    return Reported(said.distance[rows], said.position[rows])


def _findings(rows: Int64Array, kind: Kind, found: Verdict, amount: Float64Array) -> Findings:
    return Findings(
        rows.astype(np.int64),
        np.full(len(rows), kind, dtype=np.int8),
        found.cause,
        amount,
        found.measured,
        found.bound,
    )
