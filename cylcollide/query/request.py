"""A request about rays, which are copied and checked by the loop that first reads them.

A separate pass over all rays would cost as much as the test of a limb. This way, threads share the check, too.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import NoReturn, Protocol, TypeAlias, TypedDict, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cylcollide import shapes, validate
from cylcollide._types import ALL_LAYERS, Float64Array, InsidePolicy, Int32Array, Int64Array
from cylcollide.bvh.layout import Tree
from cylcollide.constants import LARGEST_NUMBER, MANY_RAYS
from cylcollide.kernels.limb_table import LimbRows, LimbTable
from cylcollide.kernels.ray import Rays
from cylcollide.query.labels import RowLabels
from cylcollide.query.loops.columns import HIT_ROWS, Record
from cylcollide.query.loops.inputs import (
    COPY_ROWS,
    INVALID,
    PointFilters,
    RayBatch,
    RayOptions,
    batch_in,
    copy_checked_rows,
    raw_rays,
)
from cylcollide.runtime import memory
from cylcollide.runtime.levels import MACHINE_CODE

Scalar = TypeVar("Scalar", bound=np.generic)

ARE_VECTORS: Callable[[object, object], bool] = getattr(MACHINE_CODE, "are_vectors", lambda *_: False)
"""Whether both are arrays of float64 in C order with shape (n, 3), equally long; always False in plain Python."""


class LabelledLimbs(Protocol):
    """Limbs, as results read them."""

    @property
    def _table(self) -> LimbTable:
        """The columns of the limbs."""

    @property
    def _kernel_rows(self) -> LimbRows:
        """The limbs as loops read them."""

    @property
    def _labels(self) -> RowLabels:
        """Names, hit groups and bones of the limbs."""

    @property
    def _state_row(self) -> Int32Array | None:
        """Row of each limb in its state, (n,); None: the row here."""


class State(LabelledLimbs, Protocol):
    """Limbs with their tree, as queries read them."""

    @property
    def _tree(self) -> Tree:
        """The tree over the limbs' boxes."""

    @property
    def _packed(self) -> tuple[LimbRows, Tree]:
        """`_kernel_rows` and `_tree`, packed: only loops can read them, in half the time."""

    @property
    def _packed_firsts(self) -> tuple[LimbRows, Tree]:
        """`_packed` for the closest limb alone: limbs that equal an earlier one may be in no layer."""


class RayRequest:
    """Rays to be cast, and the limbs they may hit. Copies of the rays are uninitialised until a loop fills them."""

    names: tuple[str, str] | None = None  # of both arguments in messages; None: those of segments, or of rays
    _copies: Float64Array | None = None
    _batch: RayBatch | None = None

    def __init__(
        self,
        first: Float64Array,
        second: Float64Array,
        is_segment: bool,
        distance: Float64Array,
        inside: InsidePolicy,
        mask: ArrayLike,
        ignore_character: ArrayLike | None,
        threads: int | None,
        radius: ArrayLike = 0.0,
    ) -> None:
        layers = validate.EVERY_LAYER if mask is ALL_LAYERS else validate.masks(mask, len(first))
        nobody = ignore_character is None
        ignored = validate.IGNORE_NONE if nobody else validate.ignored_characters(ignore_character, len(first))
        self.first, self.second, self.inside = first, second, inside
        self.radius = _radii(radius, len(first))
        self.threads = None if threads is None else validate.workers(threads)
        self.options: RayOptions = (is_segment, distance, layers, ignored, validate.policy(inside))

    def of_rows(self, rows: Int64Array, radius: Float64Array) -> RayRequest:
        """Some of the rays, with these radii (rows,), or (0,) if none is thick."""
        is_segment, distance, mask, ignored, policy = self.options
        taken, filters = copy(self), (some_rows(mask, rows), some_rows(ignored, rows))
        taken.first, taken.second, taken._copies, taken._batch = self.first[rows], self.second[rows], None, None
        taken.options, taken.radius = (is_segment, some_rows(distance, rows), *filters, policy), radius
        return taken

    def new_record(self, more: int = 0) -> Record:
        """Memory for columns of hits and `more` numbers, and new memory for the copies of the rays.

        Few rays share one array. Many have two, so that a column of hits that is kept does not keep the rays alive.
        """
        n = len(self.first)
        own = COPY_ROWS * n if n >= MANY_RAYS and more == 0 else 0
        record = memory.column((HIT_ROWS + COPY_ROWS) * n + more - own)
        self._copies, self._batch = memory.column(own) if own else record, None
        return record, self._copies

    @property
    def has_one_filter(self) -> bool:
        """Whether mask and ignored character are the same for all rays."""
        return self.options[2].size == self.options[3].size == 1

    @property
    def raw(self) -> Rays:
        """The rays as they were passed, not yet checked, possibly in the caller's memory."""
        return raw_rays(self.first, self.second, self.options, self.radius)

    @property
    def copies(self) -> Float64Array:
        """Memory for the copies of the rays, made when it is first read."""
        if self._copies is None:
            self._copies = memory.column(COPY_ROWS * len(self.first))
        return self._copies

    @property
    def batch(self) -> RayBatch:
        """The rays for kernels, in the memory of `copies`, and their filters."""
        if self._batch is None:
            self._batch = batch_in(self.copies, len(self.first), self.options, self.radius)
        return self._batch

    def copy_checked(self, begin: int, end: int) -> None:
        """Fill rows `begin` to `end` of `batch.rays`; ValueError, naming the first bad row, if a number is bad."""
        if not copy_checked_rows(self.raw, self.batch.rays, begin, end):
            self.raise_invalid()

    def checked(self, status: int) -> int:
        """The status of a loop; ValueError, naming the first bad row, if it is INVALID."""
        if status == INVALID:
            self.raise_invalid()
        return status

    def raise_invalid(self) -> NoReturn:
        """Raise the ValueError that names the defect of the rays and the first bad row."""
        first, second = self.names or (("starts", "ends") if self.options[0] else ("origins", "directions"))
        validate.vectors(self.first, first)
        (validate.vectors if self.options[0] else _directions)(self.second, second, len(self.first))
        raise_changed(first, second)


