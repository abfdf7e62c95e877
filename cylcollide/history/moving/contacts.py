"""First contacts of flying bullets: float64 bounds first, rational arithmetic for what they leave open."""

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
from cylcollide.runtime.memory import aligned, frozen
from cylcollide.runtime.threads import in_chunks


def contacts_bounded(question: Question, threads: int | None) -> MovingColumns:
    """The first contact of each bullet, as far as float64 bounds decide it."""
    flights, n = question.flights, question.flights.bullets
    table, is_last = moving_rows(question.limbs), question.stretches.last
    stretches = StretchRows(question.stretches.offsets, question.rows, is_last, question.is_open)
    hits = MovingColumns(
        np.empty(n, np.int64),
        np.empty(n, np.int32),
        np.empty(n),
        np.empty(n),
        np.empty(n, np.int8),
        np.empty(n, np.bool_),
    )

    def task(begin: int, end: int) -> int:
        return cast_moving_rows.call(
            stretches, table, question.candidates, flights.mask, flights.ignored, begin, end, hits
        )

    in_chunks(n, threads, task)
    return hits


def moving_rows(limbs: MovingLimbs) -> MovingRows:
    """Limbs between two ticks, as the loop reads them."""
    solid, rows = limbs.kind.copy(), aligned((len(limbs.kind), MOVING_ROW), np.float64)
    fill_moving_rows.call(limbs.kind, limbs.here, limbs.there, limbs.radius, limbs.radius2, solid, rows)
    return MovingRows(solid, limbs.character, limbs.mask, rows)


def found_contacts(question: Question, threads: int | None) -> Found:
    """The first contact of each bullet."""
    bounded, ticks, limbs = contacts_bounded(question, threads), question.ticks, question.limbs
    flights, stretches = question.flights, question.stretches
    touched = np.flatnonzero(bounded.stretch >= 0).tolist()
    entered = {i: one for i in touched if (one := _entered(question, bounded, i)) is not None}
    n, rows = flights.bullets, np.array([*entered], np.int64)
    stretch, limb = (
        np.array([getattr(one, name) for one in entered.values()], np.int64) for name in ("stretch", "limb")
    )
    contacts = missed_contacts(n)
    contacts.row[rows] = np.arange(len(rows))
    contacts.piece[rows] = stretches.piece[stretch]
    contacts.tick[rows] = np.array([tick.number for tick in ticks])[stretches.tick[stretch]]
    for i, one in entered.items():
        s, within = one.contact.entry, stretch_of(question, one.stretch)
        contacts.fraction[i], contacts.face[i] = s.double_double(), int(one.face)
        contacts.alpha[i] = s.rounded(within.alpha0, within.alpha1)
        contacts.time[i] = s.rounded(*bullet_time(question, one.stretch))
        contacts.target_time[i] = s.rounded(*target_time(question, one.stretch))
    np.logical_or.at(contacts.clamped, np.repeat(np.arange(n), np.diff(flights.offsets)), flights.clamped)
    contacts.rechecked[:] = bounded.undecided
    struck = StruckLimbs(ticks, MovingLimbs._make(column[limb] for column in limbs), contacts.alpha[rows])
    exits = partial(found_exits, question, entered)
    return Found(flights, struck, Contacts._make(map(frozen, contacts)), exits)


def _entered(question: Question, bounded: MovingColumns, i: int) -> Entered | None:
    """The first contact of a bullet in rational numbers, of a limb that is known unless float64 leaves that open."""
    stretch, limb = bounded.stretch.item(i), bounded.limb.item(i)
    if bounded.undecided[i]:
        return first_contact(question, i, stretch)
    return entered_limb(question, stretch, limb)


def found_exits(question: Question, entered: dict[int, Entered]) -> Exits:
    """Where bullets leave the limbs that they hit."""
    exits, stretches = missed_exits(question.flights.bullets), question.stretches
    for i, one in entered.items():
        stretch, contact = leaves(question, i, one)
        t0, rate = bullet_time(question, stretch)
        exits.piece[i], exits.fraction[i] = stretches.piece[stretch], contact.exit.rounded()
        exits.time[i] = contact.exit.rounded(t0, rate)
        exits.duration[i] = exits.time[i] - one.contact.entry.rounded(*bullet_time(question, one.stretch))
    return Exits._make(map(frozen, exits))
