"""Merging the hits of limbs, of sheets and of Bullet itself, in exact order along each ray."""

from functools import cmp_to_key
from typing import NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import BoolArray, Face, Float64Array, InsidePolicy, Int64Array, Uint32Array
from cylcollide.bullet.client import Place
from cylcollide.bullet.passthrough import BulletHit, Wrapped
from cylcollide.bullet.plane import Sheet, SheetHits, segment_numbers, sheet_hits
from cylcollide.constants import UNIT_ROUNDOFF
from cylcollide.exact.order import limb_hit
from cylcollide.exact.solid import Solid
from cylcollide.query.exact_fallback import exact_limb
from cylcollide.world import Snapshot

RayTestResult: TypeAlias = tuple[int, int, float, tuple[float, float, float], tuple[float, float, float]]

POSITION_ERROR = 16.0 * UNIT_ROUNDOFF
"""A limb's fraction belongs to a point that errs by less than 4 ulp of the largest coordinate, 8 u, on each axis: by
14 u along the ray; the rest covers the rounding of the fraction. Hits closer than that are compared exactly."""

NOTHING = -1  # no shape

RankedHit: TypeAlias = tuple[float, float, int, BulletHit | None]  # fraction, its error, rank, Bullet's own hit


class MirrorState(NamedTuple):
    """The shapes of a client at one moment, ranked by body, link and order in the link, which decides ties."""

    world: Snapshot  # the limbs
    sheets: list[Sheet]
    sheet_groups: Uint32Array  # (m,), the filter group of each sheet
    limb_rank: Int64Array  # (n,)
    sheet_rank: Int64Array  # (m,)
    rank_place: list[Place]  # the place of each shape, by rank
    wrapped: Wrapped

    def solid(self, rank: int) -> Solid:
        """The exact solid of one shape."""
        sheet = np.flatnonzero(self.sheet_rank == rank)
        if len(sheet):
            return self.sheets[int(sheet[0])]
        return exact_limb(self.world.limbs.table, int(np.searchsorted(self.limb_rank, rank)))

    def largest(self) -> float:
        """The largest |coordinate| of the limbs' ends."""
        limbs = self.world.limbs
        return float(max(np.abs(limbs.p1).max(initial=0.0), np.abs(limbs.p2).max(initial=0.0)))


class RayTest(NamedTuple):
    """Checked segments, and the options of the test."""

    starts: Float64Array  # (n, 3)
    ends: Float64Array  # (n, 3)
    inside: InsidePolicy
    mask: int  # 32 bits
    threads: int | None


class MergedHits(NamedTuple):
    """One hit a ray; `rank` is NOTHING for a miss and for Bullet's own hits."""

    rank: Int64Array  # (n,)
    fraction: Float64Array  # (n,), inf for a miss
    error: Float64Array  # (n,), of the fraction at most
    position: Float64Array  # (n, 3)
    normal: Float64Array  # (n, 3)


def closest(state: MirrorState, rays: RayTest) -> list[RayTestResult]:
    """The first shape along each ray, as PyBullet's tuples."""
    merged = _closest_limb(state, rays)
    for rank, on_sheets in _sheet_hits(state, rays):
        nearer = on_sheets.fraction < merged.fraction
        with np.errstate(invalid="ignore"):
            gap = np.abs(on_sheets.fraction - merged.fraction)
            undecided = np.isfinite(gap) & ~(gap > on_sheets.error + merged.error)
        for i in np.flatnonzero(undecided).tolist():
            nearer[i] = _compare(state, rays, i, rank, int(merged.rank[i])) < 0
        _take(merged, nearer, rank, on_sheets)
    return _with_bullet_hits(state, rays, merged)


def numbered(state: MirrorState, rays: RayTest, number: int) -> list[RayTestResult]:
    """The shape of this number, from 0, along each ray, or a miss if there are fewer; as PyBullet's tuples."""
    chords = state.world.chords_segments(
        rays.starts, rays.ends, inside=rays.inside, mask=rays.mask, threads=rays.threads
    )
    on_sheets = _sheet_hits(state, rays)
    bullets = state.wrapped.hits(rays.starts, rays.ends, rays.mask, first_only=False)
    leaves = (chords.entry_face == Face.INSIDE) & (rays.inside == "exit")
    fraction = np.where(leaves, chords.exit_fraction, chords.entry_fraction).tolist()
    error, offsets, limb = _limb_error(state, rays).tolist(), chords.offsets.tolist(), chords.limb.tolist()
    chosen = _no_hits(len(rays.starts))
    results: dict[int, RayTestResult] = {}
    for i in range(len(rays.starts)):
        crossed = range(offsets[i], offsets[i + 1])
        ranked: list[RankedHit] = [(fraction[c], error[i], int(state.limb_rank[limb[c]]), None) for c in crossed]
        ranked += [(float(m.fraction[i]), float(m.error[i]), k, None) for k, m in on_sheets if m.fraction[i] < np.inf]
        ranked += [(hit.fraction, 0.0, NOTHING, hit) for hit in bullets.get(i, ())]
        if number < len(ranked):
            _, _, rank, hit = _sorted(state, rays, i, ranked)[number]
            chosen.rank[i] = rank
            if hit is not None:
                results[i] = _bullet_result(hit)
    _fill(state, rays, chosen, on_sheets)
    return [results.get(i, result) for i, result in enumerate(_as_tuples(state, chosen))]


