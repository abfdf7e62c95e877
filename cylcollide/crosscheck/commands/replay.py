"""The command ``cylcollide replay``: explains cases of a file, and optionally writes a smaller case and a script."""

import json
from collections.abc import Iterator, Sequence
from math import dist
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.progress import track
from rich.text import Text

from cylcollide.crosscheck.cases import wording
from cylcollide.crosscheck.cases.case import BULLET, PLACE, Case, read_chosen, write_cases
from cylcollide.crosscheck.cases.minimise import minimise, smaller_by
from cylcollide.crosscheck.cases.mirror_ray import is_reproduced, read_ray, replay_ray
from cylcollide.crosscheck.cases.recast import EngineResult, Replayed, engine_title, recast
from cylcollide.crosscheck.cases.trials import is_proved
from cylcollide.crosscheck.cases.wording import angle, length
from cylcollide.crosscheck.engine import DEFAULT
from cylcollide.crosscheck.records import JsonObject
from cylcollide.process.files import write_text
from cylcollide.terminal import errors_in_one_line, keep_inputs, stop, table


@errors_in_one_line(ImportError)
def replay(
    case: Annotated[
        Path, typer.Argument(help="cases.json, a single case, rays.npz, or a saved `mirror.explain`.", metavar="CASE")
    ],
    row: Annotated[int | None, typer.Option(help="Which case of the file, from 0. Default: all, a line each.")] = None,
    place: Annotated[str | None, typer.Option(help="Which case, by its place in the sweep.", metavar=PLACE)] = None,
    smaller: Annotated[bool, typer.Option("--minimise", help="Make the case as small as its cause allows.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write the case that is explained, as JSON.")] = None,
    repro: Annotated[Path | None, typer.Option(help="Write a script that needs only the engine.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines instead.")] = False,
) -> None:
    """Repeat a saved disagreement with all engines, and explain it step by step.

    Exit status 0 if the disagreement is reproduced, 1 if it is not, 2 for a bad file or a missing engine.
    """
    keep_inputs([case], out=out, repro=repro)
    console = Console(highlight=False, quiet=as_json)
    if (ray := read_ray(case)) is not None:
        if row is not None or place is not None or smaller or out or repro:
            stop(f"{case}: expected no options but --json for the ray of a mirror, got others; leave them out")
        _replay_ray(console, ray, as_json=as_json)
        return
    cases = read_chosen(case, row, place)
    if len(cases) > 1 and (smaller or out or repro):
        stop(f"--minimise, --out and --repro take one case, got {len(cases)}; choose one with --row or --place")
    if repro is not None and cases[0].engine != BULLET:
        stop(f"--repro: there are scripts for cases of PyBullet only, got one of {cases[0].engine}; leave it out")
    found: list[Replayed] = []
    try:
        # Show the bar only on a terminal.
        terminal = Console(stderr=True)
        hidden = len(cases) == 1 or not terminal.is_terminal
        for one in track(cases, "casting again", console=terminal, transient=True, disable=hidden):
            found.append(recast(one))
    except KeyboardInterrupt:
        _show(console, found, whole=False, as_json=as_json)
        raise
    if smaller and found[0].reproduced:
        before = found[0].case
        small = minimise(before, found[0].engine_of)
        console.print(f"Minimised: {smaller_by(before, small)}.")
        found = [recast(small)]
    # Two kinds of one segment, at one place, are explained in full.
    _show(console, found, whole=len({one.case.address for one in found}) == 1, as_json=as_json)
    if out is not None:
        write_cases(out, found[0].case)
        console.print(f"Case: {escape(str(out))}", soft_wrap=True)
    if repro is not None:
        from cylcollide.crosscheck.report.page import repro_source  # noqa: PLC0415  help does without Plotly

        write_text(repro, repro_source(found[0].case))
        console.print(f"Script: {escape(str(repro))}", soft_wrap=True)
    if not all(one.reproduced for one in found):
        raise typer.Exit(1)


