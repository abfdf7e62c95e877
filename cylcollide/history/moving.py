"""Flying bullets against limbs that move: the first contact of each."""

from abc import ABC, abstractmethod
from functools import partial
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from cylcollide._types import NO_LIMB, Face
from cylcollide.history.flights import Filters, Flights, MovingOptions, Path, checked_filters, checked_flights
from cylcollide.history.moments import NO_TICK
from cylcollide.history.moving_exact import (
    Entered,
    Question,
    bullet_time,
    first_contact,
    leaves,
    stretch_of,
    target_time,
)
from cylcollide.history.moving_hits import Contacts, Exits, Found, MovingHits
from cylcollide.history.moving_limbs import MovingLimbs, limbs_near, near_stretches
from cylcollide.history.stretches import stretches_of
from cylcollide.history.struck_limbs import StruckLimbs
from cylcollide.history.ticks import Tick
from cylcollide.runtime.memory import frozen


class MovingQueries(ABC):
    """The query about flying bullets of a `PoseHistory`."""

    @abstractmethod
    def _kept(self) -> tuple[Tick, ...]:
        """The ticks that are kept, one at least."""

    def cast_moving(
        self,
        starts: ArrayLike | Path,
        ends: ArrayLike | None = None,
        t0: ArrayLike | None = None,
        t1: ArrayLike | None = None,
        target_t0: ArrayLike | None = None,
        target_t1: ArrayLike | None = None,
        **options: Unpack[MovingOptions],
    ) -> MovingHits:
        """The limb that each flying bullet hits first, and when; limbs move while it flies.

        A bullet is at its start at time `t0` and at its end at `t1`, and flies straight between. The ends of limbs move
        on straight lines from each tick to the next, whatever `interpolate` says. First contacts and their order are
        those of real arithmetic on these numbers; boxes turn, theirs are bounded from both sides. A fast limb that
        crosses the bullet's way between two ticks is hit.

        Parameters
        ----------
        starts, ends
            Where each bullet flies, (n, 3) each or one for all. Or a path alone, as `flight` makes it: of each of its
            bullets, which are the rows of the result, the first contact over its pieces.
        t0, t1
            When, (n,) or one for all; t1 >= t0. With t1 = t0 it is a ray.
        target_t0, target_t1
            The targets' time at the bullet's start and at its end, between them a linear function of the bullet's;
            (n,) or one for all, of a path one a piece; without, t0 and t1. The ticks that they fall into are judged.
        mask, ignore_character
            As in every query; one a bullet, or one for all.
        protected_since
            A time per character from which on it is not hit, in the targets' time.
        on_old
            What targets' times mean that are not kept. "error": a ValueError that names the first row. "clamp": each of
            `target_t0` and `target_t1` becomes the nearest time that is kept, between them it is linear again, and
            `clamped` says so. "miss": such a bullet hits nothing, such a piece of a path neither.
        resolution
            Share of a tick to which contacts with boxes are bounded; what it leaves open is `undecided`.
        threads
            Most threads that work at the same time; None: one a processor.

        Raises
        ------
        ValueError
            For numbers, shapes and times that are not accepted, with the first bad row.
        """
        ticks, filters = self._kept(), checked_filters(options)
        flights = checked_flights(ticks, starts, ends, (t0, t1), (target_t0, target_t1), options)
        question = asked(ticks, flights, filters)
        return hits_of(question, [first_contact(question, bullet) for bullet in range(flights.bullets)])


def asked(ticks: tuple[Tick, ...], flights: Flights, filters: Filters) -> Question:
    """What checked bullets are judged against."""
    stretches = stretches_of(ticks, flights)
    near = near_stretches(ticks, flights, stretches)
    limbs, lists = limbs_near(ticks, stretches, near)
    until = (
        {} if filters.protected is None else dict(zip(*(column.tolist() for column in filters.protected), strict=True))
    )
    return Question(ticks, flights, stretches, limbs, lists, until)


def hits_of(question: Question, entered: list[Entered | None]) -> MovingHits:
    """The result, from the exact contact of each bullet."""
    n, flights, stretches = len(entered), question.flights, question.stretches
    hit = np.array([one is not None for one in entered], np.bool_)
    row = np.full(n, NO_LIMB, np.int32)
    row[hit] = np.arange(hit.sum())
    piece, tick = np.full(n, -1), np.full(n, NO_TICK)
    fraction, (time, target, alpha) = np.full((n, 2), np.inf), np.full((3, n), np.nan)
    face = np.full(n, int(Face.NONE), np.int8)
    fraction[:, 1] = 0.0
    for i, one in enumerate(entered):
        if one is not None:
            s, within = one.contact.entry, stretch_of(question, one.stretch)
            piece[i], face[i] = stretches.piece[one.stretch], int(one.face)
            tick[i] = question.ticks[stretches.tick[one.stretch]].number
            fraction[i] = s.double_double()
            alpha[i] = s.rounded(within.alpha0, within.alpha1)
            time[i] = s.rounded(*bullet_time(question, one.stretch))
            target[i] = s.rounded(*target_time(question, one.stretch))
    struck = np.array([one.limb for one in entered if one is not None], np.int64)
    limbs = MovingLimbs._make(column[struck] for column in question.limbs)
    clamped = np.zeros(n, np.bool_)
    np.logical_or.at(clamped, np.repeat(np.arange(n), np.diff(flights.offsets)), flights.clamped)
    columns = (row, piece, fraction, face, time, target, tick, alpha, clamped, np.zeros(n, np.bool_), hit)
    contacts = Contacts(*map(frozen, columns))
    exits = partial(exits_of, question, entered)
    return MovingHits(Found(flights, StruckLimbs(question.ticks, limbs, alpha[hit]), contacts, exits))


def exits_of(question: Question, entered: list[Entered | None]) -> Exits:
    """Where bullets leave the limbs that they are known to hit."""
    n, stretches = len(entered), question.stretches
    piece, fraction, (time, duration) = np.full(n, -1), np.full(n, np.inf), np.full((2, n), np.nan)
    for i, one in enumerate(entered):
        if one is not None:
            stretch, contact = leaves(question, i, one)
            s, (t0, rate) = contact.exit, bullet_time(question, stretch)
            piece[i], fraction[i], time[i] = stretches.piece[stretch], s.rounded(), s.rounded(t0, rate)
            duration[i] = time[i] - one.contact.entry.rounded(*bullet_time(question, one.stretch))
    return Exits(*map(frozen, (piece, fraction, time, duration)))
