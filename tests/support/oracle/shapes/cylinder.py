"""The cylinder in the tests' table."""

import numpy as np
from numpy.random import Generator
from support.cases.frames import frames, one_of
from support.cases.posed_shapes import capped_surface, upright, walled_feature
from support.cases.shape_rays_exact import Exact, multiple, sideways, standing, up, whole, xyz
from support.oracle.cylinder import CAP1, CAP2, INSIDE, SIDE
from support.oracle.lines import CYLINDER, Poly
from support.oracle.shapes.common import EVERYDAY, HIGH, LOW, ONE, RADIUS, UPRIGHT, X, Z, capped_face, capped_where
from support.oracle.shapes.record import Profile, ShapeRow, Tangent
from support.oracle.shapes.rows import shapes
from support.oracle.spots import capped_normal

import cylcollide as cc

F = cc.Face
ROD = shapes(CYLINDER, *UPRIGHT, radius=np.array([1.0]))


def exact(rng: Generator, n: int) -> Exact:
    """Lines that touch the frame's wall; special points on rims, wall and axis, also lines in a cap's plane."""
    f = frames(rng, n)
    z = one_of(rng, 0 * f.height, f.height, rng.integers(0, f.height + 1), rng.integers(-2, f.height + 3))
    level, rim = sideways(f.rim), xyz(f.rim, rng.integers(0, 2, n) * f.height)
    slanted = level + multiple(whole(rng, n, -9, 9), up(f))
    special = one_of(rng, rim, rim, xyz(f.rim, z), xyz(0 * f.rim, z))
    along = one_of(rng, up(f), level, xyz(f.rim, 0 * z))
    share = rng.uniform(-0.7, 0.7, (n, 2))
    inside = xyz(np.trunc(share * (f.radius[:, None] - 1)).astype(np.int64), rng.integers(0, f.height + 1))
    limbs = standing(CYLINDER, f, f.height, radius=f.radius)
    return Exact(f, limbs, xyz(f.rim, z), slanted, special, along, inside, f.radius + f.height)


ROW = ShapeRow(
    kind=CYLINDER,
    faces=frozenset({SIDE, CAP1, CAP2}),
    takes=("p1", "p2", "radius"),
    grows=("radius",),
    make=lambda s: cc.Limbs.cylinders(s.p1, s.p2, s.radius),
    makers={"cylinder": lambda p1, p2, r, rng: cc.Limbs.cylinders([p1], [p2], r)},
    everyday=shapes(CYLINDER, *EVERYDAY, radius=np.array([RADIUS])),
    volume=np.pi * 0.09 * 0.8,
    arguments={"cylinders": {"p1": LOW, "p2": HIGH, "radius": ONE}},
    polynomials=lambda s: s.capped(s.off - Poly(s.aa * s.r * s.r)),
    where=capped_where,
    face=capped_face,
    holds=lambda spot: spot.within_caps(spot.r),
    profile=lambda length, r, _: Profile([(0, 0), (0, r), (length, r), (length, 0)]),
    grown=lambda length, r, r2, by: (by, r + by, r2),
    normal=capped_normal,
    placed=lambda _, p: upright(CYLINDER, p, radius=p.radius),
    surface=lambda p, rng: capped_surface(p, rng, p.limbs.radius, 0 * p.height),
    feature=walled_feature,
    exact=exact,
    chords={
        "a rod across": (ROD, (-2, 0, 1), (2, 0, 1), [(2, SIDE, 6, SIDE)]),
        "a rod's rim": (ROD, (-2, 0, -1), (2, 0, 3), [(2, CAP1, 6, SIDE)]),
        "a rod down its wall": (ROD, (1, 0, 6), (1, 0, -2), [(2, CAP2, 6, CAP1)]),
        "a rod in its cap's plane": (ROD, (-2, 0, 4), (2, 0, 4), [(2, CAP2, 6, CAP2)]),
        "a rod touched at its rim": (ROD, (-2, 0, 2), (0, 0, -2), [(4, CAP1, 4, CAP1)]),
        "a rod left": (ROD, (0, 0, 2), (0, 0, 6), [(0, INSIDE, 4, CAP2)]),
    },
    hits={
        "a rod's side": (ROD, (-4, 0, 2), (4, 0, 2), F.SIDE, -X, 3, F.SIDE, X, 5),
        "a rod's caps": (ROD, (0.5, 0, -4), (0.5, 0, 8), F.CAP1, -Z, 4, F.CAP2, Z, 8),
    },
    explained={
        "wall": (ROD, (-3, 0, 1), (3, 0, 2), "the wall begins last", F.SIDE, -1),
        "cap": (ROD, (0, 0, -1), (0, 0, 1), "the slab begins last", F.CAP1, -1),
        "rim": (ROD, (-2, 0, -1), (0, 0, 1), "the slab and the wall begin last", F.CAP1, -1),
        "inside": (ROD, (0, 0, 1), (9, 0, 1), "it starts inside", F.INSIDE, -1),
        "point": (ROD, (0.5, 0, 2), (0.5, 0, 2), "it starts inside", F.INSIDE, -0.5),
        "touch": (ROD, (-3, 1, 1), (3, 1, 1), "the wall begins last", F.SIDE, 0),
        "beside": (ROD, (-3, 3, 1), (3, 3, 1), "its line stays outside the wall", F.NONE, 2),
        "above": (ROD, (-3, 0, 7), (3, 0, 7), "its line stays outside the slab", F.NONE, 3),
        "corner": (ROD, (3, 3, 7), (-3, 3, 7), "its line stays outside the slab and the wall", F.NONE, 3),
        "short": (ROD, (-5, 0, 1), (-3, 0, 1), "it ends before it reaches the wall", F.NONE, 2),
        "late": (ROD, (3, 0, 1), (5, 0, 1), "it starts after its line has left the wall", F.NONE, 2),
        "over": (ROD, (-1, 0, 10), (9, 0, 0), "it leaves the wall before it reaches the slab", F.NONE, 2),
    },
    tangents={
        "rod": Tangent(ROD, (1, 0, 2), (1, 0, 0), (0, 1, 0)),
        "slanted rod": Tangent(ROD, (1, 0, 2), (1, 0, 0), (0, 1, 0.25)),
        "rod's wall": Tangent(ROD, (1, 0, 2), (1, 0, 0), (0, 0, 2), "a line"),
        "rod's cap": Tangent(ROD, (0.5, 0, 0), (0, 0, -1), (0, 1, 0), "a line"),
        "rod's upper cap": Tangent(ROD, (0.25, 0.25, 4), (0, 0, 1), (1, 0, 0), "a line"),
    },
)
