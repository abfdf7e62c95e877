"""The tables that a run prints, and its CSV files, which name the machine and the versions."""

import csv
import math
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from cylcollide.bench.runner import Row
from cylcollide.bench.scaling import PastPoint, Point
from cylcollide.bench.tasks import Task
from cylcollide.runtime.levels import CHOICE

UNITS = ((1e6, "M"), (1e3, "k"))


def machine() -> str:
    """Name of the processor, and the number available to this process."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line]
        name = lines[0] if lines else name
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{name}, {count} processors"


def write_csv(rows: Sequence[Row | Task | Point | PastPoint], path: Path) -> None:
    """Write one line a row, preceded by columns of date, machine and versions."""
    front = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "level": CHOICE.level,
    }
    lines = [{**front, **{key: _exact(value) for key, value in asdict(row).items()}} for row in rows]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def _exact(value: Any) -> Any:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.5g}"
    return value


def rays_table(rows: Sequence[Row]) -> Table:
    """The table of all engines on all workloads."""
    table = _table("Rays, one thread, engines taking turns")
    for name in ("rays", "rays/s", "speed", "wrong", "limb", "build"):
        table.add_column(name, justify="right", no_wrap=True)
    for place, row in enumerate(rows):
        if place == 0 or rows[place - 1].workload != row.workload:
            table.add_section()
            table.add_row(f"[bold]{row.workload}  {row.limbs:,} limb{'s' * (row.limbs != 1)}[/]")
        table.add_row(f"  {row.engine}", *_cells(row))
    return table


def _cells(row: Row) -> list[str]:
    if not row.rays:
        return ["not measured"]
    build = "" if math.isnan(row.build_seconds) else duration(row.build_seconds)
    star = "*" if row.note else ""
    wrong = (str(row.wrong_verdicts), str(row.wrong_limbs))
    return [f"{row.rays:,}{star}", rate(row.rate), f"{row.ratio:.3g}", *wrong, build]


def rays_notes(rows: Sequence[Row]) -> str:
    """Explanation of the columns, and why an engine was not measured."""
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


def tasks_table(tasks: Sequence[Task]) -> Table:
    """The table of all tasks."""
    table = _table("Other tasks")
    for name in ("", "speed"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("note", overflow="fold")
    for place, task in enumerate(tasks):
        if place == 0 or tasks[place - 1].task != task.task:
            table.add_section()
            table.add_row(f"[bold]{task.task}[/]")
        value = duration(1e-3 * task.value) if task.unit == "ms" else f"{task.value:.3g} {task.unit}"
        table.add_row(f"  {task.engine}", value, "" if math.isnan(task.ratio) else f"{task.ratio:.3g}", task.note)
    return table


def scaling_table(points: Sequence[Point]) -> Table:
    """The table of the scaling measurements."""
    table = _table("How cost grows: cylcollide, one thread", "limbs")
    for name in ("rays a call", "hits", "rays/s", "build", "memory"):
        table.add_column(name, justify="right", no_wrap=True)
    for place, point in enumerate(points):
        if place and points[place - 1].against != point.against:
            table.add_section()
        cells = (f"{point.batch:,}", f"{point.hit_share:.0%}", rate(point.rate), duration(point.build_seconds))
        table.add_row(f"{point.limbs:,}", *cells, f"{point.megabytes:.3g} MB")
    return table


def past_table(points: Sequence[PastPoint]) -> Table:
    """The table of histories of several lengths and crowds."""
    table = _table("Queries of the past: cylcollide, one thread, beside the same in the present", "limbs")
    for name in ("ticks", "rays/s", "speed", "record", "memory"):
        table.add_column(name, justify="right", no_wrap=True)
    for place, point in enumerate(points):
        if place and points[place - 1].against != point.against:
            table.add_section()
        cells = (rate(point.rate), f"{point.ratio:.3g}", duration(1e-3 * point.record_ms))
        table.add_row(f"{point.limbs:,}", f"{point.ticks:,}", *cells, f"{point.megabytes:.3g} MB")
    return table


def _table(title: str, first: str = "engine") -> Table:
    table = Table(title=title, box=SIMPLE_HEAD, padding=(0, 1), title_justify="left")
    table.add_column(first, no_wrap=True)
    return table


def rate(value: float) -> str:
    """A rate with three significant digits and a unit prefix."""
    unit, letter = next((pair for pair in UNITS if value >= pair[0]), (1.0, ""))
    return f"{value / unit:.3g} {letter}".strip()


def duration(value: float) -> str:
    """A time in s or ms with three significant digits."""
    return f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.3g} ms"
