"""Limbs in files: columns in an .npz archive, checked on the way in as a constructor's arguments are.

Archives are read and written where no signal's handler runs: one that raises in zipfile's or numpy's destructors, or in
the middle of zipfile's bookkeeping, is lost or turned into another error.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from threading import Event
from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from cylcollide import validate
from cylcollide._types import ALL_LAYERS, NO_CHARACTER, BoolArray, Float64Array, Int32Array, Int64Array, Shape
from cylcollide.constants import LARGEST_NUMBER, SMALLEST_SIZE, UNIT_ROUNDOFF
from cylcollide.kernels.limb_table import LimbTable, make_table
from cylcollide.limbs import tables
from cylcollide.runtime.threads import uninterrupted
from cylcollide.shapes import SHAPE_RECORDS, Ends, Solids, check_axes, check_centres

HAS_AXIS, HAS_CENTRE = ({kind for kind, r in SHAPE_RECORDS.items() if r.ends == e} for e in (Ends.APART, Ends.ONE))
AXES_ERROR = 64.0 * UNIT_ROUNDOFF
"""A box's axes, computed in float64 from a quaternion, are orthonormal to 8 u a component (`kernels.axis.MARGIN`)."""

Columns = Mapping[str, NDArray[Any]]


def file_of(path: str | PathLike[str]) -> Path:
    """The file that a path names: with the suffix .npz, which is added if it is missing."""
    file = Path(path)
    return file if file.name.endswith(".npz") else file.with_name(file.name + ".npz")


@contextmanager
def named_in_errors(path: str | PathLike[str]) -> Iterator[None]:
    """Of what is read from a file here, the message of each ValueError begins with the file."""
    try:
        yield
    except ValueError as error:
        if str(error).startswith(str(Path(path))):
            raise
        raise ValueError(f"{Path(path)}: {error}") from None


def write(path: str | PathLike[str], table: LimbTable, hit_group: Int32Array, names: tuple[str, ...]) -> None:
    """Write limbs to a file; it is replaced when all is written, so that a failure leaves the old one."""
    columns: dict[str, Any] = {**tables.given_columns(table), "hit_group": hit_group}
    columns["names"] = np.frombuffer(json.dumps(names).encode(), np.uint8)  # text arrays lose zeros at the end
    replace(file_of(path), lambda stream: np.savez_compressed(stream, **columns))


def replace(file: Path, write_to: Callable[[BinaryIO], object]) -> None:
    """Write a file by a function of an open stream; it is replaced when all is written.

    An interrupt meanwhile leaves the old file, too, and no unfinished one: no handler cuts this short.
    """
    interrupted = Event()
    try:
        uninterrupted(lambda: _replace(file, write_to, interrupted))
    except BaseException:
        interrupted.set()
        raise


def _replace(file: Path, write_to: Callable[[BinaryIO], object], interrupted: Event) -> None:
    """Write beside a file, and put it in that file's place unless interrupted."""
    import tempfile  # noqa: PLC0415  imported when asked for

    handle, unfinished = tempfile.mkstemp(prefix=f".{file.stem}-", suffix=file.suffix, dir=file.parent)
    try:
        with open(handle, "wb") as stream:  # noqa: PTH123  # a descriptor, not a path
            write_to(stream)
        mode = os.stat(file).st_mode & 0o777 if file.exists() else 0o666 & ~_umask()  # noqa: PTH116
        os.chmod(unfinished, mode)  # noqa: PTH101
        if not interrupted.is_set():
            os.replace(unfinished, file)  # noqa: PTH105
    finally:
        with suppress(FileNotFoundError):
            os.unlink(unfinished)  # noqa: PTH108


