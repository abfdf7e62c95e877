"""Measurements of an engine with one limb, made only with rays.

Each number is measured on one upright limb at the origin, of the given size and construction, as described in
``docs/causes.md``, "What is measured".
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from cylcollide._types import BoolArray, Float64Array
from cylcollide.crosscheck.compare.comparison import reported_points, usable
from cylcollide.crosscheck.engine import DEFAULT, EngineOf, Setup
from cylcollide.crosscheck.generate.one_limb import aimed, grazes
from cylcollide.crosscheck.generate.shots import SIZES, ShotScene, Target, joined
from cylcollide.engines import Engine, EngineHits
from cylcollide.engines.rounded_cylinder import Rounded
from cylcollide.limbs.limbs import Limbs

DIGITS = "%.12g"
"""Sizes that differ only by the rounding of limb ends share a calibration. Each is measured once per process."""
AZIMUTHS = 128
SAMPLE = 1024
REFERENCE = (0.05, 0.2)
"""Radius and half length of the limb on which ``stop`` and ``degeneracy`` are measured."""
FARTHEST = 0.2
"""Metres. A hit counts as a hit of the cap if it is within this plus a tenth of the radius of it."""
EARLY_EXIT_ROOM = 2.0
"""Factor between the bound on early exits and the measured law, which is fitted to the deepest of a thousand rays."""
RESOLUTION = 16 * float(np.finfo(np.float64).eps)
"""Resolution of thresholds as a share of the body's size: a few roundings of its coordinates."""
CORNER = np.sqrt(2.0) - 1.0
"""Distance from the edge of a right-angled corner to a ball of radius m in it, divided by m."""


@dataclass(frozen=True)
class Calibration:
    """Measured properties of an engine with one limb; lengths in metres, angles in radians."""

    radius: float
    half: float
    stop: float  # a ray towards the surface that starts closer to it than this hits at once
    cap_growth: float  # height above the true cap at which a perpendicular ray is reported
    side_growth: tuple[float, float]  # smallest, largest
    rim: float  # radius of the rounding
    caps_open: bool
    overshoot: float = 0.0  # largest depth of reported hits of random rays below the measured surface
    normal_noise: float = 0.0  # largest angle between the normals of these hits and of that surface
    core_hits: float = 0.0  # share of starts on the axis and deep inside that are hit at once
    skin_hits: float = 0.0  # share of rays inward, half the rim's radius below the surface, that are hit at once
    deep_misses: float = 0.0  # share of rays that cut deeper than a third of the radius and are not hit
    single: bool = False  # whether all fractions reported are float32 numbers
    degeneracy: float = 0.0
    """m³: the volume below which GJK treats a simplex as flat, from the overshoot of the reference limb."""

    big_from: float = np.inf
    """Smallest radius of the families' sizes at which limbs violate the law of early exits."""

    @property
    def is_big(self) -> bool:
        """Whether overshoots are limited by rounding, not by early exits."""
        return self.radius >= self.big_from or self.overshoot > EARLY_EXIT_ROOM * self.early_exit

    @property
    def early_exit(self) -> float:
        """Overshoot that follows from ``degeneracy`` for a limb of this size, in metres.

        A simplex h long and √(8 R x) wide at a depth x has the volume h √(8 R x) x; it is flat below the degeneracy.
        """
        return float((self.degeneracy / (2 * self.half * np.sqrt(8 * self.radius))) ** (2 / 3))

    @property
    def growth(self) -> float:
        """Largest distance from the limb to the surface of the solid: at the corner if both faces grow."""
        return float(np.hypot(max(self.side_growth[1], 0), max(self.cap_growth, 0)))

    @property
    def facets(self) -> float:
        """Variation of the side's growth; 0 if early exits and the rounding of big shapes can explain it."""
        spread = self.side_growth[1] - self.side_growth[0]
        return spread if spread > 4 * self.early_exit + 1e-4 * self.radius else 0.0

    def solid(self, p1: Float64Array, p2: Float64Array) -> Rounded:
        """The measured solid between these ends (n, 3); its side has the largest measured growth."""
        n, growth = len(p1), self.side_growth[1]
        ball = min(self.rim, self.radius + growth, self.half + self.cap_growth)
        return Rounded(
            np.ascontiguousarray(p1),
            np.ascontiguousarray(p2),
            np.full(n, max(self.radius + growth - ball, 0.0)),
            np.full(n, self.cap_growth - ball),
            np.full(n, ball),
        )


def calibrated_setup(setup: Setup) -> Setup:
    """The part of a setup that changes the solid: neither the body's earlier place nor the age of its boxes."""
    return Setup(construction=setup.construction, margin=setup.margin)


