"""Every limb along each ray: from a request to `Chords`, whose fields are mostly computed when they are first read."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import ClassVar, Self, TypeAlias

import numpy as np

from cylcollide._types import (
    NO_LIMB,
    POLICY_HIT,
    Aim,
    BoolArray,
    Face,
    Float64Array,
    InsidePolicy,
    Int8Array,
    Int64Array,
)
from cylcollide.constants import LIMBS_CROSSED
from cylcollide.process.files import Columns
from cylcollide.process.threads import in_chunks
from cylcollide.query import exact_fallback
from cylcollide.query.closest import use_single_rays
from cylcollide.query.loops import chords as chord_loops
from cylcollide.query.loops.columns import (
    INT32,
    ChordColumns,
    ChordRows,
    CompressedRows,
    concat_chord_rows,
    empty_chords,
    filter_chord_rows,
    ray_of_each,
    rows_of_pairs,
    take_rays_of_chords,
)
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.judge import ShotChords
from cylcollide.query.loops.stream import cast_stream
from cylcollide.query.request import LabelledLimbs, RayRequest, State, take_rays
from cylcollide.query.result import Computed, Field
from cylcollide.query.results import LimbFields, Surface, distances, gather, ray_lengths, surface_at
from cylcollide.query.scratch import scratch_for_streams
from cylcollide.runtime import memory
from cylcollide.runtime.memory import frozen

NOT_READ = np.empty(0)
"""Placeholder for lengths that are not read."""


class Chords(LimbFields):
    """Every limb that each ray crosses, sorted along the ray, in compressed rows; read-only arrays.

    The chords of ray i are rows `offsets[i]:offsets[i + 1]`; all other columns have one entry a
    chord. Lengths are in the unit of the input, fractions are parameters of the ray. A chord that
    begins at the start of the ray or ends at its end has the face INSIDE and a zero normal there.

    `chords[i]` has the chords of ray i; a slice, a mask or an array of rays has those of several,
    as `Chords` whose rays are numbered anew. Iteration goes from ray to ray; `len` counts chords.
    For a query in the past, `time`, `tick`, `alpha` and `clamped` have one entry per ray.
    """

    _what = "chords"
    _of_queries = ("undecided",)
    fields: ClassVar[tuple[str, ...]] = (
        *("ray", "limb", "limb_name", "hit_group", "character", "static", "bone", "rig_limb"),
        *("entry_fraction", "entry_distance", "entry_position", "entry_normal", "entry_face"),
        *("local_position", "local_normal"),
        *("exit_fraction", "exit_distance", "exit_position", "exit_normal", "exit_face", "thickness"),
    )

    entry_fraction = Field[Float64Array](
        "Parameter at which the ray enters the limb, 0 if it starts there.", "_crossings"
    )
    exit_fraction = Field[Float64Array]("Parameter at which the ray leaves the limb or ends in it.", "_crossings")
    entry_face = Field[Int8Array]("`Face` the ray enters by, INSIDE if it starts in the limb; int8.", "_crossings")
    exit_face = Field[Int8Array]("`Face` the ray leaves by, INSIDE if it ends in the limb; int8.", "_crossings")
    entry_position = Field[Float64Array](
        "Point where the ray enters the limb, or starts in it; (chords, 3).", "_entries"
    )
    entry_normal = Field[Float64Array]("Unit outward normal at the entry, zero for INSIDE; (chords, 3).", "_entries")
    exit_position = Field[Float64Array]("Point where the ray leaves the limb or ends in it; (chords, 3).", "_exits")
    exit_normal = Field[Float64Array](
        "Unit outward normal there, zero if the ray ends in the limb; (chords, 3).", "_exits"
    )

    def __init__(self, batch: RayBatch, limbs: LabelledLimbs, rows: ChordRows) -> None:
        self._batch, self._limbs, self._rows, self._row, self._columns = batch, limbs, rows, rows.chords.limb, {}

    def _crossings(self) -> Columns:
        chords = self._rows.chords
        return {
            "entry_fraction": chords.fraction,
            "exit_fraction": chords.exit[:, 0],
            "entry_face": chords.entry_face,
            "exit_face": chords.exit_face,
        }

    @property
    def _count(self) -> int:
        return len(self._rows.undecided)

    def _take(self, rows: Int64Array) -> Self:
        return type(self)(take_rays(self._batch, rows), self._limbs, take_rays_of_chords(self._rows, rows))

    def _summary(self) -> str:
        return f"Chords({len(self)} chords of {self._count} rays, {self.rechecked} rechecked)"

    def _flight(self, needs_length: bool) -> ShotChords:
        """The chords and the labels of their limbs, as a policy reads them."""
        rows, limbs, labels = self._rows, self._limbs, self._limbs._labels
        length, character = ray_lengths(self._batch.rays) if needs_length else NOT_READ, limbs._kernel_rows.character
        return ShotChords(rows.offsets, rows.chords, length, labels.hit_group, character, labels.static)

    def _entry_distances(self, chord: Int64Array) -> Float64Array:
        """Distance to the entry of one chord of each ray, inf for the chord -1; (rays,)."""
        return distances(gather(self._rows.chords.fraction, chord, np.inf), ray_lengths(self._batch.rays))

    def _entry_surface(self, chord: Int64Array) -> Surface:
        """Position and normal at the entry of a chord of each ray, NaN for chord -1; (rays, 3) each."""
        chords, batch = self._rows.chords, self._batch._replace(policy=POLICY_HIT)
        limb, face = gather(chords.limb, chord, NO_LIMB), gather(chords.entry_face, chord, int(Face.NONE))
        fraction, exact = gather(chords.fraction, chord, np.inf), np.flatnonzero(gather(chords.exact_hit, chord, False))
        return surface_at(batch, self._limbs, limb, fraction, face, (exact, chords.entry[chord[exact]]), False)

    @property
    def rechecked(self) -> int:
        """How many rays needed exact arithmetic."""
        return int(np.count_nonzero(self._rows.undecided))

    @Computed
    def undecided(self) -> BoolArray:
        """Whether a thick ray's chord is undecided, in a tapered limb or ellipsoid; bool (rays,)."""
        rows = np.zeros(self._count, np.bool_)
        np.logical_or.at(rows, self.ray, self._rows.chords.is_open)
        return frozen(rows)

    @property
    def offsets(self) -> Int64Array:
        """Where the chords of each ray begin, and the last end; int64 (rays + 1,)."""
        return frozen(self._rows.offsets)

    @Computed
    def ray(self) -> Int64Array:
        """Row of the ray; int64, one per chord."""
        return frozen(ray_of_each(self._rows.offsets))

    @property
    def _ray_of_row(self) -> Int64Array:
        return self.ray

    @cached_property
    def _length(self) -> Float64Array:
        """Length of one unit of fraction; one per chord."""
        return ray_lengths(self._batch.rays)[self.ray]

    @Computed
    def thickness(self) -> Float64Array:
        """Length of the chord; one per chord."""
        return frozen(self._rows.chords.extent * self._length)

    @Computed
    def entry_distance(self) -> Float64Array:
        """Distance from the start of the ray to the entry; one per chord."""
        return distances(self.entry_fraction, self._length)

    @Computed
    def exit_distance(self) -> Float64Array:
        """Distance from the start of the ray to the exit; one per chord."""
        return distances(self.exit_fraction, self._length)

    @cached_property
    def _ray_of_each(self) -> RayBatch:
        """The ray of each chord, with the policy `hit`, so that every entry is that of a ray that starts outside."""
        return take_rays(self._batch, self.ray)._replace(policy=POLICY_HIT)

    @property
    def _surface(self) -> Surface:
        return self.entry_position, self.entry_normal

    def _entries(self) -> Columns:
        chords, exact = self._rows.chords, np.flatnonzero(self._rows.chords.exact_hit)
        ends = exact, chords.entry[exact]
        position, normal = surface_at(
            self._ray_of_each, self._limbs, self._row, chords.fraction, chords.entry_face, ends, False
        )
        return {"entry_position": position, "entry_normal": normal}

    def _exits(self) -> Columns:
        chords, exact = self._rows.chords, np.flatnonzero(self._rows.chords.exact_chord)
        fraction, ends = np.ascontiguousarray(chords.exit[:, 0]), (exact, chords.exit[exact])
        position, normal = surface_at(self._ray_of_each, self._limbs, self._row, fraction, chords.exit_face, ends, True)
        return {"exit_position": position, "exit_normal": normal}


