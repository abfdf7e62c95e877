"""Loops of a ray test on the bodies that its rays come near, without a tree: for a few rays after a step."""

from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import Column, Rows, Vectors
from cylcollide.bullet.box_loops import enters
from cylcollide.bullet.near_segments import (
    SLACK,
    crosses,
    is_within,
    segment_at,
    size_of,
    slope_of,
    square_distance,
)
from cylcollide.bullet.pose_loops import EVERY_SHAPE_FITS, Posed, pose_shapes
from cylcollide.bullet.sheet_heights import SheetTable
from cylcollide.bullet.sheet_loops import fill_sheets, first_sheets
from cylcollide.kernels.hit_bounds import is_undecided, limb_hit_bounds, no_hit
from cylcollide.kernels.limb_table import EXTENT, LimbRows, LimbTable, fill_row, is_considered, limb_at
from cylcollide.kernels.ray import Rays, ray_at
from cylcollide.kernels.ties import closer_or_tied
from cylcollide.query.loops.columns import HitColumns
from cylcollide.query.loops.inputs import RayBatch, copy_checked
from cylcollide.query.loops.packets import PairQueue
from cylcollide.query.loops.single import write_hit
from cylcollide.query.loops.surface import write_surface
from cylcollide.runtime.compile import compiled_loop, inlined

OFTEN = 4
"""After so many ray tests near a body, all its links are read without a look at its base, which takes longer."""

UNDECIDED = -1
"""In place of a count: all limbs are to be read, or exact arithmetic decides."""


class NearShapes(NamedTuple):
    """The n shapes of a client, by body, and what of the B bodies stays when they move; m of the shapes are planes.

    Of a body, links and wrapped links each come by descending reach. Frames are those of all bases, then of all links.
    """

    bare: Column[np.bool_]  # (B,): whether the base has no shape, and is at the centre of its box
    first_link: Column[np.int64]  # (B + 1,): of each body, the frame of its first link
    first_shape: Column[np.int64]  # (B + 1,)
    first_box: Column[np.int64]  # (B + 1,): of wrapped links
    reach: Column[np.float64]  # (frames,): so near to the base are all of a body; all of a link, but wrapped shapes
    box_reach: Column[np.float64]  # (boxes,): the same of wrapped links
    plane_at: Column[np.int64]  # (m,): frames of planes
    plane_bits: Rows[np.int64]  # (m, 7): what they were
    at: Column[np.int64]  # (n,): the frame of each shape
    limb: Column[np.int64]  # (n,): the limb that each shape is, or the one behind it if it is a plane
    box: Column[np.int64]  # (n,): the same of boxes
    is_limb: Column[np.bool_]  # (n,)
    beyond: Column[np.float64]  # (n,): so near to the centre of mass of its link is all of a shape
    kind: Column[np.int64]  # (n,): this and the next ones as in `Shapes`
    size: Vectors
    position: Vectors
    rotation: Rows[np.float64]
    sheets: SheetTable  # where the planes are
    sheet_rank: Column[np.int64]  # (m,): this and the next ones as in `MirrorState`
    limb_rank: Column[np.int64]  # (n - m,)
    body_link: Rows[np.int32]  # (n + 1, 2)


class NearMemory(NamedTuple):
    """What a ray test of up to r rays writes; of bodies that no ray comes near, nothing is written."""

    frames: Rows[np.float64]  # (frames, 7): as read
    bits: Rows[np.int64]  # (frames, 7): their bits
    boxes: Rows[np.float64]  # (boxes, 6): of wrapped links, as read
    out: Column[np.float64]  # (B,): how far the sliding joints of a body are out
    place: Vectors  # (B, 3): about where a body is, and
    square: Column[np.float64]  # (B,): the least squared distance of a ray from there
    often: Column[np.int64]  # (B,): of how many of the last tests a ray came near
    read: Column[np.int64]  # (B,): 1 for a bare body that is near so often that all its links are read at once; else 0
    near: Column[np.bool_]  # (B,): whether a ray comes near the body
    pairs: Rows[np.bool_]  # (r, B): whether ray and body are a near pair
    around: Rows[np.float64]  # (B, 6): corners of a bare base's box, then of one around the limbs of a near body
    links: Column[np.int64]  # (B,): how many of its links,
    unread: Column[np.int64]  # (B,): how many of these are still to be read, and
    wrapped: Column[np.int64]  # (B,): of its wrapped links a ray may come near
    placed: Column[np.bool_]  # (n,): whether a shape of a near body is in `made` and in the table
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