def calibrations(engine_of: EngineOf, scene: ShotScene, size: float = 1.0) -> list[Calibration]:
    """Measurements on the limbs of a scene before its world was scaled by ``size``, with their present sizes.

    The stop, the margin and all growth are lengths of the engine: scaling the world does not change them.
    """
    setup, big = calibrated_setup(scene.setup), big_from(engine_of)
    half = 0.5 * np.linalg.norm(scene.p2 - scene.p1, axis=1) / size
    sizes = ([float(DIGITS % length) for length in limb] for limb in zip(scene.radius / size, half, strict=True))
    known = [calibrate(engine_of, setup, *each) for each in sizes]
    return [replace(c, radius=c.radius * size, half=c.half * size, big_from=big) for c in known]


@cache
def big_from(engine_of: EngineOf) -> float:
    """Smallest of the families' radii at which overshoots are limited by rounding, not by early exits."""
    every = [calibrate(engine_of, DEFAULT, radius, half) for radius, half in SIZES]
    return min([found.radius for found in every if found.is_big], default=np.inf)


@cache
def calibrate(engine_of: EngineOf, setup: Setup, radius: float, half: float) -> Calibration:
    """Measure an engine on one limb of this size; stop and degeneracy are those of the reference limb."""
    known = reference(engine_of)
    with _standing(engine_of, setup, radius, half) as probe:
        return replace(probe.measure(known.stop), degeneracy=known.degeneracy)


@cache
def reference(engine_of: EngineOf) -> Calibration:
    """Measure an engine on the reference limb, as thick as an arm, in its default setup."""
    with _standing(engine_of, DEFAULT, *REFERENCE) as probe:
        found = probe.measure(probe.stop())
    # At the overshoot x, a simplex h long and √(8 R x) wide has the degenerate volume.
    volume = found.overshoot**1.5 * 2 * found.half * np.sqrt(8 * found.radius)
    return replace(found, degeneracy=float(volume))


@contextmanager
def _standing(engine_of: EngineOf, setup: Setup, radius: float, half: float) -> Iterator["_Probe"]:
    across, athwart, up = np.eye(3)
    body = Target(np.zeros(3), up, across, athwart, radius, half, aligned=True)
    reach = (half * body.axis)[None]
    with engine_of(setup) as engine:
        engine.build(Limbs.cylinders(-reach, reach, radius))
        yield _Probe(engine, body)


