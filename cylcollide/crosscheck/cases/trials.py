"""For each cause, changes of a case that must make its disagreement vanish, and changes that must not.

A trial applies if the cause predicts an effect of the change: for example, a scale at which the predicted error is
less than half of the observed error. ``docs/causes.md`` lists all trials.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from cylcollide.crosscheck.cases.case import Case
from cylcollide.crosscheck.cases.variants import CaseVariant, Outcome, cast_both
from cylcollide.crosscheck.causes.calibration import CORNER, calibrations
from cylcollide.crosscheck.causes.predicates import SegmentGeometry, sight
from cylcollide.crosscheck.compare.disagreements import VERDICTS, Cause, Kind
from cylcollide.crosscheck.engine import BulletClient, EngineOf, Setup

LARGER, SMALLER = (10.0, 100.0, 1000.0, 1e4, 1e5), (0.1, 0.01, 0.001)
TALLEST = 1e3
"""Metres: largest radius to which a limb is scaled; beyond it the rounding of big shapes hides other causes."""
SMALL = 0.5
"""Metres: smallest radius to which a big limb is scaled down; the rounding of big shapes has no effect there."""
DEFAULT_MARGIN = 1e-3
JITTERS = 12
SPINS = (0.4, 1.3, 2.9)
"""Radians, not multiples of the angle of a hull's facet."""


@dataclass(frozen=True)
class Trial:
    """One change of the segment's world, and its effect on the disagreement."""

    change: str
    predicted: str  # "vanishes", "shrinks", "changes", "vanishes for some"
    held: bool


Trials = Iterator[Trial]


def trials(case: Case, engine_of: EngineOf) -> list[Trial]:
    """Run every trial that applies to a case; none for an engine without PyBullet's settings."""
    of = OF_CAUSE.get(case.cause_code)
    if of is None or engine_of is not BulletClient:
        return []
    return list(of(TrialCase(case, engine_of)))


def is_proved(run: list[Trial]) -> bool:
    """Whether there were changes, and all had the predicted effect."""
    return bool(run) and all(trial.held for trial in run)


class TrialCase:
    """A case under trial, and the predictions of its cause for changed worlds; for the limb of the case."""

    def __init__(self, case: Case, engine_of: EngineOf) -> None:
        self.case, self.engine_of, self.variant, self.kind = case, engine_of, CaseVariant.of(case), case.kind_code
        self.amount = abs(case.amount or 0.0)  # metres or radians
        self.radius = case.radius[case.limb]
        self.larger = [factor for factor in LARGER if factor * self.radius <= TALLEST]
        self.view = self.geometry(self.variant)
        self.stop = float(self.view.limits.stop[0])  # metres in front of the limb

    def geometry(self, variant: CaseVariant) -> SegmentGeometry:
        """The geometry of segment and limb in a changed world."""
        known = calibrations(self.engine_of, variant, variant.size)
        return sight(variant, np.zeros(1, dtype=np.int64), known, np.array([self.case.limb], dtype=np.int32))

    def cast(self, variant: CaseVariant) -> Outcome:
        """The answers of both sides in a changed world."""
        return cast_both(self.engine_of, variant)[0]

    def vanishes(self, change: str, variant: CaseVariant) -> Trial:
        """The trial that a wrong verdict is right after the change."""
        return Trial(change, "vanishes", self.cast(variant).verdicts_agree)

    def without_cause(self, change: str, variant: CaseVariant) -> Trial:
        """The trial that no disagreement has the cause of the case after the change."""
        return Trial(change, "vanishes", self.case.cause_code not in self.cast(variant).causes.values())

    def vanishes_grown(self, where: Callable[[float], bool]) -> Trials:
        """The trial that a wrong verdict is right in the first larger world for which ``where`` holds, if any."""
        factor = next(filter(where, self.larger), None)
        if factor is not None:
            yield self.vanishes(f"world x {factor:g}", self.variant.scaled(factor))

    def vanishes_far(self) -> Trials:
        """The trial that a wrong verdict is right in a world a thousand times as large, or the largest allowed one."""
        far = min(self.larger[-1], 1000.0) if self.larger else 0.0
        return self.vanishes_grown(lambda factor: factor == far)

    def early_allowed(self, variant: CaseVariant) -> float:
        """Largest early error that the stop allows, metres along the segment."""
        view = self.geometry(variant)
        first = float(view.entry_held(view.limits.stop + view.rounding)[0])
        return (self.case.fraction_true or 0.0) * float(view.length[0]) - first + float(view.rounding[0])

    def tilt_allowed(self, variant: CaseVariant) -> float:
        """Largest tilt that the stop and the early exit together allow, radians."""
        limits = self.geometry(variant).limits
        beyond = 2 * (limits.stop + limits.early_exit)[0] / limits.radius[0]
        return float(np.arccos(1 / (1 + 0.5 * beyond)) + np.sqrt(2 * limits.early_exit[0] / limits.radius[0]))


