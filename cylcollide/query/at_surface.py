"""Decides rays by the sides of limbs on which they start and end, from nearest places in double-double."""

import numpy as np

from cylcollide._types import BoolArray, Face, Float64Array, InsidePolicy, Int8Array, Int32Array, Int64Array, Shape
from cylcollide.kernels.at_surface import INSIDE, LEAVING, OUTSIDE, UNKNOWN, WITHIN
from cylcollide.kernels.limb_table import BOX_AXES, EXTENT, LimbRows, LimbTable
from cylcollide.kernels.traits import BOUNDED
from cylcollide.query.loops.chords import NO_SIDES, complete_chords
from cylcollide.query.loops.columns import (
    ChordColumns,
    CompressedRows,
    HitColumns,
    empty_chords,
    empty_hits,
    missed_hits,
    put_chords,
    ray_of_each,
    take_chords,
)
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.places import empty_places, write_excess, write_level_sides, write_places
from cylcollide.query.loops.single import cast_rows, settle_rows
from cylcollide.query.request import take_rays
from cylcollide.query.scratch import scratch_for_surface

TUBE, SIDE = int(Shape.TUBE), int(Face.SIDE)

SIDE_ERROR = 2.0**-70
"""Least distance from a surface at which its side is decided, relative to the coordinates: 2²⁰ times the error of the
distance, so that the normal errs by 2⁻¹⁸, also where it points to an edge."""

GROWTH_ERROR, SKEW_ERROR = 2.0**-52, 2.0**-48
"""`SIDE_ERROR` relative to the radius of a thick ray: the first as the distance is rounded, the second for rotated
boxes, whose axes count as orthonormal."""

SMALLEST_GROWTH = 2.0**-300
"""Least radius whose square does not underflow, in double-double."""

LEAST_COSINE = 2.0**-10
"""Least cosine between the normal and a direction that leads away from the limb."""


def decide_by_sides(
    batch: RayBatch, table: LimbTable, offsets: Int64Array, codes: Int32Array
) -> tuple[HitColumns, BoolArray, Float64Array]:
    """The closest limb of each ray among its listed pieces, if the sides decide it: `limb`, `inside`, `undecided`.

    Also returns, per piece, whether its limb is certainly missed, and a fraction before which the ray is not in it.
    """
    rays, ray, limb = batch.rays, ray_of_each(offsets), codes >> 1
    missed, earliest, hits = np.empty(len(codes), bool), np.empty(len(codes)), missed_hits(len(rays.origin))
    sides = np.full((len(codes), 2), UNKNOWN, np.int8)
    settle_rows(batch, table.kernel_rows, offsets, codes, sides, missed, earliest, hits)
    pieces = np.flatnonzero(hits.undecided[ray] & ~missed)
    if len(pieces):
        sides[pieces] = sides_of_rays(batch, ray[pieces], table, limb[pieces])
        settle_rows(batch, table.kernel_rows, offsets, codes, sides, missed, earliest, hits)
    if len(rays.radius):  # where bounds replace an exact contact, a later limb may be first
        earliest[np.isin(ray, ray[np.isin(table.kind[limb], BOUNDED)])] = 0.0
    return hits, missed, earliest


def sides_of_rays(batch: RayBatch, ray: Int64Array, table: LimbTable, limb: Int32Array) -> Int8Array:
    """On which sides of limb `limb[i]` ray `ray[i]` starts and ends: codes of `kernels.at_surface`; int8 (n, 2)."""
    sides, rays = np.full((len(limb), 2), UNKNOWN, np.int8), batch.rays
    origin, second = rays.origin[ray], rays.second[ray]
    way = second - origin if rays.is_segment else second
    radius = np.broadcast_to(rays.radius, len(rays.origin))[ray] if len(rays.radius) else np.zeros(len(ray))
    sides[:, 0] = sides_of_points(origin, way, table, limb, radius)
    if rays.is_segment:
        sides[:, 1] = sides_of_points(second, -way, table, limb, radius)
    return sides


def settle_chords(
    batch: RayBatch,
    table: LimbTable,
    table_rows: LimbRows,
    limb: Int32Array,
    last: bool,
    chords: ChordColumns,
    undecided: BoolArray,
) -> int:
    """`complete_chords`, by the sides of starts and ends where these decide; returns how many rays are undecided."""
    count = complete_chords(batch, table_rows, limb, last, NO_SIDES, chords, undecided)
    if count:
        rows = np.flatnonzero(undecided)
        part, own = take_rays(batch, rows), limb[rows]
        sides, settled = sides_of_rays(part, np.arange(len(rows)), table, own), empty_chords(len(rows))
        is_open = np.empty(len(rows), bool)
        count = complete_chords(part, table_rows, own, last, sides, settled, is_open)
        put_chords(chords, rows[~is_open], take_chords(settled, ~is_open))
        undecided[rows] = is_open
    return count


