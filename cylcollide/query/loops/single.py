"""The loops over single rays: one after another through the tree, or each against one limb.

Rows that the float64 bounds do not decide are marked; `query.exact_fallback` decides those.
"""

from math import inf

import numpy as np

from cylcollide._types import NO_LIMB, POLICY_EXIT, Column, Face, Vectors
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.traverse import local_ray, local_reach, stack_in, visit_on_ray
from cylcollide.kernels.chord import face_crossing
from cylcollide.kernels.hit_bounds import Closest, closer, is_undecided, limb_hit_bounds, no_hit
from cylcollide.kernels.inside_policy import HitBounds
from cylcollide.kernels.limb_table import Limb, LimbRows, is_considered, limb_at
from cylcollide.kernels.ray import Ray, Rays, exact_displacement, is_trusted, ray_at
from cylcollide.kernels.thick_surface import thick_crossing
from cylcollide.kernels.ties import closer_or_tied
from cylcollide.kernels.traits import BOUNDED
from cylcollide.query.loops.columns import HIT_ROWS, HitColumns, hits_in
from cylcollide.query.loops.inputs import (
    INVALID,
    RayBatch,
    RayOptions,
    batch_in,
    copy_checked,
    filter_of,
    raw_rays,
)
from cylcollide.runtime.compile import compiled, compiled_loop, inlined, linkonce, noinline

INSIDE, NONE = int(Face.INSIDE), int(Face.NONE)


@inlined
def entry_fraction(batch: RayBatch, i: int, ray: Ray, limb: Limb, face: float, guess: float) -> float:
    """Fraction at which ray i hits a limb through a face, from a guess of it."""
    if face == INSIDE:
        return 0.0
    leaving = batch.policy == POLICY_EXIT and leaves(ray, limb)
    return face_crossing(ray, exact_displacement(batch.rays, i), guess, limb, face, not leaving)[0]


@compiled
def leaves(ray: Ray, limb: Limb) -> bool:
    """Whether the ray certainly starts in the limb."""
    return limb_hit_bounds(ray, limb, POLICY_EXIT).inside


@compiled_loop
def cast_rows(batch: RayBatch, table: LimbRows, hits: HitColumns) -> None:
    """Ray i against limb i, or all rays against the only limb."""
    for i in range(hits.limb.size):
        cast_alone(batch, table, i, i if len(table.rows) > 1 else 0, hits)


@linkonce
def cast_alone(batch: RayBatch, table: LimbRows, i: int, k: int, hits: HitColumns) -> None:
    """Ray i against limb k alone."""
    ray = ray_at(batch.rays, i)
    best, undecided = no_hit(ray.limit), not is_trusted(ray)
    if not undecided:
        best = closer(best, float(k), limb_hit_bounds(ray, limb_at(table.rows, table.kernel_shape, k), batch.policy))
        undecided = is_undecided(best)
    write_hit(hits, i, ray, best, undecided, batch, table)


@inlined
def line_at(rays: Rays, i: int) -> Ray:
    """Ray i as a line: nothing of what thick rays need is compiled for it."""
    ray = ray_at(rays, i)
    return Ray(ray.origin, ray.direction, ray.length, ray.per_length, ray.limit, ray.extent, 0.0)


@noinline
def cast_among(batch: RayBatch, table: LimbRows, i: int, hits: HitColumns) -> None:
    """Ray i, a line, against all limbs that it considers, without the tree, with the same result."""
    ray, query = line_at(batch.rays, i), filter_of(batch, i)
    best = no_hit(ray.limit)
    for k in range(table.kernel_shape.size):
        if is_considered(table.character[k], table.mask[k], query[0], query[1]):
            bounds = limb_hit_bounds(ray, limb_at(table.rows, table.kernel_shape, k), batch.policy)
            best = closer_or_tied(best, k, bounds, table.rows, table.kernel_shape, True, batch.policy == POLICY_EXIT)
    write_hit(hits, i, ray, best, is_undecided(best) | (not is_trusted(ray)), batch, table)


