"""From limbs, sheets and Bullet's own hits to one answer a ray, in exact order along it."""

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
"""A limb's fraction belongs to a point that is off by less than 4 ulp of the largest coordinate, 8 u, on each axis: by
14 u along the ray; the rest covers the rounding of the fraction. Nearer pairs are compared exactly."""

NOTHING = -1  # no shape

RankedHit: TypeAlias = tuple[float, float, int, BulletHit | None]  # fraction, its error, rank, what Bullet said


class MirrorState(NamedTuple):
    """One moment of a client. Shapes are ranked by body, link and place in the link, which decides ties."""

    world: Snapshot  # the limbs
    sheets: list[Sheet]
    sheet_groups: Uint32Array  # (m,), the layers of each sheet
    limb_rank: Int64Array  # (n,)
    sheet_rank: Int64Array  # (m,)
    rank_place: list[Place]  # where each shape is fastened
    wrapped: Wrapped

    def solid(self, rank: int) -> Solid:
        """The exact solid of one shape."""
        sheet = np.flatnonzero(self.sheet_rank == rank)
        if len(sheet):
            return self.sheets[int(sheet[0])]
        return exact_limb(self.world.limbs.table, int(np.searchsorted(self.limb_rank, rank)))

    def largest(self) -> float:
        """The largest coordinate of a limb."""
        limbs = self.world.limbs
        return float(max(np.abs(limbs.p1).max(initial=0.0), np.abs(limbs.p2).max(initial=0.0)))


class RayTest(NamedTuple):
    """Checked rays, and how they are asked about."""

    starts: Float64Array  # (n, 3)
    ends: Float64Array  # (n, 3)
    inside: InsidePolicy
    mask: int  # 32 bits
    threads: int | None


class MergedHits(NamedTuple):
    """One answer a ray; `rank` NOTHING for a miss and for what Bullet decided."""

    rank: Int64Array
    fraction: Float64Array
    error: Float64Array
    position: Float64Array
    normal: Float64Array


def closest(scene: MirrorState, query: RayTest) -> list[RayTestResult]:
    """The first shape along each ray, in PyBullet's words."""
    found = _closest_limb(scene, query)
    for rank, meetings in _sheet_hits(scene, query):
        nearer = meetings.fraction < found.fraction
        with np.errstate(invalid="ignore"):
            gap = np.abs(meetings.fraction - found.fraction)
            doubtful = np.isfinite(gap) & ~(gap > meetings.error + found.error)
        for i in np.flatnonzero(doubtful).tolist():
            nearer[i] = _compare(scene, query, i, rank, int(found.rank[i])) < 0
        _take(found, nearer, rank, meetings)
    return _with_bullets(scene, query, found)


def numbered(scene: MirrorState, query: RayTest, number: int) -> list[RayTestResult]:
    """The shape of that number, from 0, along each ray, or a miss if there are fewer."""
    chords = scene.world.chords_segments(
        query.starts, query.ends, inside=query.inside, mask=query.mask, threads=query.threads
    )
    meetings = _sheet_hits(scene, query)
    bullets = scene.wrapped.hits(query.starts, query.ends, query.mask, first_only=False)
    leaves = (chords.entry_face == Face.INSIDE) & (query.inside == "exit")
    fraction = np.where(leaves, chords.exit_fraction, chords.entry_fraction).tolist()
    error, offsets, limb = _limb_error(scene, query).tolist(), chords.offsets.tolist(), chords.limb.tolist()
    chosen = _nothing(len(query.starts))
    answers: dict[int, RayTestResult] = {}
    for i in range(len(query.starts)):
        crossed = range(offsets[i], offsets[i + 1])
        events: list[RankedHit] = [(fraction[c], error[i], int(scene.limb_rank[limb[c]]), None) for c in crossed]
        events += [(float(m.fraction[i]), float(m.error[i]), k, None) for k, m in meetings if m.fraction[i] < np.inf]
        events += [(hit.fraction, 0.0, NOTHING, hit) for hit in bullets.get(i, ())]
        if number < len(events):
            _, _, rank, hit = _sorted(scene, query, i, events)[number]
            chosen.rank[i] = rank
            if hit is not None:
                answers[i] = _bullet_answer(hit)
    _fill(scene, query, chosen, meetings)
    return [answers.get(i, answer) for i, answer in enumerate(_in_words(scene, chosen))]


def _sorted(scene: MirrorState, query: RayTest, row: int, events: list[RankedHit]) -> list[RankedHit]:
    """The events of one ray in order: by fraction where that decides, exactly where it does not."""

    def order(a: RankedHit, b: RankedHit) -> int:
        if abs(a[0] - b[0]) <= a[1] + b[1] and a[3] is None and b[3] is None:
            return _compare(scene, query, row, a[2], b[2])
        return (a[0] > b[0]) - (a[0] < b[0]) or (a[3] is not None) - (b[3] is not None)

    return sorted(events, key=cmp_to_key(order))


