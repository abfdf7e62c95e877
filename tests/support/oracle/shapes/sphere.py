"""The sphere in the tests' table."""

import numpy as np
from numpy.random import Generator
from support.cases.frames import one_of
from support.cases.posed_shapes import Placed, ball_surface, frame_of, walled_feature
from support.cases.shape_rays_exact import Exact, multiple, standing, whole_across, whole_ball
from support.oracle.cylinder import SIDE
from support.oracle.lines import SPHERE, Poly
from support.oracle.shapes.common import CENTER, LOW, ONE, RADIUS, X, Y
from support.oracle.shapes.record import ShapeRow, Tangent
from support.oracle.shapes.rows import shapes
from support.oracle.spots import ball_normal

import cylcollide as cc

F = cc.Face
BALL = shapes(SPHERE, np.zeros((1, 3)), radius=np.array([5.0]))


def exact(rng: Generator, n: int) -> Exact:
    """Integer points with x² + y² + z² = length²."""
    f, ball, length = whole_ball(rng, n)
    extreme = one_of(rng, *(multiple(length * f.radius, np.tile(row, (n, 1))) for row in np.eye(3, dtype=np.int64)))
    tangent = whole_across(rng, ball)
    limbs = standing(SPHERE, f, 0 * length, radius=length * f.radius)
    along = one_of(rng, np.roll(extreme, 1, axis=1), extreme) // (length * f.radius)[:, None]
    return Exact(f, limbs, ball, tangent, extreme, along, ball // 2, length * f.radius)


ROW = ShapeRow(
    kind=SPHERE,
    faces=frozenset({SIDE}),
    takes=("p1", "radius"),
    grows=("radius",),
    make=lambda s: cc.Limbs.spheres(s.p1, s.radius),
    makers={"sphere": lambda p1, p2, r, rng: cc.Limbs.spheres([p1], r)},
    everyday=shapes(SPHERE, CENTER[None], radius=np.array([RADIUS])),
    volume=4 / 3 * np.pi * 0.027,
    arguments={"spheres": {"center": LOW, "radius": ONE}},
    polynomials=lambda s: {"ball": s.mm - Poly(s.r * s.r)},
    where=lambda s: -s["ball"],
    face=lambda s: SIDE,
    holds=lambda spot: spot.off(spot.nearest) <= spot.r**2,
    profile=None,
    grown=lambda length, r, r2, by: (by * 0, r + by, r2),
    normal=lambda spot, face: ball_normal(spot),
    placed=lambda _, p: Placed(shapes(SPHERE, p.p1, radius=p.radius), frame_of(p), np.zeros(len(p.radius))),
    surface=lambda p, rng: ball_surface(p, rng, 0.0),
    feature=lambda p, rng: walled_feature(p, rng, tips=True),
    exact=exact,
    chords={
        "a ball": (BALL, (-8, 3, 0), (8, 3, 0), [(2, SIDE, 6, SIDE)]),
        "a ball touched": (BALL, (-5, 3, 4), (5, 3, 4), [(4, SIDE, 4, SIDE)]),
    },
    hits={"a ball": (BALL, (-9, 3, 0), (9, 3, 0), F.SIDE, 0.6 * Y - 0.8 * X, 5, F.SIDE, 0.6 * Y + 0.8 * X, 13)},
    explained={"ball": (BALL, (-9, 3, 0), (9, 3, 0), "it reaches the wall", F.SIDE, -2)},
    tangents={"ball": Tangent(BALL, (3, 0, 4), (0.75, 0, 1), (0, 1, 0))},
)
