"""All hits of limbs, of sheets and of Bullet itself, in exact order along each ray."""

from dataclasses import replace
from functools import cmp_to_key, partial
from typing import NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import Face, Float64Array, InsidePolicy, Int32Array, Int64Array
from cylcollide.bullet.client import BodyLink
from cylcollide.bullet.core_hits import core_hits
from cylcollide.bullet.passthrough import FRACTION, NORMAL, POSITION, Wrapped
from cylcollide.bullet.plane import Sheet, sheet_hits
from cylcollide.bullet.sheet_heights import SheetTable
from cylcollide.bullet.sheet_loops import POSITION_ERROR
from cylcollide.bullet.tuples import RayTestResult
from cylcollide.constants import UNIT_ROUNDOFF
from cylcollide.exact.line import segment_numbers
from cylcollide.exact.order import limb_hit
from cylcollide.exact.solid import Solid
from cylcollide.exact.thick import grown_by
from cylcollide.query.exact_fallback import exact_limb
from cylcollide.validate import NO_RADIUS
from cylcollide.world import Snapshot

NearHit: TypeAlias = tuple[int, int, float, float]
"""Index of a hit, its shape, fraction, and the error of the fraction."""


class MirrorState(NamedTuple):
    """The shapes of a client at one moment, ranked by body, link and order in the link, which decides ties."""

    world: Snapshot  # the limbs
    sheets: list[Sheet]
    sheet_table: SheetTable
    limb_rank: Int64Array  # (n,)
    shape_link: Int32Array  # (n + m + 1, 2), body and link of the limbs, of the sheets, and -1, -1 of a miss
    wrapped: Wrapped

    @property
    def links(self) -> list[BodyLink]:
        """Body and link of the limbs, then of the sheets."""
        return [BodyLink(*row) for row in self.shape_link[:-1].tolist()]

    @property
    def largest(self) -> float:
        """No |coordinate| of a limb is larger: in the frame of their tree they reach from -1 to 1."""
        frame = self.world._tree.frame
        return max(map(abs, frame.centre)) + 1.0 / frame.scale

    def rank(self, shape: int) -> int:
        """The rank of a limb or sheet, by its row of `shape_link`."""
        limbs = len(self.limb_rank)
        return self.limb_rank.item(shape) if shape < limbs else self.sheet_table.rank.item(shape - limbs)

    def solid(self, shape: int, radius: float) -> Solid:
        """The exact solid of a limb or sheet, by its row of `shape_link`, grown by the radius of a ray."""
        limbs = len(self.limb_rank)
        if shape >= limbs:
            sheet = self.sheets[shape - limbs]
            return replace(sheet, half_thickness=sheet.half_thickness + radius)
        limb = exact_limb(self.world.limbs._table, shape)
        return grown_by(limb, radius) if radius else limb


class RayTest(NamedTuple):
    """Checked segments, and the options of the test."""

    starts: Float64Array  # (n, 3)
    ends: Float64Array  # (n, 3)
    inside: InsidePolicy
    mask: int  # 32 bits
    threads: int | None
    cores: bool = False  # whether balls and capsules that contain the start are hit by Bullet's rule (`core_hits`)
    radius: Float64Array = NO_RADIUS  # (n,), or (0,) if all are 0


class OrderedHits(NamedTuple):
    """All hits of n rays, sorted along each ray; ties by rank."""

    ray: Int64Array
    shape: Int64Array  # row of `MirrorState.shape_link`, -1 for a hit by Bullet's rules
    fraction: Float64Array
    exit_fraction: Float64Array  # of a sheet, the fraction; NaN for a hit by Bullet's rules
    body_link: Int32Array  # (m, 2)
    own: dict[int, RayTestResult]  # the hits by Bullet's rules, by index


def all_hits(state: MirrorState, rays: RayTest, *, wrapped: bool = True, at_exits: bool = False) -> OrderedHits:
    """All hits of each ray.

    `wrapped`: whether `own_hits` are included. `at_exits`: whether limbs that contain the start are hit at their exits.
    """
    of_limbs = state.world.chords_segments(
        rays.starts, rays.ends, inside=rays.inside, mask=rays.mask, threads=rays.threads
    )
    ray, entry, leave = of_limbs.ray, of_limbs.entry_fraction.copy(), of_limbs.exit_fraction
    backwards = np.flatnonzero((ray[1:] == ray[:-1]) & (entry[1:] < entry[:-1])) + 1  # rounding; the order is exact
    for row in backwards.tolist():
        entry[row] = max(entry[row], entry[row - 1])
    if at_exits:
        entry = np.where(of_limbs.entry_face == int(Face.INSIDE), leave, entry)
    columns = [(ray, of_limbs.limb.astype(np.int64), entry, leave, np.zeros(len(ray)))]
    for k in np.flatnonzero(state.sheet_table.group & np.uint32(rays.mask)).tolist():
        found = sheet_hits(state.sheets[k], rays.starts, rays.ends, rays.inside)
        rows = np.flatnonzero(found.fraction < np.inf)
        sheet, fraction = np.full(len(rows), len(state.limb_rank) + k), found.fraction[rows]
        columns.append((rows, sheet, fraction, fraction, found.error[rows]))
    own = [(row, hit) for row, hits in own_hits(state, rays).items() for hit in hits] if wrapped else []
    n, fraction = len(own), np.array([hit[FRACTION] for _, hit in own])
    columns.append(
        (np.array([row for row, _ in own], np.int64), np.full(n, -1), fraction, np.full(n, np.nan), 0.0 * fraction)
    )
    ray, shape, entry, leave, error = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    order = np.lexsort((entry, ray))
    if state.sheets or at_exits:
        _sort_near_ties(state, rays, order, (ray, shape, entry, error), at_exits)
    shape = shape[order]
    body_link, first = state.shape_link[shape], len(ray) - n
    found_own = {k: own[order[k] - first][1] for k in np.flatnonzero(shape < 0).tolist()}
    for k, hit in found_own.items():
        body_link[k] = hit[:2]
    return OrderedHits(ray[order], shape, entry[order], leave[order], body_link, found_own)


