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
from cylcollide.query.loops.brute_force import Lists, make_lists
from cylcollide.query.loops.leaf import Work, make_work
from cylcollide.query.loops.points import CROWD, SHAPES, Waiting
from cylcollide.query.loops.ray_sort import Sorting, make_sorting
from cylcollide.query.loops.refine import FACES, Entering, make_entering

_rooms = threading.local()


def room(tree: Tree) -> tuple[Float32Array, Pairs, Waiting]:
    """Room for the points of one task, kept by each thread."""
    kept: tuple[Float32Array, Pairs, Waiting] | None = getattr(_rooms, "points", None)
    if kept is None or len(kept[1].waiting) < levels_of(tree):
        point, limb = np.zeros((2, SHAPES, CROWD), np.int32)
        waiting = Waiting(point, limb, np.zeros(SHAPES, np.int64))
        kept = _rooms.points = np.empty((3, BLOCK_RAYS), np.float32), make_pairs(levels_of(tree), BLOCK_RAYS), waiting
    return kept


class Room(NamedTuple):
    """Memory that the loops over many rays write into."""

    work: Work
    stream: Stream
    sorting: Sorting
    entering: Entering


def room_for_streams(tree: Tree, rays: int) -> Room:
    """Room for the rays of one task, kept by each thread: fresh memory costs as much as the walk."""
    kept: Room | None = getattr(_rooms, "streams", None)
    if kept is None or len(kept.stream.code) < tree.stack_size or len(kept.sorting.key) < rays:
        work, stream = make_work(STREAM_RAYS), make_stream(tree, STREAM_RAYS)
        kept = _rooms.streams = Room(work, stream, make_sorting(max(rays, RAYS_PER_TASK)), make_entering(STREAM_RAYS))
    return kept


def room_for_lists(limbs: int) -> Lists:
    """The same for rays against so many limbs."""
    lists: Lists | None = getattr(_rooms, "lists", None)
    if lists is None or len(lists.listed) != limbs * FACES:
        lists = _rooms.lists = make_lists(limbs)
    return lists
