"""First contacts of flying bullets: float64 bounds first, rational arithmetic for what they leave open."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from cylcollide.history.moving.exact import (
    Answer,
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
from cylcollide.query.loops.moving import MovingColumns, cast_moving_rows
from cylcollide.query.loops.moving_refine import ContactRows, refine_contacts
from cylcollide.runtime import memory
from cylcollide.runtime.memory import frozen
from cylcollide.runtime.threads import in_chunks

COLUMNS = [np.dtype(kind) for kind in (*[np.float64] * 5, np.int64, np.int32, np.int8, np.bool_, np.bool_)]
"""Of time, target_time, alpha, lower, upper, stretch, limb, face, undecided, accurate."""


def found_contacts(question: Question, threads: int | None) -> Found:
    """The first contact of each bullet."""
    flights, stretches, ticks, n = question.flights, question.stretches, question.ticks, question.flights.bullets
    bounded, accurate = _bounded(question, threads)
    open_rows, undecided, exact = np.flatnonzero((bounded.stretch >= 0) & ~accurate.accurate), np.zeros(n, np.bool_), {}
    for i in open_rows.tolist():
        entered, undecided[i] = _answer(question, bounded, i)
        if entered is None:
            bounded.limb[i] = bounded.stretch[i] = -1
            continue
        exact[i], (s, within) = entered, (entered.contact.entry, stretch_of(question, entered.stretch))
        bounded.stretch[i], bounded.limb[i], bounded.face[i] = entered.stretch, entered.limb, int(entered.face)
        accurate.fraction[i], accurate.alpha[i] = s.double_double(), s.rounded(within.alpha0, within.alpha1)
        accurate.time[i] = s.rounded(*bullet_time(question, entered.stretch))
        accurate.target_time[i] = s.rounded(*target_time(question, entered.stretch))
    hit, contacts = np.flatnonzero(bounded.limb >= 0), missed_contacts(n)
    stretch, limb = bounded.stretch[hit], bounded.limb[hit]
    contacts.row[hit], contacts.face[hit] = np.arange(len(hit)), bounded.face[hit]
    contacts.piece[hit] = stretches.piece[stretch]
    contacts.tick[hit] = np.array([tick.number for tick in ticks])[stretches.tick[stretch]]
    for name in ("fraction", "time", "target_time", "alpha"):
        getattr(contacts, name)[hit] = getattr(accurate, name)[hit]
    if flights.clamped.any():
        np.logical_or.at(contacts.clamped, np.repeat(np.arange(n), np.diff(flights.offsets)), flights.clamped)
    contacts.undecided[:], contacts.rechecked[open_rows] = undecided, True
    struck = StruckLimbs(ticks, MovingLimbs._make(column[limb] for column in question.limbs), contacts.alpha[hit])
    exits = partial(_exits, question, bounded, exact)
    return Found(flights, struck, Contacts._make(frozen(column) for column in contacts), exits)


def _bounded(question: Question, threads: int | None) -> tuple[MovingColumns, ContactRows]:
    """The first contact of each bullet as far as float64 decides it."""
    n, filters = question.flights.bullets, (question.flights.mask, question.flights.ignored, question.resolution)
    time, target, alpha, lower, upper, stretch, limb, face, undecided, accurate = memory.columns(n, *COLUMNS)
    hits = MovingColumns(stretch, limb, lower, upper, face, undecided)
    contacts = ContactRows(memory.rows((n, 2)), time, target, alpha, accurate)
    stretches, table, candidates = question.stretches, question.table, question.candidates

    def task(begin: int, end: int) -> None:
        cast_moving_rows.call(stretches, table, candidates, *filters, begin, end, hits)
        refine_contacts.call(question.flight_rows, stretches, table, hits, begin, end, contacts)

    in_chunks(n, threads, task)
    return hits, contacts


def _answer(question: Question, bounded: MovingColumns, i: int) -> Answer:
    """The first contact of a bullet in rational numbers; its limb is known unless it is undecided."""
    stretch, limb = bounded.stretch.item(i), bounded.limb.item(i)
    if bounded.undecided[i]:
        return first_contact(question, i, stretch)
    return Answer(entered_limb(question, stretch, limb), False)


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
