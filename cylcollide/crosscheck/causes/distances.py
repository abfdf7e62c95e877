"""Causes of early and late hits of the right limb.

The error along the segment has two parts: from the true surface to the solid that the engine holds, and from there to
where the engine stopped. The larger part names the cause, if it keeps its bound.
"""

import numpy as np

from cylcollide._types import BoolArray, Float64Array
from cylcollide.crosscheck.causes.cause import Cause, Verdict
from cylcollide.crosscheck.causes.ray_geometry import Sight
from cylcollide.crosscheck.causes.verdicts import Reported


def distances(view: Sight, said: Reported, entry: Float64Array, on_cap: BoolArray) -> Verdict:
    """Explain the distance of each row, ``entry`` (n,) metres along the segment to the true hit."""
    found, limits, rounding = Verdict(len(entry)), view.limits, view.rounding
    at = view.from_held(said.position)
    error = said.distance - entry
    inside = view.start_true <= rounding
    found.claim(Cause.API_LIMIT, limits.coreless, limits.radius, limits.margin)
    # Half a unit in the last place of a float32 fraction.
    single = 2.0**-24 * said.distance + rounding
    found.claim(Cause.SINGLE_PRECISION, limits.single & (np.abs(error) <= single), np.abs(error), single)
    found.claim(Cause.INSIDE_START, inside, view.start_true, rounding)
    found.claim(Cause.SHAPE, limits.caps_open & on_cap & (error > 0), error, np.inf)
    held = view.entry_held(rounding)
    shape = held - entry  # < 0: the held solid is met before the true one
    rest = said.distance - held
    touched = np.isfinite(held)
    _claim_early(found, view, said, error, shape, rest)
    late = error > 0
    flat, law = limits.facets > 0, limits.early_exit + rounding
    # The rounded solid begins later than the true rim, or is not met at all and only its shell is.
    rim = late & (limits.rim > 0) & (~touched | (shape >= rest)) & (-at <= law)
    found.claim(
        Cause.SHAPE, rim & flat & ~view.on_rim(said.position), -view.from_true(said.position), limits.facets + law
    )
    lost_rim = (np.sqrt(2.0) - 1.0) * limits.rim
    found.claim(Cause.RIM_ROUNDING, rim, -view.from_true(said.position), lost_rim + law)
    found.claim(Cause.EARLY_EXIT, late & (-at <= law), -at, law)
    found.claim(
        Cause.SHAPE, late & (-at <= limits.facets + limits.early_exit) & flat, -at, limits.facets + limits.early_exit
    )
    found.claim(Cause.BIG_SHAPE, late & (-at <= limits.overshoot + rounding), -at, limits.overshoot + rounding)
    skin = np.where(limits.overshoot >= limits.rim, limits.overshoot, np.nan)
    found.claim(Cause.NO_CORE_DISTANCE, late & limits.reach_core & (-at > limits.rim), limits.rim, skin)
    found.rest(at, limits.stop)
    return found


def _claim_early(
    found: Verdict, view: Sight, said: Reported, error: Float64Array, shape: Float64Array, rest: Float64Array
) -> None:
    limits, at = view.limits, view.from_held(said.position)
    within = limits.stop + view.rounding
    early = (error < 0) & (at <= within) & (at >= -limits.overshoot - view.rounding)
    # Where the held solid is larger and is met: what it adds against what the stop adds.
    larger = (limits.growth > view.rounding) & (-shape > np.abs(rest))
    found.claim(Cause.SHAPE, early & larger, view.from_true(said.position), limits.growth + within)
    found.claim(Cause.TERMINATION, early, at, within)
