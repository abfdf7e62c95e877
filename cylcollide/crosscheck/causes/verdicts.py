"""Causes of wrong verdicts: phantoms, missed hits and wrong limbs, each with a predicate and a bound."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int64Array
from cylcollide.crosscheck.causes.cause import Cause, Verdict
from cylcollide.crosscheck.causes.ray_geometry import Sight


@dataclass(frozen=True)
class Reported:
    """What the engine says about the limb seen, (n,) and (n, 3)."""

    distance: Float64Array  # metres along the segment
    position: Float64Array

    def of_rows(self, rows: Int64Array) -> Self:
        """The same about some of the rows."""
        return type(self)(self.distance[rows], self.position[rows])


def phantoms(view: Sight, said: Reported) -> Verdict:
    """Hits of a limb that the segment does not touch, or touches later than another; seen from the engine's limb.

    All of them lie within the stopping distance of the solid that the engine holds.
    """
    found = Verdict(len(said.distance))
    at, nearest = view.from_held(said.position), view.least_held
    within = view.limits.stop + view.rounding
    found.claim(Cause.API_LIMIT, view.limits.coreless, view.limits.radius, view.limits.margin)
    # A solid larger than the limb is truly hit.
    larger = (view.limits.growth > view.rounding) & (nearest.distance <= view.rounding)
    found.claim(Cause.SHAPE, larger & (at <= within), view.least_true.distance, view.limits.growth + within)
    stopped = (nearest.distance <= within) & (at <= within)
    at_end = (nearest.fraction == 1.0) & (said.distance > 0.0)
    found.claim(Cause.SEGMENT_END, stopped & at_end, nearest.distance, within)
    found.claim(Cause.TERMINATION, stopped, at, within)
    found.rest(at, view.limits.stop)
    return found


def missed(view: Sight, entry: Float64Array, on_cap: BoolArray) -> Verdict:
    """Hits that the engine does not report; seen from the true limb, ``entry`` (n,) metres along the segment."""
    found, limits = Verdict(len(entry)), view.limits
    nearest, rounding = view.least_held, view.rounding
    depth = -nearest.distance
    overshoot = limits.overshoot
    inside = view.start_true <= rounding
    found.claim(Cause.API_LIMIT, limits.coreless, limits.radius, limits.margin)
    _claim_point_tests(found, view)
    found.claim(Cause.INSIDE_START, inside, view.start_true, rounding)
    found.claim(Cause.SHAPE, limits.caps_open & on_cap, entry, np.inf)
    # The rounded solid is not touched at all: what is cut is only the true rim, or the arc between two facets.
    untouched = (depth <= rounding) & (nearest.distance - view.least_true.distance > rounding)
    lost_rim = (np.sqrt(2.0) - 1.0) * limits.rim
    found.claim(
        Cause.SHAPE, untouched & ~view.meets_rim() & (limits.facets > 0), -view.least_true.distance, limits.facets
    )
    found.claim(Cause.RIM_ROUNDING, untouched & (limits.rim > 0), -view.least_true.distance, lost_rim + rounding)
    # The end lies inside, but less deep than the engine steps too far.
    end_depth = -view.from_held(view.end)
    ends = (end_depth >= -rounding) & (end_depth <= overshoot + rounding)
    found.claim(Cause.SEGMENT_END, ends, end_depth, overshoot + rounding)
    facet = (limits.facets > 0) & (depth <= limits.facets + overshoot)
    found.claim(Cause.SHAPE, facet, depth, limits.facets + overshoot)
    # An overshoot as deep as the skin lands in the core, and every later step starts from a distance of before.
    found.claim(
        Cause.NO_CORE_DISTANCE,
        limits.reach_core & (depth > limits.rim),
        limits.rim,
        np.where(overshoot >= limits.rim, overshoot, np.nan),
    )
    # A cut so shallow that the normal, found with this overshoot, may point along the ray.
    found.claim(Cause.NOISY_NORMAL, depth <= limits.early_exit, depth, limits.early_exit)
    found.claim(Cause.BIG_SHAPE, depth <= overshoot, depth, overshoot)
    found.rest(depth, overshoot)
    return found


def _claim_point_tests(found: Verdict, view: Sight) -> None:
    # A segment of length zero in the skin; in the core the policy for inside starts decides before.
    zero = view.length == 0.0
    in_skin = view.start_true >= -view.limits.rim
    found.claim(Cause.BROAD_PHASE, zero & in_skin, view.length, view.rounding)


def wrong_limbs(true: Sight, other: Sight, said: Reported, entry: Float64Array, on_cap: BoolArray) -> Verdict:
    """Another limb than the true one: hit too early itself, or the true one missed or reported behind it.

    ``true`` looks at the true limb, ``other`` at the engine's, ``entry`` is metres along the segment to the true hit.
    """
    early = said.distance < entry
    ahead, behind = phantoms(other, said), missed(true, entry, on_cap)
    n = len(entry)
    late = Verdict(n)
    overshoot = true.limits.overshoot
    depth = -true.from_held(said.position)
    # Both limbs are met almost at once: the true one is reported late, behind the other. So the point lies about where
    # the segment comes into the true limb, no deeper than that limb's own hit could have been reported.
    inside = true.start_true <= true.rounding
    entering = ~inside & (said.distance <= true.least_true.fraction * true.length + true.rounding)
    lost_rim = (np.sqrt(2.0) - 1.0) * true.limits.rim + true.limits.early_exit + true.rounding
    cut = -true.from_true(said.position)
    rim = entering & true.on_rim(said.position) & (cut <= lost_rim) & (depth <= true.limits.early_exit + true.rounding)
    late.claim(Cause.RIM_ROUNDING, rim, cut, lost_rim)
    law = true.limits.early_exit + true.rounding
    deepest = overshoot + true.rounding
    late.claim(Cause.EARLY_EXIT, entering & (depth <= law), depth, law)
    late.claim(Cause.BIG_SHAPE, entering & (depth <= deepest), depth, deepest)
    found = Verdict(n)
    for verdict, rows in ((ahead, early), (late, ~early & (late.cause > 0)), (behind, ~early & (late.cause == 0))):
        found.adopt(verdict, rows)
    return found
