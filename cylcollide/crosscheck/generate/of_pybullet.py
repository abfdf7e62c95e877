"""Families for PyBullet alone: its ways to build a body, collision margins, and the limits of a batch.

Depth: of bodies built in several ways that of the grazes, nan for the aimed two thirds; of calls none is meant.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cylcollide.crosscheck.engine import Setup
from cylcollide.crosscheck.generate.one_limb import aimed, grazes
from cylcollide.crosscheck.generate.shots import ShotScene, Target, joined
from cylcollide.engines.bullet import CONSTRUCTIONS

MARGINS = (0.0, 1e-9, 1e-6, 1e-4, 1e-3, 5e-3, 1e-2, 0.04, 0.05, 0.06, 0.1)
"""Metres."""

CALLS = ((16_384, True), (16_383, False), (16_384, False), (16_385, False))
"""Rays in a call, the most telling first, and whether they are given as lists: one is lost, none, all, and all."""

ONE_CALL = 16_384
LEAST = ONE_CALL // 2
"""The smallest share of a run that gets a call: calls have a fixed size."""


def margin_sweep(rng: np.random.Generator, body: Target, n: int) -> list[ShotScene]:
    """Margin sweep: the collision margin from 0 to 10 cm."""
    return _built(rng, body, n, [Setup(margin=margin) for margin in MARGINS])


def construction(rng: np.random.Generator, body: Target, n: int) -> list[ShotScene]:
    """Construction path: createCollisionShape, loadURDF (both ways) and loadMJCF."""
    return _built(rng, body, n, [Setup(construction=construction) for construction in CONSTRUCTIONS])


def stale_boxes(rng: np.random.Generator, body: Target, n: int) -> list[ShotScene]:
    """Stale boxes: moved into place, or given another margin, and asked at once, without a step between."""
    margin = 0.1 * body.radius
    moved, thicker = Setup(moved=10 * body.size, stale=True), Setup(margin=margin, stale=True)
    return _built(rng, body, n, [moved, thicker, replace(thicker, construction="urdf")])


def _built(rng: np.random.Generator, body: Target, n: int, setups: Sequence[Setup]) -> list[ShotScene]:
    """Draw n segments at one body, shared by the setups: two thirds aimed and one of grazes."""
    each = max(2, n // len(setups))
    return [
        body.scene(joined([aimed(rng, body, each - each // 3), grazes(rng, body, each // 3)]), setup)
        for setup in setups
    ]


def batch_limits(rng: np.random.Generator, body: Target, n: int) -> list[ShotScene]:
    """Batch limits: the calls of ``rayTestBatch`` that come nearest to n segments, one at least."""
    return [
        replace(body.scene(aimed(rng, body, count)), whole_batch=True, as_lists=as_lists)
        for count, as_lists in CALLS[: max(1, (n + LEAST) // ONE_CALL)]
    ]


def fitting(share: int) -> int:
    """Segments of so many calls as come nearest to a share; 0 if it is less than half a call."""
    return sum(count for count, _ in CALLS[: (share + LEAST) // ONE_CALL])
