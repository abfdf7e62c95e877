"""Batch limits: one call of ``rayTestBatch`` with 16,383, 16,384 (arrays, then lists) and 16,385 rays.

Depth: none meant. Whatever the number of segments asked for, these four calls are the family.
"""

from dataclasses import replace

import numpy as np

from cylcollide.crosscheck.families.body import Body
from cylcollide.crosscheck.families.generic import aimed
from cylcollide.crosscheck.families.scene import Scene

CALLS = ((16_383, False), (16_384, False), (16_384, True), (16_385, False))
"""Rays in a call, and whether they are given as lists."""


def draw(rng: np.random.Generator, body: Body, n: int) -> list[Scene]:
    """Draw the four calls at one body; ``n`` plays no part."""
    del n
    return [
        replace(body.scene(aimed(rng, body, count)), whole_batch=True, as_lists=as_lists) for count, as_lists in CALLS
    ]
