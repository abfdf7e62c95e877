"""What a query about flying bullets asks, and against what: stretches, and the limbs that each comes near."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int32Array, Int64Array
from cylcollide.history.moving.flights import Filters, Flights
from cylcollide.history.moving.limbs import MovingLimbs, joined, limbs_of
from cylcollide.history.moving.stretches import stretches_of
from cylcollide.history.ticks import Boxes, Tick
from cylcollide.query.loops.moving import Candidates, find_near
from cylcollide.query.loops.moving_rows import MOVING_ROW, MovingRows, fill_moving_rows
from cylcollide.runtime import memory
from cylcollide.runtime.memory import aligned
from cylcollide.runtime.simd import LANES


class Near(NamedTuple):
    """Pairs of a stretch of one tick, and an entry of the tick that its bullet does not certainly miss."""

    entry: Int32Array
    near: Float64Array
    """U of the stretch before which the bullet is certainly not in it."""


class Question:
    """Stretches of bullets, and the limbs that they may hit."""

    def __init__(self, ticks: Sequence[Tick], flights: Flights, filters: Filters) -> None:
        self.ticks, self.flights, self.resolution = ticks, flights, filters.resolution
        self.flight_rows, self.stretches = stretches_of(ticks, flights)
        ids, times = filters.protected or (np.empty(0, np.int64), np.empty(0))
        self.until: dict[int, float] = dict(zip(ids.tolist(), times.tolist(), strict=True))
        """Of each protected character the targets' time from which on it is not hit."""
        self.limbs, self.table, self.candidates = self._near_limbs()

    def limbs_near(self, stretch: int) -> list[int]:
        """The limbs that the bullet of a stretch does not certainly miss there, by row."""
        of = self.candidates
        blocks = of.block[of.begin.item(stretch) : of.end.item(stretch)].tolist()
        first = [of.first.item(block) for block in sorted(blocks) if block >= 0]
        count = [of.limbs.item(block) for block in sorted(blocks) if block >= 0]
        return [row for begin, many in zip(first, count, strict=True) for row in range(begin, begin + many)]

    def _near_limbs(self) -> tuple[MovingLimbs, MovingRows, Candidates]:
        """The limbs of all entries that any bullet comes near, and which these are of each stretch."""
        tick_of = self.stretches.tick
        begin, end = memory.columns(len(tick_of), np.dtype(np.int64), np.dtype(np.int64))
        parts, pairs, before, blocks, nears = [], 0, 0, [np.empty(0, np.int32)], [np.empty(0)]
        for k in np.flatnonzero(np.bincount(tick_of, minlength=len(self.ticks))).tolist():
            chosen, swept = np.flatnonzero(tick_of == k), self.ticks[k].next
            boxes = self.ticks[k].boxes if swept is None else swept.boxes
            found = _near_boxes(boxes, self.stretches.rows, chosen, begin, end, pairs)
            pairs += len(found.entry)
            used, block = np.zeros(self.ticks[k].entries, np.bool_), np.full(self.ticks[k].entries, -1, np.int32)
            is_hit = self._unprotected(k, chosen, end[chosen] - begin[chosen], found) if self.until else None
            used[found.entry if is_hit is None else found.entry[is_hit]] = True
            chosen_entries = np.flatnonzero(used)
            block[chosen_entries] = np.arange(before, before + len(chosen_entries))
            blocks.append(block[found.entry] if is_hit is None else np.where(is_hit, block[found.entry], np.int32(-1)))
            nears.append(found.near)
            parts.append(limbs_of(self.ticks, k, chosen_entries))
            before += len(chosen_entries)
        limbs, paths, count = joined(parts)
        first = (np.cumsum(count) - count).astype(np.int32)
        candidates = Candidates(begin, end, np.concatenate(blocks), np.concatenate(nears), first, count)
        return limbs, _moving_rows(limbs, paths), candidates

    def _unprotected(self, k: int, chosen: Int64Array, count: Int64Array, found: Near) -> BoolArray:
        """Of pairs of stretches of tick k whether their characters are hit at their beginnings; opens stretches."""
        rows, stretches, flights = self.ticks[k].rows, self.stretches, self.flights
        of_entry = [self.until.get(who, np.inf) for who in (*rows.bare.character.tolist(), *rows.ids.tolist())]
        since, stretch = np.array(of_entry)[found.entry], np.repeat(chosen, count)
        after = np.inf if k + 1 == len(self.ticks) else self.ticks[k + 1].time
        begin = np.maximum(flights.target_t0[stretches.piece[stretch]], self.ticks[k].time)
        end = np.minimum(flights.target_t1[stretches.piece[stretch]], after)
        is_hit: BoolArray = begin < since
        ends_in_it = (since < end) | ((since == end) & stretches.is_last[stretch])
        stretches.is_open[stretch[is_hit & ends_in_it]] = True
        return is_hit


def _near_boxes(
    boxes: Boxes, rows: Float64Array, chosen: Int64Array, begin: Int64Array, end: Int64Array, base: int
) -> Near:
    """Boxes that the bullets of the chosen stretches do not certainly miss; writes begin and end of their pairs."""
    most = 64 + 4 * len(chosen)
    while True:
        near, item = memory.columns(most, np.dtype(np.float64), np.dtype(np.int32))
        used = find_near.call(rows, chosen, boxes.tree, begin, end, base, item, near)
        if used <= most:
            return Near(item[:used], near[:used])
        most = used


def _moving_rows(limbs: MovingLimbs, paths: Float64Array) -> MovingRows:
    """Limbs between two ticks, as loops read them."""
    n = len(limbs.kind)
    rows, balls = aligned((n, MOVING_ROW), np.float64), np.zeros((4, n + LANES))
    table = MovingRows(limbs.kind.copy(), limbs.character, limbs.mask, rows, limbs.box, paths, balls)
    fill_moving_rows.call(limbs.kind, limbs.here, limbs.there, limbs.radius, limbs.radius2, table)
    return table
