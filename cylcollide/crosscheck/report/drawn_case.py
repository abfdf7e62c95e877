"""The choice of cases for a page, and each case in coordinates for drawing."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from itertools import zip_longest
from typing import Any

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.crosscheck.cases.case import Case
from cylcollide.crosscheck.cases.wording import CAUSES
from cylcollide.crosscheck.causes.calibration import Calibration, calibrated_setup
from cylcollide.crosscheck.compare.disagreements import Cause, Kind
from cylcollide.crosscheck.engine import DEFAULT
from cylcollide.crosscheck.records import JsonObject
from cylcollide.crosscheck.run.chunk import WORST_KINDS
from cylcollide.engines.rounded_cylinder import Rounded

HUMAN = (0.01, 1.0)
"""Radii in metres of limbs of human size: cases with such limbs are preferred."""

OF_SETUPS = frozenset({Cause.SHAPE, Cause.NO_CORE_DISTANCE, Cause.BROAD_PHASE, Cause.API_LIMIT})
"""Causes that depend on the construction: limbs with other than the default setup show them best."""


def shown_cases(cases: Sequence[Case], cause: Cause) -> list[Case]:
    """The clearest case of every kind of a cause; kinds that show it best come first, losses last."""
    first = [Kind[name] for name in CAUSES[cause].get("shows", ())]
    kinds = sorted(
        Kind, key=lambda kind: (kind == Kind.LOST, kind not in first, first.index(kind) if kind in first else 0)
    )
    groups = [[case for case in cases if (case.cause_code, case.kind_code) == (cause, kind)] for kind in kinds]
    return [min(group, key=_telling) for group in groups if group]


def _telling(case: Case) -> tuple[Any, ...]:
    """Sort key of cases of one kind: limbs of human size, the default setup, and the largest amount come first."""
    pictured = HUMAN[0] <= case.radius[case.limb] <= HUMAN[1]
    usual = case.setup == DEFAULT or case.cause_code in OF_SETUPS
    whole, size = case.start != case.end, abs(case.amount or 0.0)
    return not whole, not pictured, case.family == "extremes", not usual, -size, case.place


def worst_cases(cases: Sequence[Case], causes: Sequence[Cause] = (), most: int = 10) -> list[Case]:
    """The cases that the page shows: causes take turns, in the given order, each with its case of every kind.

    Without causes the kinds take turns, each with its worst cases: a gap of one millimetre and a distance error of one
    millimetre are not comparable.
    """
    queues = [shown_cases(cases, cause) for cause in causes]
    if not causes:
        worst = sorted(cases, key=lambda case: (1.0 if case.amount is None else -abs(case.amount), case.place))
        queues = [[case for case in worst if case.kind_code == kind] for kind in WORST_KINDS]
    chosen = [case for turn in zip_longest(*queues) for case in turn if case is not None][:most]
    # Lost answers come last, as they show little.
    return sorted(chosen, key=lambda case: case.kind_code == Kind.LOST)


class Drawn:
    """A case relative to the centre of its limb, metres, so that worlds far away lose no digits in drawings.

    The limbs' ends are (m, 3), points of the segment (3,); ``calibrations`` are those of the run's summary.
    """

    def __init__(self, case: Case, calibrations: Sequence[JsonObject]) -> None:
        p1, p2, limb = np.array(case.p1), np.array(case.p2), case.limb
        centre = 0.5 * (p1[limb] + p2[limb])
        self.case, self.limb, self.radius = case, limb, case.radius[limb]
        self.p1, self.p2, self.start, self.end = (
            x - centre for x in (p1, p2, np.array(case.start), np.array(case.end))
        )
        # The direction of a segment without length is the limb's axis.
        step = self.end - self.start if case.length else self.p2[limb] - self.p1[limb]
        self.direction: Float64Array = step / np.linalg.norm(step)
        known = self.calibration = _known(calibrations, case, 0.5 * math.dist(case.p1[limb], case.p2[limb]))
        # One row: the engine's solid in place of the limb, as measured; None if it was not measured.
        self.held = None if known is None else known.solid(self.p1[[limb]], self.p2[[limb]])
        least = self.true(limb).least_distance(self.start[None], self.end[None])
        # Where the segment is closest to, or deepest in, the true limb.
        self.nearest: Float64Array = self.start + float(least.fraction[0]) * (self.end - self.start)

    def hit(self, side: str) -> Float64Array | None:
        """Point (3,) that a side, ``true`` or ``engine``, reports; None for a miss."""
        fraction = getattr(self.case, f"fraction_{side}")
        return None if fraction is None else self.start + fraction * (self.end - self.start)

    def normal(self, side: str) -> Float64Array:
        """Normal (3,) that a side reports; zero for a miss."""
        return np.array(getattr(self.case, f"normal_{side}") or (0.0, 0.0, 0.0))

    def true(self, limb: int) -> Rounded:
        """The true limb, as one row."""
        return Rounded.cylinders(self.p1[[limb]], self.p2[[limb]], np.array([self.case.radius[limb]]))


def _known(calibrations: Sequence[JsonObject], case: Case, half: float) -> Calibration | None:
    """The calibration for the limb's setup and its size up to the rounding of its ends; None if there is none."""
    setup, size = asdict(calibrated_setup(case.setup)), [case.radius[case.limb], half]
    for known in calibrations:
        if known["setup"] == setup and np.allclose([known["radius"], known["half"]], size, rtol=1e-6):
            # JSON has no infinity: None means that no radius was found from which limbs count as big.
            record: JsonObject = {name: math.inf if value is None else value for name, value in known.items()}
            return Calibration(**{name: value for name, value in record.items() if name != "setup"})
    return None
