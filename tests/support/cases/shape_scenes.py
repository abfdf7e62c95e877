"""Worlds of all shapes that test the order of limbs along a ray.

Their coordinates are integers, turned by an exact rotation (`support.cases.shape_rays_exact.TURNS`), so that walls,
caps, faces and tips of different shapes coincide exactly in float64.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.random import Generator
from support.cases.frames import Array, Whole, frames
from support.cases.shape_rays_exact import TURNS, turned_rows
from support.oracle.lines import BOX, CAPSULE, CYLINDER, ELLIPSOID, SPHERE, TAPERED, TUBE
from support.oracle.shapes.rows import Shapes
from support.oracle.shapes.table import SHAPE_ROWS


@dataclass(frozen=True)
class Scene:
    """m limbs in one world and k segments through it."""

    limbs: Shapes
    start: Array  # (k, 3)
    end: Array


# kind, p1 (3), p2 (3), radius, radius2, half extents (3): one limb in integers.
Row = tuple[int, ...]


def _row(kind: int, p1: Whole, p2: Whole, radius: int, radius2: int = 0, half: tuple[int, ...] = (0, 0, 0)) -> Row:
    """Return a limb with the columns that its shape takes; a shape without p2 is at p1."""
    takes = SHAPE_ROWS[kind].takes
    last = p2 if "p2" in takes else p1
    return (kind, *map(int, p1), *map(int, last), radius if "radius" in takes else 0, radius2, *half)


def _any_limb(rng: Generator, p1: Whole, p2: Whole, radius: int) -> Row:
    """Return a limb of a random shape between two points; its row gives the radii."""
    kind = int(rng.choice(list(SHAPE_ROWS)))
    row = SHAPE_ROWS[kind]
    first, second = row.radii(lambda choices: choices[int(rng.integers(len(choices)))], radius)
    half = tuple(int(x) for x in rng.integers(1, radius + 3, 3)) if "half" in row.takes else (0, 0, 0)
    return _row(kind, p1, p2, first, second, half)


def _shells(rng: Generator) -> tuple[list[Row], Whole]:
    """Limbs of every shape about one axis, mostly of radius 5 or 10: walls, caps, seams and tips coincide."""
    h = int(rng.choice([4, 6, 12]))
    foot, top, middle = np.array([(0, 0, 0), (0, 0, h), (0, 0, h // 2)])
    rows = [_row(kind, foot, top, 5) for kind in (CYLINDER, CAPSULE, ELLIPSOID, SPHERE)]
    rows += [_row(TAPERED, foot, top, r, s) for r, s in ((5, 5), (5, 0), (10, 5))]
    rows += [_row(TUBE, foot, top, 5, 3), _row(TUBE, top, foot, 10, 5), _row(SPHERE, top, top, 5)]
    rows += [_row(BOX, middle, middle, 0, 0, (5, 5, h // 2)), _row(BOX, middle, middle, 0, 0, (4, 3, h))]
    across = [(5, 0), (3, 4), (-4, 3), (0, 0), (3, 0), (0, -3), (10, 0), (-6, 8), (5, 5), (4, 3)]
    aims = [(x, y, z) for x, y in across for z in (-5, 0, h // 2, h, h + 5)]
    picked = [rows[i] for i in rng.permutation(len(rows))[:9]]
    return [*picked, picked[0], picked[1]], np.array(aims)


def _chain(rng: Generator) -> tuple[list[Row], Whole]:
    """Limbs of random shapes, each from the end of the previous one; the aims are the joints."""
    joints = np.cumsum(rng.integers(-20, 21, (10, 3)) | 1, axis=0)
    return [_any_limb(rng, p, q, 5) for p, q in pairwise(joints)], joints


def _stack(rng: Generator) -> tuple[list[Row], Whole]:
    """Stacked limbs of random shapes: neighbours share an end plane, walls are aligned; two are duplicated."""
    z = np.cumsum(rng.integers(3, 12, 9))
    ends = [(np.array([0, 0, p]), np.array([0, 0, q])) for p, q in pairwise(z.tolist())]
    rows = [_any_limb(rng, *(pair if rng.random() < 0.7 else pair[::-1]), 5) for pair in ends]
    across = [(5, 0), (3, 4), (-4, 3), (0, 0), (1, 2), (0, 10), (-6, -8)]
    return [rows[i] for i in (*rng.permutation(8), 0, 1)], np.array([(x, y, h) for x, y in across for h in z])


def _mirror(rng: Generator) -> tuple[list[Row], Whole]:
    """Mirror images in the plane x = 0; a ray in that plane hits both at the same, mostly irrational, point."""
    rows, aims = [], []
    for _ in range(8):
        p1, p2 = rng.integers(-12, 13, (2, 3))
        p2[2] += 13 + p1[2]
        row = _any_limb(rng, p1, p2, int(rng.integers(2, 9)))
        rows += [row, (row[0], -row[1], *row[2:4], -row[4], *row[5:])]
        aims += [p1 * [0, 1, 1], p2 * [0, 1, 1]]
    return [rows[i] for i in rng.permutation(len(rows))], np.array(aims)


def _nested(rng: Generator) -> tuple[list[Row], Whole]:
    """Nested limbs about one axis: a ray that starts inside several of them leaves them one by one."""
    rows = [_any_limb(rng, np.array([0, 0, -a]), np.array([0, 0, b]), r) for a, b, r in rng.integers(3, 15, (9, 3))]
    return rows, rng.integers(-6, 7, (12, 3)) * np.repeat([0, 1], 6)[:, None]


def _crowd(rng: Generator) -> tuple[list[Row], Whole]:
    """Limbs of all shapes and sizes, scattered over a box."""
    p1, step = rng.integers(-60, 61, (28, 3)), rng.integers(-15, 16, (28, 3))
    step[:, 0] |= 1
    radius = rng.integers(1, 12, 28).tolist()
    return [_any_limb(rng, p, p + s, r) for p, s, r in zip(p1, step, radius, strict=True)], np.vstack([p1, p1 + step])


PLANS: dict[str, Callable[[Generator], tuple[list[Row], Whole]]] = {
    "shells": _shells,
    "chain": _chain,
    "mirror": _mirror,
    "nested": _nested,
    "crowd": _crowd,
    "stack": _stack,
}
"""Scenes by name."""


def scene(name: str, rays: int, seed: int) -> Scene:
    """Return one scene with `rays` segments, reproducible by the seed."""
    rng = np.random.default_rng([seed, 3000 + list(PLANS).index(name)])
    rows, aims = PLANS[name](rng)
    turn = TURNS[rng.integers(0, len(TURNS), 1)]
    f = replace(frames(rng, 1), turn=np.swapaxes(turned_rows(turn), 1, 2), size=np.ones(1, dtype=np.int64))
    n, table = f.repeated(len(rows)), np.array(rows)
    kind, p1, p2, radius, radius2, half = np.split(table, [1, 4, 7, 8, 9], axis=1)
    orientation = np.tile(turn.astype(float), (len(rows), 1))
    lengths = (n.length(x[:, 0]) for x in (radius, radius2))
    limbs = Shapes(kind[:, 0], n.world(p1), n.world(p2), *lengths, orientation, half * f.unit)
    aim = aims[rng.integers(0, len(aims), rays)]
    step = rng.integers(-9, 10, (rays, 3)) * (rng.random((rays, 3)) < 0.7)
    if name == "mirror":
        step[:, 0] = 0
    start, end = aim - rng.integers(0, 9, (rays, 1)) * step, aim + rng.integers(0, 9, (rays, 1)) * step
    return Scene(limbs, *(f.repeated(rays).world(x) for x in (start, end)))
