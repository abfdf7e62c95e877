"""Limbs with integer coordinates (`frames.Frame`), exact tangents and exact singular points (`oracle/shapes`).

In the local frame the axis is z and p1 the origin (a sphere's or box's centre). All points and steps are integers, so
tangents and apexes stay exact in the world's float64 numbers. Where a shape needs long integers, `finer` divides the
unit of a frame by a power of two to keep limbs within 100 m.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from support.cases.frames import QUADRUPLES, Frame, Whole, frames, rotations
from support.oracle.shapes.rows import UNTURNED, Shapes, shapes


@dataclass(frozen=True)
class Exact:
    """n limbs of one shape, and local integer points and directions, one row per limb."""

    frame: Frame
    limbs: Shapes  # in the world
    touch: Whole  # (n, 3) a surface point with tangent `tangent` (at an edge, a line that touches it)
    tangent: Whole
    special: Whole  # an apex, pole, rim, seam, corner, ...
    along: Whole  # a direction that is singular there: generator, axis, edge, ...
    inside: Whole  # mostly strictly inside
    reach: Whole  # (n,) approximate size of the limb


def finer(f: Frame, times: Whole) -> Frame:
    """Return the frame with its unit divided by `times`, rounded up to a power of two; its origin stays in place."""
    bits = np.ceil(np.log2(times)).astype(np.int64)
    return replace(f, unit=f.unit / 2.0**bits, shift=f.shift << bits[:, None])


def xyz(xy: Whole, z: Whole) -> Whole:
    return np.column_stack([xy, z])


def sideways(xy: Whole) -> Whole:
    """Return the horizontal step at right angles to (x, y)."""
    return xyz(np.column_stack([-xy[:, 1], xy[:, 0]]), 0 * xy[:, 0])


def up(f: Frame) -> Whole:
    return xyz(0 * f.rim, 1 + 0 * f.radius)


def multiple(count: Whole, vector: Whole) -> Whole:
    return np.asarray(count)[:, None] * vector


def whole(rng: Generator, n: int, low: int, high: int) -> Whole:
    return rng.integers(low, high + 1, n)


def standing(kind: int, f: Frame, height: Whole, **lengths: Whole) -> Shapes:
    """Return the limbs in the world; lengths and height are local."""
    top = xyz(0 * f.rim, height)
    return shapes(kind, f.world(0 * top), f.world(top), **{name: f.length(x) for name, x in lengths.items()})


def whole_ball(rng: Generator, n: int) -> tuple[Frame, Whole, Whole]:
    """Return frames, integer points on a sphere about the origin, and its radius in units of the frame's radius."""
    rows = QUADRUPLES[rng.integers(0, len(QUADRUPLES), n)]
    f = finer(frames(rng, n), rows[:, 3])
    signed = rng.permuted(rows[:, :3], axis=1) * rng.choice([-1, 1], (n, 3))
    return f, multiple(f.radius, signed), rows[:, 3]


def whole_across(rng: Generator, v: Whole) -> Whole:
    """Return nonzero integer vectors at right angles to v."""
    plain = v // np.gcd.reduce(v, axis=1)[:, None]
    found = np.cross(plain, rng.integers(-3, 4, v.shape))
    flat = (found == 0).all(axis=1)
    found[flat] = sideways(plain[:, :2])[flat]
    found[(found == 0).all(axis=1)] = (1, 0, 0)
    return found


DIAGONALS = [(1, 1, 1, 1), (-1, 1, 1, 1), (1, -1, 1, 1), (1, 1, -1, 1)]
TURNS = np.array([UNTURNED, (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), *DIAGONALS])
"""Rotations with an exact float64 matrix: identity, half turns about an axis, third turns about a diagonal."""


def turned_rows(orientation: Whole) -> Whole:
    """Return the integer axes of rotations from `TURNS`, (n, 3, 3)."""
    q = orientation.astype(np.int64).T
    return np.swapaxes(rotations(*q), 1, 2) // (q * q).sum(axis=0)[:, None, None]
