"""Which change of one segment must make its disagreement vanish, and which must leave it, for each cause.

A trial applies where the cause predicts something that differs from what was there before: a scale, for example, at
which the predicted error is less than half of the error seen. ``docs/causes.md`` lists all trials.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from cylcollide.crosscheck.cases.case import Case
from cylcollide.crosscheck.cases.interventions.case_variant import CaseVariant
from cylcollide.crosscheck.cases.interventions.outcome import CaseRunner
from cylcollide.crosscheck.cases.interventions.subject import (
    Subject,
    early_allowed,
    from_edge,
    jittered,
    larger_worlds,
    spun,
    tilt_allowed,
)
from cylcollide.crosscheck.causes.cause import Cause
from cylcollide.crosscheck.causes.rounded_cylinder import outward_normal
from cylcollide.crosscheck.engine.pybullet_client import BulletClient
from cylcollide.crosscheck.judge.disagreements import VERDICTS, Kind

SMALLER = (0.1, 0.01, 0.001)
SMALL = 0.5
"""Metres: a big limb is scaled down to no less than this radius, where the rounding of big shapes is gone."""
DEFAULT_MARGIN = 1e-3


@dataclass(frozen=True)
class Trial:
    """One change of the segment's world and what became of the disagreement."""

    change: str
    predicted: str  # "vanishes", "shrinks", "stays", "changes"
    held: bool


Trials = Iterator[Trial]


def trials(case: Case, runner: CaseRunner) -> list[Trial]:
    """Run every trial that applies to a case; none for an engine without PyBullet's settings."""
    of = OF_CAUSE.get(case.cause_code)
    if of is None or not isinstance(runner.engine_of, type) or not issubclass(runner.engine_of, BulletClient):
        return []
    return list(of(Subject(case, CaseVariant.of(case), runner)))


def is_proved(run: list[Trial]) -> bool:
    """Whether a change made the disagreement go as predicted, and no change contradicted."""
    return bool(run) and all(trial.held for trial in run)


def _vanishes(subject: Subject, change: str, variant: CaseVariant) -> Trial:
    """A wrong verdict is right after the change."""
    return Trial(change, "vanishes", subject.runner(variant).verdicts_agree)


def _termination(subject: Subject) -> Trials:
    view = subject.runner.look(subject.variant, subject.limb)
    stop = float(view.limits.stop[0])
    if subject.kind in VERDICTS:
        yield from _grown_apart(subject, stop)
        return
    for factor in larger_worlds(subject):
        grown = subject.variant.scaled(factor)
        allowed = early_allowed(subject, grown) if subject.kind == Kind.EARLY else tilt_allowed(subject, grown)
        before = subject.amount * (factor if subject.kind == Kind.EARLY else 1.0)
        if allowed < 0.5 * before:
            after = subject.error(subject.runner(grown))
            yield Trial(f"world x {factor:g}", "shrinks", after <= allowed)
            return


def _grown_apart(subject: Subject, stop: float) -> Trials:
    view = subject.runner.look(subject.variant, subject.limb)
    gap = float(view.least_true.distance[0])
    # A gap that is wider than the stop in a larger world is seen there.
    for factor in larger_worlds(subject):
        if gap * factor > 2 * stop:
            yield _vanishes(subject, f"world x {factor:g}", subject.variant.scaled(factor))
            break
    if subject.kind == Kind.PHANTOM:
        least = view.least_true
        nearest = view.start + least.fraction[:, None] * (view.end - view.start)
        away = outward_normal(view.true, nearest)[0]
        reach = 1.5 * stop + max(float(view.limits.growth[0]), 0.0)
        apart = subject.variant.shifted((reach - gap) * away)
        yield _vanishes(subject, "segment moved 1.5 stops away from the limb", apart)
    elif gap <= 0.0 and (larger := larger_worlds(subject)):
        # Both limbs are met: the one behind is no longer reported before the one in front.
        factor = min(larger[-1], 1000.0)
        yield _vanishes(subject, f"world x {factor:g}", subject.variant.scaled(factor))


