"""Work buffers of the loops, kept by each thread: fresh memory costs as much as the traversal."""

import threading

import numpy as np

from cylcollide._types import Float32Array, Int32Array
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.ray_node_pairs import Pairs, levels_of, make_pairs
from cylcollide.bvh.top_boxes import PLACES
from cylcollide.constants import BLOCK_RAYS, RAYS_PER_TASK, STREAM_RAYS, TREE_WIDTH
from cylcollide.query.loops.leaf import StreamScratch, make_stream_scratch
from cylcollide.query.loops.nearest import NearState, make_near_state
from cylcollide.query.loops.packets import PAIR_BATCH, SHAPES, PairQueue, make_pair_queue
from cylcollide.query.loops.recorded_stream import RecordedScratch, make_recorded_scratch
from cylcollide.query.loops.surface import BLOCK, make_surface_queue
from cylcollide.query.loops.within import NEAR_BATCH
from cylcollide.runtime.compile import pack

_kept = threading.local()


def scratch_for_streams(tree: Tree, rays: int) -> StreamScratch:
    """Buffers of this thread for a chunk of this many rays through this tree."""
    kept: StreamScratch | None = getattr(_kept, "streams", None)
    if kept is None or len(kept.stream.code) < tree.stack_size or len(kept.key) < rays:
        kept = _kept.streams = make_stream_scratch(tree, STREAM_RAYS, max(rays, RAYS_PER_TASK))
    return kept


def packed_for_streams(tree: Tree, rays: int) -> StreamScratch:
    """`scratch_for_streams`, packed for loops: without that, reading forty arrays takes as long as ten rays."""
    state = scratch_for_streams(tree, rays)
    if getattr(_kept, "packed_from", None) is not state:
        _kept.packed, _kept.packed_from = pack(state), state
    packed: StreamScratch = _kept.packed
    return packed


def scratch_for_recorded() -> RecordedScratch:
    """Buffers of this thread for rays against recorded states, in addition to those for streams."""
    kept: RecordedScratch | None = getattr(_kept, "recorded", None)
    if kept is None:
        kept = _kept.recorded = make_recorded_scratch()
    return kept


def scratch_for_points(tree: Tree) -> tuple[Float32Array, Pairs, PairQueue]:
    """Buffers of this thread for points through this tree: points in its frame, pairs with nodes, pairs with limbs."""
    kept: tuple[Float32Array, Pairs, PairQueue] | None = getattr(_kept, "points", None)
    if kept is None or len(kept[1].queued) < levels_of(tree):
        queue = make_pair_queue(SHAPES, PAIR_BATCH, 0)
        kept = _kept.points = np.empty((3, BLOCK_RAYS), np.float32), make_pairs(levels_of(tree), BLOCK_RAYS), queue
    return kept


def scratch_for_near_points(tree: Tree) -> tuple[Float32Array, Pairs, PairQueue, NearState]:
    """Buffers of this thread for points and limbs near them, as `scratch_for_points`, and for the nearest limb."""
    kept: tuple[Float32Array, Pairs, PairQueue, NearState] | None = getattr(_kept, "near_points", None)
    if kept is None or len(kept[1].queued) < levels_of(tree):
        queue, state = make_pair_queue(SHAPES, NEAR_BATCH, 2 * PAIR_BATCH), make_near_state()
        pairs = make_pairs(levels_of(tree), TREE_WIDTH * TREE_WIDTH * BLOCK_RAYS)
        kept = _kept.near_points = np.empty((8, PLACES), np.float32), pairs, queue, state
    return kept


def scratch_for_surface() -> tuple[PairQueue, Int32Array]:
    """Buffers of this thread for positions and normals."""
    kept: tuple[PairQueue, Int32Array] | None = getattr(_kept, "surface", None)
    if kept is None:
        kept = _kept.surface = make_surface_queue(), np.empty(BLOCK, np.int32)
    return kept
