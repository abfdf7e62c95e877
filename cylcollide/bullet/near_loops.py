"""Loops of a ray test on the bodies that its rays come near, without a tree: for a few rays after a step."""

from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import POLICY_EXIT, Column, Rows, Vectors
from cylcollide.bullet.box_loops import enters
from cylcollide.bullet.near_segments import (
    is_within,
    segment_at,
    size_of,
    square_distance,
)
from cylcollide.bullet.pose_loops import EVERY_SHAPE_FITS, Posed, pose_shapes
from cylcollide.bullet.sheet_heights import SheetTable
from cylcollide.bullet.sheet_loops import fill_sheets, first_sheets
from cylcollide.kernels.hit_bounds import is_undecided, limb_hit_bounds, no_hit
from cylcollide.kernels.limb_table import EXTENT, LimbRows, LimbTable, fill_row, is_considered, limb_at
from cylcollide.kernels.ray import Rays, is_trusted
from cylcollide.kernels.ties import closer_or_tied
from cylcollide.query.loops.columns import HitColumns
from cylcollide.query.loops.inputs import RayBatch, copy_checked
from cylcollide.query.loops.packets import PairQueue
from cylcollide.query.loops.single import line_at, write_hit
from cylcollide.query.loops.surface import write_surface
from cylcollide.runtime.compile import compiled_loop, inlined
from cylcollide.runtime.simd import LANES

LINKS_PER_RAY = 32
"""Capacity of the memory for links near rays: their average number per ray."""

NO_RAY = -1
"""Marks the end of the pairs in `NearMemory.ray_links`."""

UNDECIDED = -1
"""In place of a count: all limbs have to be read, or exact arithmetic has to decide."""


class NearShapes(NamedTuple):
    """The n shapes of a client by body, m of them planes, and the data of its B bodies that motion does not change.

    The wrapped links of a body are in descending order of reach. Frames are those of all bases, then of all links.
    """

    centred: Column[np.bool_]  # (B,): whether the base is at the centre of its box, which contains all of its shapes
    bare: Column[np.bool_]  # (B,): whether the base is centred and has no shapes
    first_link: Column[np.int64]  # (B + 1,): the frame of each body's first link
    first_rest: Column[np.int64]  # (B,): the frame of each body's first link that is read only if a ray comes near it
    first_box: Column[np.int64]  # (B + 1,): the first wrapped link of each body
    first_slide: Column[np.int64]  # (B + 1,): the first sliding joint of each body
    stretch: float  # largest factor by which positions of sliding joints are stretched
    grown: float  # shapes of a body may reach this far beyond the box of its base
    reach: Column[np.float64]  # (B,): all shapes of a body are within this distance of the base
    box_reach: Column[np.float64]  # (boxes,): all of a wrapped link is within this distance of the base
    ball: Column[np.float64]  # (frames,): limbs of a link are within this distance of its centre of mass; -inf without
    holders: Rows[np.int64]  # (frames, 2): frames of the two links, or of one twice, that hold a link of the rest
    arms: Rows[np.float64]  # (frames, 10): numbers of these holds, from `closest_hold`
    first_shape: Column[np.int64]  # (frames,): the first shape of each link
    shape_count: Column[np.int64]  # (frames,)
    plane_at: Column[np.int64]  # (m,): frames of planes
    plane_bits: Rows[np.int64]  # (m, 7): bits of these frames in the scene
    at: Column[np.int64]  # (n,): the frame of each shape
    limb: Column[np.int64]  # (n,): the limb of each shape; of a plane, the next limb
    box: Column[np.int64]  # (n,): the box of each shape; of other shapes, the next box
    is_limb: Column[np.bool_]  # (n,)
    beyond: Column[np.float64]  # (n,): all of a shape is within this distance of its link's centre of mass
    kind: Column[np.int64]  # (n,): this and the next ones as in `Shapes`
    size: Vectors
    position: Vectors
    rotation: Rows[np.float64]
    sheets: SheetTable  # where the planes are
    limb_rank: Column[np.int64]  # (n - m,): this and the next one as in `MirrorState`
    body_link: Rows[np.int32]  # (n + 1, 2)