def _termination(case: TrialCase) -> Trials:
    if case.kind in VERDICTS:
        yield from _grown_apart(case)
        return
    early = case.kind == Kind.EARLY
    for factor in case.larger:
        grown = case.variant.scaled(factor)
        allowed = case.early_allowed(grown) if early else case.tilt_allowed(grown)
        if allowed < 0.5 * case.amount * (factor if early else 1.0):
            yield Trial(f"world x {factor:g}", "shrinks", case.cast(grown).error(case.kind) <= allowed)
            return


def _grown_apart(case: TrialCase) -> Trials:
    view, stop, least = case.view, case.stop, case.view.least_true
    gap = float(least.distance[0])
    # In a larger world in which the gap is wider than the stop, the engine must resolve it.
    yield from case.vanishes_grown(lambda factor: gap * factor > 2 * stop)
    if case.kind == Kind.PHANTOM:
        nearest = view.start + least.fraction[:, None] * (view.end - view.start)
        away = view.true.outward_normal(nearest)[0]
        aside = (1.5 * stop + max(float(view.limits.growth[0]), 0.0) - gap) * away
        apart = case.variant.with_segment(case.variant.start + aside, case.variant.end + aside)
        yield case.vanishes("segment moved 1.5 stops away from the limb", apart)
    elif gap <= 0.0:
        # Both limbs are hit: the one behind must no longer be reported before the one in front.
        yield from case.vanishes_far()


def _rim(case: TrialCase) -> Trials:
    rim, depth = float(case.view.limits.rim[0]), -float(case.view.least_true.distance[0])
    construction = case.variant.setup.construction
    # The margin of a limb from MJCF grows with the limb; that of a hull grows the hull.
    grows = construction in ("geom", "urdf-implicit")
    if case.kind == Kind.MISSED:
        # A rim is hit if its rounding is smaller than the depth of the cut.
        share = next((share for share in SMALLER if depth > 2 * CORNER * share * rim), None)
        if share is not None and construction != "urdf":
            yield case.vanishes(f"margin x {share:g}", case.variant.built(margin=share * rim, stale=False))
        yield from case.vanishes_grown(lambda factor: grows and depth * factor > 2 * CORNER * rim)
        return
    # If the hit is farther from the edge than rounding and stop reach, the surface is the true one.
    edge, reach = case.variant.from_rim(case.case.limb_true, case.case.fraction_true or 0.0), 3 * (rim + case.stop)
    for factor in case.larger if grows else ():
        grown = case.variant.scaled(factor)
        if edge * factor <= reach:
            continue
        after = case.cast(grown)
        if case.kind != Kind.NORMAL:
            gone = Cause.RIM_ROUNDING not in [after.causes.get(kind) for kind in (case.kind, *VERDICTS)]
            yield Trial(f"world x {factor:g}", "vanishes", gone)
            return
        allowed = case.tilt_allowed(grown)
        if allowed < 0.5 * case.amount:
            yield Trial(f"world x {factor:g}", "shrinks", after.error(case.kind) <= allowed)
            return


def _early_exit(case: TrialCase) -> Trials:
    if case.kind in VERDICTS:
        yield from case.vanishes_far()
        return
    for factor in case.larger:
        grown = case.variant.scaled(factor)
        if case.kind == Kind.NORMAL:
            allowed, before = case.tilt_allowed(grown), case.amount
        else:
            allowed, before = float(case.geometry(grown).limits.early_exit[0]), abs(case.case.measured or 0.0) * factor
        if allowed < 0.5 * before:
            after = case.cast(grown)
            kept = after.causes.get(Kind.LATE) in (None, Cause.EARLY_EXIT, Cause.BIG_SHAPE)
            held = kept if case.kind == Kind.LATE else after.error(Kind.NORMAL) <= allowed
            yield Trial(f"world x {factor:g}", "shrinks", held)
            return
    yield from _changes(case)


