"""First contacts of flying bullets: float64 bounds first, rational arithmetic for what they leave open."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from cylcollide.history.moving.exact import (
    Entered,
    bullet_time,
    entered_limb,
    first_contact,
    leaves,
    stretch_of,
    target_time,
)
from cylcollide.history.moving.hits import Contacts, Exits, Found, missed_contacts, missed_exits
from cylcollide.history.moving.limbs import MovingLimbs
from cylcollide.history.moving.question import Question
from cylcollide.history.moving.struck import StruckLimbs
from cylcollide.query.loops.moving import (
    MOVING_ROW,
    MovingColumns,
    MovingRows,
    StretchRows,
    cast_moving_rows,
    fill_moving_rows,
)
from cylcollide.query.loops.moving_refine import ContactRows, FlightRows, refine_contacts
from cylcollide.runtime.memory import aligned, frozen
from cylcollide.runtime.threads import in_chunks


def found_contacts(question: Question, threads: int | None) -> Found:
    """The first contact of each bullet."""
    flights, stretches, ticks = question.flights, question.stretches, question.ticks
    bounded, accurate = _bounded(question, threads)
    open_rows = np.flatnonzero((bounded.stretch >= 0) & ~accurate.accurate).tolist()
    exact = {i: one for i in open_rows if (one := _entered(question, bounded, i)) is not None}
    bounded.limb[open_rows] = bounded.stretch[open_rows] = -1
    for i, one in exact.items():
        bounded.stretch[i], bounded.limb[i], bounded.face[i] = one.stretch, one.limb, int(one.face)
        s, within = one.contact.entry, stretch_of(question, one.stretch)
        accurate.fraction[i], accurate.alpha[i] = s.double_double(), s.rounded(within.alpha0, within.alpha1)
        accurate.time[i] = s.rounded(*bullet_time(question, one.stretch))
        accurate.target_time[i] = s.rounded(*target_time(question, one.stretch))
    n, hit = flights.bullets, np.flatnonzero(bounded.limb >= 0)
    stretch, contacts = bounded.stretch[hit], missed_contacts(n)
    contacts.row[hit], contacts.face[hit] = np.arange(len(hit)), bounded.face[hit]
    contacts.piece[hit] = stretches.piece[stretch]
    contacts.tick[hit] = np.array([tick.number for tick in ticks])[stretches.tick[stretch]]
    for name in ("fraction", "time", "target_time", "alpha"):
        getattr(contacts, name)[hit] = getattr(accurate, name)[hit]
    np.logical_or.at(contacts.clamped, np.repeat(np.arange(n), np.diff(flights.offsets)), flights.clamped)
    contacts.rechecked[open_rows] = True
    limbs = MovingLimbs._make(column[bounded.limb[hit]] for column in question.limbs)
    struck = StruckLimbs(ticks, limbs, contacts.alpha[hit])
    exits = partial(_exits, question, bounded, exact)
    return Found(flights, struck, Contacts._make(frozen(column) for column in contacts), exits)


def _bounded(question: Question, threads: int | None) -> tuple[MovingColumns, ContactRows]:
    """The first contact of each bullet as far as float64 decides it."""
    flights, stretches, n = question.flights, question.stretches, question.flights.bullets
    table, rows, times = moving_rows(question.limbs), question.rows, [tick.time for tick in question.ticks]
    of_bullets = StretchRows(stretches.offsets, rows, stretches.last, question.is_open)
    given = (flights.starts, flights.ends, flights.t0, flights.t1, flights.target_t0, flights.target_t1)
    of_flights = FlightRows(*given, stretches.piece, stretches.tick, np.array([*times, times[-1]]), rows)
    number, (time, target, alpha, lower, upper) = np.empty((n, 2)), np.empty((5, n))
    hits = MovingColumns(
        np.empty(n, np.int64), np.empty(n, np.int32), lower, upper, np.empty(n, np.int8), np.empty(n, np.bool_)
    )
    contacts = ContactRows(number, time, target, alpha, np.empty(n, np.bool_))
    filters = (flights.mask, flights.ignored)

    def task(begin: int, end: int) -> None:
        cast_moving_rows.call(of_bullets, table, question.candidates, *filters, begin, end, hits)
        refine_contacts.call(of_flights, table, hits, begin, end, contacts)

    in_chunks(n, threads, task)
    return hits, contacts


def moving_rows(limbs: MovingLimbs) -> MovingRows:
    """Limbs between two ticks, as the loop reads them."""
    solid, rows = limbs.kind.copy(), aligned((len(limbs.kind), MOVING_ROW), np.float64)
    fill_moving_rows.call(limbs.kind, limbs.here, limbs.there, limbs.radius, limbs.radius2, solid, rows)
    return MovingRows(solid, limbs.character, limbs.mask, rows)


def _entered(question: Question, bounded: MovingColumns, i: int) -> Entered | None:
    """The first contact of a bullet in rational numbers; its limb is known unless it is undecided."""
    stretch, limb = bounded.stretch.item(i), bounded.limb.item(i)
    return first_contact(question, i, stretch) if bounded.undecided[i] else entered_limb(question, stretch, limb)


def _exits(question: Question, bounded: MovingColumns, exact: Mapping[int, Entered]) -> Exits:
    """Where bullets leave the limbs that they hit."""
    exits, stretches = missed_exits(question.flights.bullets), question.stretches
    for i in np.flatnonzero(bounded.limb >= 0).tolist():
        one = exact.get(i) or entered_limb(question, bounded.stretch.item(i), bounded.limb.item(i))
        stretch, contact = leaves(question, i, one)
        t0, rate = bullet_time(question, stretch)
        exits.piece[i], exits.fraction[i] = stretches.piece[stretch], contact.exit.rounded()
        exits.time[i] = contact.exit.rounded(t0, rate)
        exits.duration[i] = exits.time[i] - one.contact.entry.rounded(*bullet_time(question, one.stretch))
    return Exits._make(frozen(column) for column in exits)
