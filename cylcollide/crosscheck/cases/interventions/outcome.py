"""What both sides say to one question, and what the harness makes of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cylcollide.crosscheck.cases.interventions.question import Question
from cylcollide.crosscheck.causes.calibration import Calibration
from cylcollide.crosscheck.causes.calibration_cache import calibration
from cylcollide.crosscheck.causes.cause import Cause
from cylcollide.crosscheck.causes.ray_geometry import Sight, sight
from cylcollide.crosscheck.causes.retest import compare
from cylcollide.crosscheck.engine.setup import EngineOf
from cylcollide.crosscheck.generate.families.shots import Intent, shots
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
class Asker:
    """Asks questions of one engine."""

    engine_of: EngineOf

    def calibrations(self, question: Question) -> list[Calibration]:
        """What was measured about limbs of the size they had before the world was scaled, at their size now.

        The stop, the margin and all growth are lengths of the engine: scaling the world does not scale them.
        """
        half = 0.5 * np.linalg.norm(question.p2 - question.p1, axis=1) / question.size
        radius = question.radius / question.size
        known = [
            calibration(self.engine_of, question.setup, float(r), float(h)) for r, h in zip(radius, half, strict=True)
        ]
        return [replace(c, radius=c.radius * question.size, half=c.half * question.size) for c in known]

    def __call__(self, question: Question) -> Outcome:
        """Ask both sides."""
        return self.several(question, [question])[0]

    def several(self, world: Question, questions: Sequence[Question]) -> list[Outcome]:
        """Ask both sides questions that differ from ``world`` in their segments only."""
        start, end = (np.array([getattr(question, name) for question in questions]) for name in ("start", "end"))
        scene = replace(world.scene, shots=shots(start, end, Intent.EITHER))
        both, found = compare(scene, self.engine_of, self.calibrations(world))
        outcomes = []
        for row in range(len(questions)):
            mine = np.flatnonzero(found.row == row)
            causes = {Kind(found.kind[i]): Cause(found.cause[i]) for i in mine}
            amounts = {Kind(found.kind[i]): float(found.amount[i]) for i in mine}
            outcomes.append(Outcome(int(both.ours.limb[row]), int(both.theirs.limb[row]), causes, amounts))
        return outcomes

    def look(self, question: Question, limb: int) -> Sight:
        """Look at one limb from the segment."""
        at = np.array([limb], dtype=np.int32)
        return sight(question.scene, np.zeros(1, dtype=np.int64), self.calibrations(question), at)
