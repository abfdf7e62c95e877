"""The command line ``cylcollide``: commands are added here, each lives with the work it starts.

Nothing beyond the core is imported before :func:`main` runs, and of the commands only the one that is asked for, so
that a missing extra is one line, not a traceback, and stops no other command.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any, NamedTuple


class Command(NamedTuple):
    """Where a command lives, and the extra that brings what it needs."""

    module: str
    function: str
    extra: str


COMMANDS = {
    "crosscheck": Command("cylcollide.crosscheck.commands.crosscheck", "crosscheck", "crosscheck"),
    "replay": Command("cylcollide.crosscheck.commands.replay", "replay", "crosscheck"),
    "bench": Command("cylcollide.bench.command", "bench", "bench"),
}

EXTRA_PACKAGES = ("typer", "click", "rich", "pybullet", "pybullet_data", "jinja2", "plotly", "matplotlib")
"""What the extras bring; a missing one is named with the remedy."""


def main() -> None:
    """Run the command line and exit with its status: 0 for success, 1 for a finding, 2 for bad usage."""
    asked = next((word for word in sys.argv[1:] if word in COMMANDS), None)
    try:
        import typer  # noqa: PLC0415  # belongs to an extra: imported only when the command line is used
    except ImportError as missing:
        sys.exit(_missing_extra(missing, COMMANDS[asked].extra if asked else "crosscheck"))
    app = typer.Typer(name="cylcollide", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
    app.callback()(_start(typer))
    for name, command in COMMANDS.items():
        if asked in {None, name}:
            app.command(name)(_loaded(command, asked is not None))
    app(prog_name="cylcollide")


def _loaded(command: Command, asked: bool) -> Callable[..., Any]:
    """Import a command. One that cannot be is an error if it was asked for, else it is listed with the remedy."""
    try:
        function: Callable[..., Any] = getattr(import_module(command.module), command.function)
    except ImportError as missing:
        message = _missing_extra(missing, command.extra)
        if asked:
            sys.exit(message)

        def absent() -> None: ...

        absent.__doc__ = f"(not usable here: install the extra {command.extra!r})"  # Rich would swallow brackets
        return absent
    return function


def _start(typer: Any) -> Callable[..., None]:
    def print_version(wanted: bool) -> None:
        if wanted:
            from cylcollide import __version__  # noqa: PLC0415  # only where it is asked for

            typer.echo(f"cylcollide {__version__}")
            raise typer.Exit

    shown = typer.Option("--version", callback=print_version, is_eager=True, help="Print the version and exit.")

    def start(_version: Annotated[bool, shown] = False) -> None:
        """Exact hit detection on character limbs, cross-checked against other engines."""

    return start


def _missing_extra(missing: ImportError, extra: str) -> str:
    cause = missing.__cause__ if isinstance(missing.__cause__, ImportError) else missing
    package = (cause.name or "").partition(".")[0]
    if package not in EXTRA_PACKAGES:
        raise missing
    return f"cylcollide: the command line needs {package}, which is missing: pip install 'cylcollide[{extra}]'"