def _rim(subject: Subject) -> Trials:
    view = subject.runner.look(subject.variant, subject.limb)
    stop, rim = float(view.limits.stop[0]), float(view.limits.rim[0])
    depth = -float(view.least_true.distance[0])
    corner = np.sqrt(2.0) - 1.0
    # The margin of a limb out of MJCF grows with it; that of a hull grows the hull.
    larger = larger_worlds(subject) if subject.variant.setup.construction in ("geom", "urdf-implicit") else []
    if subject.kind == Kind.MISSED:
        # A rim rounded less than the cut is deep is met.
        for share in (0.1, 0.01, 0.001):
            if depth > 2 * corner * share * rim and subject.variant.setup.construction != "urdf":
                yield _vanishes(subject, f"margin x {share:g}", subject.variant.with_margin(share * rim))
                break
        for factor in larger:
            if depth * factor > 2 * corner * rim:
                yield _vanishes(subject, f"world x {factor:g}", subject.variant.scaled(factor))
                break
        return
    # Where the hit is farther from the edge than rounding and stop reach, the surface is the true one.
    edge = from_edge(subject)
    for factor in larger:
        grown = subject.variant.scaled(factor)
        if edge * factor <= 3 * (rim + stop):
            continue
        after = subject.runner(grown)
        if subject.kind == Kind.NORMAL:
            allowed = tilt_allowed(subject, grown)
            if allowed < 0.5 * subject.amount:
                yield Trial(f"world x {factor:g}", "shrinks", after.tilt() <= allowed)
                return
        else:
            gone = Cause.RIM_ROUNDING not in [after.causes.get(kind) for kind in (subject.kind, *VERDICTS)]
            yield Trial(f"world x {factor:g}", "vanishes", gone)
            return


def _early_exit(subject: Subject) -> Trials:
    if subject.kind in VERDICTS:
        if larger := larger_worlds(subject):
            factor = min(larger[-1], 1000.0)
            yield _vanishes(subject, f"world x {factor:g}", subject.variant.scaled(factor))
        return
    for factor in larger_worlds(subject):
        grown = subject.variant.scaled(factor)
        limits = subject.runner.look(grown, subject.limb).limits
        law = float(limits.early_exit[0])
        if subject.kind == Kind.NORMAL:
            allowed, before = tilt_allowed(subject, grown), subject.amount
        else:
            allowed, before = law, abs(subject.case.measured or 0.0) * factor
        if allowed < 0.5 * before:
            after = subject.runner(grown)
            if subject.kind == Kind.LATE:
                yield Trial(f"world x {factor:g}", "shrinks", after.causes.get(Kind.LATE) in (None, *_KEPT_ITS_BOUND))
            else:
                yield Trial(f"world x {factor:g}", "shrinks", after.tilt() <= allowed)
            return
    yield from _changes(subject)


_KEPT_ITS_BOUND = (Cause.EARLY_EXIT, Cause.BIG_SHAPE)


def _changes(subject: Subject) -> Trials:
    """Rounding lands elsewhere when the segment begins elsewhere on its line, by an ulp, or the limb is spun."""
    change = "start moved along the line or nudged, limb spun"
    after = subject.runner.several(subject.variant, jittered(subject))
    after += [subject.runner(variant) for variant in spun(subject)]
    if subject.kind in VERDICTS:
        yield Trial(change, "vanishes for some", any(outcome.verdicts_agree for outcome in after))
        return
    errors = [subject.error(outcome) for outcome in after]
    yield Trial(change, "changes", max(errors) - min(errors) > 0.1 * subject.amount)


