"""What is asked about rays, and the rays themselves: copied and checked in the pass in which a loop first needs them.

A pass over all rays of their own would cost as much as a limb; and who shares the work among threads, shares this too.
"""

from typing import NamedTuple, NoReturn, TypeAlias

from numpy.typing import ArrayLike

from cylcollide import door, lending
from cylcollide._types import ALL_LAYERS, Float64Array, InsidePolicy, Int64Array, Uint32Array
from cylcollide.compiling import compiled
from cylcollide.kernels.ray import Rays


class Given(NamedTuple):
    """Rays that nobody has looked at, in memory that may be the caller's; (n, 3), C order."""

    first: Float64Array
    second: Float64Array


class Query(NamedTuple):
    """Rays and what they may hit; `mask` and `ignored` have one entry a ray, or one for all."""

    rays: Rays
    mask: Uint32Array
    ignored: Int64Array  # character, -1 for none
    policy: int


Facts: TypeAlias = tuple[bool, Float64Array, Uint32Array, Int64Array, int]
"""All that is asked but for two vectors: whether rays are segments, how far they go, and mask, ignored and policy."""


class Question:
    """What is asked, of rays on their way in. Whoever reads rows of `query.rays` has to receive them first."""

    def __init__(
        self,
        first: Float64Array,
        second: Float64Array,
        is_segment: bool,
        distance: Float64Array,
        inside: InsidePolicy,
        mask: ArrayLike,
        ignore_character: ArrayLike | None,
    ) -> None:
        n = len(first)
        layers, ignored = door.masks(mask, n), door.ignored_characters(ignore_character, n)
        self.first, self.second, self.inside = first, second, inside
        self.facts: Facts = (is_segment, distance, layers, ignored, door.policy(inside))
        self._query: Query | None = None

    @property
    def given(self) -> Given:
        """The rays as they came."""
        return Given(self.first, self.second)

    @property
    def query(self) -> Query:
        """The same for loops, with room for the rays."""
        if self._query is None:
            room, (is_segment, distance, mask, ignored, policy) = lending.rows((2, *self.first.shape)), self.facts
            self._query = Query(Rays(room[0], room[1], is_segment, distance), mask, ignored, policy)
        return self._query

    def receive(self, begin: int, end: int) -> None:
        """Fill rows `begin` to `end` of `query.rays`; ValueError, naming the first bad row, if a number is bad."""
        if not received(self.given, self.query.rays, begin, end):
            self.refuse()

    def refuse(self) -> NoReturn:
        """Say what is wrong with the rays: ValueError, naming the first bad row."""
        is_segment = self.facts[0]
        first, second = SEGMENTS if is_segment else RAYS
        door.vectors(self.first, first)
        check = door.vectors if is_segment else door.directions
        check(self.second, second, len(self.first))
        raise ValueError(
            f"{first}, {second}: expected numbers that stay while a query reads them, got some that "
            "changed from bad to good; pass copies"
        )


SEGMENTS, RAYS = ("starts", "ends"), ("origins", "directions")
"""What users call the two vectors of a ray."""


def about_segments(
    starts: ArrayLike,
    ends: ArrayLike,
    inside: InsidePolicy,
    mask: ArrayLike = ALL_LAYERS,
    ignore_character: ArrayLike | None = None,
) -> Question:
    """A question about closed segments from starts to ends, (n, 3) both."""
    first = door.unchecked(starts, "starts")
    second = door.unchecked(ends, "ends", len(first))
    return Question(first, second, True, door.NO_LIMIT, inside, mask, ignore_character)


def about_rays(
    origins: ArrayLike,
    directions: ArrayLike,
    max_distance: ArrayLike,
    inside: InsidePolicy,
    mask: ArrayLike = ALL_LAYERS,
    ignore_character: ArrayLike | None = None,
) -> Question:
    """The same about rays from origins along directions, (n, 3) both; `max_distance` in metres, (n,) or one number."""
    first = door.unchecked(origins, "origins")
    second = door.unchecked(directions, "directions", len(first))
    distance = door.distances(max_distance, len(first))
    return Question(first, second, False, distance, inside, mask, ignore_character)


@compiled
def received(given: Given, rays: Rays, begin: int, end: int) -> bool:
    """Copy the rows from `begin` to `end`; whether all numbers are finite, and no direction is zero."""
    fine, _ = door.copied(given.first, rays.origin, begin, end)
    finite, nowhere_zero = door.copied(given.second, rays.second, begin, end)
    return fine and finite and (rays.is_segment or nowhere_zero or not door.any_zero_row(rays.second, begin, end))
