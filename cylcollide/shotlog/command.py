"""The command ``cylcollide rejudge``: judges a log again and reports whether all is identical."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from cylcollide._version import to_install
from cylcollide.characters.policy import Policy
from cylcollide.crosscheck.workers import executor_of
from cylcollide.process import files
from cylcollide.shotlog.logged import LoggedShots
from cylcollide.shotlog.rejudged import Rejudged
from cylcollide.terminal import bars, errors_in_one_line, keep_inputs, refuse_together, stop, table

TASKS = {"shots": "judging again", "export": "exporting"}
MOST_JOBS = 1024
JUDGED = ("hit", "limb", "character", "rig_limb", "limb_name", "hit_group", "distance", "damage", "energy_left")
"""Columns of a Parquet file that are fields of `Judged`."""


def rejudge(
    log: Annotated[Path, typer.Argument(help="A file that cc.ShotLog wrote; it is only read.", metavar="LOG")],
    shot: Annotated[int | None, typer.Option(min=0, help="Explain this shot, in words and with a picture.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Picture of --shot. Default: shot-NUMBER, as PNG.")] = None,
    what_if: Annotated[Path | None, typer.Option(help="Another policy, as JSON: count its hits and damage.")] = None,
    export: Annotated[Path | None, typer.Option(help="Write all shots to a Parquet file.")] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, max=MOST_JOBS, help="Worker processes. Default: one per processor.")
    ] = None,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler; its workers read LOG.")] = None,
) -> None:
    """Judge all shots of a log again and compare verdict, limb, face, order and, for the same version, every bit.

    Exit status 0 if all is identical, 1 if anything differs, 2 for a bad file or option.
    """
    of_all = {"--what-if": what_if, "--export": export, "--jobs": jobs, "--scheduler": scheduler}
    given = {name: value is not None for name, value in of_all.items()}
    if shot is not None:
        refuse_together("--shot", given, "it is about one shot, these are about all")
    if jobs is not None:
        refuse_together("--jobs", {"--scheduler": given["--scheduler"]}, "the cluster has its own workers")
    if shot is None and picture:
        stop("--picture: expected it with --shot, the number of the shot to draw")
    keep_inputs([log, what_if], export=export, picture=picture)
    console = Console(highlight=False)
    with _errors_in_one_line(), LoggedShots(log) as logged:
        if shot is not None:
            path = picture or Path(f"shot-{shot}")
            _explain(console, logged, shot, path if path.suffix else path.with_suffix(".png"))
            return
        policy = None if what_if is None else Policy.load(what_if)
        with bars(console, TASKS, transient=True) as progress:
            if export is not None:
                write_parquet(logged, export, lambda done, of: progress("export", done, of))
            with executor_of(jobs, scheduler) as executor:
                run = map if executor is None else executor.map
                found = logged.rejudge(policy, run=run, progress=lambda done, of: progress("shots", done, of))
        console.print(Text(f"{log}, by cylcollide {logged.version} at {logged.level}"), soft_wrap=True)
        console.print(Text(str(found), "green" if found.identical else "red"), soft_wrap=True)
        if export is not None:
            console.print(f"Shots: {escape(str(export))}", soft_wrap=True)
        if policy is not None:
            _print_what_if(console, found)
    if not found.identical:
        raise typer.Exit(1)


@contextmanager
def _errors_in_one_line() -> Iterator[None]:
    with errors_in_one_line(IndexError, sqlite3.Error):
        try:
            yield
        except ImportError as error:
            text = " ".join(str(error).split())
            stop(text if "pip install" in text else f"{text}; install it: {to_install('rejudge')}")


def _explain(console: Console, logged: LoggedShots, number: int, picture: Path) -> None:
    one, why = logged[number], logged.explain(number)
    note = "" if one.note is None else f", {one.note}"
    console.print(Text(f"shot {one.number}, after tick {one.tick}{note}", "bold"))
    console.print(Text(str(why)), soft_wrap=True)
    again = int(why.judged.limb[0])
    same = again == one.limb
    console.print(
        Text("As logged." if same else f"Logged: row {one.limb}; now: row {again}.", "green" if same else "red")
    )
    if getattr(why.judged, "tick", (0,))[0] < 0:  # the present has no ticks
        console.print(f"No picture: time {one.time} was not kept.", soft_wrap=True)
    else:
        why.plot(picture)
        console.print(f"Picture: {escape(str(picture))}", soft_wrap=True)
    if not same:
        raise typer.Exit(1)


def _print_what_if(console: Console, found: Rejudged) -> None:
    both = found.result.logged, found.result.other
    shown = table([""], ["logged policies", "other policy"])
    shown.add_row("hits", *(f"{tally.hits:,}" for tally in both))
    for group in sorted({group for tally in both for group in tally.groups}, key=int):
        shown.add_row(f"hit group {group}", *(f"{tally.groups.get(group, 0):,}" for tally in both))
    shown.add_row("damage", *(f"{tally.damage:,.6g}" for tally in both))
    console.print(shown)
    console.print(f"{found.result.changed:,} of {found.shots:,} shots have another limb, or none.")


def write_parquet(log: LoggedShots, path: Path, progress: Callable[[int, int], None]) -> int:
    """Judge all shots again and write them; returns how many.

    ImportError without pyarrow: install the extra `rejudge`; OSError if the file cannot be written.
    """
    import pyarrow  # noqa: PLC0415  # an extra
    from pyarrow import parquet  # noqa: PLC0415

    columns: dict[str, list[Any]] = {}
    done = 0
    for shots, judged in log._judged_calls():
        rows: dict[str, Any] = {name: getattr(judged, name).tolist() for name in JUDGED}
        rows |= {f"position_{axis}": judged.position[:, k].tolist() for k, axis in enumerate("xyz")}
        for name in ("start", "end"):
            points = np.array([getattr(shot, name) for shot in shots]).reshape(-1, 3)
            rows |= {f"{name}_{axis}": points[:, k].tolist() for k, axis in enumerate("xyz")}
        rows |= {name: [getattr(shot, name) for shot in shots] for name in ("number", "row", "tick", "time", "energy")}
        rows["policy"] = [shot.policy.kind for shot in shots]
        rows["note"] = [None if shot.note is None else json.dumps(shot.note) for shot in shots]
        for name, values in rows.items():
            columns.setdefault(name, []).extend(values)
        done += len(shots)
        progress(done, len(log))
    files.replace(path, partial(parquet.write_table, pyarrow.table(columns)))
    return done
