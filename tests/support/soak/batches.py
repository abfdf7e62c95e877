"""Queries of a soak: chunks of rays against limbs, each drawn from the seed and the chunk's number alone.

The families are those of `tests/support/cases`, for every shape: rays at walls, caps, rims, apexes and edges, offset
by 10⁻¹⁶ or more, tangents, rays in and near surfaces and axes, starts on and in a limb and 10⁷ limb sizes away, exact
tangents with integer coordinates, and these with one number moved by an ulp. Here they are also cast among other limbs,
in units from 2⁻⁴⁵⁰ to 2⁴⁵⁰, as rays with limits, and with components of about 10⁻³⁰⁰.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from support.cases.frames import OFFSETS, Array, Posed, Whole, _unit, framed, posed
from support.cases.posed_shapes import Placed
from support.cases.shape_rays import EXACT, FLOAT, at_the_limit, nudged
from support.cases.shape_scenes import PLANS, scene
from support.oracle.lines import TAPERED
from support.oracle.shapes.rows import Shapes, Shots, concat, joined, named, shapes, shots
from support.oracle.shapes.table import NAMES, SHAPE_ROWS

ROWS, BRUTE_FORCE, SINGLE, STREAMS = "row by row", "brute force", "single rays", "streams"
"""Loops of the library: row by row by `Limbs`, or those of a world, which its size and the batch's select."""


@dataclass(frozen=True)
class Batch:
    """n rays of one call: each against the limb of its row, or all of them against a crowd."""

    way: str
    shots: Shots
    crowd: Shapes | None = None  # else `shots.shapes`

    @property
    def limbs(self) -> Shapes:
        """Return the limbs, by the indices in results."""
        return self.shots.shapes if self.crowd is None else self.crowd

    @property
    def pairs(self) -> int:
        """Return the number of pairs of ray and limb."""
        return len(self.shots) * (1 if self.crowd is None else len(self.crowd))


# Rays ---------------------------------------------------------------------------------------------------------------


def _named(shot: Shots, name: str) -> Shots:
    """Return the rows with shape and family as their name; tapers to radius 0 are named cones."""
    kind = int(shot.shapes.kind[0])
    rows = named(shot, f"{NAMES[kind]}: {name}")
    pointed = (rows.shapes.radius == 0.0) | (rows.shapes.radius2 == 0.0)
    return replace(rows, family=np.where(pointed, f"cone: {name}", rows.family)) if kind == TAPERED else rows


def _as_rays(rng: Generator, s: Shots) -> Shots:
    """Return segments as rays with directions of any length: without limit, with limit 0, at the end or elsewhere."""
    s = s.take(np.flatnonzero((s.end != s.start).any(axis=1)))
    n, step = len(s), (s.end - s.start) * 10.0 ** rng.uniform(-3, 3, (len(s), 1))
    reach = np.linalg.norm(s.end - s.start, axis=1) * np.where(rng.random(n) < 0.3, 1.0, 10.0 ** rng.uniform(-2, 1, n))
    return replace(s, end=step, limit=np.select([rng.random(n) < 0.5, rng.random(n) < 0.1], [np.inf, 0.0], reach))


def _float_rows(rng: Generator, each: int) -> Shots:
    """Return rows of every shape and float family."""
    return joined(
        [
            _named(make(rng, row.placed(rng, posed(rng, each))), name)
            for row in SHAPE_ROWS.values()
            for name, make in FLOAT.items()
        ]
    )


def _exact_rows(rng: Generator, each: int) -> Shots:
    """Return rows of every shape with integer coordinates."""
    parts = []
    for row in SHAPE_ROWS.values():
        parts += [_named(make(rng, row.exact(rng, each)), name) for name, make in EXACT.items()]
        parts += [_named(make(rng, each), name) for name, make in row.families.items()]
    return joined(parts)


def _nudged_rows(rng: Generator, each: int) -> Shots:
    """Return rows of every shape with integer coordinates, one number of which is moved by an ulp."""
    return joined([_named(nudged(rng, row.exact(rng, each)), "nudged") for row in SHAPE_ROWS.values()])


def _scaled(s: Shots, factor: float) -> Shots:
    """Return the rows in another unit, a power of two."""
    end = s.end * factor if s.limit is None else s.end
    limit = None if s.limit is None else s.limit * factor
    return replace(s, shapes=s.shapes.scaled(factor), start=s.start * factor, end=end, limit=limit)


def _together(s: Shots, name: str) -> Shots:
    """Return the rows with one family name per shape."""
    return replace(s, family=np.array([f"{family.split(':')[0]}: {name}" for family in s.family]))


def _tiny_components(rng: Generator, s: Shots) -> Shots:
    """Return rows with one component of the start about 10⁻³⁰⁰, or the least positive float64, up to the sign."""
    start, n = s.start.copy(), len(s)
    tiny = rng.choice([-1.0, 1.0], n) * np.where(rng.random(n) < 0.5, 5e-324, 10.0 ** rng.uniform(-320, -280, n))
    start[np.arange(n), rng.integers(0, 3, n)] = tiny
    return replace(s, start=start)


# Crowds -------------------------------------------------------------------------------------------------------------


def _strewn(rng: Generator, n: int, spread: float, place: Array) -> Posed:
    """Return limbs of 5 to 50 cm in a cube about a place."""
    radius = 10.0 ** rng.uniform(-1.3, -0.3, n)
    axis = np.where(rng.random((n, 1)) < 1 / 3, np.eye(3)[rng.integers(0, 3, n)], _unit(rng.normal(size=(n, 3))))
    p1 = place + rng.uniform(-spread, spread, (n, 3))
    return framed(p1, p1 + axis * (radius * 10.0 ** rng.uniform(-0.7, 1.0, n))[:, None], radius)


