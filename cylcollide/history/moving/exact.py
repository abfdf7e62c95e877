"""Exact contacts of flying bullets, for those that float64 bounds leave undecided, and ends of contacts.

Contacts with turning boxes are not exact, but bounded from both sides.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import TypeAlias, cast

import numpy as np

from cylcollide._types import Face, Float64Array, Shape
from cylcollide.exact.algebraic import Algebraic, as_algebraic
from cylcollide.exact.contacts import Contact, common
from cylcollide.exact.line import Triple
from cylcollide.exact.moving import Motion, contact_face, contact_intervals, tick_interval
from cylcollide.exact.order import limb_chords
from cylcollide.history.moving.limbs import HitLimbs
from cylcollide.history.moving.request import MovingRequest
from cylcollide.kernels.interval import UNDECIDED_FACE
from cylcollide.kernels.limb_table import is_considered
from cylcollide.kernels.ray import Rays, broadcast_index
from cylcollide.query.exact_fallback import exact_limb, ray_numbers
from cylcollide.query.loops.moving import write_lower_bounds
from cylcollide.query.loops.moving_exit import BOX_BOUNDS, bound_box
from cylcollide.query.loops.moving_pair import LEFT_OUT
from cylcollide.query.loops.moving_refine import is_still
from cylcollide.query.loops.moving_rows import ALPHA0, ALPHA1, HALF, RADIUS, RADIUS2, MovingRows
from cylcollide.validate import NO_LIMIT, NO_RADIUS

Affine: TypeAlias = tuple[Fraction, Fraction]
"""The coefficients c0, c1 of c0 + c1 s."""


class BulletInterval:
    """A bullet while the targets' time is within one tick interval; s goes from 0 to 1 along its piece."""

    def __init__(self, request: MovingRequest, bullet: int, number: int) -> None:
        self.request, self.bullet, self.number = request, bullet, number
        ticks, k, flights = request.ticks, request.intervals.tick.item(number), request.flights
        self.piece: int = request.intervals.piece.item(number)
        begin, end = flights.target_t0.item(self.piece), flights.target_t1.item(self.piece)
        within = tick_interval(begin, end, ticks[k].time, ticks[k + 1].time if k + 1 < len(ticks) else None)
        assert within is not None  # the targets' time is within the tick throughout an interval
        self.within = within

    @property
    def target_time(self) -> Affine:
        """The targets' time as a function of s."""
        return self._affine(self.request.flights.target_t0, self.request.flights.target_t1)

    @property
    def bullet_time(self) -> Affine:
        """The bullet's time as a function of s."""
        return self._affine(self.request.flights.t0, self.request.flights.t1)

    def _affine(self, begin: Float64Array, end: Float64Array) -> Affine:
        first = Fraction(begin.item(self.piece))
        return first, Fraction(end.item(self.piece)) - first

    def at(self, u: float) -> Algebraic:
        """The s at u, 0 to 1, of the interval."""
        return Algebraic.rational(self.within.begin + Fraction(min(u, 1.0)) * (self.within.end - self.within.begin))

    @property
    def following(self) -> "BulletInterval | None":
        """The same bullet in the next interval, None after the last one."""
        after = self.number + 1
        goes_on = after < self.request.intervals.offsets[self.bullet + 1]
        return BulletInterval(self.request, self.bullet, after) if goes_on else None

    def considered(self) -> "list[BulletAndLimb]":
        """The limbs near the bullet that are neither masked, ignored nor left out, by row."""
        query = self.request.query
        mask = query.mask.item(broadcast_index(query.mask, self.bullet))
        ignored = query.ignored.item(broadcast_index(query.ignored, self.bullet))
        offsets, near, table = query.offsets, query.limb, query.table
        return [
            BulletAndLimb(self, limb)
            for limb in sorted(near[offsets[self.number] : offsets[self.number + 1]].tolist())
            if limb != LEFT_OUT and is_considered(table.character.item(limb), table.mask.item(limb), mask, ignored)
        ]

    def first_contact(self) -> "tuple[FirstContact | None, bool]":
        """The first contact, ties by the lowest row, and whether a turning box may be hit earlier."""
        pairs, possible, first = self.considered(), list[FirstContact](), None
        lower = np.empty(len(pairs))
        write_lower_bounds(self.request.query, self.number, np.array([pair.limb for pair in pairs], np.int32), lower)
        for k in np.argsort(lower, kind="stable").tolist():
            pair, begin = pairs[k], lower.item(k)
            if begin == inf or (first and self.at(begin) > cast(Algebraic, first.latest)):
                break
            if (found := pair.first_contact()) is not None:
                possible.append(found)
                first = found if found.precedes(first) else first
        if first is None:
            return None, bool(possible)
        latest = cast(Algebraic, first.latest)
        rivals = [one for one in possible if one.earliest <= latest and not (one.is_exact and first.is_exact)]
        return first, rivals not in ([], [first])


