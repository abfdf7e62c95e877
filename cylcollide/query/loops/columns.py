"""Output columns of the loops: one hit per ray, and chords or other numbers per ray in compressed rows (CSR)."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import (
    NO_LIMB,
    BoolArray,
    Column,
    Face,
    Float64Array,
    Int8Array,
    Int32Array,
    Int64Array,
    Rows,
    Uint32Array,
)
from cylcollide.runtime import memory
from cylcollide.runtime.compile import compiled_loop, inlined

Fields = TypeVar("Fields", bound=tuple[Any, ...])

NONE = int(Face.NONE)
DTYPES: dict[Any, np.dtype[Any]] = {
    Float64Array: memory.FLOAT64,
    Int32Array: np.dtype(np.int32),
    Int64Array: np.dtype(np.int64),
    Int8Array: np.dtype(np.int8),
    Uint32Array: np.dtype(np.uint32),
    BoolArray: np.dtype(np.bool_),
}


def columns_of(kind: type[Fields], n: int, *first: NDArray[Any]) -> Fields:
    """A named tuple: its first fields as given, the others uninitialised columns (n,), of the dtypes they declare."""
    dtypes = _dtypes(kind)[len(first) :]
    return kind(*first, *[memory.column(n, dtype) for dtype in dtypes])


@cache
def _dtypes(kind: type[Any]) -> list[np.dtype[Any]]:
    """The dtypes of its fields, from a table: versions of Python and numpy build array types differently."""
    return [DTYPES[hint] for hint in get_type_hints(kind).values()]


class HitColumns(NamedTuple):
    """The closest hit of each ray, written while the query runs; n rows."""

    limb: Column[np.int32]  # -1 on a miss
    fraction: Column[np.float64]  # inf on a miss
    face: Column[np.int8]
    inside: Column[np.bool_]  # the ray starts in some limb, hit or not
    undecided: Column[np.bool_]  # the bounds do not decide the row, and the columns above are not the result


def empty_hits(n: int) -> HitColumns:
    """Columns of n rows, not initialised."""
    return columns_of(HitColumns, n)


HIT_ROWS = 2
"""Numbers of a record that `HitColumns` take per ray, from its beginning on (`hits_in`)."""

IN_RECORD: dict[str, tuple[int, np.dtype[Any]]] = {
    "fraction": (0, memory.FLOAT64),
    "limb": (8, np.dtype(np.int32)),
    "face": (12, np.dtype(np.int8)),
    "inside": (13, np.dtype(np.bool_)),
    "undecided": (14, np.dtype(np.bool_)),
}
"""The offset of each column in the record, in bytes per ray, and its dtype."""


@inlined
def hits_in(record: Float64Array, n: int) -> HitColumns:
    """Columns of n hits at the beginning of a record: fractions, and seven bytes per ray for all else."""
    limb, rest = record[n : 2 * n].view(np.int32)[:n], record[n : 2 * n].view(np.int8)
    inside, undecided = rest[5 * n : 6 * n].view(np.bool_), rest[6 * n : 7 * n].view(np.bool_)
    return HitColumns(limb, record[:n], rest[4 * n : 5 * n], inside, undecided)


@inlined
def count_undecided(hits: HitColumns, begin: int, end: int) -> int:
    """How many of the rows from `begin` to `end` are undecided."""
    count = 0
    for i in range(begin, end):
        count += hits.undecided[i]
    return count


@inlined
def clear_hits(hits: HitColumns, begin: int, end: int) -> None:
    """Write misses into the rows from `begin` to `end`."""
    hits.limb[begin:end] = NO_LIMB
    hits.fraction[begin:end] = np.inf
    hits.face[begin:end] = NONE
    hits.inside[begin:end] = False
    hits.undecided[begin:end] = False


def missed_hits(n: int) -> HitColumns:
    """Columns of n misses."""
    hits = empty_hits(n)
    clear_hits(hits, 0, n)
    return hits


class ChordColumns(NamedTuple):
    """Chords of rays in limbs; fractions as double-doubles."""

    entry: Rows[np.float64]  # (n, 2), high and low word; NaN on a miss
    exit: Rows[np.float64]  # (n, 2); inf on a miss
    limb: Column[np.int32]  # -1 on a miss
    entry_face: Column[np.int8]  # INSIDE where the ray starts in the limb
    exit_face: Column[np.int8]  # INSIDE where the ray ends in the limb
    fraction: Column[np.float64]  # of the entry, as a cast rounds it
    exact_hit: Column[np.bool_]  # kernels do not decide the entry, even of this limb alone
    exact_chord: Column[np.bool_]  # kernels do not decide the whole chord, even of this limb alone
    is_open: Column[np.bool_]  # bounds leave open whether there is such a chord, or whether it is the first

    @property
    def extent(self) -> Float64Array:
        """Length of each chord in units of its ray's fraction; (n,)."""
        extent: Float64Array = (self.exit[:, 0] - self.entry[:, 0]) + (self.exit[:, 1] - self.entry[:, 1])
        return extent


