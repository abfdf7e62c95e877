"""The limbs that `run.py` measures, and the families of rays it shoots at them.

=======  ==========================================================================================================
family   rays
=======  ==========================================================================================================
aimed    any direction, through a point inside the solid's outer surface (a tube's bore included)
graze    a plane touches the side; the line runs parallel to it, `depth` inside (a hit) or outside (a miss): ± 10⁻¹ to
         10⁻⁷ of the radius, even in the logarithm
hair     as graze, ± 10⁻⁷ to 10⁻¹² of the radius (10⁻¹² is 50 femtometres)
edge     as graze, where the plane touches a rim, a seam, an edge, a pole or an apex; half of a tube's rays are at
         the rim of its bore, where the depth does not determine the verdict
miss     as graze, 2 to 100 mm outside
=======  ==========================================================================================================

Starts lie 2 to 20 m before the place, ends 1 m behind it. All coordinates are multiples of `GRID`, so that end - start
is exact in float64: engines that take two ends and engines that take a direction get the same ray.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

import cylcollide as cc
from cylcollide._types import Float64Array, Int64Array
from cylcollide.bench.workloads import Segments
from cylcollide.crosscheck.generate.shots import directions, unit

CENTER = np.array([0.3, -0.2, 1.1])  # metres, as all lengths here
QUATERNION = np.array([0.1, 0.2, 0.3, 0.9]) / np.sqrt(0.95)  # x, y, z, w
RADIUS, NARROW, HALF_LENGTH = 0.05, 0.03, 0.2  # NARROW: a tube's bore, a tapered cylinder's far end
HALF_EXTENTS = np.array([0.05, 0.08, 0.2])
GRID = 2.0**-46  # coordinates below 32 m have 51 bits, their differences 52

FRAME = cc.Limbs.boxes([CENTER], QUATERNION, HALF_EXTENTS).box_axes[0]  # rows: the limbs' own x, y, z
P1, P2 = CENTER - HALF_LENGTH * FRAME[2], CENTER + HALF_LENGTH * FRAME[2]

LIMBS: dict[str, cc.Limbs] = {
    "cylinder": cc.Limbs.cylinders([P1], [P2], RADIUS),
    "tube": cc.Limbs.tubes([P1], [P2], RADIUS, NARROW),
    "tapered": cc.Limbs.tapered_cylinders([P1], [P2], RADIUS, NARROW),
    "cone": cc.Limbs.cones([P1], [P2], RADIUS),
    "ellipsoid": cc.Limbs.ellipsoids([P1], [P2], RADIUS),
    "capsule": cc.Limbs.capsules([P1], [P2], RADIUS),
    "sphere": cc.Limbs.spheres([CENTER], RADIUS),
    "box": cc.Limbs.boxes([CENTER], QUATERNION, HALF_EXTENTS),
}
"""One limb of each shape, all of them in one oblique pose."""

END_RADIUS = {"cylinder": RADIUS, "tube": RADIUS, "tapered": NARROW, "cone": 0.0}
"""Radius at p2 of the shapes with flat caps; RADIUS at p1."""


class Touch(NamedTuple):
    """Places of a solid's surface, and the outward unit normals of planes that touch it there; (n, 3), own frame."""

    point: Float64Array
    normal: Float64Array


def draw(shape: str, family: str, rng: Generator, n: int) -> Segments:
    """Shoot n rays of one family at one shape."""
    touch = (edge if family == "edge" else side)(shape, rng, n)
    if family == "aimed":
        through, heading = rng.random((n, 1)) * touch.point, directions(rng, n)
    else:
        least, most = (-12, -7) if family == "hair" else (-7, -1)
        depth = np.where(rng.random(n) < 0.5, -RADIUS, RADIUS) * 10.0 ** rng.uniform(least, most, n)
        if family == "miss":
            depth = -rng.uniform(0.002, 0.1, n)
        through = touch.point - depth[:, None] * touch.normal
        heading = unit(np.cross(touch.normal, directions(rng, n)))
    before = 2.0 * 10.0 ** rng.random((n, 1))
    return Segments(_placed(through - before * heading), _placed(through + heading))


