"""Boxes that overlap limbs, from arguments to results: pairs that `touch_boxes` leaves open are decided here.

Balls and capsules are tested as thick segments against the box, which is exact. A box and another limb overlap if an
edge of the box crosses the limb. They also overlap if a segment between the limb's farthest points along an axis of the
box crosses the box: the limb then lies within the box, or passes through the interior of a face. Both tests run with a
slightly larger box and with a slightly smaller one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TypeAlias, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cylcollide import shapes, validate
from cylcollide._types import BoolArray, Float64Array, Shape
from cylcollide.constants import LARGEST_NUMBER
from cylcollide.exact.ball_and_box import boxes_touch
from cylcollide.kernels.limb_table import LimbTable, make_table
from cylcollide.kernels.traits import ROUND
from cylcollide.query import exact_fallback
from cylcollide.query.farthest import any_across, cross, direction, dot, farthest, parts, rows_of
from cylcollide.query.hits import named_columns
from cylcollide.query.loops.approach import NEAR, OPEN
from cylcollide.query.loops.box_touch import touch_boxes
from cylcollide.query.loops.columns import CompressedRows, empty_hits, offsets_of, ray_of_each
from cylcollide.query.loops.single import cast_rows
from cylcollide.query.near_requests import NearRequest, near_request, rows_together
from cylcollide.query.nearest import candidates
from cylcollide.query.overlaps import Overlaps
from cylcollide.query.request import Filters, LabelledLimbs, RayRequest, State, segment_request
from cylcollide.runtime import memory

BOX, TUBE = int(Shape.BOX), int(Shape.TUBE)

WIDTH = 2.0**-43
"""How much larger and smaller the test boxes are, relative to the size of box and limb; their verdicts must agree."""

BOX_CORNERS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
BOX_EDGES = np.array([(i, j) for i, j in combinations(range(8), 2) if (BOX_CORNERS[i] != BOX_CORNERS[j]).sum() == 1])


BoxRequest: TypeAlias = tuple[NearRequest, Float64Array]
"""Bounding spheres of boxes, and the boxes: three axes, three half extents, (n, 12)."""


def box_request(
    center: ArrayLike, orientation: ArrayLike, half_extents: ArrayLike, **options: Unpack[Filters]
) -> BoxRequest:
    """A request about boxes: center, half_extents (n, 3), orientation (n, 4); one of each stands for all."""
    place, turn = validate.as_vectors(center, "center"), validate.as_numbers(orientation, "orientation", "(n, 4)", 4)
    half_extents = validate.as_vectors(half_extents, "half_extents")
    if len(place) == 1:
        place = memory.copies_of(place, rows_together(len(half_extents), *turn.shape[:-1]))
    solids = shapes.boxes(place, turn, half_extents)
    half = solids.boxes[:, 9:]
    reach = (1.0 + 2.0**-40) * np.hypot(np.hypot(half[:, 0], half[:, 1]), half[:, 2])
    return near_request(solids.p1, reach, **options), solids.boxes


def overlap_boxes(state: State, request: BoxRequest) -> Overlaps:
    """All limbs that each box touches, by row."""
    offsets, codes = candidates(state, request[0])
    return overlaps_among(state, request, (offsets, codes >> 1))


def overlaps_among(limbs: LabelledLimbs, request: BoxRequest, lists: CompressedRows) -> Overlaps:
    """The limbs that each box touches, of those on its list."""
    (offsets, row), (near, boxes) = lists, request
    query, states = ray_of_each(offsets), np.empty(len(row), np.int8)
    touch_boxes(near.points, boxes, query, limbs._table.kernel_rows, row, states)
    touch, undecided, some = states == NEAR, np.zeros(len(row), np.bool_), np.flatnonzero(states == OPEN)
    if some.size:
        own = query[some]
        touch[some], undecided[some] = touching(near.points[own], boxes[own], rows_of(limbs._table, row[some]))
    return Overlaps(limbs, offsets_of(query[touch], len(boxes)), row[touch], (undecided[touch],))


def touching(centre: Float64Array, boxes: Float64Array, table: LimbTable) -> tuple[BoolArray, BoolArray]:
    """Whether box i touches or may touch limb i, and whether that is undecided; (k,) each."""
    touch, undecided = np.zeros(len(centre), np.bool_), np.zeros(len(centre), np.bool_)
    is_round = np.isin(table.kind, ROUND)
    if (rows := np.flatnonzero(is_round)).size:
        thick = segment_request(table.p1[rows], table.p2[rows], radius=table.radius[rows])
        touch[rows] = _exact_hits(thick, _box_table(centre[rows], boxes[rows]))
    if (rows := np.flatnonzero(~is_round)).size:
        some, own = rows_of(table, rows), boxes[rows]
        with np.errstate(all="ignore"):
            pairs = BoxPairs.of(centre[rows], own, some)
            spans = pairs.spans()
            touch[rows], certain = pairs.touching(True, spans), pairs.touching(False, spans)
        undecided[rows] = touch[rows] & ~certain
        for k in rows[undecided[rows] & (some.kind == BOX)].tolist():
            other = tuple(table.p1[k].tolist()), tuple(table.boxes[table.box[k]].tolist())
            touch[k], undecided[k] = boxes_touch((tuple(centre[k].tolist()), tuple(boxes[k].tolist())), other), False
    return touch, undecided


@dataclass(frozen=True, slots=True)
class BoxPairs:
    """Boxes centred at the origin, and limbs that are neither balls nor capsules; k of each."""

    axes: Float64Array  # (k, 3, 3), by axis
    half: Float64Array  # (k, 3)
    table: LimbTable
    width: Float64Array  # (k,)

    @classmethod
    def of(cls, centre: Float64Array, boxes: Float64Array, table: LimbTable) -> BoxPairs:
        """The pairs, moved so that each box is centred at the origin."""
        own, sides = np.arange(len(centre), dtype=np.int32), np.ones((len(centre), 12))
        if len(table.boxes):
            sides = np.where((table.box >= 0)[:, None], table.boxes[table.box], 1.0)
        ends = table.p1 - centre, table.p2 - centre
        size = np.maximum(*(np.abs(one).max(axis=1, initial=0.0) for one in ends)) + table.radius + table.radius2
        size += boxes[:, 9:].sum(axis=1) + np.where(table.box >= 0, sides[:, 9:].sum(axis=1), 0.0)
        unit = np.where(size > 0.125 * LARGEST_NUMBER, 2.0**-6, 1.0)  # corners stay within the range of numbers
        begin, end = (one * unit[:, None] for one in ends)
        sides[:, 9:] *= unit[:, None]
        moved = make_table(
            table.kind, begin, end, table.radius * unit, table.radius2 * unit,
            np.where(table.box >= 0, own, np.int32(-1)), sides, table.character, table.mask,
        )  # fmt: skip
        return cls(boxes[:, :9].reshape(-1, 3, 3), boxes[:, 9:] * unit[:, None], moved, WIDTH * size * unit)

    def spans(self) -> tuple[Float64Array, Float64Array]:
        """The farthest points of limbs backwards and forwards along the axes of their boxes; (3 k, 3) each, by axis."""
        n = len(self.half)
        ways = np.concatenate([sign * self.axes[:, k] for sign in (-1.0, 1.0) for k in range(3)])
        every = rows_of(self.table, np.tile(np.arange(n), 6))._replace(boxes=np.tile(self.table.boxes, (6, 1)))
        both = farthest(ways, every)
        if (row := validate.first_bad_row(np.asarray(np.isnan(both).any(axis=1)))) is not None:
            raise KeyError(f"{Shape(int(every.kind[row])).name}: no farthest point; `query.farthest` must have one")
        return both[: 3 * n], both[3 * n :]

    def touching(self, grown: bool, spans: tuple[Float64Array, Float64Array]) -> BoolArray:
        """Whether limbs may touch their boxes (`grown`: slightly larger), or certainly do (slightly smaller)."""
        width = self.width[:, None]
        half = self.half + width if grown else np.maximum(self.half - width, 0.5 * self.half)
        sides = self.axes * half[:, :, None]
        x, y, z = (BOX_CORNERS[:, k, None] * sides[:, None, k] for k in range(3))
        corners = x + y + z
        rows, n = np.repeat(np.arange(len(half)), len(BOX_EDGES)), len(half)
        first, last = (corners[:, BOX_EDGES[:, k]].reshape(-1, 3) for k in range(2))
        touch = _exact_hits(segment_request(first, last), rows_of(self.table, rows)).reshape(n, -1).any(axis=1)
        tube = self.table.kind == TUBE
        boxes = _box_table(np.zeros((3 * n, 3)), np.tile(np.hstack([self.axes.reshape(-1, 9), half]), (3, 1)))
        touch |= ~tube & _exact_hits(segment_request(*spans), boxes).reshape(3, n).any(axis=0)
        for point in _points_of_tubes(self.axes, half, self.table) if tube.any() else ():
            beyond = np.abs((self.axes * point[:, None]).sum(axis=2)) - half
            touch |= tube & (beyond <= 0.5 * width).all(axis=1)
        return np.asarray(touch)


def _box_table(centre: Float64Array, boxes: Float64Array) -> LimbTable:
    """A limb table of boxes."""
    n = len(centre)
    kind, character, mask = np.full(n, BOX, np.int8), np.full(n, -1, np.int32), np.ones(n, np.uint32)
    rows, zeros = np.arange(n, dtype=np.int32), np.zeros(n)
    return make_table(kind, centre, centre, zeros, zeros, rows, np.ascontiguousarray(boxes), character, mask)


def _exact_hits(request: RayRequest, table: LimbTable) -> BoolArray:
    """Whether segment i touches limb i."""
    hits = empty_hits(len(request.first))
    request.copy_checked(0, len(hits.limb))
    cast_rows(request.batch, table.kernel_rows, hits)
    if hits.undecided.any():
        read = named_columns(request.batch, hits)
        exact_fallback.resolve_hits(read, table, "hit", partial(exact_fallback.own_pieces, table))
    return np.asarray(hits.limb >= 0)


def _points_of_tubes(axes: Float64Array, half: Float64Array, table: LimbTable) -> list[NDArray[np.float64]]:
    """Points on outer walls, one at least in each part that a face's plane cuts off a tube; NaN where it cuts none."""
    r, points = table.radius[:, None], []
    for k in range(3):
        for sign in (-1.0, 1.0):
            n = sign * axes[:, k]
            along, across, w, h, middle = parts(n, table)
            e, size, beyond = direction(across, w), np.sqrt(dot(across, across)), half[:, k, None] - dot(n, middle)
            ends = (beyond - r * size) / along, (beyond + r * size) / along
            low, high = np.fmax(np.fmin(*ends), -h), np.fmin(np.fmax(*ends), h)
            z = np.where(low <= high, 0.5 * (low + high), np.nan)
            out = np.clip((beyond - along * z) / np.where(size > 0.0, size, 1.0), -r, r)
            side = np.sqrt(r * r - out * out) * cross(w, np.where(size > 0.0, e, any_across(w)))
            points += [middle + z * w + out * e + side, middle + z * w + out * e - side]
    w, middle = parts(axes[:, 0], table)[2::2]
    return [*points, middle + r * any_across(w)]