def _crowd(rng: Generator, each: int, rays: int, way: str) -> Batch:
    """Return `each` limbs of every shape and `rays` rays of all float families, aimed at random limbs of each shape."""
    spread = 0.7 * (each * len(SHAPE_ROWS)) ** (1 / 3)
    place = _unit(rng.normal(size=(1, 3))) * rng.choice(OFFSETS)
    parts, limbs = [], []
    for row in SHAPE_ROWS.values():
        p = row.placed(rng, _strewn(rng, each, spread, place))
        limbs.append(p.limbs)
        for name, make in FLOAT.items():
            at = rng.integers(0, each, -(-rays // (len(SHAPE_ROWS) * len(FLOAT))))
            parts.append(_named(make(rng, Placed(p.limbs.take(at), p.frame[at], p.height[at])), name))
    s = joined(parts)
    return Batch(way, s.take(rng.permutation(len(s))[:rays]), concat(limbs))


def _lattice(rng: Generator, limbs: int, rays: int) -> Batch:
    """Return limbs and rays with small integer coordinates: many limbs are touched, and several at one point."""
    parts = []
    for row in SHAPE_ROWS.values():
        n = -(-limbs // len(SHAPE_ROWS))
        p1, radius = rng.integers(-9, 10, (n, 3)), rng.integers(1, 4, n)
        p2 = p1 + np.eye(3, dtype=np.int64)[rng.integers(0, 3, n)] * rng.integers(1, 6, (n, 1))
        radius2 = np.array([row.radii(lambda few: few[int(rng.integers(len(few)))], int(r)) for r in radius])
        columns = {"radius": radius2[:, 0].astype(float), "radius2": radius2[:, 1].astype(float)}
        columns["half"] = rng.integers(1, 4, (n, 3)).astype(float)
        two = p2 if "p2" in row.takes else p1
        taken = {name: columns[name] for name in columns if name in row.takes}
        parts.append(shapes(row.kind, p1.astype(float), two.astype(float), **taken))
    start, step = rng.integers(-9, 10, (rays, 3)), rng.integers(-3, 4, (rays, 3)) * (rng.random((rays, 3)) < 0.6)
    crowd = concat(parts)
    target = crowd.take(rng.integers(0, len(crowd), rays))
    asked = shots(target, start.astype(float), (start + step * rng.integers(1, 7, (rays, 1))).astype(float))
    return Batch(STREAMS, named(asked, "any: lattice"), crowd)


def _scenes(rng: Generator, name: str, rays: int) -> Batch:
    """Return a world in which walls, caps and tips of different shapes coincide."""
    s = scene(name, rays, int(rng.integers(2**31)))
    target: Whole = rng.integers(0, len(s.limbs), rays)
    return Batch(SINGLE, named(shots(s.limbs.take(target), s.start, s.end), f"any: {name}"), s.limbs)


# Chunks -------------------------------------------------------------------------------------------------------------


def _rows(rng: Generator) -> Iterator[Batch]:
    yield Batch(ROWS, _float_rows(rng, 400))
    yield Batch(ROWS, _as_rays(rng, _float_rows(rng, 200)))


def _hard_rows(rng: Generator) -> Iterator[Batch]:
    yield Batch(ROWS, _nudged_rows(rng, 400))
    yield Batch(ROWS, _exact_rows(rng, 20))
    yield Batch(ROWS, joined([_named(at_the_limit(rng, kind, 40), "at the limit") for kind in SHAPE_ROWS]))


def _odd_numbers(rng: Generator) -> Iterator[Batch]:
    for power in (-450, -60, -40, 40, 60, 450):  # kernels handle numbers between 10⁻¹⁵ and 10²⁰
        rows = _float_rows(rng, 100 if abs(power) == 40 else 10)
        rows = rows if rng.random() < 0.5 else _as_rays(rng, rows)
        yield Batch(ROWS, _together(_scaled(rows, 2.0**power), f"in units of 2^{power}"))
    yield Batch(ROWS, _together(_tiny_components(rng, _float_rows(rng, 2)), "tiny components"))


def _few(rng: Generator) -> Iterator[Batch]:
    for _ in range(12):
        batch = _crowd(rng, 1, 2048, BRUTE_FORCE)
        keep = rng.permutation(len(batch.limbs))[:3]
        yield replace(batch, crowd=batch.limbs.take(np.sort(keep)))


def _single(rng: Generator) -> Iterator[Batch]:
    for _ in range(12):
        yield _crowd(rng, 8, 168, SINGLE)
    for name in PLANS:
        yield _scenes(rng, name, 60)


def _streams(rng: Generator) -> Iterator[Batch]:
    yield _crowd(rng, int(rng.choice([3, 20, 60])), 6000, STREAMS)
    batch = _crowd(rng, 40, 3000, STREAMS)
    yield replace(batch, shots=_as_rays(rng, batch.shots))


def _ties(rng: Generator) -> Iterator[Batch]:
    yield _lattice(rng, 70, 400)


PLAN: tuple[Callable[[Generator], Iterator[Batch]], ...] = (
    *(_rows, _streams, _few, _streams, _rows, _streams, _single, _streams),
    *(_rows, _streams, _hard_rows, _streams, _rows, _streams, _odd_numbers, _ties),
)
"""The kinds of chunks, in turn."""

POLICIES = ("hit", "exit", "ignore")


def batches(seed: int, chunk: int) -> Iterator[tuple[Batch, str]]:
    """Yield the batches of a chunk, each with a policy for rays that start in a limb; reproducible by the seed."""
    rng = np.random.default_rng([seed, chunk])
    for k, batch in enumerate(PLAN[chunk % len(PLAN)](rng)):
        yield batch, POLICIES[0 if rng.random() < 0.6 else 1 + k % 2]
