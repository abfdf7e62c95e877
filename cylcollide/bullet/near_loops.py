"""Loops of a ray test on the bodies that its rays come near, without a tree: for a few rays after a step."""

from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import Column, Float64Array, Rows, Vectors
from cylcollide.bullet.box_loops import enters
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

SLACK = 1e-12
"""Share of the coordinates by which a ball is larger, far above the rounding of a distance."""

UNDECIDED = -1
"""In place of a count: all limbs are to be read, or exact arithmetic decides."""


class NearShapes(NamedTuple):
    """The n shapes of a client, by body, and what of the B bodies stays when they move; m of the shapes are planes.

    Of a body, links and wrapped links each come by descending reach. Frames are those of all bases, then of all links.
    """

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
    radius: Column[np.float64]  # (n,): of a ball about the centre of each shape
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
    near: Column[np.bool_]  # (B,): whether a ray comes near the body
    pairs: Rows[np.bool_]  # (r, B): whether ray and body are a near pair
    around: Rows[np.float64]  # (B, 6): corners of a box around the limbs of a near body
    links: Column[np.int64]  # (B,): how many of its links, and
    wrapped: Column[np.int64]  # (B,): of its wrapped links a ray may come near
    made: Posed
    table: LimbTable  # its ends and boxes are those of `made`
    rows: LimbRows  # of the table
    batch: RayBatch  # (r, 3): the rays
    hits: HitColumns  # (r,): of limbs
    shape: Column[np.int32]  # (r,): this and the fraction as `first_sheets` writes them
    fraction: Column[np.float64]  # (r,)
    position: Vectors  # (r, 3)
    normal: Vectors  # (r, 3)
    inverse: Column[np.float64]  # (r,): 1 over the squared length of each ray, and
    size: Column[np.float64]  # (r,): a number as large as any coordinate of its start and its way
    entering: Column[np.int64]  # (r,): rays that enter a box of a wrapped link
    body_link: Rows[np.int32]  # (r, 2): of the first shape, -1 for a miss
    queue: PairQueue  # this and the next one: buffers of `write_surface`
    surfaces: Column[np.int32]


@inlined
def _inverse_square(starts: Float64Array, ends: Float64Array, i: int) -> float:
    """1 over the squared length of segment i; 0 for a point."""
    u, v, w = ends[i, 0] - starts[i, 0], ends[i, 1] - starts[i, 1], ends[i, 2] - starts[i, 2]
    square = u * u + v * v + w * w
    return 1.0 / square if square > 0.0 else 0.0


@inlined
def _size(x: float, y: float, z: float) -> float:
    """A number as large as any coordinate."""
    return abs(x) + abs(y) + abs(z)


@inlined
def _square_distance(
    starts: Float64Array, ends: Float64Array, i: int, inverse: float, x: float, y: float, z: float
) -> float:
    """The squared distance of segment i from a point."""
    a, b, c = starts[i, 0], starts[i, 1], starts[i, 2]
    u, v, w = ends[i, 0] - a, ends[i, 1] - b, ends[i, 2] - c
    p, q, r = x - a, y - b, z - c
    time = min(max((p * u + q * v + r * w) * inverse, 0.0), 1.0)
    p, q, r = p - time * u, q - time * v, r - time * w
    square: float = p * p + q * q + r * r
    return square


@inlined
def _is_within(square: float, largest: float, radius: float) -> bool:
    """Whether a distance is at most the radius; True if float64 does not tell. No coordinate exceeds `largest`."""
    reach = radius + SLACK * (radius + largest)
    return not square > reach * reach


@compiled_loop
def mark_near(shapes: NearShapes, memory: NearMemory, n: int) -> int:
    """Mark what the first n segments come near, by bodies' bases in `memory.frames`; returns how many bodies.

    UNDECIDED if a plane has moved. A wrapped link is where it is once any link of its body was read.
    """
    count, starts, ends = 0, memory.batch.rays.origin, memory.batch.rays.second
    for k in range(len(shapes.plane_at)):
        for axis in range(shapes.plane_bits.shape[1]):
            if memory.bits[shapes.plane_at[k], axis] != shapes.plane_bits[k, axis]:
                return UNDECIDED
    longest = 0.0
    for i in range(n):
        memory.inverse[i] = _inverse_square(starts, ends, i)
        size = _size(starts[i, 0], starts[i, 1], starts[i, 2]) + _size(ends[i, 0], ends[i, 1], ends[i, 2])
        memory.size[i], longest = 2.0 * size, max(longest, 2.0 * size)  # that of start and way
    for body in range(len(memory.near)):
        link, end, out = shapes.first_link[body], shapes.first_link[body + 1], memory.out[body]
        base, square, near = memory.frames[body], inf, False
        own = _size(base[0], base[1], base[2])
        for i in range(n):
            distance = _square_distance(starts, ends, i, memory.inverse[i], base[0], base[1], base[2])
            square = min(square, distance if distance >= 0.0 else 0.0)
            is_near = _is_within(distance, memory.size[i] + own, shapes.reach[body] + out)
            memory.pairs[i, body], near = is_near, near or is_near
        links, largest = 0, longest + own
        while link + links < end and _is_within(square, largest, shapes.reach[link + links] + out):
            links += 1
        box, wrapped = shapes.first_box[body], 0
        while box + wrapped < shapes.first_box[body + 1] and _is_within(
            square, largest, shapes.box_reach[box + wrapped] + out
        ):
            wrapped += 1
        if wrapped > 0 and links == 0 and link < end:
            links = 1
        memory.near[body], memory.links[body], memory.wrapped[body] = near, links, wrapped
        count += near
    return count


