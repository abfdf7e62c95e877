"""Adversarial (limb, ray) families for every shape, from a seed: where float64 hit tests are known to break.

The *float* families aim, up to rounding, at points of `support.cases.posed_shapes`. The *exact* families use the
integers of `support.cases.shape_rays_exact`. `nudged` moves one of their numbers by an ulp. Every family is drawn for
every shape: the special places are a shape's apex and second nappe, bore, pole, seam, edge and corner.
"""

from collections.abc import Callable
from dataclasses import replace
from zlib import crc32

import numpy as np
from numpy.random import Generator
from support.cases.frames import QUADRUPLES, Array, _unit, posed
from support.cases.posed_shapes import Placed
from support.cases.shape_rays_exact import Exact, Whole
from support.oracle.shapes.rows import Shots, joined, named, shots
from support.oracle.shapes.table import NAMES, SHAPE_ROWS

SHAPES = tuple(SHAPE_ROWS)


def surface(p: Placed, rng: Generator) -> tuple[Array, Array]:
    """Return points of the surface and the outward unit normals there, in the frames."""
    return SHAPE_ROWS[p.kind].surface(p, rng)


def interior(p: Placed, rng: Generator) -> Array:
    """Return points in the solid."""
    row = SHAPE_ROWS[p.kind]
    return row.interior(row.surface, p, rng)


def feature(p: Placed, rng: Generator) -> tuple[Array, Array]:
    """Return singular points of the shape and a direction that is singular there, in the frames."""
    point, along = SHAPE_ROWS[p.kind].feature(p, rng)
    turned_round = rng.choice([-1.0, 1.0], (len(point), 1))
    return point, _unit(along) * turned_round


# Float families -----------------------------------------------------------------------------------------------------


def _through(rng: Generator, p: Placed, point: Array, along: Array, reach: tuple[float, float] = (0, 2)) -> Shots:
    """Return segments through local points along local directions, 10**reach limb sizes to either side."""
    size, step = p.size[:, None], p.turned(along)
    back, on = (10.0 ** rng.uniform(*reach, size.shape) * size for _ in range(2))
    place = p.world(point)
    return shots(p.limbs, place - back * step, place + on * step)


def _any(rng: Generator, p: Placed) -> Array:
    """Return random unit vectors, one in four of them along an axis of the frame."""
    n = len(p.limbs)
    plain = np.eye(3)[rng.integers(0, 3, n)] * rng.choice([-1.0, 1.0], (n, 1))
    return np.where(rng.random((n, 1)) < 1 / 4, plain, _unit(rng.normal(size=(n, 3))))


def _small(rng: Generator, n: int, low: float, high: float) -> Array:
    """Return numbers ±10**low … ±10**high, one in five 0, (n, 1)."""
    return rng.choice([-1.0, 1.0], (n, 1)) * 10.0 ** rng.uniform(low, high, (n, 1)) * (rng.random((n, 1)) < 0.8)


def aimed(rng: Generator, p: Placed) -> Shots:
    """From anywhere through a point in the limb; one in four starts or ends there."""
    target = interior(p, rng)
    rows, kind = _through(rng, p, target, _any(rng, p)), rng.integers(0, 8, (len(target), 1))
    start, end = (np.where(kind == k, p.world(target), x) for k, x in enumerate((rows.start, rows.end)))
    return replace(rows, start=start, end=end)


def passing(rng: Generator, p: Placed) -> Shots:
    """Through a point outside, 10⁻³ to 1 sizes off the surface."""
    point, normal = surface(p, rng)
    away = p.size[:, None] * 10.0 ** rng.uniform(-3, 0, (len(point), 1))
    return _through(rng, p, point + away * normal, _any(rng, p))


def graze(rng: Generator, p: Placed) -> Shots:
    """Along a tangent, shifted by ±10⁻¹⁶ … ±10⁻¹ sizes along the normal or not at all; at a bore from both sides."""
    point, normal = surface(p, rng)
    tangent = _unit(np.cross(normal, _any(rng, p) + 1e-3))
    return _through(rng, p, point + _small(rng, len(point), -16, -1) * p.size[:, None] * normal, tangent, (-0.5, 1.5))


def on_surface(rng: Generator, p: Placed) -> Shots:
    """Starts or ends on the surface, up to rounding."""
    rows = _through(rng, p, surface(p, rng)[0], _any(rng, p), (-2, 1.5))
    kept = rng.random((len(rows), 1)) < 0.5
    middle = p.world(surface(p, rng)[0])
    return replace(rows, start=np.where(kept, rows.start, middle), end=np.where(kept, middle, rows.end))


