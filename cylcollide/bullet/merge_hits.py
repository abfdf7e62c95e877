"""Merging the hits of limbs, of sheets and of Bullet itself, in exact order along each ray."""

from functools import cmp_to_key
from typing import NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import Face, Float64Array, InsidePolicy, Int32Array, Int64Array
from cylcollide.bullet.client import BodyLink
from cylcollide.bullet.core_hits import core_hits
from cylcollide.bullet.passthrough import FRACTION, NORMAL, POSITION, Wrapped
from cylcollide.bullet.plane import Sheet, sheet_hits
from cylcollide.bullet.sheet_heights import SheetTable
from cylcollide.bullet.sheet_loops import POSITION_ERROR, SheetColumns
from cylcollide.bullet.tuples import RayTestResult
from cylcollide.bvh.layout import TreeFrame
from cylcollide.constants import UNIT_ROUNDOFF
from cylcollide.exact.line import segment_numbers
from cylcollide.exact.order import limb_hit
from cylcollide.exact.solid import Solid
from cylcollide.query.exact_fallback import exact_limb
from cylcollide.validate import NO_RADIUS
from cylcollide.world import Snapshot

NOTHING = -1  # no shape

RankedHit: TypeAlias = tuple[float, float, int, RayTestResult | None]  # fraction, its error, rank, Bullet's own hit


class MirrorState(NamedTuple):
    """The shapes of a client at one moment, ranked by body, link and order in the link, which decides ties."""

    world: Snapshot  # the limbs
    sheets: list[Sheet]
    sheet_table: SheetTable
    limb_rank: Int64Array  # (n,)
    sheet_rank: Int64Array  # (m,)
    rank_link: list[BodyLink]  # the link of each shape, by rank
    shape_link: Int32Array  # (n + m + 1, 2), body and link of the limbs, of the sheets, and -1, -1 of a miss
    wrapped: Wrapped
    largest: float  # no |coordinate| of a limb is larger

    def solid(self, rank: int) -> Solid:
        """The exact solid of one shape."""
        sheet = np.flatnonzero(self.sheet_rank == rank)
        if len(sheet):
            return self.sheets[int(sheet[0])]
        return exact_limb(self.world.limbs._table, int(np.searchsorted(self.limb_rank, rank)))


def largest_coordinate(frame: TreeFrame) -> float:
    """A bound on |coordinate| of all limbs, from the frame of their tree, in which they reach from -1 to 1."""
    return max(map(abs, frame.centre)) + 1.0 / frame.scale


class RayTest(NamedTuple):
    """Checked segments, and the options of the test."""

    starts: Float64Array  # (n, 3)
    ends: Float64Array  # (n, 3)
    inside: InsidePolicy
    mask: int  # 32 bits
    threads: int | None
    cores: bool = False  # whether balls and capsules that contain the start are hit by Bullet's rule (`core_hits`)
    radius: Float64Array = NO_RADIUS  # (n,), or (0,) if all are 0


class MergedHits(NamedTuple):
    """One hit per ray."""

    body_link: Int32Array  # (n, 2), body and link, -1 for a miss
    fraction: Float64Array  # (n,), inf for a miss
    position: Float64Array  # (n, 3)
    normal: Float64Array  # (n, 3)


