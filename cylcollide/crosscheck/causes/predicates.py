"""What each cause can do: a predicate and a bound for every kind of disagreement, in the order in which they are tried.

Each function gives the disagreements of one kind their causes, and returns them.

An error of a hit on the right limb has two parts: along the segment from the true surface to the solid that the engine
holds, and from there to where the engine stopped; for the normal from the true one to that of the held solid at the
reported point, and from there to the one reported. The larger part names the cause, if it keeps its bound.
"""

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.crosscheck.causes.ray_geometry import Sight
from cylcollide.crosscheck.compare.comparison import angle
from cylcollide.crosscheck.compare.disagreements import NOT_SOUGHT, Cause, Disagreements, Kind
from cylcollide.engines.rounded_cylinder import outward_normal, signed_distance


def phantoms(found: Disagreements, view: Sight) -> Disagreements:
    """Hits of a limb that the segment does not touch, or touches later than another; seen from the engine's limb.

    All of them lie within the stopping distance of the solid that the engine holds.
    """
    limits, nearest = view.limits, view.least_held
    found.claim(Cause.API_LIMIT, limits.coreless, limits.radius, limits.margin)
    at, within = signed_distance(view.held, view.position), limits.stop + view.rounding
    # A solid larger than the limb is truly hit.
    larger = (limits.growth > view.rounding) & (nearest.distance <= view.rounding)
    found.claim(Cause.SHAPE, larger & (at <= within), view.least_true.distance, limits.growth + within)
    stopped = (nearest.distance <= within) & (at <= within)
    at_end = (nearest.fraction == 1.0) & (view.reported > 0.0)
    found.claim(Cause.SEGMENT_END, stopped & at_end, nearest.distance, within)
    found.claim(Cause.TERMINATION, stopped, at, within)
    found.claim(Cause.UNEXPLAINED, True, at, limits.stop)
    return found


def missed(found: Disagreements, view: Sight) -> Disagreements:
    """Hits that the engine does not report; seen from the true limb."""
    limits, nearest, rounding = view.limits, view.least_held, view.rounding
    found.claim(Cause.API_LIMIT, limits.coreless, limits.radius, limits.margin)
    depth, cut, overshoot = -nearest.distance, -view.least_true.distance, limits.overshoot
    # A segment of length zero in the skin; in the core the policy for inside starts decides before.
    point = (view.length == 0.0) & (view.start_true >= -limits.rim)
    found.claim(Cause.BROAD_PHASE, point, view.length, rounding)
    found.claim(Cause.INSIDE_START, view.start_true <= rounding, view.start_true, rounding)
    found.claim(Cause.SHAPE, limits.caps_open & view.on_cap, view.entry, np.inf)
    # The rounded solid is not touched at all: what is cut is only the true rim, or the arc between two facets.
    untouched = (depth <= rounding) & (nearest.distance - view.least_true.distance > rounding)
    at_rim = view.on_rim(view.start + nearest.fraction[:, None] * (view.end - view.start))
    found.claim(Cause.SHAPE, untouched & ~at_rim & (limits.facets > 0), cut, limits.facets)
    found.claim(Cause.RIM_ROUNDING, untouched & (limits.rim > 0), cut, limits.lost_rim + rounding)
    # The end lies inside, but less deep than the engine steps too far.
    end_depth = -signed_distance(view.held, view.end)
    ends = (end_depth >= -rounding) & (end_depth <= overshoot + rounding)
    found.claim(Cause.SEGMENT_END, ends, end_depth, overshoot + rounding)
    facet = limits.facets + overshoot
    found.claim(Cause.SHAPE, (limits.facets > 0) & (depth <= facet), depth, facet)
    # An overshoot as deep as the skin lands in the core, and every later step starts from a distance of before.
    found.claim(Cause.NO_CORE_DISTANCE, limits.reach_core & (depth > limits.rim), limits.rim, limits.into_core)
    # A cut so shallow that the normal, found with this overshoot, may point along the ray.
    found.claim(Cause.NOISY_NORMAL, depth <= limits.early_exit, depth, limits.early_exit)
    found.claim(Cause.BIG_SHAPE, depth <= overshoot, depth, overshoot)
    found.claim(Cause.UNEXPLAINED, True, depth, overshoot)
    return found


def wrong_limbs(found: Disagreements, true: Sight, other: Sight) -> Disagreements:
    """Another limb than the true one: hit too early itself, or the true one missed or reported behind it.

    ``true`` looks at the true limb, ``other`` at the engine's.
    """
    early = true.reported < true.entry
    blank = [Disagreements.of_kind(found.row, Kind.WRONG_LIMB, found.amount) for _ in range(3)]
    ahead, behind, late, limits = phantoms(blank[0], other), missed(blank[1], true), blank[2], true.limits
    law, deepest = limits.early_exit + true.rounding, limits.overshoot + true.rounding
    depth, cut = -signed_distance(true.held, true.position), -signed_distance(true.true, true.position)
    # Both limbs are met almost at once: the true one is reported late, behind the other. So the point lies about where
    # the segment comes into the true limb, no deeper than that limb's own hit could have been reported.
    inside = true.start_true <= true.rounding
    entering = ~inside & (true.reported <= true.least_true.fraction * true.length + true.rounding)
    lost_rim = limits.lost_rim + limits.early_exit + true.rounding
    rim = entering & true.on_rim(true.position) & (cut <= lost_rim) & (depth <= law)
    late.claim(Cause.RIM_ROUNDING, rim, cut, lost_rim)
    late.claim(Cause.EARLY_EXIT, entering & (depth <= law), depth, law)
    late.claim(Cause.BIG_SHAPE, entering & (depth <= deepest), depth, deepest)
    behind_true = ~early & (late.cause == NOT_SOUGHT)
    for part, rows in ((ahead, early), (late, ~early & ~behind_true), (behind, behind_true)):
        for name in ("cause", "measured", "bound"):
            getattr(found, name)[rows] = getattr(part, name)[rows]
    return found