@compiled_loop
def mark_near(shapes: NearShapes, memory: NearMemory, n: int) -> int:
    """Mark what the first n segments come near, by bodies' bases; returns UNDECIDED if a plane has moved, else 0.

    A base is in `memory.frames`, or is the centre of a box in `memory.around`. A body whose links were read counts as
    near. A wrapped link is where it is once any link of its body was read.
    """
    starts, ends, longest, places = memory.batch.rays.origin, memory.batch.rays.second, 0.0, memory.place
    for k in range(len(shapes.plane_at)):
        for axis in range(shapes.plane_bits.shape[1]):
            if memory.bits[shapes.plane_at[k], axis] != shapes.plane_bits[k, axis]:
                return UNDECIDED
    for body in range(len(memory.near)):
        box, is_read = memory.around[body], memory.read[body] > 0  # a link that was read is about where the base is
        frame, by_box = memory.frames[shapes.first_link[body] if is_read else body], shapes.bare[body] and not is_read
        for axis in range(3):
            places[body, axis] = 0.5 * (box[axis] + box[3 + axis]) if by_box else frame[axis]
        memory.square[body] = inf
    for i in range(n):
        segment = segment_at(starts, ends, i)
        longest = max(longest, segment[3])
        for body in range(len(memory.near)):
            place, square = places[body], square_distance(segment, places[body])
            memory.square[body] = min(memory.square[body], square if square >= 0.0 else 0.0)
            largest, reach = segment[3] + size_of(place[0], place[1], place[2]), shapes.reach[body] + memory.out[body]
            memory.pairs[i, body] = memory.read[body] > 0 or is_within(square, largest, reach)
    for body in range(len(memory.near)):
        link, end, out = shapes.first_link[body], shapes.first_link[body + 1], memory.out[body]
        square, largest = memory.square[body], longest + size_of(places[body, 0], places[body, 1], places[body, 2])
        is_read, is_near, links = memory.read[body] > 0, is_within(square, largest, shapes.reach[body] + out), 0
        while link + links < end and (is_read or is_within(square, largest, shapes.reach[link + links] + out)):
            links += 1
        box, wrapped = shapes.first_box[body], 0
        while box + wrapped < shapes.first_box[body + 1] and is_within(
            square, largest, shapes.box_reach[box + wrapped] + out
        ):
            wrapped += 1
        if wrapped > 0 and links == 0 and link < end:
            links = 1
        memory.unread[body] = 0 if is_read else links
        memory.often[body] = memory.often[body] + 1 if is_near else 0
        memory.read[body] = shapes.bare[body] and memory.often[body] >= OFTEN
        memory.near[body], memory.links[body], memory.wrapped[body] = is_near or is_read, links, wrapped
    return 0


@inlined
def _is_read(shapes: NearShapes, memory: NearMemory, body: int, s: int) -> bool:
    """Whether shape s of a near body is a limb of its base or of a link that a ray may come near."""
    return bool(shapes.is_limb[s]) and bool(shapes.at[s] < shapes.first_link[body] + memory.links[body])


@inlined
def _surround(shapes: NearShapes, body: int, memory: NearMemory, longest: float) -> bool:
    """Write a box around the limbs of a body that are read, of which none is placed yet; whether they are finite.

    It is larger by the slack for segments whose coordinates are at most `longest`.
    """
    around, total = memory.around[body], 0.0
    for axis in range(3):
        around[axis], around[3 + axis] = inf, -inf
    for s in range(shapes.first_shape[body], shapes.first_shape[body + 1]):
        memory.placed[s] = False
        if _is_read(shapes, memory, body, s):
            frame = memory.frames[shapes.at[s]]
            for axis in range(3):
                around[axis] = min(around[axis], frame[axis] - shapes.beyond[s])
                around[3 + axis] = max(around[3 + axis], frame[axis] + shapes.beyond[s])
            total += abs(frame[0] + frame[1] + frame[2] + frame[3] + frame[4] + frame[5] + frame[6])
    for axis in range(3):
        slack = SLACK * (longest + abs(around[axis]) + abs(around[3 + axis]))
        around[axis], around[3 + axis] = around[axis] - slack, around[3 + axis] + slack
    return total < inf


