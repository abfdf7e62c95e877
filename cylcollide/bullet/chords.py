"""Every shape of a mirror along each ray: the chords of limbs, merged with sheets and Bullet's own hits."""

import numpy as np

from cylcollide._types import Float64Array, Int64Array
from cylcollide.bullet.merge_hits import (
    NOTHING,
    MirrorState,
    RankedHit,
    RayTest,
    limb_error,
    own_hits,
    sheet_hits_of,
    sorted_hits,
)
from cylcollide.bullet.mirror_hits import MirrorChords
from cylcollide.bullet.passthrough import FRACTION


def chords(state: MirrorState, rays: RayTest) -> MirrorChords:
    """All chords, sorted along each ray; ties by rank."""
    limbs, n = len(state.limb_rank), len(rays.starts)
    of_limbs = state.world.chords_segments(
        rays.starts, rays.ends, inside=rays.inside, mask=rays.mask, threads=rays.threads
    )
    entry, leave = of_limbs.entry_fraction.copy(), of_limbs.exit_fraction
    ray, shape = of_limbs.ray, of_limbs.limb.astype(np.int64)
    backwards = np.flatnonzero((ray[1:] == ray[:-1]) & (entry[1:] < entry[:-1])) + 1  # rounding; the order is exact
    for row in backwards.tolist():
        entry[row] = max(entry[row], entry[row - 1])
    columns = [(ray, shape, entry, leave, np.zeros(len(ray)))]
    for rank, found in sheet_hits_of(state, rays):
        rows = np.flatnonzero(found.fraction < np.inf)
        sheet = np.full(len(rows), limbs + int(np.searchsorted(state.sheet_rank, rank)))
        columns.append((rows, sheet, found.fraction[rows], found.fraction[rows], found.error[rows]))
    bullet = [(row, hit) for row, hits in own_hits(state, rays).items() for hit in hits]
    if bullet:
        times = np.array([hit[FRACTION] for _, hit in bullet])
        none = np.full(len(bullet), -1)
        columns.append((np.array([row for row, _ in bullet]), none, times, np.full(len(times), np.nan), 0.0 * times))
    ray, shape, entry, leave, error = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    body_link = state.shape_link[shape]
    if bullet:
        body_link[len(body_link) - len(bullet) :] = [hit[:2] for _, hit in bullet]
    order = np.lexsort((entry, ray))
    if state.sheets:
        _resolve_near_ties(state, rays, order, (ray, shape, entry, error))
    return MirrorChords(
        ray[order], np.where(shape < limbs, shape, -1)[order], body_link[order], (entry[order], leave[order]), n
    )


def _resolve_near_ties(
    state: MirrorState,
    rays: RayTest,
    order: Int64Array,
    columns: tuple[Int64Array, Int64Array, Float64Array, Float64Array],
) -> None:
    """Sort exactly the hits of rays on which a sheet and another shape are closer than their errors."""
    ray, shape, entry, error = (column[order] for column in columns)
    limbs = len(state.limb_rank)
    bound = np.where(shape < limbs, limb_error(state, rays)[ray], error)
    close = (ray[1:] == ray[:-1]) & (entry[1:] - entry[:-1] <= bound[1:] + bound[:-1])
    close &= ((shape[1:] >= limbs) | (shape[:-1] >= limbs)) & (shape[1:] >= 0) & (shape[:-1] >= 0)
    ranks = np.concatenate([state.limb_rank, state.sheet_rank, [NOTHING]])
    for row in np.unique(ray[1:][close]).tolist():
        rows = np.flatnonzero(ray == row)
        rows = rows[shape[rows] >= 0]  # Bullet's own hits stay where they are
        ranked: list[RankedHit] = [(entry[k], bound[k], int(ranks[shape[k]]), None) for k in rows.tolist()]
        by_rank = dict(zip((hit[2] for hit in ranked), order[rows].tolist(), strict=True))
        order[rows] = [by_rank[hit[2]] for hit in sorted_hits(state, rays, row, ranked)]