def side(shape: str, rng: Generator, n: int) -> Touch:
    """Places of the side, of a capsule's balls (every second ray), of a box's faces."""
    height = rng.uniform(-0.95, 0.95, n) * HALF_LENGTH
    if shape in END_RADIUS:
        return _wall(shape, rng.uniform(0, 2 * np.pi, n), height)
    normal = directions(rng, n)
    if shape == "box":
        place, (axis, _), sign = _on_box(rng, n)
        place[np.arange(n), axis] = sign[:, 0] * HALF_EXTENTS[axis]
        return Touch(place, sign[:, :1] * np.eye(3)[axis])
    if shape == "capsule":
        on_wall = rng.random(n) < 0.5
        normal[on_wall, 2] = 0.0
        normal = unit(normal)
        return Touch(RADIUS * normal + _up(np.where(on_wall, height, np.sign(normal[:, 2]) * HALF_LENGTH)), normal)
    # The place where an ellipsoid of semi-axes s has the normal m is s² m / |s m|.
    semi = np.array([RADIUS, RADIUS, HALF_LENGTH if shape == "ellipsoid" else RADIUS])
    return Touch(semi**2 * normal / np.linalg.norm(semi * normal, axis=1)[:, None], normal)


def edge(shape: str, rng: Generator, n: int) -> Touch:
    """Places where the surface is singular, each with a normal between those of the adjoining faces."""
    at_p2 = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    cap, angle, mix = _up(at_p2), rng.uniform(0, 2 * np.pi, n), rng.uniform(0.1, 0.9, (n, 1))
    if shape == "ellipsoid":
        return Touch(cap * HALF_LENGTH, cap)
    if shape == "box":
        place, axes, sign = _on_box(rng, n)
        normal = np.zeros((n, 3))
        for axis, s, share in zip(axes, sign.T, (mix[:, 0], 1 - mix[:, 0]), strict=True):
            place[np.arange(n), axis] = s * HALF_EXTENTS[axis]
            normal[np.arange(n), axis] = s * share
        return Touch(place, unit(normal))
    if shape == "capsule":
        return _wall("cylinder", angle, at_p2 * HALF_LENGTH)
    rim = _wall(shape, angle, at_p2 * HALF_LENGTH)
    if shape == "tube":
        bore = rng.random((n, 1)) < 0.5
        rim = Touch(np.where(bore, rim.point * [NARROW / RADIUS, NARROW / RADIUS, 1], rim.point), rim.normal)
        rim = Touch(rim.point, np.where(bore, -rim.normal, rim.normal))
    # Planes at an apex are perpendicular to the axis: no other plane leads into a narrow cone.
    blunt = np.linalg.norm(rim.point[:, :2], axis=1, keepdims=True) > 0
    return Touch(rim.point, unit(blunt * mix * rim.normal + (1 - mix) * cap))


FAMILIES = ("aimed", "graze", "hair", "edge", "miss")


def _wall(shape: str, angle: Float64Array, height: Float64Array) -> Touch:
    """Places of the wall of a cylinder, tapered or not."""
    slope = (RADIUS - END_RADIUS[shape]) / (2 * HALF_LENGTH)
    radial = np.stack([np.cos(angle), np.sin(angle), 0 * angle], 1)
    radius = RADIUS - slope * (height + HALF_LENGTH)
    return Touch(radius[:, None] * radial + _up(height), unit(radial + _up(slope + 0 * height)))


def _on_box(rng: Generator, n: int) -> tuple[Float64Array, tuple[Int64Array, Int64Array], Float64Array]:
    """Points inside a box, two of its axes for each, and a sign for both."""
    first = rng.integers(0, 3, n)
    second = (first + rng.integers(1, 3, n)) % 3
    return HALF_EXTENTS * rng.uniform(-0.95, 0.95, (n, 3)), (first, second), rng.choice([-1.0, 1.0], (n, 2))


def _placed(local: Float64Array) -> Float64Array:
    """Points of the limbs' own frame in the world, on the grid."""
    world: Float64Array = np.round((CENTER + local @ FRAME) / GRID) * GRID
    return world


def _up(height: Float64Array) -> Float64Array:
    up: Float64Array = height[:, None] * np.array([0.0, 0.0, 1.0])
    return up
