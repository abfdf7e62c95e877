"""A repeated case, and all findings about it: from the engine of the case, other engines, and trials."""

from concurrent.futures import BrokenExecutor
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import degrees, isfinite, nan
from typing import Self

import numpy as np

from cylcollide._types import Face
from cylcollide.crosscheck.cases import wording
from cylcollide.crosscheck.cases.case import BULLET, Case, Vector, both_answers, explained, vector
from cylcollide.crosscheck.cases.trials import Trial, trials
from cylcollide.crosscheck.cases.variants import CaseVariant, scene_of
from cylcollide.crosscheck.causes.calibration import Calibration, calibrations
from cylcollide.crosscheck.causes.compare_scene import compare
from cylcollide.crosscheck.compare.comparison import angle
from cylcollide.crosscheck.compare.disagreements import VERDICTS
from cylcollide.crosscheck.compare.truth import exact_hit, solids
from cylcollide.crosscheck.engine import DEFAULT, BulletClient, EngineOf, NamedEngine, Setup
from cylcollide.crosscheck.records import JsonObject, one_line, plain
from cylcollide.crosscheck.workers import worker_processes
from cylcollide.engines import Engine, EngineHits, registry
from cylcollide.engines.bullet import CONSTRUCTIONS
from cylcollide.limbs.explain import Explanation
from cylcollide.query.hits import RayHits

SCHEMA = 1
"""Version of the output of ``cylcollide replay --json``: raised if a field changes its meaning or is removed."""


OWN = "cylcollide"

NOTICEABLE = 1e-7
"""Metres; a measured property below this is too small to report."""


@dataclass(frozen=True)
class EngineAnswer:
    """The answer of one side: a miss has limb -1 and None elsewhere."""

    limb: int
    fraction: float | None
    position: Vector | None
    normal: Vector | None  # None also if the side reports none

    @classmethod
    def row(cls, hits: EngineHits | RayHits, row: int) -> Self:
        """The answer in one row."""
        limb = int(hits.limb[row])
        return cls(limb, plain(hits.fraction[row]), vector(hits.position[row]), vector(hits.normal[row]))


@dataclass(frozen=True)
class Proved:
    """The answer in exact arithmetic, over all limbs, without a tree; the fraction is rounded once."""

    limb: int
    fraction: float | None
    face: Face


@dataclass(frozen=True)
class EngineResult:
    """The answer of one engine, compared with the truth."""

    engine: str
    version: str
    answer: EngineAnswer | None  # None: the engine gave none
    right: bool  # whether it has the true limb, or truly none
    error: float | None  # metres along the segment, early < 0; None if limbs differ or one side misses
    normal_off: float | None  # degrees; None if one side reports no normal


@dataclass(frozen=True)
class Replayed:
    """A case as recorded, and repeated."""

    case: Case
    engine_of: EngineOf  # makes the engine of the case
    ours: EngineAnswer
    theirs: EngineAnswer | None  # None: the engine gave no answer
    exact: Proved
    now: tuple[Case, ...]  # every present disagreement about the segment

    @property
    def again(self) -> Case | None:
        """The present disagreement of the case's kind, about the same limbs; None if there is none."""
        was = self.case
        found = [now for now in self.now if now.kind == was.kind]
        if was.kind_code in VERDICTS:
            found = [now for now in found if (now.limb_true, now.limb_engine) == (was.limb_true, was.limb_engine)]
        return found[0] if found else None

    @property
    def proved(self) -> bool:
        """Whether exact arithmetic confirms this library's verdict and limb."""
        return self.exact.limb == self.ours.limb

    @property
    def reproduced(self) -> bool:
        """Whether the engine still disagrees in this way, and exact arithmetic confirms this library."""
        return self.again is not None and self.proved

    @property
    def instead(self) -> str:
        """The result in place of the disagreement, in one sentence."""
        if not self.proved:
            exact, ours = (f"limb {side.limb}" if side.limb >= 0 else "no limb" for side in (self.exact, self.ours))
            return f"rational arithmetic says {exact}, this library {ours}: a bug in cylcollide, please report it."
        return " ".join(map(wording.headline, self.now)) or f"{wording.engine_name(self.case)} and this library agree."

    @cached_property
    def engine_results(self) -> tuple[list[EngineResult], dict[str, str]]:
        """The answers of all engines, that of the case first; and by name why others could not be tested.

        Engines of other packages run in another process: one of them may end its process on a segment.
        """
        case = self.case
        with engine_of_case(case)(case.setup) as engine:
            answers = [(engine_title(case, engine.name), _version(engine), self.theirs)]
        for setup in (Setup(construction=construction) for construction in CONSTRUCTIONS):
            if not (case.engine == BULLET and setup == case.setup):
                with BulletClient(setup) as client:
                    title = f"{client.name}, {'default' if setup == DEFAULT else setup.construction}"
                    answers.append((title, *_answer(client, case)[1:]))
        apart = answers_apart([name for name in registry.names() if name not in (OWN, BULLET, case.engine)], case)
        answers += [answer for answer in apart.values() if not isinstance(answer, str)]
        absent = {name: answer for name, answer in apart.items() if isinstance(answer, str)}
        return [_engine_result(*answer, self) for answer in answers], absent

    @cached_property
    def explanations(self) -> list[Explanation]:
        """The explanation of each relevant limb by this library."""
        case = self.case
        return [case.limbs.explain_segment(case.start, case.end, limb=limb) for limb in case.about]

    @cached_property
    def trials(self) -> list[Trial]:
        """The outcome of the disagreement for one change at a time."""
        return [] if self.again is None else trials(self.again, self.engine_of)

    def _known(self, setup: Setup | None = None) -> Calibration:
        """The measurements of the limb of the disagreement, or of the same limb in another setup."""
        case, variant = self.case, CaseVariant.of(self.again or self.case)
        limb = case.limb_engine if case.limb_true < 0 else case.limb_true
        return calibrations(self.engine_of, variant if setup is None else replace(variant, setup=setup))[limb]

    @property
    def why(self) -> str | None:
        """The cause in words; None if the disagreement is not reproduced."""
        if self.again is None:
            return None
        usual = self._known(DEFAULT)
        big = usual.big_from if isfinite(usual.big_from) else nan
        return wording.why(self.again, {"stop": usual.stop, "rim": usual.rim, "big": big})

    @property
    def measured(self) -> list[str]:
        """The engine's measured properties for a limb of this size, in words."""
        known = self._known()
        lengths = {
            "it stops {} in front of a surface": known.stop,
            "rims are rounded by {}": known.rim,
            "caps stand out by {}": known.cap_growth,
            "sides stand out by up to {}": known.side_growth[1],
            "hits go up to {} too deep": known.overshoot,
        }
        return [text.format(wording.length(value)) for text, value in lengths.items() if abs(value) >= NOTICEABLE]

    def record(self, *, whole: bool = False) -> JsonObject:
        """The output of ``cylcollide replay --json``; ``whole``: with :attr:`engine_results` and other findings."""
        record = {
            "schema": SCHEMA,
            "case": self.case.record(),
            "reproduced": self.reproduced,
            "again": None if self.again is None else self.again.record(),
            "instead": None if self.reproduced else self.instead,
            "exact": asdict(self.exact) | {"face": self.exact.face.name},
        }
        if not whole:
            return record
        results, absent = self.engine_results
        return record | {
            "said": None if self.again is None else wording.headline(self.again),
            "why": self.why,
            "measured": self.measured,
            "engines": [asdict(result) for result in results],
            "absent": absent,
            "explained": [str(explanation) for explanation in self.explanations],
            "interventions": [asdict(trial) for trial in self.trials],
        }