def some_rows(column: NDArray[Scalar], rows: slice | Int64Array) -> NDArray[Scalar]:
    """Some entries of a column with an entry per ray, or one for all."""
    return column[rows] if len(column) > 1 else column


def as_pairs(first: ArrayLike, second: ArrayLike, names: tuple[str, str]) -> tuple[Float64Array, Float64Array]:
    """Two arrays of `validate.as_vectors` with equally many rows; one row of either is repeated for the other."""
    if ARE_VECTORS(first, second):
        return first, second  # type: ignore[return-value]
    one, other = validate.as_vectors(first, names[0]), validate.as_vectors(second, names[1])
    rows, other_rows = len(one), len(other)
    if rows == other_rows:
        return one, other
    if rows == 1:
        return memory.copies_of(one, other_rows), other
    if other_rows == 1:
        return one, memory.copies_of(other, rows)
    raise ValueError(
        f"{names[1]}: expected {rows} rows, as many as {names[0]}, or one for all, got {other_rows}; "
        "rows belong together one by one"
    )


class Filters(TypedDict, total=False):
    """Options of all queries, as `Queries` explains them."""

    mask: ArrayLike
    ignore_character: ArrayLike | None
    threads: int | None


class CastOptions(TypedDict, total=False):
    """Options of all queries about rays."""

    inside: InsidePolicy
    mask: ArrayLike
    ignore_character: ArrayLike | None
    threads: int | None
    radius: ArrayLike


def segment_request(
    starts: ArrayLike,
    ends: ArrayLike,
    *,
    inside: InsidePolicy = "hit",
    mask: ArrayLike = ALL_LAYERS,
    ignore_character: ArrayLike | None = None,
    threads: int | None = None,
    radius: ArrayLike = 0.0,
) -> RayRequest:
    """A request about closed segments from starts to ends, (n, 3) each, or one for all."""
    if not ARE_VECTORS(starts, ends):
        starts, ends = as_pairs(starts, ends, ("starts", "ends"))
    return RayRequest(starts, ends, True, validate.NO_LIMIT, inside, mask, ignore_character, threads, radius)  # type: ignore[arg-type]


