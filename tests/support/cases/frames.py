"""Poses for limbs: random and rounded (`posed`), or on an integer grid without rounding (`frames`).

Limbs have radii of 1 mm to 100 m and lie 0 to 10⁷ m from the origin. All arrays are parallel, one row per limb.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

OFFSETS = (0.0, 1.0, 1e3, 1e5, 1e7)
"""Distance of the limb from the world's origin, metres."""

TRIPLES = np.array([(0, 1, 1), (3, 4, 5), (5, 12, 13), (8, 15, 17), (7, 24, 25), (20, 21, 29)])
"""x² + y² = radius² in integers: points exactly on a circle."""

QUADRUPLES = np.array([(1, 2, 2, 3), (2, 3, 6, 7), (1, 4, 8, 9), (4, 4, 7, 9), (0, 3, 4, 5), (0, 0, 1, 1)])
"""x² + y² + z² = length² in integers: directions of integer length."""


@dataclass(frozen=True)
class Posed:
    """Limbs: ends, radius, and a float64 frame of unit vectors, `x` and `y` across the axis and `z` along it."""

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
    """Return n limbs of random size and place; two in three have a random axis, the others lie along a world axis."""
    radius = 10.0 ** rng.uniform(-3, 2, n)
    axis = _unit(rng.normal(size=(n, 3)))
    aligned = rng.random(n) < 1 / 3
    axis[aligned] = np.eye(3)[rng.integers(0, 3, aligned.sum())] * rng.choice([-1.0, 1.0], (aligned.sum(), 1))
    centre = _unit(rng.normal(size=(n, 3))) * rng.choice(OFFSETS, (n, 1))
    p1 = centre + _unit(rng.normal(size=(n, 3))) * radius[:, None]
    return framed(p1, p1 + axis * (radius * 10.0 ** rng.uniform(-0.7, 1.3, n))[:, None], radius)


def framed(p1: Array, p2: Array, radius: Array) -> Posed:
    """Return limbs with frames that follow the rounded ends."""
    # At 10⁷ m only 19 bits are left for a millimetre, so the rounded axis differs from the drawn one.
    z = _unit(p2 - p1)
    x = _unit(np.cross(z, np.where(np.abs(z[:, :1]) < 0.7, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])))
    return Posed(p1, p2, radius, x, np.cross(z, x), z, np.linalg.norm(p2 - p1, axis=1))


def _unit(v: Array) -> Array:
    """Return v scaled to length 1, row by row."""
    return np.asarray(v / np.linalg.norm(v, axis=1)[:, None])


def one_of(rng: Generator, *choices: NDArray) -> NDArray:
    """Return one of the choices, row by row."""
    n = len(choices[0])
    return np.array(choices)[rng.integers(0, len(choices), n), np.arange(n)]


def _circle(rng: Generator, n: int, radius: Array | float = 1.0) -> tuple[Array, Array]:
    """Return random points (x, y) at the given distance from the axis."""
    angle = rng.uniform(0, 2 * np.pi, n)
    return radius * np.cos(angle), radius * np.sin(angle)


@dataclass(frozen=True)
class Frame:
    """n local cylinders of integer radius and height, and their map to the world: unit · (shift + turn · local)."""

    turn: Whole  # (n, 3, 3) integer rotation times `size`
    size: Whole  # (n,)
    shift: Whole  # (n, 3)
    unit: Array  # (n,) a power of two
    radius: Whole  # (n,)
    height: Whole
    rim: Whole  # (n, 2) an integer point on the circle

    def world(self, local: Whole) -> Array:
        """Return local integer points in the world, (n, 3), without rounding."""
        whole = self.shift + np.einsum("nij,nj->ni", self.turn, local)
        assert np.abs(whole).max(initial=0) < 2**53
        return whole * self.unit[:, None]

    def length(self, local: Whole) -> Array:
        """Return local lengths in the world, (n,), without rounding."""
        return local * self.size * self.unit

    def repeated(self, count: int) -> "Frame":
        """Return the one frame `count` times, to map `count` points."""
        return Frame(*(np.repeat(getattr(self, name), count, axis=0) for name in self.__dataclass_fields__))


def frames(rng: Generator, n: int) -> Frame:
    """Return n frames: radii of 1 mm to 100 m, at 0 to 10⁷ m, one in three along the world axes."""
    triple = TRIPLES[rng.integers(0, len(TRIPLES), n)] * rng.integers(1, 5, (n, 1))
    swap = rng.random((n, 1)) < 0.5
    across = np.where(swap, triple[:, 1::-1], triple[:, :2]) * rng.choice([-1, 1], (n, 2))
    turn, size = _integer_rotations(rng, n)
    radius = triple[:, 2]
    unit = 2.0 ** np.ceil(np.log2(10.0 ** rng.uniform(-3, 1.7, n) / (radius * size)))
    offset = rng.choice(OFFSETS, n) / unit
    shift = np.rint(rng.uniform(-1, 1, (n, 3)) * offset[:, None]).astype(np.int64)
    return Frame(turn, size, shift, unit, radius, rng.integers(1, 5 * radius + 2), across)


def rotations(x: NDArray, y: NDArray, z: NDArray, w: NDArray) -> NDArray:
    """Return the rotation matrices of quaternions times their squared lengths, (..., 3, 3); exact for integers."""
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def matrices(q: ArrayLike) -> NDArray:
    """Return the rotation matrices of quaternions x, y, z, w (..., 4) of any length but 0, to a few roundings."""
    q = np.asarray(q)
    return rotations(*np.moveaxis(q / np.sqrt((q * q).sum(-1))[..., None], -1, 0))


def _integer_rotations(rng: Generator, n: int) -> tuple[Whole, Whole]:
    """Return integer matrices M with M Mᵀ = size² I, from quaternions of small integers; one in three has size 1."""
    w, x, y, z = q = rng.integers(-2, 3, (4, n))
    w[(q == 0).all(axis=0)] = 1
    turn, size = rotations(x, y, z, w), w * w + x * x + y * y + z * z
    plain = rng.random(n) < 1 / 3
    perm = np.eye(3, dtype=np.int64)[rng.permuted(np.tile(np.arange(3), (n, 1)), axis=1)]
    signed = perm * rng.choice([-1, 1], (n, 3, 1))
    return np.where(plain[:, None, None], signed, turn), np.where(plain, 1, size)
