"""Rows that float64 bounds do not decide, answered in exact arithmetic and written where the fast answer would be."""

from collections.abc import Iterable, Iterator

import numpy as np

from cylcollide._types import BoolArray, Float64Array, InsidePolicy, Int32Array, Int64Array, Side
from cylcollide.casting import Query, possible_limbs
from cylcollide.exact import cylinder, order
from cylcollide.exact.cylinder import CylinderNumbers, RayNumbers
from cylcollide.hits import Chorded, empty_chords, joined
from cylcollide.kernels.ray import Rays
from cylcollide.kernels.table import LimbTable
from cylcollide.locating import limbs_near_point
from cylcollide.tree.layout import Tree


def ray_numbers(rays: Rays, i: int) -> RayNumbers:
    """The numbers of one ray."""
    limit = rays.limit[i if rays.limit.size > 1 else 0]
    return RayNumbers(tuple(rays.origin[i].tolist()), tuple(rays.second[i].tolist()), rays.is_segment, float(limit))


def limb_numbers(table: LimbTable, limb: int) -> CylinderNumbers:
    """The numbers of one limb."""
    return CylinderNumbers(tuple(table.p1[limb].tolist()), tuple(table.p2[limb].tolist()), float(table.radius[limb]))


def _numbered(table: LimbTable, limbs: Iterable[int]) -> Iterator[tuple[int, CylinderNumbers]]:
    return ((limb, limb_numbers(table, limb)) for limb in limbs)


def _write(chords: Chorded, row: int, limb: int, chord: cylinder.Chord) -> None:
    chords.limb[row] = limb
    chords.entry[row], chords.entry_face[row] = chord.entry.double_double(), chord.entry_face
    chords.exit[row] = (np.inf, 0.0) if chord.exit is None else chord.exit.double_double()
    chords.exit_face[row] = chord.exit_face


def settle_rows(
    query: Query, table: LimbTable, inside: InsidePolicy, rows: Int64Array, chords: Chorded, started: BoolArray
) -> None:
    """Ray i against limb i (or the only limb), for the given rows."""
    for i in rows.tolist():
        limb = i if len(table.radius) > 1 else 0
        first, started[i] = order.closest(ray_numbers(query.rays, i), _numbered(table, [limb]), inside)
        if first is not None:
            _write(chords, i, *first)


def settle_closest(
    query: Query,
    table: LimbTable,
    tree: Tree,
    inside: InsidePolicy,
    rows: Int64Array,
    chords: Chorded,
    started: BoolArray,
) -> None:
    """The first limb along the given rays, among all that they do not certainly miss."""
    offsets, limbs = possible_limbs(query, table, tree, rows)
    for k, i in enumerate(rows.tolist()):
        candidates = limbs[offsets[k] : offsets[k + 1]].tolist()
        first, started[i] = order.closest(ray_numbers(query.rays, i), _numbered(table, candidates), inside)
        if first is not None:
            _write(chords, i, *first)


def settle_any(
    query: Query, table: LimbTable, tree: Tree, inside: InsidePolicy, rows: Int64Array, blocked: BoolArray
) -> None:
    """Whether the given rays hit any limb."""
    offsets, limbs = possible_limbs(query, table, tree, rows)
    for k, i in enumerate(rows.tolist()):
        candidates = limbs[offsets[k] : offsets[k + 1]].tolist()
        blocked[i] = order.closest(ray_numbers(query.rays, i), _numbered(table, candidates), inside)[0] is not None


def settle_chords(
    rays: Rays, table: LimbTable, begin: int, offsets: Int64Array, limbs: Int32Array, chords: Chorded, unsure: BoolArray
) -> tuple[Int64Array, Chorded]:
    """Chords in order, those of unsure rays settled anew; returns the ray of each chord, counted from `begin`.

    `offsets` and `limbs` are what the rays `begin`, `begin` + 1, ... may hit, `chords` the fast answer to that.
    """
    ray = np.repeat(np.arange(len(unsure)), np.diff(offsets))
    rows = np.flatnonzero(unsure)
    if len(rows) == 0:
        return ray, chords
    kept, kept_ray = _rows_of(chords, ~unsure[ray]), ray[~unsure[ray]]
    found = [
        (k, limb, chord)
        for k in rows.tolist()
        for limb, chord in order.chords(
            ray_numbers(rays, begin + k), _numbered(table, limbs[offsets[k] : offsets[k + 1]].tolist())
        )
    ]
    settled = empty_chords(len(found))
    for row, (_, limb, chord) in enumerate(found):
        _write(settled, row, limb, chord)
    both = joined([kept, settled])
    both_ray = np.concatenate((kept_ray, np.array([k for k, _, _ in found], np.int64)))
    by_ray = np.argsort(both_ray, kind="stable")
    return both_ray[by_ray], _rows_of(both, by_ray)


def _rows_of(chords: Chorded, rows: BoolArray | Int64Array) -> Chorded:
    return Chorded._make(column[rows] for column in chords)


def settle_point(point: Float64Array, table: LimbTable, limb: int) -> Side:
    """Where one point (3,) lies with respect to one limb."""
    return cylinder.point_cylinder(tuple(point.tolist()), limb_numbers(table, limb))


def settle_points(
    points: Float64Array, table: LimbTable, tree: Tree, rows: Int64Array, limb_of: Int32Array, count: Int32Array
) -> None:
    """The lowest limb that holds each of the given points, and how many do."""
    for i in rows.tolist():
        near = limbs_near_point(points[i], tree).tolist()
        holding = [limb for limb in near if settle_point(points[i], table, limb) != Side.OUTSIDE]
        limb_of[i], count[i] = min(holding, default=-1), len(holding)
