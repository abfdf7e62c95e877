"""Adversarial (limb, segment) families from a seed: every place where float64 hit tests are known to break.

Two kinds. *Float* families (here) pose limbs anywhere and aim by rounding: what is meant (a graze of relative depth
1e-9) is met up to rounding. *Exact* families (`support.cases.cylinder_rays_exact`) are drawn in integers, in a frame
whose axis is z, and brought to the world by an integer rotation (from an integer quaternion, so it also scales), an
integer shift and a power of two: a tangent is a tangent, a rim point lies on the rim, in the float64 numbers that come
out. `nudged` moves one of those numbers by an ulp.

Limbs have radii of 1 mm to 100 m and stand 0 to 10⁷ m from the origin. All arrays are parallel, one row a question.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from support.oracle.cylinder import Limb, Ray, segment

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

OFFSETS = (0.0, 1.0, 1e3, 1e5, 1e7)
"""Distance of the limb from the world's origin, metres."""

TRIPLES = np.array([(0, 1, 1), (3, 4, 5), (5, 12, 13), (8, 15, 17), (7, 24, 25), (20, 21, 29)])
"""x² + y² = radius² in integers: points of a circle without rounding."""


@dataclass(frozen=True)
class Segments:
    """n questions: is the closed cylinder (p1, p2, radius) hit by the closed segment start → end?"""

    family: NDArray[np.str_]  # (n,)
    p1: Array  # (n, 3)
    p2: Array
    radius: Array  # (n,)
    start: Array  # (n, 3)
    end: Array
    depth: Array  # (n,) what a graze was meant to cut of the radius (negative: passes outside), else nan

    def __len__(self) -> int:
        return len(self.radius)

    def limb(self, i: int) -> Limb:
        """Return the limb of row i for the oracle."""
        return Limb(tuple(self.p1[i].tolist()), tuple(self.p2[i].tolist()), float(self.radius[i]))

    def query(self, i: int) -> Ray:
        """Return the segment of row i for the oracle."""
        return segment(self.start[i], self.end[i])

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> "Segments":
        """Return the rows asked for."""
        return Segments(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


# Float families -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Posed:
    """Limbs anywhere: ends, radius, and a float frame with unit vectors `x`, `y` across and `z` along the axis."""

    p1: Array
    p2: Array
    radius: Array
    x: Array
    y: Array
    z: Array
    height: Array

    def at(self, x: Array, y: Array, z: Array) -> Array:
        """Return the world point with frame coordinates in radii (x, y) and in heights (z), rounded."""
        r, h = self.radius, self.height
        return self.p1 + (x * r)[:, None] * self.x + (y * r)[:, None] * self.y + (z * h)[:, None] * self.z


def posed(rng: Generator, n: int) -> Posed:
    """Return n limbs of any size at any place, two in three turned at random, the others along a world axis."""
    radius = 10.0 ** rng.uniform(-3, 2, n)
    axis = _unit(rng.normal(size=(n, 3)))
    aligned = rng.random(n) < 1 / 3
    axis[aligned] = np.eye(3)[rng.integers(0, 3, aligned.sum())] * rng.choice([-1.0, 1.0], (aligned.sum(), 1))
    centre = _unit(rng.normal(size=(n, 3))) * rng.choice(OFFSETS, (n, 1))
    p1 = centre + _unit(rng.normal(size=(n, 3))) * radius[:, None]
    return framed(p1, p1 + axis * (radius * 10.0 ** rng.uniform(-0.7, 1.3, n))[:, None], radius)


def framed(p1: Array, p2: Array, radius: Array) -> Posed:
    """Return limbs with a frame each."""
    # At 10⁷ m a millimetre has 19 bits left: the frame must follow the ends as rounded.
    z = _unit(p2 - p1)
    x = _unit(np.cross(z, np.where(np.abs(z[:, :1]) < 0.7, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])))
    return Posed(p1, p2, radius, x, np.cross(z, x), z, np.linalg.norm(p2 - p1, axis=1))