def _replay_ray(console: Console, ray: JsonObject, *, as_json: bool) -> None:
    """Repeat one ray in a mirror and in PyBullet; exit status as in `replay`."""
    found = replay_ray(ray)
    reproduced = is_reproduced(ray, found)
    if as_json:
        said = {"reproduced": reproduced, "cause": found.cause, "word": found.word, "clearance": found.clearance}
        typer.echo(json.dumps(ray | said, indent=1))
    else:
        console.print(Text(str(found)))
        console.print(Text("Reproduced.", "bold green") if reproduced else Text("NOT reproduced.", "bold red"))
    if not reproduced:
        raise typer.Exit(1)


def _show(console: Console, stories: list[Replayed], *, whole: bool, as_json: bool) -> None:
    """Print a line per case, or everything about each."""
    if as_json:
        typer.echo(json.dumps([story.record(whole=whole) for story in stories], indent=1, allow_nan=False))
    elif whole:
        for story in stories:
            print_story(console, story)
    else:
        overview(console, stories)


SHOWN = 6
"""Largest number of limbs that are listed; of a larger world only the relevant limbs are."""
MISSING = "pip install"
"""Part of the message of an engine whose package is missing."""
NOTHING = 1e-12
"""Metres below which tables show no error."""


def print_story(console: Console, story: Replayed) -> None:
    """Print the story step by step."""
    case = story.case
    console.rule(f"[bold]{escape(case.address)}: {case.kind}", align="left")
    console.print(Text(wording.headline(story.again or case), style="bold"))
    steps = {
        "The limbs and the segment, in metres": _question(case),
        "The true answer, and why": _truth(story),
        "What the engines say": _engines(story),
        "Why": _why(story),
        "One thing changed at a time, and cast again": _interventions(story),
    }
    for number, (title, said) in enumerate(steps.items(), 1):
        console.print(f"\n[bold cyan]{number}. {title}")
        for part in said:
            console.print(part)
    console.print()
    console.print(verdict(story))


def verdict(story: Replayed) -> Text:
    """Whether the case was reproduced, in one line."""
    again = story.again
    if not story.reproduced or again is None:
        return Text.assemble(("NOT reproduced: ", "bold red"), story.instead)
    places = [one.fraction_engine for one in (story.case, again)]
    then, now = ("no hit" if place is None else f"{place!r} of the way" for place in places)
    how = "to the last bit" if then == now else f"at another place than saved ({then}, now {now})"
    return Text.assemble(("Reproduced ", "bold green"), f"{how}; rational arithmetic confirms the true answer.")


def overview(console: Console, stories: Sequence[Replayed]) -> None:
    """Print one line per case."""
    several = len({engine_title(story.case) for story in stories}) > 1
    shown = table(["row", *(("engine",) if several else ()), "case", "kind", "cause", "reproduced"], padding=0)
    shown.columns[0].justify = "right"
    for row, story in enumerate(stories):
        again = story.again or story.case
        said = Text("yes", style="green") if story.reproduced else Text(f"no: {story.instead}", style="red")
        engine = (engine_title(story.case),) if several else ()
        shown.add_row(str(row), *engine, story.case.address, story.case.kind, again.cause, said)
    console.print(shown)
    done = sum(story.reproduced for story in stories)
    console.print(f"{done:,} of {len(stories):,} reproduced; --row N tells the whole story of one.")


def _question(case: Case) -> Iterator[RenderableType]:
    listed = table(["", "from", "to", "radius", "length"])
    shown = range(len(case.radius)) if len(case.radius) <= SHOWN else case.about
    for limb in shown:
        ends = case.p1[limb], case.p2[limb]
        listed.add_row(case.name(limb), *map(_point, ends), f"{case.radius[limb]:g}", f"{dist(*ends):g}")
    listed.add_row("segment", _point(case.start), _point(case.end), "", f"{case.length:g}")
    yield listed
    if case.setup != DEFAULT:
        yield f"PyBullet's bodies: {case.setup.label}."
    if len(shown) < len(case.radius):
        yield f"And {len(case.radius) - len(shown)} other limbs, which neither answer names."


