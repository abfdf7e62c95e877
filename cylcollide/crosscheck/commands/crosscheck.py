"""The command ``cylcollide crosscheck``: shows progress, prints tables and writes a folder."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from cylcollide.crosscheck.cases.case import write_cases
from cylcollide.crosscheck.generate.families import FAMILIES
from cylcollide.crosscheck.records import one_line, write_json
from cylcollide.crosscheck.report import tables
from cylcollide.crosscheck.run.distances import distances
from cylcollide.crosscheck.run.plan import MOST_RAYS, MOST_SEED, FamiliesPlan, Plan, PosesPlan, own_versions
from cylcollide.crosscheck.run.run import FinishedRun, run_plan, write_numbers, wrong_count
from cylcollide.crosscheck.run.scoreboard import DEFAULT_RAYS as SCORED_RAYS
from cylcollide.crosscheck.run.scoreboard import Score, check_names, scoreboard
from cylcollide.crosscheck.run.tally import ALL
from cylcollide.crosscheck.workers import executor_of
from cylcollide.terminal import bars, refuse_together, stop, table, writable

DEFAULT_RAYS = 200_000
DEFAULT_RAYS_BY_FAMILIES = 1_000_000
MOST_JOBS = 1024
DEFAULT_FOLDER = Path("crosscheck-report")

TASKS = {
    "chunks": "firing, comparing, explaining",
    "interventions": "changing one thing at a time",
    "files": "writing the report",
    "engines": "casting in all engines",
}
SCORE_SCHEMA = 1
"""Version of ``scoreboard.json``: raised if a field changes its meaning or is removed."""
SCORES, SCORES_CSV, SCORED_CASES = "scoreboard.json", "scoreboard.csv", "scoreboard-cases.json"
WRONG_SIGNS = "signs of this library's distances"


def crosscheck(
    rays: Annotated[
        int | None, typer.Option(min=1, max=MOST_RAYS, help="Bullets to fire. Default: 200000, by families a million.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=MOST_SEED, help="Of all chance: equal seeds fire equal bullets.")] = 0,
    motion: Annotated[
        list[str] | None, typer.Option(help="Motion to play, such as walk; repeat for several. Default: all.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = DEFAULT_FOLDER,
    jobs: Annotated[
        int | None, typer.Option(min=1, max=MOST_JOBS, help="Worker processes. Default: one per processor.")
    ] = None,
    families: Annotated[
        list[str] | None, typer.Option(help="Family of segments, or all; repeat for several. Names the causes.")
    ] = None,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler; with --families.")] = None,
    engines: Annotated[
        list[str] | None, typer.Option(help="Engine, such as mujoco, or all; repeat for several. One scoreboard.")
    ] = None,
) -> None:
    """Fire bullets at PyBullet's humanoid and compare PyBullet's rayTest with the exact answer.

    Writes index.html, summary.json, rays.npz, the finished chunks, and the worst bullets as cases/*.json, for
    `cylcollide replay`, and repro/*.py into a folder. With --families each family of segments provokes one kind of
    error, every disagreement gets a cause, and cases.json and tables/*.csv replace rays.npz. With --engines all named
    engines get the same segments, and the folder holds scoreboard.json, scoreboard.csv and scoreboard-cases.json, for
    `cylcollide replay`; with --families too, index.html shows the scoreboard. Exit status 1 if exact arithmetic does
    not confirm this library in every disagreement.
    """
    from cylcollide.crosscheck.report.page import write_page  # noqa: PLC0415  help does without Plotly

    console = Console()
    if motion:
        others = {"--families": bool(families), "--engines": bool(engines)}
        refuse_together("--motion", others, "the humanoid family plays all motions")
    if jobs is not None:
        refuse_together("--jobs", {"--scheduler": scheduler is not None}, "the cluster has its own workers")
        refuse_together("--jobs", {"--engines": bool(engines and not families)}, "each engine has one process")
    if scheduler is not None and not families:
        stop("--scheduler goes with --families only; add --families all")
    if engines and not families:
        _fail_if_unproved(_score(console, engines, rays or SCORED_RAYS, seed, out), out)
        return
    with _errors_in_one_line():
        if families:
            wanted = FAMILIES if ALL in families else tuple(dict.fromkeys(families))
            plan: Plan = FamiliesPlan(wanted, rays or DEFAULT_RAYS_BY_FAMILIES, seed)
        else:
            plan = PosesPlan(rays or DEFAULT_RAYS, seed, tuple(motion or ()))
    with writable(out):
        # First, so that a wrong name is reported at once.
        scores = _score(console, engines, min(plan.rays, SCORED_RAYS), seed, out) if engines else []
        with _errors_in_one_line(), bars(console, TASKS) as progress:
            with executor_of(jobs, scheduler) as executor:
                result = run_plan(
                    plan, executor, out, lambda line: typer.echo(f"cylcollide: {line}", err=True), progress
                )
            result.summary["engines"] = engines or []
            result.summary["scoreboard"] = [score.record() for score in scores]
            result.summary["distances"] = distances(("bullet", *(engines or ())), seed=seed)
            writers = [write_numbers, write_page, *([tables.write_tables] if plan.finds_causes else [])]
            _remove_stale(out, result, scored=bool(engines))
            for done, write in enumerate(writers, 1):
                write(result, out)
                progress("files", done, len(writers))
        _print_result(console, result)
        console.print(f"Report: {escape(str(out / 'index.html'))}", soft_wrap=True)
        file, every = "cases.json" if plan.finds_causes else "rays.npz", result.summary["families"][-1]["disagreements"]
        _fail_if(result.unproved, f"of {every} disagreements", out / file)
        _fail_if_unproved(scores, out)
        _fail_if(result.summary["distances"]["unproved"], WRONG_SIGNS, out / "summary.json")


@contextmanager
def _errors_in_one_line() -> Iterator[None]:
    """End the command with status 1 on unfinished work (RuntimeError), else 2; the block itself must not end it."""
    try:
        yield
    except BrokenPipeError:  # `cli.main` reports it
        raise
    except (RuntimeError, ValueError, ImportError, OSError) as error:
        stop(one_line(error), status=1 if isinstance(error, RuntimeError) else 2)


def _score(console: Console, engines: list[str], rays: int, seed: int, out: Path) -> list[Score]:
    """Score the engines, print the tables, write ``scoreboard.json``, ``.csv`` and ``-cases.json`` into ``out``."""
    with _errors_in_one_line():
        check_names(engines)
    with writable(out):
        began = time.perf_counter()
        try:
            with _errors_in_one_line(), bars(console, TASKS) as progress:
                scores = scoreboard(engines, rays, seed, progress, apart=True)
                measured = distances(engines, seed=seed)
        except KeyboardInterrupt:
            stop("interrupted; of the scoreboard nothing is kept: give the same command again", status=130)
        seconds, rows = round(time.perf_counter() - began, 3), [score.record() for score in scores]
        about = {
            "schema": SCORE_SCHEMA,
            "run": "scoreboard",
            "seed": seed,
            "seconds": seconds,
            "versions": own_versions(),
        }
        with _errors_in_one_line():
            write_json(out / SCORES, about | {"scoreboard": rows, "distances": measured})
            write_cases(out / SCORED_CASES, [case for score in scores for case in score.cases])
            tables.write_score_csv(rows, out / SCORES_CSV)
        _print_tables(console, [*tables.score_tables(rows, wide=False), *tables.distance_tables(measured)])
        console.print(f"Scoreboard: {escape(str(out / 'scoreboard.json'))}", soft_wrap=True)
        if any(score.cases for score in scores):
            console.print(f"The worst of each: cylcollide replay {escape(str(out / SCORED_CASES))}", soft_wrap=True)
        _fail_if(measured["unproved"], WRONG_SIGNS, out / SCORES)
        return scores


def _remove_stale(out: Path, result: FinishedRun, *, scored: bool) -> None:
    """Remove the files of an earlier run that this run does not write."""
    stale = ("rays.npz",) if result.plan.finds_causes else ("cases.json", "tables/*.csv*")
    for name in (*stale, *(() if scored else (SCORES, SCORES_CSV, SCORED_CASES))):
        for file in out.glob(name):
            file.unlink()


def _print_tables(console: Console, several: list[tables.ReportTable]) -> None:
    for one in several:
        words, numbers = (one.heads[:1], one.heads[1:]) if one.numbers else (one.heads, ())
        padding = 0 if len(numbers) > 8 else (0, 1, 0, 0)
        shown = table(words, numbers, one.title, caption=one.note or None, padding=padding)
        for row in one.rows:
            shown.add_row(*map(escape, row), style="bold" if row[0] == ALL else "")
        console.print(shown)


def _print_result(console: Console, result: FinishedRun) -> None:
    """Print the tables of a run, and its main findings in words."""
    summary, engine = result.summary, result.summary["engine"]
    seconds = f"{summary['seconds']:.1f} s"
    console.print(f"{engine}: {summary['rays']:,} {result.plan.thing}s, seed {summary['seed']}, {seconds}")
    _print_tables(console, tables.run_tables(summary, wide=False))
    for finding in summary["findings"]:
        console.print(f"{engine}: {finding['text']}.")
    for left in summary["not_tried"]:
        console.print(f"{left['family']} was not tried: it takes {left['rays']:,} segments or more.", soft_wrap=True)
    total, unexplained = summary["families"][-1], summary["unexplained"]
    console.print(f"{total['proved']:,} of {wrong_count(total):,} wrong verdicts are proved in rational arithmetic.")
    if result.plan.finds_causes:
        console.print(f"{unexplained['count']:,} of {unexplained['disagreements']:,} disagreements are unexplained.")
    else:
        console.print(f"{total['rechecked']:,} bullets needed it for this library's own answer.")


def _fail_if_unproved(scores: list[Score], out: Path) -> None:
    for score in scores:
        _fail_if(score.unproved, f"disagreements with {score.engine}", out / SCORES)


def _fail_if(count: int, what: str, file: Path) -> None:
    """End the command with an error if exact arithmetic contradicts this library ``count`` > 0 times."""
    if count:
        said = "are NOT confirmed by rational arithmetic. This is a bug in cylcollide: please report it with"
        stop(f"{count} {what} {said} {file}", status=1)
