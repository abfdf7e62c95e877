"""``cylcollide crosscheck --engines``: the scoreboard as tables, as JSON and as CSV."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cylcollide.crosscheck.cases.case import write_cases
from cylcollide.crosscheck.commands.tables import PLACES, table
from cylcollide.crosscheck.records import JsonObject, with_figures_apart, write_csv, write_json
from cylcollide.crosscheck.run.plan import own_versions
from cylcollide.crosscheck.scoreboard.engine_errors import COUNTED
from cylcollide.crosscheck.scoreboard.scoreboard import ASKED, Score
from cylcollide.crosscheck.scoreboard.subprocess_run import guarded_scoreboard
from cylcollide.terminal import bars
from cylcollide.warm_up.warm_up import warm_up

SCHEMA = 1
"""Version of ``scoreboard.json``: raised when a field changes its meaning or goes away."""

NAMES = {"compile": "compiling loops, once", "families": "asking all engines", "speed": "comparing speeds"}
CASES = "scoreboard-cases.json"


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
    record = {
        "schema": SCHEMA,
        "run": "scoreboard",
        "seed": seed,
        "seconds": round(time.perf_counter() - began, 3),
        "versions": own_versions(),
        "scoreboard": [score.record() for score in scores],
    }
    write_json(out / "scoreboard.json", record)
    write_cases(out / CASES, [case for score in scores for case in score.cases])
    write_csv(out / "scoreboard.csv", [_flat(score) for score in scores])
    for shown in (*_measured(scores, seed), _limits(scores)):
        console.print(shown)
    return scores


def compile_ahead(progress: Callable[[str, int, int], None], jobs: int | None) -> None:
    """Make machine code before processes that need it, as a step of its own; none where it is turned off."""
    with suppress(RuntimeError):
        warm_up(jobs, lambda done, of: progress("compile", done, of))


def _measured(scores: Sequence[Score], seed: int) -> Iterator[Table]:
    """Verdicts, errors of right hits, errors of all sizes, and what starts inside did."""
    asked = max((score.rays for score in scores), default=0)
    ran = [score for score in scores if not score.error]
    verdicts = table(
        ["engine"],
        ["missed", "phantom", "wrong limb", "lost", "wrong of asked", "speed"],
        f"{asked:,} segments, seed {seed}: every engine beside the truth",
        caption="Verdicts, each proved, on segments that start outside. Speed: cylcollide = 1.",
    )
    if any("-sided polygons" in limit for score in scores for limit in score.limits):
        verdicts.caption = f"{verdicts.caption}\nA polygon's misses within its sagitta are wrong verdicts too."
    for score in scores:
        counts = [getattr(score, name) for name in COUNTED]
        share = "-" if score.error else f"{100 * sum(counts) / score.rays:.3g} %"
        said = ["-" if score.error else f"{count:,}" for count in counts]
        verdicts.add_row(score.engine, *said, share, _number(score.speed))
    yield verdicts
    figures = [f"{unit} {place}" for unit in ("mm", "degrees") for place in PLACES]
    errors = table(["engine"], figures, "Right hits at limbs of people's size: distance and normal off")
    for score in ran:
        errors.add_row(score.engine, *map(_number, (*score.distance_mm, *score.normal_deg)))
    yield errors
    counts_off = table(
        ["engine"],
        ["early", "late", "normal off", "position off", "mm median", "mm max", "moved"],
        "Hits that are off beyond the rounding of float64, at any scale",
        caption="Position: off from where the fraction leads. Moved: verdicts wrong after a move alone.",
    )
    for score in ran:
        off = [f"{count:,}" for count in (score.early, score.late, score.normal, score.position)]
        median, _, most = map(_number, score.position_mm)
        counts_off.add_row(score.engine, *off, median, most, f"{score.moved:,}")
    yield counts_off
    inside = table(["engine", "what they did"], title="Segments that start inside: what was measured")
    for score in ran:
        inside.add_row(score.engine, score.inside)
    yield inside


def _limits(scores: Sequence[Score]) -> Table:
    shown = table(["engine", "limits"], title="What engines say they cannot do, or why they were not asked")
    engines: dict[str, list[str]] = {}
    for score in scores:
        engines.setdefault(score.error or ", ".join(score.limits) or "none", []).append(score.engine)
    for said, those in engines.items():
        shown.add_row("\n".join(those), escape(said))
    return shown


def _number(value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:.2g}" if value < 100 else f"{value:,.0f}"


def _flat(score: Score) -> JsonObject:
    """One row of the CSV; what is nan is left empty."""
    row = {name: value for name, value in score.record().items() if name != "families"}
    row["versions"] = "; ".join(f"{package} {number}" for package, number in score.versions.items())
    row["limits"] = "; ".join(score.limits)
    row = with_figures_apart(row, ("distance_mm", "normal_deg", "position_mm"))
    return row | {f"wrong in {family}": score.families.get(family, "") for family in ASKED}
