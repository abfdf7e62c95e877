"""A case under trial, and what its cause predicts for a changed world."""

from dataclasses import dataclass

import numpy as np

from cylcollide.crosscheck.cases.case import Case
from cylcollide.crosscheck.cases.interventions.case_variant import CaseVariant
from cylcollide.crosscheck.cases.interventions.outcome import CaseRunner, Outcome
from cylcollide.crosscheck.judge.disagreements import Kind

LARGER = (10.0, 100.0, 1000.0, 1e4, 1e5)
TALLEST = 1e3
"""Metres: no limb is scaled beyond this radius, where the rounding of big shapes would hide what is looked for."""
JITTERS = 12
SPINS = (0.4, 1.3, 2.9)
"""Radians: no multiples of a facet of a hull."""


@dataclass(frozen=True)
class Subject:
    """A case under trial."""

    case: Case
    variant: CaseVariant
    runner: CaseRunner

    @property
    def kind(self) -> Kind:
        """Of the disagreement."""
        return self.case.kind_code

    @property
    def amount(self) -> float:
        """How wrong, metres or radians."""
        return abs(self.case.amount or 0.0)

    @property
    def limb(self) -> int:
        """The limb that the disagreement is about."""
        return self.case.limb

    @property
    def radius(self) -> float:
        """Of that limb, metres."""
        return self.case.radius[self.limb]

    def error(self, outcome: Outcome) -> float:
        """The error of this case's kind in another outcome."""
        return {Kind.EARLY: outcome.early, Kind.LATE: outcome.late, Kind.NORMAL: outcome.tilt}[self.kind]()


def larger_worlds(subject: Subject) -> list[float]:
    """Factors by which the world may grow."""
    return [factor for factor in LARGER if factor * subject.radius <= TALLEST]


def early_allowed(subject: Subject, variant: CaseVariant) -> float:
    """Greatest early error that the stop allows, metres along the segment."""
    view = subject.runner.look(variant, subject.limb)
    level = view.limits.stop + view.rounding
    first = float(view.entry_held(level)[0])
    true = subject.case.fraction_true or 0.0
    return true * float(view.length[0]) - first + float(view.rounding[0])


def tilt_allowed(subject: Subject, variant: CaseVariant) -> float:
    """Greatest tilt that the stop and the early exit together allow, radians."""
    limits = subject.runner.look(variant, subject.limb).limits
    beyond = 2 * (limits.stop + limits.early_exit)[0] / limits.radius[0]
    return float(np.arccos(1 / (1 + 0.5 * beyond)) + np.sqrt(2 * limits.early_exit[0] / limits.radius[0]))


def from_edge(subject: Subject) -> float:
    """Distance of the true hit from the rim, along the face that is hit."""
    case, variant, limb = subject.case, subject.variant, subject.case.limb_true
    point = variant.start + (case.fraction_true or 0.0) * (variant.end - variant.start)
    axis = variant.p2[limb] - variant.p1[limb]
    length = float(np.linalg.norm(axis))
    offset = point - 0.5 * (variant.p1[limb] + variant.p2[limb])
    height = float(offset @ axis) / length
    distance = float(np.linalg.norm(offset - height * axis / length))
    return float(max(abs(0.5 * length - abs(height)), abs(variant.radius[limb] - distance)))


def jittered(subject: Subject) -> list[CaseVariant]:
    """The same line begun elsewhere, by up to a diameter or by some units in the last place."""
    variant, chance = subject.variant, np.random.default_rng(0)
    moved = [variant.begun(float(step)) for step in 2 * subject.radius * chance.uniform(0.01, 1.0, JITTERS)]
    return [*moved, *(variant.nudged(ulps) for ulps in (-2, -1, 1, 2))]


def spun(subject: Subject) -> list[CaseVariant]:
    """The same solids, spun about their own axes."""
    return [subject.variant.spun(angle) for angle in SPINS]
