"""Limbs in files: columns of an .npz archive, checked on loading like a constructor's arguments."""

import json
from os import PathLike
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from cylcollide import validate
from cylcollide._types import BoolArray, Float64Array, Int8Array, Int32Array, Shape
from cylcollide.constants import LARGEST_NUMBER, SMALLEST_SIZE, UNIT_ROUNDOFF
from cylcollide.kernels.limb_table import LimbTable, make_table
from cylcollide.kernels.traits import WITH_AXES
from cylcollide.limbs import tables
from cylcollide.process.files import (
    Columns,
    file_of,
    named_in_errors,
    read_columns,
    refuse,
    texts_as_bytes,
    write_columns,
)
from cylcollide.shapes import SHAPE_RECORDS, Solids

LABELS = ("character", "mask", "hit_group")
"""The numeric columns of labels."""

AXES_ERROR = 64.0 * UNIT_ROUNDOFF
"""Bound on errors of dot products of a box's axes: components from a quaternion err by 8 u (`kernels.axis.MARGIN`)."""


def write(path: str | PathLike[str], table: LimbTable, hit_group: Int32Array, names: tuple[str, ...]) -> None:
    """Write limbs to a file; see `replace`."""
    columns: dict[str, Any] = {**tables.given_columns(table), "hit_group": hit_group}
    write_columns(path, {**columns, "names": texts_as_bytes(names)})


def read(path: str | PathLike[str]) -> tuple[LimbTable, Int32Array, tuple[str, ...]]:
    """Table, hit groups and names of the limbs of a file.

    Raises
    ------
    OSError
        If the file cannot be opened.
    ValueError
        If it is not a file of limbs, is damaged, or holds limbs that no constructor accepts; the message names file,
        column and row.
    """
    file = file_of(path)
    with named_in_errors(file):
        columns = read_columns(file, "Limbs.save")
        missing = [name for name in (*tables.GIVEN, "hit_group", "names") if name not in columns]
        if missing:
            _refuse(f"one without the column {missing[0]!r}")
        return checked_columns(columns, _names(columns["names"]))


def _refuse(what: str) -> NoReturn:
    refuse("Limbs.save", what)


def _names(column: NDArray[Any]) -> Any:
    """The names of limbs: JSON in bytes, or, in older files, an array of text."""
    if column.dtype != np.uint8:
        return column.tolist()
    try:
        return json.loads(column.tobytes())
    except ValueError as error:
        _refuse(f"damaged names ({error})")


def checked_columns(columns: Columns, names: Any) -> tuple[LimbTable, Int32Array, tuple[str, ...]]:
    """Table, hit groups and names of limbs with columns and names from a file; ValueError names the column."""
    n = columns["kind"].size
    for name in ("kind", "radius", "radius2", "box", *LABELS):  # in a file one entry does not stand for all limbs
        if columns[name].shape != (n,):
            _refuse(f"shape {columns[name].shape} in column {name} for {n} limbs")
    kind = validate.integers(columns["kind"], "column kind", n, 0, len(Shape) - 1).astype(np.int8)
    p1, p2 = tables.checked_ends(kind, columns["p1"], columns["p2"], None, ("column p1", "column p2"))
    radius, radius2 = (validate.per_row(columns[name], f"column {name}", n) for name in ("radius", "radius2"))
    _check_sizes(kind, p1, p2, radius, radius2)
    box, boxes = _checked_boxes(columns["box"], columns["boxes"], np.isin(kind, WITH_AXES))
    if not (isinstance(names, list) and len(names) == n and all(isinstance(name, str) for name in names)):
        _refuse(f"a column names that does not hold {n} strings")
    labels = tables.Labels(name=names, **{name: columns[name] for name in LABELS})  # type: ignore[typeddict-item]
    character, mask, hit_group, checked_names = tables.label_columns(labels, n, "column ")
    table = make_table(kind, p1, p2, radius, radius2, box, boxes, character, mask)
    return table, hit_group, checked_names


def _check_sizes(
    kind: Int8Array, p1: Float64Array, p2: Float64Array, radius: Float64Array, radius2: Float64Array
) -> None:
    """Check the radii of limbs as the constructor of each shape does; a radius that a shape does not use must be 0."""
    names = ("column radius", "column radius2")
    for shape, record in SHAPE_RECORDS.items():
        rows, checks = kind == int(shape), tuple(record.sizes.values())
        for k, column in enumerate((radius, radius2)):
            if k < len(checks):
                checks[k](np.where(rows, column, 1.0), names[k])
            elif (row := validate.first_bad_row(rows & (column != 0.0))) is not None:
                what = f"where a {Shape(shape).name.lower()} has 0"
                _refuse(f"{column[row].tolist()} in {names[k]}, row {row}, {what}")
        together = Solids(Shape(shape), p1, p2, np.where(rows, radius, 2.0), np.where(rows, radius2, 1.0), p1[:0])
        record.check_together(together, names)


def _checked_boxes(box: NDArray[Any], boxes: NDArray[Any], is_box: BoolArray) -> tuple[Int32Array, Float64Array]:
    """The row of each box in `boxes`, -1 for shapes without axes, and axes and half extents (boxes, 12)."""
    if boxes.ndim != 2 or boxes.shape[1] != 12 or boxes.dtype.kind not in "fiu":
        _refuse(f"shape {boxes.shape} of {boxes.dtype} in column boxes instead of (boxes, 12)")
    given = validate.integers(box, "column box", len(is_box), -1, len(boxes) - 1)
    row = validate.first_bad_row(np.asarray((given >= 0) != is_box))
    if row is not None:
        _refuse(f"{given[row]} in column box, row {row}, which is {'' if is_box[row] else 'not '}a box")
    chosen, rows = np.ascontiguousarray(boxes[given[is_box]], np.float64), np.flatnonzero(is_box)
    row = first_invalid_box(chosen)
    if row is not None:
        _refuse(f"{chosen[row].tolist()} in column boxes for row {rows[row]}, which is no box")
    numbered = np.full(len(is_box), -1, np.int32)
    numbered[rows] = np.arange(len(rows))
    return numbered, chosen


def first_invalid_box(boxes: Float64Array) -> int | None:
    """The first row (12,) that is not 3 orthonormal axes and 3 half extents; or None."""
    axes, half = boxes[:, :9].reshape(-1, 3, 3), boxes[:, 9:]
    small = np.abs(axes) <= 2.0  # unit vectors have no larger components, whose squares might overflow
    kept = np.where(small, axes, 0.0)
    gram = kept @ kept.transpose(0, 2, 1)
    bad = ~((half >= SMALLEST_SIZE) & (half <= LARGEST_NUMBER)).all(axis=1) | ~small.all(axis=(1, 2))
    bad |= ~(np.abs(gram - np.eye(3)) <= AXES_ERROR).all(axis=(1, 2))
    return validate.first_bad_row(np.asarray(bad))
