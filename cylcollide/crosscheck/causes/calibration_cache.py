"""Calibrations, each measured once a process; they depend on the engine, the setup and the size alone."""

from dataclasses import replace
from functools import cache, partial

import numpy as np

from cylcollide.crosscheck.causes.calibration import Calibration, calibrate, calibrate_reference
from cylcollide.crosscheck.engine.setup import EngineOf, Setup
from cylcollide.crosscheck.generate.target import SIZES

DIGITS = "%.12g"
"""Limbs that are equal up to the rounding of their ends share a calibration."""


def calibrated_setup(setup: Setup) -> Setup:
    """The part of a setup that changes the solid: not where the body was before, nor the age of its boxes."""
    return Setup(construction=setup.construction, margin=setup.margin)


def calibration(engine_of: EngineOf, setup: Setup, radius: float, half: float) -> Calibration:
    """Measure an engine on a limb of this size, once a process."""
    found = _measured(engine_of, calibrated_setup(setup), float(DIGITS % radius), float(DIGITS % half))
    return replace(found, big_from=big_from(engine_of))


@cache
def big_from(engine_of: EngineOf) -> float:
    """Least of the families' radii at which rounding, not early exits, says how deep an overshoot goes."""
    every = [_measured(engine_of, Setup(), radius, half) for radius, half in SIZES]
    return min([found.radius for found in every if found.is_big], default=np.inf)


@cache
def reference(engine_of: EngineOf) -> Calibration:
    """Measure an engine on the reference limb, once a process."""
    return calibrate_reference(partial(engine_of, Setup()))


@cache
def _measured(engine_of: EngineOf, setup: Setup, radius: float, half: float) -> Calibration:
    return calibrate(partial(engine_of, setup), radius, half, reference(engine_of))
