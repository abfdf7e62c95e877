"""The truth about a scene: this library's answers, and the verdicts of exact arithmetic that confirm them."""

from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int32Array, Int64Array
from cylcollide.constants import ROUNDING_BOUND
from cylcollide.crosscheck.generate.shots import ShotScene
from cylcollide.engines.rounded_cylinder import Rounded
from cylcollide.exact.line import segment_numbers
from cylcollide.exact.order import Chord, closest
from cylcollide.exact.solid import LimbSolid
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.exact_fallback import exact_limb
from cylcollide.query.hits import RayHits
from cylcollide.world import HitWorld

UNRESOLVED = -2
"""Marks a row whose limb exact arithmetic has not resolved yet."""


def exact_first_limbs(starts: Float64Array, ends: Float64Array, limbs: Limbs) -> Int32Array:
    """The first limb that each closed segment (n, 3) hits, -1 for none, in exact arithmetic, (n,).

    Lengths are metres, and float64 numbers count as exact; limbs hit at the same point are ordered by index.
    """
    exact = solids(limbs)
    first = [exact_hit(start, end, exact) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    return np.array([-1 if hit is None else hit[0] for hit in first], dtype=np.int32)


def solids(limbs: Limbs) -> list[tuple[int, LimbSolid]]:
    """The limbs as exact solids, with their indices."""
    return [(limb, exact_limb(limbs._table, limb)) for limb in range(len(limbs))]


def exact_hit(start: Any, end: Any, limbs: list[tuple[int, LimbSolid]]) -> tuple[int, Chord] | None:
    """The first limb that a closed segment hits, and the chord in it; None for a miss."""
    hit, _ = closest(segment_numbers(start, end), limbs, "hit")
    return hit


class Truth:
    """The true answers to a scene. Exact arithmetic resolves each segment at most once.

    ``hits`` are this library's answers, ``length`` is that of the segments in metres, (n,).
    """

    def __init__(self, scene: ShotScene) -> None:
        self.scene = scene
        self.limbs = Limbs.cylinders(scene.p1, scene.p2, scene.radius)
        self.start, self.end = scene.shots.start, scene.shots.end
        self._world = HitWorld(self.limbs)
        self.hits: RayHits = self._world.cast_segments(self.start, self.end)
        self.length: Float64Array = np.linalg.norm(self.end - self.start, axis=1)
        self._exact: Int32Array = np.full(len(self.start), UNRESOLVED, np.int32)

    @cached_property
    def leaves(self) -> Float64Array:
        """Metres from a start inside to the exit; inf if the segment does not leave or starts outside, (n,)."""
        out = self._world.cast_segments(self.start, self.end, inside="exit")
        return np.where(self.hits.started_inside & out.hit, out.distance, np.inf)

    def confirms(self, rows: Int64Array) -> BoolArray:
        """Whether exact arithmetic over all limbs gives this library's limb."""
        left = rows[self._exact[rows] == UNRESOLVED]
        self._exact[left] = exact_first_limbs(self.start[left], self.end[left], self.limbs)
        return np.asarray(self._exact[rows] == self.hits.limb[rows])

    def rounding(self, rows: Int64Array, limb: Int32Array) -> Float64Array:
        """Rounding errors of float64 in metres of hits with a limb each: the bound of this library's kernels."""
        return rounding(self.start[rows], self.end[rows], self.rounded(limb))

    def moved_from(self, p1: Float64Array, p2: Float64Array) -> "Truth":
        """The truth for an engine that is built with limbs at other ends and moves them; nothing is recomputed."""
        moved = copy(self)
        moved.scene = replace(self.scene, was=(p1, p2))
        return moved

    def clearances(self, rows: Int64Array, limb: Int32Array) -> Float64Array:
        """Least signed distance in metres of some segments from a limb each, (k,).

        Positive: the gap of a segment that misses; negative: the depth of a cut, from the nearest face.
        """
        return self.rounded(limb).least_distance(self.start[rows], self.end[rows]).distance

    def rounded(self, limb: Int32Array) -> Rounded:
        """Limbs as solids with signed distances, one per row."""
        return Rounded.cylinders(self.limbs.p1[limb], self.limbs.p2[limb], self.limbs.radius[limb])


def rounding(start: Float64Array, end: Float64Array, limbs: Rounded) -> Float64Array:
    """Rounding errors of float64 in metres of hits of segments, (n, 3) twice, with limbs: see `Truth.rounding`."""
    half: Float64Array = 0.5 * np.linalg.norm(limbs.p2 - limbs.p1, axis=1)
    points = np.abs([start, end, limbs.p1, limbs.p2]).max(axis=(0, 2), initial=0.0)
    return np.asarray(ROUNDING_BOUND * (points + limbs.core_radius + half))
