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
"""In place of how many rays were answered: all limbs are to be read, or exact arithmetic decides."""


class NearShapes(NamedTuple):
    """The n shapes of a client, by body, and what of the B bodies stays when they move; m of the shapes are planes."""

    first_frame: Column[np.int64]  # (B + 1,): of each body, its base's; those of its links follow
    first_shape: Column[np.int64]  # (B + 1,)
    first_box: Column[np.int64]  # (B + 1,): of wrapped links
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
    boxes: Rows[np.float64]  # (boxes, 6): of wrapped links, as read
    reach: Column[np.float64]  # (B,): all shapes of a body are that near to its base
    near: Column[np.bool_]  # (B,): whether a ray comes near the body
    made: Posed
    table: LimbTable  # its ends and boxes are those of `made`
    rows: LimbRows  # of the table
    batch: RayBatch  # (r, 3): copies of the rays
    hits: HitColumns  # (r,): of limbs
    shape: Column[np.int32]  # (r,): this and the fraction as `first_sheets` writes them
    fraction: Column[np.float64]  # (r,)
    position: Vectors  # (r, 3)
    normal: Vectors  # (r, 3)
    answer: Rows[np.float64]  # (r, 9): body, link, fraction, position and normal, as PyBullet has them
    queue: PairQueue  # this and the next one: buffers of `write_surface`
    surfaces: Column[np.int32]


@inlined
def _comes_near(starts: Float64Array, ends: Float64Array, i: int, x: float, y: float, z: float, radius: float) -> bool:
    """Whether segment i comes within the radius of a point; True if float64 does not tell."""
    a, b, c = starts[i, 0], starts[i, 1], starts[i, 2]
    u, v, w = ends[i, 0] - a, ends[i, 1] - b, ends[i, 2] - c
    p, q, r = x - a, y - b, z - c
    square, along = u * u + v * v + w * w, p * u + q * v + r * w
    time = min(max(along / square, 0.0), 1.0) if square > 0.0 else 0.0
    p, q, r = p - time * u, q - time * v, r - time * w
    largest = max(abs(a), abs(b), abs(c), abs(x), abs(y), abs(z)) + max(abs(u), abs(v), abs(w))
    reach = radius + SLACK * (radius + largest)
    return not p * p + q * q + r * r > reach * reach


@compiled_loop
def mark_near(shapes: NearShapes, starts: Vectors, ends: Vectors, memory: NearMemory) -> int:
    """Mark the bodies, by their bases in `memory.frames`, near any segment (n, 3), (n, 3); returns how many."""
    count, reach = 0, memory.reach
    for body in range(len(reach)):
        base = memory.frames[shapes.first_frame[body]]
        near = False
        for i in range(len(starts)):
            if _comes_near(starts, ends, i, base[0], base[1], base[2], reach[body]):
                near = True
                break
        memory.near[body] = near
        count += near
    return count


@inlined
def _place(shapes: NearShapes, body: int, memory: NearMemory) -> bool:
    """Write poses and rows of the shapes of a body; returns whether all fit."""
    first, end, made = shapes.first_shape[body], shapes.first_shape[body + 1], memory.made
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
        if shapes.is_limb[i]:
            fill_row(memory.table, shapes.limb[i])
    return bad == EVERY_SHAPE_FITS


@compiled_loop
def cast_near(shapes: NearShapes, memory: NearMemory, starts: Vectors, ends: Vectors, mask: int, cores: bool) -> int:
    """Write the `answer` to n segments from the bodies that are marked in `memory`; n, or UNDECIDED.

    Bits are those of `MirrorHits`. `cores`: whether a start in a limb is left undecided, as `core_hits` has to see it.
    """
    n, rows, largest, undecided = len(starts), memory.rows, 0.0, 0
    origin, second, is_segment, distance, radius = memory.batch.rays
    memory.batch.mask[0] = mask
    rays = Rays(origin[:n], second[:n], is_segment, distance, radius)
    batch = RayBatch(rays, memory.batch.mask, memory.batch.ignored, memory.batch.policy)
    limb, times, face, inside, open_rows = memory.hits
    hits = HitColumns(limb[:n], times[:n], face[:n], inside[:n], open_rows[:n])
    shape, fraction, position, normal = memory.shape[:n], memory.fraction[:n], memory.position[:n], memory.normal[:n]
    if not copy_checked(Rays(starts, ends, is_segment, distance, radius), rays, 0, n):
        return UNDECIDED
    for body in range(len(memory.near)):
        if memory.near[body]:
            if not _place(shapes, body, memory):
                return UNDECIDED
            for s in range(shapes.first_shape[body], shapes.first_shape[body + 1]):
                if shapes.is_limb[s]:
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
        _write_answer(shapes, memory, i)
    return n


@inlined
def _write_answer(shapes: NearShapes, memory: NearMemory, i: int) -> None:
    """Write row i of `answer`."""
    answer, k = memory.answer[i], memory.shape[i]
    is_hit = k >= 0
    answer[0], answer[1] = (shapes.body_link[k, 0], shapes.body_link[k, 1]) if is_hit else (-1, -1)
    answer[2] = memory.fraction[i] if is_hit else 1.0
    for axis in range(3):
        answer[3 + axis] = memory.position[i, axis] if is_hit else 0.0
        answer[6 + axis] = memory.normal[i, axis] if is_hit else 0.0


@compiled_loop
def enters_mesh(shapes: NearShapes, memory: NearMemory, starts: Vectors, ends: Vectors, padding: float) -> bool:
    """Whether any of the segments enters a box of a marked body before its fraction."""
    for body in range(len(memory.near)):
        if memory.near[body]:
            for k in range(shapes.first_box[body], shapes.first_box[body + 1]):
                for i in range(len(starts)):
                    if enters(memory.boxes[k], padding, starts, ends, i, min(memory.fraction[i], 1.0)):
                        return True
    return False


@inlined
def _cast_one(shapes: NearShapes, batch: RayBatch, memory: NearMemory, i: int, hits: HitColumns) -> bool:
    """Write the first limb along ray i; returns whether it is undecided."""
    ray, rows, made, bases, rays = ray_at(batch.rays, i), memory.rows, memory.made, memory.frames, batch.rays
    best, mask = no_hit(ray.limit), int(batch.mask[0])
    for body in range(len(memory.near)):
        base = bases[shapes.first_frame[body]]
        if not memory.near[body] or not _comes_near(
            rays.origin, rays.second, i, base[0], base[1], base[2], memory.reach[body]
        ):
            continue
        for s in range(shapes.first_shape[body], shapes.first_shape[body + 1]):
            k, x = shapes.limb[s], made.position[s]
            if (
                shapes.is_limb[s]
                and is_considered(rows.character[k], rows.mask[k], mask, -1)
                and _comes_near(rays.origin, rays.second, i, x[0], x[1], x[2], shapes.radius[s])
            ):
                bounds = limb_hit_bounds(ray, limb_at(rows.rows, rows.kernel_shape, k), batch.policy)
                best = closer_or_tied(best, k, bounds, rows.rows, rows.kernel_shape, True)
    undecided = is_undecided(best) or ray.extent == inf
    write_hit(hits, i, ray, best, undecided, batch, rows)
    return undecided
