"""Contacts of flying bullets in rational arithmetic: what float64 bounds leave open, and when contacts end."""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple, TypeAlias, cast

from cylcollide._types import Face, Float64Array, Shape
from cylcollide.exact.algebraic import Algebraic
from cylcollide.exact.contacts import Contact, common
from cylcollide.exact.line import Triple
from cylcollide.exact.moving import Motion, TickStretch, contact_face, contact_intervals, tick_stretch
from cylcollide.history.moving.boxes import box_contact
from cylcollide.history.moving.limbs import MovingLimbs
from cylcollide.history.moving.request import MovingRequest
from cylcollide.kernels.limb_table import is_considered
from cylcollide.kernels.ray import broadcast_index

Affine: TypeAlias = tuple[Fraction, Fraction]
"""C0 and c1 of c0 + c1 s."""


class Entered(NamedTuple):
    """The first contact of a bullet."""

    stretch: int
    limb: int
    contact: Contact
    face: Face


class LimbContact(NamedTuple):
    """The first contact with one limb, which begins between two moments."""

    limb: int
    contact: Contact
    earliest: Algebraic
    latest: Algebraic | None  # None: it is possible, not certain
    face: Face | None = None  # None: not yet computed

    @property
    def is_exact(self) -> bool:
        """Whether both moments are one."""
        return self.earliest is self.latest


class Answer(NamedTuple):
    """What is known of a bullet, or of one of its stretches."""

    entered: Entered | None
    undecided: bool  # a box that turns may be hit before, or instead


def first_contact(request: MovingRequest, bullet: int, begin: int) -> Answer:
    """The first contact of a bullet with a limb that it considers, from a stretch on; None if it misses."""
    undecided = False
    for stretch in range(begin, request.stretches.offsets.item(bullet + 1)):
        found = _first_in_stretch(request, bullet, stretch)
        undecided |= found.undecided
        if found.entered is not None:
            return Answer(found.entered, undecided)
    return Answer(None, undecided)


def _first_in_stretch(request: MovingRequest, bullet: int, stretch: int) -> Answer:
    """The first contact in one stretch, at the same moment the one of the lowest row."""
    first: LimbContact | None = None
    within, possible = stretch_of(request, stretch), []
    for limb in _considered(request, bullet, stretch):
        found = _limb_contact(request, stretch, limb, within)
        if found is not None:
            possible.append(found)
            is_sooner = found.latest is not None and (first is None or found.latest < first.latest)
            first = found if is_sooner else first
    if first is None:
        return Answer(None, bool(possible))
    rivals = [one for one in possible if one.earliest <= first.latest and not (one.is_exact and first.is_exact)]
    return Answer(_entered(request, stretch, first), rivals not in ([], [first]))


def _limb_contact(request: MovingRequest, stretch: int, limb: int, within: TickStretch) -> LimbContact | None:
    """The first contact with one limb, None if that is certainly missed."""
    if request.limbs.kind[limb] != int(Shape.BOX):
        contacts = contacts_of(request, stretch, limb)
        return LimbContact(limb, contacts[0], contacts[0].entry, contacts[0].entry) if contacts else None
    box = box_contact(request, stretch, limb, within)
    if box is None or not _is_hit_at(request, stretch, limb, box.earliest):
        return None
    latest = box.latest
    if latest is not None and not (
        _is_hit_at(request, stretch, limb, latest) and (within.is_closed or latest < within.end)
    ):
        latest = None
    return LimbContact(limb, box.contact, box.earliest, latest, box.face)


def _entered(request: MovingRequest, stretch: int, one: LimbContact) -> Entered:
    """The contact with its face."""
    face = contact_face(motion_of(request, stretch, one.limb), one.contact) if one.face is None else one.face
    return Entered(stretch, one.limb, one.contact, face)


def entered_limb(request: MovingRequest, stretch: int, limb: int) -> Entered:
    """The first contact with a limb that is certainly hit in a stretch."""
    found = _limb_contact(request, stretch, limb, stretch_of(request, stretch))
    assert found is not None  # bounds have decided it
    return _entered(request, stretch, found)


def _considered(request: MovingRequest, bullet: int, stretch: int) -> Iterator[int]:
    """The limbs of a stretch's list that its bullet considers, by row."""
    flights, limbs = request.flights, request.limbs
    mask = flights.mask.item(broadcast_index(flights.mask, bullet))
    ignored = flights.ignored.item(broadcast_index(flights.ignored, bullet))
    for limb in request.limbs_near(stretch):
        if is_considered(limbs.character.item(limb), limbs.mask.item(limb), mask, ignored):
            yield limb


