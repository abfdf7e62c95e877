"""Where exactly rays enter the limbs they hit: eight hits of one shape and one face at a time.

A loop over rays has found limb and face, and left its guess where the fraction goes. What is asked here
costs as much as a limb test, so that rays that miss should not pay for it, nor a wall for a cap.
"""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Face, Float64Array, Int32Array, Int64Array, Shape
from cylcollide.kernels.curve import short_step
from cylcollide.kernels.dispatch import face_curve
from cylcollide.kernels.limb_table import ROW, Limb, LimbRows, limb_at
from cylcollide.kernels.ray import Rays, ray_at
from cylcollide.query.loops.columns import Verdicts
from cylcollide.query.loops.inputs import Query
from cylcollide.query.loops.packets import limbs_at, meant, one_limb, vectors_at
from cylcollide.query.loops.single import entry_fraction
from cylcollide.runtime.compile import compiled, merged
from cylcollide.runtime.simd import LANES, Real, Truth, bits, load_at, lowest_bit, prefetch, store

SHAPES, FACES = len(Shape), int(Face.INSIDE)
CYLINDER, SIDE = int(Shape.CYLINDER), int(Face.SIDE)


class Entering(NamedTuple):
    """Hits that wait, in a place for each shape and face. One per thread."""

    ray: Int32Array  # (SHAPES * FACES, rays + 32): rows of the query
    limb: Int32Array  # (SHAPES * FACES, rays + 32)
    waiting: Int64Array  # (SHAPES * FACES,): how many
    fraction: Float64Array  # (16,): of the hits at work


def make_entering(rays: int) -> Entering:
    """Room for so many hits; memory that nobody waits in costs nothing."""
    places = SHAPES * FACES
    ray, limb = np.zeros((2, places, rays + 4 * LANES), np.int32)
    return Entering(ray, limb, np.zeros(places, np.int64), np.empty(2 * LANES))


@merged
def enter(entering: Entering, table: LimbRows, i: int, limb: int, face: int) -> None:
    """Ray i enters a limb by this face; its fraction is written later, together with others."""
    place = table.solid[limb] * FACES + face
    k = entering.waiting[place]
    entering.ray[place, k], entering.limb[place, k] = i, limb
    entering.waiting[place] = k + 1


@compiled
def all_enter(entering: Entering, query: Query, table: LimbRows, hits: Verdicts) -> None:
    """Write the fractions of all who wait."""
    for place in range(entering.waiting.size):
        if entering.waiting[place] > 0:
            write_fractions(entering, query, table, place, hits)


@compiled
def write_fractions(entering: Entering, query: Query, table: LimbRows, place: int, hits: Verdicts) -> None:
    """Put fractions where the guesses are, for those who wait in one place."""
    shape, face = place // FACES, place % FACES
    if shape == CYLINDER and face == SIDE and query.rays.is_segment:  # constants: no branch within
        write_each(entering, known(query, True), table, place, CYLINDER, SIDE, hits)
    elif shape == CYLINDER and face == SIDE:
        write_each(entering, known(query, False), table, place, CYLINDER, SIDE, hits)
    else:
        write_each(entering, query, table, place, shape, face, hits)
    entering.waiting[place] = 0


@merged
def known(query: Query, is_segment: bool) -> Query:
    """The query, with a constant for what its rays are."""
    rays = Rays(query.rays.origin, query.rays.second, is_segment, query.rays.distance)
    return Query(rays, query.mask, query.ignored, query.policy)


@merged
def write_each(
    entering: Entering, query: Query, table: LimbRows, place: int, shape: int, face: int, hits: Verdicts
) -> None:
    """`write_fractions`, sixteen at a time."""
    number, limbs, rows = entering.ray[place], entering.limb[place], table.rows
    count = entering.waiting[place]
    number[count : count + 2 * LANES], limbs[count : count + 2 * LANES] = number[0], limbs[0]  # sixteen are read
    for first in range(0, count, 2 * LANES):
        for k in range(first + 2 * LANES, first + 4 * LANES):  # the limbs of the next sixteen
            prefetch(rows, limbs[k] * ROW)
            prefetch(rows, limbs[k] * ROW + LANES)
        limb, other = limbs_at(rows, shape, limbs, first), limbs_at(rows, shape, limbs, first + LANES)
        write_sixteen(query, table, number, first, count, limb, other, face, entering.fraction, hits)


@compiled
def write_fractions_of(
    query: Query,
    table: LimbRows,
    limb: int,
    face: int,
    number: Int32Array,
    count: int,
    answer: Float64Array,
    hits: Verdicts,
) -> None:
    """`write_fractions` for so many rays of a list, which enter the same limb by the same face."""
    shape = table.solid[limb]
    if shape == CYLINDER and face == SIDE and query.rays.is_segment:
        write_all(known(query, True), table, limb, CYLINDER, SIDE, number, count, answer, hits)
    elif shape == CYLINDER and face == SIDE:
        write_all(known(query, False), table, limb, CYLINDER, SIDE, number, count, answer, hits)
    else:
        write_all(query, table, limb, shape, face, number, count, answer, hits)


@merged
def write_all(
    query: Query,
    table: LimbRows,
    limb: int,
    shape: int,
    face: int,
    number: Int32Array,
    count: int,
    answer: Float64Array,
    hits: Verdicts,
) -> None:
    """`write_fractions_of`, sixteen at a time; what depends on the limb alone is computed once."""
    one = one_limb(table.rows, shape, limb)
    for first in range(0, count, 2 * LANES):
        write_sixteen(query, table, number, first, count, one, one, face, answer, hits)


@merged
def write_sixteen(
    query: Query,
    table: LimbRows,
    number: Int32Array,
    first: int,
    count: int,
    limb: Limb,
    other: Limb,
    face: int,
    answer: Float64Array,
    hits: Verdicts,
) -> None:
    """Fractions of the sixteen rays from `number[first]` on, as far as they count."""
    rays, times = query.rays, hits.fraction
    one, one_is_right = fractions_of(rays, number, first, limb, face, times)
    two, two_is_right = fractions_of(rays, number, first + LANES, other, face, times)
    store(answer, 0, one)
    store(answer, LANES, two)
    end = min(2 * LANES, count - first)
    grazes = ~(bits(one_is_right) | bits(two_is_right) << LANES) & ((1 << end) - 1)
    while grazes:
        k = lowest_bit(grazes)
        grazes &= grazes - 1
        i = number[first + k]
        answer[k] = graze_fraction(query, table, i, hits.limb[i], float(face), times)
    for k in range(end):
        times[number[first + k]] = answer[k]


@compiled
def graze_fraction(query: Query, table: LimbRows, i: int, limb: int, face: float, times: Float64Array) -> float:
    """`entry_fraction` of one ray."""
    ray, one = ray_at(query.rays, i), limb_at(table.rows, table.solid, limb)
    return entry_fraction(query, i, ray, one, face, times[i])


@merged
def fractions_of(
    rays: Rays, number: Int32Array, first: int, limb: Limb, face: int, times: Float64Array
) -> tuple[Real, Truth]:
    """Where eight rays cross a face of their limbs, from a guess, and whether that is right already."""
    origin, second = vectors_at(rays.origin, number, first), vectors_at(rays.second, number, first)
    displacement = meant(origin, second, rays.is_segment)
    guess = load_at(times, number, first, 1, 0)
    curve = face_curve(origin, displacement, guess, limb, float(face))
    step, right = short_step(curve, guess)
    return guess + step, right