def empty_chords(n: int) -> ChordColumns:
    """Columns of n chords, not initialised."""
    ends = memory.rows((2, n, 2))
    return columns_of(ChordColumns, n, ends[0], ends[1])


def take_chords(chords: ChordColumns, rows: BoolArray | Int64Array) -> ChordColumns:
    """The chords of the given rows, or of a mask."""
    return ChordColumns._make(column[rows] for column in chords)


def put_chords(chords: ChordColumns, rows: Int64Array, part: ChordColumns) -> None:
    """Write chords into the given rows of others."""
    for name in ChordColumns._fields:
        getattr(chords, name)[rows] = getattr(part, name)


Record: TypeAlias = tuple[Float64Array, Float64Array]
"""Memory of a query's hits (`hits_in`), and of its copies of the rays (`loops.inputs.batch_in`)."""

INT32 = np.dtype(np.int32)

CompressedRows: TypeAlias = tuple[Int64Array, Int32Array]
"""Offsets (n + 1,) and numbers: those of ray or point i are `numbers[offsets[i]:offsets[i + 1]]`."""


def find_rows(n: int, find: Callable[[Int64Array, Int32Array], int]) -> CompressedRows:
    """Compressed rows of n rays that `find(offsets, numbers)` writes; it returns how many numbers there are.

    If they exceed the size of `numbers`, `find` is called again with a larger array.
    """
    offsets, numbers = np.zeros(n + 1, np.int64), memory.rows((4 * n + 64,), INT32)
    used = find(offsets, numbers)
    if used > len(numbers):
        numbers = memory.rows((used,), INT32)
        used = find(offsets, numbers)  # fewer, if its reach shrinks as it goes
    return offsets, numbers[:used]


def rows_of_pairs(pairs: Int32Array, begin: int, n: int, are_sorted: bool) -> CompressedRows:
    """Compressed rows of the n rays `begin`, `begin` + 1, ..., from pairs (k, 2) of a ray and a number.

    `are_sorted`: whether to sort the numbers of each ray, ascending.
    """
    offsets, numbers = np.empty(n + 1, np.int64), memory.rows((len(pairs),), INT32)
    sort_pairs(pairs, begin, are_sorted, offsets, numbers)
    return offsets, numbers


@compiled_loop
def sort_pairs(
    pairs: Rows[np.int32], begin: int, are_sorted: bool, offsets: Column[np.int64], numbers: Column[np.int32]
) -> None:
    """Write `rows_of_pairs`."""
    offsets[0] = 0
    sort_rows(pairs[:, 0], pairs[:, 1], len(pairs), 0, begin, 0, offsets.size - 1, are_sorted, offsets, numbers)


