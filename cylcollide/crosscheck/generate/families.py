"""Families of segments, each of which provokes one kind of error: fifteen about single limbs, and one in motion.

A chunk is determined by (family, seed, number) and the count of its segments, through ``numpy.random.SeedSequence``.
Every chunk of a family about single limbs holds twelve bodies: six sizes from 1 mm to 100 m, in a random and in an
axis-aligned pose.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cylcollide.crosscheck.generate import of_pybullet, one_limb
from cylcollide.crosscheck.generate.bullets import draw_in_motion
from cylcollide.crosscheck.generate.shots import SIZES, ShotScene, Target

Draw = Callable[[np.random.Generator, Target, int], list[ShotScene]]
"""Draws about so many segments at one body."""

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
    "margin-sweep": of_pybullet.margin_sweep,
    "construction": of_pybullet.construction,
    "batch-limits": of_pybullet.batch_limits,
    "stale-boxes": of_pybullet.stale_boxes,
}
"""Families that use settings which only PyBullet has."""

ABOUT_ONE_BODY = OF_ANY_ENGINE | OF_PYBULLET_ONLY

FAMILIES = (*ABOUT_ONE_BODY, "humanoid")
"""All families, in the order of reports."""

WHOLE_BATCHES = frozenset({"batch-limits"})
"""Families of calls that cannot be made smaller: one chunk of so many as fit, see :func:`of_pybullet.fitting`."""


@dataclass(frozen=True, order=True)
class ChunkKey:
    """What determines a chunk: equal keys and counts draw equal segments."""

    family: str
    seed: int
    number: int

    def generator(self) -> np.random.Generator:
        """The source of all chance in this chunk."""
        name = zlib.crc32(self.family.encode())
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence([self.seed, name, self.number])))


def draw_chunk(key: ChunkKey, n: int) -> list[ShotScene]:
    """Draw a chunk of about ``n`` segments, a few more or less by whole bodies and calls; ValueError if unknown."""
    if key.family not in FAMILIES:
        raise ValueError(f"expected a family out of {', '.join(FAMILIES)}, got {key.family!r}")
    rng = key.generator()
    if key.family == "humanoid":
        return draw_in_motion(rng, n)
    draw = ABOUT_ONE_BODY[key.family]
    if key.family in WHOLE_BATCHES:
        return draw(rng, Target.draw(rng, 0.05, 0.2, aligned=False), n)
    bodies = [(size, aligned) for size in SIZES for aligned in (False, True)]
    scenes = []
    for place, ((radius, half), aligned) in enumerate(bodies):
        count = n * (place + 1) // len(bodies) - n * place // len(bodies)
        scenes += draw(rng, Target.draw(rng, radius, half, aligned), count)
    return scenes
