"""Rows that float64 bounds do not decide, answered in exact arithmetic and written where the fast answer would be."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from cylcollide import door
from cylcollide._types import BoolArray, Face, Float64Array, InsidePolicy, Int8Array, Int32Array, Int64Array, Side
from cylcollide.casting import Query
from cylcollide.chording import complete_chords, possible_stretches
from cylcollide.columns import Answer, Chorded, empty_chords, joined
from cylcollide.exact import order
from cylcollide.exact.line import RayNumbers
from cylcollide.exact.solid import Solid
from cylcollide.hits import RayHits
from cylcollide.kernels.ray import Rays, shared
from cylcollide.kernels.table import LimbTable
from cylcollide.locating import limbs_near_point
from cylcollide.shapes import RECORDS, Numbers
from cylcollide.tree.layout import Tree
from cylcollide.tree.walk import make_stack

NO_ROWS, NO_CHORDS = np.zeros(0, np.int64), empty_chords(0)

Candidates: TypeAlias = Callable[[Int64Array], Iterable[Iterable[int]]]
"""From rows to the limbs that each of their rays may hit."""


def ray_numbers(rays: Rays, i: int) -> RayNumbers:
    """The numbers of one ray."""
    limit = 1.0
    if not rays.is_segment:
        limit = door.limits(rays.distance[[shared(rays.distance, i)]], rays.second[[i]]).item()
    return RayNumbers(tuple(rays.origin[i].tolist()), tuple(rays.second[i].tolist()), rays.is_segment, limit)


def exact_limb(table: LimbTable, limb: int) -> Solid:
    """The solid that a limb is, in exact numbers: its shape's twin."""
    box = table.box.item(limb)
    numbers = Numbers(
        tuple(table.p1[limb].tolist()),
        tuple(table.p2[limb].tolist()),
        table.radius.item(limb),
        table.radius2.item(limb),
        tuple(table.boxes[box].tolist()) if box >= 0 else (),
    )
    return RECORDS[table.kind.item(limb)].twin(numbers)


def _numbered(table: LimbTable, limbs: Iterable[int]) -> Iterator[tuple[int, Solid]]:
    return ((limb, exact_limb(table, limb)) for limb in limbs)


