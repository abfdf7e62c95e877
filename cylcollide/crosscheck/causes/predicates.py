"""The predicates and bounds of the causes, for every kind of disagreement, in the order in which they are tried.

`SegmentGeometry` compares segments with the true limb and with the held solid, the engine's solid in place of it. Each
function then assigns causes to the disagreements of one kind, and returns them.

An error of a hit on the right limb has two parts. A distance error is the distance along the segment from the true
surface to the held solid, plus that from there to the reported point. A normal error is the angle from the true normal
to that of the held solid at the reported point, plus that from there to the reported normal. The larger part
determines the cause, if it is within the bound of that cause.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int32Array, Int64Array
from cylcollide.crosscheck.causes.calibration import CORNER, EARLY_EXIT_ROOM, Calibration
from cylcollide.crosscheck.compare.comparison import angle
from cylcollide.crosscheck.compare.disagreements import NOT_SOUGHT, Cause, Disagreements, Kind
from cylcollide.crosscheck.compare.truth import rounding
from cylcollide.crosscheck.generate.shots import ShotScene
from cylcollide.engines.rounded_cylinder import Least, Rounded


class EngineLimits:
    """The limits of each row's limb, (n,): the numbers of its calibration, and others derived from them.

    ``early_exit`` bounds an overshoot by the measured law. ``overshoot`` bounds that of a reported hit: by the law or,
    for limbs that violate it, by the thickness of the skin. A deeper hit would lie in the core, where the engine finds
    no distance; it reports no such hit.
    """

    def __init__(self, calibrations: Sequence[Calibration], margin: float | None, limb: Int32Array) -> None:
        self._calibrations, self._limb = calibrations, limb
        requested = 0.0 if margin is None else margin
        early_exit = [EARLY_EXIT_ROOM * c.early_exit for c in calibrations]
        skin = [max(e, c.rim) if c.is_big else e for e, c in zip(early_exit, calibrations, strict=True)]
        coreless = [requested > min(c.radius, c.half) and c.cap_growth < requested / 2 for c in calibrations]
        self.margin = np.full(len(limb), requested)  # 0 if none
        self.early_exit, self.overshoot = np.array(early_exit)[limb], np.array(skin)[limb]
        self.coreless: BoolArray = np.array(coreless)[limb]  # the requested margin is larger than the limb
        # Whether a step may end in the core. Only an engine that advances along the ray has a stop.
        self.reach_core = (self.stop > 0) & ((self.overshoot >= self.rim) | (self.deep_misses > 0))
        self.into_core = np.where(self.overshoot >= self.rim, self.overshoot, np.nan)  # overshoot through the skin
        self.lost_rim = CORNER * self.rim  # largest depth of a cut that the rounded rim misses

    def __getattr__(self, name: str) -> Any:
        """A number of the calibrations for each row, (n,)."""
        return np.array([getattr(known, name) for known in self._calibrations])[self._limb]


@dataclass(frozen=True)
class SegmentGeometry:
    """Segments, a limb for each, and both answers, if known: all distances are signed metres, (n,)."""

    start: Float64Array  # (n, 3)
    end: Float64Array
    true: Rounded
    held: Rounded  # the engine's solid, as measured
    limits: EngineLimits
    reported: Float64Array = field(default_factory=lambda: np.empty(0))  # distance along the segment, by the engine
    position: Float64Array = field(default_factory=lambda: np.empty(0))  # of the engine's hit, (n, 3)
    entry: Float64Array = field(default_factory=lambda: np.empty(0))  # distance along the segment to the true hit
    on_cap: BoolArray = field(default_factory=lambda: np.empty(0, np.bool_))  # whether the true hit is on a cap

    @cached_property
    def rounding(self) -> Float64Array:
        """Rounding of float64: the proved error bound of this library's kernels."""
        return rounding(self.start, self.end, self.true)

    @cached_property
    def length(self) -> Float64Array:
        """Lengths of the segments."""
        return np.asarray(np.linalg.norm(self.end - self.start, axis=1))

    @cached_property
    def least_true(self) -> Least:
        """Least distance from the true limb."""
        return self.true.least_distance(self.start, self.end)

    @cached_property
    def least_held(self) -> Least:
        """Least distance from the held solid."""
        return self.held.least_distance(self.start, self.end)

    @cached_property
    def start_true(self) -> Float64Array:
        """Signed distance of the start from the true limb."""
        return self.true.signed_distance(self.start)

    def entry_held(self, level: Float64Array) -> Float64Array:
        """Metres along the segment to the first place within ``level`` of the held solid; nan if there is none."""
        return self.held.first_reach(self.start, self.end, self.least_held, level) * self.length

    def from_a_face(self, points: Float64Array, normal: Float64Array) -> Float64Array:
        """Least angle, radians, between a normal and that of the held solid at its nearest point, its side or its cap.

        The nearest point alone does not suffice: a point below the arc between two facets may be nearer to a cap.
        """
        no_side = self.held._replace(core_radius=np.full(len(points), np.inf))
        no_caps = self.held._replace(core_excess=np.full(len(points), np.inf))
        every = [angle(solid.outward_normal(points), normal) for solid in (self.held, no_side, no_caps)]
        return np.asarray(np.min(every, axis=0))

    def on_rim(self, points: Float64Array) -> BoolArray:
        """Whether the held solid is rounded where it is nearest to points."""
        normal, axis = self.held.outward_normal(points), self.true.p2 - self.true.p1
        cosine = np.abs(np.einsum("ni,ni->n", normal, axis)) / np.linalg.norm(axis, axis=1)
        # Neither the side, whose normal is across the axis, nor a cap, whose normal is along it.
        tilt = 1e-9
        return np.asarray((self.limits.rim > 0) & (cosine > tilt) & (cosine < 1 - tilt**2))


