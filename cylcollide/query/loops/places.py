"""The loops over points and the limbs that are already known for them: where the surface is nearest."""

from math import inf, nan
from typing import NamedTuple

import numpy as np

from cylcollide._types import NO_LIMB, Column, Face, Vectors
from cylcollide.kernels.distance import distance_bounds
from cylcollide.kernels.limb_table import LimbRows, limb_at
from cylcollide.kernels.nearest_place import Place, nearest_place
from cylcollide.kernels.ray import as_vector
from cylcollide.query.loops.packets import prefetch_limb
from cylcollide.runtime import memory
from cylcollide.runtime.compile import compiled_loop, inlined


class PlaceColumns(NamedTuple):
    """The nearest place of a limb to each of n points; a miss has distance inf, face NONE, the rest nan."""

    distance: Column[np.float64]  # negative inside
    position: Vectors
    normal: Vectors
    face: Column[np.int8]


def empty_places(n: int) -> PlaceColumns:
    """Columns of n places, not initialised."""
    distance, face = memory.columns(n, np.dtype(np.float64), np.dtype(np.int8))
    return PlaceColumns(distance, memory.rows((n, 3)), memory.rows((n, 3)), face)


AHEAD = 16
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
    points: Vectors, table: LimbRows, limbs: Column[np.int32], places: PlaceColumns, uncertain: Column[np.bool_]
) -> int:
    """Write the nearest place of each point's limb; returns how many are uncertain, and not written."""
    count = 0
    for i in range(limbs.size):
        prefetch_limb(table.rows, limbs[min(i + AHEAD, limbs.size - 1)])
        place = MISSED
        if limbs[i] != NO_LIMB:
            place = nearest_place(as_vector(points, i), limb_at(table.rows, table.kernel_shape, limbs[i]))
        uncertain[i] = not place.certain
        count += not place.certain
        write_place(places, i, place)
    return count


@compiled_loop
def bound_distances(points: Vectors, table: LimbRows, lower: Column[np.float64], upper: Column[np.float64]) -> None:
    """Bounds of the signed distance of point i from limb i, or of all points from the only limb."""
    for i in range(lower.size):
        limb = i if table.kernel_shape.size > 1 else 0
        lower[i], upper[i] = distance_bounds(as_vector(points, i), limb_at(table.rows, table.kernel_shape, limb))