def ray_request(
    origins: ArrayLike,
    directions: ArrayLike,
    *,
    max_distance: ArrayLike = np.inf,
    inside: InsidePolicy = "hit",
    mask: ArrayLike = ALL_LAYERS,
    ignore_character: ArrayLike | None = None,
    threads: int | None = None,
    radius: ArrayLike = 0.0,
) -> RayRequest:
    """A request about rays from origins along directions, (n, 3), or one for all; so is `max_distance`, a length."""
    if not ARE_VECTORS(origins, directions):
        origins, directions = as_pairs(origins, directions, ("origins", "directions"))
    distance = as_distances(max_distance, len(origins))  # type: ignore[arg-type]
    return RayRequest(origins, directions, False, distance, inside, mask, ignore_character, threads, radius)  # type: ignore[arg-type]


PointRequest: TypeAlias = tuple[Float64Array, PointFilters, int | None]
"""Points, not yet checked, possibly in the caller's memory; filters of limbs; and `threads`."""

ANY_LIMB = PointFilters(validate.EVERY_LAYER, validate.IGNORE_NONE)


def point_request(
    points: ArrayLike,
    *,
    mask: ArrayLike = ALL_LAYERS,
    ignore_character: ArrayLike | None = None,
    threads: int | None = None,
) -> PointRequest:
    """A request about points, (n, 3)."""
    places = validate.as_vectors(points, "points")
    layers = validate.EVERY_LAYER if mask is ALL_LAYERS else validate.masks(mask, len(places))
    nobody = ignore_character is None
    ignored = validate.IGNORE_NONE if nobody else validate.ignored_characters(ignore_character, len(places))
    filters = ANY_LIMB if layers is validate.EVERY_LAYER and nobody else PointFilters(layers, ignored)
    return places, filters, None if threads is None else validate.workers(threads)


def take_rays(batch: RayBatch, rows: slice | Int64Array) -> RayBatch:
    """The given rays of a batch; mask and ignored characters stay those of the whole batch."""
    rays = batch.rays
    distance, radius = some_rows(rays.distance, rows), some_rows(rays.radius, rows)
    return batch._replace(rays=Rays(rays.origin[rows], rays.second[rows], rays.is_segment, distance, radius))


def batch_rows(batch: RayBatch, rows: slice | Int64Array) -> RayBatch:
    """The given rays of a batch, with their masks and ignored characters."""
    return take_rays(batch, rows)._replace(mask=some_rows(batch.mask, rows), ignored=some_rows(batch.ignored, rows))


def raise_changed(*names: str) -> NoReturn:
    """Raise the ValueError for arrays that changed during a query: the bad number that a loop read is gone."""
    which = ", ".join(dict.fromkeys(names))
    raise ValueError(f"{which}: expected numbers that stay unchanged while a query reads them, got others; pass copies")


def as_distances(max_distance: ArrayLike, rows: int) -> Float64Array:
    """Largest distances of rays in metres: (rows,), or (1,) for all; inf is allowed."""
    given: object = max_distance
    if isinstance(given, float) and given == np.inf:
        return validate.NO_LIMIT
    distance = validate.one_or_numbers(max_distance, "max_distance", rows)
    row = validate.first_bad_row(~((distance >= 0.0) & ((distance <= LARGEST_NUMBER) | (distance == np.inf))))
    if row is not None:
        raise ValueError(
            f"max_distance: expected >= 0 and at most 2**500 (about 3e150; inf for no limit), got "
            f"{distance[row].tolist()} in row {row}"
        )
    return distance


def _radii(radius: ArrayLike, rows: int) -> Float64Array:
    """Radii of thick rays: (rows,), or (1,) for all; (0,) if all are 0."""
    given: object = radius
    if isinstance(given, float) and given == 0.0:
        return validate.NO_RADIUS
    radii = validate.in_range(validate.one_or_numbers(radius, "radius", rows), "radius")
    return validate.sizes_or_zero(radii, "radius") if radii.any() else validate.NO_RADIUS


def radii_of(request: RayRequest) -> Float64Array:
    """The radius of each ray, (n,)."""
    return np.broadcast_to(request.radius if len(request.radius) else 0.0, len(request.first))


def _directions(values: ArrayLike, name: str, rows: int) -> Float64Array:
    """Directions (rows, 3) of any length that a size may have."""
    array = validate.vectors(values, name, rows)
    row = validate.first_bad_row(shapes.short(array))
    if row is not None:
        raise ValueError(
            f"{name}: expected a direction other than zero, its largest component at least 2**-500 (about 3e-151), "
            f"got {array[row].tolist()} in row {row}; cast a segment with start = end for a point test"
        )
    return array
