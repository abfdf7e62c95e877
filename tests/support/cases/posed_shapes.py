"""Limbs anywhere in the world with frames, and functions that generate points on them for `oracle/shapes`.

Points are in the frame of the limb, in metres: the axis is z and p1 the origin (a sphere's or box's centre). They are
hit up to rounding only; the oracle computes the true answer for the rounded numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from support.cases.frames import Array, Posed, _circle, _unit, one_of
from support.oracle.shapes.rows import Shapes, shapes


@dataclass(frozen=True)
class Placed:
    """n limbs of one shape with their frames: rows of `frame` are unit vectors, `height` the length of the axis."""

    limbs: Shapes
    frame: Array  # (n, 3, 3)
    height: Array  # (n,)

    @property
    def kind(self) -> int:
        """Return the shape."""
        return int(self.limbs.kind[0])

    @property
    def size(self) -> Array:
        """Return the approximate sizes of the limbs, (n,)."""
        return self.limbs.radius + self.height + np.linalg.norm(self.limbs.half, axis=1)

    def world(self, local: Array) -> Array:
        """Return local points in the world, rounded."""
        return self.limbs.p1 + self.turned(local)

    def turned(self, local: Array) -> Array:
        """Return local directions in the world, rounded."""
        return np.einsum("nji,nj->ni", self.frame, local)


def upright(kind: int, p: Posed, **columns: Array) -> Placed:
    """Return limbs along the frames' z axes, from p1 to p2."""
    return Placed(shapes(kind, p.p1, p.p2, **columns), frame_of(p), p.height)


def frame_of(p: Posed) -> Array:
    """Return the unit vectors of the frames, (n, 3, 3)."""
    return np.stack([p.x, p.y, p.z], axis=1)


# Places -------------------------------------------------------------------------------------------------------------


def from_the_middle(surface: Callable[[Placed, Generator], tuple[Array, Array]], p: Placed, rng: Generator) -> Array:
    """Return points between the middle of the axis and the surface."""
    point, _ = surface(p, rng)
    share = rng.random((len(point), 1))
    return share * point + (1 - share) * at(0 * p.height, 0 * p.height, p.height / 2)


def ball_surface(p: Placed, rng: Generator, side_share: float) -> tuple[Array, Array]:
    """Return points and normals at distance `radius` from the axis, about `side_share` of them on the side."""
    n, r, h = len(p.limbs), p.limbs.radius, p.height
    side = rng.random(n) < side_share
    normal = _unit(np.where(side[:, None], at(*_circle(rng, n), 0 * r), rng.normal(size=(n, 3))))
    z = np.where(side, rng.random(n) * h, np.where(normal[:, 2] > 0, h, 0.0))
    return normal * r[:, None] + at(0 * r, 0 * r, z), normal


def capped_surface(p: Placed, rng: Generator, top: Array, inner: Array) -> tuple[Array, Array]:
    """Return points and normals of a wall, two caps, and a bore where `inner` is not 0; `top` is the radius at p2."""
    n, r, h = len(p.limbs), p.limbs.radius, p.height
    x, y = _circle(rng, n)
    where = rng.choice(4, n, p=[0.4, 0.3, 0.15, 0.15])  # side, bore (side if there is none), cap 1, cap 2
    bore, cap = (where == 1) & (inner > 0), where >= 2
    u = np.where(cap, where - 2, rng.random(n))
    wall = np.where(bore, inner, r + (top - r) * u)
    rho = np.where(cap, inner + (wall - inner) * np.sqrt(rng.random(n)), wall)
    out = np.where(bore, -1.0, 1.0)
    normal = np.where(cap[:, None], at(0 * r, 0 * r, 2 * u - 1), _unit(at(out * x, out * y, (r - top) / h)))
    return at(rho * x, rho * y, u * h), normal


def walled_feature(p: Placed, rng: Generator, bore: Array | None = None, tips: bool = False) -> tuple[Array, Array]:
    """Return points of rims, seams, walls, axes and tips, with axial, tangential or radial directions."""
    n, r, h = len(p.limbs), p.limbs.radius, p.height
    x, y = _circle(rng, n)
    in_bore = (bore is not None) & (rng.random(n) < 0.6)
    rho = np.where(in_bore, r if bore is None else bore, np.where(rng.random(n) < 0.1, 0.0, r))
    z = np.choose(rng.integers(0, 3, n), [0 * r, h, rng.random(n) * h])
    z = np.where(tips & (rho == 0), np.where(z > h / 2, h + r, -r), z)
    along = one_of(rng, at(0 * x, 0 * x, 1 + 0 * x), at(-y, x, 0 * x), at(x, y, 0 * x))
    return at(rho * x, rho * y, z), along


def at(x: Array, y: Array, z: Array) -> Array:
    """Return points (n, 3) from their coordinates."""
    return np.stack([x, y, z], axis=1)
