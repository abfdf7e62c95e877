"""The loop over blades that are swept in the past: as in `blades`, with each limb placed whenever it is tested.

A stroke is cut into pieces at ticks. In a piece, `recorded.motion` bounds the speed of the points of a limb.
"""

from math import inf
from typing import NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import NO_LIMB, Column, Vectors
from cylcollide.bvh.near_points import visit_nearest
from cylcollide.bvh.traverse import Stack
from cylcollide.kernels.limb_table import Limb, LimbRows, limb_at
from cylcollide.query.loops.blade_touch import blade_of, first_touch
from cylcollide.query.loops.blades import Stroke, Swept, Touched, earlier, may_touch, stroke_of, write_touched
from cylcollide.query.loops.inputs import PointFilters
from cylcollide.query.loops.recorded_candidates import Protection, may_be_hit, tree_at
from cylcollide.recorded.limbs import Recorded, TickRows, place_one, ticks_around
from cylcollide.recorded.motion import MARGIN, motion_of
from cylcollide.runtime.compile import compiled, compiled_loop, inlined


class StrokePieces(NamedTuple):
    """Pieces of strokes, in compressed rows; filters and protection have one entry per piece."""

    offsets: Column[np.int64]  # (blades + 1,)
    tick: Column[np.int32]  # the place of its tick
    times: Vectors  # (pieces, 3): begin and end as shares of the stroke, and change of alpha per share
    alpha: Column[np.float64]  # at the begin
    filters: PointFilters
    protection: Protection
    recorded: Recorded


InPiece: TypeAlias = tuple[StrokePieces, int, TickRows, TickRows, LimbRows]
"""A piece of a stroke, its tick and the next one, and memory for one limb."""


@inlined
def in_piece(pieces: StrokePieces, j: int, placed: LimbRows) -> InPiece:
    """Piece j."""
    here, there = ticks_around(pieces.recorded, pieces.tick[j])
    return pieces, j, here, there, placed


@compiled
def limb_then(query: tuple[InPiece, int], t: float) -> Limb:
    """The limb in a row of the tick at a share of the stroke; its extent is infinite if it is no limb then."""
    (pieces, j, here, there, placed), row = query
    begin, per_share = pieces.times[j, 0], pieces.times[j, 2]
    alpha = min(max(pieces.alpha[j] + (t - begin) * per_share, 0.0), 1.0)
    valid = place_one(here, there, row, alpha, placed.rows, placed.kernel_shape, 0)
    limb = limb_at(placed.rows, placed.kernel_shape, 0)
    extent = limb.extent if valid else inf
    return Limb(
        limb.kind, limb.centre, limb.axis, limb.half_length, limb.radius, limb.radius2, limb.p1, limb.p2, extent
    )  # fmt: skip


@inlined
def touched_limb_then(query: tuple[StrokePieces, int, LimbRows, int], t: float) -> Limb:
    """`limb_then` of a limb that is touched in a piece."""
    pieces, j, placed, row = query
    return limb_then((in_piece(pieces, j, placed), row), t)


@compiled_loop
def sweep_recorded(
    ends: tuple[Vectors, Vectors, Vectors, Vectors],
    radius: Column[np.float64],
    resolution: float,
    pieces: StrokePieces,
    stack: Stack,
    placed: LimbRows,
    begin: int,
    end: int,
    swept: Swept,
    piece_of: Column[np.int64],
) -> None:
    """Write the first contacts of blades `begin` to `end`, with rows of ticks, and the piece of each, -1 for none."""
    for i in range(begin, end):
        stroke = stroke_of(blade_of(ends, radius[i], i), resolution)
        found, piece = (inf, 0.0, NO_LIMB, inf), -1
        for j in range(pieces.offsets[i], pieces.offsets[i + 1]):
            if found[0] == inf:
                tree = tree_at(pieces.recorded, pieces.tick[j], stack.code.size)
                query, piece = (in_piece(pieces, j, placed), stroke), j
                found = visit_nearest(tree, stack, stroke.centre, stroke.reach, test_moving, query, found)
        piece_of[i] = piece if found[2] >= 0 else -1
        write_touched(swept, i, stroke, found, touched_limb_then, (pieces, piece, placed, found[2]))


@inlined
def test_moving(query: tuple[InPiece, Stroke], row: int, found: Touched) -> tuple[Touched, float]:
    """The first contact so far including a row of the tick, and how far away other limbs may be."""
    at, stroke = query
    pieces, j, here, there, _ = at
    if may_be_hit(here, row, pieces.filters, pieces.protection, False, j):
        begin, end, per_share = pieces.times[j, 0], pieces.times[j, 1], pieces.times[j, 2]
        motion = motion_of(here, there, row)  # boxes jump as the next tick begins, in the pieces of that tick
        limb_speed = (motion.straight + motion.turning) * MARGIN * per_share if per_share > 0.0 else 0.0
        if may_touch(stroke, limb_then((at, row), begin), limb_speed * (end - begin) if end > begin else 0.0):
            course, until = (begin, end, limb_speed), min(found[0], end)
            touch = first_touch(stroke.blade, course, limb_then, (at, row), stroke.resolution, until)
            found = earlier(found, row, touch)
    return found, stroke.reach
