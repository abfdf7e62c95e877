"""The command ``cylcollide replay``: a file in, a story out, and on request a smaller case and a script."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import track

from cylcollide.crosscheck.cases.case import BULLET, Case, write_cases
from cylcollide.crosscheck.cases.load import PLACE, read_chosen
from cylcollide.crosscheck.cases.minimise import minimise, smaller_by
from cylcollide.crosscheck.cases.recast import CaseRunner, Replayed
from cylcollide.crosscheck.cases.story import Story, blamed, replayed, story_of
from cylcollide.crosscheck.commands.print_story import overview, print_story
from cylcollide.crosscheck.records import one_line
from cylcollide.crosscheck.report.repro_scripts import repro_source
from cylcollide.terminal import stop


def replay(
    case: Annotated[Path, typer.Argument(help="cases.json, a single case, or rays.npz.", metavar="CASE")],
    row: Annotated[int | None, typer.Option(help="Which case of the file, from 0. Default: all, a line each.")] = None,
    place: Annotated[str | None, typer.Option(help="Which case, by its place in the sweep.", metavar=PLACE)] = None,
    smaller: Annotated[bool, typer.Option("--minimise", help="Make the case as small as its cause allows.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write the case that is explained, as JSON.")] = None,
    repro: Annotated[Path | None, typer.Option(help="Write a script that needs only the engine.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines instead.")] = False,
) -> None:
    """Ask all engines again about a saved disagreement, and explain it step by step.

    Exit status 0 if the disagreement is reproduced, 1 if it is not, 2 for a bad file or a missing engine.
    """
    console = Console(highlight=False)
    try:
        cases = read_chosen(case, row, place)
        if len(cases) > 1 and (smaller or out or repro):
            stop(f"--minimise, --out and --repro take one case, got {len(cases)}; choose one with --row or --place")
        if repro is not None and cases[0].engine != BULLET:
            stop(f"--repro: there are scripts for cases of PyBullet only, got one of {cases[0].engine}; leave it out")
        found: list[Replayed] = []
        try:
            _replay(cases, found)
        except KeyboardInterrupt:
            _show(console, found, as_json=as_json)
            raise
        if smaller and found[0].reproduced:
            found = [_minimised(console, found[0], quiet=as_json)]
        # Two kinds of one segment, at one place, are explained in full.
        stories = [story_of(one) if len({one.case.address for one in found}) == 1 else one for one in found]
        _show(console, stories, as_json=as_json)
        _write(console, stories[0].case, out, repro, quiet=as_json)
    except OSError as error:
        stop(f"cannot open {error.filename or 'a file'}: {error.strerror}; name another file")
    except (ValueError, ImportError) as error:
        stop(one_line(error))
    if not all(story.reproduced for story in stories):
        raise typer.Exit(1)


def _replay(cases: list[Case], found: list[Replayed]) -> None:
    """Ask about each case again and append what comes of it; a bar is for a person who looks on."""
    terminal = Console(stderr=True)
    hidden = len(cases) == 1 or not terminal.is_terminal
    for case in track(cases, "asking again", console=terminal, transient=True, disable=hidden):
        found.append(replayed(case))


def _minimised(console: Console, story: Replayed, *, quiet: bool) -> Replayed:
    """Tell of the smaller case instead, saying how much smaller it is."""
    small = minimise(story.case, CaseRunner(blamed(story.case)))
    if not quiet:
        console.print(f"Minimised: {smaller_by(story.case, small)}.")
    return replayed(small)


def _show(console: Console, stories: list[Replayed], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps([story.record() for story in stories], indent=1, allow_nan=False))
        return
    whole = [story for story in stories if isinstance(story, Story)]
    for story in whole:
        print_story(console, story)
    if not whole:
        overview(console, stories)


def _write(console: Console, case: Case, out: Path | None, repro: Path | None, *, quiet: bool) -> None:
    if repro is not None:
        repro.write_text(repro_source(case), encoding="utf-8")
    if out is not None:
        write_cases(out, case)
    for what, path in (("Case", out), ("Script", repro)):
        if path is not None and not quiet:
            console.print(f"{what}: {escape(str(path))}", soft_wrap=True)
