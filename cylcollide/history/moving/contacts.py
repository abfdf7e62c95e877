"""First contacts of flying bullets: float64 bounds first, rational arithmetic for what they leave open."""

from collections.abc import Mapping
from fractions import Fraction
from functools import partial

import numpy as np

from cylcollide.constants import BLOCK_RAYS
from cylcollide.exact.algebraic import Algebraic
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
from cylcollide.history.moving.hit_limbs import HitLimbs
from cylcollide.history.moving.hits import Contacts, Exits, Found
from cylcollide.history.moving.request import MovingRequest
from cylcollide.query.loops.moving import MovingColumns, cast_moving_rows, leave_out_misses, make_pair_lanes
from cylcollide.query.loops.moving_exit import ExitRows, LimbPlaces, find_exits
from cylcollide.query.loops.moving_refine import ContactRows, make_refine_lanes, refine_contacts
from cylcollide.runtime import memory
from cylcollide.runtime.memory import frozen
from cylcollide.runtime.threads import in_chunks

COLUMNS = [np.dtype(kind) for kind in (*[np.float64] * 5, *[np.int64] * 3, np.int32, *[np.int8] * 2, *[np.bool_] * 2)]
"""Of time, target_time, alpha, lower, upper, stretch, piece, tick, limb, two faces, undecided and accurate."""

EXIT_COLUMNS = [np.dtype(kind) for kind in (*[np.float64] * 3, np.int64, np.bool_)]
"""Of fraction, time, duration, piece and accurate."""


def found_contacts(request: MovingRequest, threads: int | None) -> Found:
    """The first contact of each bullet."""
    flights, n = request.flights, request.flights.bullets
    bounded, contacts = _bounded(request, threads)
    open_rows, undecided, exact = np.flatnonzero(~contacts.accurate), np.zeros(n, np.bool_), {}
    for i in open_rows.tolist():
        entered, undecided[i] = _answer(request, bounded, i)
        bounded.limb[i] = -1
        if entered is not None:
            exact[i], bounded.limb[i], bounded.stretch[i] = entered, entered.limb, entered.stretch
            _write_exact(request, entered, i, contacts)
    hit, row, (clamped, rechecked) = np.flatnonzero(bounded.limb >= 0), np.full(n, -1, np.int32), np.zeros((2, n), bool)
    row[hit], rechecked[open_rows] = np.arange(len(hit)), True
    if flights.clamped.any():
        np.logical_or.at(clamped, np.repeat(np.arange(n), np.diff(flights.offsets)), flights.clamped)
    columns = (frozen(column) for column in (*contacts[:-1], row, clamped, undecided, rechecked))
    hit_limbs = HitLimbs(request.limbs, bounded.limb[hit].astype(np.int64), contacts.alpha[hit])
    return Found(flights, hit_limbs, Contacts._make(columns), partial(_exits, request, bounded, contacts, exact))


def _bounded(request: MovingRequest, threads: int | None) -> tuple[MovingColumns, ContactRows]:
    """The first contact of each bullet as far as float64 decides it."""
    n, query = request.flights.bullets, request.query
    columns = memory.columns(n, *COLUMNS)
    time, target, alpha, lower, upper, stretch, piece, tick, limb, face, found_face, undecided, accurate = columns
    hits = MovingColumns(stretch, limb, lower, upper, found_face, undecided)
    contacts = ContactRows(memory.rows((n, 2)), time, target, alpha, piece, tick, face, accurate)
    first_tick = request.ticks[0].number

    def task(begin: int, end: int) -> None:
        pairs, refined = make_pair_lanes(), make_refine_lanes()
        for first in range(begin, end, BLOCK_RAYS):
            last = min(first + BLOCK_RAYS, end)
            leave_out_misses(query, first, last, pairs)
            cast_moving_rows(query, first, last, hits)
            refine_contacts(query, hits, first_tick, first, last, refined, contacts)

    in_chunks(n, threads, task)
    return hits, contacts


def _write_exact(request: MovingRequest, entered: Entered, i: int, contacts: ContactRows) -> None:
    """Write the contact of bullet i, each number rounded from the exact one."""
    s, stretch, within = entered.contact.entry, entered.stretch, stretch_of(request, entered.stretch)
    contacts.fraction[i], contacts.alpha[i] = s.double_double(), s.rounded(within.alpha0, within.alpha1)
    contacts.time[i] = s.rounded(*bullet_time(request, stretch))
    contacts.target_time[i] = s.rounded(*target_time(request, stretch))
    contacts.piece[i], contacts.face[i] = request.stretches.piece[stretch], int(entered.face)
    contacts.tick[i] = request.ticks[request.stretches.tick[stretch]].number


def _answer(request: MovingRequest, bounded: MovingColumns, i: int) -> Answer:
    """The first contact of a bullet in rational numbers; its limb is known unless it is undecided."""
    stretch, limb = bounded.stretch.item(i), bounded.limb.item(i)
    if bounded.undecided[i]:
        return first_contact(request, i, stretch)
    return Answer(entered_limb(request, stretch, limb), False)


def _exits(
    request: MovingRequest, bounded: MovingColumns, contacts: ContactRows, exact: Mapping[int, Entered]
) -> Exits:
    """Where bullets leave the limbs that they hit."""
    n, stretches = request.flights.bullets, request.stretches
    fraction, time, duration, piece, accurate = memory.columns(n, *EXIT_COLUMNS)
    exits = ExitRows(fraction, time, duration, piece, accurate)
    limbs = request.limbs
    find_exits(request.query, LimbPlaces(limbs.state_row, limbs.next_row), bounded, contacts, 0, n, exits)
    hit = np.flatnonzero(bounded.limb >= 0)
    is_protected = np.isin(limbs.character[bounded.limb[hit]], [*request.until])
    for i in hit[~accurate[hit] | is_protected].tolist():
        one = exact.get(i) or entered_limb(request, bounded.stretch.item(i), bounded.limb.item(i))
        stretch, contact = leaves(request, i, one)
        begins, ends = _moment(request, one.stretch, one.contact.entry), _moment(request, stretch, contact.exit)
        piece[i], fraction[i] = stretches.piece[stretch], contact.exit.rounded()
        time[i], duration[i] = float(ends), float(ends - begins)
    return Exits(*(frozen(column) for column in (piece, fraction, time, duration)))


def _moment(request: MovingRequest, stretch: int, s: Algebraic) -> Fraction:
    """The bullet's time at s of a stretch's piece, to a hundred bits."""
    t0, rate = bullet_time(request, stretch)
    return t0 + rate * sum(map(Fraction, s.double_double()))