def start_inside(rng: Generator, p: Placed) -> Shots:
    """Starts in the limb and leaves it or stops in it."""
    start = p.world(interior(p, rng))
    reach = p.size[:, None] * 10.0 ** rng.uniform(-3, 1.5, (len(start), 1))
    return shots(p.limbs, start, start + reach * p.turned(_any(rng, p)))


def features(rng: Generator, p: Placed) -> Shots:
    """Through a singular place, or past it by 10⁻¹⁶ … 10⁻¹ sizes."""
    point, _ = feature(p, rng)
    off = _small(rng, len(point), -16, -1) * p.size[:, None]
    return _through(rng, p, point + off * _any(rng, p), _any(rng, p))


def feature_lines(rng: Generator, p: Placed) -> Shots:
    """Along a generator, an edge, the bore, a seam, ...: turned by 10⁻¹⁷ … 10⁻³ and shifted, or neither."""
    point, along = feature(p, rng)
    n = len(point)
    off = _small(rng, n, -16, -1) * p.size[:, None] * (rng.random((n, 1)) < 0.5)
    tilt = _small(rng, n, -17, -3) * (rng.random((n, 1)) < 0.5)
    return _through(rng, p, point + off * _any(rng, p), _unit(along + tilt * _any(rng, p)), (-1, 1))


def far_start(rng: Generator, p: Placed) -> Shots:
    """At a surface point or a singular place, from 10³ … 10⁷ limb sizes away."""
    point = np.where(rng.random((len(p.limbs), 1)) < 0.5, surface(p, rng)[0], feature(p, rng)[0])
    return _through(rng, p, point, _any(rng, p), (3, 7))


FLOAT: dict[str, Callable[[Generator, Placed], Shots]] = {
    "aimed": aimed,
    "passing": passing,
    "graze": graze,
    "on surface": on_surface,
    "start inside": start_inside,
    "feature": features,
    "feature line": feature_lines,
    "far start": far_start,
}
"""Float families by name."""


# Exact families -----------------------------------------------------------------------------------------------------


def _steps(rng: Generator, n: int) -> Whole:
    """Return numbers of steps, (n, 1); one in six is 0."""
    return np.where(rng.random((n, 1)) < 1 / 6, 0, rng.integers(1, 40, (n, 1)))


def _any_step(rng: Generator, n: int) -> Whole:
    """Return integer directions, (n, 3), never zero, often with a zero component."""
    step = rng.integers(-7, 8, (n, 3)) * (rng.random((n, 3)) < 0.8)
    step[(step == 0).all(axis=1)] = (1, 0, 0)
    return step


def _ask(rng: Generator, e: Exact, start: Whole, end: Whole) -> Shots:
    """Return the segments in the world, half of them reversed."""
    back = rng.random((len(start), 1)) < 0.5
    return shots(e.limbs, *(e.frame.world(x) for x in (np.where(back, end, start), np.where(back, start, end))))


def _line(rng: Generator, e: Exact, point: Whole, along: Whole) -> Shots:
    n = len(point)
    return _ask(rng, e, point - _steps(rng, n) * along, point + _steps(rng, n) * along)


def _from_inside(rng: Generator, e: Exact) -> Shots:
    goal = np.where(rng.random((len(e.reach), 1)) < 0.5, e.special, e.touch)
    far = e.inside + rng.integers(1, 4, (len(goal), 1)) * (goal - e.inside)
    return _ask(rng, e, e.inside, far)


def _surface_end(rng: Generator, e: Exact) -> Shots:
    n = len(e.reach)
    point = np.where(rng.random((n, 1)) < 0.3, e.special, e.touch)
    return _ask(rng, e, point, point + rng.integers(1, 30, (n, 1)) * _any_step(rng, n))


def _point(rng: Generator, e: Exact) -> Shots:
    n = len(e.reach)
    choices = np.array([e.inside, e.touch, e.special, e.touch + _any_step(rng, n)])
    point = choices[rng.integers(0, 4, n), np.arange(n)]
    return _ask(rng, e, point, point)


EXACT: dict[str, Callable[[Generator, Exact], Shots]] = {
    "exact touch": lambda rng, e: _line(rng, e, e.touch, e.tangent),
    "exact special": lambda rng, e: _line(rng, e, e.special, _any_step(rng, len(e.reach))),
    "exact line": lambda rng, e: _line(rng, e, e.special, e.along),
    "exact inside": _from_inside,
    "exact surface end": _surface_end,
    "exact zero length": _point,
}
"""Exact families by name."""


