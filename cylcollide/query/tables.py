"""Columns of results as tables: flat, for data frames and Arrow; as text and HTML, for people; in files."""

import json
from collections.abc import Collection
from enum import IntEnum
from html import escape
from importlib import import_module
from math import prod
from os import PathLike
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import Doubt, Face, Reason
from cylcollide._version import to_install
from cylcollide.process import files
from cylcollide.process.files import Columns

if TYPE_CHECKING:
    import pandas
    import pyarrow

ENUMERATIONS: Final[dict[str, type[IntEnum]]] = {
    "face": Face,
    "entry_face": Face,
    "exit_face": Face,
    "reason": Reason,
    "limb_verdict": Doubt,
    "verdict": Doubt,
}

TYPES: Final = {
    name: np.dtype(kind)
    for kind, names in {
        "?": "hit started_inside undecided clamped",
        "i1": " ".join(ENUMERATIONS),
        "i4": "body bone character count hit_group limb link rig_limb static victim",
        "i8": "exit_piece offsets piece query ray rechecked shape shot tick",
        "f8": "alpha axis_distance_squared damage distance duration energy_in energy_left energy_out entry_distance"
        " entry_fraction error exit_distance exit_fraction exit_time fraction target_time thickness time",
        "3f8": "position normal entry_position entry_normal exit_position exit_normal local_position local_normal",
        "O": "limb_name",
    }.items()
    for name in names.split()
}
"""The type of one entry of each column."""

SHOWN: Final = (
    *("ray", "query", "time", "body", "link", "limb", "limb_name", "character", "face", "reason", "limb_verdict"),
    *("distance", "entry_distance", "fraction", "entry_fraction", "exit_fraction"),
    *("thickness", "damage", "position", "count"),
)
"""The columns that are printed, if a result has them; fractions only if it has no distances."""

ROWS_SHOWN = 5


def flat(columns: Columns) -> dict[str, NDArray[Any]]:
    """The columns, each vector as three: position_x, position_y, position_z."""
    one_dimensional = {}
    for name, column in columns.items():
        parts = {name: column} if column.ndim == 1 else {f"{name}_{axis}": column[:, k] for k, axis in enumerate("xyz")}
        one_dimensional.update(parts)
    return one_dimensional


def to_pandas(columns: Columns) -> "pandas.DataFrame":
    """A data frame of flat columns; enumerations and names are categories."""
    pandas = _package("pandas")

    def series(name: str, column: NDArray[Any]) -> Any:
        if name in ENUMERATIONS:
            return pandas.Categorical.from_codes(column, [one.name for one in ENUMERATIONS[name]])
        return pandas.Categorical(column) if column.dtype == object else column

    return pandas.DataFrame({name: series(name, column) for name, column in flat(columns).items()})


def to_arrow(columns: Columns) -> "pyarrow.Table":
    """A table of flat columns; enumerations and names are dictionaries."""
    pyarrow = _package("pyarrow")

    def array(name: str, column: NDArray[Any]) -> Any:
        if name in ENUMERATIONS:
            return pyarrow.DictionaryArray.from_arrays(column, [one.name for one in ENUMERATIONS[name]])
        if column.dtype == object:
            return pyarrow.array(column.tolist(), pyarrow.string()).dictionary_encode()
        return pyarrow.array(column)

    return pyarrow.table({name: array(name, column) for name, column in flat(columns).items()})


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(f"{name} is not installed: {to_install('tables')}") from None


def are_equal(one: Columns, other: Columns) -> bool:
    """Whether names, rows and numbers are the same; NaN equals NaN."""
    return one.keys() == other.keys() and all(
        np.array_equal(one[name], other[name], equal_nan=one[name].dtype.kind == "f") for name in one
    )


def first_names(fields: Collection[str]) -> list[str]:
    """Names of the columns that are printed."""
    hidden = "fraction" if {"distance", "entry_distance"} & set(fields) else "nothing"
    return [name for name in SHOWN if name in fields and not name.endswith(hidden)]


def first_rows(columns: Columns) -> list[list[str]]:
    """A header and the first rows, as text."""
    rows = range(min(map(len, columns.values())))
    return [list(columns), *([_word(name, column[row]) for name, column in columns.items()] for row in rows)]


