"""One case asked again, now: both answers, every disagreement about the segment with its cause, and the exact truth."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cylcollide._types import BoolArray, Face, Float64Array
from cylcollide.crosscheck.cases.case import Case, Vector, explained, plain, vector
from cylcollide.crosscheck.cases.interventions.outcome import OF_VERDICT, Asker
from cylcollide.crosscheck.cases.interventions.question import Question
from cylcollide.crosscheck.causes.classify import Compared, Findings
from cylcollide.crosscheck.causes.kinds_and_causes import Cause, Kind
from cylcollide.crosscheck.causes.retest import ask_again
from cylcollide.crosscheck.engine.pybullet_client import BulletClient
from cylcollide.crosscheck.engine.setup import Asked
from cylcollide.crosscheck.generate.families.shots import Intent, shots
from cylcollide.engines import EngineHits
from cylcollide.exact.cylinder import Cylinder
from cylcollide.exact.line import RayNumbers
from cylcollide.exact.order import closest


@dataclass(frozen=True)
class Answer:
    """What one side says: a miss has limb -1 and None elsewhere."""

    limb: int
    fraction: float | None
    position: Vector | None
    normal: Vector | None  # None too where the side tells none

    @classmethod
    def row(cls, hits: EngineHits, row: int) -> "Answer":
        """One row of an engine's answers."""
        limb = int(hits.limb[row])
        return cls(limb, plain(hits.fraction[row]), vector(hits.position[row]), vector(hits.normal[row]))


@dataclass(frozen=True)
class Proved:
    """The answer in rational arithmetic, over all limbs, without a tree; the fraction is rounded once."""

    limb: int
    fraction: float | None
    face: Face


@dataclass(frozen=True)
class Live:
    """A case asked again."""

    ours: Answer
    theirs: Answer | None  # None: the engine gave no answer
    exact: Proved
    cases: tuple[Case, ...]  # every disagreement about the segment, with the numbers of now

    def again(self, case: Case) -> Case | None:
        """The disagreement of this case's kind, about the same limbs, if it is still there."""
        return next((now for now in self.cases if _same(now, case)), None)

    @property
    def proved(self) -> bool:
        """Whether rational arithmetic confirms this library's verdict and limb."""
        return self.exact.limb == self.ours.limb


def ask(case: Case, asker: Asker) -> Live:
    """Ask both sides about a case, in a batch of equal segments if its engine lost it in a batch."""
    question, (start, end, row) = Question.of(case), _segments(case)
    scene = replace(question.scene, shots=shots(start, end, Intent.EITHER))
    ours = case.world.cast_segments(start, end)
    with asker.engine_of(question.setup) as engine:
        engine.build(case.limbs)
        theirs, answered = _asked(case, engine, start, end)
        compared = Compared(scene, ours, theirs, answered, asker.calibrations(question))
        found = ask_again(compared.findings(), compared, engine, asker.engine_of)
    said = EngineHits(ours.limb, np.where(ours.hit, ours.fraction, np.nan), ours.position, ours.normal)
    mine = Answer.row(said, row)
    its = Answer.row(theirs, row) if answered[row] else None
    rows = np.flatnonzero(found.row == row)
    return Live(mine, its, exact_answer(case), tuple(_case(case, mine, its, found, int(at)) for at in rows))


def limbs_named(case: Case, asker: Asker) -> tuple[int, int]:
    """The limbs that both sides name, without a cause: the same question as :func:`ask`, for less work."""
    start, end, row = _segments(case)
    with asker.engine_of(case.built) as engine:
        engine.build(case.limbs)
        theirs, _ = _asked(case, engine, start, end)
    return int(case.world.cast_segments(start[[row]], end[[row]]).limb[0]), int(theirs.limb[row])


def exact_answer(case: Case) -> Proved:
    """Ask rational arithmetic."""
    limbs = [(index, Cylinder(*solid)) for index, solid in enumerate(zip(case.p1, case.p2, case.radius, strict=True))]
    hit, _ = closest(RayNumbers(case.start, case.end, True, 1.0), limbs, "hit")
    if hit is None:
        return Proved(-1, None, Face.NONE)
    limb, chord = hit
    return Proved(limb, chord.entry.double_double()[0], chord.entry_face)


def _segments(case: Case) -> tuple[Float64Array, Float64Array, int]:
    """Starts and ends, (n, 3), that are asked at once, all equal, and the row that the case is about."""
    copies, row = _batch(case)
    return np.tile(case.start, (copies, 1)), np.tile(case.end, (copies, 1)), row


def _batch(case: Case) -> tuple[int, int]:
    if case.kind_code == Kind.LOST:
        copies = int(case.bound or 1)
        return copies, min(case.row, copies - 1)
    # A hit that came back when asked for alone was lost by its place in the batch.
    came_back = case.cause == Cause.API_LIMIT.label and case.bound is None
    return (case.row + 1, case.row) if came_back else (1, 0)


def _asked(case: Case, engine: Asked, start: Float64Array, end: Float64Array) -> tuple[EngineHits, BoolArray]:
    """The engine's answers, and which segments got one."""
    n = len(start)
    if not (case.kind_code == Kind.LOST and isinstance(engine, BulletClient)):
        return engine.cast_segments(start, end), np.ones(n, dtype=np.bool_)
    # Of lists that are one too long PyBullet answers most; of arrays, none.
    as_arrays = case.measured == 0.0
    answers: Sequence[Any]
    try:
        answers = engine.cast_batch(*((start, end) if as_arrays else (start.tolist(), end.tolist())))
    except Exception:  # PyBullet's own error class: the call is refused, which is an answer too
        answers = ()
    return engine.as_hits(answers, n), np.arange(n) < len(answers)


def _same(now: Case, case: Case) -> bool:
    of_limbs = now.limb_true == case.limb_true and now.limb_engine == case.limb_engine
    return now.kind == case.kind and (of_limbs or case.kind_code not in OF_VERDICT)


def _case(case: Case, ours: Answer, theirs: Answer | None, found: Findings, at: int) -> Case:
    its = theirs or Answer(-1, None, None, None)
    return replace(
        case,
        **explained(found, at),
        limb_true=ours.limb,
        limb_engine=its.limb,
        fraction_true=ours.fraction,
        fraction_engine=its.fraction,
        normal_true=ours.normal,
        normal_engine=its.normal,
    )
