"""The command ``cylcollide crosscheck``: options in, progress, table and folder out."""

import math
import os
import tempfile
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cylcollide.crosscheck.commands.families import crosscheck_families, plan_families
from cylcollide.crosscheck.commands.progress import bars
from cylcollide.crosscheck.commands.scoreboard import CASES, run_scoreboard
from cylcollide.crosscheck.generate.motion import load_motions
from cylcollide.crosscheck.judge.result import KINDS, CrosscheckResult
from cylcollide.crosscheck.report.humanoid.page import write_report
from cylcollide.crosscheck.report.repro_scripts import write_case_files, write_repros
from cylcollide.crosscheck.run.chunk_store import UnfinishedError
from cylcollide.crosscheck.run.humanoid import run_crosscheck
from cylcollide.crosscheck.run.humanoid_summary import write_rays, write_summary
from cylcollide.crosscheck.scoreboard.scoreboard import DEFAULT_RAYS as SCORED_RAYS
from cylcollide.crosscheck.scoreboard.scoreboard import Score, check_names

DEFAULT_RAYS = 200_000
DEFAULT_FOLDER = Path("crosscheck-report")


def crosscheck(
    rays: Annotated[
        int | None, typer.Option(min=1, help="Bullets to fire. Default: 200000, by families a million.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of all chance: equal seeds fire equal bullets.")] = 0,
    motion: Annotated[
        list[str] | None, typer.Option(help="Motion to play, such as walk; repeat for several. Default: all.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = DEFAULT_FOLDER,
    jobs: Annotated[int | None, typer.Option(min=1, help="Worker processes. Default: one per processor.")] = None,
    families: Annotated[
        list[str] | None, typer.Option(help="Family of segments, or all; repeat for several. Names the causes.")
    ] = None,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler; with --families.")] = None,
    engines: Annotated[
        list[str] | None, typer.Option(help="Engine, such as mujoco, or all; repeat for several. One scoreboard.")
    ] = None,
) -> None:
    """Fire bullets at PyBullet's humanoid and compare PyBullet's rayTest with the exact answer.

    Writes index.html, summary.json, rays.npz and repro/*.py into a folder. With --families the segments are those
    that bring out one way of being wrong each, every disagreement gets a cause, and the folder holds index.html,
    summary.json, cases.json, tables/*.csv, the finished chunks, and the worst cases as cases/*.json, for `cylcollide
    replay`, and repro/*.py. With --engines all engines named are asked the same segments, and the folder holds
    scoreboard.json, scoreboard.csv and scoreboard-cases.json, for `cylcollide replay`; with --families too, index.html
    shows the scoreboard. Exit status 1 if any disagreement could not be proved in rational arithmetic.
    """
    console = Console()
    if families:
        _by_families(console, families, rays, seed, motion, out, jobs, scheduler, engines)
        return
    if engines:
        if motion:
            _stop("--motion does not go with --engines: the humanoid family plays all motions; leave one of them out")
        _fail_if_unproved(_score(console, engines, rays or SCORED_RAYS, seed, out), out)
        return
    if scheduler is not None:
        _stop("--scheduler goes with --families only; add --families all")
    rays = DEFAULT_RAYS if rays is None else rays
    motions = motion or []
    known = load_motions()
    unknown = [name for name in motions if name not in known]
    if unknown:
        _stop(f"no motion {unknown[0]!r}; known motions: {', '.join(known)}")
    _make_writable(out)
    with bars(console) as shown:
        bar = shown.add_task("firing bullets, settling disagreements", total=rays)
        result = run_crosscheck(
            rays, seed, motions, jobs or os.cpu_count() or 1, progress=lambda done: shown.advance(bar, done)
        )
        bar = shown.add_task("writing the report", total=4)
        for write in (write_summary, write_rays, write_report, write_repros):
            write(result, out)
            shown.advance(bar)
    console.print(_table(result))
    console.print(_proof(result))
    _print_place(console, out)
    _fail_unless_proved(result, out)


def _by_families(
    console: Console,
    families: list[str],
    rays: int | None,
    seed: int,
    motion: list[str] | None,
    out: Path,
    jobs: int | None,
    scheduler: str | None,
    engines: list[str] | None,
) -> None:
    if motion:
        _stop("--motion does not go with --families: the humanoid family plays all motions; leave one of them out")
    try:
        plan = plan_families(families, rays, seed)
        _make_writable(out)
        # Before the families, so that a wrong name is told at once.
        scores = _score(console, engines, min(plan.rays, SCORED_RAYS), seed, out) if engines else []
        result = crosscheck_families(
            console,
            plan,
            out,
            jobs,
            scheduler,
            lambda line: typer.echo(f"cylcollide: {line}", err=True),
            lambda: [score.record() for score in scores],
            write_case_files,
        )
    except UnfinishedError as error:
        _stop(str(error), status=1)
    except (ValueError, ImportError, OSError) as error:
        _stop(" ".join(str(error).split()))
    _print_place(console, out)
    if result.unproved:
        _stop(
            f"{result.unproved} disagreements are NOT confirmed by rational arithmetic. This is a bug in cylcollide: "
            f"please report it with {out / 'cases.json'}",
            status=1,
        )
    _fail_if_unproved(scores, out)


def _score(console: Console, engines: list[str], rays: int, seed: int, out: Path) -> list[Score]:
    try:
        check_names(engines)
    except ValueError as error:
        _stop(str(error))
    _make_writable(out)  # not in a try: the end of the command, typer.Exit, is a RuntimeError
    try:
        scores = run_scoreboard(console, engines, rays, seed, out)
    except RuntimeError as error:
        _stop(str(error), status=1)
    except (ValueError, ImportError, OSError) as error:
        _stop(" ".join(str(error).split()))
    console.print(f"Scoreboard: {escape(str(out / 'scoreboard.json'))}", soft_wrap=True)
    if any(score.cases for score in scores):
        console.print(f"The worst of each: cylcollide replay {escape(str(out / CASES))}", soft_wrap=True)
    return scores


def _fail_if_unproved(scores: list[Score], out: Path) -> None:
    wrong = [score for score in scores if score.unproved]
    if wrong:
        _stop(
            f"{wrong[0].unproved} disagreements with {wrong[0].engine} are NOT confirmed by rational arithmetic. This "
            f"is a bug in cylcollide: please report it with {out / 'scoreboard.json'}",
            status=1,
        )


def _table(result: CrosscheckResult) -> Table:
    engine = result.engine
    table = Table(
        title=f"{result.rays:,} bullets, seed {result.seed}, {result.seconds:.1f} s: {engine} beside the exact answer"
    )
    table.add_column()
    for row in result.rows:
        table.add_column(row.family, justify="right", style="bold" if row is result.rows[-1] else "")
    counts = {
        "rays": "rays",
        "hits": "hits",
        "missed": f"missed by {engine}",
        "phantom": f"phantom in {engine}",
        "wrong_limb": "wrong limb",
        "proved": "proved",
    }
    for field, label in counts.items():
        table.add_row(label, *(f"{getattr(row, field):,}" for row in result.rows), end_section=field == "proved")
    errors = {"early_mm": "early, mm", "late_mm": "late, mm", "normal_deg": "normal off, degrees"}
    for field, label in errors.items():
        for place, figure in enumerate(("median", "99 %", "max")):
            cells = [_number(getattr(row, field)[place]) for row in result.rows]
            table.add_row(f"{label}: {figure}", *cells, end_section=figure == "max")
    return table


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3g}"


def _proof(result: CrosscheckResult) -> str:
    count = len(result.disagreements.ray)
    return (
        f"{int(result.disagreements.proved.sum()):,} of {count:,} disagreements proved in rational arithmetic; "
        f"{result.rechecked:,} bullets needed it for their own answer."
    )


def _fail_unless_proved(result: CrosscheckResult, out: Path) -> None:
    wrong = result.disagreements
    unproved = (~wrong.proved).nonzero()[0]
    if len(unproved):
        row = int(unproved[0])
        _stop(
            f"{len(unproved)} of {len(wrong.ray)} disagreements are NOT confirmed by rational arithmetic; the first is "
            f"bullet {int(wrong.ray[row])} ({KINDS[wrong.kind[row]]}), row {row} of {out / 'rays.npz'}. This is a bug "
            "in cylcollide: please report it with that file",
            status=1,
        )


def _print_place(console: Console, out: Path) -> None:
    console.print(f"Report: {escape(str(out / 'index.html'))}", soft_wrap=True)


def _make_writable(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=out).close()
    except OSError as error:
        _stop(f"cannot write to {out}: {error.strerror}; choose another folder with --out")


def _stop(message: str, status: int = 2) -> NoReturn:
    typer.echo(f"cylcollide: {message}", err=True)
    raise typer.Exit(status)