def _word(name: str, value: Any) -> str:
    if name in ENUMERATIONS:
        return ENUMERATIONS[name](value).name
    if isinstance(value, np.ndarray):
        return f"({', '.join(f'{number:.6g}' for number in value.tolist())})"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def as_text(summary: str, rows: list[list[str]], total: int) -> str:
    """A summary and rows beneath it, in columns."""
    if len(rows) == 1:
        return summary
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  " + "  ".join(map(str.rjust, row, widths)) for row in rows]
    return "\n".join([summary, *lines, *(["  ..."] if total >= len(rows) else [])])


def as_html(summary: str, rows: list[list[str]], total: int) -> str:
    """A summary and rows as HTML, for a notebook."""
    tags = ["th", *["td"] * (len(rows) - 1)]
    cells = [[f"<{tag}>{escape(word)}</{tag}>" for word in row] for tag, row in zip(tags, rows, strict=True)]
    lines = [f"<tr>{''.join(row)}</tr>" for row in cells]
    more = "<p>…</p>" if total >= len(rows) else ""
    table = f'<div style="overflow-x: auto; white-space: nowrap"><table>{"".join(lines)}</table></div>'
    return f"<p>{escape(summary)}</p>{table}{more}"


def save(path: str | PathLike[str], kind: str, columns: Columns) -> None:
    """Write the columns of a result of some kind to an .npz file that is read without pickles."""
    plain = {
        name: column if column.dtype != object else files.texts_as_bytes(column.tolist())
        for name, column in columns.items()
    }
    files.write_columns(path, {**plain, "kind": files.texts_as_bytes(kind)})


def load(
    path: str | PathLike[str], kind: str, names: tuple[str, ...], of_queries: tuple[str, ...]
) -> dict[str, NDArray[Any]]:
    """The columns of a saved result: at least `names`, with an entry per row, and `of_queries`, with one per query.

    Raises
    ------
    OSError
        If the file cannot be opened.
    ValueError
        If it is damaged, or no result of that kind was saved in it.
    """
    writer = f"{kind}.save"
    with files.named_in_errors(files.file_of(path)):
        columns = dict(files.read_columns(path, writer))
        try:
            saved = json.loads(columns.pop("kind").tobytes())
            for name in {"limb_name"} & columns.keys():
                columns[name] = np.array([*json.loads(columns[name].tobytes()), None], object)[:-1]
        except (KeyError, ValueError, TypeError, RecursionError):
            files.refuse(writer, "one without readable names")
        if saved != kind:
            files.refuse(writer, f"one of {saved}")
        missing = [name for name in (*names, *of_queries) if name not in columns]
        if missing:
            files.refuse(writer, f"one without the column {missing[0]!r}")
        rows = columns[names[0]].size
        queries = columns["offsets"].size - 1 if of_queries else rows
        sizes = {"offsets": (queries + 1,), "rechecked": (), "shape": (columns.get("shape", np.empty(0)).size,)}
        for name, column in columns.items():
            size = sizes.get(name, (queries if name in of_queries else rows,))
            if not _is_sound(name, column, size, rows, queries):
                files.refuse(writer, f"a damaged or unknown column {name!r}")
    return columns


def _is_sound(name: str, column: NDArray[Any], size: tuple[int, ...], rows: int, queries: int) -> bool:
    """Whether a column has the type, the shape and the range of values that its name and size require."""
    kind = TYPES.get(name)
    if kind is None or column.dtype != kind.base or column.shape != (*size, *kind.shape):
        return False
    if name in ENUMERATIONS:
        return bool(((column >= 0) & (column < len(ENUMERATIONS[name]))).all())
    if name == "limb_name":
        return all(one is None or isinstance(one, str) for one in column)
    if name == "offsets":
        return [*column[:1], *column[-1:]] == [0, rows] and bool((column[1:] >= column[:-1]).all())
    if name in ("shape", "rechecked"):
        return bool((column >= 0).all()) and (name == "rechecked" or prod(column.tolist()) == queries)
    return True
