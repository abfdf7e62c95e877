"""A question about rays with its answer so far: columns that loops have filled, some rows perhaps not decided yet."""

from functools import cached_property
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import BoolArray, Float64Array, Int8Array, Int32Array
from cylcollide.asking import Facts, Query
from cylcollide.columns import Answer
from cylcollide.kernels.ray import Rays

Scalar = TypeVar("Scalar", bound=np.generic)


class Asked(Answer, Protocol):
    """A question about rays, and its answer so far."""

    @property
    def query(self) -> Query:
        """What was asked."""

    @property
    def unsure(self) -> BoolArray:
        """As in `Verdicts`."""


class Answered(NamedTuple):
    """An answer that is there."""

    query: Query
    limb: Int32Array
    fraction: Float64Array
    face: Int8Array
    inside: BoolArray
    unsure: BoolArray

    @property
    def rays(self) -> Rays:
        """The rays that were asked about."""
        return self.query.rays


class AnsweredFew:
    """An answer about a few rays, made into arrays when it is asked for. `casting.closest_of_few` fills `room`."""

    def __init__(self, room: Float64Array, facts: Facts) -> None:
        self.room, self.facts = room, facts

    @cached_property
    def query(self) -> Query:
        """What was asked."""
        room, (is_segment, distance, mask, ignored, policy) = self.room, self.facts
        rays = Rays(room[:3].reshape(-1, 3), room[3:6].reshape(-1, 3), is_segment, distance)
        return Query(rays, mask, ignored, policy)

    @property
    def rays(self) -> Rays:
        """The rays as they were received."""
        return self.query.rays

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
