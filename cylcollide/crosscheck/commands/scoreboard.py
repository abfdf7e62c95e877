"""``cylcollide crosscheck --engines``: the scoreboard as tables, as JSON and as CSV."""

import csv
import json
import math
import platform
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cylcollide import __version__
from cylcollide.crosscheck.cases.case import write_cases
from cylcollide.crosscheck.commands.progress import bars, compile_ahead
from cylcollide.crosscheck.scoreboard.scoreboard import ASKED, Score
from cylcollide.crosscheck.scoreboard.subprocess_run import guarded_scoreboard

SCHEMA = 1
"""Version of ``scoreboard.json``: raised when a field changes its meaning or goes away."""

NAMES = {"compile": "compiling loops, once", "families": "asking all engines", "speed": "comparing speeds"}
CASES = "scoreboard-cases.json"
PLACES = ("median", "99", "max")


def run_scoreboard(console: Console, engines: Sequence[str], rays: int, seed: int, out: Path) -> list[Score]:
    """Ask the engines, print the tables, write ``scoreboard.json``, ``.csv`` and ``-cases.json`` into ``out``.

    Raises
    ------
    ValueError, ImportError, RuntimeError
        As :func:`cylcollide.crosscheck.scoreboard.subprocess_run.guarded_scoreboard`.
    OSError
        If the folder cannot be written.
    """
    began = time.perf_counter()
    with bars(console, NAMES) as progress:
        compile_ahead(progress, None)
        scores = guarded_scoreboard(engines, rays, seed, progress)
    _write(out, scores, seed, time.perf_counter() - began)
    asked = max((score.rays for score in scores), default=0)
    console.print(_verdicts(scores, f"{asked:,} segments, seed {seed}: every engine beside the truth"))
    for table in (_errors(scores), _counts(scores), _starts_inside(scores), _limits(scores)):
        console.print(table)
    return scores


def _verdicts(scores: Sequence[Score], title: str) -> Table:
    table = _table(title, ("missed", "phantom", "wrong limb", "lost", "wrong of asked", "speed"))
    table.caption = "Verdicts, each proved, on segments that start outside. Speed: cylcollide = 1."
    if any("-sided polygons" in limit for score in scores for limit in score.limits):
        table.caption += "\nA polygon's misses within its sagitta are wrong verdicts too."
    for score in scores:
        if score.error:
            table.add_row(score.engine, *["-"] * 6)
            continue
        counts = (score.missed, score.phantom, score.wrong_limb, score.lost)
        cells = [*(f"{count:,}" for count in counts), f"{100 * sum(counts) / score.rays:.3g} %", _number(score.speed)]
        table.add_row(score.engine, *cells)
    return table


def _errors(scores: Sequence[Score]) -> Table:
    wanted = [f"{unit} {place}" for unit in ("mm", "degrees") for place in ("median", "99 %", "max")]
    table = _table("Right hits at limbs of people's size: distance and normal off", wanted)
    for score in _that_ran(scores):
        table.add_row(score.engine, *map(_number, (*score.distance_mm, *score.normal_deg)))
    return table


def _counts(scores: Sequence[Score]) -> Table:
    wanted = ("early", "late", "normal off", "position off", "mm median", "mm max", "moved")
    table = _table("Hits that are off beyond the rounding of float64, at any scale", wanted)
    table.caption = "Position: off from where the fraction leads. Moved: verdicts wrong after a move alone."
    for score in _that_ran(scores):
        counts = [f"{count:,}" for count in (score.early, score.late, score.normal, score.position)]
        moved = f"{score.moved:,}"
        table.add_row(score.engine, *counts, *map(_number, (score.position_mm[0], score.position_mm[2])), moved)
    return table


def _starts_inside(scores: Sequence[Score]) -> Table:
    table = _table("Segments that start inside: what was measured", ())
    table.add_column("what they did")
    for score in _that_ran(scores):
        table.add_row(score.engine, score.inside)
    return table


def _limits(scores: Sequence[Score]) -> Table:
    table = _table("What engines say they cannot do, or why they were not asked", ())
    table.add_column("limits")
    engines: dict[str, list[str]] = {}
    for score in scores:
        engines.setdefault(score.error or ", ".join(score.limits) or "none", []).append(score.engine)
    for said, those in engines.items():
        table.add_row("\n".join(those), escape(said))
    return table


def _that_ran(scores: Sequence[Score]) -> list[Score]:
    return [score for score in scores if not score.error]


def _table(title: str, numbers: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", caption_justify="left", box=SIMPLE, pad_edge=False)
    table.padding = (0, 1, 0, 0)
    table.add_column("engine", no_wrap=True)
    for name in numbers:
        table.add_column(name, justify="right", min_width=max(map(len, name.split())))
    return table


def _number(value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:.2g}" if value < 100 else f"{value:,.0f}"


def _write(out: Path, scores: Sequence[Score], seed: int, seconds: float) -> None:
    packages = {package: version(package) for package in ("numpy", "numba")}
    record = {
        "schema": SCHEMA,
        "run": "scoreboard",
        "seed": seed,
        "seconds": round(seconds, 3),
        "versions": {"cylcollide": __version__, **packages, "python": platform.python_version()},
        "scoreboard": [score.record() for score in scores],
    }
    text = json.dumps(record, indent=2, allow_nan=False)
    (out / "scoreboard.json").write_text(text + "\n", encoding="utf-8")
    write_cases(out / CASES, [case for score in scores for case in score.cases])
    with (out / "scoreboard.csv").open("w", newline="", encoding="utf-8") as file:
        rows = [_flat(score) for score in scores]
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _flat(score: Score) -> dict[str, object]:
    """One row of the CSV; what is nan is left empty."""
    row = {name: value for name, value in score.record().items() if name != "families"}
    row["versions"] = "; ".join(f"{package} {number}" for package, number in score.versions.items())
    row["limits"] = "; ".join(score.limits)
    for name in ("distance_mm", "normal_deg", "position_mm"):
        row |= {f"{name}_{place}": figure for place, figure in zip(PLACES, row.pop(name), strict=True)}
    return row | {f"wrong in {family}": score.families.get(family, "") for family in ASKED}