def _point(point: Sequence[float]) -> str:
    return f"({', '.join(f'{x:.9g}' for x in point)})"


def _truth(story: Replayed) -> Iterator[RenderableType]:
    exact, case = story.exact, story.case
    hit = f"{_name(case, exact.limb)} after {_after(case, exact.fraction)}, face {exact.face.name}"
    agree = "this library says the same" if story.proved else f"this library says limb {story.ours.limb}"
    yield f"Rational arithmetic: the segment hits {'no limb' if exact.limb < 0 else hit}; {agree}."
    for explanation in story.explanations:
        yield Text(str(explanation))


def _engines(story: Replayed) -> Iterator[RenderableType]:
    case, exact = story.case, story.exact
    shown = table(["engine", "version", "hits"], ["after", "error", "normal off"])
    shown.add_column()
    true = _name(case, exact.limb), _after(case, exact.fraction)
    shown.add_row("rational arithmetic", "", *true, "", "", "", style="bold")
    results, absent = story.engine_results
    for place, result in enumerate(results):
        shown.add_row(*_engine_row(case, result), style="yellow" if place == 0 else "")
    yield shown
    missing = [name for name, why in absent.items() if MISSING in why]
    if missing:
        yield f"Not asked, since not installed: {', '.join(missing)} (pip install 'cylcollide\\[peers]')."
    for name, why in absent.items():
        if name not in missing:
            yield f"No answer from {name}: {escape(why)}."


def _engine_row(case: Case, result: EngineResult) -> tuple[str | Text, ...]:
    answer = result.answer
    if answer is None:
        return result.engine, result.version, "no answer", "", "", "", Text("wrong", style="red")
    error, off = result.error, "" if result.normal_off is None else angle(result.normal_off)
    early = "" if error is None else f"{length(abs(error))} {'late' if error > 0 else 'early'}"
    early = "none" if error is not None and abs(error) < NOTHING else early
    right = "right limb" if answer.limb >= 0 else "right"
    verdict = Text(right, style="green") if result.right else Text("wrong", style="red")
    hit = _name(case, answer.limb), _after(case, answer.fraction)
    return result.engine, result.version, *hit, early, off, verdict


def _name(case: Case, limb: int) -> str:
    return case.name(limb) if limb >= 0 else "nothing"


def _after(case: Case, fraction: float | None) -> str:
    return "" if fraction is None else f"{fraction * case.length:.9g} m"


def _why(story: Replayed) -> Iterator[RenderableType]:
    again, saved = story.again, story.case.cause
    if again is None:
        yield "There is no such disagreement now, so that there is no cause to find."
        return
    yield f"[bold]{again.cause[:1].upper()}{again.cause[1:]}[/]. {escape(story.why or '')}"
    if story.measured:
        yield f"Measured on {wording.engine_name(again)} with a limb of this size: {', '.join(story.measured)}."
    if saved not in ("", again.cause):
        yield f"[yellow]The case was saved with another cause: {saved}."
    for other in story.now:
        if other.kind != again.kind:
            yield f"The same segment also: {escape(wording.headline(other))} ({other.cause})"


def _interventions(story: Replayed) -> Iterator[RenderableType]:
    if story.case.engine != BULLET:
        yield "None: only PyBullet has settings to change."
        return
    if not story.trials:
        yield "None applies: no change is predicted to do what could be seen."
        return
    shown = table(["", "", ""], box=None, show_header=False, padding=(0, 2, 0, 0))
    for trial in story.trials:
        said = Text("it does", style="green") if trial.held else Text("it does NOT", style="red")
        shown.add_row(trial.change, f"predicted: it {trial.predicted}", said)
    yield shown
    yield "The cause is proved." if is_proved(story.trials) else "The cause is not proved by this."
