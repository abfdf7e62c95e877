"""Adversarial rows of every shape, cast in worlds: a mask restricts each ray to the limb of its own row."""

import numpy as np
from support.cases.shape_rays import sample, sample_rays
from support.check_cylinders import FIELDS, sized
from support.oracle.shapes.rows import Shots

import cylcollide as cc

GROUP = 32
"""Limbs in one world, one in each layer."""


class Gathered:
    """Rows of several queries with the fields of `RayHits`; limbs are numbered across queries."""

    def __init__(self, hits: list[cc.RayHits], rows: list[slice], first_limb: list[int]) -> None:
        for name in FIELDS:
            setattr(self, name, np.concatenate([getattr(h, name)[r] for h, r in zip(hits, rows, strict=True)]))
        before = np.concatenate([np.full(len(h.limb[r]), k) for h, r, k in zip(hits, rows, first_limb, strict=True)])
        self.limb = np.where(self.hit, self.limb + before, -1)

    def __len__(self) -> int:
        return len(self.limb)


def cast_by_layer(s: Shots, inside: str, one_layer: bool) -> Gathered:
    """Casts row i against limb i, in worlds of `GROUP` limbs: the ray's mask excludes the layers of the others.

    With `one_layer` a batch has one mask and only its first row is kept; otherwise each ray has its own mask.
    """
    limbs, hits, rows, before = s.shapes.limbs(), [], [], []
    for first in range(0, len(s) - len(s) % GROUP, GROUP):
        at, layers = np.arange(first, first + GROUP), (1 << np.arange(GROUP)).astype(np.uint32)
        part = limbs[at]
        world = cc.HitWorld(cc.Limbs(part._table._replace(mask=layers), part.hit_group, part.names))
        for k in range(GROUP) if one_layer else (0,):
            asked = s.take(np.roll(at, -k)[:9] if one_layer else at)
            mask = layers[k] if one_layer else layers
            if asked.limit is None:
                hits.append(world.cast_segments(asked.start, asked.end, inside=inside, mask=mask))
            else:
                hits.append(world.cast_rays(asked.start, asked.end, max_distance=asked.limit, inside=inside, mask=mask))
            rows.append(slice(0, 1) if one_layer else slice(None))
            before.append(first)
    return Gathered(hits, rows, before)


def adversarial(rays: bool) -> Shots:
    """Rows of every shape and family, a multiple of `GROUP`; segments, or rays with limits."""
    if rays:
        rows = sample_rays(sized(400, 225), seed=61)
    else:
        rows = sample(sized(1300, 600), seed=60)
    order = np.random.default_rng(63).permutation(len(rows))
    return rows.take(order[: len(rows) // GROUP * GROUP])
