"""A case made small by delta debugging: change one thing, ask again, keep the change if the disagreement is the same.

"Delta debugging" after Zeller and Hildebrandt, *Simplifying and Isolating Failure-Inducing Input* (2002).
"""

from dataclasses import dataclass, field

from cylcollide.crosscheck.cases.case import Case
from cylcollide.crosscheck.cases.recast import limbs_named, recast
from cylcollide.crosscheck.cases.reductions import PASSES, is_valid, size
from cylcollide.crosscheck.cases.variants import CaseRunner
from cylcollide.crosscheck.judge.disagreements import VERDICTS

QUESTIONS = 1500
"""Most candidates that are asked about; each takes some milliseconds, a limb of a new size some tens more."""

KEPT_SHARE = 0.5
"""Share of its amount that a disagreement keeps at least, so that a millimetre does not end as a rounding."""


class NotReproducedError(ValueError):
    """The engine does not disagree in the way that the case says: there is nothing to keep."""


def minimise(case: Case, runner: CaseRunner, questions: int = QUESTIONS) -> Case:
    """Return a smaller case with the same kind of disagreement and the same cause.

    Limbs that are not needed go, settings become the default, the segment becomes short, the limb goes to the origin
    and along an axis, and numbers get fewer digits, in turns until nothing changes. A change is kept if the case is
    smaller by :func:`~cylcollide.crosscheck.cases.reductions.size`, the engine still disagrees in the same kind, at
    least half as badly, the cause named is the same, and rational arithmetic confirms this library. Equal cases end
    equal.

    Parameters
    ----------
    case
        What to make smaller; its cause is the one that is found now.
    runner
        Of the engine that disagrees.
    questions
        How many candidates may be asked about.

    Raises
    ------
    NotReproducedError
        If the engine does not disagree in this way to begin with, or rational arithmetic does not confirm this library.
    """
    live = recast(case, runner)
    first = live.again(case)
    if first is None or not live.proved:
        raise NotReproducedError(f"expected a case that the engine repeats, got another answer to this {case.kind}")
    search, before = _Search(runner, first, first, questions), None
    while search.smallest != before:
        before = search.smallest
        for simplify in PASSES:
            for candidate in simplify(lambda: search.smallest):
                search.look_at(candidate)
    return search.smallest


@dataclass
class _Search:
    """Asks about candidates, each once, until no question is left."""

    runner: CaseRunner
    goal: Case
    smallest: Case
    left: int
    asked: set[str] = field(default_factory=set)

    def look_at(self, candidate: Case) -> None:
        """Keep the candidate, with the answers of now, if it is smaller and does the same."""
        pointless = candidate.length == 0.0 < self.goal.length
        if self.left == 0 or pointless or not is_valid(candidate) or not size(candidate) < size(self.smallest):
            return
        key = repr(candidate)
        if key not in self.asked:
            self.asked.add(key)
            self.left -= 1
            self.smallest = self._same(candidate) or self.smallest

    def _same(self, candidate: Case) -> Case | None:
        # Most candidates end here, before anything is measured about limbs of a new size.
        named = candidate.limb_true, candidate.limb_engine
        if self.goal.kind_code in VERDICTS and limbs_named(candidate, self.runner) != named:
            return None
        live = recast(candidate, self.runner)
        now, goal = live.again(candidate), self.goal
        if now is None or not live.proved or now.cause != goal.cause:
            return None
        as_bad = goal.amount is None or abs(now.amount or 0.0) >= KEPT_SHARE * abs(goal.amount)
        return now if as_bad else None
