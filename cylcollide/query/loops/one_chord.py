"""One chord: of a ray in a piece of a limb, as bounds decide it, or level faces, or the sides of its start and end."""

from math import inf

import numpy as np

from cylcollide._types import POLICY_HIT, Int8Array, Rows
from cylcollide.kernels.at_surface import (
    EXITING,
    FACE_INSIDE,
    UNKNOWN,
    Sides,
    bound_pieces,
    level_sides,
    settled_piece,
)
from cylcollide.kernels.chord import ChordEnds, certain_chord
from cylcollide.kernels.double_double import DoubleDouble
from cylcollide.kernels.hit_bounds import span_of
from cylcollide.kernels.inside_policy import ray_hit_bounds
from cylcollide.kernels.interval import NOTHING, UNDECIDED_FACE, Span, empty
from cylcollide.kernels.level import level_ray, owner
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.ray import Ray, Rays, as_vector, exact_displacement, limit_of
from cylcollide.kernels.thick_surface import thick_chord
from cylcollide.query.loops.columns import ChordColumns
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


@noinline
def settled_span_at(rays: Rays, i: int, ray: Ray, limb: Limb, piece: int, ends: Sides) -> Span:
    """When ray i is in a piece of a limb, by level faces that it runs along, or by the sides of its ends."""
    displacement, end = exact_displacement(rays, i), as_vector(rays.second, i)
    moved, is_beyond, _ = level_ray(ray, displacement, limb)
    if is_beyond:
        return Span(NOTHING, NOTHING, UNDECIDED_FACE, UNDECIDED_FACE)
    span = span_of(moved, limb, piece)
    if not ray_hit_bounds(ray, span, POLICY_HIT).certain:
        (start, _), (last, _) = level_sides(ray, displacement, end, rays.is_segment, limb)
        span = settled_piece(moved, limb, piece, (start, last))
    if not ray_hit_bounds(ray, span, POLICY_HIT).certain and are_known(ray, limb, ends):
        span = settled_piece(moved, limb, piece, ends)
    return span


@noinline
def write_settled_chord(
    chords: ChordColumns, row: int, rays: Rays, i: int, ray: Ray, number: int, limb: Limb, piece: int, ends: Sides
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
    if not decided and are_known(ray, limb, ends):
        span = settled_piece(moved, limb, piece, ends)
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
def sides_at(sides: Rows[np.int8], row: int) -> Sides:
    """The sides of the ends of a ray, UNKNOWN if there are none."""
    if len(sides) == 0:
        return UNKNOWN, UNKNOWN
    return sides[row, 0] + 0, sides[row, 1] + 0


@inlined
def are_known(ray: Ray, limb: Limb, sides: Sides) -> bool:
    """Whether sides bound when a ray is in a limb."""
    return bound_pieces(ray, limb) and (sides[0] != UNKNOWN or sides[1] != UNKNOWN)


@inlined
def set_sides(sides: Int8Array, row: int, known: Sides) -> None:
    """Write sides into a row, if there are any."""
    if len(sides) > 0:
        sides[row, 0], sides[row, 1] = known


@inlined
def within(fraction: DoubleDouble, limit: float) -> DoubleDouble:
    """A fraction that is certainly between 0 and the limit, without the error by which it may be beyond."""
    high, low = fraction
    if high < 0.0 or (high == 0.0 and low < 0.0):
        return 0.0, 0.0
    return (limit, 0.0) if high > limit or (high == limit and low > 0.0) else fraction
