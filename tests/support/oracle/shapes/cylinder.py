"""The cylinder in the tests' table. Its adversarial families are in `cylinder_rays` and `cylinder_rays_exact`."""

import numpy as np
from numpy.random import Generator
from support.cases.cylinder_rays import Array, Posed
from support.cases.posed_shapes import Placed, capped_surface, upright, walled_feature
from support.oracle.cylinder import CAP1, CAP2, INSIDE, SIDE
from support.oracle.lines import CYLINDER, Poly, Seen
from support.oracle.shapes.common import HIGH, LOW, ONE, UPRIGHT, X, Z, capped_face, capped_where
from support.oracle.shapes.record import ShapeRow
from support.oracle.shapes.rows import shapes
from support.oracle.spots import capped_normal

import cylcollide as cc

F = cc.Face
ROD = shapes(CYLINDER, *UPRIGHT, radius=np.array([1.0]))


def polynomials(s: Seen) -> dict[str, Poly]:
    return s.capped(s.off - Poly(s.aa * s.r * s.r))


def placed(_: Generator, p: Posed) -> Placed:
    return upright(CYLINDER, p, radius=p.radius)


def surface(p: Placed, rng: Generator) -> tuple[Array, Array]:
    return capped_surface(p, rng, p.limbs.radius, 0 * p.height)


ROW = ShapeRow(
    kind=CYLINDER,
    faces=frozenset({SIDE, CAP1, CAP2}),
    takes=("p1", "p2", "radius"),
    grows=("radius",),
    make=lambda s: cc.Limbs.cylinders(s.p1, s.p2, s.radius),
    makers={"cylinder": lambda p1, p2, r, rng: cc.Limbs.cylinders([p1], [p2], r)},
    arguments={"cylinders": {"p1": LOW, "p2": HIGH, "radius": ONE}},
    polynomials=polynomials,
    where=capped_where,
    face=capped_face,
    holds=lambda spot: spot.within_caps(spot.r),
    normal=capped_normal,
    placed=placed,
    surface=surface,
    feature=walled_feature,
    exact=None,
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
)
