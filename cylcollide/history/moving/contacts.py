"""First contacts of flying bullets: float64 bounds first, exact arithmetic for undecided ones."""

from collections.abc import Mapping
from fractions import Fraction
from functools import partial

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int32Array, Int64Array
from cylcollide.constants import BLOCK_RAYS
from cylcollide.exact.algebraic import Algebraic
from cylcollide.history.moving.exact import BulletInterval, FirstContact, contact_with, first_contact
from cylcollide.history.moving.hits import MovingHits
from cylcollide.history.moving.limbs import HitLimbs
from cylcollide.history.moving.request import MovingRequest
from cylcollide.history.rewound import present_positions
from cylcollide.process.files import Columns
from cylcollide.process.threads import in_chunks
from cylcollide.query.loops.columns import columns_of
from cylcollide.query.loops.moving import MovingColumns, cast_moving_rows, leave_out_misses, make_pair_lanes
from cylcollide.query.loops.moving_exit import find_exits
from cylcollide.query.loops.moving_refine import make_refine_lanes, refine_contacts
from cylcollide.query.results import gather
from cylcollide.runtime import memory
from cylcollide.world.hit_world import HitWorld

PROTECTION_MARGIN = 2.0**-48
"""Relative to the largest time of a piece: far above the rounding of the time at a fraction of it."""


def first_contacts(request: MovingRequest, world: HitWorld) -> MovingHits:
    """The first contact of each bullet; `world` is used for present positions."""
    n = request.bullets
    contacts = _bounded(request)
    open_rows, undecided, exact = np.flatnonzero(~contacts.accurate), np.zeros(n, np.bool_), dict[int, FirstContact]()
    for i in open_rows.tolist():
        number, limb = contacts.interval.item(i), contacts.limb.item(i)
        if contacts.undecided[i]:
            entered, undecided[i] = first_contact(request, i, number)
        else:
            entered = contact_with(request, i, number, limb)
        contacts.limb[i] = -1
        if entered is not None:
            exact[i], contacts.limb[i] = entered, entered.pair.limb
            contacts.interval[i] = entered.pair.interval.number
            _write_exact(request, entered, i, contacts)
    hit, row, clamped = np.flatnonzero(contacts.limb >= 0), np.full(n, -1, np.int32), np.zeros(n, bool)
    row[hit] = np.arange(len(hit))
    if request.clamped.any():
        np.logical_or.at(clamped, np.repeat(np.arange(n), np.diff(request.offsets)), request.clamped)
    error = gather(request.error, contacts.piece, np.nan)
    columns = {**contacts._asdict(), "error": error, "row": row, "clamped": clamped, "undecided": undecided}
    hit_limbs = HitLimbs(request.limbs, contacts.limb[hit].astype(np.int64), contacts.alpha[hit])
    now = partial(present_positions, world)
    return MovingHits(request.flights, hit_limbs, columns, partial(_exits, request, contacts, exact), now)


def _bounded(request: MovingRequest) -> MovingColumns:
    """The first contact of each bullet as far as float64 bounds decide it."""
    n, query = request.bullets, request.query
    hits = columns_of(MovingColumns, n, memory.rows((n, 2)))
    first_tick = request.ticks[0].number

    def task(begin: int, end: int) -> None:
        pairs, refined = make_pair_lanes(), make_refine_lanes()
        for first in range(begin, end, BLOCK_RAYS):
            last = min(first + BLOCK_RAYS, end)
            leave_out_misses(query, first, last, pairs)
            cast_moving_rows(query, first, last, hits)
            refine_contacts(query, hits, first_tick, first, last, refined)

    in_chunks(n, request.threads, task)
    return hits


def _write_exact(request: MovingRequest, entered: FirstContact, i: int, contacts: MovingColumns) -> None:
    """Write the contact of bullet i, rounding each exact number."""
    s, interval = entered.contact.entry, entered.pair.interval
    contacts.fraction[i] = s.double_double()
    contacts.alpha[i] = s.rounded(interval.within.alpha0, interval.within.alpha1)
    contacts.time[i], contacts.target_time[i] = s.rounded(*interval.bullet_time), s.rounded(*interval.target_time)
    contacts.piece[i], contacts.face[i] = interval.piece, int(entered.face)
    contacts.tick[i] = request.ticks[request.intervals.tick[interval.number]].number


def _exits(request: MovingRequest, contacts: MovingColumns, exact: Mapping[int, FirstContact]) -> Columns:
    """The exits of bullets from the limbs that they hit, (n,) each."""
    n = request.bullets
    fraction, time, duration, piece = np.empty(n), np.empty(n), np.empty(n), np.empty(n, np.int64)
    accurate = np.empty(n, np.bool_)
    find_exits(request.query, contacts, fraction, time, duration, piece, accurate)
    hit = np.flatnonzero(contacts.limb >= 0)
    for i in hit[~accurate[hit] | _may_be_protected(request, contacts.limb[hit], piece[hit], fraction[hit])].tolist():
        one = exact.get(i) or contact_with(request, i, contacts.interval.item(i), contacts.limb.item(i))
        last, contact = one.end()
        begins, ends = _moment(one.pair.interval, one.contact.entry), _moment(last, contact.exit)
        piece[i], fraction[i] = last.piece, contact.exit.rounded()
        time[i], duration[i] = float(ends), float(ends - begins)
    return {"exit_piece": piece, "exit_fraction": fraction, "exit_time": time, "duration": duration}


def _may_be_protected(request: MovingRequest, limb: Int32Array, piece: Int64Array, fraction: Float64Array) -> BoolArray:
    """Whether each of these limbs may be protected at a fraction of a piece, (n,) each."""
    begin, end = request.flights.target_t0[piece], request.flights.target_t1[piece]
    with np.errstate(invalid="ignore"):  # an unknown fraction is infinite, and not accurate
        time = begin + fraction * (end - begin) + PROTECTION_MARGIN * np.maximum(abs(begin), abs(end))
    since = [request.until.get(who, np.inf) for who in request.limbs.table.character[limb].tolist()]
    return ~(time < np.array(since, np.float64))


def _moment(interval: BulletInterval, s: Algebraic) -> Fraction:
    """The bullet's time at s of its piece, to about 100 bits."""
    t0, rate = interval.bullet_time
    return t0 + rate * sum(map(Fraction, s.double_double()))
