"""The query of a `PoseHistory` about flying bullets."""

from abc import ABC, abstractmethod
from typing import Unpack

from numpy.typing import ArrayLike

from cylcollide.history.flight import FlightPath
from cylcollide.history.moving.contacts import first_contacts
from cylcollide.history.moving.flights import MovingOptions, checked_filters, checked_flights
from cylcollide.history.moving.hits import MovingHits
from cylcollide.history.moving.request import MovingRequest
from cylcollide.history.ring import Ring


class MovingQueries(ABC):
    """The query about flying bullets of a `PoseHistory`."""

    @abstractmethod
    def _kept(self) -> Ring:
        """The ticks that are kept, one at least."""

    def cast_moving(
        self,
        starts: ArrayLike | FlightPath,
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
        filters, ring = checked_filters(options), self._kept()
        flights = checked_flights(ring.ticks, starts, ends, (t0, t1), (target_t0, target_t1), options)
        return first_contacts(MovingRequest(ring, flights, filters), filters.threads)
