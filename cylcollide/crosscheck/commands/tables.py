"""Tables for a terminal, and what a run found as they show it."""

from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from cylcollide.crosscheck.judge.disagreements import Kind
from cylcollide.crosscheck.records import JsonObject
from cylcollide.crosscheck.report.sentences import not_tried_words
from cylcollide.crosscheck.run.run import Result
from cylcollide.crosscheck.run.tally import ALL

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