def numbered(state: MirrorState, rays: RayTest, number: int, wrapped: bool = True) -> tuple[MergedHits, Int64Array]:
    """Hit `number`, from 0, along each ray, or a miss if there are fewer; and the shapes (n,), as in `MirrorHits`.

    `wrapped`: whether `own_hits` are included.
    """
    chords = state.world.chords_segments(
        rays.starts, rays.ends, inside=rays.inside, mask=rays.mask, threads=rays.threads
    )
    on_sheets = sheet_hits_of(state, rays)
    bullets = own_hits(state, rays) if wrapped else {}
    leaves = (chords.entry_face == int(Face.INSIDE)) & (rays.inside == "exit")
    fraction = np.where(leaves, chords.exit_fraction, chords.entry_fraction).tolist()
    error, offsets, limb = limb_error(state, rays).tolist(), chords.offsets.tolist(), chords.limb.tolist()
    n = len(rays.starts)
    rank = np.full(n, NOTHING)
    chosen: dict[int, RayTestResult] = {}
    for i in range(n):
        crossed = range(offsets[i], offsets[i + 1])
        ranked: list[RankedHit] = [(fraction[c], error[i], int(state.limb_rank[limb[c]]), None) for c in crossed]
        ranked += [(float(m.fraction[i]), float(m.error[i]), k, None) for k, m in on_sheets if m.fraction[i] < np.inf]
        ranked += [(hit[FRACTION], 0.0, NOTHING, hit) for hit in bullets.get(i, ())]
        if number < len(ranked):
            _, _, rank[i], hit = sorted_hits(state, rays, i, ranked)[number]
            if hit is not None:
                chosen[i] = hit
    merged, shape = _of_ranks(state, rays, rank, on_sheets)
    for row, hit in chosen.items():
        merged.body_link[row], merged.fraction[row] = hit[:2], hit[FRACTION]
        merged.position[row], merged.normal[row] = hit[POSITION], hit[NORMAL]
    return merged, shape


def own_hits(state: MirrorState, rays: RayTest) -> dict[int, list[RayTestResult]]:
    """The hits that follow Bullet's rules, by row: on cores, and on wrapped links."""
    found = core_hits(state.world, state.shape_link, rays.starts, rays.ends, rays.mask) if rays.cores else {}
    for row, hits in state.wrapped.all_hits(rays.starts, rays.ends, rays.mask).items():
        found.setdefault(row, []).extend(hits)
    return found


def sorted_hits(state: MirrorState, rays: RayTest, row: int, ranked: list[RankedHit]) -> list[RankedHit]:
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


def limb_error(state: MirrorState, rays: RayTest) -> Float64Array:
    """Bound on the error of a limb's fraction, (n,)."""
    ends = np.hstack([rays.starts, rays.ends])
    largest = np.maximum(np.abs(ends).max(axis=1, initial=0.0), state.largest)
    length = np.linalg.norm(rays.ends - rays.starts, axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(length > 0.0, POSITION_ERROR * largest / length, np.inf) + 2.0 * UNIT_ROUNDOFF


def sheet_hits_of(state: MirrorState, rays: RayTest) -> list[tuple[int, SheetColumns]]:
    """The hits of the rays with each sheet that the mask includes, with its rank."""
    included = np.flatnonzero(state.sheet_table.group & np.uint32(rays.mask)).tolist()
    return [
        (int(state.sheet_rank[k]), sheet_hits(state.sheets[k], rays.starts, rays.ends, rays.inside)) for k in included
    ]


def _of_ranks(
    state: MirrorState, rays: RayTest, rank: Int64Array, on_sheets: list[tuple[int, SheetColumns]]
) -> tuple[MergedHits, Int64Array]:
    """The hits of the shapes of these ranks (n,), NOTHING for a miss; and the shapes."""
    n, limbs = len(rank), len(state.limb_rank)
    shape = np.full(n, -1)
    nowhere = np.full((2, n, 3), np.nan)
    merged = MergedHits(state.shape_link[shape], np.full(n, np.inf), nowhere[0], nowhere[1])
    for k, of_sheet in on_sheets:
        rows = rank == k
        shape[rows] = limbs + np.searchsorted(state.sheet_rank, k)
        for column, values in zip(merged[1:], (of_sheet.fraction, of_sheet.position, of_sheet.normal), strict=True):
            column[rows] = values[rows]
    rows = np.flatnonzero(np.isin(rank, state.limb_rank))
    if len(rows):
        limb = np.searchsorted(state.limb_rank, rank[rows])
        hits = state.world.limbs[limb].cast_segments(rays.starts[rows], rays.ends[rows], inside=rays.inside)
        shape[rows], merged.fraction[rows] = limb, hits.fraction
        merged.position[rows], merged.normal[rows] = hits.position, hits.normal
    merged.body_link[:] = state.shape_link[shape]
    return merged, shape