def _compare(scene: MirrorState, query: RayTest, row: int, first: int, second: int) -> int:
    """Which of two shapes that the ray hits comes first, exactly; the lower rank if both do."""
    ray = segment_numbers(query.starts[row], query.ends[row])
    times = [limb_hit(ray, scene.solid(rank), query.inside)[0] for rank in (first, second)]
    if times[0] is None or times[1] is None:
        raise AssertionError("both shapes are hit")
    return times[0][0].compare(times[1][0]) or first - second


def _nothing(n: int) -> MergedHits:
    return MergedHits(np.full(n, NOTHING), np.full(n, np.inf), np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3)))


def _limb_error(scene: MirrorState, query: RayTest) -> Float64Array:
    """How far off the fraction of a limb may be, (n,)."""
    ends = np.hstack([query.starts, query.ends])
    largest = np.maximum(np.abs(ends).max(axis=1, initial=0.0), scene.largest())
    length = np.linalg.norm(query.ends - query.starts, axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(length > 0.0, POSITION_ERROR * largest / length, np.inf) + 2.0 * UNIT_ROUNDOFF


def _closest_limb(scene: MirrorState, query: RayTest) -> MergedHits:
    hits = scene.world.cast_segments(
        query.starts, query.ends, inside=query.inside, mask=query.mask, threads=query.threads
    )
    hit = hits.hit
    found = _nothing(len(hit))
    found.rank[hit] = scene.limb_rank[hits.limb[hit]]
    found.fraction[hit] = hits.fraction[hit]
    found.position[hit], found.normal[hit] = hits.position[hit], hits.normal[hit]
    found.error[:] = _limb_error(scene, query)
    return found


def _sheet_hits(scene: MirrorState, query: RayTest) -> list[tuple[int, SheetHits]]:
    """Where the rays meet the sheets that they see, with the rank of each."""
    seen = np.flatnonzero(scene.sheet_groups & np.uint32(query.mask)).tolist()
    return [
        (int(scene.sheet_rank[k]), sheet_hits(scene.sheets[k], query.starts, query.ends, query.inside)) for k in seen
    ]


def _take(found: MergedHits, rows: BoolArray, rank: int, meetings: SheetHits) -> None:
    """Credit a sheet with the given rows."""
    found.rank[rows] = rank
    found.fraction[rows], found.error[rows] = meetings.fraction[rows], meetings.error[rows]
    found.position[rows], found.normal[rows] = meetings.position[rows], meetings.normal[rows]


def _fill(scene: MirrorState, query: RayTest, chosen: MergedHits, meetings: list[tuple[int, SheetHits]]) -> None:
    """Work out the hits whose shapes are known."""
    for rank, of_sheet in meetings:
        _take(chosen, chosen.rank == rank, rank, of_sheet)
    rows = np.flatnonzero(np.isin(chosen.rank, scene.limb_rank))
    if len(rows):
        limbs = scene.world.limbs[np.searchsorted(scene.limb_rank, chosen.rank[rows])]
        hits = limbs.cast_segments(query.starts[rows], query.ends[rows], inside=query.inside)
        chosen.fraction[rows], chosen.position[rows], chosen.normal[rows] = hits.fraction, hits.position, hits.normal


def _with_bullets(scene: MirrorState, query: RayTest, found: MergedHits) -> list[RayTestResult]:
    """The answers, but for the rays that hit something only Bullet knows sooner."""
    answers = _in_words(scene, found)
    for row, hits in scene.wrapped.hits(query.starts, query.ends, query.mask, first_only=True).items():
        if hits[0].fraction < found.fraction[row]:
            answers[row] = _bullet_answer(hits[0])
    return answers


def _bullet_answer(hit: BulletHit) -> RayTestResult:
    return hit.place.body, hit.place.link, hit.fraction, hit.position, hit.normal


def _in_words(scene: MirrorState, found: MergedHits) -> list[RayTestResult]:
    """PyBullet's tuples."""
    places = [*scene.rank_place, Place(-1, -1)]  # NOTHING, -1, is the last
    fraction = np.where(found.rank == NOTHING, 1.0, found.fraction).tolist()
    rows = zip(found.rank.tolist(), fraction, found.position.tolist(), found.normal.tolist(), strict=True)
    return [(*places[rank], t, (x[0], x[1], x[2]), (n[0], n[1], n[2])) for rank, t, x, n in rows]