def _big_shape(subject: Subject) -> Trials:
    for factor in SMALLER:
        if subject.radius * factor < SMALL:
            break
        shrunk = subject.variant.scaled(factor)
        law = float(subject.runner.look(shrunk, subject.limb).limits.early_exit[0])
        if subject.kind in VERDICTS:
            if subject.amount * factor > law:
                yield _vanishes(subject, f"world x {factor:g}", shrunk)
                return
        elif subject.kind == Kind.LATE and (subject.case.measured or 0.0) * factor > 2 * law:
            after = subject.runner(shrunk).causes.get(Kind.LATE)
            yield Trial(f"world x {factor:g}", "shrinks", after in (None, Cause.EARLY_EXIT, Cause.RIM_ROUNDING))
            return
    yield from _changes(subject)


def _inside_start(subject: Subject) -> Trials:
    variant = subject.variant
    back = 4 * float(np.hypot(subject.radius, np.linalg.norm(variant.p2 - variant.p1, axis=1).max()))
    if not variant.direction.any():
        variant = variant.towards(variant.start + np.array([subject.radius, 0.0, 0.0]))
    after = subject.runner(variant.begun(back))
    yield Trial("start moved out of the limb", "vanishes", after.limb_engine >= 0 and after.limb_true >= 0)


def _no_core_distance(subject: Subject) -> Trials:
    margin = subject.variant.setup.margin
    if margin is not None and margin < DEFAULT_MARGIN and min(subject.case.radius) > 2 * DEFAULT_MARGIN:
        after = subject.runner(subject.variant.with_margin(DEFAULT_MARGIN))
        yield Trial("margin 1 mm", "vanishes", Cause.NO_CORE_DISTANCE not in after.causes.values())
        return
    yield from _changes(subject)


def _shape(subject: Subject) -> Trials:
    if subject.variant.setup.construction == "geom" and subject.variant.setup.margin is None:
        return
    implicit = subject.variant.built_as("urdf-implicit")
    after = subject.runner(implicit)
    yield Trial("implicit cylinder", "vanishes", Cause.SHAPE not in after.causes.values())


def _segment_end(subject: Subject) -> Trials:
    view = subject.runner.look(subject.variant, subject.limb)
    stop = float(view.limits.stop[0])
    longer = subject.variant.ended(4 * (stop + float(view.limits.overshoot[0])) + 0.5 * subject.radius)
    after = subject.runner(longer)
    if after.limb_true >= 0:
        yield Trial("segment lengthened", "vanishes", after.verdicts_agree)
    else:
        yield from _grown_apart(subject, stop)


def _broad_phase(subject: Subject) -> Trials:
    variant = subject.variant
    if not variant.direction.any():
        axis = 0.5 * (variant.p1[subject.limb] + variant.p2[subject.limb])
        longer = variant.towards(variant.start + 1e-3 * (axis - variant.start))
        yield _vanishes(subject, "segment given a length", longer)
        return
    yield _vanishes(subject, "boxes refreshed", variant.refreshed())


def _api_limit(subject: Subject) -> Trials:
    if subject.kind == Kind.LOST:
        after = subject.runner(subject.variant)
        yield Trial("asked alone", "vanishes", (after.limb_engine >= 0) == (after.limb_true >= 0))
        return
    margin = 0.1 * min(*subject.case.radius, DEFAULT_MARGIN)
    after = subject.runner(subject.variant.with_margin(margin))
    yield Trial("margin below the limb's size", "vanishes", Cause.API_LIMIT not in after.causes.values())


OF_CAUSE: dict[Cause, Callable[[Subject], Trials]] = {
    Cause.TERMINATION: _termination,
    Cause.RIM_ROUNDING: _rim,
    Cause.EARLY_EXIT: _early_exit,
    Cause.BIG_SHAPE: _big_shape,
    Cause.INSIDE_START: _inside_start,
    Cause.NO_CORE_DISTANCE: _no_core_distance,
    Cause.NOISY_NORMAL: _changes,
    Cause.SHAPE: _shape,
    Cause.SEGMENT_END: _segment_end,
    Cause.BROAD_PHASE: _broad_phase,
    Cause.API_LIMIT: _api_limit,
}