def sides_of_points(
    points: Float64Array,
    way: Float64Array,
    table: LimbTable,
    limb: Int32Array,
    radius: Float64Array,
    are_orthonormal: bool = True,
) -> Int8Array:
    """On which side of limb `limb[i]`, grown by a radius, point i lies: codes of `kernels.at_surface`; int8 (n,).

    `are_orthonormal`: whether the axes of boxes count so; else as given.
    """
    places, uncertain = empty_places(len(limb)), np.empty(len(limb), bool)
    write_places(points, table.kernel_rows, limb, scratch_for_surface()[0], places, uncertain)
    off, is_convex = places.distance - radius, (table.kind[limb] != TUBE) | (places.face == SIDE)
    axes = table.rows[limb, BOX_AXES : BOX_AXES + 9]
    is_turned = (table.box[limb] >= 0) & (axes != np.rint(axes)).any(axis=1)
    of_side = SIDE_ERROR * (np.abs(points).max(axis=1) + table.rows[limb, EXTENT] + radius)
    least = of_side + np.where(is_turned, SKEW_ERROR, GROWTH_ERROR) * radius
    is_open = (radius >= SMALLEST_GROWTH) & (np.abs(off) <= least) & ~np.isin(table.kind[limb], BOUNDED)
    close = np.flatnonzero(is_open & is_convex & (are_orthonormal | ~is_turned))  # not on the axis of a tube
    if len(close):
        excess = np.empty(len(close))
        write_excess(points[close], table.kernel_rows, limb[close], radius[close], excess)
        off[close], least[close] = excess, of_side[close]
    cosine = np.einsum("ij,ij->i", places.normal, way) / np.sqrt(np.einsum("ij,ij->i", way, way)).clip(1e-300)
    outside = np.where((cosine > LEAST_COSINE) & is_convex, LEAVING, OUTSIDE)
    on_face = np.where((places.distance == 0.0) & (radius == 0.0), INSIDE, UNKNOWN)  # a level one: exactly
    side = np.where(off < -least, WITHIN, np.where(off > least, outside, on_face))
    side = np.where(uncertain, UNKNOWN, side).astype(np.int8)
    if (rows := np.flatnonzero(side == UNKNOWN)).size:
        write_level_sides(points, way, table.kernel_rows, limb, radius, rows, side)
    return side


def write_numbers(batch: RayBatch, table: LimbTable, inside: InsidePolicy, hits: HitColumns) -> None:
    """Write faces and fractions of rows with a known limb; a row is undecided if kernels do not decide them."""
    rows = np.flatnonzero(hits.limb >= 0)
    alone, at_start = cast_alone(take_rays(batch, rows), table, hits.limb[rows]), hits.inside[rows] & (inside == "hit")
    hits.fraction[rows] = np.where(at_start, 0.0, alone.fraction)
    hits.face[rows] = np.where(at_start, int(Face.INSIDE), alone.face)
    hits.undecided[rows] = ~at_start & (alone.undecided | (alone.limb < 0))


def by_entry(lists: CompressedRows, missed: BoolArray, earliest: Float64Array, i: int) -> tuple[list[int], list[float]]:
    """The limbs that ray i may hit, sorted by the earliest fraction at which it may enter each, and these fractions."""
    own = slice(lists[0][i], lists[0][i + 1])
    kept = ~missed[own]
    order = sorted(set(zip(earliest[own][kept].tolist(), (lists[1][own][kept] >> 1).tolist(), strict=True)))
    return [limb for _, limb in order], [entry for entry, _ in order]


def own_pieces(table: LimbTable, rows: Int64Array) -> CompressedRows:
    """One piece per row: of the limb in that row, or of the only limb."""
    own = rows if len(table.kind) > 1 else np.zeros_like(rows)
    return np.arange(len(rows) + 1), (2 * own).astype(np.int32)


def cast_alone(batch: RayBatch, table: LimbTable, limb: Int32Array) -> HitColumns:
    """Cast ray i against limb `limb[i]` alone."""
    all_rows, alone = table.kernel_rows, empty_hits(len(limb))
    columns = (all_rows.kernel_shape[limb], all_rows.character[limb], all_rows.mask[limb], all_rows.rows[limb])
    cast_rows(batch, LimbRows(*columns, all_rows.shared_mask), alone)
    return alone