@dataclass(frozen=True)
class _Probe:
    """One engine with one limb."""

    engine: Engine
    body: Target

    def _cast(self, start: Float64Array, end: Float64Array) -> EngineHits:
        """The usable answers. If a position contradicts the fraction, the point at the fraction replaces it."""
        hits, answered = usable(self.engine.cast_segments(start, end), len(start), 1)
        hit = answered & (hits.limb >= 0)
        return EngineHits(
            np.where(hit, hits.limb, -1), hits.fraction, reported_points(hits, start, end)[0], hits.normal
        )

    def stop(self) -> float:
        """Distance from a cap within which a ray is hit at its start, minus the height at which the cap is reported."""
        height = self._cap_heights(np.zeros(8))
        if not np.isfinite(height).any():
            return 0.0
        return max(float(self._thresholds(self._cap_base(), self.body.axis[None], 0.0)[0] - np.nanmedian(height)), 0.0)

    def measure(self, stop: float) -> Calibration:
        """Measure the engine's surface, by the places at which rays are hit at their start, then its answers' noise."""
        body = self.body
        above = self._cap_base() + 0.5 * stop * body.axis
        caps_open = not (
            np.isfinite(self._cap_heights(np.linspace(0.2, 0.7, 64))).any()
            or self._at_once(above, -body.axis[None]).any()
        )
        cap_growth = 0.0 if caps_open else self._growth(self._cap_base(), body.axis[None], stop)[0]
        angle = 2 * np.pi * np.arange(AZIMUTHS) / AZIMUTHS
        radial = body.radial(angle)
        side = body.at(np.full(AZIMUTHS, 0.1 * body.half), np.full(AZIMUTHS, body.radius), angle)
        growth = self._growth(side, radial, stop)
        widest = int(np.argmax(growth))
        surface = Calibration(
            radius=body.radius,
            half=body.half,
            stop=stop,
            cap_growth=float(cap_growth),
            side_growth=(float(growth.min()), float(growth.max())),
            rim=0.0 if caps_open else self._rim(radial[widest], float(growth[widest]), float(cap_growth), stop),
            caps_open=caps_open,
        )
        return self._with_noise(surface)

    def _cap_base(self) -> Float64Array:
        # Slightly off the axis, to avoid symmetry, and inside any rounded rim.
        return self.body.at(np.array([self.body.half]), np.array([0.01 * self.body.radius]), np.array([0.7]))

    def _cap_heights(self, slant: Float64Array) -> Float64Array:
        """Heights above the true cap at which rays through its inner half are reported; nan far from the cap."""
        body, angle = self.body, np.arange(float(len(slant)))
        on_cap = body.at(np.full(len(slant), body.half), np.full(len(slant), 0.5 * body.radius), angle)
        back = body.axis + slant[:, None] * body.radial(angle + 1.0)
        found = self._cast(on_cap + 2 * body.size * back, on_cap - 0.5 * body.radius * back)
        height: Float64Array = (found.position - on_cap) @ body.axis
        return np.where(np.abs(height) < 0.1 * body.radius + FARTHEST, height, np.nan)

    def _at_once(self, start: Float64Array, inward: Float64Array) -> BoolArray:
        """Whether rays from these starts (n, 3) through the limb are hit at their start."""
        end = start + 3 * self.body.size * inward
        found = self._cast(start, end)
        rounding = 4 * np.finfo(np.float64).eps
        return np.asarray((found.limb >= 0) & (found.fraction <= rounding))

    def _growth(self, base: Float64Array, outward: Float64Array, stop: float) -> Float64Array:
        growth: Float64Array = np.nan_to_num(self._thresholds(base, outward, stop) - stop)
        # Both thresholds, of the reference limb and of this one, err by one resolution.
        told_apart = 2 * RESOLUTION * (self.body.size + float(np.hypot(*REFERENCE)))
        return np.where(np.abs(growth) > told_apart, growth, 0.0)

    def _thresholds(self, base: Float64Array, outward: Float64Array, stop: float) -> Float64Array:
        """Largest distance from ``base`` along ``outward``, (n, 3), at which a ray heading back is hit at its start."""
        far = 3 * self.body.size
        found = self._cast(base + far * outward, base - self.body.size * outward)
        # Begin where a ray is reported: a ray that starts there is hit at once. If the engine misses a surface on which
        # a ray starts, begin half the stop above it. Then search outward in growing steps, and by bisection.
        low: Float64Array = np.nan_to_num(np.einsum("ni,ni->n", found.position - base, outward))
        low = np.where(self._at_once(base + low[:, None] * outward, -outward), low, low + 0.5 * stop)
        resolution = RESOLUTION * self.body.size
        step, high = resolution, low + resolution
        while step < far:
            hit = self._at_once(base + high[:, None] * outward, -outward)
            if not hit.any():
                break
            step *= 8
            low, high = np.where(hit, high, low), np.where(hit, high + step, high)
        while np.max(high - low) > resolution:
            middle = 0.5 * (low + high)
            hit = self._at_once(base + middle[:, None] * outward, -outward)
            low, high = np.where(hit, middle, low), np.where(hit, high, middle)
        return low

    def _rim(self, radial: Float64Array, side_growth: float, cap_growth: float, stop: float) -> float:
        body = self.body
        edge = body.centre + (body.radius + side_growth) * radial + (body.half + cap_growth) * body.axis
        diagonal = np.sqrt(0.5) * (radial + body.axis)
        over_edge = float(self._growth(edge[None], diagonal[None], stop)[0])
        return max(-over_edge / float(CORNER), 0.0)

    def _with_noise(self, known: Calibration) -> Calibration:
        """Cast random rays at the limb and compare the answers with the measured surface."""
        body, rng = self.body, np.random.default_rng(0)
        fired = joined([aimed(rng, body, SAMPLE // 2), grazes(rng, body, SAMPLE // 2)])
        found = self._cast(fired.start, fired.end)
        rows = np.flatnonzero(found.limb >= 0)
        ends = np.broadcast_to(body.half * body.axis, (SAMPLE, 3))
        solid = known.solid(-ends, ends)
        depth = -solid.taken(rows).signed_distance(found.position[rows])
        cosine = np.einsum("ni,ni->n", solid.taken(rows).outward_normal(found.position[rows]), found.normal[rows])
        deep = solid.least_distance(fired.start, fired.end).distance < -body.radius / 3
        single = found.fraction[rows] == found.fraction[rows].astype(np.float32)
        core, skin = self._inside_starts(rng, known)
        return replace(
            known,
            overshoot=float(np.max(depth, initial=0.0)),
            normal_noise=float(np.arccos(np.clip(np.min(cosine, initial=1.0), -1.0, 1.0))),
            core_hits=core,
            skin_hits=skin,
            deep_misses=float(np.mean(found.limb[deep] < 0)) if deep.any() else 0.0,
            single=bool(len(rows) >= SAMPLE // 8 and single.all()),
        )

    def _inside_starts(self, rng: np.random.Generator, known: Calibration) -> tuple[float, float]:
        body, n = self.body, 64
        angle = 2 * np.pi * rng.random(n)
        height = body.half * rng.uniform(-0.5, 0.5, n)
        # Half of the deep starts on the axis itself, half at up to a fifth of the radius.
        distance = body.radius * np.where(np.arange(n) % 2, 0.0, 0.2 * rng.random(n))
        core = self._at_once(body.at(height, distance, angle), -body.radial(angle))
        below = 0.5 * min(known.rim, 0.5 * body.radius) if known.rim > 0 else 1e-3 * body.radius
        surface = np.full(n, body.radius + known.side_growth[0] - below)
        skin = self._at_once(body.at(height, surface, angle), -body.radial(angle))
        return float(core.mean()), float(skin.mean())