def sight(scene: ShotScene, rows: Int64Array, calibrations: Sequence[Calibration], limb: Int32Array) -> SegmentGeometry:
    """The geometry of some segments of a scene with one limb each, (n,); ``calibrations``: of the scene's limbs."""
    limits = EngineLimits(calibrations, scene.setup.margin, limb)
    true = Rounded.cylinders(scene.p1[limb], scene.p2[limb], scene.radius[limb])
    solids = [c.solid(np.zeros((1, 3)), np.zeros((1, 3))) for c in calibrations]
    core, excess, ball = (np.array([getattr(s, f)[0] for s in solids])[limb] for f in Rounded._fields[2:])
    # The calibration was made for a rounded size: correct the radius by the difference.
    core = np.maximum(core + (true.core_radius - limits.radius), 0.0)
    start, end = (np.ascontiguousarray(points[rows]) for points in (scene.shots.start, scene.shots.end))
    return SegmentGeometry(start, end, true, Rounded(true.p1, true.p2, core, excess, ball), limits)


def phantoms(found: Disagreements, view: SegmentGeometry) -> Disagreements:
    """Hits of a limb that the segment misses, or hits later than another; ``view`` is of the engine's limb.

    All of them lie within the stop of the held solid.
    """
    limits, nearest = view.limits, view.least_held
    found.claim(Cause.API_LIMIT, limits.coreless, limits.radius, limits.margin)
    at, within = view.held.signed_distance(view.position), limits.stop + view.rounding
    # A solid larger than the limb is truly hit.
    larger = (limits.growth > view.rounding) & (nearest.distance <= view.rounding)
    found.claim(Cause.SHAPE, larger & (at <= within), view.least_true.distance, limits.growth + within)
    stopped = (nearest.distance <= within) & (at <= within)
    at_end = (nearest.fraction == 1.0) & (view.reported > 0.0)
    found.claim(Cause.SEGMENT_END, stopped & at_end, nearest.distance, within)
    found.claim(Cause.TERMINATION, stopped, at, within)
    found.claim(Cause.UNEXPLAINED, True, at, limits.stop)
    return found


def missed(found: Disagreements, view: SegmentGeometry) -> Disagreements:
    """Hits that the engine does not report; ``view`` is of the true limb."""
    limits, nearest, rounding = view.limits, view.least_held, view.rounding
    found.claim(Cause.API_LIMIT, limits.coreless, limits.radius, limits.margin)
    depth, cut, overshoot = -nearest.distance, -view.least_true.distance, limits.overshoot
    # A segment of length zero in the skin; in the core the inside-start policy applies.
    point = (view.length == 0.0) & (view.start_true >= -limits.rim)
    found.claim(Cause.BROAD_PHASE, point, view.length, rounding)
    found.claim(Cause.INSIDE_START, view.start_true <= rounding, view.start_true, rounding)
    found.claim(Cause.SHAPE, limits.caps_open & view.on_cap, view.entry, np.inf)
    # The segment misses the held solid: it cuts only the true rim, or the arc between two facets.
    untouched = (depth <= rounding) & (nearest.distance - view.least_true.distance > rounding)
    at_rim = view.on_rim(view.start + nearest.fraction[:, None] * (view.end - view.start))
    found.claim(Cause.SHAPE, untouched & ~at_rim & (limits.facets > 0), cut, limits.facets)
    found.claim(Cause.RIM_ROUNDING, untouched & (limits.rim > 0), cut, limits.lost_rim + rounding)
    # The end lies inside, but less deep than an overshoot.
    end_depth = -view.held.signed_distance(view.end)
    ends = (end_depth >= -rounding) & (end_depth <= overshoot + rounding)
    found.claim(Cause.SEGMENT_END, ends, end_depth, overshoot + rounding)
    facet = limits.facets + overshoot
    found.claim(Cause.SHAPE, (limits.facets > 0) & (depth <= facet), depth, facet)
    # An overshoot through the skin ends in the core, where the engine finds no new distance.
    found.claim(Cause.NO_CORE_DISTANCE, limits.reach_core & (depth > limits.rim), limits.rim, limits.into_core)
    # In so shallow a cut the normal, computed after the overshoot, may point along the ray: the engine drops the hit.
    found.claim(Cause.NOISY_NORMAL, depth <= limits.early_exit, depth, limits.early_exit)
    found.claim(Cause.BIG_SHAPE, depth <= overshoot, depth, overshoot)
    found.claim(Cause.UNEXPLAINED, True, depth, overshoot)
    return found


