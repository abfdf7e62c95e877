"""The loop over rays that float64 bounds leave undecided: the sides of their starts and ends decide most of them."""

from math import inf

import numpy as np

from cylcollide._types import NO_LIMB, POLICY_EXIT, POLICY_HIT, Column, Face, Float64Array, Int32Array
from cylcollide.kernels.at_surface import UNKNOWN, level_sides, settled_bounds, sides_of_ray
from cylcollide.kernels.hit_bounds import is_undecided, no_hit
from cylcollide.kernels.limb_table import LimbRows, limb_at
from cylcollide.kernels.ray import as_vector, exact_displacement, is_trusted, ray_at
from cylcollide.kernels.thick import touches_between_edges
from cylcollide.kernels.ties import closer_or_tied
from cylcollide.query.loops.columns import ChordColumns, HitColumns
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.one_chord import write_own_chord
from cylcollide.query.loops.single import cast_alone
from cylcollide.runtime.compile import compiled_loop, inlined, noinline

INSIDE, NOT_KNOWN = int(Face.INSIDE), (UNKNOWN, UNKNOWN)

BEFORE = 1.0 - 2.0**-40
"""Factor that keeps a lower bound in metres a lower bound as a fraction, despite rounding."""


@compiled_loop
def settle_rows(
    batch: RayBatch,
    table: LimbRows,
    rows: Column[np.int64],
    offsets: Column[np.int64],
    codes: Column[np.int32],
    earliest: Column[np.float64],
    hits: HitColumns,
    chords: ChordColumns,
) -> int:
    """Find the closest limb of each of the given rays among the pieces on its list; returns how many stay undecided.

    Writes, per piece, `earliest`: a fraction before which the ray is not in its limb, inf for a certain miss; per ray,
    `hits`: limb and inside. With `chords`, one for each ray, also face and fraction, and the chord if it decides these.
    """
    count = 0
    for k in range(rows.size):
        i, first, last = rows[k], offsets[k], offsets[k + 1]
        settle_closest(batch, table, i, codes, first, last, False, earliest, hits)
        if hits.undecided[i]:
            settle_closest(batch, table, i, codes, first, last, True, earliest, hits)
        if chords.limb.size > 0:
            chords.limb[k] = NO_LIMB
            if hits.limb[i] >= 0:
                write_numbers(batch, table, i, hits, chords, k)
        count += hits.undecided[i]
    return count


@noinline
def settle_closest(
    batch: RayBatch,
    table: LimbRows,
    i: int,
    codes: Int32Array,
    first: int,
    last: int,
    by_sides: bool,
    earliest: Float64Array,
    hits: HitColumns,
) -> None:
    """Find the closest limb of ray i among pieces `first` to `last`.

    `by_sides`: by nearest places of its start and end, where bounds leave open whether it hits a limb, and when.
    """
    previous, ray, rays = NO_LIMB, ray_at(batch.rays, i), batch.rays
    best, trusted, displacement = no_hit(ray.limit), is_trusted(ray), exact_displacement(rays, i)
    is_line, may_leave, best_is_flat = ray.radius == 0.0, batch.policy == POLICY_EXIT, False
    for position in range(first, last):
        limb = codes[position] // 2
        one = limb_at(table.rows, table.kernel_shape, limb)
        bounds = settled_bounds(ray, displacement, one, batch.policy, NOT_KNOWN)
        if bounds.possible and not (bounds.certain or bounds.inside):
            (start, _), (end, _) = level_sides(ray, displacement, as_vector(rays.second, i), rays.is_segment, one)
            bounds = settled_bounds(ray, displacement, one, batch.policy, (start, end))
        if by_sides and bounds.possible and not (bounds.certain and bounds.lower > 0.0):
            bounds = settled_bounds(ray, displacement, one, batch.policy, sides_of_ray(rays, i, one))
        earliest[position] = 0.0
        if trusted and not bounds.inside and (not bounds.possible or bounds.lower > 0.0):
            earliest[position] = bounds.lower * ray.per_length * BEFORE if bounds.possible else inf
        if limb != previous:
            is_flat = not (is_line or may_leave) and touches_between_edges(ray, one, bounds)
            have_planes = is_line or (is_flat and best_is_flat)
            best = closer_or_tied(best, limb, bounds, table.rows, table.kernel_shape, have_planes, may_leave)
            best_is_flat = is_flat if best[0] == limb else best_is_flat
        previous = limb
    hits.undecided[i], hits.inside[i] = not trusted or is_undecided(best), best[2].inside
    hits.limb[i] = NO_LIMB if hits.undecided[i] else int(best[0])


@inlined
def write_numbers(batch: RayBatch, table: LimbRows, i: int, hits: HitColumns, chords: ChordColumns, row: int) -> None:
    """Write face and fraction of ray i, whose limb is known; its chord, too, if only that decides them."""
    limb, inside = int(hits.limb[i]), bool(hits.inside[i])
    if inside and batch.policy == POLICY_HIT:
        hits.fraction[i], hits.face[i] = 0.0, INSIDE
        return
    cast_alone(batch, table, i, limb, hits)
    if hits.undecided[i]:
        hits.undecided[i] = write_own_chord(chords, row, batch, table, i, limb, False)
        if not hits.undecided[i]:
            leaves = chords.entry_face[row] == INSIDE and batch.policy == POLICY_EXIT
            hits.fraction[i] = chords.exit[row, 0] if leaves else chords.entry[row, 0]
            hits.face[i] = chords.exit_face[row] if leaves else chords.entry_face[row]
            chords.fraction[row], chords.exact_hit[row] = hits.fraction[i], True
    hits.limb[i], hits.inside[i] = limb, inside
