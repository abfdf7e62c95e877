"""Contacts of flying bullets in rational arithmetic: what float64 bounds leave open, and when contacts end."""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple, TypeAlias, cast

from cylcollide._types import Face, Float64Array, Shape
from cylcollide.exact.algebraic import Algebraic
from cylcollide.exact.contacts import Contact, common
from cylcollide.exact.line import Triple
from cylcollide.exact.moving import Motion, TickStretch, contact_face, contact_intervals, tick_stretch
from cylcollide.history.moving.limbs import MovingLimbs
from cylcollide.history.moving.question import Question
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


def first_contact(question: Question, bullet: int, begin: int) -> Entered | None:
    """The first contact of a bullet with a limb that it considers, from a stretch on; None if it misses."""
    for stretch in range(begin, question.stretches.offsets.item(bullet + 1)):
        found = _first_in_stretch(question, bullet, stretch)
        if found is not None:
            return found
    return None


def _first_in_stretch(question: Question, bullet: int, stretch: int) -> Entered | None:
    """The first contact in one stretch, at the same moment the one of the lowest row."""
    first: tuple[int, Contact] | None = None
    for limb in _considered(question, bullet, stretch):
        contacts = contacts_of(question, stretch, limb)
        if contacts and (first is None or contacts[0].compare_entry(first[1]) < 0):
            first = limb, contacts[0]
    if first is None:
        return None
    return Entered(stretch, *first, contact_face(motion_of(question, stretch, first[0]), first[1]))


def entered_limb(question: Question, stretch: int, limb: int) -> Entered:
    """The first contact with a limb that is certainly hit in a stretch."""
    contact = contacts_of(question, stretch, limb)[0]
    return Entered(stretch, limb, contact, contact_face(motion_of(question, stretch, limb), contact))


def _considered(question: Question, bullet: int, stretch: int) -> Iterator[int]:
    """The limbs of a stretch's list that its bullet considers, by row."""
    flights, limbs = question.flights, question.limbs
    mask = flights.mask.item(broadcast_index(flights.mask, bullet))
    ignored = flights.ignored.item(broadcast_index(flights.ignored, bullet))
    for limb in question.limbs_near(stretch):
        if is_considered(limbs.character.item(limb), limbs.mask.item(limb), mask, ignored):
            yield limb


def leaves(question: Question, bullet: int, entered: Entered) -> tuple[int, Contact]:
    """The stretch in which the contact ends, and its part in that stretch.

    A contact goes on in the next stretch if the same limb is touched from its first moment on.
    """
    stretch, limb, contact = entered.stretch, entered.limb, entered.contact
    while contact.exit == stretch_of(question, stretch).end and stretch + 1 < question.stretches.offsets[bullet + 1]:
        same = [k for k in _considered(question, bullet, stretch + 1) if _is_same(question.limbs, limb, k)]
        following = contacts_of(question, stretch + 1, same[0]) if same else []
        begin = stretch_of(question, stretch + 1).begin
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


def contacts_of(question: Question, stretch: int, limb: int) -> list[Contact]:
    """When the bullet of a stretch is in a limb that is not protected; in order."""
    contacts = list(contact_intervals(motion_of(question, stretch, limb)))
    until = question.until.get(question.limbs.character.item(limb))
    if until is None or not contacts:
        return contacts
    begin, rate = target_time(question, stretch)
    if rate == 0:
        return contacts if begin < until else []
    end = Algebraic.rational((Fraction(until) - begin) / rate)
    return common(contacts, [Contact(Algebraic.rational(0), end, exit_open=True)] if end > 0 else [])


def motion_of(question: Question, stretch: int, limb: int) -> Motion:
    """A bullet and a limb during a stretch."""
    flights, limbs, piece = question.flights, question.limbs, question.stretches.piece.item(stretch)
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
    return Motion(start, end, kind, (a, b), (c, d), *radii, stretch_of(question, stretch))


def stretch_of(question: Question, stretch: int) -> TickStretch:
    """A stretch in rational numbers."""
    ticks, k, piece = question.ticks, question.stretches.tick.item(stretch), question.stretches.piece.item(stretch)
    begin, end = question.flights.target_t0.item(piece), question.flights.target_t1.item(piece)
    found = tick_stretch(begin, end, ticks[k].time, ticks[k + 1].time if k + 1 < len(ticks) else None)
    assert found is not None  # a stretch is where the targets' time is within the tick
    return found


def target_time(question: Question, stretch: int) -> Affine:
    """The targets' time of a stretch's piece."""
    return _affine(question, stretch, question.flights.target_t0, question.flights.target_t1)


def bullet_time(question: Question, stretch: int) -> Affine:
    """The bullet's time of a stretch's piece."""
    return _affine(question, stretch, question.flights.t0, question.flights.t1)


def _affine(question: Question, stretch: int, begin: Float64Array, end: Float64Array) -> Affine:
    """A time of a stretch's piece, from those at both ends of it."""
    piece = question.stretches.piece.item(stretch)
    first = Fraction(begin.item(piece))
    return first, Fraction(end.item(piece)) - first
