"""The tables that a run prints, and its CSV files, which name the machine and the versions."""

import math
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from cylcollide.bench.runner import Row
from cylcollide.bench.scaling import PastPoint, Point
from cylcollide.bench.tasks import TaskRow
from cylcollide.crosscheck.csv_rows import write_csv as write_rows
from cylcollide.process.info import info
from cylcollide.runtime.levels import CHOICE
from cylcollide.terminal import table

UNITS = ((1e6, "M"), (1e3, "k"))


def machine() -> str:
    """Name of the processor, and the number available to this process."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{info().processor}, {count} processors"


def write_csv(rows: Sequence[Row | TaskRow | Point | PastPoint], path: Path) -> None:
    """Write one line per row, preceded by columns of date, machine and versions."""
    front = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "level": CHOICE.level,
    }
    write_rows(path, [{**front, **{key: _exact(value) for key, value in asdict(row).items()}} for row in rows])


def _exact(value: Any) -> Any:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.5g}"
    return value


def rays_table(rows: Sequence[Row]) -> Table:
    """The table of all engines on all workloads."""
    lines = [
        (f"{row.workload}  {row.limbs:,} limb{'s' * (row.limbs != 1)}", [row.engine, *_cells(row)]) for row in rows
    ]
    title = "Rays, one thread, engines taking turns"
    return _sections(title, ["engine", "rays", "rays/s", "speed", "wrong", "limb", "build"], lines, headed=True)


def _cells(row: Row) -> list[str]:
    if not row.rays:
        return ["not measured"]
    build = "" if math.isnan(row.build_seconds) else duration(row.build_seconds)
    star = "*" if row.note else ""
    wrong = (str(row.wrong_verdicts), str(row.wrong_limbs))
    return [f"{row.rays:,}{star}", rate(row.rate), f"{row.ratio:.3g}", *wrong, build]


def rays_notes(rows: Sequence[Row]) -> str:
    """Explanation of the columns, and why engines were not measured."""
    notes = [
        "speed: rays/s over that of cylcollide, median of the rounds. rays/s means something within this run only.",
        "wrong: hit for miss or miss for hit; limb: the wrong one; resolved in rational arithmetic wherever an engine "
        "and cylcollide differ.",
        "All compute limb, fraction, position and normal; lean: limb and fraction only.",
    ]
    if any(row.rays and row.note for row in rows):
        notes.append("* fewer rays: the engine is slow.")
    notes += list(dict.fromkeys(f"{row.workload}, {row.engine}: {row.note}." for row in rows if not row.rays))
    return "\n".join(notes)


def tasks_table(tasks: Sequence[TaskRow]) -> Table:
    """The table of all tasks."""
    lines = []
    for task in tasks:
        value = duration(1e-3 * task.value) if task.unit == "ms" else f"{task.value:.3g} {task.unit}"
        ratio = "" if math.isnan(task.ratio) else f"{task.ratio:.3g}"
        lines.append((task.task, [task.engine, value, ratio, task.note]))
    return _sections("Other tasks", ["engine", "", "speed"], lines, headed=True, last="note")


def scaling_table(points: Sequence[Point]) -> Table:
    """The table of the scaling measurements."""
    lines = []
    for p in points:
        cells = [f"{p.limbs:,}", f"{p.batch:,}", f"{p.hit_share:.0%}", rate(p.rate), duration(p.build_seconds)]
        lines.append((p.against, [*cells, f"{p.megabytes:.3g} MB"]))
    heads = ["limbs", "rays a call", "hits", "rays/s", "build", "memory"]
    return _sections("How cost grows: cylcollide, one thread", heads, lines)


def past_table(points: Sequence[PastPoint]) -> Table:
    """The table of histories of several lengths and crowds."""
    lines = []
    for p in points:
        cells = [f"{p.limbs:,}", f"{p.ticks:,}", rate(p.rate), f"{p.ratio:.3g}", duration(1e-3 * p.record_ms)]
        lines.append((p.against, [*cells, f"{p.megabytes:.3g} MB"]))
    title = "Queries of the past: cylcollide, one thread, beside the same in the present"
    return _sections(title, ["limbs", "ticks", "rays/s", "speed", "record", "memory"], lines)


def _sections(
    title: str, heads: Sequence[str], lines: Sequence[tuple[str, list[str]]], *, headed: bool = False, last: str = ""
) -> Table:
    """A table with a section per name, which is its heading if ``headed``; ``last``: the head of a wide column."""
    shown = table(heads[:1], title=title, box=SIMPLE_HEAD, padding=(0, 1))
    for head in heads[1:]:
        shown.add_column(head, justify="right", no_wrap=True)
    if last:
        shown.add_column(last, overflow="fold")
    for name, cells in groupby(lines, key=lambda line: line[0]):
        shown.add_section()
        if headed:
            shown.add_row(f"[bold]{name}[/]")
        for _, row in cells:
            shown.add_row("  " * headed + row[0], *row[1:])
    return shown


def rate(value: float) -> str:
    """A rate with three significant digits and a unit prefix."""
    unit, letter = next((pair for pair in UNITS if value >= pair[0]), (1.0, ""))
    return f"{value / unit:.3g} {letter}".strip()


def duration(value: float) -> str:
    """A time in s or ms with three significant digits."""
    return f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.3g} ms"
