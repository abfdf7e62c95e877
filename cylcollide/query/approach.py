"""Segments at limbs that may be elsewhere, and blades that are swept: from arguments to results."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import (
    ALL_LAYERS,
    NO_LIMB,
    BoolArray,
    Doubt,
    Float64Array,
    Int8Array,
    Int32Array,
    Int64Array,
)
from cylcollide.constants import SMALLEST_SIZE
from cylcollide.query.chords import chords
from cylcollide.query.loops.approach import find_doubtful, sweep_blades
from cylcollide.query.loops.columns import CompressedRows, find_rows, offsets_of, ray_of_each
from cylcollide.query.loops.inputs import PointFilters
from cylcollide.query.request import LabelledLimbs, State, point_request, segment_request
from cylcollide.query.results import LimbFields, Surface
from cylcollide.runtime.memory import frozen
from cylcollide.runtime.threads import in_chunks

RESOLUTION = 2.0**-10
"""Of the time of a stroke."""


class DoubtRequest(NamedTuple):
    """Segments, and how far limbs may be from where they are."""

    starts: Float64Array
    ends: Float64Array
    radius: Float64Array
    filters: PointFilters
    threads: int | None


def doubt_request(
    starts: ArrayLike,
    ends: ArrayLike,
    radius: ArrayLike,
    *,
    mask: ArrayLike = ALL_LAYERS,
    ignore_character: ArrayLike | None = None,
    threads: int | None = None,
) -> DoubtRequest:
    """A request about closed segments from starts to ends, (n, 3) each, or one for all; `radius` is one, or (n,)."""
    first, last = _pairs(starts, ends, ("starts", "ends"))
    _, filters, workers = point_request(first, threads, mask=mask, ignore_character=ignore_character)
    return DoubtRequest(first, last, _radii(radius, len(first)), filters, workers)


@dataclass(frozen=True, eq=False)
class Doubts:
    """Whether segments hit limbs that may be elsewhere; no array can be written.

    CERTAIN and EXCLUDED are proved; DEPENDS is said where neither is, perhaps too often.
    """

    verdict: Int8Array
    """`Doubt` of each segment: does it hit any limb; int8 (n,)."""
    offsets: Int64Array
    """Where the limbs of each segment begin in the following columns, and the last end; int64 (n + 1,)."""
    limb: Int32Array
    """Limbs that are not excluded, ascending for each segment; int32, one a limb."""
    limb_verdict: Int8Array
    """`Doubt` of each of these, CERTAIN or DEPENDS."""

    def __len__(self) -> int:
        return len(self.verdict)

    @property
    def query(self) -> Int64Array:
        """The segment of each limb; int64, one a limb."""
        return ray_of_each(self.offsets)


def doubt(state: State, request: DoubtRequest) -> Doubts:
    """Which limbs each segment may hit, if each limb is anywhere within the radius of its place."""
    n = len(request.radius)
    loose, stated = np.flatnonzero(request.radius > 0.0), np.flatnonzero(request.radius == 0.0)
    parts = [(loose, _doubtful(state, request, loose)), (stated, _crossed(state, request, stated))]
    ray = np.concatenate([rows[ray_of_each(offsets)] for rows, (offsets, _) in parts])
    code = np.concatenate([codes for _, (_, codes) in parts])
    order = np.lexsort((code, ray))
    ray, limb, verdict = ray[order], code[order] >> 1, np.where(code[order] & 1, Doubt.CERTAIN, Doubt.DEPENDS)
    of_segment = np.full(n, Doubt.EXCLUDED, np.int8)
    np.maximum.at(of_segment, ray, verdict.astype(np.int8))
    offsets, limbs, of_limb = offsets_of(ray, n), limb.astype(np.int32), verdict.astype(np.int8)
    return Doubts(frozen(of_segment), frozen(offsets), frozen(limbs), frozen(of_limb))


def _doubtful(state: State, request: DoubtRequest, rows: Int64Array) -> CompressedRows:
    """Twice each limb that is not excluded, and one more if it is certain; of some segments."""
    segments = request.starts[rows], request.ends[rows], request.radius[rows]
    mask, ignored = request.filters
    filters = PointFilters(mask[rows] if len(mask) > 1 else mask, ignored[rows] if len(ignored) > 1 else ignored)
    return find_rows(len(rows), partial(find_doubtful, *segments, filters, state.kernel_rows))


def _crossed(state: State, request: DoubtRequest, rows: Int64Array) -> CompressedRows:
    """The same of segments whose limbs are where they are: those that they cross."""
    mask, ignored = (column[rows] if len(column) > 1 else np.repeat(column, len(rows)) for column in request.filters)
    exact = segment_request(request.starts[rows], request.ends[rows], "hit", mask, ignored, request.threads)
    found = chords(state, exact, request.threads)
    pairs = np.unique(np.stack([found.ray, found.limb], axis=1), axis=0)
    return offsets_of(pairs[:, 0], len(rows)), (2 * pairs[:, 1] + 1).astype(np.int32)


# Blades ---------------------------------------------------------------------------------------------------------------


class SweepRequest(NamedTuple):
    """Blades that go from some ends to others in one unit of time."""

    ends: tuple[Float64Array, Float64Array, Float64Array, Float64Array]
    radius: Float64Array
    resolution: float
    filters: PointFilters
    threads: int | None


def sweep_request(
    p1: ArrayLike,
    p2: ArrayLike,
    to_p1: ArrayLike,
    to_p2: ArrayLike,
    radius: ArrayLike,
    *,
    resolution: float = RESOLUTION,
    mask: ArrayLike = ALL_LAYERS,
    ignore_character: ArrayLike | None = None,
    threads: int | None = None,
) -> SweepRequest:
    """A request about capsules whose ends go straight from p1 and p2 to `to_p1` and `to_p2`, (n, 3) each."""
    names = ("p1", "p2", "to_p1", "to_p2")
    given = [validate.as_vectors(ends, name) for ends, name in zip((p1, p2, to_p1, to_p2), names, strict=True)]
    n = max(map(len, given))
    ends = [validate.vectors(np.repeat(one, n, axis=0) if len(one) == 1 else one, name, n)
            for one, name in zip(given, names, strict=True)]  # fmt: skip
    number = validate.is_real(resolution) and not isinstance(resolution, bool)
    if not (number and 2.0**-30 <= resolution <= 1.0):
        raise ValueError(f"resolution: expected a number from 2**-30 to 1, a share of the time, got {resolution!r}")
    _, filters, workers = point_request(ends[0], threads, mask=mask, ignore_character=ignore_character)
    first, second, third, fourth = ends
    return SweepRequest((first, second, third, fourth), _radii(radius, n), float(resolution), filters, workers)


class SweptHits(LimbFields):
    """What blades touch first; arrays that cannot be written.

    The true first contact lies in [fraction - resolution, fraction]. Where `undecided`, an earlier contact, or any at
    all, could be neither shown nor excluded.
    """

    _what = "blades"
    fields: ClassVar[tuple[str, ...]] = (
        *("hit", "fraction", "position", "undecided", "limb", "character", "static", "limb_name", "hit_group"),
        *("bone", "rig_limb"),
    )

    def __init__(
        self, limbs: LabelledLimbs, row: Int32Array, fraction: Float64Array, position: Float64Array, open_: BoolArray
    ) -> None:
        self._limbs, self._row, self._columns = limbs, row, {}
        self._fraction, self._position, self._undecided = fraction, position, open_

    def _summary(self) -> str:
        hits, undecided = np.count_nonzero(self.hit), np.count_nonzero(self.undecided)
        return f"SweptHits({len(self)} blades, {hits} hits, {undecided} undecided)"

    def _take(self, rows: Int64Array) -> Self:
        columns = self._row, self._fraction, self._position, self._undecided
        return type(self)(self._limbs, *(column[rows] for column in columns))  # type: ignore[arg-type]

    @property
    def hit(self) -> BoolArray:
        """Whether there is certainly a contact; bool (n,)."""
        return frozen(self._row >= 0)

    @property
    def fraction(self) -> Float64Array:
        """The time of the first contact, 0 to 1, too late by at most the resolution; inf for a miss; (n,)."""
        return frozen(self._fraction)

    @property
    def position(self) -> Float64Array:
        """The limb's place nearest to the blade then, NaN for a miss; (n, 3)."""
        return frozen(self._position)

    @property
    def undecided(self) -> BoolArray:
        """Whether a contact before `fraction` could be neither shown nor excluded; bool (n,)."""
        return frozen(self._undecided)

    @property
    def _surface(self) -> Surface:
        return self.position, np.full_like(self.position, np.nan)


