"""The command ``cylcollide bench``: writes tables, CSV and figures."""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from cylcollide import engines as peers
from cylcollide.bench import plots
from cylcollide.bench.runner import BASE, Progress, Row, run
from cylcollide.bench.scaling import run_past_scaling, run_scaling
from cylcollide.bench.scenes import read_scene
from cylcollide.bench.tables import past_table, rays_notes, rays_table, scaling_table, tasks_table, write_csv
from cylcollide.bench.tasks import run_tasks
from cylcollide.bench.workloads import WORKLOADS, Workload
from cylcollide.runtime import levels
from cylcollide.terminal import refuse_together, stop, writable
from cylcollide.world import HitWorld

DEFAULT_RAYS, DEFAULT_ROUNDS = 100_000, 7
MOST_RAYS, MOST_ROUNDS = 10_000_000, 1000
DEFAULT_FOLDER = Path("bench-report")


def bench(
    context: typer.Context,
    engines: Annotated[str, typer.Option(help="Engines by name, such as bullet,embree; all: those installed.")] = "all",
    workloads: Annotated[str, typer.Option(help=f"Out of {','.join(WORKLOADS)}.")] = ",".join(WORKLOADS),
    scene: Annotated[
        Path | None, typer.Option(help="Only this: limbs (.npz, may have starts and ends), a URDF or a shot log.")
    ] = None,
    rays: Annotated[
        int, typer.Option(min=100, max=MOST_RAYS, help="Rays a round; slow engines get fewer.")
    ] = DEFAULT_RAYS,
    rounds: Annotated[
        int, typer.Option(min=1, max=MOST_ROUNDS, help="Rounds in which the engines take turns.")
    ] = DEFAULT_ROUNDS,
    tasks: Annotated[bool, typer.Option(help="Also build, move, single calls, points, threads, memory.")] = True,
    scaling: Annotated[bool, typer.Option("--scaling", help="Only how cost grows: limbs, batch, ticks.")] = False,
    of_levels: Annotated[
        str, typer.Option("--levels", help="Levels of machine code, in turn; all: those installed that run here.")
    ] = levels.CHOICE.level,
    out: Annotated[Path, typer.Option(help="Folder for CSV and figures.")] = DEFAULT_FOLDER,
) -> None:
    """Measure cylcollide and other engines side by side: the same rays, taking turns, verdicts resolved exactly.

    Writes rays.csv and tasks.csv, or scaling.csv and past.csv, with figures; for several levels a folder each. Compare
    ratios; rates are comparable only within one run. Exit status 1 if a result of this library is proved wrong.
    """
    _refuse_ignored(context, scene, tasks=tasks, scaling=scaling)
    if of_levels != levels.CHOICE.level:
        raise typer.Exit(max(_run_level(level, out / level) for level in _chosen("level", of_levels, levels.usable())))
    console = Console()
    console.print(f"Machine code of level {levels.CHOICE.level}: {escape(levels.CHOICE.reason)}.")
    with writable(out), console.status("measuring") as status:

        def progress(what: str) -> None:
            status.update(escape(what))

        if scaling:
            _scaling(rays, rounds, out, console, progress)
            return
        chosen, rows = _chosen_engines(engines, console), list[Row]()
        named = [] if scene is not None else _chosen("workload", workloads, WORKLOADS)
        for workload in [WORKLOADS[name] for name in named] if scene is None else [_scene(scene)]:
            rows += run(workload, chosen, rays, rounds, progress)
            write_csv(rows, out / "rays.csv")  # after each workload, in case a later one is interrupted
        console.print(rays_table(rows))
        console.print(rays_notes(rows), style="dim")
        written = [out / "rays.csv", *plots.plot_rays(rows, out)]
        if tasks and scene is None:
            found = run_tasks(chosen, rays, rounds, progress)
            console.print(tasks_table(found))
            write_csv(found, out / "tasks.csv")
            written.append(out / "tasks.csv")
        _print_written(written, console)
    ours = next(row for row in rows if row.engine == BASE)
    wrong = sum(row.wrong_verdicts + row.wrong_limbs for row in rows if row.engine == BASE)
    if wrong:
        stop(f"{wrong} results of cylcollide {ours.version} are WRONG: please report it with {out / 'rays.csv'}", 1)


def _refuse_ignored(context: typer.Context, scene: Path | None, *, tasks: bool, scaling: bool) -> None:
    """End the command if it is given options that would do nothing."""

    def given(name: str) -> bool:
        source = context.get_parameter_source(name)
        return source is not None and source.name == "COMMANDLINE"

    ignored = {"--workloads": given("workloads"), "--tasks": tasks and given("tasks")}
    if scaling:
        others = {"--scene": scene is not None, "--engines": given("engines"), **ignored}
        refuse_together("--scaling", others, "it measures how the cost of cylcollide alone grows")
    if scene is not None:
        refuse_together("--scene", ignored, "it measures rays at that scene alone")


def _scaling(rays: int, rounds: int, out: Path, console: Console, progress: Progress) -> None:
    points = run_scaling(rays, rounds, progress)
    console.print(scaling_table(points))
    write_csv(points, out / "scaling.csv")
    past = run_past_scaling(rays, rounds, progress)
    console.print(past_table(past))
    write_csv(past, out / "past.csv")
    written = [out / "scaling.csv", *plots.plot_scaling(points, out), out / "past.csv", *plots.plot_past(past, out)]
    _print_written(written, console)


def _chosen(what: str, names_given: str, known: Iterable[str]) -> list[str]:
    """The names of an option, each once, or all; ends the command with an error for an unknown name."""
    every = list(known)
    names = every if names_given == "all" else list(dict.fromkeys(name.strip() for name in names_given.split(",")))
    for name in names:
        if name not in every:
            stop(f"no {what} {name!r}; known {what}s: {', '.join(every) or 'none'}")
    return names


def _run_level(level: str, out: Path) -> int:
    """Run this command for one level in a new process; returns its exit status."""
    words = [sys.executable, "-m", "cylcollide", *sys.argv[1:], "--levels", level, "--out", str(out)]
    return subprocess.run(words, check=False, env={**os.environ, "CYLCOLLIDE_LEVEL": level}).returncode


def _chosen_engines(names_given: str, console: Console) -> list[str]:
    """Names of engines, ours first. A missing one is reported if all were requested, and an error if it was named."""
    reasons = peers.available()
    if names_given == "all":
        for name, reason in reasons.items():
            if reason is not None:
                console.print(f"[dim]without {name}: {escape(reason)}[/]", soft_wrap=True)
        installed = [name for name, reason in reasons.items() if reason is None and name != BASE]
        return [BASE, *(name for name in installed if _casts_rays(name))]
    names = _chosen("engine", names_given, reasons)
    for reason in map(reasons.get, names):
        if reason is not None:
            stop(reason)
    return [BASE, *(name for name in names if name != BASE)]


def _casts_rays(name: str) -> bool:
    with peers.create(name) as engine:
        return engine.capabilities.rays


def _scene(file: Path) -> Workload:
    """The workload of a user's file; ends the command with an error unless it has a ray to cast."""
    try:
        scene = read_scene(file)
        scene.segments(HitWorld(scene.limbs()), 1)
    except OSError as error:
        stop(f"--scene: cannot read {file}: {error.strerror or error}; name another file")
    except ValueError as error:
        stop(f"--scene: {' '.join(str(error).split())}")
    return scene


def _print_written(paths: list[Path], console: Console) -> None:
    console.print(f"Written: {escape(', '.join(str(path) for path in paths))}", soft_wrap=True)
