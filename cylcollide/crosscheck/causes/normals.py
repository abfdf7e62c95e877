"""Causes of wrong normals at hits of the right limb.

The angle has two parts as well: from the true normal at the true point to that of the held solid at the reported point,
and from there to the normal reported. The larger part names the cause.
"""

import numpy as np

from cylcollide._types import BoolArray, Float64Array
from cylcollide.crosscheck.causes.cause import Cause, Verdict
from cylcollide.crosscheck.causes.ray_geometry import Sight
from cylcollide.crosscheck.causes.verdicts import Reported
from cylcollide.crosscheck.judge.comparison import angle


def normals(
    view: Sight, said: Reported, entry: Float64Array, true_normal: Float64Array, said_normal: Float64Array
) -> Verdict:
    """Explain the normal of each row; ``true_normal`` and ``said_normal`` are (n, 3), a true one 0 inside."""
    found, limits, rounding = Verdict(len(entry)), view.limits, view.rounding
    held = view.normal_held(said.position)
    by_place = angle(true_normal, held)
    by_noise = np.where(limits.facets > 0, view.from_a_face(said.position, said_normal), angle(held, said_normal))
    inside = np.asarray(~true_normal.any(axis=1))
    at = view.from_held(said.position)
    in_core = at < -limits.rim - rounding
    found.claim(Cause.API_LIMIT, limits.coreless, limits.radius, limits.margin)
    # Inside there is no normal to report; deep inside the one reported is noise.
    found.claim(Cause.NOISY_NORMAL, inside & in_core, by_noise, np.pi)
    found.claim(Cause.INSIDE_START, inside, by_noise, np.pi)
    found.claim(Cause.SHAPE, limits.caps_open, by_noise, np.pi)
    placed = by_place >= by_noise
    late = said.distance - entry
    near = (at <= limits.stop + rounding) & (at >= -limits.overshoot - rounding)
    found.claim(Cause.RIM_ROUNDING, placed & near & view.on_rim(said.position), by_place, 0.5 * np.pi)
    # A solid larger by more than the stop adds, or with facets, or without caps.
    larger = (limits.growth > rounding) & (limits.growth >= at)
    another = (limits.facets > 0) | larger | limits.caps_open
    found.claim(Cause.SHAPE, placed & near & another, by_place, 0.5 * np.pi)
    found.claim(Cause.TERMINATION, placed & near & (late <= rounding), by_place, 0.5 * np.pi)
    found.claim(Cause.EARLY_EXIT, placed & (-at <= limits.early_exit + rounding), by_place, 0.5 * np.pi)
    found.claim(Cause.BIG_SHAPE, placed & near, by_place, 0.5 * np.pi)
    # An overshoot x over a curve of radius R tilts the normal by up to √(2 x / R).
    tilt = np.sqrt(2 * limits.early_exit / limits.radius)
    facet = np.arccos(np.clip(1 - limits.facets / limits.radius, -1, 1))
    found.claim(Cause.SHAPE, (limits.facets > 0) & (by_noise <= facet + tilt), by_noise, facet + tilt)
    found.claim(Cause.EARLY_EXIT, by_noise <= tilt, by_noise, tilt)
    big = np.maximum(tilt, np.sqrt(2 * limits.overshoot / limits.radius))
    found.claim(Cause.BIG_SHAPE, by_noise <= big, by_noise, big)
    found.claim(Cause.NO_CORE_DISTANCE, limits.reach_core & (limits.deep_misses > 0), by_noise, np.pi)
    found.claim(Cause.NOISY_NORMAL, by_noise <= 2 * limits.normal_noise, by_noise, 2 * limits.normal_noise)
    found.rest(by_noise, np.maximum(big, 2 * limits.normal_noise))
    return found


def differs(true_normal: Float64Array, said_normal: Float64Array, view: Sight) -> BoolArray:
    """Whether two normals differ by more than a point that is right to the rounding would make them."""
    allowed = view.rounding / np.minimum(view.limits.radius, view.limits.half) + 8 * np.finfo(np.float64).eps
    return np.asarray(angle(true_normal, said_normal) > allowed)