def distances(found: Disagreements, view: Sight) -> Disagreements:
    """Early and late hits of the right limb."""
    limits, rounding = view.limits, view.rounding
    found.claim(Cause.API_LIMIT, limits.coreless, limits.radius, limits.margin)
    at, cut, error = (
        signed_distance(view.held, view.position),
        -signed_distance(view.true, view.position),
        view.reported - view.entry,
    )
    # Half a unit in the last place of a float32 fraction.
    single = 2.0**-24 * view.reported + rounding
    found.claim(Cause.SINGLE_PRECISION, limits.single & (np.abs(error) <= single), np.abs(error), single)
    found.claim(Cause.INSIDE_START, view.start_true <= rounding, view.start_true, rounding)
    found.claim(Cause.SHAPE, limits.caps_open & view.on_cap & (error > 0), error, np.inf)
    held = view.entry_held(rounding)
    shape = held - view.entry  # < 0: the held solid is met before the true one
    rest = view.reported - held
    within = limits.stop + rounding
    early = (error < 0) & (at <= within) & (at >= -limits.overshoot - rounding)
    # Where the held solid is larger and is met: what it adds against what the stop adds.
    larger = (limits.growth > rounding) & (-shape > np.abs(rest))
    found.claim(Cause.SHAPE, early & larger, -cut, limits.growth + within)
    found.claim(Cause.TERMINATION, early, at, within)
    late, flat = error > 0, limits.facets > 0
    law, facet, deepest = limits.early_exit + rounding, limits.facets + limits.early_exit, limits.overshoot + rounding
    # The rounded solid begins later than the true rim, or is not met at all and only its shell is.
    rim = late & (limits.rim > 0) & (~np.isfinite(held) | (shape >= rest)) & (-at <= law)
    found.claim(Cause.SHAPE, rim & flat & ~view.on_rim(view.position), cut, limits.facets + law)
    found.claim(Cause.RIM_ROUNDING, rim, cut, limits.lost_rim + law)
    found.claim(Cause.EARLY_EXIT, late & (-at <= law), -at, law)
    found.claim(Cause.SHAPE, late & (-at <= facet) & flat, -at, facet)
    found.claim(Cause.BIG_SHAPE, late & (-at <= deepest), -at, deepest)
    found.claim(Cause.NO_CORE_DISTANCE, late & limits.reach_core & (-at > limits.rim), limits.rim, limits.into_core)
    found.claim(Cause.UNEXPLAINED, True, at, limits.stop)
    return found


def normals(found: Disagreements, view: Sight, true_normal: Float64Array, said_normal: Float64Array) -> Disagreements:
    """Wrong normals of the right limb; ``true_normal`` and ``said_normal`` are (n, 3), a true one 0 inside."""
    limits, rounding = view.limits, view.rounding
    found.claim(Cause.API_LIMIT, limits.coreless, limits.radius, limits.margin)
    held, at = outward_normal(view.held, view.position), signed_distance(view.held, view.position)
    by_place = angle(true_normal, held)
    by_noise = np.where(limits.facets > 0, view.from_a_face(view.position, said_normal), angle(held, said_normal))
    inside = np.asarray(~true_normal.any(axis=1))
    # Inside there is no normal to report; deep inside the one reported is noise.
    found.claim(Cause.NOISY_NORMAL, inside & (at < -limits.rim - rounding), by_noise, np.pi)
    found.claim(Cause.INSIDE_START, inside, by_noise, np.pi)
    found.claim(Cause.SHAPE, limits.caps_open, by_noise, np.pi)
    placed = by_place >= by_noise
    near = placed & (at <= limits.stop + rounding) & (at >= -limits.overshoot - rounding)
    # A solid larger by more than the stop adds, or with facets, or without caps.
    another = (limits.facets > 0) | ((limits.growth > rounding) & (limits.growth >= at)) | limits.caps_open
    for cause, where in (
        (Cause.RIM_ROUNDING, near & view.on_rim(view.position)),
        (Cause.SHAPE, near & another),
        (Cause.TERMINATION, near & (view.reported - view.entry <= rounding)),
        (Cause.EARLY_EXIT, placed & (-at <= limits.early_exit + rounding)),
        (Cause.BIG_SHAPE, near),
    ):
        found.claim(cause, where, by_place, 0.5 * np.pi)
    # An overshoot x over a curve of radius R tilts the normal by up to √(2 x / R).
    tilt = np.sqrt(2 * limits.early_exit / limits.radius)
    facet = np.arccos(np.clip(1 - limits.facets / limits.radius, -1, 1)) + tilt
    found.claim(Cause.SHAPE, (limits.facets > 0) & (by_noise <= facet), by_noise, facet)
    found.claim(Cause.EARLY_EXIT, by_noise <= tilt, by_noise, tilt)
    big, noise = np.maximum(tilt, np.sqrt(2 * limits.overshoot / limits.radius)), 2 * limits.normal_noise
    found.claim(Cause.BIG_SHAPE, by_noise <= big, by_noise, big)
    found.claim(Cause.NO_CORE_DISTANCE, limits.reach_core & (limits.deep_misses > 0), by_noise, np.pi)
    found.claim(Cause.NOISY_NORMAL, by_noise <= noise, by_noise, noise)
    found.claim(Cause.UNEXPLAINED, True, by_noise, np.maximum(big, noise))
    return found
