"""What a family of segments hands over: limbs, segments, and what it intends with each.

All lengths are metres. A scene is one world of one to fifteen limbs; a chunk of a family is a few scenes.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from cylcollide._types import Float64Array, Int8Array, Int32Array
from cylcollide.crosscheck.engine.setup import DEFAULT, Setup


class Intent(IntEnum):
    """The verdict that a generator means a segment to have about its target."""

    MISS = 0
    HIT = 1
    EITHER = 2


@dataclass(frozen=True)
class Shots:
    """Segments and their intentions, length n."""

    start: Float64Array  # (n, 3)
    end: Float64Array
    intent: Int8Array  # verdict about the target, codes of Intent
    depth: Float64Array
    """How far the construction reaches into the target (> 0) or stays away from it (< 0); nan if none is meant.

    What is measured depends on the family: its module says so.
    """
    target: Int32Array  # limb the segment is about


@dataclass(frozen=True)
class ShotScene:
    """One world and the segments fired at it."""

    p1: Float64Array  # limb ends, (m, 3)
    p2: Float64Array
    radius: Float64Array  # (m,)
    shots: Shots
    setup: Setup = DEFAULT
    whole_batch: bool = False  # one call of the engine, whatever its limit; for PyBullet only
    as_lists: bool = False  # in that call, lists of tuples instead of arrays
    was: tuple[Float64Array, Float64Array] | None = None  # p1, p2 that an engine is built with, to be moved from there


def shots(
    start: Float64Array,
    end: Float64Array,
    intent: Intent | Int8Array,
    depth: Float64Array | float = np.nan,
    target: int = 0,
) -> Shots:
    """Return the segments with their intentions; what is one number holds for all."""
    n = len(start)
    intents = np.broadcast_to(np.asarray(intent, dtype=np.int8), n).copy()
    depths = np.broadcast_to(np.asarray(depth, dtype=np.float64), n).copy()
    return Shots(start, end, intents, depths, np.full(n, target, dtype=np.int32))


def joined(parts: list[Shots]) -> Shots:
    """All segments of the parts, one part after another."""
    return Shots(*(np.concatenate([getattr(part, name) for part in parts]) for name in Shots.__dataclass_fields__))


def by_sign(depth: Float64Array) -> Int8Array:
    """Meet where the depth is positive, miss where it is negative."""
    return np.where(depth > 0, np.int8(Intent.HIT), np.int8(Intent.MISS)).astype(np.int8)