def own_hits(state: MirrorState, rays: RayTest) -> dict[int, list[RayTestResult]]:
    """The hits that follow Bullet's rules, by row: on cores, and on wrapped links."""
    found = core_hits(state.world, state.shape_link, rays.starts, rays.ends, rays.mask) if rays.cores else {}
    for row, hits in state.wrapped.all_hits(rays.starts, rays.ends, rays.mask).items():
        found.setdefault(row, []).extend(hits)
    return found


def _sort_near_ties(
    state: MirrorState,
    rays: RayTest,
    order: Int64Array,
    columns: tuple[Int64Array, Int64Array, Float64Array, Float64Array],
    limbs_too: bool,
) -> None:
    """Sort exactly the hits of rays on which two shapes are closer than their errors, one of them a sheet.

    `columns`: ray, shape, fraction, and the error of a sheet's fraction. `limbs_too`: or both of them limbs. Hits by
    Bullet's rules stay where they are.
    """
    limbs, at = len(state.limb_rank), np.flatnonzero(columns[1][order] >= 0)
    ray, shape, fraction, error = (column[order[at]] for column in columns)
    error = np.where(shape < limbs, limb_error(state, rays)[ray], error)
    close = (ray[1:] == ray[:-1]) & (fraction[1:] - fraction[:-1] <= error[1:] + error[:-1])
    close &= limbs_too | (shape[1:] >= limbs) | (shape[:-1] >= limbs)
    for row in np.unique(ray[1:][close]).tolist():
        rows = np.flatnonzero(ray == row)
        hits = zip(*(column[rows].tolist() for column in (order[at], shape, fraction, error)), strict=True)
        in_order = sorted(hits, key=cmp_to_key(partial(_compare, state, rays, row)))
        order[at[rows]] = [hit[0] for hit in in_order]


def _compare(state: MirrorState, rays: RayTest, row: int, a: NearHit, b: NearHit) -> int:
    """Negative if a ray hits the first of two shapes first; exact, and ties go to the lower rank."""
    if abs(a[2] - b[2]) > a[3] + b[3]:
        return -1 if a[2] < b[2] else 1
    return compare_exactly(state, rays, row, a[1], b[1])


def compare_exactly(state: MirrorState, rays: RayTest, row: int, first: int, second: int) -> int:
    """Negative if a ray, thick or not, hits the first of two shapes that it hits first; ties go to the lower rank."""
    ray, radius = segment_numbers(rays.starts[row], rays.ends[row]), rays.radius.item(row) if len(rays.radius) else 0.0
    one, other = (limb_hit(ray, state.solid(shape, radius), rays.inside)[0] for shape in (first, second))
    if one is None or other is None:
        raise AssertionError("both shapes are hit")
    return one[0].compare(other[0]) or state.rank(first) - state.rank(second)


def limb_error(state: MirrorState, rays: RayTest) -> Float64Array:
    """Bound on the error of the fraction of a limb that is grown by the radii of rays, (n,)."""
    ends = np.hstack([rays.starts, rays.ends])
    largest = np.maximum(np.abs(ends).max(axis=1, initial=0.0), state.largest + rays.radius.max(initial=0.0))
    length = np.linalg.norm(rays.ends - rays.starts, axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(length > 0.0, POSITION_ERROR * largest / length, np.inf) + 2.0 * UNIT_ROUNDOFF


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
    n, limbs = len(rays.starts), len(state.limb_rank)
    hits = all_hits(state, rays, wrapped=wrapped, at_exits=rays.inside == "exit")
    first = np.searchsorted(hits.ray, np.arange(n + 1))
    rows = np.flatnonzero(first[:-1] + number < first[1:])
    chosen = first[rows] + number
    shape, nowhere = np.full(n, -1), np.full((2, n, 3), np.nan)
    shape[rows] = hits.shape[chosen]
    merged = MergedHits(state.shape_link[shape], np.full(n, np.inf), nowhere[0], nowhere[1])
    merged.body_link[rows], merged.fraction[rows] = hits.body_link[chosen], hits.fraction[chosen]
    of_limbs = np.flatnonzero((shape >= 0) & (shape < limbs))
    if len(of_limbs):
        at = state.world.limbs[shape[of_limbs]]
        of_rows = at.cast_segments(rays.starts[of_limbs], rays.ends[of_limbs], inside=rays.inside)
        merged.fraction[of_limbs] = of_rows.fraction
        merged.position[of_limbs], merged.normal[of_limbs] = of_rows.position, of_rows.normal
    for k, sheet in enumerate(state.sheets):
        on_sheet = shape == limbs + k
        found = sheet_hits(sheet, rays.starts[on_sheet], rays.ends[on_sheet], rays.inside)
        merged.position[on_sheet], merged.normal[on_sheet] = found.position, found.normal
    for row, k in zip(rows.tolist(), chosen.tolist(), strict=True):
        if k in hits.own:
            merged.position[row], merged.normal[row] = hits.own[k][POSITION], hits.own[k][NORMAL]
    return merged, shape