@dataclass(frozen=True)
class BulletAndLimb:
    """A bullet and one limb in a tick interval."""

    interval: BulletInterval
    limb: int
    """Row of `MovingRequest.limbs`."""

    @cached_property
    def motion(self) -> Motion:
        """The straight motions of bullet and limb."""
        request, piece = self.interval.request, self.interval.piece
        flights, limbs, row = request.flights, request.limbs, self.limb
        places = (flights.starts[piece], flights.ends[piece], *limbs.ends[row], *limbs.next_ends[row])
        start, end, a, c, b, d = (cast(Triple, tuple(place.tolist())) for place in places)
        radius, radius2 = limbs.table.rows[row, RADIUS : RADIUS2 + 1].tolist()
        kind = Shape(limbs.table.kind.item(row))
        return Motion(start, end, kind, (a, b), (c, d), radius, radius2, self.interval.within)

    def first_contact(self) -> "FirstContact | None":
        """The first contact, None if the bullet certainly misses the limb."""
        if not self._is_box:
            contacts = self.contacts()
            return FirstContact(self, contacts[0], contacts[0].entry, contacts[0].entry) if contacts else None
        found, within = self._box_contact, self.interval.within
        if found is None or not self._is_hit_at(found.earliest):
            return None
        latest = found.latest
        if latest is None or (self._is_hit_at(latest) and (within.is_closed or latest < within.end)):
            return found
        return FirstContact(self, found.contact, found.earliest, None, found.known_face)

    def contacts(self) -> list[Contact]:
        """The intervals of s, in order, in which the bullet is in the unprotected limb; of a box, about the first."""
        if self._is_box:
            box = self._box_contact
            contacts = [] if box is None or box.latest is None else [box.contact]
        else:
            contacts = list(contact_intervals(self.motion))
        end = self._protected_from
        if end is None or not contacts:
            return contacts
        return common(contacts, [Contact(Algebraic.rational(0), end, exit_open=True)]) if end > 0 else []

    def is_same_limb(self, other: "BulletAndLimb") -> bool:
        """Whether both refer to one limb of one character, or one bare limb, possibly in different ticks."""
        one, two, table, rig_limb = self.limb, other.limb, self._table, self.interval.request.limbs.rig_limb
        if (table.character[one], rig_limb[one]) != (table.character[two], rig_limb[two]):
            return False
        return bool(rig_limb[one] >= 0 or table.row[one] == table.row[two])

    @property
    def _table(self) -> MovingRows:
        return self.interval.request.limbs.table

    @property
    def _is_box(self) -> bool:
        return bool(self._table.kind[self.limb] == int(Shape.BOX))

    @property
    def _protected_from(self) -> Algebraic | None:
        """The s from which on the limb is protected; None if it is never protected, or time stands still."""
        until = self.interval.request.until.get(self._table.character.item(self.limb))
        begin, rate = self.interval.target_time
        return None if until is None or rate == 0 else Algebraic.rational((Fraction(until) - begin) / rate)

    def _is_hit_at(self, s: Algebraic) -> bool:
        """Whether the limb is not protected at s."""
        end = self._protected_from
        return end is None or s < end

    @cached_property
    def _box_contact(self) -> "FirstContact | None":
        """The first contact with a box; None if the bullet certainly misses it."""
        request, at, within = self.interval.request, self.interval.at, self.interval.within
        path, row = self._table.paths[self._table.box[self.limb]], request.intervals.rows[self.interval.number]
        if is_still(row, path):
            return self._still_box_contact(row)
        bounds = np.zeros(BOX_BOUNDS)
        bound_box(row, path, request.query.resolution, bounds)
        possible, certain, lower, upper, face, leaves, exit_lower, exit_upper = bounds[:8].tolist()
        if not possible:
            return None
        earliest = at(lower)
        if not certain:
            return FirstContact(self, Contact(earliest, earliest), earliest, None, Face.NONE)
        entry, ends = at(0.5 * (lower + upper)), at(0.5 * (exit_lower + exit_upper) if leaves else 1.0)
        contact = Contact(entry, ends, exit_open=not leaves and not within.is_closed)
        through = _nearest_face(bounds[8:], path[HALF : HALF + 3]) if face == UNDECIDED_FACE else int(face)
        return FirstContact(self, contact, earliest, at(upper), Face(through))

    def _still_box_contact(self, row: Float64Array) -> "FirstContact | None":
        """The exact first contact with a box that stands still; `row`: a row of `IntervalRows.rows`."""
        request, piece, within = self.interval.request, self.interval.piece, self.interval.within
        alpha = 0.0 if row[ALPHA1] != row[ALPHA0] else row[ALPHA0]  # alpha is constant, or the box is at rest
        solid = exact_limb(HitLimbs(request.limbs, np.array([self.limb]), np.array([alpha]))._table, 0)
        flights = request.flights
        rays = Rays(flights.starts[piece : piece + 1], flights.ends[piece : piece + 1], True, NO_LIMIT, NO_RADIUS)
        chords = limb_chords(ray_numbers(rays, 0), solid)
        if not chords or chords[0].exit is None:
            return None
        begin, end = as_algebraic(chords[0].entry), as_algebraic(chords[0].exit)
        whole = Contact(Algebraic.rational(within.begin), Algebraic.rational(within.end), False, not within.is_closed)
        shared = common([Contact(begin, end)], [whole])
        if not shared:
            return None
        face = chords[0].entry_face if shared[0].entry == begin else Face.INSIDE
        return FirstContact(self, shared[0], shared[0].entry, shared[0].entry, face)


