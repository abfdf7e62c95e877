"""The loops over points with one given limb each: the nearest place on the limb's surface."""

from math import inf, nan
from typing import NamedTuple

import numpy as np

from cylcollide._types import NO_LIMB, BoolArray, Column, Face, Float64Array, Shape, Vectors
from cylcollide.kernels.at_surface import side_of_ball
from cylcollide.kernels.distance import distance_bounds
from cylcollide.kernels.limb_table import LimbRows, limb_at
from cylcollide.kernels.nearest_place import Place, nearest_place
from cylcollide.kernels.places_of_eight import places_on_cylinders
from cylcollide.kernels.ray import as_vector
from cylcollide.query.loops.columns import columns_of
from cylcollide.query.loops.packets import PairQueue, enqueue_pair, limbs_at, prefetch_limb, vectors_at
from cylcollide.runtime import memory
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.simd import LANES, movemask, store

CYLINDER = int(Shape.CYLINDER)


class PlaceColumns(NamedTuple):
    """The nearest place of a limb to each of n points; a miss has distance inf, face NONE, the rest nan."""

    position: Vectors
    normal: Vectors
    distance: Column[np.float64]  # negative inside
    face: Column[np.int8]


def empty_places(n: int) -> PlaceColumns:
    """Columns of n places, not initialised."""
    return columns_of(PlaceColumns, n, memory.rows((n, 3)), memory.rows((n, 3)))


PREFETCH_DISTANCE = 16
"""How many places in advance a limb is prefetched into the cache."""

MISSED = Place(True, inf, (nan, nan, nan), (nan, nan, nan), float(Face.NONE))


@inlined
def write_place(places: PlaceColumns, i: int, place: Place) -> None:
    """Write a place into a row."""
    places.distance[i], places.face[i] = place.distance, int(place.face)
    for k in range(3):
        places.position[i, k], places.normal[i, k] = place.position[k], place.normal[k]


@compiled_loop
def write_places(
    points: Vectors,
    table: LimbRows,
    limbs: Column[np.int32],
    queue: PairQueue,
    places: PlaceColumns,
    uncertain: Column[np.bool_],
) -> int:
    """Write the nearest place of each point's limb; returns how many are uncertain, and not written.

    Cylinders are queued, and computed eight at a time.
    """
    rows, cylinders, count = queue.row[0], queue.limb[0], 0
    queue.queued[0] = 0
    for i in range(limbs.size):
        prefetch_limb(table.rows, limbs[min(i + PREFETCH_DISTANCE, limbs.size - 1)])
        uncertain[i] = False
        if limbs[i] == NO_LIMB:
            write_place(places, i, MISSED)
        elif table.kernel_shape[limbs[i]] != CYLINDER:
            count += write_one(points, table, limbs[i], i, places, uncertain)
        elif enqueue_pair(queue, 0, i, limbs[i]) == rows.size:
            count += write_queued(points, table, queue, places, uncertain)
    for k in range(queue.queued[0], rows.size):  # eight are read at a time
        rows[k], cylinders[k] = rows[0], cylinders[0]
    return count + write_queued(points, table, queue, places, uncertain)


@compiled
def write_one(
    points: Float64Array, table: LimbRows, limb: int, i: int, places: PlaceColumns, uncertain: BoolArray
) -> int:
    """Write the nearest place of one limb; returns 1 if it is uncertain, else 0."""
    place = nearest_place(as_vector(points, i), limb_at(table.rows, table.kernel_shape, limb))
    uncertain[i] = not place.certain
    write_place(places, i, place)
    return int(uncertain[i])


@compiled
def write_queued(
    points: Float64Array, table: LimbRows, queue: PairQueue, places: PlaceColumns, uncertain: BoolArray
) -> int:
    """Write the places of the queued cylinders, and empty the queue; returns how many are uncertain."""
    rows, cylinders, found, count = queue.row[0], queue.limb[0], queue.found, 0
    for first in range(0, queue.queued[0], LANES):
        limb = limbs_at(table.rows, CYLINDER, cylinders, first)
        certain, distance, position, normal, face = places_on_cylinders(vectors_at(points, rows, first), limb)
        for axis in range(3):
            store(found, axis * LANES, position[axis])
            store(found, (3 + axis) * LANES, normal[axis])
        store(found, 6 * LANES, distance)
        store(found, 7 * LANES, face)
        solved = movemask(certain)
        for k in range(min(queue.queued[0] - first, LANES)):
            i = rows[first + k]
            if solved >> k & 1 == 0:
                count += write_one(points, table, cylinders[first + k], i, places, uncertain)
                continue
            places.distance[i], places.face[i] = found[6 * LANES + k], int(found[7 * LANES + k])
            for axis in range(3):
                places.position[i, axis] = found[axis * LANES + k]
                places.normal[i, axis] = found[(3 + axis) * LANES + k]
    queue.queued[0] = 0
    return count


@compiled_loop
def write_sides(
    points: Vectors, table: LimbRows, limbs: Column[np.int32], radius: Column[np.float64], sides: Column[np.int8]
) -> None:
    """Write on which side of limb `limbs[i]` ball i lies, without directions: codes of `kernels.at_surface`.

    The axes of boxes are as given.
    """
    for i in range(limbs.size):
        limb = limb_at(table.rows, table.kernel_shape, limbs[i])
        sides[i] = side_of_ball(as_vector(points, i), (0.0, 0.0, 0.0), radius[i], limb, False)


@compiled_loop
def bound_distances(points: Vectors, table: LimbRows, lower: Column[np.float64], upper: Column[np.float64]) -> None:
    """Bounds of the signed distance of point i from limb i, or of all points from the only limb."""
    for i in range(lower.size):
        limb = i if table.kernel_shape.size > 1 else 0
        lower[i], upper[i] = distance_bounds(as_vector(points, i), limb_at(table.rows, table.kernel_shape, limb))