@inlined
def _is_read(shapes: NearShapes, memory: NearMemory, body: int, s: int) -> bool:
    """Whether shape s of a near body is a limb of its base or of a link that a ray may come near."""
    return bool(shapes.is_limb[s]) and bool(shapes.at[s] < shapes.first_link[body] + memory.links[body])


@inlined
def _place(shapes: NearShapes, body: int, memory: NearMemory) -> bool:
    """Write poses and rows of the shapes of a body, and a box around them; returns whether all fit."""
    first, end, made, around = shapes.first_shape[body], shapes.first_shape[body + 1], memory.made, memory.around[body]
    for axis in range(3):
        around[axis], around[3 + axis] = inf, -inf
    if first == end:
        return True
    limb, box = shapes.limb[first], shapes.box[first]
    part = Posed(
        made.position[first:end],
        made.rotation[first:end],
        made.turn[first:end],
        made.p1[limb:],
        made.p2[limb:],
        made.boxes[box:],
    )
    of_shapes = shapes.at[first:end], shapes.kind[first:end], shapes.size[first:end]
    bad = pose_shapes(memory.frames, *of_shapes, shapes.position[first:end], shapes.rotation[first:end], part)
    for i in range(first, end):
        if _is_read(shapes, memory, body, i):
            fill_row(memory.table, shapes.limb[i])
            for axis in range(3):
                around[axis] = min(around[axis], made.position[i, axis] - shapes.radius[i])
                around[3 + axis] = max(around[3 + axis], made.position[i, axis] + shapes.radius[i])
    return bad == EVERY_SHAPE_FITS


@compiled_loop
def cast_near(shapes: NearShapes, memory: NearMemory, n: int, mask: int, cores: bool) -> int:
    """Write what the first n segments hit of the bodies that are marked in `memory`; n, or UNDECIDED.

    Bits are those of `MirrorHits`. `cores`: whether a start in a limb is left undecided, as `core_hits` has to see it.
    """
    rows, largest, undecided = memory.rows, 0.0, 0
    origin, second, is_segment, distance, radius = memory.batch.rays
    memory.batch.mask[0] = mask
    rays = Rays(origin[:n], second[:n], is_segment, distance, radius)
    batch = RayBatch(rays, memory.batch.mask, memory.batch.ignored, memory.batch.policy)
    limb, times, face, inside, open_rows = memory.hits
    hits = HitColumns(limb[:n], times[:n], face[:n], inside[:n], open_rows[:n])
    shape, fraction, position, normal = memory.shape[:n], memory.fraction[:n], memory.position[:n], memory.normal[:n]
    if not copy_checked(rays, rays, 0, n):
        return UNDECIDED
    for body in range(len(memory.near)):
        if memory.near[body]:
            if not _place(shapes, body, memory):
                return UNDECIDED
            for s in range(shapes.first_shape[body], shapes.first_shape[body + 1]):
                if _is_read(shapes, memory, body, s):
                    largest = max(largest, rows.rows[shapes.limb[s], EXTENT])
    for i in range(n):
        undecided += _cast_one(shapes, batch, memory, i, hits) or (cores and hits.inside[i])
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
    ray, rows, made, rays = ray_at(batch.rays, i), memory.rows, memory.made, batch.rays
    best, mask, inverse = no_hit(ray.limit), int(batch.mask[0]), memory.inverse[i]
    for body in range(len(memory.near)):
        if not memory.pairs[i, body] or not enters(memory.around[body], 0.0, rays.origin, rays.second, i, 1.0):
            continue
        for s in range(shapes.first_shape[body], shapes.first_shape[body + 1]):
            k, x = shapes.limb[s], made.position[s]
            if _is_read(shapes, memory, body, s) and is_considered(rows.character[k], rows.mask[k], mask, -1):
                square = _square_distance(rays.origin, rays.second, i, inverse, x[0], x[1], x[2])
                if _is_within(square, memory.size[i] + _size(x[0], x[1], x[2]), shapes.radius[s]):
                    bounds = limb_hit_bounds(ray, limb_at(rows.rows, rows.kernel_shape, k), batch.policy)
                    best = closer_or_tied(best, k, bounds, rows.rows, rows.kernel_shape, True)
    undecided = is_undecided(best) or ray.extent == inf
    write_hit(hits, i, ray, best, undecided, batch, rows)
    return undecided
