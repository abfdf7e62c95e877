"""Shapes of limbs that can be fitted, each as a gauge about its centre.

A shape of given proportions is centred at 0, with its axis along z. The gauge of a point is the least scale s at which
the shape contains it. So the scale of the smallest such limb that covers a share of some points is a quantile of their
gauges, and a fit searches only over centres, frames and proportions. Proportions are relative to the radius (of a box:
to its half extent along z). Volumes and surfaces are those at s = 1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cylcollide._types import Float64Array, Shape

Gauge = Callable[[Float64Array, Float64Array, Float64Array, Float64Array], Float64Array]
"""Maps coordinates x, y, z of points, (k, n) each, and proportions (k, m) to scales (k, n)."""


Least = Literal["volume", "surface"]
"""The quantity that a fit minimises."""


@dataclass(frozen=True, slots=True)
class Family:
    """One shape."""

    shape: Shape
    turns: int  # rotational degrees of freedom: 3 of a box, 2 of a limb with an axis, 0 of a sphere
    aspects: int  # number of leading proportions, which are lengths > 0
    slopes: int  # number of further proportions, from -1 to 1
    gauge: Gauge
    volume: Callable[[Float64Array], Float64Array]  # of proportions (k, m), at scale 1, (k,)
    surface: Callable[[Float64Array], Float64Array]  # its area at scale 1, (k,)

    def size(self, proportions: Float64Array, least: Least) -> Float64Array:
        """The quantity to minimise, as a length at scale 1, (k,): the cube root of the volume, or √surface."""
        return np.cbrt(self.volume(proportions)) if least == "volume" else np.sqrt(self.surface(proportions))


def _tapered(x: Float64Array, y: Float64Array, z: Float64Array, proportions: Float64Array) -> Float64Array:
    """Half length a and slope c: |z| <= a s, and the distance from the axis is at most s + c z / a."""
    along = z / proportions[:, :1]
    return np.maximum(np.abs(along), np.sqrt(x * x + y * y) - proportions[:, 1:2] * along)


def _capsule(x: Float64Array, y: Float64Array, z: Float64Array, proportions: Float64Array) -> Float64Array:
    """Half length a of the segment; beyond its ends the gauge is the root s of (|z| - a s)² + d² = s²."""
    a, z, d = proportions[:, :1], np.abs(z), np.sqrt(x * x + y * y)
    root = np.sqrt(np.maximum(z**2 + (1.0 - a**2) * d**2, 0.0))
    with np.errstate(invalid="ignore", divide="ignore"):  # at the centre, which lies beside the segment
        return np.where(z <= a * d, d, (z**2 + d**2) / (a * z + root))


def _box(x: Float64Array, y: Float64Array, z: Float64Array, proportions: Float64Array) -> Float64Array:
    across = np.maximum(np.abs(x) / proportions[:, :1], np.abs(y) / proportions[:, 1:2])
    return np.maximum(across, np.abs(z))


def _tapered_surface(p: Float64Array) -> Float64Array:
    """Two discs, and a wall of height 2 a whose radius changes by 2 c."""
    slant = np.hypot(2.0 * p[:, 0], 2.0 * p[:, 1])
    return 2.0 * np.pi * (1.0 + p[:, 1] ** 2 + slant)


def _ellipsoid_surface(p: Float64Array) -> Float64Array:
    """Prolate and oblate ellipsoids by their eccentricity, which is kept above 0; there both formulas tend to 4 pi."""
    a = p[:, 0]
    e = np.sqrt(np.maximum(1.0 - np.minimum(a, 1.0 / a) ** 2, 1e-8))
    return 2.0 * np.pi * (1.0 + np.where(a > 1.0, a * np.arcsin(e), a * a * np.arctanh(e)) / e)


FAMILIES = {
    family.shape: family
    for family in (
        Family(
            Shape.CYLINDER, 2, 1, 0, lambda x, y, z, p: np.maximum(np.abs(z) / p[:, :1], np.sqrt(x * x + y * y)),
            lambda p: 2.0 * np.pi * p[:, 0], lambda p: 2.0 * np.pi * (1.0 + 2.0 * p[:, 0]),
        ),
        Family(
            Shape.TAPERED, 2, 1, 1, _tapered,
            lambda p: 2.0 * np.pi * p[:, 0] * (1.0 + p[:, 1] ** 2 / 3.0), _tapered_surface,
        ),
        Family(
            Shape.CAPSULE, 2, 1, 0, _capsule,
            lambda p: np.pi * (2.0 * p[:, 0] + 4.0 / 3.0), lambda p: 4.0 * np.pi * (1.0 + p[:, 0]),
        ),
        Family(
            Shape.ELLIPSOID, 2, 1, 0, lambda x, y, z, p: np.sqrt(x * x + y * y + (z / p[:, :1]) ** 2),
            lambda p: 4.0 / 3.0 * np.pi * p[:, 0], _ellipsoid_surface,
        ),
        Family(
            Shape.SPHERE, 0, 0, 0, lambda x, y, z, _: np.sqrt(x * x + y * y + z * z),
            lambda p: np.full(len(p), 4.0 / 3.0 * np.pi),
            lambda p: np.full(len(p), 4.0 * np.pi),
        ),
        Family(
            Shape.BOX, 3, 2, 0, _box,
            lambda p: 8.0 * p[:, 0] * p[:, 1], lambda p: 8.0 * (p[:, 0] * p[:, 1] + p[:, 0] + p[:, 1]),
        ),
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FittedLimb:
    """A fitted limb: its shape, centre (3,), frame (3, 3) with the axis in the last column, proportions and scale."""

    family: Family
    centre: Float64Array
    frame: Float64Array
    proportions: Float64Array
    scale: float

    def size(self, least: Least) -> float:
        """The quantity to minimise, as a length."""
        return self.scale * float(self.family.size(self.proportions[None], least)[0])

    def gauge(self, points: Float64Array) -> Float64Array:
        """The least scales (n,) at which the limb contains points (n, 3)."""
        x, y, z = ((points - self.centre) @ self.frame).T
        return np.asarray(self.family.gauge(x[None], y[None], z[None], self.proportions[None])[0])
