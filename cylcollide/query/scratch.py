"""Work buffers of the loops, kept by each thread: fresh memory costs as much as the traversal."""

import threading
from typing import NamedTuple

import numpy as np

from cylcollide._types import Float32Array
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.ray_node_pairs import Pairs, levels_of, make_pairs
from cylcollide.bvh.stream import Stream, make_stream
from cylcollide.constants import BLOCK_RAYS, RAYS_PER_TASK, STREAM_RAYS
from cylcollide.query.loops.brute_force import RayLists, make_ray_lists
from cylcollide.query.loops.leaf import RayState, make_ray_state
from cylcollide.query.loops.pair_queue import PairQueue, make_pair_queue
from cylcollide.query.loops.ray_sort import SortScratch, make_sort_scratch
from cylcollide.query.loops.recorded_stream import RecordedScratch, make_recorded_scratch
from cylcollide.query.loops.refine import FACES, RefineQueue, make_refine_queue

_kept = threading.local()


class StreamScratch(NamedTuple):
    """Buffers of `cast_stream`."""

    state: RayState
    stream: Stream
    sort: SortScratch
    refine: RefineQueue


class PointScratch(NamedTuple):
    """Buffers of `locate_points`."""

    place: Float32Array  # (3, BLOCK_RAYS): points in the frame of the tree
    pairs: Pairs
    queue: PairQueue


def scratch_for_streams(tree: Tree, rays: int) -> StreamScratch:
    """Buffers of this thread for a chunk of so many rays through this tree."""
    kept: StreamScratch | None = getattr(_kept, "streams", None)
    if kept is None or len(kept.stream.code) < tree.stack_size or len(kept.sort.key) < rays:
        state, stream = make_ray_state(STREAM_RAYS), make_stream(tree, STREAM_RAYS)
        sort, refine = make_sort_scratch(max(rays, RAYS_PER_TASK)), make_refine_queue(STREAM_RAYS)
        kept = _kept.streams = StreamScratch(state, stream, sort, refine)
    return kept


def scratch_for_recorded() -> RecordedScratch:
    """Buffers of this thread for rays that are about recorded states, beside those for streams."""
    kept: RecordedScratch | None = getattr(_kept, "recorded", None)
    if kept is None:
        kept = _kept.recorded = make_recorded_scratch()
    return kept


def scratch_for_brute_force(limbs: int) -> RayLists:
    """Buffers of this thread for rays against so many limbs."""
    lists: RayLists | None = getattr(_kept, "lists", None)
    if lists is None or len(lists.listed) != limbs * FACES:
        lists = _kept.lists = make_ray_lists(limbs)
    return lists


def scratch_for_points(tree: Tree) -> PointScratch:
    """Buffers of this thread for points through this tree."""
    kept: PointScratch | None = getattr(_kept, "points", None)
    if kept is None or len(kept.pairs.queued) < levels_of(tree):
        place = np.empty((3, BLOCK_RAYS), np.float32)
        kept = _kept.points = PointScratch(place, make_pairs(levels_of(tree), BLOCK_RAYS), make_pair_queue())
    return kept