def _umask() -> int:
    """The process' mask of permissions, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def read(path: str | PathLike[str]) -> tuple[LimbTable, Int32Array, tuple[str, ...]]:
    """Table, hit groups and names of the limbs of a file.

    Raises
    ------
    OSError
        If the file cannot be opened.
    ValueError
        If it is not a file of limbs, is damaged, or holds limbs that no constructor takes: with file, column and row.
    """
    file = file_of(path)
    with file.open("rb") as stream:
        columns = uninterrupted(lambda: _columns(stream, file))
    return checked_columns(columns, file)


def _refuse(file: Path, what: str) -> NoReturn:
    raise ValueError(f"{file}: expected a file that Limbs.save wrote, got {what}; save the limbs again")


def _columns(stream: Any, file: Path) -> Columns:
    """All columns of an archive, whatever they hold."""
    from zipfile import is_zipfile  # noqa: PLC0415  imported when asked for

    if not is_zipfile(stream):
        _refuse(file, "one that is no archive, or not a whole one")
    stream.seek(0)
    try:
        with np.load(stream, allow_pickle=False) as archive:
            return {name: np.asarray(archive[name]) for name in archive.files}
    except Exception as error:  # damaged archives raise what zipfile, zlib, numpy, ast and struct raise
        _refuse(file, f"one that cannot be read ({type(error).__name__}: {str(error)[:120]})")


def checked_columns(columns: Columns, file: Path) -> tuple[LimbTable, Int32Array, tuple[str, ...]]:
    """Table, hit groups and names of the limbs of columns as they were read from a file; ValueError names that."""
    missing = [name for name in (*tables.GIVEN, "hit_group", "names") if name not in columns]
    if missing:
        _refuse(file, f"one without the column {missing[0]!r}")

    def named(name: str) -> str:
        return f"{file}: column {name}"

    n = columns["kind"].size
    kind = validate.integers(_column(columns, "kind", file), named("kind"), n, 0, len(Shape) - 1)
    p1, p2 = (validate.vectors(columns[name], named(name), n) for name in ("p1", "p2"))
    radius, radius2 = (validate.per_row(_column(columns, name, file), named(name), n) for name in ("radius", "radius2"))
    check_axes(p1, p2, np.isin(kind, list(HAS_AXIS)), (named("p1"), named("p2")))
    check_centres(p1, p2, np.isin(kind, list(HAS_CENTRE)), named("p2"))
    for shape, record in SHAPE_RECORDS.items():
        rows = kind == int(shape)
        sizes = dict(zip(("radius", "radius2"), record.sizes.values(), strict=False))
        for name, column in (("radius", radius), ("radius2", radius2)):
            if name in sizes:
                sizes[name](np.where(rows, column, 1.0), named(name))
            elif (row := validate.first_bad_row(rows & (column != 0.0))) is not None:
                _refuse(
                    file,
                    f"{column[row].tolist()} in column {name}, row {row}, where a {Shape(shape).name.lower()} has 0",
                )
        together = Solids(Shape(shape), p1, p2, np.where(rows, radius, 2.0), np.where(rows, radius2, 1.0), p1[:0])
        record.check_together(together, (named("radius"), named("radius2")))
    box, boxes = _checked_boxes(columns, kind == int(Shape.BOX), file)
    hit_group = validate.integers(_column(columns, "hit_group", file), named("hit_group"), n, -(2**31), 2**31 - 1)
    character = validate.integers(_column(columns, "character", file), named("character"), n, NO_CHARACTER, 2**31 - 1)
    mask = validate.integers(_column(columns, "mask", file), named("mask"), n, 0, ALL_LAYERS)
    table = make_table(
        kind.astype(np.int8), p1, p2, radius, radius2, box, boxes, character.astype(np.int32), mask.astype(np.uint32)
    )
    return table, hit_group.astype(np.int32), _names(columns["names"], n, file)


def _column(columns: Columns, name: str, file: Path) -> NDArray[Any]:
    """A column with an entry a limb; one entry does not stand for all, as it does for a constructor."""
    n, column = columns["kind"].size, columns[name]
    if column.shape != (n,):
        _refuse(file, f"shape {column.shape} in column {name} for {n} limbs")
    return column


def _checked_boxes(columns: Columns, is_box: BoolArray, file: Path) -> tuple[Int32Array, Float64Array]:
    """The row of each box in `boxes`, -1 for other shapes, and axes and half extents (boxes, 12)."""
    boxes = columns["boxes"]
    if boxes.ndim != 2 or boxes.shape[1] != 12 or boxes.dtype.kind not in "fiu":
        _refuse(file, f"shape {boxes.shape} of {boxes.dtype} in column boxes instead of (boxes, 12)")
    given = validate.integers(_column(columns, "box", file), f"{file}: column box", len(is_box), -1, len(boxes) - 1)
    row = validate.first_bad_row(np.asarray((given >= 0) != is_box))
    if row is not None:
        _refuse(file, f"{given[row]} in column box, row {row}, which is {'' if is_box[row] else 'not '}a box")
    chosen = np.ascontiguousarray(boxes[given[is_box]], np.float64)
    rows: Int64Array = np.flatnonzero(is_box)
    row = first_no_box(chosen)
    if row is not None:
        _refuse(file, f"{chosen[row].tolist()} in column boxes for row {rows[row]}, which is no box")
    box = np.full(len(is_box), -1, np.int32)
    box[rows] = np.arange(len(rows))
    return box, chosen


def first_no_box(boxes: Float64Array) -> int | None:
    """The first row (12,) that is not three axes at right angles, of length 1, and three half extents; or None."""
    axes, half = boxes[:, :9].reshape(-1, 3, 3), boxes[:, 9:]
    small = np.abs(axes) <= 2.0  # whose products are numbers; what is larger is no unit vector
    kept = np.where(small, axes, 0.0)
    gram = kept @ kept.transpose(0, 2, 1)
    bad = ~((half >= SMALLEST_SIZE) & (half <= LARGEST_NUMBER)).all(axis=1) | ~small.all(axis=(1, 2))
    bad |= ~(np.abs(gram - np.eye(3)) <= AXES_ERROR).all(axis=(1, 2))
    return validate.first_bad_row(np.asarray(bad))


def _names(column: NDArray[Any], n: int, file: Path) -> tuple[str, ...]:
    """The names of n limbs: JSON in bytes, or, in older files, an array of text."""
    names: Any = column.tolist()
    if column.dtype == np.uint8:
        try:
            names = json.loads(column.tobytes())
        except ValueError as error:
            _refuse(file, f"damaged names ({error})")
    if not (isinstance(names, list) and len(names) == n and all(isinstance(name, str) for name in names)):
        _refuse(file, f"a column names that does not hold {n} strings")
    return tuple(names)