def chords(state: State, request: RayRequest) -> Chords:
    """Every limb along each ray, sorted by entry."""
    pieces = partial(possible_pieces, state, request)
    return Chords(request.batch, state, chord_rows(state, request, pieces))


Pieces: TypeAlias = Callable[[int, int], CompressedRows]
"""Maps a range of rays to the pieces of limbs that each of them may cross, as `pieces_of_rays` returns them."""


def chord_rows(limbs: LabelledLimbs, request: RayRequest, pieces: Pieces) -> ChordRows:
    """The chords of all rays in the pieces that they may cross."""
    batch, inside = request.batch, request.inside
    n, table = len(request.first), limbs._table

    def task(begin: int, end: int) -> ChordRows:
        offsets, codes = pieces(begin, end)
        found, undecided = empty_chords(len(codes)), np.empty(end - begin, bool)
        count = chord_loops.cast_chords(batch, limbs._kernel_rows, offsets, codes, begin, found, undecided)
        rows = ChordRows(offsets, undecided, found)
        return exact_fallback.resolve_chords(batch, table, inside, begin, rows, codes) if count else rows

    rows = concat_chord_rows(in_chunks(n, request.threads, task))
    if inside != "hit":
        rows = filter_chord_rows(rows, _counts_as_hit(ray_of_each(rows.offsets), rows.chords, inside))
    return rows


