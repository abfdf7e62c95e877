"""The tapered cylinder, and the cone, in the tests' table."""

from fractions import Fraction

import numpy as np
from numpy.random import Generator
from support.cases.frames import Array, Posed, _circle, frames, one_of
from support.cases.posed_shapes import Placed, at, capped_surface, upright
from support.cases.shape_rays_exact import Exact, finer, multiple, sideways, standing, up, whole, xyz
from support.oracle.cylinder import CAP1, CAP2, SIDE
from support.oracle.lines import TAPERED, Poly, Seen
from support.oracle.shapes.common import EVERYDAY, HIGH, LOW, ONE, RADIUS, UPRIGHT, X, Z, capped_face, capped_where
from support.oracle.shapes.record import Pick, Profile, ShapeRow, Tangent
from support.oracle.shapes.rows import shapes
from support.oracle.spots import capped_normal, length, square_root

import cylcollide as cc

F = cc.Face
CONE = shapes(TAPERED, *UPRIGHT, radius=np.array([2.0]))
TAPER = shapes(TAPERED, *UPRIGHT, radius=np.array([1.0]), radius2=np.array([5.0]))
S5, S2 = np.sqrt(0.2), np.sqrt(0.5)


def polynomials(s: Seen) -> dict[str, Poly]:
    radius = s.beyond * s.r + s.along * s.r2  # aa · the radius at this height
    return s.capped(s.off * s.aa - radius * radius)