class NearMemory(NamedTuple):
    """Memory that a ray test of up to r rays writes; the links of bodies that no ray comes near are not written."""

    frames: Rows[np.float64]  # (frames, 7): as read
    bits: Rows[np.int64]  # (frames, 7): their bits
    boxes: Rows[np.float64]  # (boxes, 6): of wrapped links, as read
    slides: Rows[np.float64]  # (S, 2): positions and velocities of sliding joints, as read
    out: Column[np.float64]  # (B,): how far beyond its reach a body may be
    place: Rows[np.float64]  # (4, LANES k >= B): centre, and radius with slack, of a ball around each body
    square: Column[np.float64]  # (LANES k,): the least squared distance of a ray from its centre
    often: Column[np.int64]  # (B,): number of consecutive tests up to now in which a ray came near
    read: Column[np.int64]  # (B,): 1 for a centred body that is near so often that its box is not read first; else 0
    near: Column[np.bool_]  # (B,): whether a ray comes near the body
    pairs: Rows[np.int64]  # (r, k): bits of bodies near each ray
    around: Rows[np.float64]  # (B, 6): corners of a centred base's box
    limits: Rows[np.float64]  # (6, LANES k): corners of a box around the limbs of a near body; infinite for others
    ball: Rows[np.float64]  # (4, frames + LANES): centre, and radius with slack, of a ball around a near body's link
    unplaced: Column[np.int64]  # (B,): 1 where the base is still to be read
    unread: Column[np.int64]  # (B,): 1 where links are still to be read
    wrapped: Column[np.int64]  # (B,): how many of its wrapped links a ray may come near
    known: Column[
        np.bool_
    ]  # (frames,): whether a link of a near body is read first; else its frame is only approximate
    wanted: Column[np.bool_]  # (frames,): whether one of the other links is to be read because a ray comes near
    ray_links: Rows[
        np.int32
    ]  # (LINKS_PER_RAY * r, 2): pairs of a ray, ascending, and the frame of a link that it may come near
    placed: Column[np.bool_]  # (n,): whether a shape of a link in `ray_links` is written to `made` and to the table
    made: Posed
    table: LimbTable  # its ends and boxes are those of `made`
    rows: LimbRows  # of the table
    batch: RayBatch  # (r, 3): the rays
    hits: HitColumns  # (r,): of limbs
    shape: Column[np.int32]  # (r,): this and the fraction as `first_sheets` writes them
    fraction: Column[np.float64]  # (r,)
    position: Vectors  # (r, 3)
    normal: Vectors  # (r, 3)
    entering: Column[np.int64]  # (r,): rays that enter a box of a wrapped link
    body_link: Rows[np.int32]  # (r, 2): of the first shape, -1 for a miss
    queue: PairQueue  # this and the next one: buffers of `write_surface`
    surfaces: Column[np.int32]


@inlined
def _place(shapes: NearShapes, memory: NearMemory, s: int) -> bool:
    """Write pose and row of a limb unless they are written already; returns whether it fits."""
    if memory.placed[s]:
        return True
    made, limb, end = memory.made, shapes.limb[s], s + 1
    part = Posed(
        made.position[s:end],
        made.rotation[s:end],
        made.turn[s:end],
        made.p1[limb:],
        made.p2[limb:],
        made.boxes[shapes.box[s] :],
    )
    of_shape = shapes.at[s:end], shapes.kind[s:end], shapes.size[s:end], shapes.position[s:end], shapes.rotation[s:end]
    if pose_shapes(memory.frames, *of_shape, part) != EVERY_SHAPE_FITS:
        return False
    fill_row(memory.table, limb)
    memory.placed[s] = True
    return True


