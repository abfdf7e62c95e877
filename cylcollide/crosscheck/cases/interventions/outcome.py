"""What both sides say to one variant, and what the harness makes of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cylcollide.crosscheck.cases.interventions.case_variant import CaseVariant
from cylcollide.crosscheck.causes.calibration import Calibration
from cylcollide.crosscheck.causes.calibration_cache import calibration
from cylcollide.crosscheck.causes.cause import Cause
from cylcollide.crosscheck.causes.ray_geometry import Sight, sight
from cylcollide.crosscheck.causes.retest import compare
from cylcollide.crosscheck.engine.setup import EngineOf
from cylcollide.crosscheck.generate.shots import Intent, shots
from cylcollide.crosscheck.judge.disagreements import VERDICTS, Kind


@dataclass(frozen=True)
class Outcome:
    """The limbs that both sides name, and every disagreement with its cause and amount (metres, radians)."""

    limb_true: int
    limb_engine: int
    causes: dict[Kind, Cause]
    amounts: dict[Kind, float]

    @property
    def verdicts_agree(self) -> bool:
        """Whether both name the same limb, or none."""
        return not any(kind in self.causes for kind in VERDICTS)

    def early(self) -> float:
        """Metres by which the hit is reported too early, 0 if it is not."""
        return max(-self.amounts.get(Kind.EARLY, 0.0), 0.0)

    def late(self) -> float:
        """Metres by which the hit is reported too late, 0 if it is not."""
        return max(self.amounts.get(Kind.LATE, 0.0), 0.0)

    def tilt(self) -> float:
        """Radians by which the normal is off, 0 if it is not."""
        return self.amounts.get(Kind.NORMAL, 0.0)


@dataclass(frozen=True)
class CaseRunner:
    """Asks variants of one engine."""

    engine_of: EngineOf

    def calibrations(self, variant: CaseVariant) -> list[Calibration]:
        """What was measured about limbs of the size they had before the world was scaled, at their size now.

        The stop, the margin and all growth are lengths of the engine: scaling the world does not scale them.
        """
        half = 0.5 * np.linalg.norm(variant.p2 - variant.p1, axis=1) / variant.size
        radius = variant.radius / variant.size
        known = [
            calibration(self.engine_of, variant.setup, float(r), float(h)) for r, h in zip(radius, half, strict=True)
        ]
        return [replace(c, radius=c.radius * variant.size, half=c.half * variant.size) for c in known]

    def __call__(self, variant: CaseVariant) -> Outcome:
        """Ask both sides."""
        return self.several(variant, [variant])[0]

    def several(self, world: CaseVariant, variants: Sequence[CaseVariant]) -> list[Outcome]:
        """Ask both sides variants that differ from ``world`` in their segments only."""
        start, end = (np.array([getattr(variant, name) for variant in variants]) for name in ("start", "end"))
        scene = replace(world.scene, shots=shots(start, end, Intent.EITHER))
        both, found = compare(scene, self.engine_of, self.calibrations(world))
        outcomes = []
        for row in range(len(variants)):
            mine = np.flatnonzero(found.row == row)
            causes = {Kind(found.kind[i]): Cause(found.cause[i]) for i in mine}
            amounts = {Kind(found.kind[i]): float(found.amount[i]) for i in mine}
            outcomes.append(Outcome(int(both.ours.limb[row]), int(both.theirs.limb[row]), causes, amounts))
        return outcomes

    def look(self, variant: CaseVariant, limb: int) -> Sight:
        """Look at one limb from the segment."""
        at = np.array([limb], dtype=np.int32)
        return sight(variant.scene, np.zeros(1, dtype=np.int64), self.calibrations(variant), at)