def _unit(v: Array) -> Array:
    """Return v scaled to length 1, row by row."""
    return np.asarray(v / np.linalg.norm(v, axis=1)[:, None])


def _circle(rng: Generator, n: int, radius: Array | float = 1.0) -> tuple[Array, Array]:
    """Return random points (x, y) at the given distance from the axis."""
    angle = rng.uniform(0, 2 * np.pi, n)
    return radius * np.cos(angle), radius * np.sin(angle)


def _disc(rng: Generator, n: int) -> tuple[Array, Array]:
    """Return random points (x, y) within the radius."""
    return _circle(rng, n, np.sqrt(rng.random(n)))


def _through(
    rng: Generator, limb: Posed, point: Array, along: Array, reach: tuple[float, float] = (0, 2)
) -> list[Array]:
    """Return start and end of a segment through `point` in direction `along`, 10**reach limb sizes to either side."""
    n = len(point)
    size = (limb.radius + limb.height)[:, None]
    back, on = (10.0 ** rng.uniform(*reach, (n, 1)) * size for _ in range(2))
    return [point - back * along, point + on * along]


def _rows(limb: Posed, start: Array, end: Array, depth: Array | None = None) -> Segments:
    """Return the questions, their family still unnamed."""
    n = len(start)
    blank = np.full(n, np.nan) if depth is None else depth
    return Segments(np.full(n, "", dtype="U24"), limb.p1, limb.p2, limb.radius, start, end, blank)


def aimed(rng: Generator, n: int) -> Segments:
    """From anywhere through a point of the limb; one in four ends or starts there."""
    limb = posed(rng, n)
    target = limb.at(*_disc(rng, n), rng.random(n))
    start, end = _through(rng, limb, target, _unit(rng.normal(size=(n, 3))))
    kind = rng.integers(0, 8, (n, 1))
    return _rows(limb, np.where(kind == 0, target, start), np.where(kind == 1, target, end))


def passing(rng: Generator, n: int) -> Segments:
    """Past the limb, or stopping short of it: mostly misses, by every margin."""
    limb = posed(rng, n)
    point = limb.at(*_circle(rng, n, 1 + 10.0 ** rng.uniform(-3, 0.5, n)), rng.uniform(-0.5, 1.5, n))
    return _rows(limb, *_through(rng, limb, point, _unit(rng.normal(size=(n, 3)))))


def graze_side(rng: Generator, n: int) -> Segments:
    """The line passes the side at a relative depth of ±10⁻¹ … 10⁻¹⁶, its nearest point between the caps."""
    limb = posed(rng, n)
    depth = rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(-16, -1, n)
    along = _unit(rng.normal(size=(n, 3)))
    outward = _unit(np.cross(limb.z, along))
    foot = limb.at(np.zeros(n), np.zeros(n), rng.uniform(0.05, 0.95, n))
    point = foot + ((1 - depth) * limb.radius)[:, None] * outward
    return _rows(limb, *_through(rng, limb, point, along, (-0.5, 1.5)), depth)


def rim(rng: Generator, n: int) -> Segments:
    """Through a cap plane just inside or outside the rim, off by a relative ±10⁻¹ … 10⁻¹⁶ or by nothing."""
    limb = posed(rng, n)
    off = rng.choice([-1.0, 0.0, 1.0], n) * 10.0 ** rng.uniform(-16, -1, n)
    point = limb.at(*_circle(rng, n, 1 + off), rng.integers(0, 2, n).astype(float))
    return _rows(limb, *_through(rng, limb, point, _unit(rng.normal(size=(n, 3)))))


