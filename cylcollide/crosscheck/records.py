"""Records for files: JSON without nan, CSV with one number a column."""

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

JsonObject = dict[str, Any]

FIGURES = ("median", "99", "max")
"""Endings of the three CSV columns of a field with three figures."""


def plain(value: Any) -> Any:
    """The value as JSON has it: tuples are lists, numbers Python's, and what is nan or infinite is None."""
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value


def one_line(error: BaseException, *, named: bool = False) -> str:
    """The message of an error on one line; ``named``: after the name of its class."""
    return " ".join((f"{type(error).__name__}: {error}" if named else str(error)).split())


def write_json(path: Path, record: Any, indent: int = 2) -> None:
    """Write what JSON can hold; nan is an error."""
    path.write_text(json.dumps(record, indent=indent, allow_nan=False) + "\n", encoding="utf-8")


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows of equal columns under the names of the first; None is left empty."""
    text = io.StringIO()
    table = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")


def with_figures_apart(row: Mapping[str, Any], names: Sequence[str]) -> JsonObject:
    """The row with three columns at its end for each of the named, which hold three figures."""
    apart = {f"{name}_{place}": figure for name in names for place, figure in zip(FIGURES, row[name], strict=True)}
    return {name: value for name, value in row.items() if name not in names} | apart
