"""Limbs of one shape far apart, each with a surface point whose surroundings follow from the shape's row alone.

A ball or half-space that touches the limb at this point from outside contains no other point of the limb, so a point
at height h over the surface point is at distance h from the limb.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from support.cases.frames import Array, framed
from support.cases.posed_shapes import Placed
from support.check_cylinders import IS_COMPILED
from support.oracle.any_shape import chords, classify
from support.oracle.cylinder import POINT_INSIDE, segment
from support.oracle.lines import Solid
from support.oracle.shapes.rows import Shapes
from support.oracle.shapes.table import SHAPE_ROWS

import cylcollide as cc

N, SAMPLES, CHECKED, DRAWN = (120, 400, 12, 960) if IS_COMPILED else (24, 200, 4, 96)
"""Number of limbs, of samples per limb, of limbs in slow checks, and of limbs from which N are chosen."""
SPACING = 64.0
"""Metres between limbs, each of which is smaller: a query near one limb never returns another."""
CLOSE = 1e-9
"""Metres: far above the rounding of positions, far below the error of a wrong answer."""


def dot(a: Array, b: Array) -> Array:
    """Return the scalar products of vectors."""
    return np.asarray((a * b).sum(axis=-1))


def norm(a: Array) -> Array:
    """Return the lengths of vectors."""
    return np.asarray(np.linalg.norm(a, axis=-1))


def can_grow(limbs: cc.Limbs, by: Array) -> NDArray[np.bool_]:
    """Return which limbs can be inflated by these amounts: a bore must not close."""
    found, grow = np.zeros(len(limbs), np.bool_), (1.0 + 1e-6) * by
    with suppress(ValueError):
        return np.full(len(limbs), bool(limbs.inflated(grow)))
    for i in range(len(limbs)):
        with suppress(ValueError):
            found[i] = bool(limbs[i : i + 1].inflated(grow[i]))
    return found


@dataclass(frozen=True)
class KnownPlaces:
    """N limbs, each with a known surface point and samples."""

    shapes: Shapes
    solids: list[Solid]
    samples: Array  # (N, SAMPLES, 3), on the surface
    inner: Array  # (N, SAMPLES, 3), in the limb
    place: Array  # (N, 3)
    face: Array
    normal: Array
    across: Array  # a unit vector at right angles to the normal
    size: Array
    flat: NDArray[np.bool_]  # whether the whole limb lies behind the tangent plane at the place
    gap: Array  # the distance of `outer` from the limb

    @cached_property
    def limbs(self) -> cc.Limbs:
        """Return the library's limbs."""
        return self.shapes.limbs()

    @cached_property
    def world(self) -> cc.HitWorld:
        """Return the world of all limbs."""
        return cc.HitWorld(self.limbs)

    @property
    def outer(self) -> Array:
        """Return points whose nearest point on the limb is `place`."""
        return self.place + self.gap[:, None] * self.normal

    def tiny(self) -> "KnownPlaces":
        """Return the first 12 limbs, scaled down until float64 cannot resolve them and exact arithmetic is used."""
        unit, few = 2.0**-80, self.shapes.take(np.arange(12))
        return replace(
            self, shapes=few.scaled(unit), place=unit * self.place[:12], normal=self.normal[:12],
            across=self.across[:12], flat=self.flat[:12], gap=unit * self.gap[:12], face=self.face[:12],
        )  # fmt: skip

    def flight(self, radius: Array, share: float = 1.0) -> tuple[Array, Array]:
        """Return start and end of a ball that first touches the limb midway: oblique if `flat`, else along the normal.

        Of the second half of this path, only the part `share` is kept.
        """
        contact = self.place + radius[:, None] * self.normal
        step = (np.where(self.flat, 0.7, 0.0)[:, None] * self.across - self.normal) * (self.gap - radius)[:, None]
        return contact - step, contact + share * step

    def beside(self, height: Array) -> tuple[Array, Array]:
        """Return a segment parallel to the tangent plane at the place, at a height over it."""
        middle, step = self.place + height[:, None] * self.normal, self.size[:, None] * self.across
        return middle - step, middle + 0.5 * step


def is_thick(solid: Solid, place: Array, normal: Array, across: Array) -> bool:
    """Return whether a limb is some millimetres thick and wide behind a place, unlike at a needle's tip or a rim."""
    ways = (across, -across, np.cross(normal, across), np.cross(across, normal))
    return all(classify(solid, place + 0.002 * (way - normal)) == POINT_INSIDE for way in ways)


@cache
def known_places(kind: int) -> KnownPlaces:
    """Return limbs of a shape: 20 cm to a few metres long, one in three along a world axis."""
    row, rng, m = SHAPE_ROWS[kind], np.random.default_rng([8, kind]), DRAWN
    radius, axis = rng.uniform(0.2, 1.0, m), rng.normal(size=(m, 3))
    axis[::3] = np.eye(3)[rng.integers(0, 3, len(axis[::3]))]
    axis *= (rng.uniform(0.3, 3.0, m) / norm(axis))[:, None]
    corner = SPACING * np.stack(np.unravel_index(np.arange(m), (10, 10, 10)), axis=1)
    p = row.placed(rng, framed(corner, corner + axis, radius))
    local, normal = row.surface(p, rng)
    place, normal, solids = p.world(local), p.turned(normal), p.limbs.solids()
    across = np.cross(normal, rng.normal(size=(m, 3)))
    across /= norm(across)[:, None]
    sound = (i for i in np.flatnonzero(p.size < 0.1 * SPACING) if is_thick(solids[i], place[i], normal[i], across[i]))
    kept = np.array(list(islice(sound, N)))
    place, normal, across, solids = place[kept], normal[kept], across[kept], [solids[i] for i in kept]
    many = np.repeat(kept, SAMPLES)
    repeated = Placed(p.limbs.take(many), p.frame[many], p.height[many])
    samples = repeated.world(row.surface(repeated, rng)[0]).reshape(N, SAMPLES, 3)
    inner = repeated.world(row.interior(row.surface, repeated, rng)).reshape(N, SAMPLES, 3)
    size = norm(np.ptp(samples, axis=1))
    flat = (dot(samples - place[:, None], normal[:, None]) < CLOSE).all(axis=1)
    gap = size * rng.choice([0.02, 0.1, 0.5], N)
    for _ in range(12):  # unless flat, shrink until a ball twice as large holds no sample
        ball = norm(samples - (place + 2.0 * gap[:, None] * normal)[:, None]).min(axis=1)
        gap = np.where(flat | (ball > 2.0 * gap - CLOSE), gap, 0.5 * gap)
    assert flat.mean() > 0.3
    ways = np.stack([place + gap[:, None] * normal, place - 1e-3 * normal], axis=1)
    face = np.array([chords(one, segment(*way))[0].entry_face for one, way in zip(solids, ways, strict=True)])
    return KnownPlaces(p.limbs.take(kept), solids, samples, inner, place, face, normal, across, size, flat, gap)