def grown(length: Fraction, r: Fraction, r2: Fraction, by: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """Return end shift and radii of the solid whose cap planes and cone are moved out by `by`."""
    slope = (r2 - r) / length
    wall = by * square_root(1 + slope * slope)
    return by, r + wall - slope * by, r2 + wall + slope * by


def placed(rng: Generator, p: Posed) -> Placed:
    """A cone, any taper, adjacent float64 radii, equal radii, or nearly a cone; either end is the thin one."""
    n, radius = len(p.radius), p.radius
    beside = np.nextafter(radius, radius * rng.choice([0, 2], n))
    choices = [0 * radius, radius * rng.uniform(0, 3, n), beside, radius, radius * 10.0 ** rng.uniform(-9, 0, n)]
    other, swap = np.choose(rng.choice(5, n, p=[0.3, 0.35, 0.15, 0.05, 0.15]), choices), rng.random(n) < 0.5
    return upright(TAPERED, p, radius=np.where(swap, other, radius), radius2=np.where(swap, radius, other))


def feature(p: Placed, rng: Generator) -> tuple[Array, Array]:
    """Points at the apex, rims and generators on both nappes; directions along the generator, axis, or level."""
    n, r, h = len(p.limbs), p.limbs.radius, p.height
    with np.errstate(divide="ignore", invalid="ignore"):
        apex = r / (r - p.limbs.radius2)
    apex = np.where(np.abs(apex) < 100, apex, 0.5)
    u = np.choose(rng.integers(0, 5, n), [apex, 0 * r, 0 * r + 1, rng.random(n), 2 * apex - rng.random(n)])
    x, y = _circle(rng, n)
    taper = p.limbs.radius2 - r
    rho = r + taper * u
    generator, axis = at(taper * x, taper * y, h), at(0 * x, 0 * x, h)
    along = one_of(rng, generator, generator, axis, at(x, y, 0 * x), at(-y, x, 0 * x))
    return at(rho * x, rho * y, u * h), along


def radii(pick: Pick, radius: int) -> tuple[int, int]:
    """Return the radius and one of 0, 3, the same and twice it, in either order."""
    other = pick([0, radius, 2 * radius, 3])
    return pick([(radius, other), (other, radius)])


def exact(rng: Generator, n: int) -> Exact:
    """Radii are j1 and j2 times the frame's: the side has an integer point every `h` of height, on both nappes."""
    f = frames(rng, n)
    j1, j2 = whole(rng, n, 0, 4), whole(rng, n, 0, 4)
    j2 = np.where(rng.random(n) < 0.4, 0, j2)
    j1[j1 + j2 == 0] = 1
    f = finer(f, np.maximum(j1, j2))
    by, steps, h = np.sign(j2 - j1), np.maximum(1, np.abs(j2 - j1)), f.height
    generator, level = xyz(multiple(by, f.rim), h), sideways(f.rim)
    i = np.where(rng.random(n) < 0.8, rng.integers(0, steps + 1), whole(rng, n, -3, 6))
    on_side = xyz(multiple(j1 + by * i, f.rim), i * h)
    tangent = multiple(whole(rng, n, -3, 3), generator) + multiple(whole(rng, n, -3, 3), level)
    tangent[(tangent == 0).all(axis=1)] = (0, 0, 1)
    apex = xyz(0 * f.rim, -by * j1 * h)
    rim = np.where((rng.random(n) < 0.5)[:, None], xyz(multiple(j1, f.rim), 0 * h), xyz(multiple(j2, f.rim), steps * h))
    along = one_of(rng, generator, generator, up(f), level, xyz(f.rim, 0 * h))
    inside = xyz(0 * f.rim, rng.integers(0, steps * h + 1)) + xyz(f.rim // 3 * np.minimum(j1, j2)[:, None], 0 * h)
    limbs = standing(TAPERED, f, steps * h, radius=j1 * f.radius, radius2=j2 * f.radius)
    special = one_of(rng, apex, apex, rim, on_side)
    return Exact(f, limbs, on_side, tangent, special, along, inside, steps * (f.radius + h))


ROW = ShapeRow(
    kind=TAPERED,
    faces=frozenset({SIDE, CAP1, CAP2}),
    takes=("p1", "p2", "radius", "radius2"),
    grows=("radius", "radius2"),
    make=lambda s: cc.Limbs.tapered_cylinders(s.p1, s.p2, s.radius, s.radius2),
    makers={
        "tapered": lambda p1, p2, r, rng: cc.Limbs.tapered_cylinders([p1], [p2], r, r * rng.uniform(0.0, 3.0)),
        "cone": lambda p1, p2, r, rng: cc.Limbs.cones([p1], [p2], r),
    },
    everyday=shapes(TAPERED, *EVERYDAY, radius=np.array([RADIUS]), radius2=np.array([0.2])),
    volume=np.pi * 0.8 / 3 * (0.09 + 0.06 + 0.04),
    arguments={
        "tapered_cylinders": {"p1": LOW, "p2": HIGH, "radius1": ONE, "radius2": ONE * 2},
        "cones": {"base": LOW, "apex": HIGH, "radius": ONE},
    },
    polynomials=polynomials,
    where=capped_where,
    face=capped_face,
    holds=lambda spot: spot.within_caps((1 - spot.u) * spot.r + spot.u * spot.r2),
    profile=lambda length, r, r2: Profile([(0, 0), (0, r), (length, r2), (length, 0)]),
    grown=grown,
    normal=lambda spot, face: capped_normal(spot, face, (spot.solid.radius2 - spot.solid.radius) / length(spot.a)),
    placed=placed,
    surface=lambda p, rng: capped_surface(p, rng, p.limbs.radius2, 0 * p.height),
    feature=feature,
    exact=exact,
    share=(0.0, 2.0),
    is_bounded=True,
    radii=radii,
    chords={
        "a cone through its apex": (CONE, (-1, 0, 4), (1, 0, 4), [(4, CAP2, 4, CAP2)]),
        "a cone touched at its apex": (CONE, (-4, 0, 3), (4, 0, 5), [(4, CAP2, 4, CAP2)]),
        "a cone's second nappe": (CONE, (-9, 0, 5), (9, 0, 5), []),
        "a cone down a generator": (CONE, (-1, 0, 6), (3, 0, -2), [(2, CAP2, 6, CAP1)]),
        "a cone along a generator": (CONE, (-2, 0, 6), (2, 0, -2), [(3, SIDE, 6, CAP1)]),
        "a cone up along a generator": (CONE, (2, 0, -2), (-2, 0, 6), [(2, CAP1, 5, SIDE)]),
        "a cone down its axis": (CONE, (0, 0, 8), (0, 0, -8), [(2, CAP2, 4, CAP1)]),
    },
    hits={
        "a cone's side": (CONE, (-8, 0, 2), (8, 0, 2), F.SIDE, S5 * (Z - 2 * X), 7, F.SIDE, S5 * (Z + 2 * X), 9),
        "a cone's apex": (CONE, (-4, 0, 4), (4, 0, 4), F.CAP2, Z, 4, F.CAP2, Z, 4),
        "a taper's side": (TAPER, (-8, 0, 2), (8, 0, 2), F.SIDE, -S2 * (Z + X), 5, F.SIDE, S2 * (X - Z), 11),
    },
    explained={
        "cone": (CONE, (-3, 0, 2), (3, 0, 2), "the wall begins last", F.SIDE, -2 * S5),
        "second nappe": (CONE, (0, 0, 9), (0, 0, 5), "it ends before it reaches the slab", F.NONE, 1),
    },
    tangents={
        "cone": Tangent(CONE, (1, 0, 2), (2, 0, 1), (0, 1, 0)),
        "cone's generator": Tangent(CONE, (1, 0, 2), (4, 0, 2), (-0.5, 0, 1), "a line"),
        "cone's base": Tangent(CONE, (0.25, 0.25, 0), (0, 0, -1), (1, 0, 0), "a line"),
        "taper": Tangent(TAPER, (3, 0, 2), (1, 0, -1), (0, 1, 0)),
        "taper's generator": Tangent(TAPER, (3, 0, 2), (1, 0, -1), (1, 0, 1), "a line"),
    },
)
