"""CSV files of measuring scripts: every row begins with the date and the machine."""

import argparse
import csv
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def script_options(description: str | None, out: str) -> argparse.ArgumentParser:
    """A parser for the options of a script, with ``--out``, the path of its CSV file; ``out`` is the default."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(out))
    return parser


def stamp() -> dict[str, Any]:
    """The first columns of every row: the day, the kind of machine and the version of Python."""
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine}


def save(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows of equal columns as they are measured, and print them; each gets a :func:`stamp` unless it has one."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        for number, row in enumerate(rows):
            stamped = stamp() | row
            table.writerows([stamped] if number == 0 else [])
            table.writerow(stamped.values())
            file.flush()
            print(*row.values(), sep="\t", flush=True)


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of a page."""
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in (head, ["---"] * len(head), *rows))


def replace_between(page: Path, begin: str, end: str, text: str) -> None:
    """Replace the text between two marks of a page; the marks stay."""
    before, rest = page.read_text(encoding="utf-8").split(begin)
    after = rest.split(end)[1]
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")