def nudged(rng: Generator, e: Exact) -> Shots:
    """Rows of the exact families with one number moved to the next float64."""
    rows = [make(rng, e) for make in EXACT.values()]
    n, pick = len(e.reach), rng.integers(0, len(rows), len(e.reach))
    start, end = (np.array([getattr(r, name) for r in rows])[pick, np.arange(n)] for name in ("start", "end"))
    limbs, kind = e.limbs, int(e.limbs.kind[0])
    same = limbs.p1 == limbs.p2
    takes = SHAPE_ROWS[kind].takes
    names = ["p1", "p2", *(name for name in ("half", "radius", "radius2") if name in takes)]
    columns = {"start": start, "end": end} | {name: getattr(limbs, name).copy() for name in names}
    which, towards = rng.integers(0, len(columns), n), rng.choice([-np.inf, np.inf], n)
    for k, column in enumerate(columns.values()):
        r = np.flatnonzero(which == k)
        at = (r, rng.integers(0, 3, len(r))) if column.ndim == 2 else r
        column[at] = np.nextafter(column[at], towards[r])
        # The next float64 after 0 is about 10⁻³²⁴: valid, but the oracle's integers would need a thousand digits.
        tiny = (np.abs(column) < 1e-30) & (column != 0)
        column[tiny] = np.sign(column[tiny]) * 1e-30
    # A cone's nudged radius2 may be negative; spheres and boxes keep p1 = p2.
    columns |= {name: np.abs(columns[name]) for name in {"radius", "radius2"} & set(columns)}
    start, end = columns.pop("start"), columns.pop("end")
    columns["p2"] = np.where(same, columns["p1"], columns["p2"])
    return shots(replace(limbs, **columns), start, end)


def sample(count: int, seed: int) -> Shots:
    """Return at least `count` segments, equally many of every shape and family, reproducible by the seed."""
    names = [*FLOAT, *EXACT, "nudged", "nudged again"]
    families = [family for row in SHAPE_ROWS.values() for family in row.families]
    share = -(-count // (len(names) * len(SHAPES) + len(families)))
    parts = []
    for kind in SHAPES:
        for name in names:
            rng = np.random.default_rng([seed, kind, crc32(name.encode())])
            if name in FLOAT:
                rows = FLOAT[name](rng, SHAPE_ROWS[kind].placed(rng, posed(rng, share)))
            else:
                rows = EXACT.get(name, nudged)(rng, SHAPE_ROWS[kind].exact(rng, share))
            parts.append(named(rows, f"{NAMES[kind]}: {name}"))
        for name, make in SHAPE_ROWS[kind].families.items():
            parts.append(named(make(np.random.default_rng([seed, kind]), share), f"{NAMES[kind]}: {name}"))
    return joined(parts)


def sample_rays(count: int, seed: int) -> Shots:
    """Return rays: two in three from the segment families, the others by `at_the_limit`."""
    rng = np.random.default_rng([seed, 1000])
    s = sample(2 * count // 3, seed)
    s = s.take(np.flatnonzero((s.end != s.start).any(axis=1)))
    n, step = len(s), s.end - s.start
    exact = np.char.find(s.family, "exact") >= 0
    step *= np.where(exact, 2.0 ** rng.integers(-9, 10, n), 10.0 ** rng.uniform(-3, 3, n))[:, None]
    reach = np.linalg.norm(s.end - s.start, axis=1) * 10.0 ** rng.uniform(-2, 1, n)
    limit = np.select([rng.random(n) < 0.5, rng.random(n) < 0.1], [np.inf, 0.0], reach)
    share = -(-(count - n) // len(SHAPES))
    return joined([replace(s, end=step, limit=limit), *(at_the_limit(rng, kind, share) for kind in SHAPES)])


def at_the_limit(rng: Generator, kind: int, n: int) -> Shots:
    """Rays whose max_distance is exactly the distance of a surface point, or an adjacent float64."""
    e = SHAPE_ROWS[kind].exact(rng, n)
    quadruple = QUADRUPLES[rng.integers(0, len(QUADRUPLES), n)]
    step = rng.permuted(quadruple[:, :3], axis=1) * rng.choice([-1, 1], (n, 3))
    point, steps = np.where(rng.random((n, 1)) < 0.3, e.special, e.touch), rng.integers(1, 60, n)
    origin = e.frame.world(point - steps[:, None] * step)
    direction = e.frame.world(point - (steps - 1)[:, None] * step) - origin
    limit, nudge = e.frame.length(steps * quadruple[:, 3]), rng.choice([-np.inf, np.nan, np.inf], n)
    limit = np.where(np.isnan(nudge), limit, np.nextafter(limit, nudge))
    return named(shots(e.limbs, origin, direction, limit), f"{NAMES[kind]}: at the limit")
