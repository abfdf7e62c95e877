"""Pairs of a ray or point and a limb, queued by shape until a batch of them can be tested side by side."""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Column, Float64Array, Rows, Shape
from cylcollide.kernels.limb_table import ROW
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import LANES, prefetch

SHAPES = len(Shape)
PAIR_BATCH = 2 * LANES
"""Pairs of one shape that are tested together."""


class PairQueue(NamedTuple):
    """Queued pairs, a row of each array a shape. One per thread."""

    row: Rows[np.int32]  # (SHAPES, PAIR_BATCH): of the ray or point
    limb: Rows[np.int32]  # (SHAPES, PAIR_BATCH)
    queued: Column[np.int64]  # (SHAPES,): how many pairs


def make_pair_queue() -> PairQueue:
    """An empty queue."""
    row, limb = np.zeros((2, SHAPES, PAIR_BATCH), np.int32)
    return PairQueue(row, limb, np.zeros(SHAPES, np.int64))


@inlined
def enqueue_pair(queue: PairQueue, rows: Float64Array, shape: int, row: int, limb: int) -> bool:
    """Queue a pair, and prefetch the limb from the kernels' `rows`; whether the batch of its shape is full."""
    k = queue.queued[shape]
    queue.row[shape, k], queue.limb[shape, k] = row, limb
    prefetch(rows, limb * ROW)
    prefetch(rows, limb * ROW + LANES)
    queue.queued[shape] = k + 1
    return bool(k + 1 == PAIR_BATCH)
