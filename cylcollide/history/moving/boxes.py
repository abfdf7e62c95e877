"""Contacts of flying bullets with boxes: of one that stands still exact, of one that turns bounded from both sides."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from cylcollide._types import Face, Float64Array
from cylcollide.exact.algebraic import Algebraic
from cylcollide.exact.contacts import Contact, common
from cylcollide.exact.moving import TickStretch
from cylcollide.exact.order import limb_chords
from cylcollide.history.moving.hit_limbs import HitLimbs
from cylcollide.history.moving.request import MovingRequest
from cylcollide.kernels.interval import UNDECIDED_FACE
from cylcollide.kernels.ray import Rays
from cylcollide.query.exact_fallback import exact_limb, ray_numbers
from cylcollide.query.loops.moving_exit import BoxBounds, bound_box
from cylcollide.query.loops.moving_refine import is_still
from cylcollide.query.loops.moving_rows import ALPHA0, ALPHA1, HALF
from cylcollide.validate import NO_LIMIT


class BoxContact(NamedTuple):
    """A contact with a box in one stretch, as s of the piece."""

    contact: Contact
    earliest: Algebraic  # the contact begins between both
    latest: Algebraic | None  # None: it is possible, not certain
    face: Face


def box_contact(request: MovingRequest, stretch: int, limb: int, within: TickStretch) -> BoxContact | None:
    """The first contact of the bullet of a stretch with a box; None if it certainly misses."""
    path, row = request.table.paths[request.table.box[limb]], request.stretches.rows[stretch]
    if is_still(row, path):
        return _still_contact(request, stretch, limb, within)
    flags, numbers, place = np.zeros((3, 1), np.bool_), np.zeros((5, 1)), np.zeros(3)
    bounds = BoxBounds._make((*flags, *numbers, place))
    bound_box(row, path, request.resolution, bounds)
    (possible, certain, leaves), (lower, upper, exit_lower, exit_upper, face) = (
        flags[:, 0].tolist(),
        numbers[:, 0].tolist(),
    )
    if not possible:
        return None
    earliest = _at(within, lower)
    if not certain:
        return BoxContact(Contact(earliest, earliest), earliest, None, Face.NONE)
    entry, ends = _at(within, 0.5 * (lower + upper)), _at(within, 0.5 * (exit_lower + exit_upper) if leaves else 1.0)
    contact = Contact(entry, ends, exit_open=not leaves and not within.is_closed)
    through = _nearest_face(place, path[HALF : HALF + 3]) if face == UNDECIDED_FACE else int(face)
    return BoxContact(contact, earliest, _at(within, upper), Face(through))


def _at(within: TickStretch, u: float) -> Algebraic:
    """S at u of a stretch."""
    return Algebraic.rational(within.begin + Fraction(min(u, 1.0)) * (within.end - within.begin))


def _nearest_face(place: Float64Array, half: Float64Array) -> int:
    """The face of a box that a point of its surface is nearest to."""
    axis = int((np.abs(place) - half).argmax())
    return int(Face.NEG_X) + 2 * axis + int(place[axis] > 0.0)


def _still_contact(request: MovingRequest, stretch: int, limb: int, within: TickStretch) -> BoxContact | None:
    """The same with a box that stands still in that stretch, in rational numbers."""
    flights, piece = request.flights, request.stretches.piece[stretch]
    alpha = request.stretches.rows[stretch, ALPHA0]  # and so all the time, or the pose is that of the tick
    moves = request.stretches.rows[stretch, ALPHA1] != alpha
    hit_limbs = HitLimbs(request.limbs, np.array([limb]), np.array([0.0 if moves else alpha]))
    solid = exact_limb(hit_limbs.table, 0)
    rays = Rays(flights.starts[piece : piece + 1], flights.ends[piece : piece + 1], True, NO_LIMIT)
    chords = limb_chords(ray_numbers(rays, 0), solid)
    if not chords or chords[0].exit is None:
        return None
    begin, end = (Algebraic.rational(Fraction(t.rational, t.denominator)) for t in (chords[0].entry, chords[0].exit))
    whole = Contact(Algebraic.rational(within.begin), Algebraic.rational(within.end), False, not within.is_closed)
    shared = common([Contact(begin, end)], [whole])
    if not shared:
        return None
    face = chords[0].entry_face if shared[0].entry == begin else Face.INSIDE
    return BoxContact(shared[0], shared[0].entry, shared[0].entry, face)
