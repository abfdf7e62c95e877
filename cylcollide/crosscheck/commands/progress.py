"""The bars that show a person how far a command has come."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from cylcollide.warm_up.warm_up import warm_up


@contextmanager
def bars(console: Console, names: Mapping[str, str]) -> Iterator[Callable[[str, int, int], None]]:
    """Yield what is given a task out of ``names``, how much of it is done, and how much there is; one line a task."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as shown:
        tasks = {what: shown.add_task(text, total=None, visible=False) for what, text in names.items()}

        def progress(what: str, done: int, of: int) -> None:
            shown.update(tasks[what], completed=done, total=of, visible=True)

        yield progress


def compile_ahead(progress: Callable[[str, int, int], None], jobs: int | None) -> None:
    """Make machine code before processes that need it, as a step of its own; none where it is turned off."""
    with suppress(RuntimeError):
        warm_up(jobs, lambda done, of: progress("compile", done, of))
