"""What a run found, as it is printed."""

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from cylcollide.crosscheck.judge.disagreements import Kind
from cylcollide.crosscheck.report.sentences import not_tried_words
from cylcollide.crosscheck.run.run import Result
from cylcollide.crosscheck.run.tally import ALL, JsonObject


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
    table = Table(title=title)
    table.add_column()
    for row in rows:
        table.add_column(row["family"], justify="right", style="bold" if row["family"] == ALL else "")
    counts = {name: name.replace("_", " ") for name in ("rays", "hits", "missed", "phantom", "wrong_limb", "proved")}
    counts |= {"missed": f"missed by {engine}", "phantom": f"phantom in {engine}"}
    for field, label in counts.items():
        table.add_row(label, *(f"{row[field]:,}" for row in rows), end_section=field == "proved")
    errors = {"early_mm": "early, mm", "late_mm": "late, mm", "normal_deg": "normal off, degrees"}
    for field, label in errors.items():
        for place, figure in enumerate(("median", "99 %", "max")):
            cells = ["-" if row[field][place] is None else f"{row[field][place]:.3g}" for row in rows]
            table.add_row(f"{label}: {figure}", *cells, end_section=figure == "max")
    return table


def _by_family(summary: JsonObject, title: str) -> Table:
    """A row per family."""
    table = Table(title=title, box=SIMPLE, pad_edge=False, padding=0)  # so it fits into 80 columns
    table.add_column("family", no_wrap=True)
    for name in ("rays", *(kind.label for kind in Kind)):
        table.add_column(name, justify="right")
    for row in summary["families"]:
        numbers = [f"{row[name]:,}" for name in ("rays", *(kind.field for kind in Kind))]
        table.add_row(row["family"], *numbers, style="bold" if row["family"] == ALL else "")
    return table


def _causes(summary: JsonObject) -> Table:
    table = Table(title="Causes, and the interventions on a sample of each", box=SIMPLE, pad_edge=False)
    for name in ("cause", "count", "share", "nearest to its bound", "proved"):
        table.add_column(name, justify="left" if name == "cause" else "right", no_wrap=name == "cause")
    for row in summary["causes"]:
        ratio, trials = row["nearest_to_bound"]["ratio"], row["interventions"]
        table.add_row(
            row["cause"],
            f"{row['count']:,}",
            f"{100 * row['share']:.3g} %",
            "-" if ratio is None else f"{ratio:.6f}",
            f"{trials['proved']} of {trials['tested']}" if trials["tested"] else "-",
        )
    return table
