"""Batch limits: calls of ``rayTestBatch`` with 16,384 rays as lists, then 16,383, 16,384 and 16,385 in arrays.

Depth: none meant. A limit has its size: there can be fewer calls, the most telling first, but no smaller ones.
"""

from dataclasses import replace

import numpy as np

from cylcollide.crosscheck.generate.families.generic import aimed
from cylcollide.crosscheck.generate.families.shots import ShotScene
from cylcollide.crosscheck.generate.families.target import Body

CALLS = ((16_384, True), (16_383, False), (16_384, False), (16_385, False))
"""Rays in a call, and whether they are given as lists: one is lost, none, all, and all."""

ONE_CALL = 16_384
LEAST = ONE_CALL // 2
"""The smallest share of a run for which there is a call."""


def fitting(share: int) -> int:
    """Segments of so many calls as come nearest to a share; 0 if it is less than half a call."""
    return sum(count for count, _ in CALLS[: (share + LEAST) // ONE_CALL])


def draw(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Draw at one body the calls that come nearest to n segments; one at least."""
    calls = CALLS[: max(1, (n + LEAST) // ONE_CALL)]
    return [
        replace(body.scene(aimed(rng, body, count)), whole_batch=True, as_lists=as_lists) for count, as_lists in calls
    ]