def sweep(state: LabelledLimbs, request: SweepRequest) -> SweptHits:
    """What each blade touches first."""
    n, table = len(request.radius), state.kernel_rows
    limb, fraction, undecided = np.full(n, NO_LIMB, np.int32), np.empty(n), np.empty(n, np.bool_)
    position = np.full((n, 3), np.nan)

    def task(begin: int, end: int) -> None:
        columns = limb, fraction, undecided, position
        sweep_blades(request.ends, request.radius, request.resolution, request.filters, table, begin, end, *columns)

    in_chunks(n, request.threads, task)
    return SweptHits(state, limb, fraction, position, undecided)


def _pairs(first: ArrayLike, second: ArrayLike, names: tuple[str, str]) -> tuple[Float64Array, Float64Array]:
    """Two arrays of accepted vectors, row by row, or one of either for all."""
    one, other = validate.as_pairs(first, second, names)
    return validate.vectors(one, names[0]), validate.vectors(other, names[1], len(one))


def _radii(radius: ArrayLike, n: int) -> Float64Array:
    """Radii (n,), 0 or as large as a size may be."""
    radii = validate.per_row(radius, "radius", n)
    row = validate.first_bad_row((radii != 0.0) & (radii < SMALLEST_SIZE))
    if row is not None:
        raise ValueError(
            f"radius: expected 0, or at least 2**-500 (about 3e-151), got {radii[row]} in row {row}; give lengths"
        )
    return radii
