"""Work buffers of the loops, kept by each thread: fresh memory costs as much as the traversal."""

import threading
from typing import NamedTuple

import numpy as np

from cylcollide._types import (
    Float32Array,
)
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.ray_node_pairs import Pairs, levels_of, make_pairs
from cylcollide.bvh.stream import Stream, make_stream
from cylcollide.constants import (
    BLOCK_RAYS,
    RAYS_PER_TASK,
    STREAM_RAYS,
)
from cylcollide.query.loops.brute_force import RayLists, make_ray_lists
from cylcollide.query.loops.leaf import RayState, make_ray_state
from cylcollide.query.loops.points import PAIR_BATCH, SHAPES, PointQueue
from cylcollide.query.loops.ray_sort import SortScratch, make_sort_scratch
from cylcollide.query.loops.refine import FACES, RefineQueue, make_refine_queue

_kept = threading.local()


def scratch_for_points(tree: Tree) -> tuple[Float32Array, Pairs, PointQueue]:
    """Room for the points of one task, kept by each thread."""
    kept: tuple[Float32Array, Pairs, PointQueue] | None = getattr(_kept, "points", None)
    if kept is None or len(kept[1].queued) < levels_of(tree):
        point, limb = np.zeros((2, SHAPES, PAIR_BATCH), np.int32)
        waiting = PointQueue(point, limb, np.zeros(SHAPES, np.int64))
        kept = _kept.points = np.empty((3, BLOCK_RAYS), np.float32), make_pairs(levels_of(tree), BLOCK_RAYS), waiting
    return kept


class StreamScratch(NamedTuple):
    """Memory that the loops over many rays write into."""

    state: RayState
    stream: Stream
    sort: SortScratch
    refine: RefineQueue


def scratch_for_streams(tree: Tree, rays: int) -> StreamScratch:
    """Room for the rays of one task, kept by each thread: fresh memory costs as much as the walk."""
    kept: StreamScratch | None = getattr(_kept, "streams", None)
    if kept is None or len(kept.stream.code) < tree.stack_size or len(kept.sort.key) < rays:
        work, stream = make_ray_state(STREAM_RAYS), make_stream(tree, STREAM_RAYS)
        kept = _kept.streams = StreamScratch(
            work, stream, make_sort_scratch(max(rays, RAYS_PER_TASK)), make_refine_queue(STREAM_RAYS)
        )
    return kept


def scratch_for_brute_force(limbs: int) -> RayLists:
    """The same for rays against so many limbs."""
    lists: RayLists | None = getattr(_kept, "lists", None)
    if lists is None or len(lists.listed) != limbs * FACES:
        lists = _kept.lists = make_ray_lists(limbs)
    return lists
