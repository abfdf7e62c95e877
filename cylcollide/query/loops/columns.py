"""What loops write, as columns: the hit of each ray, and chords."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cylcollide._types import NO_LIMB, BoolArray, Face, Float64Array, Int8Array, Int32Array, Int64Array
from cylcollide.runtime import memory


class HitColumns(NamedTuple):
    """The closest hit of each ray, written while the query runs; n rows."""

    limb: Int32Array  # -1 on a miss
    fraction: Float64Array  # inf on a miss
    face: Int8Array
    inside: BoolArray  # the ray starts in some limb, hit or not
    undecided: BoolArray  # the bounds leave the row open, and the columns above are not the result


HIT_DTYPES = [np.dtype(kind) for kind in (np.float64, np.int32, np.int8, np.bool_, np.bool_)]
"""Of fraction, limb, face, inside, undecided."""


def empty_hits(n: int) -> HitColumns:
    """Columns of n rows, not initialised."""
    fraction, limb, face, inside, undecided = memory.columns(n, *HIT_DTYPES)
    return HitColumns(limb, fraction, face, inside, undecided)


class ChordColumns(NamedTuple):
    """The chord of each ray in the limb that it hits; fractions as double-doubles."""

    limb: Int32Array  # (n,), -1 on a miss
    entry: Float64Array  # (n, 2), high and low word; NaN on a miss
    exit: Float64Array  # (n, 2); inf on a miss
    entry_face: Int8Array  # INSIDE where the ray starts in the limb
    exit_face: Int8Array  # INSIDE where the ray ends in the limb


CHORD_DTYPES = [np.dtype(kind) for kind in (np.int32, np.int8, np.int8)]
"""Of limb, entry_face, exit_face."""


def empty_chords(n: int) -> ChordColumns:
    """Columns of n chords, not initialised."""
    ends = memory.rows((2, n, 2))
    limb, entry_face, exit_face = memory.columns(n, *CHORD_DTYPES)
    return ChordColumns(limb, ends[0], ends[1], entry_face, exit_face)


def missed_chords(n: int) -> ChordColumns:
    """Columns of n misses."""
    chords = empty_chords(n)
    chords.limb[:], chords.entry[:], chords.exit[:] = NO_LIMB, np.nan, np.inf
    chords.entry_face[:] = chords.exit_face[:] = Face.NONE
    return chords


def take_chords(chords: ChordColumns, rows: BoolArray | Int64Array) -> ChordColumns:
    """The chords of the given rows, or of a mask."""
    return ChordColumns._make(column[rows] for column in chords)


def concat_chords(parts: Sequence[ChordColumns]) -> ChordColumns:
    """The chords of all parts, one part after another."""
    return ChordColumns._make(np.concatenate(columns) for columns in zip(*parts, strict=True))


class ChordRows(NamedTuple):
    """Chords in compressed rows (CSR): those of ray i are rows `offsets[i]` to `offsets[i + 1]`."""

    offsets: Int64Array  # one more than rays
    chords: ChordColumns
    rechecked: int  # how many rays were undecided


def ray_of_each(offsets: Int64Array) -> Int64Array:
    """The ray of each chord."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def offsets_of(ray: Int64Array, rays: int) -> Int64Array:
    """Offsets (rays + 1,) of chords that are sorted by ray, from the ray of each."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(ray, minlength=rays))))


def concat_chord_rows(parts: Sequence[ChordRows]) -> ChordRows:
    """The compressed rows of all parts, one part after another."""
    if len(parts) == 1:
        return parts[0]
    begins = np.cumsum([0, *(len(part.chords.limb) for part in parts)])
    offsets = [part.offsets[:-1] + begin for part, begin in zip(parts, begins[:-1], strict=True)]
    chords = concat_chords([part.chords for part in parts])
    return ChordRows(np.concatenate((*offsets, begins[-1:])), chords, sum(part.rechecked for part in parts))
