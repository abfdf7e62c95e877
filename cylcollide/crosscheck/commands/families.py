"""``cylcollide crosscheck --families``: executor, progress, tables and files of a run by families."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from cylcollide.crosscheck.causes.kinds_and_causes import Kind
from cylcollide.crosscheck.commands.progress import bars
from cylcollide.crosscheck.generate.families import FAMILIES
from cylcollide.crosscheck.report.csv_tables import write_tables
from cylcollide.crosscheck.report.families.page import CaseFiles, write_page
from cylcollide.crosscheck.report.families.sentences import not_tried_words
from cylcollide.crosscheck.run.chunk_store import Tell
from cylcollide.crosscheck.run.families import FamiliesResult, Plan, local_processes, run_families, write_families

ALL = "all"
DEFAULT_RAYS = 1_000_000


def plan_families(families: list[str], rays: int | None, seed: int) -> Plan:
    """Return the run that the options ask for.

    Raises
    ------
    ValueError
        For an unknown family; the message names the known.
    """
    wanted = FAMILIES if ALL in families else tuple(dict.fromkeys(families))
    return Plan(wanted, DEFAULT_RAYS if rays is None else rays, seed)


def crosscheck_families(
    console: Console,
    plan: Plan,
    out: Path,
    jobs: int | None,
    scheduler: str | None,
    tell: Tell,
    scoreboard: Callable[[], list[dict[str, Any]]] = list,
    case_files: CaseFiles | None = None,
) -> FamiliesResult:
    """Run, write the page, its numbers, tables and cases, print what was found.

    Parameters
    ----------
    console
        Where bars and tables are shown.
    plan
        What to run.
    out
        The folder to write into.
    jobs, scheduler
        Worker processes, or the address of a Dask scheduler.
    tell
        Given a line about every kept chunk that cannot be used.
    scoreboard
        Asks further engines, after the run, for the page's scoreboard; by default there are none.
    case_files
        Writes a file and a script of each of the worst cases; None leaves them out.

    Raises
    ------
    ImportError
        For a scheduler without the extra ``cluster``.
    OSError, cylcollide.crosscheck.run.chunk_store.UnfinishedError
        If the cluster is not there, or a worker was lost.
    """
    with executor_of(jobs, scheduler) as executor, bars(console) as shown:
        names = {"chunks": "firing, comparing, explaining", "interventions": "changing one thing at a time"}
        tasks = {what: shown.add_task(text, total=None, visible=False) for what, text in names.items()}

        def progress(what: str, done: int, of: int) -> None:
            shown.update(tasks[what], completed=done, total=of, visible=True)

        result = run_families(plan, executor, out, tell, progress)
    result.summary["scoreboard"] = scoreboard()
    write_families(result, out)
    write_page(result, out, case_files)
    write_tables(result, out)
    for table in (_families(result), _causes(result)):
        console.print(table)
    for finding in result.summary["findings"]:
        console.print(f"{result.summary['engine']}: {finding['text']}.")
    for sentence in not_tried_words(result.summary):
        console.print(sentence, soft_wrap=True)
    unexplained = result.summary["unexplained"]
    console.print(
        f"{unexplained['count']:,} of {unexplained['disagreements']:,} disagreements are unexplained; "
        f"{result.summary['seconds']:.1f} s."
    )
    return result


@contextmanager
def executor_of(jobs: int | None, scheduler: str | None) -> Iterator[Executor | None]:
    """Worker processes of this machine or, with the address of a Dask scheduler, its cluster."""
    if scheduler is None:
        with local_processes(jobs or os.cpu_count() or 1) as executor:
            yield executor
        return
    try:
        from distributed import Client  # noqa: PLC0415  # an extra of its own
    except ImportError as missing:
        raise ImportError(
            f"--scheduler needs distributed, which is missing ({missing}): pip install 'cylcollide[cluster]'"
        ) from missing
    with Client(scheduler) as client:
        yield client.get_executor(retries=3)


def _families(result: FamiliesResult) -> Table:
    engine = result.summary["engine"]
    title = f"{result.summary['rays']:,} segments, seed {result.summary['seed']}: {engine} beside the truth"
    table = Table(title=title, box=SIMPLE, pad_edge=False, padding=0)  # so it fits into 80 columns
    table.add_column("family", no_wrap=True)
    kinds = [kind.label.replace(" ", "_") for kind in Kind]
    for name in ("rays", *(kind.replace("_", " ") for kind in kinds)):
        table.add_column(name, justify="right")
    for row in result.summary["families"]:
        numbers = [f"{row[name]:,}" for name in ("rays", *kinds)]
        table.add_row(row["family"], *numbers, style="bold" if row["family"] == ALL else "")
    return table


def _causes(result: FamiliesResult) -> Table:
    table = Table(title="Causes, and the interventions on a sample of each", box=SIMPLE, pad_edge=False)
    for name in ("cause", "count", "share", "nearest to its bound", "proved"):
        table.add_column(name, justify="left" if name == "cause" else "right", no_wrap=name == "cause")
    for row in result.summary["causes"]:
        ratio, trials = row["nearest_to_bound"]["ratio"], row["interventions"]
        table.add_row(
            row["cause"],
            f"{row['count']:,}",
            f"{100 * row['share']:.3g} %",
            "-" if ratio is None else f"{ratio:.6f}",
            f"{trials['proved']} of {trials['tested']}" if trials["tested"] else "-",
        )
    return table