def wrong_limbs(found: Disagreements, true: SegmentGeometry, other: SegmentGeometry) -> Disagreements:
    """Hits of another limb than the true one: reported too early, or the true one is missed or reported behind it.

    ``true`` is of the true limb, ``other`` of the engine's.
    """
    early = true.reported < true.entry
    blank = [Disagreements.of_kind(found.row, Kind.WRONG_LIMB, found.amount) for _ in range(3)]
    ahead, behind, late, limits = phantoms(blank[0], other), missed(blank[1], true), blank[2], true.limits
    law, deepest = limits.early_exit + true.rounding, limits.overshoot + true.rounding
    depth, cut = -true.held.signed_distance(true.position), -true.true.signed_distance(true.position)
    # The segment hits both limbs almost at once, and the true one would be reported late, behind the other. So the
    # reported point lies near the entry into the true limb, at most as deep as reported hits of that limb.
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


def distances(found: Disagreements, view: SegmentGeometry) -> Disagreements:
    """Early and late hits of the right limb."""
    limits, rounding = view.limits, view.rounding
    found.claim(Cause.API_LIMIT, limits.coreless, limits.radius, limits.margin)
    at, cut = view.held.signed_distance(view.position), -view.true.signed_distance(view.position)
    error = view.reported - view.entry
    # Half a unit in the last place of a float32 fraction.
    single = 2.0**-24 * view.reported + rounding
    found.claim(Cause.SINGLE_PRECISION, limits.single & (np.abs(error) <= single), np.abs(error), single)
    found.claim(Cause.INSIDE_START, view.start_true <= rounding, view.start_true, rounding)
    found.claim(Cause.SHAPE, limits.caps_open & view.on_cap & (error > 0), error, np.inf)
    held = view.entry_held(rounding)
    shape = held - view.entry  # < 0: the held solid is hit before the true one
    rest = view.reported - held
    within = limits.stop + rounding
    early = (error < 0) & (at <= within) & (at >= -limits.overshoot - rounding)
    # The held solid is larger and is hit: compare its share of the error with that of the stop.
    larger = (limits.growth > rounding) & (-shape > np.abs(rest))
    found.claim(Cause.SHAPE, early & larger, -cut, limits.growth + within)
    found.claim(Cause.TERMINATION, early, at, within)
    late, flat = error > 0, limits.facets > 0
    law, facet, deepest = limits.early_exit + rounding, limits.facets + limits.early_exit, limits.overshoot + rounding
    # The held solid begins later than the true rim, or only its shell is hit.
    rim = late & (limits.rim > 0) & (~np.isfinite(held) | (shape >= rest)) & (-at <= law)
    found.claim(Cause.SHAPE, rim & flat & ~view.on_rim(view.position), cut, limits.facets + law)
    found.claim(Cause.RIM_ROUNDING, rim, cut, limits.lost_rim + law)
    found.claim(Cause.EARLY_EXIT, late & (-at <= law), -at, law)
    found.claim(Cause.SHAPE, late & (-at <= facet) & flat, -at, facet)
    found.claim(Cause.BIG_SHAPE, late & (-at <= deepest), -at, deepest)
    found.claim(Cause.NO_CORE_DISTANCE, late & limits.reach_core & (-at > limits.rim), limits.rim, limits.into_core)
    found.claim(Cause.UNEXPLAINED, True, at, limits.stop)
    return found


def normals(
    found: Disagreements, view: SegmentGeometry, true_normal: Float64Array, said_normal: Float64Array
) -> Disagreements:
    """Wrong normals of the right limb; ``true_normal`` and ``said_normal`` are (n, 3), a true one 0 inside."""
    limits, rounding = view.limits, view.rounding
    found.claim(Cause.API_LIMIT, limits.coreless, limits.radius, limits.margin)
    held, at = view.held.outward_normal(view.position), view.held.signed_distance(view.position)
    by_place = angle(true_normal, held)
    by_noise = np.where(limits.facets > 0, view.from_a_face(view.position, said_normal), angle(held, said_normal))
    inside = np.asarray(~true_normal.any(axis=1))
    # For a start inside there is no true normal; deep inside the reported one is noise.
    found.claim(Cause.NOISY_NORMAL, inside & (at < -limits.rim - rounding), by_noise, np.inf)
    found.claim(Cause.INSIDE_START, inside, by_noise, np.inf)
    found.claim(Cause.SHAPE, limits.caps_open, by_noise, np.inf)
    placed = by_place >= by_noise
    near = placed & (at <= limits.stop + rounding) & (at >= -limits.overshoot - rounding)
    # The held solid has facets or no caps, or is larger by more than the stop.
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
    found.claim(Cause.NO_CORE_DISTANCE, limits.reach_core & (limits.deep_misses > 0), by_noise, np.inf)
    found.claim(Cause.NOISY_NORMAL, by_noise <= noise, by_noise, noise)
    found.claim(Cause.UNEXPLAINED, True, by_noise, np.maximum(big, noise))
    return found
