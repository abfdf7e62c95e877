"""Tables for a terminal: what a run found, and the scoreboard, which is written as JSON and as CSV, too."""

import math
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cylcollide.crosscheck.cases.case import write_cases
from cylcollide.crosscheck.compare.disagreements import Kind
from cylcollide.crosscheck.records import JsonObject, with_figures_apart, write_csv, write_json
from cylcollide.crosscheck.report.sentences import not_tried_words
from cylcollide.crosscheck.run.plan import own_versions
from cylcollide.crosscheck.run.run import Result
from cylcollide.crosscheck.run.tally import ALL
from cylcollide.crosscheck.scoreboard.engine_errors import COUNTED
from cylcollide.crosscheck.scoreboard.scoreboard import ASKED, Score
from cylcollide.crosscheck.scoreboard.subprocess_run import guarded_scoreboard
from cylcollide.terminal import bars

PLACES = ("median", "99 %", "max")


def table(words: Sequence[str], numbers: Sequence[str] = (), title: str | None = None, **look: Any) -> Table:
    """Return a table without rows: columns of words, then of numbers, whose heads break at spaces only.

    With a title it is a table of results, whose first column stays on one line.
    """
    usual: dict[str, Any] = {"box": SIMPLE, "pad_edge": False, "padding": (0, 1, 0, 0)}
    shown = Table(title=title, title_justify="left", caption_justify="left", **(usual | look))
    for place, name in enumerate(words):
        shown.add_column(name, no_wrap=place == 0 and bool(title))
    for name in numbers:
        shown.add_column(name, justify="right", min_width=max(map(len, name.split())))
    return shown


def print_result(console: Console, result: Result) -> None:
    """Print the tables of a run, and in words what stands out."""
    summary = result.summary
    title = f"{summary['rays']:,} {result.plan.thing}s, seed {summary['seed']}, {summary['seconds']:.1f} s: "
    title += f"{summary['engine']} beside the truth"
    if not result.plan.finds_causes:
        total = summary["families"][-1]
        console.print(_by_measure(summary, title))
        console.print(
            f"{total['proved']:,} of {total['disagreements']:,} disagreements proved in rational arithmetic; "
            f"{total['rechecked']:,} bullets needed it for their own answer."
        )
        return
    console.print(_by_family(summary, title))
    console.print(_causes(summary))
    for finding in summary["findings"]:
        console.print(f"{summary['engine']}: {finding['text']}.")
    for sentence in not_tried_words(summary):
        console.print(sentence, soft_wrap=True)
    unexplained = summary["unexplained"]
    console.print(f"{unexplained['count']:,} of {unexplained['disagreements']:,} disagreements are unexplained.")


def _by_measure(summary: JsonObject, title: str) -> Table:
    """A column per family, of which there are few, and a row per count and error."""
    engine, rows = summary["engine"], summary["families"]
    shown = table([""], [row["family"] for row in rows], title)
    counts = {name: name.replace("_", " ") for name in ("rays", "hits", "missed", "phantom", "wrong_limb", "proved")}
    counts |= {"missed": f"missed by {engine}", "phantom": f"phantom in {engine}"}
    for field, label in counts.items():
        shown.add_row(label, *(f"{row[field]:,}" for row in rows), end_section=field == "proved")
    errors = {"early_mm": "early, mm", "late_mm": "late, mm", "normal_deg": "normal off, degrees"}
    for field, label in errors.items():
        for place, figure in enumerate(PLACES):
            cells = ["-" if row[field][place] is None else f"{row[field][place]:.3g}" for row in rows]
            shown.add_row(f"{label}: {figure}", *cells, end_section=figure == "max")
    return shown


def _by_family(summary: JsonObject, title: str) -> Table:
    """A row per family; without padding, so that it fits into 80 columns."""
    shown = table(["family"], ["rays", *(kind.label for kind in Kind)], title, padding=0)
    for row in summary["families"]:
        numbers = [f"{row[name]:,}" for name in ("rays", *(kind.field for kind in Kind))]
        shown.add_row(row["family"], *numbers, style="bold" if row["family"] == ALL else "")
    return shown


def _causes(summary: JsonObject) -> Table:
    numbers = ("count", "share", "nearest to its bound", "proved")
    shown = table(["cause"], numbers, "Causes, and the interventions on a sample of each")
    for row in summary["causes"]:
        ratio, trials = row["nearest_to_bound"]["ratio"], row["interventions"]
        nearest = "-" if ratio is None else f"{ratio:.6f}"
        proved = f"{trials['proved']} of {trials['tested']}" if trials["tested"] else "-"
        shown.add_row(row["cause"], f"{row['count']:,}", f"{100 * row['share']:.3g} %", nearest, proved)
    return shown


SCHEMA = 1
"""Version of ``scoreboard.json``: raised when a field changes its meaning or goes away."""

NAMES = {"families": "asking all engines", "speed": "comparing speeds"}
CASES = "scoreboard-cases.json"


def run_scoreboard(console: Console, engines: Sequence[str], rays: int, seed: int, out: Path) -> list[Score]:
    """Ask the engines, print the tables, write ``scoreboard.json``, ``.csv`` and ``-cases.json`` into ``out``."""
    began = time.perf_counter()
    with bars(console, NAMES) as progress:
        scores = guarded_scoreboard(engines, rays, seed, progress)
    seconds, rows = round(time.perf_counter() - began, 3), [score.record() for score in scores]
    record = {"schema": SCHEMA, "run": "scoreboard", "seed": seed, "seconds": seconds, "versions": own_versions()}
    write_json(out / "scoreboard.json", record | {"scoreboard": rows})
    write_cases(out / CASES, [case for score in scores for case in score.cases])
    write_csv(out / "scoreboard.csv", [_flat(score) for score in scores])
    for shown in _measured(scores, seed):
        console.print(shown)
    return scores


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
    engines = defaultdict(list)
    for score in scores:
        engines[score.error or ", ".join(score.limits) or "none"].append(score.engine)
    limits = table(["engine", "limits"], title="What engines say they cannot do, or why they were not asked")
    for limit, those in engines.items():
        limits.add_row("\n".join(those), escape(limit))
    yield limits


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