def _changes(case: TrialCase) -> Trials:
    """Trials that the rounding error changes if the start moves on its line or by an ulp, or the limb is spun."""
    change, variant = "start moved along the line or nudged, limb spun", case.variant
    steps = 2 * case.radius * np.random.default_rng(0).uniform(0.01, 1.0, JITTERS)
    begun = [variant.begun(float(step)) for step in steps] + [variant.nudged(ulps) for ulps in (-2, -1, 1, 2)]
    after = cast_both(case.engine_of, variant, *begun) + [
        case.cast(variant.built(spin=variant.setup.spin + angle)) for angle in SPINS
    ]
    if case.kind in VERDICTS:
        yield Trial(change, "vanishes for some", any(outcome.verdicts_agree for outcome in after))
        return
    errors = [outcome.error(case.kind) for outcome in after]
    yield Trial(change, "changes", max(errors) - min(errors) > 0.1 * case.amount)


def _big_shape(case: TrialCase) -> Trials:
    for factor in SMALLER:
        if case.radius * factor < SMALL:
            break
        change, shrunk = f"world x {factor:g}", case.variant.scaled(factor)
        law = float(case.geometry(shrunk).limits.early_exit[0])
        if case.kind in VERDICTS and case.amount * factor > law:
            yield case.vanishes(change, shrunk)
            return
        if case.kind == Kind.LATE and (case.case.measured or 0.0) * factor > 2 * law:
            after = case.cast(shrunk).causes.get(Kind.LATE)
            yield Trial(change, "shrinks", after in (None, Cause.EARLY_EXIT, Cause.RIM_ROUNDING))
            return
    yield from _changes(case)


def _inside_start(case: TrialCase) -> Trials:
    variant = case.variant
    back = 4 * float(np.hypot(case.radius, np.linalg.norm(variant.p2 - variant.p1, axis=1).max()))
    if not variant.direction.any():
        variant = variant.with_segment(variant.start, variant.start + np.array([case.radius, 0.0, 0.0]))
    after = case.cast(variant.begun(back))
    yield Trial("start moved out of the limb", "vanishes", after.limb_engine >= 0 and after.limb_true >= 0)


def _no_core_distance(case: TrialCase) -> Trials:
    margin = case.variant.setup.margin
    if margin is not None and margin < DEFAULT_MARGIN and min(case.case.radius) > 2 * DEFAULT_MARGIN:
        yield case.without_cause("margin 1 mm", case.variant.built(margin=DEFAULT_MARGIN, stale=False))
    else:
        yield from _changes(case)


def _shape(case: TrialCase) -> Trials:
    setup = case.variant.setup
    if setup.construction != "geom" or setup.margin is not None:
        yield case.without_cause("implicit cylinder", replace(case.variant, setup=Setup(construction="urdf-implicit")))


def _segment_end(case: TrialCase) -> Trials:
    reach = 4 * (case.stop + float(case.view.limits.overshoot[0])) + 0.5 * case.radius
    after = case.cast(case.variant.ended(reach))
    if after.limb_true >= 0:
        yield Trial("segment lengthened", "vanishes", after.verdicts_agree)
    else:
        yield from _grown_apart(case)


def _broad_phase(case: TrialCase) -> Trials:
    variant, limb = case.variant, case.case.limb
    if variant.direction.any():
        yield case.vanishes("boxes refreshed", variant.built(stale=False, fresh=True))
        return
    axis = 0.5 * (variant.p1[limb] + variant.p2[limb])
    longer = variant.with_segment(variant.start, variant.start + 1e-3 * (axis - variant.start))
    yield case.vanishes("segment given a length", longer)


def _api_limit(case: TrialCase) -> Trials:
    if case.kind == Kind.LOST:
        after = case.cast(case.variant)
        yield Trial("asked alone", "vanishes", (after.limb_engine >= 0) == (after.limb_true >= 0))
        return
    thin = case.variant.built(margin=0.1 * min(*case.case.radius, DEFAULT_MARGIN), stale=False)
    yield case.without_cause("margin below the limb's size", thin)


OF_CAUSE: dict[Cause, Callable[[TrialCase], Trials]] = {
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
