"""Segments with their intended depths and target limbs, and random draws that families share.

All lengths are metres. A scene is one world of one to fifteen limbs; a chunk of a family is a few scenes.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int32Array
from cylcollide.crosscheck.engine import DEFAULT, Setup


@dataclass(frozen=True)
class FiredSegments:
    """n segments and their intended depths."""

    start: Float64Array  # (n, 3)
    end: Float64Array
    depth: Float64Array
    """Intended depth in the target (> 0: a hit) or distance from it (< 0: a miss); nan if none is intended.

    The docstring of the family defines its measure.
    """
    target: Int32Array  # index of the target limb


@dataclass(frozen=True)
class ShotScene:
    """One world and the segments fired at it."""

    p1: Float64Array  # limb ends, (m, 3)
    p2: Float64Array
    radius: Float64Array  # (m,)
    shots: FiredSegments
    setup: Setup = DEFAULT
    whole_batch: bool = False  # one call of the engine, whatever its limit; for PyBullet only
    as_lists: bool = False  # in that call, lists of tuples instead of arrays
    was: tuple[Float64Array, Float64Array] | None = None  # p1, p2 at the engine's build, before a move


def shots(start: Float64Array, end: Float64Array, depth: Float64Array | float = np.nan) -> FiredSegments:
    """Return segments at the first limb with their depths; one number stands for all."""
    n = len(start)
    depths = np.broadcast_to(np.asarray(depth, dtype=np.float64), n).copy()
    return FiredSegments(start, end, depths, np.zeros(n, dtype=np.int32))


def joined(parts: list[FiredSegments]) -> FiredSegments:
    """All segments of the parts, one part after another."""
    return FiredSegments(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in FiredSegments.__dataclass_fields__)
    )


SIZES = ((0.001, 0.005), (0.01, 0.05), (0.05, 0.2), (0.3, 1.0), (10.0, 30.0), (100.0, 300.0))
"""Radius and half length of the limbs, from a needle to a tower."""

DECADES = (1, 2, 3, 4, 5, 6, 7)
"""The k of depths 10⁻ᵏ, as shares of the radius."""


class LimbFrame:
    """Unit axis and two unit directions across it, of one limb (3,) or of each of several (n, 3)."""

    axis: Float64Array
    across: Float64Array
    athwart: Float64Array

    def radial(self, angle: Float64Array) -> Float64Array:
        """Unit directions away from the axis, (n, 3)."""
        return np.cos(angle)[:, None] * self.across + np.sin(angle)[:, None] * self.athwart

    def slanted(self, angle: Float64Array, slope: Float64Array) -> Float64Array:
        """Unit directions along the side, at ``angle`` about the axis and ``slope`` off the axis, (n, 3)."""
        return np.cos(slope)[:, None] * self.axis + np.sin(slope)[:, None] * self.radial(angle + np.pi / 2)

    def across_rim(self, rng: np.random.Generator, cap: Float64Array, angle: Float64Array) -> Float64Array:
        """Draw unit directions down through a cap, 1 or -1, and out through the side, partly along the rim, (n, 3).

        A line that passes outside the rim leaves the infinite cylinder before it is below the cap's plane, for any
        slopes: it cannot hit the limb.
        """
        n = len(angle)
        fall, swerve = rng.uniform(np.pi / 9, 7 * np.pi / 18, n), rng.uniform(-1.0, 1.0, n)
        down_and_out = np.cos(fall)[:, None] * self.radial(angle) - np.sin(fall)[:, None] * (cap[:, None] * self.axis)
        return np.cos(swerve)[:, None] * down_and_out + np.sin(swerve)[:, None] * self.radial(angle + np.pi / 2)


@dataclass(frozen=True)
class Target(LimbFrame):
    """A cylinder, its unit axis and two unit directions across it, (3,) each.

    An aligned body has its centre in the origin and its axes along the coordinate axes, so that its caps and its four
    outermost lines have coordinates without rounding.
    """

    centre: Float64Array
    axis: Float64Array
    across: Float64Array
    athwart: Float64Array
    radius: float
    half: float
    aligned: bool

    @classmethod
    def draw(cls, rng: np.random.Generator, radius: float, half: float, aligned: bool) -> Self:
        """Draw a pose: one of six directions in the origin, or any direction within ten lengths of it."""
        if aligned:
            place = int(rng.integers(3))
            sign = 1.0 if rng.random() < 0.5 else -1.0
            frame = np.roll(np.eye(3), -place, axis=0)
            return cls(np.zeros(3), sign * frame[0], frame[1], sign * frame[2], radius, half, aligned)
        axis = unit(rng.normal(size=3))
        centre, aside = rng.uniform(-20, 20, 3) * half, across(axis)
        return cls(centre, axis, aside, np.cross(axis, aside), radius, half, aligned)

    @property
    def size(self) -> float:
        """Radius of a ball around the body."""
        return float(np.hypot(self.radius, self.half))

    def scene(self, fired: FiredSegments, setup: Setup = DEFAULT) -> ShotScene:
        """A world with only this body."""
        reach = self.half * self.axis
        p1, p2 = (self.centre - reach)[None], (self.centre + reach)[None]
        return ShotScene(p1, p2, np.array([self.radius]), fired, setup)

    def at(self, height: Float64Array, distance: Float64Array, angle: Float64Array) -> Float64Array:
        """Points at a height along the axis from the centre and a distance from the axis, (n, 3)."""
        return self.centre + height[:, None] * self.axis + distance[:, None] * self.radial(angle)

    def past(
        self, rng: np.random.Generator, through: Float64Array, heading: Float64Array
    ) -> tuple[Float64Array, Float64Array]:
        """Segments along unit ``heading`` through points, with ends clear of the body: start and end, (n, 3)."""
        middle = np.einsum("ni,ni->n", self.centre - through, heading)
        # The start is 2 mm and 0.1 to 10 sizes clear of the ball around the body, the end 1 to 2 sizes.
        before = middle - self.size * (1 + 10.0 ** rng.uniform(-1, 1, len(through))) - 0.002
        behind = middle + self.size * rng.uniform(2, 3, len(through))
        return through + before[:, None] * heading, through + behind[:, None] * heading

    def at_depth(
        self, rng: np.random.Generator, through: Float64Array, heading: Float64Array, depth: Float64Array
    ) -> FiredSegments:
        """Segments along or against unit ``heading`` through points; they cut the body where ``depth`` (n,) is > 0."""
        start, end = self.past(rng, through, either_way(rng, heading))
        return shots(start, end, depth)


def unit(vector: Float64Array) -> Float64Array:
    """Vectors (..., 3) scaled to length 1."""
    return np.asarray(vector / np.linalg.norm(vector, axis=-1, keepdims=True))


def across(axis: Float64Array) -> Float64Array:
    """A unit vector perpendicular to each axis (..., 3), and to the coordinate axis least parallel to it."""
    return unit(np.cross(axis, np.eye(3)[np.argmin(np.abs(axis), axis=-1)]))


def directions(rng: np.random.Generator, n: int) -> Float64Array:
    """Random unit directions, uniform on the sphere, (n, 3)."""
    return unit(rng.normal(size=(n, 3)))


def angles(rng: np.random.Generator, n: int) -> Float64Array:
    """Random angles about an axis, (n,)."""
    return rng.uniform(0, 2 * np.pi, n)


def either_way(rng: np.random.Generator, heading: Float64Array) -> Float64Array:
    """Reverse a random half of the headings."""
    return signs(rng, len(heading))[:, None] * heading


def signs(rng: np.random.Generator, n: int) -> Float64Array:
    """Random numbers 1 or -1, (n,)."""
    return np.where(rng.random(n) < 0.5, 1.0, -1.0)


def signed_shares(rng: np.random.Generator, n: int) -> Float64Array:
    """Random numbers ± 10⁻ᵏ with k from DECADES, (n,)."""
    return signs(rng, n) * 10.0 ** -rng.choice(DECADES, n).astype(np.float64)


def where(first: BoolArray, a: Float64Array, b: Float64Array) -> Float64Array:
    """Rows of ``a`` where true, else of ``b``, (n, 3)."""
    return np.where(first[:, None], a, b)
