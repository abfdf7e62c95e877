"""Shared parts of the commands: errors in one line, folders that can be written, progress bars."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table


def stop(message: str, status: int = 2) -> NoReturn:
    """End the command with a line on standard error; the status is 2 for bad usage."""
    typer.echo(f"cylcollide: {message}", err=True)
    raise typer.Exit(status)


@contextmanager
def errors_in_one_line(*others: type[Exception]) -> Iterator[None]:
    """End the command with status 2 and one line on a file that cannot be opened, a ValueError or one of `others`."""
    expected: tuple[type[Exception], ...] = (ValueError, *others)
    try:
        yield
    except (typer.Exit, BrokenPipeError):  # a RuntimeError; an OSError that `cli.main` reports
        raise
    except OSError as error:
        named = error.filename and f"cannot open {error.filename}: {error.strerror or error}; name another file"
        stop(named or " ".join(str(error).split()))
    except expected as error:
        stop(" ".join(str(error).split()))


def keep_inputs(inputs: Iterable[Path | None], **outputs: Path | None) -> None:
    """End the command if the file of an output option, by its name, is one that the command reads, or has no folder."""
    read = [file for file in inputs if file is not None and file.exists()]
    for name, out in outputs.items():
        if out is not None and not out.parent.is_dir():
            stop(f"cannot open {out}: there is no folder {out.parent}; name another file")
        if out is not None and out.exists() and any(map(out.samefile, read)):
            stop(f"--{name}: expected another file than those that are read, got {out}; choose another name")


def refuse_together(option: str, others: Mapping[str, bool], why: str) -> None:
    """End the command if an option is given with one of the others, by which are given: they would do nothing."""
    ignored = [name for name, given in others.items() if given]
    if ignored:
        stop(f"{option} does not go with {' or '.join(ignored)}: {why}; leave out one or the other")


@contextmanager
def writable(out: Path) -> Iterator[None]:
    """Make a folder; end the command if it cannot be written. A block that fails leaves no folder without files."""
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        try:
            out.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=out).close()
        except OSError as error:
            stop(f"cannot write to {out}: {error.strerror}; choose another folder with --out")
        yield
    except BaseException:
        with suppress(OSError):  # it is not empty
            for folder in made:
                folder.rmdir()
        raise


@contextmanager
def until_interrupted(url: str) -> Iterator[None]:
    """Print where a page is, and end well at Ctrl-C, by which it is meant to end."""
    with suppress(KeyboardInterrupt):
        typer.echo(f"{url}  (Ctrl-C ends it)")
        yield
    typer.echo("Ended.")


@contextmanager
def bars(
    console: Console, names: Mapping[str, str], *, transient: bool = False
) -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function of a task out of ``names``, how much of it is done, and its total; one bar per task."""
    text = TextColumn("{task.description}")
    columns = (SpinnerColumn(), text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=transient) as shown:
        tasks = {what: shown.add_task(said, total=None, visible=False) for what, said in names.items()}

        def progress(what: str, done: int, of: int) -> None:
            shown.update(tasks[what], completed=done, total=of, visible=True)

        yield progress


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
