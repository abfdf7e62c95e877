"""Where exactly rays enter the limbs they hit: eight hits of one shape and one face at a time.

A loop over rays has found limb and face, and left its guess, in metres, where the fraction goes. What is asked here
costs as much as a limb test, so that rays that miss should not pay for it, nor a wall for a cap.
"""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Face, Float64Array, Int32Array, Int64Array, Shape
from cylcollide.casting import Query, entry_fraction
from cylcollide.compiling import compiled, merged
from cylcollide.gathering import displacement_of, limbs_at, meant, vectors_at
from cylcollide.hits import Verdicts
from cylcollide.kernels.curve import short_step
from cylcollide.kernels.ray import dot, ray_at
from cylcollide.kernels.solid import face_curve
from cylcollide.kernels.table import LimbTable, limb_at
from cylcollide.simd import LANES, bits, load_at, square_root, store

SHAPES, FACES = len(Shape), int(Face.INSIDE)
CROWD = 64
"""How many wait in one place before they are dealt with: a call costs as much as several of them."""


class Entering(NamedTuple):
    """Hits that wait, in a place for each shape and face. One per thread."""

    ray: Int32Array  # (SHAPES * FACES, CROWD): rows of the query
    limb: Int32Array  # (SHAPES * FACES, CROWD)
    waiting: Int64Array  # (SHAPES * FACES,): how many
    fraction: Float64Array  # (8,): of the eight hits at work


def make_entering() -> Entering:
    """Room for all hits that may wait."""
    places = SHAPES * FACES
    ray, limb = np.zeros((2, places, CROWD), np.int32)
    return Entering(ray, limb, np.zeros(places, np.int64), np.empty(LANES))


@merged
def nobody_enters(entering: Entering, ray: int) -> None:
    """Start anew; places that nobody waits in name a ray and a limb that there are."""
    entering.waiting[:] = 0
    entering.ray[:] = ray
    entering.limb[:] = 0


@merged
def enter(entering: Entering, query: Query, table: LimbTable, i: int, limb: int, face: int, hits: Verdicts) -> None:
    """Ray i enters a limb by a face: its fraction is written now or later, together with others."""
    place = table.solid[limb] * FACES + face
    k = entering.waiting[place]
    entering.ray[place, k], entering.limb[place, k] = i, limb
    entering.waiting[place] = k + 1
    if k + 1 == CROWD:
        write_fractions(entering, query, table, place, hits)


@compiled
def all_enter(entering: Entering, query: Query, table: LimbTable, hits: Verdicts) -> None:
    """Write the fractions of all who still wait."""
    for place in range(entering.waiting.size):
        if entering.waiting[place] > 0:
            write_fractions(entering, query, table, place, hits)


@compiled
def write_fractions(entering: Entering, query: Query, table: LimbTable, place: int, hits: Verdicts) -> None:
    """Put fractions where the guesses are, for those who wait in one place."""
    rays, limbs, shape, face = entering.ray[place], entering.limb[place], place // FACES, place % FACES
    count, is_segment = entering.waiting[place], query.rays.is_segment
    for first in range(0, count, LANES):
        origin, second = vectors_at(query.rays.origin, rays, first), vectors_at(query.rays.second, rays, first)
        displacement = displacement_of(origin, second, is_segment)
        time = load_at(hits.fraction, rays, first, 1, 0)
        guess = time * (1.0 / square_root(dot(displacement, displacement)))
        eight = limbs_at(table.rows, shape, limbs, first)
        curve = face_curve(origin, meant(origin, second, is_segment), guess, eight, float(face))
        step, short = short_step(curve, guess)
        store(entering.fraction, 0, guess + step)
        grazes = ~bits(short)
        for k in range(min(LANES, count - first)):
            i = rays[first + k]
            if (grazes >> k) & 1:
                limb = limb_at(table.rows, table.solid, limbs[first + k])
                ray = ray_at(query.rays, i)
                entering.fraction[k] = entry_fraction(query, i, ray, limb, float(face), hits.fraction[i])
            hits.fraction[i] = entering.fraction[k]
    entering.waiting[place] = 0
