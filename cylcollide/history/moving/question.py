"""What a query about flying bullets asks, and against what: stretches, and the limbs that each comes near."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int32Array, Int64Array
from cylcollide.history.moving.flights import Filters, Flights
from cylcollide.history.moving.limbs import MovingLimbs, limbs_of, no_limbs
from cylcollide.history.moving.stretches import points_at, stretches_of
from cylcollide.history.ticks import Boxes, Tick
from cylcollide.query.loops.moving import ALPHA0, ALPHA1, END, START, STRETCH_ROW, Candidates, find_near


class Near(NamedTuple):
    """Pairs of a stretch of one tick, and an entry of the tick that its bullet does not certainly miss."""

    entry: Int32Array
    near: Float64Array
    """U of the stretch before which the bullet is certainly not in it."""


class Question:
    """Stretches of bullets, and the limbs that they may hit."""

    def __init__(self, ticks: Sequence[Tick], flights: Flights, filters: Filters) -> None:
        self.ticks, self.flights, self.resolution = ticks, flights, filters.resolution
        self.stretches = stretches_of(ticks, flights)
        ids, times = filters.protected or (np.empty(0, np.int64), np.empty(0))
        self.until: dict[int, float] = dict(zip(ids.tolist(), times.tolist(), strict=True))
        """Of each protected character the targets' time from which on it is not hit."""
        self.is_open: BoolArray = np.zeros(len(self.stretches.tick), np.bool_)
        """(stretches,): one of these times is within the stretch, so that only rational arithmetic judges it."""
        self.limbs, self.candidates = self._near_limbs()

    @cached_property
    def rows(self) -> Float64Array:
        """Stretches, as `StretchRows` has them."""
        stretches, flights = self.stretches, self.flights
        rows = np.empty((len(stretches.piece), STRETCH_ROW))
        rows[:, START : START + 3] = points_at(flights, stretches.piece, stretches.begin)
        rows[:, END : END + 3] = points_at(flights, stretches.piece, stretches.end)
        rows[:, ALPHA0], rows[:, ALPHA1] = stretches.alpha0, stretches.alpha1
        return rows

    def limbs_near(self, stretch: int) -> list[int]:
        """The limbs that the bullet of a stretch does not certainly miss there, by row."""
        of, begin = self.candidates, self.candidates.begin.item(stretch)
        blocks = of.block[begin : of.end.item(stretch)].tolist()
        first = [of.first.item(block) for block in sorted(blocks) if block >= 0]
        count = [of.limbs.item(block) for block in sorted(blocks) if block >= 0]
        return [row for begin, many in zip(first, count, strict=True) for row in range(begin, begin + many)]

    def _near_limbs(self) -> tuple[MovingLimbs, Candidates]:
        """The limbs of all entries that any bullet comes near, and which these are of each stretch."""
        begin, end = np.zeros((2, len(self.stretches.tick)), np.int64)
        parts, pairs, blocks, nears, sizes = [no_limbs()], 0, [np.empty(0, np.int32)], [np.empty(0)], [begin[:0]]
        for k in np.unique(self.stretches.tick).tolist():
            chosen = np.flatnonzero(self.stretches.tick == k)
            swept = self.ticks[k].next
            boxes = self.ticks[k].boxes if swept is None else swept.boxes
            found = _near_boxes(boxes, self.rows, chosen, begin, end)
            begin[chosen], end[chosen] = begin[chosen] + pairs, end[chosen] + pairs
            pairs += len(found.entry)
            is_hit = (
                self._unprotected(k, chosen, end[chosen] - begin[chosen], found)
                if self.until
                else np.ones(len(found.entry), np.bool_)
            )
            used = np.zeros(self.ticks[k].entries, np.bool_)
            used[found.entry[is_hit]] = True
            before = sum(map(len, sizes))
            block = (np.cumsum(used) - 1 + before).astype(np.int32)[found.entry]
            part, size = limbs_of(self.ticks, k, np.flatnonzero(used))
            parts.append(part)
            sizes.append(size)
            blocks.append(np.where(is_hit, block, -1).astype(np.int32))
            nears.append(found.near)
        limbs = MovingLimbs(*(np.concatenate(column) for column in zip(*parts, strict=True)))
        size = np.concatenate(sizes)
        first = (np.cumsum(size) - size).astype(np.int32)
        return limbs, Candidates(begin, end, np.concatenate(blocks), np.concatenate(nears), first, size)

    def _unprotected(self, k: int, chosen: Int64Array, count: Int64Array, found: Near) -> BoolArray:
        """Of pairs of stretches of tick k whether their characters are hit at their beginnings; opens stretches."""
        if not self.until:
            return np.ones(len(found.entry), np.bool_)
        rows, stretches, flights = self.ticks[k].rows, self.stretches, self.flights
        of_entry = [self.until.get(who, np.inf) for who in (*rows.bare.character.tolist(), *rows.ids.tolist())]
        since, stretch = np.array(of_entry)[found.entry], np.repeat(chosen, count)
        after = np.inf if k + 1 == len(self.ticks) else self.ticks[k + 1].time
        begin = np.maximum(flights.target_t0[stretches.piece[stretch]], self.ticks[k].time)
        end = np.minimum(flights.target_t1[stretches.piece[stretch]], after)
        is_hit: BoolArray = begin < since
        ends_in_it = (since < end) | ((since == end) & stretches.last[stretch])
        self.is_open[stretch[is_hit & ends_in_it]] = True
        return is_hit


def _near_boxes(boxes: Boxes, rows: Float64Array, chosen: Int64Array, begin: Int64Array, end: Int64Array) -> Near:
    """Boxes that the bullets of the chosen stretches do not certainly miss; writes begin and end of their pairs."""
    most = 64 + 8 * len(chosen)
    while True:
        item, near = np.empty(most, np.int32), np.empty(most)
        used = find_near.call(rows, chosen, boxes.tree, begin, end, item, near)
        if used <= most:
            return Near(item[:used], near[:used])
        most = used
