"""What is asked about rays, and the rays themselves: copied and checked in the pass in which a loop first needs them.

A pass over all rays of their own would cost as much as a limb; and who shares the work among threads, shares this too.
"""

from functools import cached_property
from typing import NamedTuple, NoReturn, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cylcollide import validate
from cylcollide._types import ALL_LAYERS, BoolArray, Float64Array, InsidePolicy, Int8Array, Int32Array
from cylcollide.bvh.layout import Tree
from cylcollide.kernels.limb_table import LimbRows, LimbTable
from cylcollide.kernels.ray import Rays
from cylcollide.query.loops.columns import HitResult
from cylcollide.query.loops.inputs import RawRays, RayBatch, RayOptions, copy_checked
from cylcollide.runtime import memory


class RayRequest:
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
        layers, ignored = validate.masks(mask, n), validate.ignored_characters(ignore_character, n)
        self.first, self.second, self.inside = first, second, inside
        self.options: RayOptions = (is_segment, distance, layers, ignored, validate.policy(inside))
        self._query: RayBatch | None = None

    @property
    def raw(self) -> RawRays:
        """The rays as they came."""
        return RawRays(self.first, self.second)

    @property
    def batch(self) -> RayBatch:
        """The same for loops, with room for the rays."""
        if self._query is None:
            room, (is_segment, distance, mask, ignored, policy) = memory.rows((2, *self.first.shape)), self.options
            self._query = RayBatch(Rays(room[0], room[1], is_segment, distance), mask, ignored, policy)
        return self._query

    def copy_checked(self, begin: int, end: int) -> None:
        """Fill rows `begin` to `end` of `query.rays`; ValueError, naming the first bad row, if a number is bad."""
        if not copy_checked(self.raw, self.batch.rays, begin, end):
            self.raise_invalid()

    def raise_invalid(self) -> NoReturn:
        """Say what is wrong with the rays: ValueError, naming the first bad row."""
        is_segment = self.options[0]
        first, second = SEGMENTS if is_segment else RAYS
        validate.vectors(self.first, first)
        check = validate.vectors if is_segment else validate.directions
        check(self.second, second, len(self.first))
        raise ValueError(
            f"{first}, {second}: expected numbers that stay while a query reads them, got some that "
            "changed from bad to good; pass copies"
        )


SEGMENTS, RAYS = ("starts", "ends"), ("origins", "directions")
"""What users call the two vectors of a ray."""


def segment_request(
    starts: ArrayLike,
    ends: ArrayLike,
    inside: InsidePolicy,
    mask: ArrayLike = ALL_LAYERS,
    ignore_character: ArrayLike | None = None,
) -> RayRequest:
    """A question about closed segments from starts to ends, (n, 3) both."""
    first = validate.as_vectors(starts, "starts")
    second = validate.as_vectors(ends, "ends", len(first))
    return RayRequest(first, second, True, validate.NO_LIMIT, inside, mask, ignore_character)


def ray_request(
    origins: ArrayLike,
    directions: ArrayLike,
    max_distance: ArrayLike,
    inside: InsidePolicy,
    mask: ArrayLike = ALL_LAYERS,
    ignore_character: ArrayLike | None = None,
) -> RayRequest:
    """The same about rays from origins along directions, (n, 3) both; `max_distance` in metres, (n,) or one number."""
    first = validate.as_vectors(origins, "origins")
    second = validate.as_vectors(directions, "directions", len(first))
    distance = validate.distances(max_distance, len(first))
    return RayRequest(first, second, False, distance, inside, mask, ignore_character)


class State(Protocol):
    """Limbs with their tree."""

    tree: Tree
    table: LimbTable
    """The columns of the limbs."""
    kernel_rows: LimbRows
    """What loops read of the limbs."""


Scalar = TypeVar("Scalar", bound=np.generic)


class RayResult(HitResult, Protocol):
    """A question about rays, and its answer so far."""

    @property
    def batch(self) -> RayBatch:
        """What was asked."""

    @property
    def undecided(self) -> BoolArray:
        """As in `HitColumns`."""


class BatchResult(NamedTuple):
    """An answer that is there."""

    batch: RayBatch
    limb: Int32Array
    fraction: Float64Array
    face: Int8Array
    inside: BoolArray
    undecided: BoolArray

    @property
    def rays(self) -> Rays:
        """The rays that were asked about."""
        return self.batch.rays


class SmallBatchResult:
    """An answer about a few rays, made into arrays when it is asked for. `casting.cast_single_rays` fills `room`."""

    def __init__(self, room: Float64Array, options: RayOptions) -> None:
        self.room, self.options = room, options

    @cached_property
    def batch(self) -> RayBatch:
        """What was asked."""
        room, (is_segment, distance, mask, ignored, policy) = self.room, self.options
        rays = Rays(room[:3].reshape(-1, 3), room[3:6].reshape(-1, 3), is_segment, distance)
        return RayBatch(rays, mask, ignored, policy)

    @property
    def rays(self) -> Rays:
        """The rays as they were received."""
        return self.batch.rays

    @property
    def fraction(self) -> Float64Array:
        """As in `HitColumns`, and so are the others."""
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
    def undecided(self) -> BoolArray:
        """See there."""
        return self._column(10, np.bool_)

    def _column(self, k: int, kind: type[Scalar]) -> NDArray[Scalar]:
        column: NDArray[Scalar] = self.room[k].view(kind)[: self.room.shape[1]]
        return column
