"""All that a replay finds out about one case, before anything is printed."""

from dataclasses import asdict, dataclass
from math import isfinite, nan

from cylcollide.crosscheck.cases import case_words, cause_words
from cylcollide.crosscheck.cases.case import BULLET, Case
from cylcollide.crosscheck.cases.recast import Live, recast
from cylcollide.crosscheck.cases.trials import Trial, trials
from cylcollide.crosscheck.cases.variants import CaseRunner, CaseVariant
from cylcollide.crosscheck.cases.witnesses import Witness, blamed, witnesses
from cylcollide.crosscheck.causes.calibration import Calibration
from cylcollide.crosscheck.number_format import length
from cylcollide.crosscheck.records import JsonObject
from cylcollide.limbs.explain import Explanation

SCHEMA = 1
"""Version of what ``--json`` prints: raised when a field changes its meaning or goes away."""

NOTICEABLE = 1e-7
"""Metres below which a measured property explains nothing that a person would report."""


@dataclass(frozen=True)
class Replayed:
    """One case as it was and as it is now."""

    case: Case
    live: Live

    @property
    def again(self) -> Case | None:
        """The disagreement with the numbers of now; None if it is not there."""
        return self.live.again(self.case)

    @property
    def reproduced(self) -> bool:
        """Whether the engine still disagrees in this way, and rational arithmetic confirms this library."""
        return self.again is not None and self.live.proved

    @property
    def instead(self) -> str:
        """What came instead of the disagreement, in one sentence."""
        if not self.live.proved:
            sides = (self.live.exact.limb, self.live.ours.limb)
            exact, ours = (f"limb {limb}" if limb >= 0 else "no limb" for limb in sides)
            return f"rational arithmetic says {exact}, this library {ours}: a bug in cylcollide, please report it."
        said = [case_words.headline(now) for now in self.live.cases]
        return " ".join(said) or f"{case_words.engine_name(self.case)} and this library agree."

    def record(self) -> JsonObject:
        """As ``--json`` prints it."""
        again = self.again
        return {
            "schema": SCHEMA,
            "case": self.case.record(),
            "reproduced": self.reproduced,
            "again": None if again is None else again.record(),
            "instead": None if self.reproduced else self.instead,
            "exact": asdict(self.live.exact) | {"face": self.live.exact.face.name},
        }


@dataclass(frozen=True)
class Story(Replayed):
    """The same with everything that is known about it."""

    witnesses: list[Witness]
    absent: dict[str, str]  # engines that could not be asked, and why
    explanations: list[Explanation]  # of the limbs that matter
    trials: list[Trial]
    calibration: Calibration  # of the limb that the disagreement is about

    @property
    def why(self) -> str | None:
        """The cause in words; None if the disagreement is not there."""
        known = self.calibration
        big = known.big_from if isfinite(known.big_from) else nan
        measured = {"stop": known.stop, "rim": known.rim, "big": big}
        return None if self.again is None else cause_words.why(self.again, measured)

    @property
    def measured(self) -> list[str]:
        """What the engine does to a limb of this size, in words."""
        known = self.calibration
        lengths = {
            "it stops {} in front of a surface": known.stop,
            "rims are rounded by {}": known.rim,
            "caps stand out by {}": known.cap_growth,
            "sides stand out by up to {}": known.side_growth[1],
            "hits go up to {} too deep": known.overshoot,
        }
        return [text.format(length(value)) for text, value in lengths.items() if abs(value) >= NOTICEABLE]

    def record(self) -> JsonObject:
        """As ``--json`` prints it."""
        return super().record() | {
            "said": None if self.again is None else case_words.headline(self.again),
            "why": self.why,
            "measured": self.measured,
            "engines": [asdict(witness) for witness in self.witnesses],
            "absent": self.absent,
            "explained": [str(explanation) for explanation in self.explanations],
            "interventions": [asdict(trial) for trial in self.trials],
        }


def replayed(case: Case) -> Replayed:
    """Ask the engine that a case blames, this library and rational arithmetic.

    Raises
    ------
    ValueError, ImportError
        If the engine is unknown or not installed.
    """
    return Replayed(case, recast(case, CaseRunner(blamed(case))))


def story_of(reproduction: Replayed) -> Story:
    """Ask everybody else, explain, and change one thing at a time."""
    case, live, again = reproduction.case, reproduction.live, reproduction.again
    runner = CaseRunner(blamed(case))
    found, absent = witnesses(case, live)
    explained = [case.limbs.explain_segment(case.start, case.end, limb) for limb in case.about]
    tried = [] if again is None or case.engine != BULLET else trials(again, runner)
    limb = case.limb_engine if case.limb_true < 0 else case.limb_true
    known = runner.calibrations(CaseVariant.of(again or case))[limb]
    return Story(case, live, found, absent, explained, tried, known)
