"""The box in the tests' table."""

from dataclasses import replace

import numpy as np
from numpy.random import Generator
from support.cases.frames import Array, Posed, _unit, frames, matrices, one_of
from support.cases.posed_shapes import Placed
from support.cases.shape_rays_exact import TURNS, Exact, turned_rows
from support.oracle.lines import BOX, NEG_X, Poly, Seen, dot, integers, split
from support.oracle.shapes.common import CENTER, HALF, HALF_LENGTH, LOW, RADIUS, TURN, X, Y, Z
from support.oracle.shapes.record import ShapeRow, Tangent
from support.oracle.shapes.rows import UNTURNED, Shots, box_axes, shapes, shots
from support.oracle.spots import Spot

import cylcollide as cc

F = cc.Face
PLANES = ("-x", "+x", "-y", "+y", "-z", "+z")
EXTENTS = np.array([[1.0, 2, 3]])
BRICK = shapes(BOX, np.zeros((1, 3)), half=EXTENTS)
TURNED = shapes(BOX, np.zeros((1, 3)), half=EXTENTS, orientation=np.ones((1, 4)))
"""Its x, y, z axes are the world's y, z, x."""
TURN_TO_AXIS = np.array([[0.0, np.sin(0.5 * np.arctan2(0.6, 0.8)), 0.0, np.cos(0.5 * np.arctan2(0.6, 0.8))]])
"""Takes z to `AXIS`."""
S2 = np.sqrt(0.5)


def polynomials(s: Seen) -> dict[str, Poly]:
    *rows, (one,) = split(integers([x for row in s.axes for x in row] + [1.0]), (3, 3, 3, 1))
    across = [dot(s.m, row) for row in rows]
    planes = [Poly(h * one) + x * sign for x, h in zip(across, s.half, strict=True) for sign in (1, -1)]
    return dict(zip(PLANES, planes, strict=True))