def parallel(rng: Generator, n: int) -> Segments:
    """Along the axis direction, or turned from it by 10⁻³ … 10⁻¹⁷: inside, outside, at the radius up to rounding."""
    limb = posed(rng, n)
    x, y = _circle(rng, n, rng.choice([0.0, 0.5, 1 - 1e-12, 1.0, 1 + 1e-12, 1.5], n))
    tilt = rng.choice([0.0, 1.0], n) * 10.0 ** rng.uniform(-17, -3, n)
    along = limb.z * rng.choice([-1.0, 1.0], (n, 1)) + tilt[:, None] * _unit(rng.normal(size=(n, 3)))
    return _rows(limb, *_through(rng, limb, limb.at(x, y, rng.uniform(-0.2, 1.2, n)), along, (-1, 1)))


def cap_plane(rng: Generator, n: int) -> Segments:
    """In a cap plane up to rounding, crossing the disc, touching it or passing it."""
    limb = posed(rng, n)
    x, y = _circle(rng, n)
    along = -y[:, None] * limb.x + x[:, None] * limb.y
    distance = rng.choice([0.0, 0.5, 1 - 1e-9, 1.0, 1 + 1e-9, 1.2], n)
    point = limb.at(distance * x, distance * y, rng.integers(0, 2, n).astype(float))
    return _rows(limb, *_through(rng, limb, point, along, (-1, 1)))


def on_surface(rng: Generator, n: int) -> Segments:
    """Ends or starts on the surface up to rounding, side or cap, coming from or going to anywhere."""
    limb = posed(rng, n)
    side = limb.at(*_circle(rng, n), rng.random(n))
    cap = limb.at(*_disc(rng, n), rng.integers(0, 2, n).astype(float))
    point = np.where(rng.random((n, 1)) < 0.5, side, cap)
    other = point + (limb.radius * 10.0 ** rng.uniform(-2, 2, n))[:, None] * _unit(rng.normal(size=(n, 3)))
    forth = rng.random((n, 1)) < 0.5
    return _rows(limb, np.where(forth, point, other), np.where(forth, other, point))


def start_inside(rng: Generator, n: int) -> Segments:
    """Starts in the limb and leaves it or stops in it."""
    limb = posed(rng, n)
    start = limb.at(*_disc(rng, n), rng.random(n))
    reach = limb.radius * 10.0 ** rng.uniform(-3, 2, n)
    return _rows(limb, start, start + reach[:, None] * _unit(rng.normal(size=(n, 3))))


def through_axis(rng: Generator, n: int) -> Segments:
    """The line meets the axis line, one in three perpendicular to it."""
    limb = posed(rng, n)
    along = _unit(rng.normal(size=(n, 3)))
    square = rng.random(n) < 1 / 3
    along[square] = _unit(np.cross(limb.z, along))[square]
    point = limb.at(np.zeros(n), np.zeros(n), rng.uniform(-0.2, 1.2, n))
    return _rows(limb, *_through(rng, limb, point, along, (-1, 3)))


def far_start(rng: Generator, n: int) -> Segments:
    """As a graze or through a rim, from 10³ … 10⁷ limb sizes away: the line itself is known to few digits."""
    limb = posed(rng, n)
    depth = rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(-9, -1, n)
    z = np.where(rng.random(n) < 0.5, rng.random(n), rng.integers(0, 2, n))
    point = limb.at(*_circle(rng, n, 1 - depth), z)
    return _rows(limb, *_through(rng, limb, point, _unit(rng.normal(size=(n, 3))), (3, 7)))


FLOAT: dict[str, Callable[[Generator, int], Segments]] = {
    "aimed": aimed,
    "passing": passing,
    "graze side": graze_side,
    "rim": rim,
    "parallel": parallel,
    "cap plane": cap_plane,
    "on surface": on_surface,
    "start inside": start_inside,
    "through axis": through_axis,
    "far start": far_start,
}
"""Float families by name."""


def named(name: str, make: Callable[[Generator, int], Segments], rng: Generator, n: int) -> Segments:
    """Return n questions of one family, its name in every row."""
    rows = make(rng, n)
    return replace(rows, family=np.full(n, name, dtype="U24"))
