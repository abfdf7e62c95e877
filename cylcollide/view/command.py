"""The commands ``cylcollide view``, for a file in the browser, and ``cylcollide range``, for people to shoot at."""

import json
import sqlite3
import webbrowser
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Annotated, Any

import typer

from cylcollide.characters.policy import Policy
from cylcollide.characters.rig import Rig
from cylcollide.limbs.figures import PORT
from cylcollide.limbs.limbs import Limbs
from cylcollide.shotlog.logged import LoggedShots
from cylcollide.shotlog.source import SQLITE
from cylcollide.terminal import errors_in_one_line, keep_inputs, stop, until_interrupted
from cylcollide.view.firing import POLICY, make_firing
from cylcollide.view.people import range_rig
from cylcollide.view.subjects import Subject, subject_of, subject_of_cases

EXPECTED = "limbs (.npz), a rig (.json), a shot log, or cases of `cylcollide crosscheck`"


@errors_in_one_line(RuntimeError, sqlite3.Error)
def view_file(
    file: Annotated[
        Path, typer.Argument(help=f"{EXPECTED[0].upper()}{EXPECTED[1:]}.", metavar="FILE", show_default=False)
    ],
    html: Annotated[Path | None, typer.Option(help="Write a page that stands alone, and open nothing.")] = None,
    png: Annotated[Path | None, typer.Option(help="Write a picture by Chromium, and open nothing.")] = None,
    shot: Annotated[int | None, typer.Option(min=0, help="Begin with this shot or case.")] = None,
    up: Annotated[str, typer.Option(help="The axis that points up: y, z or auto.")] = "auto",
    port: Annotated[int, typer.Option(min=1024, max=65535, help="Of this machine alone, or the next one.")] = PORT,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
) -> None:
    """Show limbs, a rig, a shot log or cases of the cross-check in a browser on this machine, without a network."""
    from cylcollide.view.viewer import view  # noqa: PLC0415  viser takes long; help does without it

    keep_inputs([file], html=html, png=png)
    opens = browser and html is None and png is None
    with ExitStack() as opened:
        subject = read_subject(file, opened)
        count = len(subject.shots)
        if shot is not None and shot >= count:
            expected = f"less than {count}, the shots of {file}" if count else f"a file with shots, {file} has none"
            stop(f"--shot: expected {expected}, got {shot}")
        viewer = opened.enter_context(closing(view(subject, up=up, port=port, open_browser=opens)))  # type: ignore[arg-type]
        if shot is not None:
            viewer.choose(shot)
        if png is not None:
            viewer.save_png(png)
            typer.echo(f"Picture: {png}")
        if html is not None:
            viewer.save_html(html)
            typer.echo(f"Page: {html}")
        if html is None and png is None:
            with until_interrupted(viewer.url):
                viewer.wait()


def read_subject(file: Path, opened: ExitStack) -> Subject:
    """The subject in a file, which `opened` closes; OSError or ValueError if it cannot be read or viewed."""
    with file.open("rb") as stream:
        head = stream.read(len(SQLITE))
    if head == SQLITE:
        return subject_of(opened.enter_context(LoggedShots(file)))
    if file.suffix == ".json":
        try:
            record: Any = json.loads(file.read_bytes())
        except (ValueError, RecursionError):
            record = {}  # the reader of rigs reports the error
        is_rig = isinstance(record, dict) and "family" not in record
        return subject_of(Rig.load(file)) if is_rig else _cases(file)
    if file.suffix != ".npz":
        raise ValueError(f"{file}: expected {EXPECTED}, got another file; see docs/view.md")
    try:
        return subject_of(Limbs.load(file))
    except ValueError as error:
        try:
            return _cases(file)
        except (ValueError, ImportError):
            raise error from None


def _cases(file: Path) -> Subject:
    from cylcollide.crosscheck.cases.case import read_chosen  # noqa: PLC0415  needs another extra

    return subject_of_cases(read_chosen(file, None, None), f"cases of {file.name}")


def open_range(
    people: Annotated[int, typer.Option(min=1, max=256, help="How many people.")] = 16,
    rig: Annotated[Path | None, typer.Option(help="Their rig, as JSON. Default: a humanoid, z up.")] = None,
    motion: Annotated[
        list[Path] | None, typer.Option(help="BVH, glTF or DeepMimic, again for more. Default: PyBullet's.")
    ] = None,
    policy: Annotated[Path | None, typer.Option(help="A policy, as JSON. Default: the first limb.")] = None,
    energy: Annotated[float, typer.Option(min=0.0, help="Of a shot.")] = 25.0,
    seed: Annotated[int, typer.Option(min=0, help="Of places and beginnings.")] = 0,
    port: Annotated[int, typer.Option(min=1024, max=65535, help="Of this machine alone, or the next one.")] = PORT,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
) -> None:
    """Shoot at people in motion by a click: limb, distance, damage, PyBullet's answer, and latency as a slider."""
    from cylcollide.view.range import Range  # noqa: PLC0415  as above
    from cylcollide.view.viewer import has_display  # noqa: PLC0415

    with errors_in_one_line():
        own = range_rig() if rig is None else Rig.load(rig)
        chosen = POLICY if policy is None else Policy.load(policy)
        shown = Range(make_firing(own, motion or [], people, seed, chosen, energy), port)
    with closing(shown), until_interrupted(shown.url):
        if browser and has_display():
            webbrowser.open(shown.url)
        shown.run()