def recast(case: Case, engine_of: EngineOf | None = None) -> Replayed:
    """Cast a case in its engine, or that of ``engine_of``, in this library and in exact arithmetic."""
    engine_of = engine_of or engine_of_case(case)
    scene, row = scene_of(case)
    both, found = compare(scene, engine_of, calibrations(engine_of, scene))
    theirs = EngineAnswer.row(both.theirs, row) if both.answered[row] else None
    hit, exact = exact_hit(case.start, case.end, solids(case.limbs)), Proved(-1, None, Face.NONE)
    if hit is not None:
        exact = Proved(hit[0], hit[1].entry.double_double()[0], hit[1].entry_face)
    answers = both_answers(both.ours, both.theirs, row)
    now = (replace(case, **explained(found, at), **answers) for at, of in enumerate(found.row) if of == row)
    return Replayed(case, engine_of, EngineAnswer.row(both.ours, row), theirs, exact, tuple(now))


def engine_of_case(case: Case) -> EngineOf:
    """The maker of the engine of a case.

    ValueError if there is no such engine or it has no such options, ImportError if it is not installed.
    """
    if case.engine == BULLET:
        return BulletClient
    maker = NamedEngine(case.engine, tuple(sorted(case.options.items())))
    try:
        with maker(Setup()):
            return maker
    except TypeError as wrong:
        raise ValueError(f"options: expected those of {case.engine}, got {case.options} ({wrong})") from wrong


NamedAnswer = tuple[str, str, EngineAnswer]
"""An engine's name and version, and its answer."""


def answers_apart(names: list[str], case: Case) -> dict[str, NamedAnswer | str]:
    """Answers of engines in another process, a new one after an engine ends it; a string: why there is no answer."""
    found: dict[str, NamedAnswer | str] = {}
    while left := [name for name in names if name not in found]:
        with worker_processes(1) as apart:
            try:
                for name in left:
                    found[name] = apart.submit(_answer_of, name, case).result()
            except BrokenExecutor:
                found[name] = "it ends its process on this segment"
    return found


def _answer_of(name: str, case: Case) -> NamedAnswer | str:
    try:
        with registry.create(name) as engine:
            return _answer(engine, case)
    except (ImportError, ValueError, RuntimeError) as error:
        return one_line(error)


def _answer(engine: Engine, case: Case) -> NamedAnswer:
    engine.build(case.limbs)
    hits = engine.cast_segments(np.array([case.start]), np.array([case.end]))
    return engine.name, _version(engine), EngineAnswer.row(hits, 0)


def _version(engine: Engine) -> str:
    return next(iter(engine.versions.values()), "")


def engine_title(case: Case, name: str | None = None) -> str:
    """The engine of a case, by this name, with all settings that are not the default."""
    settings = [] if case.setup == DEFAULT else [case.setup.label]
    return ", ".join([name or case.engine, *settings, *(f"{option} {value}" for option, value in case.options.items())])


def _engine_result(title: str, version: str, answer: EngineAnswer | None, replayed: Replayed) -> EngineResult:
    true, case = replayed.ours, replayed.case
    right = answer is not None and answer.limb == true.limb
    error = off = None
    if answer is not None and right and answer.fraction is not None and true.fraction is not None:
        error = (answer.fraction - true.fraction) * case.length
        if answer.normal is not None and true.normal is not None and any(true.normal):
            off = degrees(float(angle(np.array([true.normal]), np.array([answer.normal]))[0]))
    return EngineResult(title, version, answer, right, error, off)
