"""Capsules that overlap limbs: from arguments to results. A capsule is a thick segment."""

from __future__ import annotations

from functools import partial
from typing import ClassVar, Unpack

import numpy as np
from numpy.typing import ArrayLike

from cylcollide._types import BoolArray, Int32Array, Int64Array
from cylcollide.kernels.limb_table import make_table
from cylcollide.kernels.ray import Rays
from cylcollide.query.chords import Chords
from cylcollide.query.exact_fallback import exact_limb
from cylcollide.query.farthest import dot, farthest, rows_of
from cylcollide.query.loops.approach import PAD
from cylcollide.query.loops.columns import offsets_of
from cylcollide.query.near_requests import as_radii
from cylcollide.query.nearest import LimbLists, places_on
from cylcollide.query.request import Filters, LabelledLimbs, RayRequest, as_pairs, segment_request
from cylcollide.runtime.memory import frozen


class Overlaps(LimbLists):
    """The limbs that capsules or boxes touch, in compressed rows; arrays that cannot be written.

    As `NearLimbs`, without places. `undecided` marks limbs that the bounds leave open.
    """

    fields: ClassVar[tuple[str, ...]] = (*LimbLists.fields, "undecided")

    @property
    def undecided(self) -> BoolArray:
        """Whether both are within 2**-40 of their size from touching, and may be apart; one per limb."""
        return frozen(self._per_limb[0])


def capsule_request(p1: ArrayLike, p2: ArrayLike, radii: ArrayLike, **options: Unpack[Filters]) -> RayRequest:
    """A request about capsules from p1 to p2, (n, 3) each, or one for all; radii 0 or more, (n,) or one for all."""
    first, second = as_pairs(p1, p2, ("p1", "p2"))
    request = segment_request(first, second, radius=as_radii(radii, "radii", len(first)), **options)
    request.names = "p1", "p2"
    return request


def overlaps_of(thick: Chords) -> Overlaps:
    """The limbs that thick segments touch, from their chords."""
    (query, row, undecided), rays, limbs = limbs_of_chords(thick), thick._batch.rays, thick._limbs
    if (rows := np.flatnonzero(undecided)).size:
        apart, undecided[rows] = find_apart(rays, query[rows], limbs, row[rows])
        kept = np.ones(len(row), np.bool_)
        kept[rows] = ~apart
        query, row, undecided = query[kept], row[kept], undecided[kept]
    return Overlaps(limbs, offsets_of(query, len(rays.origin)), row, (undecided,))


MOST_POINTS = 60
"""Most points of a segment whose distance from a limb is computed: both ends, then middles."""


def find_apart(rays: Rays, query: Int64Array, limbs: LabelledLimbs, row: Int32Array) -> tuple[BoolArray, BoolArray]:
    """Which of k thick segments are apart from their convex limbs, and which are too close to touching to decide.

    The distance from a limb is convex along the segment; its slope is the component of the normal along the segment.
    Where the slope is zero, the distance shows that both touch, or a plane perpendicular to the normal separates them.
    """
    first, last, radius = rays.origin[query], rays.second[query], np.broadcast_to(rays.radius, len(rays.origin))[query]
    table, count = rows_of(limbs._table, row), len(row)
    lengths = np.column_stack([first, last, table.p1, table.p2, radius, table.radius, table.radius2])
    lengths *= np.ldexp(1.0, -np.frexp(np.abs(lengths).max(axis=1))[1])[:, None]  # in the range that kernels trust
    (first, last, p1, p2), (radius, *radii) = np.hsplit(lengths[:, :12], 4), lengths[:, 12:].T
    p1, p2, radius1, radius2 = (np.ascontiguousarray(x) for x in (p1, p2, *radii))
    boxes = np.full(count, -1, np.int32), np.zeros((count, 12))
    table = make_table(table.kind, p1, p2, radius1, radius2, *boxes, table.character, table.mask)
    rows, along, pad = table.kernel_rows, last - first, PAD * (1.0 + radius1 + radius2 + radius)
    normal, distance, going = np.empty_like(first), np.empty(count), np.arange(count, dtype=np.int32)
    low, high = np.zeros(count), np.ones(count)
    for k in range(MOST_POINTS):
        share = low[going] if k == 0 else high[going] if k == 1 else 0.5 * (low[going] + high[going])
        points = first[going] + share[:, None] * along[going]
        places = places_on(points, rows, going, partial(exact_limb, table))
        normal[going], distance[going] = places.normal, places.distance
        slope = dot(places.normal, along[going])[:, 0]
        if k > 1:
            low[going] = np.where(slope > 0.0, low[going], share)
            high[going] = np.where(slope > 0.0, share, high[going])
        is_least = (slope == 0.0) | ((slope > 0.0) & (k == 0)) | ((slope < 0.0) & (k == 1))
        going = going[~is_least & (distance[going] > (radius - pad)[going])]
        if not going.size:
            break
    behind = farthest(normal, table)
    height = np.minimum(dot(first - behind, normal), dot(last - behind, normal))[:, 0]
    apart: BoolArray = height > radius + pad
    return apart, ~apart & (distance > radius - pad)


def limbs_of_chords(found: Chords) -> tuple[Int64Array, Int32Array, BoolArray]:
    """The ray and the limb of each pair that has a chord, in order, and whether all its chords are undecided."""
    rays, limb, is_open = found.ray, found._row, found._rows.chords.is_open
    order = np.lexsort((is_open, limb, rays))
    rays, limb, is_open = rays[order], limb[order], is_open[order]
    first = np.ones(len(rays), np.bool_)
    first[1:] = (rays[1:] != rays[:-1]) | (limb[1:] != limb[:-1])
    return rays[first], limb[first], is_open[first]
