"""Where rays stand to the true limb and to the solid that the engine holds in its place."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int32Array, Int64Array
from cylcollide.constants import ROUNDING_BOUND
from cylcollide.crosscheck.causes.calibration import CORNER, EARLY_EXIT_ROOM, Calibration
from cylcollide.crosscheck.compare.comparison import angle
from cylcollide.crosscheck.generate.shots import ShotScene
from cylcollide.engines.rounded_cylinder import (
    Least,
    Rounded,
    first_reach,
    least_distance,
    outward_normal,
    signed_distance,
)


class EngineLimits:
    """The limits of each row's limb, (n,): the numbers of its calibration, and others derived from them.

    ``early_exit`` is the deepest overshoot by the measured law, with room; ``overshoot`` that of a hit that is
    reported: by the law or, where the limb was seen to break it, the skin. A hit deeper than the skin would lie in the
    core, from where the engine finds no distance: it is not reported.
    """

    def __init__(self, calibrations: Sequence[Calibration], margin: float | None, limb: Int32Array) -> None:
        self._calibrations, self._limb = calibrations, limb
        asked = 0.0 if margin is None else margin
        early_exit = [EARLY_EXIT_ROOM * c.early_exit for c in calibrations]
        skin = [max(e, c.rim) if c.is_big else e for e, c in zip(early_exit, calibrations, strict=True)]
        coreless = [asked > min(c.radius, c.half) and c.cap_growth < asked / 2 for c in calibrations]
        self.margin = np.full(len(limb), asked)  # asked for, 0 if none
        self.early_exit, self.overshoot = np.array(early_exit)[limb], np.array(skin)[limb]
        self.coreless: BoolArray = np.array(coreless)[limb]  # the margin asked for is larger than the limb
        # Whether a step may land in the core: of an engine that walks, and so stops in front of surfaces.
        self.reach_core = (self.stop > 0) & ((self.overshoot >= self.rim) | (self.deep_misses > 0))
        self.into_core = np.where(self.overshoot >= self.rim, self.overshoot, np.nan)  # overshoot through the skin
        self.lost_rim = CORNER * self.rim  # how deep a cut may be that the rounding of the rim takes away

    def __getattr__(self, name: str) -> Any:
        """A number of the calibrations."""
        return np.array([getattr(known, name) for known in self._calibrations])[self._limb]


@dataclass(frozen=True)
class Sight:
    """Segments, the limb that each is about, and both answers, if known: all distances are signed metres, (n,)."""

    start: Float64Array  # (n, 3)
    end: Float64Array
    true: Rounded
    held: Rounded  # what the engine holds, as measured
    limits: EngineLimits
    reported: Float64Array = field(default_factory=lambda: np.empty(0))  # distance along the segment, by the engine
    position: Float64Array = field(default_factory=lambda: np.empty(0))  # of the engine's hit, (n, 3)
    entry: Float64Array = field(default_factory=lambda: np.empty(0))  # distance along the segment to the true hit
    on_cap: BoolArray = field(default_factory=lambda: np.empty(0, np.bool_))  # whether the true hit is on a cap

    @cached_property
    def rounding(self) -> Float64Array:
        """Rounding of float64: the proved error bound of this library's kernels."""
        ends = [np.abs(points).max(axis=1) for points in (self.start, self.end, self.true.p1, self.true.p2)]
        extent: Float64Array = np.max(ends, axis=0) + self.limits.radius + self.limits.half
        return ROUNDING_BOUND * extent

    @cached_property
    def length(self) -> Float64Array:
        """Of the segments."""
        return np.asarray(np.linalg.norm(self.end - self.start, axis=1))

    @cached_property
    def least_true(self) -> Least:
        """Closest to the true limb."""
        return least_distance(self.true, self.start, self.end)

    @cached_property
    def least_held(self) -> Least:
        """Closest to the held solid."""
        return least_distance(self.held, self.start, self.end)

    @cached_property
    def start_true(self) -> Float64Array:
        """Of the start from the true limb."""
        return signed_distance(self.true, self.start)

    def entry_held(self, level: Float64Array) -> Float64Array:
        """Metres along the segment to where it first comes within ``level`` of the held solid; nan where never."""
        return first_reach(self.held, self.start, self.end, self.least_held, level) * self.length

    def from_a_face(self, points: Float64Array, normal: Float64Array) -> Float64Array:
        """Least angle, radians, between a normal and those of the held solid's nearest point, its side and its cap.

        A point below the arc between two facets is nearer to a cap than to the circle around the facets.
        """
        no_side = self.held._replace(core_radius=np.full(len(points), np.inf))
        no_caps = self.held._replace(core_excess=np.full(len(points), np.inf))
        every = [angle(outward_normal(solid, points), normal) for solid in (self.held, no_side, no_caps)]
        return np.asarray(np.min(every, axis=0))

    def on_rim(self, points: Float64Array) -> BoolArray:
        """Whether the held solid is rounded where it is nearest to points."""
        normal, axis = outward_normal(self.held, points), self.true.p2 - self.true.p1
        cosine = np.abs(np.einsum("ni,ni->n", normal, axis)) / np.linalg.norm(axis, axis=1)
        # Neither the side, whose normal is across the axis, nor a cap, whose normal is along it.
        tilt = 1e-9
        return np.asarray((self.limits.rim > 0) & (cosine > tilt) & (cosine < 1 - tilt**2))


def sight(scene: ShotScene, rows: Int64Array, calibrations: Sequence[Calibration], limb: Int32Array) -> Sight:
    """Look from some segments of a scene at one limb each, (n,); ``calibrations`` are those of the scene's limbs."""
    limits = EngineLimits(calibrations, scene.setup.margin, limb)
    a, b = np.ascontiguousarray(scene.p1[limb]), np.ascontiguousarray(scene.p2[limb])
    radius, none = scene.radius[limb], np.zeros(len(limb))
    solids = [c.solid(np.zeros((1, 3)), np.zeros((1, 3))) for c in calibrations]
    core, excess, ball = (np.array([getattr(s, f)[0] for s in solids])[limb] for f in Rounded._fields[2:])
    # The calibration was made for this size up to the last digits: correct the radius by the difference.
    held = Rounded(a, b, np.maximum(core + (radius - limits.radius), 0.0), excess, ball)
    start, end = (np.ascontiguousarray(points[rows]) for points in (scene.shots.start, scene.shots.end))
    return Sight(start, end, Rounded(a, b, radius, none, none), held, limits)
