"""Rows that the float64 bounds leave undecided, decided in rational arithmetic and written into the same columns."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from math import sqrt
from typing import NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import (
    POLICY_HIT,
    BoolArray,
    Face,
    Float64Array,
    InsidePolicy,
    Int8Array,
    Int32Array,
    Int64Array,
)
from cylcollide.bvh.layout import Tree
from cylcollide.exact import order
from cylcollide.exact.line import RayNumbers
from cylcollide.exact.solid import Solid
from cylcollide.kernels.limb_table import LimbRows, LimbTable
from cylcollide.kernels.ray import Rays, broadcast_index
from cylcollide.query.limb_fields import Surface
from cylcollide.query.loops import surface as surface_loops
from cylcollide.query.loops.chords import complete_chords, pieces_of_rays
from cylcollide.query.loops.columns import (
    ChordColumns,
    ChordRows,
    HitColumns,
    concat_chord_rows,
    empty_chords,
    empty_hits,
    missed_chords,
    take_chords,
    take_rays_of_chords,
)
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.single import cast_rows
from cylcollide.query.request import BatchResult, LabelledLimbs, RayResult, take_rays
from cylcollide.shapes import SHAPE_RECORDS, Numbers

Candidates: TypeAlias = Callable[[Int64Array], Iterable[Iterable[int]]]
"""From rows (k,) to the limbs that each of their rays may hit."""


def ray_numbers(rays: Rays, i: int) -> RayNumbers:
    """The numbers of ray i."""
    limit = 1.0
    if not rays.is_segment:
        x, y, z = rays.second[i].tolist()
        limit = rays.distance.item(broadcast_index(rays.distance, i)) / sqrt(x * x + y * y + z * z)
    return RayNumbers(tuple(rays.origin[i].tolist()), tuple(rays.second[i].tolist()), rays.is_segment, limit)


def exact_limb(table: LimbTable, limb: int) -> Solid:
    """The exact twin of a limb: its solid in rational numbers."""
    box = table.box.item(limb)
    numbers = Numbers(
        tuple(table.p1[limb].tolist()),
        tuple(table.p2[limb].tolist()),
        table.radius.item(limb),
        table.radius2.item(limb),
        tuple(table.boxes[box].tolist()) if box >= 0 else (),
    )
    return SHAPE_RECORDS[table.kind.item(limb)].exact_solid(numbers)


def _numbered(table: LimbTable, limbs: Iterable[int]) -> Iterator[tuple[int, Solid]]:
    return ((limb, exact_limb(table, limb)) for limb in limbs)


def _limbs_of(codes: Int32Array) -> list[int]:
    """The limbs that pieces belong to, each once."""
    return sorted({code // 2 for code in codes.tolist()})


def _write_first(
    chords: ChordColumns, row: int, ray: RayNumbers, table: LimbTable, limbs: Iterable[int], inside: InsidePolicy
) -> bool:
    """Write the chord of the limb that the ray hits first, if it hits any; whether it starts in one."""
    first, started_inside = order.closest(ray, _numbered(table, limbs), inside)
    if first is not None:
        _write(chords, row, *first)
    return started_inside


def _write(chords: ChordColumns, row: int, limb: int, chord: order.Chord) -> None:
    chords.limb[row] = limb
    chords.entry[row], chords.entry_face[row] = chord.entry.double_double(), chord.entry_face
    chords.exit[row] = (np.inf, 0.0) if chord.exit is None else chord.exit.double_double()
    chords.exit_face[row] = chord.exit_face


class Resolved(NamedTuple):
    """Rows that were undecided, (k,) each."""

    rows: Int64Array
    chords: ChordColumns  # a chord a row
    exact_hit: BoolArray  # kernels do not decide the hit, even against its limb alone
    exact_chord: BoolArray  # the same of the chord


NOTHING_RESOLVED = Resolved(np.zeros(0, np.int64), empty_chords(0), np.zeros(0, bool), np.zeros(0, bool))


class ResolvedHits:
    """The result of a cast, its undecided rows resolved; with what is computed lazily: chords, positions and normals.

    `candidates` is None if no row is undecided.
    """

    resolved = NOTHING_RESOLVED

    def __init__(
        self, result: RayResult, limbs: LabelledLimbs, inside: InsidePolicy, candidates: Candidates | None = None
    ) -> None:
        self.result, self.limbs, self.inside = result, limbs, inside
        if candidates is not None:
            self.resolved = _resolve_hits(result, limbs.table, inside, candidates)

    @property
    def rechecked(self) -> int:
        """How many rows were undecided."""
        return len(self.resolved.rows)

    def take(self, rows: Int64Array) -> "ResolvedHits":
        """The same of the given rows."""
        result, resolved = self.result, self.resolved
        batch, limb, fraction = take_rays(result.batch, rows), result.limb[rows], result.fraction[rows]
        taken = BatchResult(batch, limb, fraction, result.face[rows], result.inside[rows], result.undecided[rows])
        part, known = ResolvedHits(taken, self.limbs, self.inside), np.flatnonzero(np.isin(rows, resolved.rows))
        at = np.searchsorted(resolved.rows, rows[known])
        part.resolved = Resolved(
            known, take_chords(resolved.chords, at), resolved.exact_hit[at], resolved.exact_chord[at]
        )
        return part

    def chords(self) -> tuple[ChordColumns, BoolArray]:
        """The whole chord of each hit, both ends as double-doubles; and which ones come from exact arithmetic."""
        limb, batch, resolved, table = self.result.limb, self.result.batch, self.resolved, self.limbs.table
        chords, undecided = empty_chords(len(limb)), np.empty(len(limb), bool)
        if complete_chords(batch, self.limbs.kernel_rows, limb, False, chords, undecided):
            known = resolved.rows[resolved.exact_chord]
            _put_rows(chords, known, take_chords(resolved.chords, resolved.exact_chord))
            for i in np.setdiff1d(np.flatnonzero(undecided), known).tolist():
                _write_first(chords, i, ray_numbers(batch.rays, i), table, [limb.item(i)], self.inside)
        return chords, undecided

    def surface(self) -> Surface:
        """Position and normal of each hit."""
        result, table, resolved = self.result, self.limbs.kernel_rows, self.resolved
        found = surface_loops.surface(result.batch, table, result.limb, result.fraction, result.face, False)
        if len(resolved.rows):
            rows, chords = resolved.rows[resolved.exact_hit], take_chords(resolved.chords, resolved.exact_hit)
            fraction, face = _hit_end(chords, self.inside)
            surface_loops.write_exactly(result.batch, table, rows, chords.limb, fraction, face, *found)
        return found

    def exit_surface(self, chords: ChordColumns, exact: BoolArray) -> Surface:
        """Position and normal where each ray leaves, of `chords`."""
        batch, table, rows = self.result.batch, self.limbs.kernel_rows, np.flatnonzero(exact)
        fraction = np.ascontiguousarray(chords.exit[:, 0])
        found = surface_loops.surface(batch, table, chords.limb, fraction, chords.exit_face, True)
        if len(rows):
            known = take_chords(chords, rows)
            surface_loops.write_exactly(batch, table, rows, known.limb, known.exit, known.exit_face, *found)
        return found


def _resolve_hits(result: RayResult, table: LimbTable, inside: InsidePolicy, candidates: Candidates) -> Resolved:
    """Fill in the undecided rows: limb and face from exact arithmetic, numbers from kernels where those decide."""
    batch, rows = result.batch, np.flatnonzero(result.undecided)
    chords, (exact_hit, exact_chord) = missed_chords(len(rows)), np.ones((2, len(rows)), bool)
    for k, (i, limbs) in enumerate(zip(rows.tolist(), candidates(rows), strict=True)):
        result.inside[i] = _write_first(chords, k, ray_numbers(batch.rays, i), table, limbs, inside)
    result.limb[rows] = chords.limb
    hit = np.flatnonzero(chords.limb >= 0)
    part, limbs = take_rays(batch, rows[hit]), chords.limb[hit]
    exact_chord[hit] = _prefer_kernels(part, table, hit, False, chords)
    fraction, result.face[rows] = _hit_end(chords, inside)
    result.fraction[rows] = np.where(chords.limb >= 0, fraction[:, 0], np.inf)
    alone = _hit_alone(part, table, limbs)
    decided = (alone.limb >= 0) & ~alone.undecided
    result.fraction[rows[hit[decided]]] = alone.fraction[decided]
    exact_hit[hit] = ~decided
    return Resolved(rows, chords, exact_hit, exact_chord)


def _hit_alone(batch: RayBatch, table: LimbTable, limbs: Int32Array) -> HitColumns:
    """The kernels' hits of rays, each against the one limb that it hits.

    What kernels decide among other limbs they decide here too, with the same bits. So where they decide, their numbers
    are taken, and the result does not depend on which limbs a loop has tested.
    """
    all_rows, hits = table.kernel_rows, empty_hits(len(limbs))
    columns = (all_rows.solid[limbs], all_rows.character[limbs], all_rows.mask[limbs], all_rows.rows[limbs])
    cast_rows(batch, LimbRows(*columns, all_rows.shared_mask), hits)
    return hits


def _hit_end(chords: ChordColumns, inside: InsidePolicy) -> tuple[Float64Array, Int8Array]:
    """Fraction and face of the end of each chord that is the hit."""
    leaves = (chords.entry_face == int(Face.INSIDE)) & (inside == "exit")
    fraction = np.where(leaves[:, None], chords.exit, chords.entry)
    return fraction, np.where(leaves, chords.exit_face, chords.entry_face)


def _prefer_kernels(batch: RayBatch, table: LimbTable, hit: Int64Array, last: bool, chords: ChordColumns) -> BoolArray:
    """Put the kernels' numbers where their bounds decide: a chord does not depend on other limbs.

    `hit` are the chords of the rays of `batch`; `last`: they are the second chords of tubes. Returns where kernels do
    not decide.
    """
    fast, undecided = empty_chords(len(hit)), np.empty(len(hit), bool)
    complete_chords(batch, table.kernel_rows, chords.limb[hit], last, fast, undecided)
    _put_rows(chords, hit[~undecided], take_chords(fast, ~undecided))
    return undecided


def limbs_near_rays(batch: RayBatch, table: LimbTable, tree: Tree, rows: Int64Array) -> list[list[int]]:
    """The limbs that each of the given rays does not certainly miss."""
    return limbs_of_pieces(*pieces_of_rays(batch, table.kernel_rows, tree, rows))


def limbs_of_pieces(offsets: Int64Array, codes: Int32Array) -> list[list[int]]:
    """The limbs that the pieces of each ray belong to."""
    return [_limbs_of(codes[offsets[k] : offsets[k + 1]]) for k in range(len(offsets) - 1)]


def resolve_any(
    batch: RayBatch, table: LimbTable, tree: Tree, inside: InsidePolicy, rows: Int64Array, blocked: BoolArray
) -> None:
    """Whether the given rays hit any limb."""
    for i, limbs in zip(rows.tolist(), limbs_near_rays(batch, table, tree, rows), strict=True):
        blocked[i] = order.closest(ray_numbers(batch.rays, i), _numbered(table, limbs), inside)[0] is not None


def resolve_chords(batch: RayBatch, table: LimbTable, begin: int, fast: ChordRows, codes: Int32Array) -> ChordRows:
    """Chords of the rays `begin`, `begin` + 1, ..., those of undecided rays from exact arithmetic.

    `codes` are the pieces that those rays may hit, `fast` the kernels' chords of them.
    """
    rays, offsets, n = np.flatnonzero(fast.undecided), fast.offsets, len(fast.undecided)
    found = [
        order.sorted_chords(
            ray_numbers(batch.rays, begin + k), _numbered(table, _limbs_of(codes[offsets[k] : offsets[k + 1]]))
        )
        for k in rays.tolist()
    ]
    chords = empty_chords(sum(map(len, found)))
    for row, (limb, chord) in enumerate(chain.from_iterable(found)):
        _write(chords, row, limb, chord)
    counts, which = np.array([len(chords) for chords in found]), np.arange(n)
    columns = _prefer_kernels_in_chords(batch, table, begin + np.repeat(rays, counts), chords)
    resolved = ChordRows(np.cumsum([0, *counts]), fast.undecided[rays], chords, *columns)
    which[rays] = n + np.arange(len(rays))
    return take_rays_of_chords(concat_chord_rows([fast, resolved]), which)


def _prefer_kernels_in_chords(
    batch: RayBatch, table: LimbTable, ray: Int64Array, chords: ChordColumns
) -> tuple[Float64Array, BoolArray, BoolArray]:
    """Put the kernels' numbers into chords where they decide; the last three columns of `ChordRows`.

    They are those of a cast against the limb alone, as in `_resolve_hits`.
    """
    part, exact_chord = take_rays(batch, ray)._replace(policy=POLICY_HIT), np.ones(len(ray), bool)
    _, first = np.unique((ray << 32) | chords.limb, return_index=True)  # a tube may be crossed again behind its bore
    second = np.delete(np.arange(len(ray)), first)
    for rows, last in ((first, False), (second, True)):
        exact_chord[rows] = _prefer_kernels(take_rays(part, rows), table, rows, last, chords)
    fraction, exact_hit, rows = chords.entry[:, 0].copy(), exact_chord.copy(), first[exact_chord[first]]
    alone = _hit_alone(take_rays(part, rows), table, chords.limb[rows])
    decided = (alone.limb >= 0) & ~alone.undecided
    fraction[rows[decided]], exact_hit[rows[decided]] = alone.fraction[decided], False
    return fraction, exact_hit, exact_chord


def _put_rows(chords: ChordColumns, rows: Int64Array, part: ChordColumns) -> None:
    """Write chords into the given rows of others."""
    chords.limb[rows], chords.entry[rows], chords.exit[rows] = part.limb, part.entry, part.exit
    chords.entry_face[rows], chords.exit_face[rows] = part.entry_face, part.exit_face