@inlined
def _place(shapes: NearShapes, memory: NearMemory, s: int) -> bool:
    """Write pose and row of a limb, if they are not written; returns whether it fits."""
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
    """Write what the first n segments hit of the bodies that are marked in `memory`; n, or UNDECIDED.

    Bits are those of `MirrorHits`. `cores`: whether a start in a limb is left undecided, as `core_hits` has to see it.
    """
    rows, largest, longest, undecided = memory.rows, 0.0, 0.0, 0
    origin, second, is_segment, distance, radius = memory.batch.rays
    memory.batch.mask[0] = mask
    rays = Rays(origin[:n], second[:n], is_segment, distance, radius)
    batch = RayBatch(rays, memory.batch.mask, memory.batch.ignored, memory.batch.policy)
    limb, times, face, inside, open_rows = memory.hits
    hits = HitColumns(limb[:n], times[:n], face[:n], inside[:n], open_rows[:n])
    shape, fraction, position, normal = memory.shape[:n], memory.fraction[:n], memory.position[:n], memory.normal[:n]
    if not copy_checked(rays, rays, 0, n):
        return UNDECIDED
    for i in range(n):
        longest = max(longest, segment_at(rays.origin, rays.second, i)[3])
    for body in range(len(memory.near)):
        if memory.near[body] and not _surround(shapes, body, memory, longest):
            return UNDECIDED
    for i in range(n):
        undecided += _cast_one(shapes, batch, memory, i, hits) or (cores and hits.inside[i])
    for body in range(len(memory.near)):
        for s in range(shapes.first_shape[body], shapes.first_shape[body + 1]):
            if memory.near[body] and memory.placed[s]:
                largest = max(largest, rows.rows[shapes.limb[s], EXTENT])
    undecided += first_sheets(
        shapes.sheets, shapes.sheet_rank, rows, shapes.limb_rank, rays.origin, rays.second, mask, largest,
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
    """Write the rows of the first n segments that enter a box of a near wrapped link before their fraction; how many.

    UNDECIDED for a box that is not finite.
    """
    count, starts, ends = 0, memory.batch.rays.origin, memory.batch.rays.second
    for i in range(n):
        until, entered = min(memory.fraction[i], 1.0), False
        for body in range(len(memory.near)):
            first = shapes.first_box[body]
            for k in range(first, first + memory.wrapped[body] * memory.pairs[i, body]):
                box = memory.boxes[k]
                if not abs(box[0] + box[1] + box[2] + box[3] + box[4] + box[5]) < inf:
                    return UNDECIDED
                entered = entered or enters(box, padding, starts, ends, i, until)
        if entered:
            memory.entering[count] = i
            count += 1
    return count


@inlined
def _cast_one(shapes: NearShapes, batch: RayBatch, memory: NearMemory, i: int, hits: HitColumns) -> bool:
    """Write the first limb along ray i; returns whether it is undecided."""
    ray, rows, rays, fit = ray_at(batch.rays, i), memory.rows, batch.rays, True
    best, mask, segment = no_hit(ray.limit), int(batch.mask[0]), segment_at(rays.origin, rays.second, i)
    slopes = slope_of(segment[1][0]), slope_of(segment[1][1]), slope_of(segment[1][2])
    for body in range(len(memory.near)):
        if not memory.pairs[i, body] or not crosses(segment, slopes, memory.around[body]):
            continue
        for s in range(shapes.first_shape[body], shapes.first_shape[body + 1]):
            k, place = shapes.limb[s], memory.frames[shapes.at[s]]
            largest = segment[3] + size_of(place[0], place[1], place[2])
            if (
                _is_read(shapes, memory, body, s)
                and is_within(square_distance(segment, place), largest, shapes.beyond[s])
                and is_considered(rows.character[k], rows.mask[k], mask, -1)
            ):
                fit = fit and _place(shapes, memory, s)
                bounds = limb_hit_bounds(ray, limb_at(rows.rows, rows.kernel_shape, k), batch.policy)
                best = closer_or_tied(best, k, bounds, rows.rows, rows.kernel_shape, True)
    undecided = is_undecided(best) or ray.extent == inf or not fit
    write_hit(hits, i, ray, best, undecided, batch, rows)
    return undecided