@dataclass(frozen=True)
class FirstContact:
    """The first contact of a bullet with one limb; it begins between two moments."""

    pair: BulletAndLimb
    contact: Contact
    earliest: Algebraic
    latest: Algebraic | None
    """None: the contact is possible, but not certain."""
    known_face: Face | None = None

    def precedes(self, other: "FirstContact | None") -> bool:
        """Whether its latest moment is earlier than that of another, ties by the lowest row; not without one."""
        if self.latest is None or other is None or other.latest is None:
            return self.latest is not None
        return self.latest < other.latest or (self.pair.limb < other.pair.limb and self.latest == other.latest)

    @property
    def is_exact(self) -> bool:
        """Whether both moments are the same."""
        return self.earliest is self.latest

    @property
    def face(self) -> Face:
        """The face through which the bullet enters."""
        return contact_face(self.pair.motion, self.contact) if self.known_face is None else self.known_face

    def end(self) -> "tuple[BulletInterval, Contact]":
        """The interval in which the contact ends, and its part in that interval.

        A contact goes on in the next interval if the same limb is touched from its first moment on.
        """
        pair, contact = self.pair, self.contact
        while contact.exit == pair.interval.within.end and (after := pair.interval.following) is not None:
            same = [other for other in after.considered() if pair.is_same_limb(other)]
            following = same[0].contacts() if same else []
            if not following or following[0].entry_open or following[0].entry != after.within.begin:
                break
            pair, contact = same[0], following[0]
        return pair.interval, contact


def first_contact(request: MovingRequest, bullet: int, begin: int) -> tuple[FirstContact | None, bool]:
    """The first contact of a bullet from interval `begin` on, None for a miss; whether a turning box may be first."""
    undecided = False
    for number in range(begin, request.intervals.offsets.item(bullet + 1)):
        found, may_be_other = BulletInterval(request, bullet, number).first_contact()
        undecided |= may_be_other
        if found is not None:
            return found, undecided
    return None, undecided


def contact_with(request: MovingRequest, bullet: int, number: int, limb: int) -> FirstContact:
    """The first contact with a limb that the bullet certainly hits in an interval."""
    found = BulletAndLimb(BulletInterval(request, bullet, number), limb).first_contact()
    assert found is not None  # bounds have decided it
    return found


def _nearest_face(place: Float64Array, half: Float64Array) -> int:
    """The face of a box nearest to a point of its surface."""
    axis = int((np.abs(place) - half).argmax())
    return int(Face.NEG_X) + 2 * axis + int(place[axis] > 0.0)
