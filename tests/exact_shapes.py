"""Limbs of every shape in integers (see `exact_segments.Frame`), with exact tangents and exactly singular places.

In the local frame the axis is z and p1 the origin (a sphere's or box's centre). All points and steps are whole, so that
in the world's float64 numbers a tangent is a tangent and an apex the apex. `_finer` halves the unit of a frame as often
as needed to keep limbs within 100 m where a shape needs long integers.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from exact_segments import Frame, frames
from numpy.random import Generator
from scenes import QUADRUPLES
from segments import TRIPLES, Whole
from shape_oracle import BOX, CAPSULE, ELLIPSOID, SPHERE, TAPERED, TUBE
from shape_rows import UNTURNED, Shapes, shapes


@dataclass(frozen=True)
class Exact:
    """n local limbs of one shape and places on them, all integers, rows parallel."""

    frame: Frame
    limbs: Shapes  # in the world
    touch: Whole  # (n, 3) a point whose tangent (or a line that touches an edge) is `tangent`
    tangent: Whole
    special: Whole  # an apex, pole, rim, seam, corner, ...
    along: Whole  # a direction that is singular there: generator, axis, edge, ...
    inside: Whole  # mostly strictly inside
    reach: Whole  # (n,) about the size of the limb


def _finer(f: Frame, times: Whole) -> Frame:
    """Return the frame with a unit `times` shorter, rounded up to a power of two, its place in the world kept."""
    bits = np.ceil(np.log2(times)).astype(np.int64)
    return replace(f, unit=f.unit / 2.0**bits, shift=f.shift << bits[:, None])


def _xyz(xy: Whole, z: Whole) -> Whole:
    return np.column_stack([xy, z])


def _level(xy: Whole) -> Whole:
    """Return the horizontal step at right angles to (x, y)."""
    return _xyz(np.column_stack([-xy[:, 1], xy[:, 0]]), 0 * xy[:, 0])


def _up(f: Frame) -> Whole:
    return _xyz(0 * f.rim, 1 + 0 * f.radius)


def _one(rng: Generator, *choices: Whole) -> Whole:
    """Return one of the choices, row by row."""
    n = len(choices[0])
    return np.array(choices)[rng.integers(0, len(choices), n), np.arange(n)]


def _times(count: Whole, vector: Whole) -> Whole:
    return np.asarray(count)[:, None] * vector


def _whole(rng: Generator, n: int, low: int, high: int) -> Whole:
    return rng.integers(low, high + 1, n)


def _limbs(kind: int, f: Frame, height: Whole, **lengths: Whole) -> Shapes:
    """Return the limbs in the world; lengths and height are local."""
    top = _xyz(0 * f.rim, height)
    return shapes(kind, f.world(0 * top), f.world(top), **{name: f.length(x) for name, x in lengths.items()})


def tube(rng: Generator, n: int) -> Exact:
    """The bore has the frame's radius, the wall two or three times it, or any larger one."""
    f = frames(rng, n)
    times, odd = _whole(rng, n, 2, 3), rng.random(n) < 0.3
    outer = np.where(odd, f.radius + rng.integers(1, f.radius + 1), times * f.radius)
    wall = _times(np.where(odd | (rng.random(n) < 0.6), 1, times), f.rim)
    z, rim = rng.integers(0, f.height + 1), rng.integers(0, 2, n) * f.height
    level = _level(wall)
    slanted = level + _times(_whole(rng, n, -9, 9), _up(f))
    along = _one(rng, _up(f), level, _xyz(wall, 0 * z), slanted)
    special = _xyz(wall, np.where(rng.random(n) < 0.7, rim, z))
    inside = _xyz(f.rim + np.sign(f.rim), z)
    limbs = _limbs(TUBE, f, f.height, radius=outer, radius2=f.radius)
    return Exact(f, limbs, _xyz(wall, z), slanted, special, along, inside, outer + f.height)


