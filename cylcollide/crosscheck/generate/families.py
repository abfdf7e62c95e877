"""Families of segments, each of which provokes one kind of error: fifteen at single limbs, and one at the humanoid.

Families for any engine are in `one_limb`, those for PyBullet alone here. Their depth is that of the grazes, nan for
aimed segments.

A chunk is determined by (family, seed, number) and the count of its segments, through ``numpy.random.SeedSequence``.
Every chunk of a family about single limbs holds twelve bodies: six sizes from 1 mm to 100 m, in a random and in an
axis-aligned pose.
"""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cylcollide.crosscheck.engine import Setup
from cylcollide.crosscheck.generate import one_limb
from cylcollide.crosscheck.generate.bullets import draw_in_motion
from cylcollide.crosscheck.generate.one_limb import aimed, grazes
from cylcollide.crosscheck.generate.shots import SIZES, ShotScene, Target, joined
from cylcollide.engines.bullet import CONSTRUCTIONS

MARGINS = (0.0, 1e-9, 1e-6, 1e-4, 1e-3, 5e-3, 1e-2, 0.04, 0.05, 0.06, 0.1)
"""Collision margins, metres."""

CALLS = ((16_384, True), (16_383, False), (16_384, False), (16_385, False))
"""Rays in a call, the most revealing first, and whether they are lists: PyBullet loses one, none, all, and all."""

ONE_CALL = 16_384
LEAST = ONE_CALL // 2
"""Smallest number of segments for which a call is made: calls have a fixed size."""


def margin_sweep(rng: np.random.Generator, body: Target, n: int) -> list[ShotScene]:
    """Margin sweep: the collision margin from 0 to 10 cm."""
    return _built(rng, body, n, [Setup(margin=margin) for margin in MARGINS])


def construction(rng: np.random.Generator, body: Target, n: int) -> list[ShotScene]:
    """Construction path: createCollisionShape, loadURDF (both ways) and loadMJCF."""
    return _built(rng, body, n, [Setup(construction=construction) for construction in CONSTRUCTIONS])


def stale_boxes(rng: np.random.Generator, body: Target, n: int) -> list[ShotScene]:
    """Stale boxes: bodies moved into place, or given another margin, and cast at once, without a step between."""
    margin = 0.1 * body.radius
    moved, thicker = Setup(moved=10 * body.size, stale=True), Setup(margin=margin, stale=True)
    return _built(rng, body, n, [moved, thicker, replace(thicker, construction="urdf")])


def _built(rng: np.random.Generator, body: Target, n: int, setups: Sequence[Setup]) -> list[ShotScene]:
    """Draw n segments at one body, divided among the setups: two thirds aimed and one third grazes."""
    each = max(2, n // len(setups))
    return [
        body.scene(joined([aimed(rng, body, each - each // 3), grazes(rng, body, each // 3)]), setup)
        for setup in setups
    ]


def batch_limits(rng: np.random.Generator, body: Target, n: int) -> list[ShotScene]:
    """Batch limits: the calls of ``rayTestBatch`` whose total is nearest to n segments, at least one."""
    return [
        replace(body.scene(aimed(rng, body, count)), whole_batch=True, as_lists=as_lists)
        for count, as_lists in CALLS[: max(1, (n + LEAST) // ONE_CALL)]
    ]


def fitting(share: int) -> int:
    """Number of segments in the calls whose total is nearest to a share; 0 if that is less than half a call."""
    return sum(count for count, _ in CALLS[: (share + LEAST) // ONE_CALL])


Draw = Callable[[np.random.Generator, Target, int], list[ShotScene]]
"""Draws about the given number of segments at one body."""

OF_ANY_ENGINE: dict[str, Draw] = {
    "generic": one_limb.generic,
    "side-graze": one_limb.side_graze,
    "rim": one_limb.rim,
    "corner-cut": one_limb.corner_cut,
    "axis-parallel": one_limb.axis_parallel,
    "segment-ends": one_limb.segment_ends,
    "near-start": one_limb.near_start,
    "inside-start": one_limb.inside_start,
    "extremes": one_limb.extremes,
    "same-line": one_limb.same_line,
    "elbow": one_limb.elbow,
}
OF_PYBULLET_ONLY: dict[str, Draw] = {
    "margin-sweep": margin_sweep,
    "construction": construction,
    "batch-limits": batch_limits,
    "stale-boxes": stale_boxes,
}
"""Families with settings that only PyBullet has."""

ABOUT_ONE_BODY = OF_ANY_ENGINE | OF_PYBULLET_ONLY

FAMILIES = (*ABOUT_ONE_BODY, "humanoid")
"""All families, in the order of reports."""

BATCH_LIMITS = "batch-limits"
"""The family of calls of a fixed size: one chunk with as many as fit, see :func:`fitting`."""


@dataclass(frozen=True, order=True)
class ChunkKey:
    """The key of a chunk: equal keys and counts draw equal segments."""

    family: str
    seed: int
    number: int

    def generator(self) -> np.random.Generator:
        """The random generator of this chunk."""
        name = zlib.crc32(self.family.encode())
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence([self.seed, name, self.number])))


def draw_chunk(key: ChunkKey, n: int) -> list[ShotScene]:
    """Draw a chunk of about ``n`` segments, up to whole bodies and calls; ValueError for an unknown family."""
    if key.family not in FAMILIES:
        raise ValueError(f"expected a family out of {', '.join(FAMILIES)}, got {key.family!r}")
    rng = key.generator()
    if key.family == "humanoid":
        return draw_in_motion(rng, n)
    draw = ABOUT_ONE_BODY[key.family]
    if key.family == BATCH_LIMITS:
        return draw(rng, Target.draw(rng, 0.05, 0.2, aligned=False), n)
    bodies = [(size, aligned) for size in SIZES for aligned in (False, True)]
    scenes = []
    for place, ((radius, half), aligned) in enumerate(bodies):
        count = n * (place + 1) // len(bodies) - n * place // len(bodies)
        scenes += draw(rng, Target.draw(rng, radius, half, aligned), count)
    return scenes