@inlined
def write_hit(
    hits: HitColumns, i: int, ray: Ray, closest: Closest, undecided: bool, batch: RayBatch, table: LimbRows
) -> None:
    """Write the hit of ray i, or that it is undecided."""
    best, _, hit = closest
    hits.undecided[i], hits.inside[i], hits.limb[i] = undecided, hit.inside, NO_LIMB
    hits.fraction[i], hits.face[i] = inf, NONE
    if best >= 0.0 and not undecided:
        k = int(best)
        hits.limb[i], hits.face[i] = k, int(hit.face)
        limb = limb_at(table.rows, table.kernel_shape, k)
        if ray.radius > 0.0:
            hits.undecided[i] = write_thick_fraction(hits, i, batch, ray, limb, hit)
            return
        guess = 0.5 * (hit.lower + hit.upper) * ray.per_length
        hits.fraction[i] = entry_fraction(batch, i, ray, limb, hit.face, guess)


@noinline
def write_thick_fraction(hits: HitColumns, i: int, batch: RayBatch, ray: Ray, limb: Limb, hit: HitBounds) -> bool:
    """Write the fraction at which a thick ray touches a limb; returns whether it is undecided.

    Where it is only bounded, an entry is the earliest possible, an exit the latest, as in `thick_chord`.
    """
    if hit.face == INSIDE:
        hits.fraction[i] = 0.0
        return False
    guess = 0.5 * (hit.lower + hit.upper)
    if limb.kind in BOUNDED:
        guess = hit.upper if batch.policy == POLICY_EXIT and leaves(ray, limb) else hit.lower
    crossing, solved = thick_crossing(ray, exact_displacement(batch.rays, i), guess * ray.per_length, limb, hit.face)
    hits.fraction[i] = crossing[0]
    return not solved


@inlined
def test_limb(query: tuple[Ray, int, LimbRows, int, int, float, float], k: int, best: Closest) -> tuple[Closest, float]:
    """The closest hit of a ray after a test of limb k, and the reach up to there."""
    ray, policy, table, mask, ignored, scale, middle = query
    if is_considered(table.character[k], table.mask[k], mask, ignored):
        bounds = limb_hit_bounds(ray, limb_at(table.rows, table.kernel_shape, k), policy)
        best = closer_or_tied(best, k, bounds, table.rows, table.kernel_shape, ray.radius == 0.0, policy == POLICY_EXIT)
    return best, local_reach(min(best[2].upper, ray.limit), scale, middle)


@compiled_loop
def cast_single_rays(
    table: LimbRows,
    tree: Tree,
    first: Vectors,
    second: Vectors,
    options: RayOptions,
    radius: Column[np.float64],
    record: Column[np.float64],
) -> int:
    """Copy and check rays, and find their closest limbs; returns how many rows are undecided, or INVALID.

    `record` is the memory of hits, of the stack and of copies of the rays: a loop that allocates takes longer to call,
    as it counts references to arguments.
    """
    n = first.shape[0]
    stack = stack_in(record[HIT_ROWS * n :], tree.stack_size)
    batch, hits, count = batch_in(record, n, options, radius), hits_in(record, n), 0
    if not copy_checked(raw_rays(first, second, options, radius), batch.rays, 0, n):
        return INVALID
    for i in range(n):
        ray = ray_at(batch.rays, i)
        best, frame = no_hit(ray.limit), tree.frame
        local = local_ray(frame, ray.origin, ray.direction, ray.extent, ray.limit, ray.radius)
        is_open = local.untrusted
        if not (local.untrusted or local.misses_root):
            query = ray, batch.policy, table, *filter_of(batch, i), frame.scale, local.middle
            best = visit_on_ray(tree, stack, local, test_limb, query, best)
            is_open = is_undecided(best)
        write_hit(hits, i, ray, best, is_open, batch, table)
        count += hits.undecided[i]
    return count