def tapered(rng: Generator, n: int) -> Exact:
    """Radii j1 and j2 times the frame's: the side has a whole point every `h` of height, on both nappes."""
    f = frames(rng, n)
    j1, j2 = _whole(rng, n, 0, 4), _whole(rng, n, 0, 4)
    j2 = np.where(rng.random(n) < 0.4, 0, j2)
    j1[j1 + j2 == 0] = 1
    f = _finer(f, np.maximum(j1, j2))
    by, steps, h = np.sign(j2 - j1), np.maximum(1, np.abs(j2 - j1)), f.height
    generator, level = _xyz(_times(by, f.rim), h), _level(f.rim)
    i = np.where(rng.random(n) < 0.8, rng.integers(0, steps + 1), _whole(rng, n, -3, 6))
    on_side = _xyz(_times(j1 + by * i, f.rim), i * h)
    tangent = _times(_whole(rng, n, -3, 3), generator) + _times(_whole(rng, n, -3, 3), level)
    tangent[(tangent == 0).all(axis=1)] = (0, 0, 1)
    apex = _xyz(0 * f.rim, -by * j1 * h)
    rim = np.where((rng.random(n) < 0.5)[:, None], _xyz(_times(j1, f.rim), 0 * h), _xyz(_times(j2, f.rim), steps * h))
    along = _one(rng, generator, generator, _up(f), level, _xyz(f.rim, 0 * h))
    inside = _xyz(0 * f.rim, rng.integers(0, steps * h + 1)) + _xyz(f.rim // 3 * np.minimum(j1, j2)[:, None], 0 * h)
    limbs = _limbs(TAPERED, f, steps * h, radius=j1 * f.radius, radius2=j2 * f.radius)
    special = _one(rng, apex, apex, rim, on_side)
    return Exact(f, limbs, on_side, tangent, special, along, inside, steps * (f.radius + h))


def ellipsoid(rng: Generator, n: int) -> Exact:
    """Whole points (a·circle, c s + b s) for a triple a² + b² = c²: equatorial radius c radii, polar semi-axis c s."""
    f = frames(rng, n)
    a, b, c = TRIPLES[rng.integers(0, len(TRIPLES), n)].T
    a, b = np.where(rng.random(n) < 0.5, (a, b), (b, a))
    b = b * rng.choice([-1, 1], n)
    s = np.where(rng.random(n) < 0.3, 1, rng.integers(1, 4 * f.radius + 2))
    f = _finer(f, c)
    point = _xyz(_times(a, f.rim), (b + c) * s)
    meridian, level = _xyz(_times(-b, f.rim), a * s), _level(f.rim)
    tangent = _times(_whole(rng, n, -3, 3), meridian) + _times(_whole(rng, n, -3, 3), level)
    tangent[(tangent == 0).all(axis=1)] = (1, 0, 0)
    tangent = np.where((a == 0)[:, None] & (tangent[:, :1] == 0), level, tangent)
    pole, equator = _xyz(0 * f.rim, rng.integers(0, 2, n) * 2 * c * s), _xyz(_times(c, f.rim), c * s)
    special, along = _one(rng, pole, pole, equator), _one(rng, _up(f), level, _xyz(f.rim, 0 * s))
    inside = _xyz(f.rim * rng.integers(0, 2, (n, 1)), c * s)
    limbs = _limbs(ELLIPSOID, f, 2 * c * s, radius=c * f.radius)
    return Exact(f, limbs, point, tangent, special, along, inside, c * (f.radius + s))


def capsule(rng: Generator, n: int) -> Exact:
    """Both its circle and its balls have whole points; one in eight has no length."""
    f, ball, length = _ball(rng, n)
    h = np.where(rng.random(n) < 1 / 8, 0, length * rng.integers(0, f.height + 1))
    circle, on_ball = _times(length, f.rim), rng.random(n) < 0.5
    z = np.where(rng.random(n) < 0.5, rng.integers(0, 2, n) * h, rng.integers(0, h + 1))
    above = _xyz(0 * f.rim, np.where(ball[:, 2] > 0, h, np.where(ball[:, 2] < 0, 0, rng.integers(0, 2, n) * h)))
    touch = np.where(on_ball[:, None], ball + above, _xyz(circle, z))
    level = _level(f.rim)
    tangent = np.where(on_ball[:, None], _across(rng, ball), level + _times(_whole(rng, n, -9, 9), _up(f)))
    seam = rng.integers(0, 2, n) * h
    tip = _xyz(0 * f.rim, np.where(seam > 0, h + length * f.radius, -length * f.radius))
    special = _one(rng, _xyz(circle, seam), _xyz(circle, seam), _xyz(0 * f.rim, seam), tip)
    along = _one(rng, _up(f), level, _xyz(f.rim, 0 * h))
    inside = _xyz(_times(length // 2, f.rim), rng.integers(0, h + 1))
    limbs = _limbs(CAPSULE, f, h, radius=length * f.radius)
    return Exact(f, limbs, touch, tangent, special, along, inside, h + length * f.radius)


def sphere(rng: Generator, n: int) -> Exact:
    """Whole points from x² + y² + z² = length²."""
    f, ball, length = _ball(rng, n)
    extreme = _one(rng, *(_times(length * f.radius, np.tile(row, (n, 1))) for row in np.eye(3, dtype=np.int64)))
    tangent = _across(rng, ball)
    limbs = _limbs(SPHERE, f, 0 * length, radius=length * f.radius)
    along = _one(rng, np.roll(extreme, 1, axis=1), extreme) // (length * f.radius)[:, None]
    return Exact(f, limbs, ball, tangent, extreme, along, ball // 2, length * f.radius)


def _ball(rng: Generator, n: int) -> tuple[Frame, Whole, Whole]:
    """Return frames, whole points of a ball about the origin, and its radius in radii of the frame."""
    rows = QUADRUPLES[rng.integers(0, len(QUADRUPLES), n)]
    f = _finer(frames(rng, n), rows[:, 3])
    signed = rng.permuted(rows[:, :3], axis=1) * rng.choice([-1, 1], (n, 3))
    return f, _times(f.radius, signed), rows[:, 3]


def _across(rng: Generator, v: Whole) -> Whole:
    """Return whole vectors at right angles to v, never zero."""
    plain = v // np.gcd.reduce(v, axis=1)[:, None]
    found = np.cross(plain, rng.integers(-3, 4, v.shape))
    flat = (found == 0).all(axis=1)
    found[flat] = _level(plain[:, :2])[flat]
    found[(found == 0).all(axis=1)] = (1, 0, 0)
    return found


DIAGONALS = [(1, 1, 1, 1), (-1, 1, 1, 1), (1, -1, 1, 1), (1, 1, -1, 1)]
TURNS = np.array([UNTURNED, (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), *DIAGONALS])
"""Rotations whose float64 matrix has no rounding: half turns about an axis, third turns about a diagonal."""


def box(rng: Generator, n: int) -> Exact:
    """A face, an edge or a corner is touched; the box is turned by a rotation without rounding."""
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
    # A line touches the edge if it comes out of one face's slab where it goes into the other's.
    tangent = rng.integers(-5, 6, (n, 3))
    tangent[rows, first] = sign[rows, first] * rng.integers(1, 6, n)
    tangent[rows, second] = -sign[rows, second] * rng.integers(0, 6, n)
    corner = np.where(rng.random((n, 1)) < 0.5, sign * half, edge)
    along = np.eye(3, dtype=np.int64)[first]
    along = np.where(rng.random((n, 1)) < 0.5, along, rng.integers(1, 6, (n, 3)) * (1 - along))
    limbs = shapes(BOX, f.world(0 * edge), orientation=orientation.astype(float), half=half * f.unit[:, None])
    return Exact(f, limbs, edge, tangent, corner, along, (free / 2).astype(np.int64), half.sum(axis=1))


def turned_rows(orientation: Whole) -> Whole:
    """Return the axes of `TURNS`, (n, 3, 3), whole."""
    x, y, z, w = orientation.astype(np.int64).T
    columns = [
        [w * w + x * x - y * y - z * z, 2 * (x * y + w * z), 2 * (x * z - w * y)],
        [2 * (x * y - w * z), w * w - x * x + y * y - z * z, 2 * (y * z + w * x)],
        [2 * (x * z + w * y), 2 * (y * z - w * x), w * w - x * x - y * y + z * z],
    ]
    rows = np.moveaxis(np.array(columns), 2, 0)
    return rows // (x * x + y * y + z * z + w * w)[:, None, None]


EXACT_SHAPES: dict[int, Callable[[Generator, int], Exact]] = {
    TUBE: tube,
    TAPERED: tapered,
    ELLIPSOID: ellipsoid,
    CAPSULE: capsule,
    SPHERE: sphere,
    BOX: box,
}
"""Shape to its integer limbs."""
