"""The loop over rows that bounds leave undecided, with the sides of starts and ends next to surfaces."""

import numpy as np

from cylcollide._types import NO_LIMB, POLICY_EXIT, Column, Rows
from cylcollide.kernels.at_surface import UNKNOWN, level_sides, settled_bounds
from cylcollide.kernels.hit_bounds import is_undecided, no_hit
from cylcollide.kernels.limb_table import LimbRows, limb_at
from cylcollide.kernels.ray import as_vector, exact_displacement, is_trusted, ray_at
from cylcollide.kernels.thick import touches_between_edges
from cylcollide.kernels.ties import closer_or_tied
from cylcollide.query.loops.columns import HitColumns
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.runtime.compile import compiled_loop

BEFORE = 1.0 - 2.0**-40
"""Factor that keeps a lower bound in metres a lower bound as a fraction, despite rounding."""


@compiled_loop
def settle_rows(
    batch: RayBatch,
    table: LimbRows,
    offsets: Column[np.int64],
    codes: Column[np.int32],
    sides: Rows[np.int8],
    missed: Column[np.bool_],
    earliest: Column[np.float64],
    hits: HitColumns,
) -> None:
    """Find the closest limb of each ray among the pieces on its list, as far as the sides of start and end decide it.

    `sides` (pieces, 2): codes of `kernels.at_surface`. Writes, per piece, whether its limb is certainly missed, and a
    fraction before which the ray is not in it. Of `hits`, only limb, inside and undecided are written.
    """
    for k in range(hits.limb.size):
        previous, ray = NO_LIMB, ray_at(batch.rays, k)
        best, trusted, displacement = no_hit(ray.limit), is_trusted(ray), exact_displacement(batch.rays, k)
        is_line, best_is_flat = ray.radius == 0.0, False
        for position in range(offsets[k], offsets[k + 1]):
            limb = codes[position] // 2
            one = limb_at(table.rows, table.kernel_shape, limb)
            start, end = sides[position, 0] + 0, sides[position, 1] + 0
            bounds = settled_bounds(ray, displacement, one, batch.policy, (start, end))
            if bounds.possible and not (bounds.certain or bounds.inside) and start == UNKNOWN and end == UNKNOWN:
                last = as_vector(batch.rays.second, k)
                (start, _), (end, _) = level_sides(ray, displacement, last, batch.rays.is_segment, one)
                bounds = settled_bounds(ray, displacement, one, batch.policy, (start, end))
            missed[position] = trusted and not (bounds.possible or bounds.inside)
            is_later = trusted and bounds.possible and not bounds.inside and bounds.lower > 0.0
            earliest[position] = bounds.lower * ray.per_length * BEFORE if is_later else 0.0
            if limb != previous:
                is_flat = not is_line and batch.policy != POLICY_EXIT and touches_between_edges(ray, one, bounds)
                have_planes = is_line or (is_flat and best_is_flat)
                best = closer_or_tied(best, limb, bounds, table.rows, table.kernel_shape, have_planes)
                best_is_flat = is_flat if best[0] == limb else best_is_flat
            previous = limb
        hits.undecided[k], hits.inside[k] = not trusted or is_undecided(best), best[2].inside
        hits.limb[k] = NO_LIMB if hits.undecided[k] else int(best[0])