def leaves(request: MovingRequest, bullet: int, entered: Entered) -> tuple[int, Contact]:
    """The stretch in which the contact ends, and its part in that stretch.

    A contact goes on in the next stretch if the same limb is touched from its first moment on.
    """
    stretch, limb, contact = entered.stretch, entered.limb, entered.contact
    while contact.exit == stretch_of(request, stretch).end and stretch + 1 < request.stretches.offsets[bullet + 1]:
        same = [k for k in _considered(request, bullet, stretch + 1) if _is_same(request.limbs, limb, k)]
        following = contacts_of(request, stretch + 1, same[0]) if same else []
        begin = stretch_of(request, stretch + 1).begin
        if not following or following[0].entry_open or following[0].entry != begin:
            break
        stretch, limb, contact = stretch + 1, same[0], following[0]
    return stretch, contact


def _is_same(limbs: MovingLimbs, one: int, other: int) -> bool:
    """Whether two rows, perhaps of different ticks, are one limb of one character, or one bare limb."""
    if (limbs.character[one], limbs.rig_limb[one]) != (limbs.character[other], limbs.rig_limb[other]):
        return False
    return bool(limbs.rig_limb[one] >= 0 or limbs.state_row[one] == limbs.state_row[other])


# Rational numbers ---------------------------------------------------------------------------------------------------


def contacts_of(request: MovingRequest, stretch: int, limb: int) -> list[Contact]:
    """When the bullet of a stretch is in a limb that is not protected, in order; in a box, about when it first is."""
    if request.limbs.kind[limb] == int(Shape.BOX):
        box = box_contact(request, stretch, limb, stretch_of(request, stretch))
        contacts = [] if box is None or box.latest is None else [box.contact]
    else:
        contacts = list(contact_intervals(motion_of(request, stretch, limb)))
    end = _protected_from(request, stretch, limb)
    if end is None or not contacts:
        return contacts
    return common(contacts, [Contact(Algebraic.rational(0), end, exit_open=True)]) if end > 0 else []


def _is_hit_at(request: MovingRequest, stretch: int, limb: int, s: Algebraic) -> bool:
    """Whether a limb is not protected at s."""
    end = _protected_from(request, stretch, limb)
    return end is None or s < end


def _protected_from(request: MovingRequest, stretch: int, limb: int) -> Algebraic | None:
    """S from which on a limb is protected, in a stretch where it is not from the first moment on; None: in none."""
    until = request.until.get(request.limbs.character.item(limb))
    begin, rate = target_time(request, stretch)
    return None if until is None or rate == 0 else Algebraic.rational((Fraction(until) - begin) / rate)


def motion_of(request: MovingRequest, stretch: int, limb: int) -> Motion:
    """A bullet and a limb during a stretch."""
    flights, limbs, piece = request.flights, request.limbs, request.stretches.piece.item(stretch)
    here, there = limbs.here[limb].tolist(), limbs.there[limb].tolist()
    start, end, a, b, c, d = (
        cast(Triple, tuple(place))
        for place in (
            flights.starts[piece].tolist(),
            flights.ends[piece].tolist(),
            here[0],
            there[0],
            here[1],
            there[1],
        )
    )
    radii, kind = (limbs.radius.item(limb), limbs.radius2.item(limb)), Shape(limbs.kind.item(limb))
    return Motion(start, end, kind, (a, b), (c, d), *radii, stretch_of(request, stretch))


def stretch_of(request: MovingRequest, stretch: int) -> TickStretch:
    """A stretch in rational numbers."""
    ticks, k, piece = request.ticks, request.stretches.tick.item(stretch), request.stretches.piece.item(stretch)
    begin, end = request.flights.target_t0.item(piece), request.flights.target_t1.item(piece)
    found = tick_stretch(begin, end, ticks[k].time, ticks[k + 1].time if k + 1 < len(ticks) else None)
    assert found is not None  # a stretch is where the targets' time is within the tick
    return found


def target_time(request: MovingRequest, stretch: int) -> Affine:
    """The targets' time of a stretch's piece."""
    return _affine(request, stretch, request.flights.target_t0, request.flights.target_t1)


def bullet_time(request: MovingRequest, stretch: int) -> Affine:
    """The bullet's time of a stretch's piece."""
    return _affine(request, stretch, request.flights.t0, request.flights.t1)


def _affine(request: MovingRequest, stretch: int, begin: Float64Array, end: Float64Array) -> Affine:
    """A time of a stretch's piece, from those at both ends of it."""
    piece = request.stretches.piece.item(stretch)
    first = Fraction(begin.item(piece))
    return first, Fraction(end.item(piece)) - first
