"""The tube in the tests' table."""

import numpy as np
from numpy.random import Generator
from support.cases.frames import Array, Posed, frames, one_of
from support.cases.posed_shapes import Placed, capped_surface, upright, walled_feature
from support.cases.shape_rays_exact import Exact, multiple, sideways, standing, up, whole, xyz
from support.oracle.cylinder import CAP1, CAP2, INSIDE, SIDE
from support.oracle.lines import BORE, TUBE, Poly
from support.oracle.shapes.common import EVERYDAY, HIGH, LOW, ONE, RADIUS, UPRIGHT, X, Y, Z, capped_face, capped_where
from support.oracle.shapes.record import Pick, Profile, ShapeRow, Tangent
from support.oracle.shapes.rows import shapes
from support.oracle.spots import Spot, capped_normal

import cylcollide as cc

F = cc.Face
PIPE = shapes(TUBE, *UPRIGHT, radius=np.array([2.0]), radius2=np.array([1.0]))


def normal(spot: Spot, face: int) -> tuple[list[float], float]:
    out, curvature = capped_normal(spot, face)
    return [-x for x in out] if face == BORE else out, curvature


def placed(rng: Generator, p: Posed) -> Placed:
    n = len(p.radius)
    share = np.where(rng.random(n) < 0.7, rng.uniform(0.05, 0.98, n), 1 - 10.0 ** rng.uniform(-15.5, -1, n))
    return upright(TUBE, p, radius=p.radius, radius2=p.radius * share)


def interior(surface, p: Placed, rng: Generator) -> Array:
    """Return points in the wall, inwards from its surface."""
    point, normal = surface(p, rng)
    share = rng.random((len(point), 1))
    on_cap = normal[:, 2:] != 0
    inward = np.where(on_cap, p.height[:, None], (p.limbs.radius - p.limbs.radius2)[:, None])
    return point - share * inward * normal


def radii(pick: Pick, radius: int) -> tuple[int, int]:
    """Return an outer radius of twice the bore's, or 1 larger, and the bore's."""
    return pick([radius + 1, 2 * radius]), radius


def exact(rng: Generator, n: int) -> Exact:
    """The bore has the frame's radius; the wall has 2 or 3 times this radius, or another one up to twice."""
    f = frames(rng, n)
    times, odd = whole(rng, n, 2, 3), rng.random(n) < 0.3
    outer = np.where(odd, f.radius + rng.integers(1, f.radius + 1), times * f.radius)
    wall = multiple(np.where(odd | (rng.random(n) < 0.6), 1, times), f.rim)
    z, rim = rng.integers(0, f.height + 1), rng.integers(0, 2, n) * f.height
    level = sideways(wall)
    slanted = level + multiple(whole(rng, n, -9, 9), up(f))
    along = one_of(rng, up(f), level, xyz(wall, 0 * z), slanted)
    special = xyz(wall, np.where(rng.random(n) < 0.7, rim, z))
    inside = xyz(f.rim + np.sign(f.rim), z)
    limbs = standing(TUBE, f, f.height, radius=outer, radius2=f.radius)
    return Exact(f, limbs, xyz(wall, z), slanted, special, along, inside, outer + f.height)


ROW = ShapeRow(
    kind=TUBE,
    faces=frozenset({SIDE, CAP1, CAP2, BORE}),
    takes=("p1", "p2", "radius", "radius2"),
    grows=("radius",),
    make=lambda s: cc.Limbs.tubes(s.p1, s.p2, s.radius, s.radius2),
    makers={"tube": lambda p1, p2, r, rng: cc.Limbs.tubes([p1], [p2], r, r * rng.uniform(0.1, 0.9))},
    everyday=shapes(TUBE, *EVERYDAY, radius=np.array([RADIUS]), radius2=np.array([0.1])),
    volume=np.pi * (0.09 - 0.01) * 0.8,
    arguments={"tubes": {"p1": LOW, "p2": HIGH, "radius": ONE, "inner_radius": ONE / 2}},
    polynomials=lambda s: s.capped(s.off - Poly(s.aa * s.r * s.r)) | {"bore": s.off - Poly(s.aa * s.r2 * s.r2)},
    where=lambda s: min(capped_where(s), s["bore"]),
    face=lambda s: capped_face(s) or (BORE if s["bore"] == 0 else SIDE),
    holds=lambda spot: spot.within_caps(spot.r) and spot.off(spot.u) >= spot.r2**2,
    profile=lambda length, r, r2: Profile([(0, r2), (0, r), (length, r), (length, r2), (0, r2)]),
    grown=lambda length, r, r2, by: (by, r + by, r2 - by),
    normal=normal,
    placed=placed,
    surface=lambda p, rng: capped_surface(p, rng, p.limbs.radius, p.limbs.radius2),
    interior=interior,
    feature=lambda p, rng: walled_feature(p, rng, bore=p.limbs.radius2),
    exact=exact,
    share=(0.05, 0.95),
    radii=radii,
    chords={
        "a pipe across": (PIPE, (-4, 0, 1), (4, 0, 1), [(2, SIDE, 3, BORE), (5, BORE, 6, SIDE)]),
        "a pipe from its wall": (PIPE, (-1.5, 0, 1), (2.5, 0, 1), [(0, INSIDE, 1, BORE), (5, BORE, 7, SIDE)]),
        "a pipe from its bore": (PIPE, (0, 0, 1), (4, 0, 1), [(2, BORE, 4, SIDE)]),
        "a pipe that holds both ends": (PIPE, (-1, 0, 1), (1, 0, 1), [(0, INSIDE, 0, BORE), (8, BORE, 8, INSIDE)]),
        "a pipe down its bore": (PIPE, (0, 0, 9), (0, 0, -9), []),
        "a pipe down its bore's wall": (PIPE, (1, 0, 8), (1, 0, -8), [(2, CAP2, 4, CAP1)]),
        "a pipe in its cap's plane": (PIPE, (-4, 0, 0), (4, 0, 0), [(2, CAP1, 3, CAP1), (5, CAP1, 6, CAP1)]),
        "a pipe touched at its bore's rim": (PIPE, (-1, 0, 2), (3, 0, -2), [(0, INSIDE, 0, BORE), (4, CAP1, 4, CAP1)]),
    },
    hits={
        "a pipe, into its wall and into its bore": (PIPE, (-4, 0, 1), (4, 0, 1), F.SIDE, -X, 2, F.BORE, X, 3),
        "a pipe, from its bore": (PIPE, (0, 0, 1), (4, 0, 1), F.BORE, -X, 1, F.SIDE, X, 2),
        "a pipe, through a cap": (PIPE, (1.5, 0, 8), (1.5, 0, -8), F.CAP2, Z, 4, F.CAP1, -Z, 8),
        "a pipe, touched": (PIPE, (-4, 2, 1), (4, 2, 1), F.SIDE, Y, 4, F.SIDE, Y, 4),
    },
    explained={
        "pipe": (PIPE, (-3, 0, 1), (3, 0, 1), "the wall begins last", F.SIDE, -0.5),
        "from the bore": (PIPE, (0, 0, 1), (3, 0, 1), "the bore ends last", F.BORE, -0.5),
        "in the bore": (PIPE, (0, 0, -1), (0, 0, 9), "it stays in the bore", F.NONE, 1),
    },
    tangents={
        "pipe's bore": Tangent(PIPE, (1, 0, 2), (-1, 0, 0), (0, 1, 0), "a bore"),
        "along pipe's bore": Tangent(PIPE, (1, 0, 2), (-1, 0, 0), (0, 0, 1), "a line"),
    },
)
