"""Rows for CSV files, with one number a column."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cylcollide.process.files import write_text

FIGURES = ("median", "99", "max")
"""Endings of the three CSV columns of a field with three figures."""


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows of equal columns under the names of the first; None is left empty."""
    text = io.StringIO()
    table = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    write_text(path, text.getvalue())


def with_figures_apart(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The row with three columns at its end for each of the named, which hold three figures."""
    apart = {f"{name}_{place}": figure for name in names for place, figure in zip(FIGURES, row[name], strict=True)}
    return {name: value for name, value in row.items() if name not in names} | apart
