"""One chord: of a ray in a piece of a limb, as bounds decide it, or level faces, or the sides of its start and end."""

from math import inf

from cylcollide._types import POLICY_HIT
from cylcollide.kernels.at_surface import (
    EXITING,
    FACE_INSIDE,
    UNKNOWN,
    Sides,
    bound_pieces,
    level_sides,
    settled_piece,
    sides_of_ray,
)
from cylcollide.kernels.chord import ChordEnds, certain_chord
from cylcollide.kernels.dispatch import pieces
from cylcollide.kernels.double_double import DoubleDouble
from cylcollide.kernels.hit_bounds import span_of
from cylcollide.kernels.inside_policy import ray_hit_bounds
from cylcollide.kernels.interval import NOTHING, UNDECIDED_FACE, Span, empty
from cylcollide.kernels.level import level_ray, owner
from cylcollide.kernels.limb_table import Limb, LimbRows, limb_at
from cylcollide.kernels.ray import Ray, Rays, as_vector, exact_displacement, is_trusted, limit_of, ray_at
from cylcollide.kernels.thick_surface import thick_chord
from cylcollide.query.loops.chord_order import piece_span
from cylcollide.query.loops.columns import ChordColumns
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.runtime.compile import inlined, noinline


@inlined
def write_chord(chords: ChordColumns, row: int, limb: int, ends: ChordEnds) -> None:
    """Write a chord into a row."""
    entry, leave, first_face, last_face = ends
    chords.limb[row] = limb
    chords.entry[row, 0], chords.entry[row, 1] = entry
    chords.exit[row, 0], chords.exit[row, 1] = leave
    chords.entry_face[row], chords.exit_face[row] = int(first_face), int(last_face)
    chords.fraction[row], chords.exact_hit[row], chords.exact_chord[row] = entry[0], False, False
    chords.is_open[row] = False


@noinline
def chord_at(rays: Rays, i: int, ray: Ray, limb: Limb, span: Span) -> tuple[bool, ChordEnds]:
    """`certain_chord` of ray i, which may be thick."""
    if ray.radius > 0.0:
        return thick_chord(exact_displacement(rays, i), ray, limit_of(rays, i), limb, span)
    return certain_chord(exact_displacement(rays, i), ray, limit_of(rays, i), limb, span)


@inlined
def write_own_chord(
    chords: ChordColumns, row: int, batch: RayBatch, table: LimbRows, i: int, k: int, last: bool
) -> bool:
    """Write the whole chord of ray i in limb k, or that of the second piece; returns whether it is undecided."""
    ray, limb, piece = ray_at(batch.rays, i), limb_at(table.rows, table.kernel_shape, k), 0
    if not is_trusted(ray):
        return True
    span = span_of(ray, limb, 0)
    if pieces(limb.kind) == 2:
        bounds = ray_hit_bounds(ray, span, batch.policy)
        if last or not (bounds.possible or bounds.inside):
            span, piece = piece_span(ray, table, 2 * k + 1), 1
    decided, ends = chord_at(batch.rays, i, ray, limb, span)
    if decided:
        write_chord(chords, row, k, ends)
    return not decided and not write_settled_chord(chords, row, batch.rays, i, ray, k, limb, piece)


@noinline
def settled_span_at(rays: Rays, i: int, ray: Ray, limb: Limb, piece: int) -> Span:
    """When ray i is in a piece of a limb, by level faces that it runs along, or by the sides of its ends."""
    displacement, end = exact_displacement(rays, i), as_vector(rays.second, i)
    moved, is_beyond, _ = level_ray(ray, displacement, limb)
    if is_beyond:
        return Span(NOTHING, NOTHING, UNDECIDED_FACE, UNDECIDED_FACE)
    span = span_of(moved, limb, piece)
    if not ray_hit_bounds(ray, span, POLICY_HIT).certain:
        (start, _), (last, _) = level_sides(ray, displacement, end, rays.is_segment, limb)
        span = settled_piece(moved, limb, piece, (start, last))
    if not ray_hit_bounds(ray, span, POLICY_HIT).certain and bound_pieces(ray, limb):
        sides = sides_of_ray(rays, i, limb)
        span = settled_piece(moved, limb, piece, sides) if are_known(sides) else span
    return span


@noinline
def write_settled_chord(
    chords: ChordColumns, row: int, rays: Rays, i: int, ray: Ray, number: int, limb: Limb, piece: int
) -> bool:
    """Write the chord of ray i in a limb if level faces, or the sides of its ends, decide it; returns whether they do.

    The ray runs along such a face, or it starts or ends next to a surface.
    """
    displacement, limit, end = exact_displacement(rays, i), limit_of(rays, i), as_vector(rays.second, i)
    moved, is_beyond, plane = level_ray(ray, displacement, limb)
    if is_beyond:
        return False
    decided, (entry, leave, first, last) = chord_at(rays, i, moved, limb, span_of(moved, limb, piece))
    if not decided:
        (side, face), (last_side, last_face) = level_sides(ray, displacement, end, rays.is_segment, limb)
        if side == EXITING:
            entry, leave, first, last, decided = (0.0, 0.0), (0.0, 0.0), FACE_INSIDE, face, True
        elif last_side == EXITING:
            entry, leave, first, last, decided = (limit, 0.0), (limit, 0.0), last_face, FACE_INSIDE, True
        else:
            span = settled_piece(moved, limb, piece, (side, last_side))
            decided, (entry, leave, first, last) = chord_at(rays, i, moved, limb, span)
    if not decided and bound_pieces(ray, limb):
        sides = sides_of_ray(rays, i, limb)
        if are_known(sides):
            span = settled_piece(moved, limb, piece, sides)
            decided, (entry, leave, first, last) = chord_at(rays, i, moved, limb, span)
    if not decided:
        return False
    known, own_entry = entry_alone(rays, i, ray, limb, piece)
    entry, leave = own_entry if known else within(entry, limit), within(leave, limit)
    write_chord(chords, row, number, (entry, leave, owner(first, plane), owner(last, plane)))
    chords.exact_hit[row], chords.exact_chord[row] = not known, True  # other kernels do not know these ends
    return True


@inlined
def entry_alone(rays: Rays, i: int, ray: Ray, limb: Limb, piece: int) -> tuple[bool, DoubleDouble]:
    """Whether bounds decide how ray i enters a piece of a limb, whatever its exit, and the entry, as a cast has it."""
    outer, inner, first, last = span_of(ray, limb, piece)
    endless = Span((outer[0], inf), NOTHING if empty(inner) else (inner[0], inf), first, last)
    known, (entry, _, _, _) = chord_at(rays, i, ray, limb, endless)
    return known, entry


@inlined
def are_known(sides: Sides) -> bool:
    """Whether the side of a ray's start or end is known."""
    return sides[0] != UNKNOWN or sides[1] != UNKNOWN


@inlined
def within(fraction: DoubleDouble, limit: float) -> DoubleDouble:
    """A fraction that is certainly between 0 and the limit, without the error by which it may be beyond."""
    high, low = fraction
    if high < 0.0 or (high == 0.0 and low < 0.0):
        return 0.0, 0.0
    return (limit, 0.0) if high > limit or (high == limit and low > 0.0) else fraction
