"""The ellipsoid of revolution in the tests' table."""

from fractions import Fraction

import numpy as np
from numpy.random import Generator
from support.cases.frames import TRIPLES, Array, Posed, _circle, _unit, frames, one_of
from support.cases.posed_shapes import Placed, at, upright
from support.cases.shape_rays_exact import Exact, finer, multiple, sideways, standing, up, whole, xyz
from support.oracle.cylinder import SIDE
from support.oracle.lines import ELLIPSOID
from support.oracle.shapes.common import EVERYDAY, HIGH, LOW, ONE, RADIUS, UPRIGHT, X, Z
from support.oracle.shapes.record import ShapeRow, Tangent
from support.oracle.shapes.rows import shapes
from support.oracle.spots import Spot, length, unit

import cylcollide as cc

F = cc.Face
EGG = shapes(ELLIPSOID, *UPRIGHT, radius=np.array([1.0]))


def normal(spot: Spot, _: int) -> tuple[list[float], float]:
    """Return the gradient of the quadratic form."""
    c2, out = spot.aa / 4, spot.away(spot.u)
    gradient = [x / spot.r**2 + (spot.u - Fraction(1, 2)) * y / c2 for x, y in zip(out, spot.a, strict=True)]
    return unit(gradient), float(max(1 / spot.r**2, 1 / c2)) / length(gradient)


def placed(rng: Generator, p: Posed) -> Placed:
    n = len(p.radius)
    shape = np.where(rng.random(n) < 0.5, 1.0, 10.0 ** rng.uniform(-3, 3, n))
    return upright(ELLIPSOID, p, radius=np.clip(p.radius * shape, 1e-3, 100))


def surface(p: Placed, rng: Generator) -> tuple[Array, Array]:
    n, r, h = len(p.limbs), p.limbs.radius, p.height
    x, y = _circle(rng, n)
    angle = rng.uniform(-np.pi / 2, np.pi / 2, n)
    c, s = np.cos(angle), np.sin(angle)
    return at(x * r * c, y * r * c, h / 2 * (1 + s)), _unit(at(x * c / r, y * c / r, 2 * s / h))


def feature(p: Placed, rng: Generator) -> tuple[Array, Array]:
    """Points at the poles and the equator, with tangential directions or along the axis."""
    n, h = len(p.limbs), p.height
    x, y = _circle(rng, n)
    pole = rng.random(n) < 0.6
    rho = np.where(pole, 0.0, p.limbs.radius)
    z = np.where(pole, rng.integers(0, 2, n) * h, h / 2)
    return at(rho * x, rho * y, z), one_of(rng, at(-y, x, 0 * x), at(0 * x, 0 * x, 1 + 0 * x))


def exact(rng: Generator, n: int) -> Exact:
    """Integer points (a·circle, c s + b s) with a² + b² = c²; equatorial radius c frame radii, polar semi-axis c s."""
    f = frames(rng, n)
    a, b, c = TRIPLES[rng.integers(0, len(TRIPLES), n)].T
    a, b = np.where(rng.random(n) < 0.5, (a, b), (b, a))
    b = b * rng.choice([-1, 1], n)
    s = np.where(rng.random(n) < 0.3, 1, rng.integers(1, 4 * f.radius + 2))
    f = finer(f, c)
    point = xyz(multiple(a, f.rim), (b + c) * s)
    meridian, level = xyz(multiple(-b, f.rim), a * s), sideways(f.rim)
    tangent = multiple(whole(rng, n, -3, 3), meridian) + multiple(whole(rng, n, -3, 3), level)
    tangent[(tangent == 0).all(axis=1)] = (1, 0, 0)
    tangent = np.where((a == 0)[:, None] & (tangent[:, :1] == 0), level, tangent)
    pole, equator = xyz(0 * f.rim, rng.integers(0, 2, n) * 2 * c * s), xyz(multiple(c, f.rim), c * s)
    special, along = one_of(rng, pole, pole, equator), one_of(rng, up(f), level, xyz(f.rim, 0 * s))
    inside = xyz(f.rim * rng.integers(0, 2, (n, 1)), c * s)
    limbs = standing(ELLIPSOID, f, 2 * c * s, radius=c * f.radius)
    return Exact(f, limbs, point, tangent, special, along, inside, c * (f.radius + s))


ROW = ShapeRow(
    kind=ELLIPSOID,
    faces=frozenset({SIDE}),
    takes=("p1", "p2", "radius"),
    grows=("radius",),
    make=lambda s: cc.Limbs.ellipsoids(s.p1, s.p2, s.radius),
    makers={"ellipsoid": lambda p1, p2, r, rng: cc.Limbs.ellipsoids([p1], [p2], r)},
    everyday=shapes(ELLIPSOID, *EVERYDAY, radius=np.array([RADIUS])),
    volume=4 / 3 * np.pi * 0.09 * 0.4,
    arguments={"ellipsoids": {"p1": LOW, "p2": HIGH, "radius": ONE}},
    polynomials=lambda s: {"wall": s.off * s.aa - s.along * s.beyond * (4 * s.r * s.r)},
    where=lambda s: -s["wall"],
    face=lambda s: SIDE,
    holds=lambda spot: spot.off(spot.u) / spot.r**2 + (2 * spot.u - 1) ** 2 <= 1,
    profile=None,
    grown=lambda length, r, r2, by: (by, r + by, r2),
    normal=normal,
    placed=placed,
    surface=surface,
    feature=feature,
    exact=exact,
    is_bounded=True,
    chords={
        "an egg's pole": (EGG, (-1, 0, 0), (1, 0, 0), [(4, SIDE, 4, SIDE)]),
        "an egg's equator": (EGG, (-2, 0, 2), (2, 0, 2), [(2, SIDE, 6, SIDE)]),
        "an egg along its axis": (EGG, (0, 0, -4), (0, 0, 4), [(4, SIDE, 8, SIDE)]),
    },
    hits={
        "an egg's side": (EGG, (-4, 0, 2), (4, 0, 2), F.SIDE, -X, 3, F.SIDE, X, 5),
        "an egg's poles": (EGG, (0, 0, -4), (0, 0, 8), F.SIDE, -Z, 4, F.SIDE, Z, 8),
    },
    explained={
        "egg": (EGG, (-3, 0, 2), (3, 0, 2), "it reaches the wall", F.SIDE, -1),
        "egg's pole": (EGG, (-3, 0, 4.5), (3, 0, 4.5), "its line stays outside the wall", F.NONE, 0.5),
    },
    tangents={
        "egg": Tangent(EGG, (1, 0, 2), (1, 0, 0), (0, 1, 0)),
        "egg's pole": Tangent(EGG, (0, 0, 4), (0, 0, 1), (0, 1, 0)),
    },
)