def _sorted(state: MirrorState, rays: RayTest, row: int, ranked: list[RankedHit]) -> list[RankedHit]:
    """The hits of one ray in order: by fraction where that is accurate enough, else by exact comparison."""

    def order(a: RankedHit, b: RankedHit) -> int:
        if abs(a[0] - b[0]) <= a[1] + b[1] and a[3] is None and b[3] is None:
            return _compare(state, rays, row, a[2], b[2])
        return (a[0] > b[0]) - (a[0] < b[0]) or (a[3] is not None) - (b[3] is not None)

    return sorted(ranked, key=cmp_to_key(order))


def _compare(state: MirrorState, rays: RayTest, row: int, first: int, second: int) -> int:
    """Negative if the first of two shapes that the ray hits is hit first, exactly; ties go to the lower rank."""
    ray = segment_numbers(rays.starts[row], rays.ends[row])
    times = [limb_hit(ray, state.solid(rank), rays.inside)[0] for rank in (first, second)]
    if times[0] is None or times[1] is None:
        raise AssertionError("both shapes are hit")
    return times[0][0].compare(times[1][0]) or first - second


def _no_hits(n: int) -> MergedHits:
    return MergedHits(np.full(n, NOTHING), np.full(n, np.inf), np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3)))


def _limb_error(state: MirrorState, rays: RayTest) -> Float64Array:
    """Bound on the error of a limb's fraction, (n,)."""
    ends = np.hstack([rays.starts, rays.ends])
    largest = np.maximum(np.abs(ends).max(axis=1, initial=0.0), state.largest())
    length = np.linalg.norm(rays.ends - rays.starts, axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(length > 0.0, POSITION_ERROR * largest / length, np.inf) + 2.0 * UNIT_ROUNDOFF


def _closest_limb(state: MirrorState, rays: RayTest) -> MergedHits:
    hits = state.world.cast_segments(rays.starts, rays.ends, inside=rays.inside, mask=rays.mask, threads=rays.threads)
    hit = hits.hit
    merged = _no_hits(len(hit))
    merged.rank[hit] = state.limb_rank[hits.limb[hit]]
    merged.fraction[hit] = hits.fraction[hit]
    merged.position[hit], merged.normal[hit] = hits.position[hit], hits.normal[hit]
    merged.error[:] = _limb_error(state, rays)
    return merged


def _sheet_hits(state: MirrorState, rays: RayTest) -> list[tuple[int, SheetHits]]:
    """The hits of the rays with each sheet that the mask includes, with its rank."""
    included = np.flatnonzero(state.sheet_groups & np.uint32(rays.mask)).tolist()
    return [
        (int(state.sheet_rank[k]), sheet_hits(state.sheets[k], rays.starts, rays.ends, rays.inside)) for k in included
    ]


def _take(merged: MergedHits, rows: BoolArray, rank: int, on_sheets: SheetHits) -> None:
    """Write the hits with a sheet into the given rows."""
    merged.rank[rows] = rank
    merged.fraction[rows], merged.error[rows] = on_sheets.fraction[rows], on_sheets.error[rows]
    merged.position[rows], merged.normal[rows] = on_sheets.position[rows], on_sheets.normal[rows]


def _fill(state: MirrorState, rays: RayTest, chosen: MergedHits, on_sheets: list[tuple[int, SheetHits]]) -> None:
    """Compute fraction, position and normal of hits whose shapes are known."""
    for rank, of_sheet in on_sheets:
        _take(chosen, chosen.rank == rank, rank, of_sheet)
    rows = np.flatnonzero(np.isin(chosen.rank, state.limb_rank))
    if len(rows):
        limbs = state.world.limbs[np.searchsorted(state.limb_rank, chosen.rank[rows])]
        hits = limbs.cast_segments(rays.starts[rows], rays.ends[rows], inside=rays.inside)
        chosen.fraction[rows], chosen.position[rows], chosen.normal[rows] = hits.fraction, hits.position, hits.normal


def _with_bullet_hits(state: MirrorState, rays: RayTest, merged: MergedHits) -> list[RayTestResult]:
    """The merged hits as PyBullet's tuples, with Bullet's own hits where they come first."""
    results = _as_tuples(state, merged)
    for row, hits in state.wrapped.hits(rays.starts, rays.ends, rays.mask, first_only=True).items():
        if hits[0].fraction < merged.fraction[row]:
            results[row] = _bullet_result(hits[0])
    return results


def _bullet_result(hit: BulletHit) -> RayTestResult:
    return hit.place.body, hit.place.link, hit.fraction, hit.position, hit.normal


def _as_tuples(state: MirrorState, merged: MergedHits) -> list[RayTestResult]:
    """The hits as PyBullet's tuples (body, link, fraction, position, normal)."""
    places = [*state.rank_place, Place(-1, -1)]  # NOTHING, -1, is the last
    fraction = np.where(merged.rank == NOTHING, 1.0, merged.fraction).tolist()
    rows = zip(merged.rank.tolist(), fraction, merged.position.tolist(), merged.normal.tolist(), strict=True)
    return [(*places[rank], t, (x[0], x[1], x[2]), (n[0], n[1], n[2])) for rank, t, x, n in rows]