def possible_pieces(state: State, request: RayRequest, begin: int, end: int) -> CompressedRows:
    """Every piece of a limb that each of these rays may cross, as `pieces_of_rays` returns it.

    Found by a stream, unless the rays are few or cross more limbs than its buffer holds.
    """
    batch = request.batch
    if not use_single_rays(state, end - begin, len(request.radius) > 0):
        # not scratch: they are read after the loop, when a signal handler may have used the scratch of this thread
        crossed, crossings = memory.rows((LIMBS_CROSSED * (end - begin), 2), INT32), np.zeros(1, np.int64)
        scratch = scratch_for_streams(state._tree, end - begin)._replace(crossed=crossed, crossings=crossings)
        options = (*request.options[:-1], POLICY_HIT)
        rays = request.first, request.second, options, request.radius, request.copies, request.copies  # no hits
        request.checked(cast_stream(state._kernel_rows, state._tree, scratch, *rays, begin, end, int(Aim.ALL)))
        recorded = crossings.item()
        if recorded <= len(crossed):
            lists = rows_of_pairs(crossed[:recorded], begin, end - begin, False)
            return chord_loops.pieces_of_lists(batch, state._kernel_rows, begin, lists, True)
    request.copy_checked(begin, end)
    return chord_loops.pieces_of_rays(batch, state._kernel_rows, state._tree, np.arange(begin, end))


def _counts_as_hit(ray: Int64Array, found: ChordColumns, inside: InsidePolicy) -> BoolArray:
    """Whether a chord counts under the policy: a limb that contains the start may be ignored, or need an exit."""
    from_start = found.entry_face == int(Face.INSIDE)
    if inside == "exit":
        return np.asarray(~(from_start & (found.exit_face == int(Face.INSIDE))))
    pair = (ray << 32) | found.limb  # a tube may be crossed again behind its bore
    return np.asarray(~np.isin(pair, pair[from_start]))
