"""Which loop answers a request: one ray at a time, brute force against few limbs, or streams through the tree."""

from collections.abc import Callable

from cylcollide.constants import FEW_LIMBS, SMALLEST_BATCH, SMALLEST_STREAM
from cylcollide.query.loops.brute_force import cast_brute_force
from cylcollide.query.loops.columns import HitColumns
from cylcollide.query.loops.stream import cast_stream
from cylcollide.query.request import RayRequest, State
from cylcollide.query.scratch import scratch_for_brute_force, scratch_for_streams


def use_single_rays(state: State, rays: int) -> bool:
    """Whether so many rays had better walk alone."""
    return rays < (SMALLEST_BATCH if state.tree.items <= FEW_LIMBS else SMALLEST_STREAM)


def loop_for(state: State, request: RayRequest, aim: int, hits: HitColumns) -> Callable[[int, int], None]:
    """How many rays find their first limbs, or any: against all of few limbs, or as streams.

    The answers agree bit by bit with those of one by one; how many rays need exact arithmetic may differ.
    """
    raw, batch, table, tree = request.raw, request.batch, state.kernel_rows, state.tree
    alike, limbs = batch.mask.size == batch.ignored.size == 1, len(table.solid)

    def against_all(begin: int, end: int) -> None:
        if not cast_brute_force.call(raw, batch, table, scratch_for_brute_force(limbs), begin, end, aim, hits):
            request.raise_invalid()

    def as_stream(begin: int, end: int) -> None:
        if not cast_stream.call(
            raw, batch, table, tree, *scratch_for_streams(tree, end - begin), begin, end, aim, hits
        ):
            request.raise_invalid()

    return against_all if alike and limbs <= FEW_LIMBS else as_stream