def normal(spot: Spot, face: int) -> tuple[list[float], float]:
    row, sign = spot.solid.axes[(face - NEG_X) // 2], -1 if (face - NEG_X) % 2 == 0 else 1
    return [sign * x for x in row], 0.0


def placed(rng: Generator, p: Posed) -> Placed:
    n = len(p.radius)
    turn = rng.normal(size=(n, 4)) * 10.0 ** rng.uniform(-3, 3, (n, 1))
    turn[rng.random(n) < 0.3] = UNTURNED
    half = p.radius[:, None] * 10.0 ** rng.uniform(-1.5, 0.5, (n, 3))
    return Placed(shapes(BOX, p.p1, orientation=turn, half=half), np.swapaxes(matrices(turn), 1, 2), np.zeros(n))


def surface(p: Placed, rng: Generator) -> tuple[Array, Array]:
    n = len(p.limbs)
    rows, which, sign = np.arange(n), rng.integers(0, 3, n), rng.choice([-1.0, 1.0], n)
    point, normal = p.limbs.half * rng.uniform(-1, 1, (n, 3)), np.zeros((n, 3))
    point[rows, which], normal[rows, which] = sign * p.limbs.half[rows, which], sign
    return point, normal


def feature(p: Placed, rng: Generator) -> tuple[Array, Array]:
    """Corners, edges and faces; along an edge or in a face."""
    n = len(p.limbs)
    share = rng.choice([-1.0, 1.0], (n, 3)) * np.where(rng.random((n, 3)) < 0.3, rng.random((n, 3)), 1.0)
    share[np.arange(n), rng.integers(0, 3, n)] = 1.0
    edge = np.eye(3)[rng.integers(0, 3, n)]
    level = rng.normal(size=(n, 3)) * (np.eye(3)[rng.integers(0, 3, n)] == 0)
    return share * p.limbs.half, one_of(rng, edge, level)


def exact(rng: Generator, n: int) -> Exact:
    """Lines that touch edges, corners and lines in faces; the box is turned by an exact rotation."""
    f = frames(rng, n)
    orientation = TURNS[rng.integers(0, len(TURNS), n)]
    f = replace(f, turn=np.swapaxes(turned_rows(orientation), 1, 2), size=1 + 0 * f.size)
    half, rows = rng.integers(1, 25, (n, 3)), np.arange(n)
    sign = rng.choice([-1, 1], (n, 3))
    free = half * rng.uniform(-1, 1, (n, 3))
    first, second = (order := rng.permuted(np.tile(np.arange(3), (n, 1)), axis=1))[:, 0], order[:, 1]
    edge = free.astype(np.int64)
    for which in (first, second):
        edge[rows, which] = (sign * half)[rows, which]
    # A line touches the edge if it leaves one face's slab where it enters the other's.
    tangent = rng.integers(-5, 6, (n, 3))
    tangent[rows, first] = sign[rows, first] * rng.integers(1, 6, n)
    tangent[rows, second] = -sign[rows, second] * rng.integers(0, 6, n)
    corner = np.where(rng.random((n, 1)) < 0.5, sign * half, edge)
    along = np.eye(3, dtype=np.int64)[first]
    along = np.where(rng.random((n, 1)) < 0.5, along, rng.integers(1, 6, (n, 3)) * (1 - along))
    limbs = shapes(BOX, f.world(0 * edge), orientation=orientation.astype(float), half=half * f.unit[:, None])
    return Exact(f, limbs, edge, tangent, corner, along, (free / 2).astype(np.int64), half.sum(axis=1))


def turned_box(rng: Generator, n: int) -> Shots:
    """Boxes with any rotation, yet with a point exactly on a face, an edge or a corner, and a ray in that face.

    An axis row (a, b, c) maps 2ᵏ e₁ to 2ᵏ a without rounding, which becomes the half extent; (b, -a, 0) is exactly
    perpendicular to the row. The box's centre is the world's origin.
    """
    turn, rows = _unit(rng.normal(size=(n, 4))), np.arange(n)
    axes, face = box_axes(turn), rng.integers(0, 3, n)
    i = np.abs(axes[rows, face]).argmax(axis=1)
    other = (i + rng.integers(1, 3, n)) % 3
    scale = 2.0 ** rng.integers(-9, 6, n)
    point = np.zeros((n, 3))
    point[rows, i] = scale * rng.choice([-1.0, 1.0], n)
    # Equal to the point's coordinates along the other axes (an edge, a corner), or longer, or shorter (a miss).
    half = np.maximum(np.abs(np.einsum("nij,nj->ni", axes, point)), 1e-4 * scale[:, None])
    factor = rng.choice([0.5, 1.0, 1.0, 2.0], (n, 3))
    factor[rows, face] = 1.0
    step, row = np.zeros((n, 3)), axes[rows, face]
    step[rows, i], step[rows, other] = row[rows, other], -row[rows, i]
    step *= (scale * 2.0 ** rng.integers(1, 12, n))[:, None]
    start, end = point - step * rng.integers(0, 2, (n, 1)), point + step * rng.integers(0, 2, (n, 1))
    return shots(shapes(BOX, np.zeros((n, 3)), orientation=turn, half=half * factor), start, end)


ROW = ShapeRow(
    kind=BOX,
    faces=frozenset(range(NEG_X, NEG_X + 6)),
    takes=("p1", "orientation", "half"),
    grows=("half",),
    make=lambda s: cc.Limbs.boxes(s.p1, s.orientation, s.half),
    makers={"box": lambda p1, p2, r, rng: cc.Limbs.boxes([p1], rng.normal(size=4), rng.uniform(0.1, 1.0, 3))},
    everyday=shapes(BOX, CENTER[None], orientation=TURN_TO_AXIS, half=np.array([[RADIUS, 0.2, HALF_LENGTH]])),
    volume=8 * 0.3 * 0.2 * 0.4,
    arguments={"boxes": {"center": LOW, "orientation": TURN, "half_extents": HALF}},
    polynomials=polynomials,
    where=lambda s: min(s.values()),
    face=lambda s: NEG_X + list(s.values()).index(0),
    holds=lambda spot: all(abs(c) <= h for c, h in zip(spot.across, spot.solid.half, strict=True)),
    profile=None,
    grown=lambda length, r, r2, by: (by * 0, r, r2),
    normal=normal,
    placed=placed,
    surface=surface,
    feature=feature,
    exact=exact,
    chords={
        "a brick": (BRICK, (-2, 0, 0), (2, 0, 0), [(2, F.NEG_X, 6, F.POS_X)]),
        "a brick along an edge": (BRICK, (-2, -2, 3), (2, -2, 3), [(2, F.NEG_X, 6, F.POS_X)]),
        "a brick in a face": (BRICK, (0, -4, 3), (0, 4, 3), [(2, F.NEG_Y, 6, F.POS_Y)]),
        "a brick in its first face": (BRICK, (-1, -4, 0), (-1, 4, 0), [(2, F.NEG_X, 6, F.NEG_X)]),
        "a brick's edge": (BRICK, (0, 1, 4), (0, 3, 2), [(4, F.POS_Y, 4, F.POS_Y)]),
        "a brick's corner": (BRICK, (0, 3, 3), (2, 1, 3), [(4, F.POS_X, 4, F.POS_X)]),
    },
    hits={
        "a brick's x": (BRICK, (-4, 0, 0), (4, 0, 0), F.NEG_X, -X, 3, F.POS_X, X, 5),
        "a brick's y": (BRICK, (0, 4, 0), (0, -4, 0), F.POS_Y, Y, 2, F.NEG_Y, -Y, 6),
        "a brick's z": (BRICK, (0, 0, -4), (0, 0, 4), F.NEG_Z, -Z, 1, F.POS_Z, Z, 7),
        "a brick's corner": (BRICK, (0, 3, 3), (2, 1, 3), F.POS_X, X, S2 * 2, F.POS_X, X, S2 * 2),
        "a turned brick's x": (TURNED, (0, -4, 0), (0, 4, 0), F.NEG_X, -Y, 3, F.POS_X, Y, 5),
        "a turned brick's y": (TURNED, (0, 0, -4), (0, 0, 4), F.NEG_Y, -Z, 2, F.POS_Y, Z, 6),
        "a turned brick's z": (TURNED, (-4, 0, 0), (4, 0, 0), F.NEG_Z, -X, 1, F.POS_Z, X, 7),
    },
    explained={
        "box": (BRICK, (-9, 0, 0), (9, 0, 0), "the slab x begins last", F.NEG_X, -1),
        "edge": (BRICK, (-2, -3, 0), (3, 2, 0), "the slab x and the slab y begin last", F.NEG_X, -1),
        "past a box": (BRICK, (-9, 4, 0), (9, 4, 0), "its line stays outside the slab y", F.NONE, 2),
    },
    tangents={
        "brick's face": Tangent(BRICK, (1, 0, 0), (1, 0, 0), (0, 1, 0.5), "a line"),
        "brick's edge": Tangent(BRICK, (1, 2, 0), (1, 1, 0), (1, -1, 0), "an edge"),
        "brick's corner": Tangent(BRICK, (1, 2, 3), (1, 1, 1), (1, -1, 0), "an edge"),
    },
    families={"exact turned": turned_box},
)