@compiled_loop
def cast_near(shapes: NearShapes, memory: NearMemory, n: int, mask: int, cores: bool) -> int:
    """Write the hits of the first n segments on the bodies that are marked in `memory`; returns n, or UNDECIDED.

    They are bit-equal to `MirrorHits`. `cores`: whether a start in a limb is left undecided, for `core_hits`.
    """
    rows, ray_links, largest, undecided, end = memory.rows, memory.ray_links, 0.0, 0, 0
    origin, second, is_segment, distance, radius = memory.batch.rays
    memory.batch.mask[0] = mask
    rays = Rays(origin[:n], second[:n], is_segment, distance, radius)
    batch = RayBatch(rays, memory.batch.mask, memory.batch.ignored, memory.batch.policy)
    limb, times, face, inside, open_rows = memory.hits
    hits = HitColumns(limb[:n], times[:n], face[:n], inside[:n], open_rows[:n])
    shape, fraction, position, normal = memory.shape[:n], memory.fraction[:n], memory.position[:n], memory.normal[:n]
    if not copy_checked(rays, rays, 0, n):
        return UNDECIDED
    while ray_links[end, 0] != NO_RAY:
        for k in range(shapes.shape_count[ray_links[end, 1]]):
            memory.placed[shapes.first_shape[ray_links[end, 1]] + k] = False
        end += 1
    end = 0
    for i in range(n):
        first = end
        while ray_links[end, 0] == i:
            end += 1
        undecided += _cast_one(shapes, batch, memory, i, first, end, hits) or (cores and hits.inside[i])
    for m in range(end):
        for k in range(shapes.shape_count[ray_links[m, 1]]):
            s = shapes.first_shape[ray_links[m, 1]] + k
            if memory.placed[s]:
                largest = max(largest, rows.rows[shapes.limb[s], EXTENT])
    undecided += first_sheets(
        shapes.sheets, rows, shapes.limb_rank, rays.origin, rays.second, mask, largest,
        hits.limb, hits.fraction, hits.face, shape, fraction, 0, n,
    )  # fmt: skip
    if undecided > 0:
        return UNDECIDED
    buffers = memory.queue, memory.surfaces
    write_surface(batch, rows, hits.limb, hits.fraction, hits.face, False, *buffers, position, normal)
    fill_sheets(shapes.sheets, rays.origin, rays.second, len(shapes.limb_rank), shape, position, normal, 0, n)
    for i in range(n):
        for k in range(2):
            memory.body_link[i, k] = shapes.body_link[shape[i], k] if shape[i] >= 0 else -1
    return n


@compiled_loop
def enter_meshes(shapes: NearShapes, memory: NearMemory, n: int, padding: float) -> int:
    """Write the rows of the first n segments that enter a box of a near wrapped link before their fraction.

    Returns how many, or UNDECIDED for a box that is not finite.
    """
    count, starts, ends = 0, memory.batch.rays.origin, memory.batch.rays.second
    for i in range(n):
        until, entered = min(memory.fraction[i], 1.0), False
        for body in range(len(memory.near)):
            first, is_pair = shapes.first_box[body], memory.pairs[i, body // LANES] >> (body % LANES) & 1
            for k in range(first, first + memory.wrapped[body] * is_pair):
                box = memory.boxes[k]
                if not abs(box[0] + box[1] + box[2] + box[3] + box[4] + box[5]) < inf:
                    return UNDECIDED
                entered = entered or enters(box, padding, starts, ends, i, until)
        if entered:
            memory.entering[count] = i
            count += 1
    return count


@inlined
def _cast_one(
    shapes: NearShapes, batch: RayBatch, memory: NearMemory, i: int, first: int, end: int, hits: HitColumns
) -> bool:
    """Write the first limb along ray i, of the links in `ray_links[first:end]`; returns whether it is undecided."""
    ray, rows, rays, fit = line_at(batch.rays, i), memory.rows, batch.rays, True
    best, mask, segment = no_hit(ray.limit), int(batch.mask[0]), segment_at(rays.origin, rays.second, i)
    for m in range(first, end):
        frame = memory.ray_links[m, 1]
        place, first_shape = memory.frames[frame], shapes.first_shape[frame]
        square, largest = square_distance(segment, place), segment[3] + size_of(place[0], place[1], place[2])
        for s in range(first_shape, first_shape + shapes.shape_count[frame]):
            k = shapes.limb[s]
            if (
                shapes.is_limb[s]
                and is_within(square, largest, shapes.beyond[s])
                and is_considered(rows.character[k], rows.mask[k], mask, -1)
            ):
                fit = fit and _place(shapes, memory, s)
                bounds = limb_hit_bounds(ray, limb_at(rows.rows, rows.kernel_shape, k), batch.policy)
                best = closer_or_tied(best, k, bounds, rows.rows, rows.kernel_shape, True, batch.policy == POLICY_EXIT)
    undecided = is_undecided(best) or not is_trusted(ray) or not fit
    write_hit(hits, i, ray, best, undecided, batch, rows)
    return undecided
