"""Rays as they come in: copied and checked in the pass in which a loop first needs them.

A pass over all rays of their own would cost as much as a limb; and who shares the work among threads, shares this too.
"""

from functools import cached_property
from typing import NamedTuple, NoReturn

from numpy.typing import ArrayLike

from cylcollide import door, lending
from cylcollide._types import Float64Array
from cylcollide.compiling import compiled
from cylcollide.kernels.ray import Rays


class Given(NamedTuple):
    """Rays that nobody has looked at, in memory that may be the caller's; (n, 3), C order."""

    first: Float64Array
    second: Float64Array


class Arrival:
    """Rays on their way in. Whoever reads rows of `rays` has to receive them first."""

    def __init__(self, names: tuple[str, str], given: Given, is_segment: bool, distance: Float64Array) -> None:
        self._names, self.given, self.is_segment, self.distance = names, given, is_segment, distance

    def __len__(self) -> int:
        return len(self.given.first)

    @cached_property
    def rays(self) -> Rays:
        """Room for the rays."""
        origin, second = lending.rows((2, *self.given.first.shape))
        return Rays(origin, second, self.is_segment, self.distance)

    def receive(self, begin: int, end: int) -> None:
        """Fill `rays` from row `begin` to `end`; ValueError, naming the first bad row, if a number is not allowed."""
        if not received(self.given, self.rays, begin, end):
            self.refuse()

    def refuse(self) -> NoReturn:
        """Say what is wrong with the rays: ValueError, naming the first bad row."""
        first, second = self._names
        door.vectors(self.given.first, first)
        check = door.vectors if self.is_segment else door.directions
        check(self.given.second, second, len(self))
        raise ValueError(
            f"{first}, {second}: expected numbers that stay while a query reads them, got some that "
            "changed from bad to good; pass copies"
        )


def segments(starts: ArrayLike, ends: ArrayLike) -> Arrival:
    """Closed segments from starts to ends, (n, 3) both."""
    first = door.unchecked(starts, "starts")
    return Arrival(("starts", "ends"), Given(first, door.unchecked(ends, "ends", len(first))), True, door.NO_LIMIT)


def rays(origins: ArrayLike, directions: ArrayLike, max_distance: ArrayLike) -> Arrival:
    """Rays from origins along directions, (n, 3) both; `max_distance` in metres, (n,) or one number."""
    first = door.unchecked(origins, "origins")
    second = door.unchecked(directions, "directions", len(first))
    distance = door.distances(max_distance, len(first))
    return Arrival(("origins", "directions"), Given(first, second), False, distance)


@compiled
def received(given: Given, rays: Rays, begin: int, end: int) -> bool:
    """Copy the rows from `begin` to `end`; whether all numbers are finite, and no direction is zero."""
    fine, _ = door.copied(given.first, rays.origin, begin, end)
    finite, nowhere_zero = door.copied(given.second, rays.second, begin, end)
    return fine and finite and (rays.is_segment or nowhere_zero or not door.any_zero_row(rays.second, begin, end))
