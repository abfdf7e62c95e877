"""The exact families: drawn in integers, brought to the world without rounding (see `support.cases.cylinder_rays`).

In the local frame the cylinder stands on z = 0 with its axis on z; `radius` is the long side of a Pythagorean triple
times a factor, so the circle has integer points. Every number stays below 2⁵³, which `Frame.world` checks.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from support.cases.cylinder_rays import FLOAT, OFFSETS, TRIPLES, Array, Segments, Whole, named


@dataclass(frozen=True)
class Frame:
    """n local cylinders (radius, height: integers) and their way to the world: unit · (shift + turn · local)."""

    turn: Whole  # (n, 3, 3) integer rotation times `size`
    size: Whole  # (n,)
    shift: Whole  # (n, 3)
    unit: Array  # (n,) a power of two
    radius: Whole  # (n,)
    height: Whole
    rim: Whole  # (n, 2) an integer point of the circle

    def world(self, local: Whole) -> Array:
        """Return local integer points in the world, (n, 3), without rounding."""
        whole = self.shift + np.einsum("nij,nj->ni", self.turn, local)
        assert np.abs(whole).max(initial=0) < 2**53
        return whole * self.unit[:, None]

    def length(self, local: Whole) -> Array:
        """Return local lengths in the world, (n,), without rounding."""
        return local * self.size * self.unit

    def point(self, xy: Whole, z: Whole) -> Whole:
        """Return local points from their place across (n, 2) and along (n,)."""
        return np.column_stack([xy, z])

    def repeated(self, count: int) -> "Frame":
        """Return the one frame `count` times, to bring as many points to the same world."""
        return Frame(*(np.repeat(getattr(self, name), count, axis=0) for name in self.__dataclass_fields__))


def frames(rng: Generator, n: int) -> Frame:
    """Return n frames: radii of 1 mm … 100 m, worlds at 0 … 10⁷ m, one pose in three along the world axes."""
    triple = TRIPLES[rng.integers(0, len(TRIPLES), n)] * rng.integers(1, 5, (n, 1))
    swap = rng.random((n, 1)) < 0.5
    across = np.where(swap, triple[:, 1::-1], triple[:, :2]) * rng.choice([-1, 1], (n, 2))
    turn, size = _integer_rotations(rng, n)
    radius = triple[:, 2]
    unit = 2.0 ** np.ceil(np.log2(10.0 ** rng.uniform(-3, 1.7, n) / (radius * size)))
    offset = rng.choice(OFFSETS, n) / unit
    shift = np.rint(rng.uniform(-1, 1, (n, 3)) * offset[:, None]).astype(np.int64)
    return Frame(turn, size, shift, unit, radius, rng.integers(1, 5 * radius + 2), across)


def _integer_rotations(rng: Generator, n: int) -> tuple[Whole, Whole]:
    """Return integer matrices M with M Mᵀ = size² I, from quaternions of small integers; one in three has size 1."""
    w, x, y, z = q = rng.integers(-2, 3, (4, n))
    w[(q == 0).all(axis=0)] = 1
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    turn, size = np.moveaxis(np.array(rows), 2, 0), w * w + x * x + y * y + z * z
    plain = rng.random(n) < 1 / 3
    perm = np.eye(3, dtype=np.int64)[rng.permuted(np.tile(np.arange(3), (n, 1)), axis=1)]
    signed = perm * rng.choice([-1, 1], (n, 3, 1))
    return np.where(plain[:, None, None], signed, turn), np.where(plain, 1, size)


def _ask(rng: Generator, f: Frame, start: Whole, end: Whole) -> Segments:
    """Return the questions in the world: either way round, p1 and p2 either way round."""
    n = len(start)
    foot, top = np.zeros((n, 3), dtype=np.int64), f.point(np.zeros((n, 2), dtype=np.int64), f.height)
    flip, back = rng.random((n, 1)) < 0.5, rng.random((n, 1)) < 0.5
    p1, p2 = np.where(flip, top, foot), np.where(flip, foot, top)
    start, end = np.where(back, end, start), np.where(back, start, end)
    ends = (f.world(p) for p in (p1, p2))
    return Segments(
        np.full(n, "", dtype="U24"), *ends, f.length(f.radius), f.world(start), f.world(end), np.full(n, np.nan)
    )


def _level(rng: Generator, f: Frame) -> Whole:
    """Return heights: a cap plane (one in four each) or any whole height from just under to just over the limb."""
    kind = rng.integers(0, 4, len(f.height))
    return np.choose(kind, [0, f.height, rng.integers(0, f.height + 1), rng.integers(-2, f.height + 3)])


def _within(rng: Generator, f: Frame) -> Whole:
    """Return integer points strictly inside the circle, (n, 2)."""
    share = rng.uniform(0, 0.7, (len(f.radius), 2)) * rng.choice([-1, 1], (len(f.radius), 2))
    return np.asarray(np.trunc(share * (f.radius[:, None] - 1)), dtype=np.int64)


def _steps(rng: Generator, n: int) -> Whole:
    """Return how many steps to go, (n, 1); 0 is one in six."""
    return np.where(rng.random((n, 1)) < 1 / 6, 0, rng.integers(1, 40, (n, 1)))


def _any_step(rng: Generator, n: int) -> Whole:
    """Return integer directions, (n, 3), never zero, often with a zero component."""
    step = rng.integers(-7, 8, (n, 3)) * (rng.random((n, 3)) < 0.8)
    step[(step == 0).all(axis=1)] = (1, 0, 0)
    return step


def tangent(rng: Generator, n: int) -> Segments:
    """Touches the wall in one point, which lies between the caps, on a rim or beyond; may start or end there."""
    f = frames(rng, n)
    touch = f.point(f.rim, _level(rng, f))
    along = f.point(np.column_stack([-f.rim[:, 1], f.rim[:, 0]]), rng.integers(-9, 10, n))
    return _ask(rng, f, touch - _steps(rng, n) * along, touch + _steps(rng, n) * along)


def rim_point(rng: Generator, n: int) -> Segments:
    """Through a point of the rim in any direction: cap and side are met at once."""
    f = frames(rng, n)
    point, along = f.point(f.rim, rng.integers(0, 2, n) * f.height), _any_step(rng, n)
    return _ask(rng, f, point - _steps(rng, n) * along, point + _steps(rng, n) * along)


def along_axis(rng: Generator, n: int) -> Segments:
    """Parallel to the axis: on it, inside, exactly on the wall, outside; through, ending in a cap plane, stopping."""
    f = frames(rng, n)
    kind = rng.integers(0, 5, (n, 1))
    across = np.select([kind == 0, kind == 1, kind <= 3], [0 * f.rim, _within(rng, f), f.rim], f.rim * 2)
    return _ask(rng, f, f.point(across, -rng.integers(0, 9, n)), f.point(across, _level(rng, f)))


def in_cap_plane(rng: Generator, n: int) -> Segments:
    """In the plane of a cap: across its disc, touching its circle, or past it."""
    f = frames(rng, n)
    z = rng.integers(0, 2, n) * f.height
    kind = rng.integers(0, 5, (n, 1))
    through = np.select([kind < 2, kind < 4], [_within(rng, f), f.rim], 2 * f.rim)
    tangent_step = np.column_stack([-f.rim[:, 1], f.rim[:, 0]])
    step = np.where(rng.random((n, 1)) < 0.5, tangent_step, _any_step(rng, n)[:, :2] + [8, 0])
    point, along = f.point(through, z), f.point(step, 0 * z)
    return _ask(rng, f, point - _steps(rng, n) * along, point + _steps(rng, n) * along)


def end_on_surface(rng: Generator, n: int) -> Segments:
    """Ends or starts exactly on side, cap or rim; the other end is anywhere."""
    f = frames(rng, n)
    on_cap = rng.random((n, 1)) < 0.4
    z = np.where(on_cap[:, 0], rng.integers(0, 2, n) * f.height, rng.integers(0, f.height + 1))
    point = f.point(np.where(on_cap, _within(rng, f), f.rim), z)
    return _ask(rng, f, point, point + rng.integers(1, 30, (n, 1)) * _any_step(rng, n))


def from_inside(rng: Generator, n: int) -> Segments:
    """Starts or ends inside or in a cap, on the way to a rim, a wall point, an axis point or anywhere."""
    f = frames(rng, n)
    start = f.point(_within(rng, f), rng.integers(0, f.height + 1))
    goal = f.point(np.where(rng.random((n, 1)) < 0.6, f.rim, 0), _level(rng, f))
    far = start + rng.integers(1, 4, (n, 1)) * (goal - start)
    return _ask(rng, f, start, np.where(rng.random((n, 1)) < 0.7, far, start + 9 * _any_step(rng, n)))


def zero_length(rng: Generator, n: int) -> Segments:
    """A point: inside, on side, cap or rim, and outside."""
    f = frames(rng, n)
    across = np.where(rng.random((n, 1)) < 0.5, f.rim, _within(rng, f) * rng.integers(1, 3, (n, 1)))
    point = f.point(across, _level(rng, f))
    return _ask(rng, f, point, point)


def meets_axis(rng: Generator, n: int) -> Segments:
    """Through a point of the axis line, also of its ends."""
    f = frames(rng, n)
    point, along = f.point(0 * f.rim, _level(rng, f)), _any_step(rng, n)
    return _ask(rng, f, point - _steps(rng, n) * along, point + _steps(rng, n) * along)


EXACT: dict[str, Callable[[Generator, int], Segments]] = {
    "exact tangent": tangent,
    "exact rim": rim_point,
    "exact parallel": along_axis,
    "exact cap plane": in_cap_plane,
    "exact surface end": end_on_surface,
    "exact inside": from_inside,
    "exact zero length": zero_length,
    "exact axis": meets_axis,
}
"""Exact families by name."""


def nudged(rng: Generator, n: int) -> Segments:
    """Return rows of all exact families with one of their thirteen numbers moved to the next float64."""
    share = -(-n // len(EXACT))
    rows = concat([make(rng, share) for make in EXACT.values()]).take(rng.permutation(share * len(EXACT))[:n])
    numbers = np.column_stack([rows.p1, rows.p2, rows.start, rows.end, rows.radius])
    i, which = np.arange(n), rng.integers(0, 13, n)
    numbers[i, which] = np.nextafter(numbers[i, which], rng.choice([-np.inf, np.inf], n))
    # The next float64 after 0 is 10⁻³²⁴: a fair question, but it makes the oracle's integers a thousand digits long.
    tiny = np.abs(numbers) < 1e-30
    numbers[tiny] = np.sign(numbers[tiny]) * 1e-30
    p1, p2, start, end = np.split(numbers[:, :12], 4, axis=1)
    return replace(rows, p1=p1, p2=p2, radius=numbers[:, 12], start=start, end=end)


FAMILIES: dict[str, Callable[[Generator, int], Segments]] = {**FLOAT, **EXACT, "nudged": nudged, "nudged again": nudged}
"""Every family by name."""


def concat(parts: list[Segments]) -> Segments:
    """Return all rows of all parts."""
    names = Segments.__dataclass_fields__
    return Segments(*(np.concatenate([getattr(p, name) for p in parts]) for name in names))


def sample(count: int, seed: int) -> Segments:
    """Return at least `count` questions, equally many of every family; the same for the same seed."""
    share = -(-count // len(FAMILIES))
    parts = []
    for number, (name, make) in enumerate(FAMILIES.items()):
        parts.append(named(name, make, np.random.default_rng([seed, number]), share))
    return concat(parts)
