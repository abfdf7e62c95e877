"""What is asked of a world, and the answer about a few rays, which is made into arrays when somebody looks at it."""

from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cylcollide import door
from cylcollide._types import BoolArray, Float64Array, InsidePolicy, Int8Array, Int32Array, Int64Array, Uint32Array
from cylcollide.arriving import Arrival
from cylcollide.casting import FEW_COLUMNS, Query
from cylcollide.kernels.ray import Rays

Scalar = TypeVar("Scalar", bound=np.generic)


class Question:
    """What is asked, of rays that are still to be received."""

    def __init__(
        self, arrival: Arrival, mask: Uint32Array, ignored: Int64Array, policy: int, inside: InsidePolicy
    ) -> None:
        self.arrival, self.mask, self.ignored, self.policy, self.inside = arrival, mask, ignored, policy, inside

    @cached_property
    def query(self) -> Query:
        """The same for loops, once the rays are received."""
        return Query(self.arrival.rays, self.mask, self.ignored, self.policy)


def ask(arrival: Arrival, inside: InsidePolicy, mask: ArrayLike, ignore_character: ArrayLike | None) -> Question:
    """A question; the rays may be received in parts."""
    n = len(arrival)
    layers, ignored = door.masks(mask, n), door.ignored_characters(ignore_character, n)
    return Question(arrival, layers, ignored, door.policy(inside), inside)


class AnsweredFew:
    """An answer about a few rays, made into arrays when it is asked for. It keeps nothing of the caller's alive."""

    def __init__(self, question: Question) -> None:
        arrival = question.arrival
        self._is_segment, self._distance = arrival.is_segment, arrival.distance
        self._mask, self._ignored, self._policy = question.mask, question.ignored, question.policy
        self.room: Float64Array = np.empty((FEW_COLUMNS, len(arrival)))
        """What `casting.closest_of_few` fills."""

    @cached_property
    def rays(self) -> Rays:
        """The rays as they were received."""
        origin, second = self.room[:6].reshape(2, -1, 3)
        return Rays(origin, second, self._is_segment, self._distance)

    @cached_property
    def query(self) -> Query:
        """What was asked."""
        return Query(self.rays, self._mask, self._ignored, self._policy)

    @property
    def fraction(self) -> Float64Array:
        """As in `Verdicts`, and so are the others."""
        return self._column(6, np.float64)

    @property
    def limb(self) -> Int32Array:
        """See there."""
        return self._column(7, np.int32)

    @property
    def face(self) -> Int8Array:
        """See there."""
        return self._column(8, np.int8)

    @property
    def inside(self) -> BoolArray:
        """See there."""
        return self._column(9, np.bool_)

    @property
    def unsure(self) -> BoolArray:
        """See there."""
        return self._column(10, np.bool_)

    def _column(self, k: int, kind: type[Scalar]) -> NDArray[Scalar]:
        column: NDArray[Scalar] = self.room[k].view(kind)[: self.room.shape[1]]
        return column