def _limbs_of(codes: Int32Array) -> list[int]:
    """The limbs that stretches belong to, each once."""
    return sorted({code // 2 for code in codes.tolist()})


def _write(chords: Chorded, row: int, limb: int, chord: order.Chord) -> None:
    chords.limb[row] = limb
    chords.entry[row], chords.entry_face[row] = chord.entry.double_double(), chord.entry_face
    chords.exit[row] = (np.inf, 0.0) if chord.exit is None else chord.exit.double_double()
    chords.exit_face[row] = chord.exit_face


class Asked(Answer, Protocol):
    """A question about rays, and its answer so far."""

    @property
    def query(self) -> Query:
        """What was asked."""

    @property
    def unsure(self) -> BoolArray:
        """As in `Verdicts`."""


class Answered(NamedTuple):
    """An answer that is there."""

    query: Query
    limb: Int32Array
    fraction: Float64Array
    face: Int8Array
    inside: BoolArray
    unsure: BoolArray

    @property
    def rays(self) -> Rays:
        """The rays that were asked about."""
        return self.query.rays


def ray_hits(asked: Asked, table: LimbTable, inside: InsidePolicy, unsure: bool, candidates: Candidates) -> RayHits:
    """What the rays hit: unsure rows, if any, settled, and the rest of each chord computed when it is asked for."""
    rows, settled = NO_ROWS, NO_CHORDS
    if unsure:
        rows, settled = _settle_hits(asked, table, inside, candidates)

    def complete() -> Chorded:
        limb = asked.limb
        chords, known = empty_chords(len(limb)), np.zeros(len(limb), bool)
        known[rows] = True
        others = np.flatnonzero((limb >= 0) & ~known)
        for part_rows, part in (
            (rows, settled),
            (others, _chords_in(asked.query, table, inside, others, limb[others])),
        ):
            _put_rows(chords, part_rows, part)
        return chords

    return RayHits(asked, table, len(rows), inside == "exit", complete)


def _settle_hits(
    asked: Asked, table: LimbTable, inside: InsidePolicy, candidates: Candidates
) -> tuple[Int64Array, Chorded]:
    """Fill in the unsure rows; returns them with their chords."""
    query, rows = asked.query, np.flatnonzero(asked.unsure)
    chords = empty_chords(len(rows))
    for k, (i, limbs) in enumerate(zip(rows.tolist(), candidates(rows), strict=True)):
        first, asked.inside[i] = order.closest(ray_numbers(query.rays, i), _numbered(table, limbs), inside)
        if first is not None:
            _write(chords, k, *first)
    asked.limb[rows] = chords.limb
    hit = np.flatnonzero(chords.limb >= 0)
    _prefer_kernels(query, table, rows, hit, chords)
    leaves = (chords.entry_face == Face.INSIDE) & (inside == "exit")
    fraction = np.where(leaves, chords.exit[:, 0], chords.entry[:, 0])
    asked.fraction[rows] = np.where(chords.limb >= 0, fraction, np.inf)
    asked.face[rows] = np.where(leaves, chords.exit_face, chords.entry_face)
    return rows, chords


def _prefer_kernels(query: Query, table: LimbTable, rows: Int64Array, hit: Int64Array, chords: Chorded) -> None:
    """Put the kernels' numbers where their bounds decide: a chord does not depend on what other limbs there are."""
    fast, undecided = empty_chords(len(hit)), np.zeros(len(hit), bool)
    complete_chords(query, table.seen, rows[hit], chords.limb[hit], fast, undecided)
    _put_rows(chords, hit[~undecided], _rows_of(fast, ~undecided))


def _chords_in(query: Query, table: LimbTable, inside: InsidePolicy, rows: Int64Array, limbs: Int32Array) -> Chorded:
    """The chords of given rays in the limbs that they hit."""
    chords, undecided = empty_chords(len(rows)), np.zeros(len(rows), bool)
    complete_chords(query, table.seen, rows, limbs, chords, undecided)
    for k in np.flatnonzero(undecided).tolist():
        numbered = _numbered(table, [int(limbs[k])])
        first, _ = order.closest(ray_numbers(query.rays, int(rows[k])), numbered, inside)
        if first is not None:
            _write(chords, k, *first)
    return chords


def limbs_near_rays(query: Query, table: LimbTable, tree: Tree, rows: Int64Array) -> list[list[int]]:
    """The limbs that each of the given rays does not certainly miss."""
    offsets, codes = possible_stretches(query, table.seen, tree, make_stack(tree), rows)
    return [_limbs_of(codes[offsets[k] : offsets[k + 1]]) for k in range(len(rows))]


def settle_any(
    query: Query, table: LimbTable, tree: Tree, inside: InsidePolicy, rows: Int64Array, blocked: BoolArray
) -> None:
    """Whether the given rays hit any limb."""
    for i, limbs in zip(rows.tolist(), limbs_near_rays(query, table, tree, rows), strict=True):
        blocked[i] = order.closest(ray_numbers(query.rays, i), _numbered(table, limbs), inside)[0] is not None


def settle_chords(
    rays: Rays, table: LimbTable, begin: int, offsets: Int64Array, codes: Int32Array, chords: Chorded, unsure: BoolArray
) -> tuple[Int64Array, Chorded]:
    """Chords in order, those of unsure rays settled anew; returns the ray of each chord, counted from `begin`.

    `offsets` and `codes` are what the rays `begin`, `begin` + 1, ... may hit, `chords` the fast answer to that.
    """
    ray = np.repeat(np.arange(len(unsure)), np.diff(offsets))
    rows = np.flatnonzero(unsure)
    if len(rows) == 0:
        return ray, chords
    kept, kept_ray = _rows_of(chords, ~unsure[ray]), ray[~unsure[ray]]
    found = [
        (k, limb, chord)
        for k in rows.tolist()
        for limb, chord in order.sorted_chords(
            ray_numbers(rays, begin + k), _numbered(table, _limbs_of(codes[offsets[k] : offsets[k + 1]]))
        )
    ]
    settled = empty_chords(len(found))
    for row, (_, limb, chord) in enumerate(found):
        _write(settled, row, limb, chord)
    both = joined([kept, settled])
    both_ray = np.concatenate((kept_ray, np.array([k for k, _, _ in found], np.int64)))
    by_ray = np.argsort(both_ray, kind="stable")
    return both_ray[by_ray], _rows_of(both, by_ray)


def _put_rows(chords: Chorded, rows: Int64Array, part: Chorded) -> None:
    """Write chords into the given rows of others."""
    chords.limb[rows], chords.entry[rows], chords.exit[rows] = part.limb, part.entry, part.exit
    chords.entry_face[rows], chords.exit_face[rows] = part.entry_face, part.exit_face


def _rows_of(chords: Chorded, rows: BoolArray | Int64Array) -> Chorded:
    return Chorded._make(column[rows] for column in chords)


def settle_point(point: Float64Array, table: LimbTable, limb: int) -> Side:
    """Where one point (3,) lies with respect to one limb."""
    return exact_limb(table, limb).side(tuple(point.tolist()))


def settle_points(
    points: Float64Array, table: LimbTable, tree: Tree, rows: Int64Array, limb_of: Int32Array, count: Int32Array
) -> None:
    """The lowest limb that holds each of the given points, and how many do."""
    for i in rows.tolist():
        near = limbs_near_point(points[i], tree, make_stack(tree)).tolist()
        holding = [limb for limb in near if settle_point(points[i], table, limb) != Side.OUTSIDE]
        limb_of[i], count[i] = min(holding, default=-1), len(holding)
