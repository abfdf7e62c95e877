"""All that a replay finds out about one case, before anything is printed: by the engine that it blames and others."""

from concurrent.futures import BrokenExecutor
from dataclasses import asdict, dataclass, replace
from math import degrees, isfinite, nan

import numpy as np

from cylcollide.crosscheck.cases import wording
from cylcollide.crosscheck.cases.case import BULLET, Case
from cylcollide.crosscheck.cases.recast import CaseRunner, CaseVariant, EngineAnswer, Replayed, recast
from cylcollide.crosscheck.cases.trials import Trial, trials
from cylcollide.crosscheck.cases.wording import length
from cylcollide.crosscheck.causes.calibration import Calibration
from cylcollide.crosscheck.compare.comparison import angle
from cylcollide.crosscheck.engine import DEFAULT, BulletClient, EngineOf, NamedEngine, Setup
from cylcollide.crosscheck.records import JsonObject, one_line
from cylcollide.crosscheck.workers import worker_processes
from cylcollide.engines import Engine, registry
from cylcollide.engines._bullet_bodies import CONSTRUCTIONS
from cylcollide.limbs.explain import Explanation

OWN = "cylcollide"


@dataclass(frozen=True)
class Witness:
    """What one engine says, beside the truth."""

    engine: str
    version: str
    answer: EngineAnswer | None  # None: the engine gave none
    right: bool  # names the same limb, or none
    error: float | None  # metres along the segment, early < 0; None where limbs differ or one side misses
    normal_off: float | None  # degrees; None where one side tells no normal


def blamed(case: Case) -> EngineOf:
    """The maker of the engine that a case names.

    ValueError if there is none of that name or it has no such options, ImportError if it is not installed.
    """
    if case.engine == BULLET:
        return BulletClient
    maker = NamedEngine(case.engine, tuple(sorted(case.options.items())))
    try:
        with maker(Setup()):
            return maker
    except TypeError as wrong:
        raise ValueError(f"options: expected those of {case.engine}, got {case.options} ({wrong})") from wrong


def witnesses(replayed: Replayed) -> tuple[list[Witness], dict[str, str]]:
    """Every engine at hand, and why others could not be asked, by name.

    The blamed one stands first, as the case builds it, with its answer of before; then PyBullet in its other ways to
    build, then the other engines, each asked in another process: MuJoCo, for one, ends the process that asks about a
    segment without length.
    """
    case = replayed.case
    with blamed(case)(case.built) as engine:
        told = [(engine_title(case, engine.name), _version(engine), replayed.theirs)]
    for setup in (Setup(construction=construction) for construction in CONSTRUCTIONS):
        if not (case.engine == BULLET and setup == case.built):
            with BulletClient(setup) as client:
                title = f"{client.name}, {'default' if setup.is_default else setup.construction}"
                told.append((title, *_told(client, case)[1:]))
    apart = answers_apart([name for name in registry.names() if name not in (OWN, BULLET, case.engine)], case)
    told += [answer for answer in apart.values() if not isinstance(answer, str)]
    absent = {name: answer for name, answer in apart.items() if isinstance(answer, str)}
    return [_witness(*answer, replayed) for answer in told], absent


NamedAnswer = tuple[str, str, EngineAnswer]
"""An engine's name and version, and its answer."""


def answers_apart(names: list[str], case: Case) -> dict[str, NamedAnswer | str]:
    """Ask engines in another process, a new one after an engine that ends it; a string says why there is no answer."""
    found: dict[str, NamedAnswer | str] = {}
    while left := [name for name in names if name not in found]:
        with worker_processes(1) as apart:
            try:
                for name in left:
                    found[name] = apart.submit(_asked, name, case).result()
            except BrokenExecutor:
                found[name] = "it ends the process that asks it this"
    return found


def _asked(name: str, case: Case) -> NamedAnswer | str:
    try:
        with registry.create(name) as engine:
            return _told(engine, case)
    except (ImportError, ValueError, RuntimeError) as error:
        return one_line(error)


def _told(engine: Engine, case: Case) -> NamedAnswer:
    engine.build(case.limbs)
    hits = engine.cast_segments(np.array([case.start]), np.array([case.end]))
    return engine.name, _version(engine), EngineAnswer.row(hits, 0)


def _version(engine: Engine) -> str:
    return next(iter(engine.versions.values()), "")


def engine_title(case: Case, name: str | None = None) -> str:
    """The engine that a case blames, by this name, with all that is not its default."""
    settings = [] if case.built.is_default else [case.built.label]
    return ", ".join([name or case.engine, *settings, *(f"{option} {value}" for option, value in case.options.items())])


def _witness(title: str, version: str, answer: EngineAnswer | None, replayed: Replayed) -> Witness:
    true, case = replayed.ours, replayed.case
    right = answer is not None and answer.limb == true.limb
    error = off = None
    if answer is not None and right and answer.fraction is not None and true.fraction is not None:
        error = (answer.fraction - true.fraction) * case.length
        if answer.normal is not None and true.normal is not None and any(true.normal):
            off = degrees(float(angle(np.array([true.normal]), np.array([answer.normal]))[0]))
    return Witness(title, version, answer, right, error, off)


NOTICEABLE = 1e-7
"""Metres below which a measured property explains nothing that a person would report."""


@dataclass(frozen=True)
class Story(Replayed):
    """The same with everything that is known about it."""

    witnesses: list[Witness]
    absent: dict[str, str]  # engines that could not be asked, and why
    explanations: list[Explanation]  # of the limbs that matter
    trials: list[Trial]
    known: Calibration  # measured on the limb that the disagreement is about
    usual: Calibration  # the same of that limb built by default

    @property
    def why(self) -> str | None:
        """The cause in words; None if the disagreement is not there."""
        big = self.usual.big_from if isfinite(self.usual.big_from) else nan
        measured = {"stop": self.usual.stop, "rim": self.usual.rim, "big": big}
        return None if self.again is None else wording.why(self.again, measured)

    @property
    def measured(self) -> list[str]:
        """What the engine does to a limb of this size, in words."""
        known = self.known
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
            "said": None if self.again is None else wording.headline(self.again),
            "why": self.why,
            "measured": self.measured,
            "engines": [asdict(witness) for witness in self.witnesses],
            "absent": self.absent,
            "explained": [str(explanation) for explanation in self.explanations],
            "interventions": [asdict(trial) for trial in self.trials],
        }


def replayed(case: Case) -> Replayed:
    """Ask the engine that a case blames, as :func:`blamed` makes it, this library and rational arithmetic."""
    return recast(case, CaseRunner(blamed(case)))


def story_of(found: Replayed) -> Story:
    """Ask everybody else, explain, and change one thing at a time."""
    case, again = found.case, found.again
    runner = CaseRunner(blamed(case))
    others, absent = witnesses(found)
    explained = [case.limbs.explain_segment(case.start, case.end, limb) for limb in case.about]
    tried = [] if again is None or case.engine != BULLET else trials(again, runner)
    limb = case.limb_engine if case.limb_true < 0 else case.limb_true
    variant = CaseVariant.of(again or case)
    known, usual = (runner.calibrations(world)[limb] for world in (variant, replace(variant, setup=DEFAULT)))
    return Story(
        **vars(found), witnesses=others, absent=absent, explanations=explained, trials=tried, known=known, usual=usual
    )
