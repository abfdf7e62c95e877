"""The capsule in the tests' table; without length it is a sphere."""

import numpy as np
from numpy.random import Generator
from support.cases.frames import Posed, one_of
from support.cases.posed_shapes import Placed, ball_surface, frame_of, walled_feature
from support.cases.shape_rays_exact import (
    Exact,
    multiple,
    sideways,
    standing,
    up,
    whole,
    whole_across,
    whole_ball,
    xyz,
)
from support.oracle.cylinder import CAP1, CAP2, SIDE
from support.oracle.lines import CAPSULE, Poly, Seen
from support.oracle.shapes.common import EVERYDAY, HIGH, LOW, ONE, RADIUS, UPRIGHT, X, Z, capped_where
from support.oracle.shapes.record import Profile, ShapeRow, Tangent
from support.oracle.shapes.rows import shapes
from support.oracle.spots import ball_normal

import cylcollide as cc

F = cc.Face
PILL = shapes(CAPSULE, *UPRIGHT, radius=np.array([1.0]))


def polynomials(s: Seen) -> dict[str, Poly]:
    rr = s.r * s.r
    return s.capped(s.off - Poly(s.aa * rr)) | {"ball1": s.mm - Poly(rr), "ball2": s.nn - Poly(rr)}


def placed(rng: Generator, p: Posed) -> Placed:
    """One in eight has no length, one in eight almost none."""
    n = len(p.radius)
    p1, p2 = p.p1, np.where(rng.random((n, 1)) < 1 / 8, p.p1, p.p2)
    short = rng.random(n) < 1 / 8
    p2[short] = (p1 + p.z * (p.radius * 10.0 ** rng.uniform(-9, -1, n))[:, None])[short]
    return Placed(shapes(CAPSULE, p1, p2, radius=p.radius), frame_of(p), np.linalg.norm(p2 - p1, axis=1))


def exact(rng: Generator, n: int) -> Exact:
    """Both the wall and the balls have integer points; one in eight has no length."""
    f, ball, length = whole_ball(rng, n)
    h = np.where(rng.random(n) < 1 / 8, 0, length * rng.integers(0, f.height + 1))
    circle, on_ball = multiple(length, f.rim), rng.random(n) < 0.5
    z = np.where(rng.random(n) < 0.5, rng.integers(0, 2, n) * h, rng.integers(0, h + 1))
    above = xyz(0 * f.rim, np.where(ball[:, 2] > 0, h, np.where(ball[:, 2] < 0, 0, rng.integers(0, 2, n) * h)))
    touch = np.where(on_ball[:, None], ball + above, xyz(circle, z))
    level = sideways(f.rim)
    tangent = np.where(on_ball[:, None], whole_across(rng, ball), level + multiple(whole(rng, n, -9, 9), up(f)))
    seam = rng.integers(0, 2, n) * h
    tip = xyz(0 * f.rim, np.where(seam > 0, h + length * f.radius, -length * f.radius))
    special = one_of(rng, xyz(circle, seam), xyz(circle, seam), xyz(0 * f.rim, seam), tip)
    along = one_of(rng, up(f), level, xyz(f.rim, 0 * h))
    inside = xyz(multiple(length // 2, f.rim), rng.integers(0, h + 1))
    limbs = standing(CAPSULE, f, h, radius=length * f.radius)
    return Exact(f, limbs, touch, tangent, special, along, inside, h + length * f.radius)


ROW = ShapeRow(
    kind=CAPSULE,
    faces=frozenset({SIDE, CAP1, CAP2}),
    takes=("p1", "p2", "radius"),
    grows=("radius",),
    make=lambda s: cc.Limbs.capsules(s.p1, s.p2, s.radius),
    makers={"capsule": lambda p1, p2, r, rng: cc.Limbs.capsules([p1], [p2], r)},
    everyday=shapes(CAPSULE, *EVERYDAY, radius=np.array([RADIUS])),
    volume=np.pi * 0.09 * 0.8 + 4 / 3 * np.pi * 0.027,
    arguments={"capsules": {"p1": LOW, "p2": HIGH, "radius": ONE}},
    may_have_no_length=True,
    polynomials=polynomials,
    where=lambda s: max(capped_where(s), -s["ball1"], -s["ball2"]),
    face=lambda s: CAP1 if s["low"] <= 0 else CAP2 if s["high"] <= 0 else SIDE,
    holds=lambda spot: spot.off(spot.nearest) <= spot.r**2,
    profile=lambda length, r, _: Profile([(0, 0), (length, 0)], ball=r),
    grown=lambda length, r, r2, by: (by * 0, r + by, r2),
    normal=lambda spot, face: ball_normal(spot),
    placed=placed,
    surface=lambda p, rng: ball_surface(p, rng, 0.5),
    feature=lambda p, rng: walled_feature(p, rng, tips=True),
    exact=exact,
    chords={
        "a pill's tip": (PILL, (-1, 0, 5), (1, 0, 5), [(4, CAP2, 4, CAP2)]),
        "a pill's seam": (PILL, (-2, 0, 0), (2, 0, 0), [(2, CAP1, 6, CAP1)]),
        "a pill's side": (PILL, (-2, 0, 3), (2, 0, 3), [(2, SIDE, 6, SIDE)]),
        "a pill along its wall": (PILL, (1, 0, 6), (1, 0, -2), [(2, CAP2, 6, CAP1)]),
        "a pill touched at its seam": (PILL, (1, -4, 4), (1, 4, 4), [(4, CAP2, 4, CAP2)]),
        "a pill along its axis": (PILL, (0, 0, 7), (0, 0, -1), [(2, CAP2, 8, CAP1)]),
    },
    hits={
        "a pill's side": (PILL, (-4, 0, 2), (4, 0, 2), F.SIDE, -X, 3, F.SIDE, X, 5),
        "a pill's tips": (PILL, (0, 0, 8), (0, 0, -8), F.CAP2, Z, 3, F.CAP1, -Z, 9),
        "a pill's seam": (PILL, (-4, 0, 4), (4, 0, 4), F.CAP2, -X, 3, F.CAP2, X, 5),
    },
    explained={
        "capsule's side": (PILL, (-3, 0, 2), (3, 0, 2), "it reaches the wall before either ball", F.SIDE, -1),
        "capsule's ball": (PILL, (0, 0, 9), (0, 0, 2), "it reaches the ball at p2 first", F.CAP2, -1),
        "past a capsule": (
            *(PILL, (-3, 3, 2), (3, 3, 2)),
            *("its line stays outside the wall, and it misses both balls", F.NONE, 2),
        ),
        "over a capsule": (
            *(PILL, (-3, 0, 6), (3, 0, 6)),
            *("its line stays outside the slab, and it misses both balls", F.NONE, 1),
        ),
        "before a capsule": (PILL, (0, 0, 9), (0, 0, 7), "it ends before it reaches the capsule", F.NONE, 2),
    },
    tangents={
        "pill's side": Tangent(PILL, (1, 0, 2), (1, 0, 0), (0, 1, 0.5)),
        "pill's wall": Tangent(PILL, (1, 0, 2), (1, 0, 0), (0, 0, 1), "a line"),
        "pill's seam": Tangent(PILL, (1, 0, 4), (1, 0, 0), (0, 1, 0)),
        "pill's tip": Tangent(PILL, (0, 0, 5), (0, 0, 1), (1, 1, 0)),
        "pill's foot": Tangent(PILL, (0, 0, -1), (0, 0, -1), (1, 0, 0)),
    },
)