@inlined
def sort_rows(
    rays: Int32Array, of_rays: Int32Array, count: int, used: int, begin: int, first: int, last: int, are_sorted: bool,
    offsets: Int64Array, numbers: Int32Array,
) -> None:  # fmt: skip
    """Write compressed rows `first` to `last`, of `count` pairs, by a counting sort; `used` numbers precede them.

    The rays of the pairs are overwritten.
    """
    offsets[first + 1 : last + 1] = 0
    for k in range(count):
        offsets[rays[k] - begin + 1] += 1
    total = used
    for i in range(first + 1, last + 1):  # where each ray begins, and where it ends once its numbers are written
        offsets[i], total = total, total + offsets[i]
    for k in range(count):
        i = rays[k] - begin + 1
        numbers[offsets[i]] = of_rays[k]
        offsets[i] += 1
    several = 0
    for i in range(first, last if are_sorted and count > 0 else first):
        rays[several] = i
        several += offsets[i + 1] - offsets[i] > 1
    for k in range(several):  # the first two or three are sorted without a branch; few rays have more
        one, end = offsets[rays[k]], offsets[rays[k] + 1]
        two, three = one + 1, min(one + 2, end - 1)
        low, high, other = min(numbers[one], numbers[two]), max(numbers[one], numbers[two]), numbers[three]
        numbers[one], numbers[two], numbers[three] = min(low, other), max(low, min(high, other)), max(high, other)
        if end - one > 3:
            sort_part(numbers, one, end)


@inlined
def sort_part(numbers: Int32Array, first: int, last: int) -> None:
    """Sort the few numbers from `first` to `last`, ascending."""
    for k in range(first + 1, last):
        j, number = k, numbers[k]
        while j > first and numbers[j - 1] > number:
            numbers[j] = numbers[j - 1]
            j -= 1
        numbers[j] = number


class ChordRows(NamedTuple):
    """Chords of n rays in compressed rows (CSR): those of ray i are rows `offsets[i]` to `offsets[i + 1]`."""

    offsets: Int64Array  # (n + 1,)
    undecided: BoolArray  # (n,): rays that needed exact arithmetic
    chords: ChordColumns


def ray_of_each(offsets: Int64Array) -> Int64Array:
    """The ray of each chord."""
    return np.arange(len(offsets) - 1).repeat(offsets[1:] - offsets[:-1])


def offsets_of(ray: Int64Array, rays: int) -> Int64Array:
    """Offsets (rays + 1,) of chords that are sorted by ray, from the ray of each."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(ray, minlength=rays))))


def filter_chord_rows(rows: ChordRows, kept: BoolArray) -> ChordRows:
    """The chords of a mask, of the same rays."""
    offsets = offsets_of(ray_of_each(rows.offsets)[kept], len(rows.undecided))
    return ChordRows(offsets, rows.undecided, take_chords(rows.chords, kept))


def chords_of_rays(offsets: Int64Array, rays: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Offsets of the chords of the given rays, which are numbered anew, and the rows of these chords."""
    counts = np.diff(offsets)[rays]
    begins = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    return begins, np.repeat(offsets[rays] - begins[:-1], counts) + np.arange(begins[-1])


def take_rays_of_chords(rows: ChordRows, rays: Int64Array) -> ChordRows:
    """The chords of the given rays, which are numbered anew."""
    offsets, taken = chords_of_rays(rows.offsets, rays)
    return ChordRows(offsets, rows.undecided[rays], take_chords(rows.chords, taken))


def concat_chord_rows(parts: Sequence[ChordRows]) -> ChordRows:
    """The compressed rows of all parts, one part after another."""
    if len(parts) == 1:
        return parts[0]
    begins = np.cumsum([0, *(len(part.chords.limb) for part in parts)])
    offsets = [part.offsets[:-1] + begin for part, begin in zip(parts, begins[:-1], strict=True)]
    chords = (np.concatenate(columns) for columns in zip(*(part.chords for part in parts), strict=True))
    undecided = np.concatenate([part.undecided for part in parts])
    return ChordRows(np.concatenate((*offsets, begins[-1:])), undecided, ChordColumns._make(chords))
