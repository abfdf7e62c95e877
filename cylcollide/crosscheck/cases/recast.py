"""One case asked again, now: both answers, every disagreement about the segment with its cause, and the exact truth."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from cylcollide._types import Face
from cylcollide.crosscheck.cases.case import Case, both_answers, explained, vector
from cylcollide.crosscheck.cases.fields import Vector
from cylcollide.crosscheck.cases.variants import CaseRunner, CaseVariant
from cylcollide.crosscheck.causes.classify import compare
from cylcollide.crosscheck.generate.shots import Intent, ShotScene, shots
from cylcollide.crosscheck.judge.comparison import Truth, engine_answers
from cylcollide.crosscheck.judge.disagreements import VERDICTS, Kind
from cylcollide.crosscheck.judge.exact_truth import exact_hit, solids
from cylcollide.crosscheck.records import plain
from cylcollide.engines import EngineHits
from cylcollide.query.hits import RayHits


@dataclass(frozen=True)
class EngineAnswer:
    """The answer of one side: a miss has limb -1 and None elsewhere."""

    limb: int
    fraction: float | None
    position: Vector | None
    normal: Vector | None  # None too where the side reports none

    @classmethod
    def row(cls, hits: EngineHits | RayHits, row: int) -> Self:
        """One row of the answers."""
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

    ours: EngineAnswer
    theirs: EngineAnswer | None  # None: the engine gave no answer
    exact: Proved
    cases: tuple[Case, ...]  # every disagreement about the segment, with the numbers of now

    def again(self, case: Case) -> Case | None:
        """The disagreement of this case's kind, about the same limbs, if it is still there."""
        return next((now for now in self.cases if _same(now, case)), None)

    @property
    def proved(self) -> bool:
        """Whether rational arithmetic confirms this library's verdict and limb."""
        return self.exact.limb == self.ours.limb


def recast(case: Case, runner: CaseRunner) -> Live:
    """Ask both sides about a case, in a batch of equal segments if its engine lost it in a batch."""
    scene, row = _scene(case)
    both, found = compare(scene, runner.engine_of, runner.calibrations(CaseVariant.of(case)))
    theirs = EngineAnswer.row(both.theirs, row) if both.answered[row] else None
    answers = both_answers(both.ours, both.theirs, row)
    cases = (replace(case, **explained(found, at), **answers) for at, of in enumerate(found.row) if of == row)
    return Live(EngineAnswer.row(both.ours, row), theirs, exact_answer(case), tuple(cases))


def limbs_named(case: Case, runner: CaseRunner) -> tuple[int, int]:
    """The limbs that both sides name, without a cause: the same variant as :func:`recast`, for less work."""
    scene, row = _scene(case)
    truth = Truth(scene)
    with runner.engine_of(case.built) as engine:
        return int(truth.hits.limb[row]), int(engine_answers(engine, truth).hits.limb[row])


def exact_answer(case: Case) -> Proved:
    """Ask rational arithmetic."""
    hit = exact_hit(case.start, case.end, solids(case.p1, case.p2, case.radius))
    if hit is None:
        return Proved(-1, None, Face.NONE)
    limb, chord = hit
    return Proved(limb, chord.entry.double_double()[0], chord.entry_face)


def _scene(case: Case) -> tuple[ShotScene, int]:
    """The segments that are cast at once, and the row that the case is about."""
    variant = CaseVariant.of(case)
    call = (*case.before, (case.start, case.end), *case.after)
    row = len(case.before)
    lost = case.kind_code == Kind.LOST and len(call) == 1
    if lost:
        call, row = call * int(case.bound or 1), min(case.row, int(case.bound or 1) - 1)
    start, end = (np.array(points) for points in zip(*call, strict=True))
    was = (np.array(case.was[0]), np.array(case.was[1])) if case.was else None
    scene = replace(variant.scene, shots=shots(start, end, Intent.EITHER), was=was)
    # Of lists that are one too long PyBullet answers most; of arrays, none.
    return replace(scene, whole_batch=lost, as_lists=case.measured != 0.0), row


def _same(now: Case, case: Case) -> bool:
    of_limbs = now.limb_true == case.limb_true and now.limb_engine == case.limb_engine
    return now.kind == case.kind and (of_limbs or case.kind_code not in VERDICTS)
