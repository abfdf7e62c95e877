"""Decides rows that the float64 bounds leave undecided, by sides or in exact arithmetic, in the same columns."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, repeat
from typing import Any, TypeAlias

import numpy as np

from cylcollide._types import (
    NO_LIMB,
    POLICY_HIT,
    BoolArray,
    Face,
    Float64Array,
    InsidePolicy,
    Int8Array,
    Int32Array,
    Int64Array,
    RayNumbers,
)
from cylcollide.bvh.layout import Tree
from cylcollide.exact import order
from cylcollide.exact.solid import LimbSolid, Solid
from cylcollide.exact.thick import grown_by
from cylcollide.kernels.limb_table import LimbRows, LimbTable
from cylcollide.kernels.ray import Rays, limit_of, radius_of
from cylcollide.kernels.traits import BOUNDED
from cylcollide.query.loops.chords import cast_chords, complete_chords, pieces_of_rays
from cylcollide.query.loops.columns import (
    ChordColumns,
    ChordRows,
    CompressedRows,
    HitColumns,
    chords_of_rays,
    concat_chord_rows,
    empty_chords,
    empty_hits,
    offsets_of,
    put_chords,
    ray_of_each,
    take_chords,
    take_rays_of_chords,
)
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.settle import settle_rows
from cylcollide.query.loops.single import cast_rows
from cylcollide.query.request import LabelledLimbs, take_rays
from cylcollide.query.thick import Bounded, is_open
from cylcollide.shapes import SHAPE_RECORDS

Candidates: TypeAlias = Callable[[Int64Array], CompressedRows]
"""Maps rows (k,) to the pieces of limbs that each ray may hit, as `pieces_of_rays` returns them."""

ExactRows: TypeAlias = tuple[Int64Array, Float64Array]
"""Undecided rows (k,), and a fraction of each as a double-double (k, 2)."""

NO_CHORDS = empty_chords(0)
NO_ROWS: ExactRows = np.zeros(0, np.int64), np.zeros((0, 2))


def own_pieces(table: LimbTable, rows: Int64Array) -> CompressedRows:
    """One piece per row: of the limb in that row, or of the only limb."""
    own = rows if len(table.kind) > 1 else np.zeros_like(rows)
    return np.arange(len(rows) + 1), (2 * own).astype(np.int32)


def ray_numbers(rays: Rays, i: int) -> RayNumbers:
    """The numbers of ray i."""
    origin, second = tuple(rays.origin[i].tolist()), tuple(rays.second[i].tolist())
    return RayNumbers(origin, second, rays.is_segment, float(limit_of(rays, i)))


def exact_limb(table: LimbTable, limb: int) -> LimbSolid:
    """The exact solid of a limb, in rational numbers."""
    box = table.box.item(limb)
    p1, p2 = (tuple(ends[limb].tolist()) for ends in (table.p1, table.p2))
    numbers = tuple(table.boxes[box].tolist()) if box >= 0 else ()
    make = SHAPE_RECORDS[table.kind.item(limb)].exact_solid
    return make(p1, p2, table.radius.item(limb), table.radius2.item(limb), numbers)


def _solids(
    rays: Rays, i: int, table: LimbTable, limbs: Iterable[int], inside: InsidePolicy
) -> Iterator[tuple[int, Solid]]:
    """The exact solids of limbs, grown by the radius of ray i; limbs with the same numbers share one."""
    shared, radius = dict[Solid, Solid](), float(radius_of(rays, i))
    for limb in limbs:
        solid = exact_limb(table, limb)
        if solid not in shared:
            shared[solid] = solid
            if radius > 0.0:
                is_bounded = table.kind.item(limb) in BOUNDED
                shared[solid] = Bounded(rays, i, table, limb, inside) if is_bounded else grown_by(solid, radius)
        yield limb, shared[solid]


def _write_first(
    chords: ChordColumns,
    row: int,
    rays: Rays,
    i: int,
    table: LimbTable,
    limbs: Iterable[int],
    inside: InsidePolicy,
    earliest: Iterable[float] = repeat(0.0),
) -> bool:
    """Write the chord of the limb that ray i hits first, if any; returns whether it starts in one.

    `earliest`: as `order.closest` takes it.
    """
    ray, tested = ray_numbers(rays, i), list[tuple[int, Solid]]()
    first, started_inside = order.closest(ray, _kept(_solids(rays, i, table, limbs, inside), tested), inside, earliest)
    if first is not None:
        _write(chords, row, *first, is_open(ray, tested, first, inside))
    return started_inside


def _kept(solids: Iterable[tuple[int, Solid]], taken: list[tuple[int, Solid]]) -> Iterator[tuple[int, Solid]]:
    """Yield the solids; each one that is consumed is appended to `taken`."""
    for pair in solids:
        taken.append(pair)
        yield pair


def _write(chords: ChordColumns, row: int, limb: int, chord: order.Chord, is_open: bool) -> None:
    chords.limb[row] = limb
    chords.entry[row], chords.entry_face[row] = chord.entry.double_double(), chord.entry_face
    chords.exit[row] = (np.inf, 0.0) if chord.exit is None else chord.exit.double_double()
    chords.exit_face[row], chords.fraction[row] = chord.exit_face, chords.entry[row, 0]
    chords.exact_hit[row] = chords.exact_chord[row] = True
    chords.is_open[row] = is_open


def resolve_hits(
    read: Callable[[str], Any], table: LimbTable, inside: InsidePolicy, candidates: Candidates
) -> ChordRows:
    """Fill in undecided rows of a cast: by sides, else limb and face from exact arithmetic, fractions from kernels.

    `read` takes the name of a column of `HitColumns`, or "batch". Returns the chords of hits that kernels do not decide
    alone.
    """
    batch, hits = read("batch"), HitColumns._make(map(read, HitColumns._fields))
    rows = np.flatnonzero(hits.undecided)
    chords, lists = empty_chords(len(rows)), candidates(rows)
    earliest = np.empty(len(lists[1]))
    if settle_rows(batch, table.kernel_rows, rows, *lists, earliest, hits, chords):
        _resolve_exactly(batch, table, inside, rows, lists, earliest, hits, chords)
    of_chords = np.flatnonzero(chords.limb >= 0)
    return ChordRows(offsets_of(rows[of_chords], len(hits.limb)), hits.undecided, take_chords(chords, of_chords))


def _resolve_exactly(
    batch: RayBatch,
    table: LimbTable,
    inside: InsidePolicy,
    rows: Int64Array,
    lists: CompressedRows,
    earliest: Float64Array,
    hits: HitColumns,
    chords: ChordColumns,
) -> None:
    """As `resolve_hits`, of those of these rows that are still undecided, in exact arithmetic."""
    opened = np.flatnonzero(hits.undecided[rows])
    for k in opened.tolist():
        i = rows.item(k)
        limb = hits.limb.item(i)
        limbs, entries = ([limb], [0.0]) if limb >= 0 else _by_entry(k, batch.rays, table, lists, earliest)
        hits.inside[i] |= _write_first(chords, k, batch.rays, i, table, limbs, inside, entries)
    ray, opened = rows[opened], opened[chords.limb[opened] >= 0]
    hits.limb[ray], hits.fraction[ray], hits.face[ray] = NO_LIMB, np.inf, int(Face.NONE)
    ray = rows[opened]
    part = take_rays(batch, ray)
    _prefer_kernels(part, table, opened, False, chords)
    ends, face = _hit_end(take_chords(chords, opened), inside)
    chords.fraction[opened], chords.exact_hit[opened] = ends[:, 0], True
    _prefer_casts(part, table, opened, chords)
    hits.limb[ray], hits.fraction[ray], hits.face[ray] = chords.limb[opened], chords.fraction[opened], face


def _by_entry(
    k: int, rays: Rays, table: LimbTable, lists: CompressedRows, earliest: Float64Array
) -> tuple[list[int], list[float]]:
    """The limbs that the ray of list k may hit, sorted by the earliest fraction of each, and these fractions."""
    own = slice(lists[0][k], lists[0][k + 1])
    limbs, entries = lists[1][own] >> 1, earliest[own]
    limbs, entries = limbs[entries < np.inf], entries[entries < np.inf]
    if len(rays.radius) and np.isin(table.kind[limbs], BOUNDED).any():
        entries = np.zeros(len(limbs))  # where bounds replace an exact contact, a later limb may be first
    pairs = sorted(set(zip(entries.tolist(), limbs.tolist(), strict=True)))
    return [limb for _, limb in pairs], [entry for entry, _ in pairs]


def exact_hits(resolved: ChordRows | None, inside: InsidePolicy) -> ExactRows:
    """The hits of resolved rows that kernels do not decide."""
    if resolved is None:
        return NO_ROWS
    exact = resolved.chords.exact_hit
    return ray_of_each(resolved.offsets)[exact], _hit_end(resolved.chords, inside)[0][exact]


def whole_chords(
    batch: RayBatch, limbs: LabelledLimbs, limb: Int32Array, inside: InsidePolicy, resolved: ChordRows | None
) -> ChordColumns:
    """The chord of each ray in its limb (-1: a miss)."""
    chords, undecided = empty_chords(len(limb)), np.empty(len(limb), bool)
    if complete_chords(batch, limbs._kernel_rows, limb, False, chords, undecided):
        if resolved is not None:
            exact = resolved.chords.exact_chord
            known = ray_of_each(resolved.offsets)[exact]
            put_chords(chords, known, take_chords(resolved.chords, exact))
            undecided[known] = False
        for i in np.flatnonzero(undecided).tolist():
            _write_first(chords, i, batch.rays, i, limbs._table, [limb.item(i)], inside)
    return chords


def _prefer_casts(batch: RayBatch, table: LimbTable, rows: Int64Array, chords: ChordColumns) -> None:
    """Cast each ray against its limb alone; where kernels decide, put the fraction into its row of chords.

    Kernels return the same bits for a limb alone as for a limb among many, so the result does not depend on which limbs
    a loop has tested.
    """
    every, limb = table.kernel_rows, chords.limb[rows]
    columns = (every.kernel_shape[limb], every.character[limb], every.mask[limb], every.rows[limb])
    alone = empty_hits(len(limb))
    cast_rows(batch, LimbRows(*columns, every.shared_mask), alone)
    decided = (alone.limb >= 0) & ~alone.undecided
    chords.fraction[rows[decided]], chords.exact_hit[rows[decided]] = alone.fraction[decided], False


def _hit_end(chords: ChordColumns, inside: InsidePolicy) -> tuple[Float64Array, Int8Array]:
    """Fraction and face of the end of each chord that is the hit."""
    leaves = (chords.entry_face == int(Face.INSIDE)) & (inside == "exit")
    fraction = np.where(leaves[:, None], chords.exit, chords.entry)
    return fraction, np.where(leaves, chords.exit_face, chords.entry_face)


def _prefer_kernels(batch: RayBatch, table: LimbTable, hit: Int64Array, last: bool, chords: ChordColumns) -> None:
    """Use the kernels' numbers where their bounds decide: a chord does not depend on other limbs.

    `hit`: the row of each ray's chord; `last`: whether these are second chords of tubes.
    """
    fast, undecided = empty_chords(len(hit)), np.empty(len(hit), bool)
    complete_chords(batch, table.kernel_rows, chords.limb[hit], last, fast, undecided)
    fast.is_open[:] = chords.is_open[hit]
    put_chords(chords, hit[~undecided], take_chords(fast, ~undecided))


def resolve_any(
    batch: RayBatch, table: LimbTable, tree: Tree, inside: InsidePolicy, hits: HitColumns, blocked: BoolArray
) -> None:
    """Write into `blocked` whether each undecided ray hits any limb; overwrites `hits`."""
    rows = np.flatnonzero(hits.undecided)
    lists = pieces_of_rays(batch, table.kernel_rows, tree, rows)
    earliest = np.empty(len(lists[1]))
    settle_rows(batch, table.kernel_rows, rows, *lists, earliest, hits, NO_CHORDS)
    for k in np.flatnonzero(hits.undecided[rows]).tolist():
        i = rows.item(k)
        ray, limbs = ray_numbers(batch.rays, i), _by_entry(k, batch.rays, table, lists, earliest)[0]
        solids = _solids(batch.rays, i, table, limbs, inside)
        hits.limb[i] = next((one for one, solid in solids if order.limb_hit(ray, solid, inside)[0]), NO_LIMB)
    blocked[rows] = hits.limb[rows] >= 0


def resolve_chords(
    batch: RayBatch, table: LimbTable, inside: InsidePolicy, begin: int, fast: ChordRows, codes: Int32Array
) -> ChordRows:
    """Chords of the rays `begin`, `begin` + 1, ..., those of undecided rows in double-double or exact arithmetic.

    `codes`: the pieces that the rays may hit; `fast`: the kernels' chords of all rays.
    """
    rays, n = np.flatnonzero(fast.undecided), len(fast.undecided)
    part, every = take_rays(batch, begin + rays)._replace(policy=POLICY_HIT), np.arange(len(rays))
    offsets, listed = chords_of_rays(fast.offsets, rays)
    codes, earliest = codes[listed], np.empty(len(listed))
    settle_rows(part, table.kernel_rows, every, offsets, codes, earliest, empty_hits(len(rays)), NO_CHORDS)
    ray, codes = ray_of_each(offsets)[earliest < np.inf], codes[earliest < np.inf]
    found = ChordRows(offsets_of(ray, len(rays)), np.empty(len(rays), bool), empty_chords(len(codes)))
    if cast_chords(part, table.kernel_rows, found.offsets, codes, 0, found.chords, found.undecided):
        found = _exact_chords(part, table, inside, found, codes)
    which = np.arange(n)
    which[rays] = n + every
    return take_rays_of_chords(concat_chord_rows([fast, found]), which)


def _exact_chords(
    batch: RayBatch, table: LimbTable, inside: InsidePolicy, fast: ChordRows, codes: Int32Array
) -> ChordRows:
    """As `resolve_chords`, in exact arithmetic."""
    rays, offsets, n = np.flatnonzero(fast.undecided), fast.offsets, len(fast.undecided)
    limbs = [np.unique(codes[offsets[k] : offsets[k + 1]] >> 1).tolist() for k in rays.tolist()]
    found = list[list[tuple[int, order.Chord, bool]]]()
    for k, of_ray in zip(rays.tolist(), limbs, strict=True):
        found.append(_sorted_chords(ray_numbers(batch.rays, k), list(_solids(batch.rays, k, table, of_ray, inside))))
    chords = empty_chords(sum(map(len, found)))
    for row, one in enumerate(chain.from_iterable(found)):
        _write(chords, row, *one)
    counts, which = np.array([len(chords) for chords in found]), np.arange(n)
    _prefer_kernels_in_chords(batch, table, np.repeat(rays, counts), chords)
    resolved = ChordRows(np.cumsum([0, *counts]), fast.undecided[rays], chords)
    which[rays] = n + np.arange(len(rays))
    return take_rays_of_chords(concat_chord_rows([fast, resolved]), which)


def _sorted_chords(ray: RayNumbers, solids: list[tuple[int, Solid]]) -> list[tuple[int, order.Chord, bool]]:
    """The limbs that a ray crosses and its chords, sorted by entry, and whether each is undecided."""
    bounded = {limb: solid for limb, solid in solids if isinstance(solid, Bounded)}
    chords = order.sorted_chords(ray, solids)
    return [(limb, chord, limb in bounded and not bounded[limb].is_certain) for limb, chord in chords]


def _prefer_kernels_in_chords(batch: RayBatch, table: LimbTable, ray: Int64Array, chords: ChordColumns) -> None:
    """Where kernels decide a cast against the limb alone, put their numbers into the chords."""
    part = take_rays(batch, ray)._replace(policy=POLICY_HIT)
    _, first = np.unique((ray << 32) | chords.limb, return_index=True)  # a tube may be crossed again behind its bore
    second = np.delete(np.arange(len(ray)), first)
    for rows, last in ((first, False), (second, True)):
        _prefer_kernels(take_rays(part, rows), table, rows, last, chords)
    rows = first[chords.exact_hit[first]]
    _prefer_casts(take_rays(part, rows), table, rows, chords)
