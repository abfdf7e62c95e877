"""Limbs of every shape anywhere in the world, and the places on them that rays of the float families aim at.

Places are in the frame of the limb, in metres: the axis is z and p1 the origin (a sphere's or box's centre). They are
met up to rounding; what the numbers then say is for the oracle to decide.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from segments import Array, _circle, _unit, posed
from shape_oracle import BOX, CAPSULE, CYLINDER, ELLIPSOID, SPHERE, TAPERED, TUBE
from shape_rows import UNTURNED, Shapes, shapes


@dataclass(frozen=True)
class Placed:
    """n limbs of one shape with their frames: rows of `frame` are unit vectors, `height` the length of the axis."""

    limbs: Shapes
    frame: Array  # (n, 3, 3)
    height: Array  # (n,)

    @property
    def size(self) -> Array:
        """Return about how long the limbs are, (n,)."""
        return self.limbs.radius + self.height + np.linalg.norm(self.limbs.half, axis=1)

    def world(self, local: Array) -> Array:
        """Return local points in the world, rounded."""
        return self.limbs.p1 + self.turned(local)

    def turned(self, local: Array) -> Array:
        """Return local directions in the world, rounded."""
        return np.einsum("nji,nj->ni", self.frame, local)


def placed(kind: int, rng: Generator, n: int) -> Placed:
    """Return n limbs of one shape, of all sizes and proportions."""
    p = posed(rng, n)
    frame, radius = np.stack([p.x, p.y, p.z], axis=1), p.radius
    if kind == SPHERE:
        return Placed(shapes(kind, p.p1, radius=radius), frame, np.zeros(n))
    if kind == BOX:
        turn = rng.normal(size=(n, 4)) * 10.0 ** rng.uniform(-3, 3, (n, 1))
        turn[rng.random(n) < 0.3] = UNTURNED
        half = radius[:, None] * 10.0 ** rng.uniform(-1.5, 0.5, (n, 3))
        return Placed(shapes(kind, p.p1, orientation=turn, half=half), rotation_rows(turn), np.zeros(n))
    if kind == CAPSULE:
        # One in eight has no length, one in eight hardly any.
        p1, p2 = p.p1, np.where(rng.random((n, 1)) < 1 / 8, p.p1, p.p2)
        short = rng.random(n) < 1 / 8
        p2[short] = (p1 + p.z * (radius * 10.0 ** rng.uniform(-9, -1, n))[:, None])[short]
        return Placed(shapes(kind, p1, p2, radius=radius), frame, np.linalg.norm(p2 - p1, axis=1))
    more = {"radius": radius}
    if kind == TUBE:
        share = np.where(rng.random(n) < 0.7, rng.uniform(0.05, 0.98, n), 1 - 10.0 ** rng.uniform(-15.5, -1, n))
        more["radius2"] = radius * share
    if kind == TAPERED:
        beside = np.nextafter(radius, radius * rng.choice([0, 2], n))
        choices = [0 * radius, radius * rng.uniform(0, 3, n), beside, radius, radius * 10.0 ** rng.uniform(-9, 0, n)]
        other, swap = np.choose(rng.choice(5, n, p=[0.3, 0.35, 0.15, 0.05, 0.15]), choices), rng.random(n) < 0.5
        more = {"radius": np.where(swap, other, radius), "radius2": np.where(swap, radius, other)}
    if kind == ELLIPSOID:
        shape = np.where(rng.random(n) < 0.5, 1.0, 10.0 ** rng.uniform(-3, 3, n))
        more = {"radius": np.clip(radius * shape, 1e-3, 100)}
    return Placed(shapes(kind, p.p1, p.p2, **more), frame, p.height)


def rotation_rows(quaternion: Array) -> Array:
    """Return the box axes of quaternions x, y, z, w of any length, (n, 3, 3), good to a few roundings."""
    x, y, z, w = (quaternion / np.linalg.norm(quaternion, axis=1)[:, None]).T
    columns = [
        [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
        [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
        [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(columns), 2, 0)


# Places -------------------------------------------------------------------------------------------------------------


def surface(p: Placed, rng: Generator) -> tuple[Array, Array]:
    """Return points of the surface and the outward unit normals there, in the frames."""
    n, kind = len(p.limbs), p.limbs.kind[0]
    r, r2, h = p.limbs.radius, p.limbs.radius2, p.height
    if kind in (SPHERE, CAPSULE):
        side = rng.random(n) < (0.5 if kind == CAPSULE else 0.0)
        normal = _unit(np.where(side[:, None], _at(*_circle(rng, n), 0 * r), rng.normal(size=(n, 3))))
        z = np.where(side, rng.random(n) * h, np.where(normal[:, 2] > 0, h, 0.0))
        return normal * r[:, None] + _at(0 * r, 0 * r, z), normal
    if kind == BOX:
        rows, which, sign = np.arange(n), rng.integers(0, 3, n), rng.choice([-1.0, 1.0], n)
        point, normal = p.limbs.half * rng.uniform(-1, 1, (n, 3)), np.zeros((n, 3))
        point[rows, which], normal[rows, which] = sign * p.limbs.half[rows, which], sign
        return point, normal
    x, y = _circle(rng, n)
    if kind == ELLIPSOID:
        angle = rng.uniform(-np.pi / 2, np.pi / 2, n)
        c, s = np.cos(angle), np.sin(angle)
        return _at(x * r * c, y * r * c, h / 2 * (1 + s)), _unit(_at(x * c / r, y * c / r, 2 * s / h))
    top = r2 if kind == TAPERED else r
    inner = r2 if kind == TUBE else 0 * r
    where = rng.choice(4, n, p=[0.4, 0.3, 0.15, 0.15])  # side, bore (side too where there is none), cap 1, cap 2
    bore, cap = (where == 1) & (kind == TUBE), where >= 2
    u = np.where(cap, where - 2, rng.random(n))
    wall = np.where(bore, inner, r + (top - r) * u)
    rho = np.where(cap, inner + (wall - inner) * np.sqrt(rng.random(n)), wall)
    out = np.where(bore, -1.0, 1.0)
    normal = np.where(cap[:, None], _at(0 * r, 0 * r, 2 * u - 1), _unit(_at(out * x, out * y, (r - top) / h)))
    return _at(rho * x, rho * y, u * h), normal


def interior(p: Placed, rng: Generator) -> Array:
    """Return points in the solid: on the way from its middle (a tube's middle radius) to the surface."""
    point, normal = surface(p, rng)
    share = rng.random((len(point), 1))
    if p.limbs.kind[0] != TUBE:
        return share * point + (1 - share) * _at(0 * p.height, 0 * p.height, p.height / 2)
    on_cap = normal[:, 2:] != 0
    inward = np.where(on_cap, p.height[:, None], (p.limbs.radius - p.limbs.radius2)[:, None])
    return point - share * inward * normal


def feature(p: Placed, rng: Generator) -> tuple[Array, Array]:
    """Return the singular places of the shape and a direction that is singular there, in the frames."""
    point, along = FEATURES[int(p.limbs.kind[0])](p, rng)
    turned_round = rng.choice([-1.0, 1.0], (len(point), 1))
    return point, _unit(along) * turned_round


def _tapered(p: Placed, rng: Generator) -> tuple[Array, Array]:
    """Apex, rims, points of a generator on both nappes; along the generator, the axis, or level."""
    n, r, h = len(p.limbs), p.limbs.radius, p.height
    with np.errstate(divide="ignore", invalid="ignore"):
        apex = r / (r - p.limbs.radius2)
    apex = np.where(np.abs(apex) < 100, apex, 0.5)
    u = np.choose(rng.integers(0, 5, n), [apex, 0 * r, 0 * r + 1, rng.random(n), 2 * apex - rng.random(n)])
    x, y = _circle(rng, n)
    taper = p.limbs.radius2 - r
    rho = r + taper * u
    generator, axis = _at(taper * x, taper * y, h), _at(0 * x, 0 * x, h)
    along = _either(rng, generator, generator, axis, _at(x, y, 0 * x), _at(-y, x, 0 * x))
    return _at(rho * x, rho * y, u * h), along


def _walled(p: Placed, rng: Generator) -> tuple[Array, Array]:
    """Points of rims, seams and walls, or the tips; along the axis, round the wall, or across."""
    n, r, h = len(p.limbs), p.limbs.radius, p.height
    x, y = _circle(rng, n)
    bore = (p.limbs.kind == TUBE) & (rng.random(n) < 0.6)
    rho = np.where(bore, p.limbs.radius2, np.where(rng.random(n) < 0.1, 0.0, r))
    z = np.choose(rng.integers(0, 3, n), [0 * r, h, rng.random(n) * h])
    tips = (p.limbs.kind >= CAPSULE) & (rho == 0)
    z = np.where(tips, np.where(z > h / 2, h + r, -r), z)
    along = _either(rng, _at(0 * x, 0 * x, 1 + 0 * x), _at(-y, x, 0 * x), _at(x, y, 0 * x))
    return _at(rho * x, rho * y, z), along


def _poled(p: Placed, rng: Generator) -> tuple[Array, Array]:
    """The poles and the equator; level or along the axis."""
    n, h = len(p.limbs), p.height
    x, y = _circle(rng, n)
    pole = rng.random(n) < 0.6
    rho = np.where(pole, 0.0, p.limbs.radius)
    z = np.where(pole, rng.integers(0, 2, n) * h, h / 2)
    return _at(rho * x, rho * y, z), _either(rng, _at(-y, x, 0 * x), _at(0 * x, 0 * x, 1 + 0 * x))


def _edged(p: Placed, rng: Generator) -> tuple[Array, Array]:
    """Corners, edges and faces; along an edge or in a face."""
    n = len(p.limbs)
    share = rng.choice([-1.0, 1.0], (n, 3)) * np.where(rng.random((n, 3)) < 0.3, rng.random((n, 3)), 1.0)
    share[np.arange(n), rng.integers(0, 3, n)] = 1.0
    edge = np.eye(3)[rng.integers(0, 3, n)]
    level = rng.normal(size=(n, 3)) * (np.eye(3)[rng.integers(0, 3, n)] == 0)
    return share * p.limbs.half, _either(rng, edge, level)


FEATURES: dict[int, Callable[[Placed, Generator], tuple[Array, Array]]] = {
    CYLINDER: _walled,
    TUBE: _walled,
    TAPERED: _tapered,
    ELLIPSOID: _poled,
    CAPSULE: _walled,
    SPHERE: _walled,
    BOX: _edged,
}
"""Where each shape is singular."""


def _at(x: Array, y: Array, z: Array) -> Array:
    """Return points (n, 3) from their coordinates."""
    return np.stack([x, y, z], axis=1)


def _either(rng: Generator, *choices: Array) -> Array:
    """Return one of the choices, row by row."""
    n = len(choices[0])
    return np.array(choices)[rng.integers(0, len(choices), n), np.arange(n)]
