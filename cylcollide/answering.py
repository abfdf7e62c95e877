"""From a checked query to its answer: the fast loop in chunks over threads, the unsure rows in exact arithmetic."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

import numpy as np

from cylcollide import casting, locating, settling
from cylcollide._types import NO_LIMB, RAYS_PER_TASK, BoolArray, Face, Float64Array, InsidePolicy, Int64Array
from cylcollide.casting import Query
from cylcollide.hits import Chorded, Chords, PointHits, RayHits, empty_chords, joined
from cylcollide.kernels.ray import Rays
from cylcollide.limbs import Limbs
from cylcollide.tree.layout import Tree
from cylcollide.tree.walk import make_stack

__all__ = ["Query", "Rays", "chords", "closest", "containing", "occluded"]

Answer = TypeVar("Answer")


class State(Protocol):
    """Limbs with their tree."""

    tree: Tree

    @property
    def limbs(self) -> Limbs:
        """The limbs."""


def closest(state: State, query: Query, inside: InsidePolicy, threads: int | None) -> RayHits:
    """The first limb along each ray."""
    n, table, tree = len(query.rays.origin), state.limbs.table, state.tree
    found, started, unsure = empty_chords(n), np.zeros(n, bool), np.zeros(n, bool)

    def task(begin: int, end: int) -> None:
        casting.cast_closest(query, table, tree, make_stack(tree), begin, end, found, started, unsure)

    in_chunks(n, threads, task)
    rows = np.flatnonzero(unsure)
    if len(rows):
        settling.settle_closest(query, table, tree, inside, rows, found, started)
    return RayHits(query.rays, table, found, started, len(rows), inside == "exit")


def occluded(state: State, query: Query, inside: InsidePolicy, threads: int | None) -> BoolArray:
    """Whether each ray hits any limb."""
    n, table, tree = len(query.rays.origin), state.limbs.table, state.tree
    blocked, unsure = np.zeros(n, bool), np.zeros(n, bool)

    def task(begin: int, end: int) -> None:
        casting.cast_any(query, table, tree, make_stack(tree), begin, end, blocked, unsure)

    in_chunks(n, threads, task)
    rows = np.flatnonzero(unsure)
    if len(rows):
        settling.settle_any(query, table, tree, inside, rows, blocked)
    return blocked


def chords(state: State, query: Query, inside: InsidePolicy, threads: int | None) -> Chords:
    """Every limb along each ray, sorted by entry."""
    n, table, tree = len(query.rays.origin), state.limbs.table, state.tree

    def task(begin: int, end: int) -> tuple[Int64Array, Chorded, int]:
        offsets, codes = casting.possible_stretches(query, table, tree, make_stack(tree), np.arange(begin, end))
        found, unsure = empty_chords(len(codes)), np.zeros(end - begin, bool)
        room = np.empty((2, len(codes)))
        casting.cast_chords(query, table, offsets, codes, begin, room[0], room[1], found, unsure)
        ray, found = settling.settle_chords(query.rays, table, begin, offsets, codes, found, unsure)
        return begin + ray, found, int(unsure.sum())

    parts = in_chunks(n, threads, task)
    ray = np.concatenate([part[0] for part in parts])
    found = joined([part[1] for part in parts])
    kept = _counts_as_hit(ray, found, inside)
    found = Chorded._make(column[kept] for column in found)
    offsets = np.searchsorted(ray[kept], np.arange(n + 1))
    return Chords(query.rays, table, offsets, found, sum(part[2] for part in parts))


def _counts_as_hit(ray: Int64Array, found: Chorded, inside: InsidePolicy) -> BoolArray:
    """Whether a chord is a hit under the policy: a limb that holds the start may be ignored, or have to be left."""
    from_start = found.entry_face == Face.INSIDE
    if inside == "hit":
        return np.ones(len(from_start), bool)
    if inside == "exit":
        return np.asarray(~(from_start & (found.exit_face == Face.INSIDE)))
    pair = (ray << 32) | found.limb  # a tube may be crossed again behind its bore
    return np.asarray(~np.isin(pair, pair[from_start]))


def containing(state: State, points: Float64Array, threads: int | None) -> PointHits:
    """Which limb holds each point."""
    n, table, tree = len(points), state.limbs.table, state.tree
    limb, count, unsure = np.full(n, NO_LIMB, np.int32), np.zeros(n, np.int32), np.zeros(n, bool)

    def task(begin: int, end: int) -> None:
        locating.locate_points(points, table, tree, make_stack(tree), begin, end, limb, count, unsure)

    in_chunks(n, threads, task)
    settling.settle_points(points, table, tree, np.flatnonzero(unsure), limb, count)
    squared = np.empty(n)
    locating.axis_distances(points, table, limb, squared)
    return PointHits(limb, squared, count)


def in_chunks(n: int, threads: int | None, task: Callable[[int, int], Answer]) -> list[Answer]:
    """The task's answers for consecutive chunks of n rows, in order, worked on by so many threads."""
    starts = range(0, max(n, 1), RAYS_PER_TASK)
    if threads is None:
        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if threads == 1 or len(starts) == 1:
        return [task(begin, min(begin + RAYS_PER_TASK, n)) for begin in starts]
    with ThreadPoolExecutor(min(threads, len(starts))) as pool:
        return list(pool.map(lambda begin: task(begin, min(begin + RAYS_PER_TASK, n)), starts))
