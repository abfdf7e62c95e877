"""The command line ``cylcollide``: the table of its commands, each of which is defined beside the code it runs.

Nothing beyond the core is imported before :func:`main` runs, and of the commands only the one requested. Help is quick,
and a missing extra gives one line, not a traceback, and does not disable other commands.
"""

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from io import TextIOWrapper
from typing import Annotated, Any

from cylcollide._version import __version__, to_install


@dataclass(frozen=True)
class Command:
    """The module and name of a command's function, the extra that installs what it needs, and what Ctrl-C leaves."""

    module: str
    function: str
    extra: str
    kept: str
    example: str
    """Arguments of a call that runs."""
    does: str
    needs: tuple[str, ...] = ("typer", "rich")
    """Packages without which it cannot do its work; it imports some of them late."""


CROSSCHECK_NEEDS = ("typer", "rich", "pybullet", "jinja2", "plotly", "pydantic")

COMMANDS = {
    "crosscheck": Command(
        "cylcollide.crosscheck.commands.crosscheck",
        "crosscheck",
        "crosscheck",
        "finished chunks are kept in the folder of --out, and the same command goes on from there",
        "--rays 2000 --motion walk",
        "compare PyBullet with the exact answer: tables, a report, scripts",
        CROSSCHECK_NEEDS,
    ),
    "replay": Command(
        "cylcollide.crosscheck.commands.replay",
        "replay",
        "crosscheck",
        "what was finished is printed, no file is changed; give the same command again, or --row for one case",
        "crosscheck-report/rays.npz --row 0",
        "explain one saved disagreement",
        CROSSCHECK_NEEDS,
    ),
    "rejudge": Command(
        "cylcollide.shotlog.command",
        "rejudge",
        "rejudge",
        "the log is as it was; what was exported or drawn before is kept",
        "match.shots --shot 0",
        "judge the shots of a log again",
    ),
    "range": Command(
        "cylcollide.view.command",
        "open_range",
        "view",
        "nothing was written",
        "--people 4",
        "shoot at people in motion, in the browser",
        ("typer", "rich", "viser"),
    ),
    "view": Command(
        "cylcollide.view.command",
        "view_file",
        "view",
        "files that were finished are kept",
        "limbs.npz --html limbs.html",
        "see limbs, a rig, a log or cases",
        ("typer", "rich", "viser"),
    ),
    "info": Command(
        "cylcollide.process.info",
        "print_info",
        "crosscheck",
        "nothing was done",
        "",
        "what belongs into a bug report",
        (),
    ),
    "warm-up": Command(
        "cylcollide.process.info",
        "print_nothing_to_warm_up",
        "crosscheck",
        "nothing was done",
        "",
        "nothing: machine code comes with the package",
        (),
    ),
    "bench": Command(
        "cylcollide.bench.command",
        "bench",
        "bench",
        "finished tables are kept in the folder of --out; go on with the other --workloads and another --out",
        "--scene scene.npz --rays 1000 --rounds 3",
        "measure all engines side by side",
        ("typer", "rich", "matplotlib"),
    ),
}

INTERRUPTED = 130
"""Exit status after Ctrl-C: 128 and the number of SIGINT, as shells have it."""


def main() -> None:
    """Run the command line and exit with its status: 0 success, 1 a finding, 2 bad usage, 130 interrupted."""
    for name in {"SIGTERM", "SIGHUP"} & set(dir(signal)):
        if signal.getsignal(number := getattr(signal, name)) == signal.SIG_DFL:  # nohup ignores one
            signal.signal(number, _end)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that has no µ
    requested = next((word for word in sys.argv[1:] if word in COMMANDS), None)
    try:
        try:
            _run(requested)
        finally:
            print(end="", flush=True)
    except (OSError, SystemExit) as error:  # Click and Rich exit if standard output is closed
        lost = error.__context__ if isinstance(error, SystemExit) else error
        if lost is not error and not isinstance(lost, BrokenPipeError):
            raise
        # Python would write the rest again at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(lost, BrokenPipeError) and "--help" in sys.argv:
            sys.exit()
        print(f"cylcollide: {lost}", file=sys.stderr)
        sys.exit(2)
    except (KeyboardInterrupt, _Interrupted):
        kept = f"; {COMMANDS[requested].kept}" if requested else ""
        print(f"cylcollide: interrupted{kept}", file=sys.stderr)
        sys.exit(INTERRUPTED)


def _end(number: int, _frame: object) -> None:
    """End as an error does, with what was started, and with the status that shells have for a signal."""
    sys.exit(128 + number)


def example_of(name: str) -> str:
    """A call of a command that runs."""
    return f"cylcollide {name} {COMMANDS[name].example}".strip()


def overview() -> str:
    """What one can do, a line each with an example."""
    head = "cylcollide: exact hit detection on character limbs. What you can do:"
    lines = [f"  {example_of(name):62} {one.does}" for name, one in COMMANDS.items() if name != "warm-up"]
    return "\n".join([head, *lines, "Options: cylcollide COMMAND --help"])


def _run(requested: str | None) -> None:
    if not sys.argv[1:]:
        print(overview())
        return
    if sys.argv[1:] == ["--version"]:
        print_version(True)
    if requested and not COMMANDS[requested].needs and sys.argv[1:] == [requested]:
        _loaded(COMMANDS[requested])()
        return
    if find_spec("typer") is None:
        sys.exit(_remedy("typer", COMMANDS[requested].extra if requested else "crosscheck"))
    import typer  # noqa: PLC0415  # belongs to an extra: imported only when the command line is used

    app = typer.Typer(name="cylcollide", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
    app.callback()(_start(typer))
    for name, command in COMMANDS.items():
        if requested is None:  # for the overview and the message of a wrong word
            app.command(name)(_named_only(command))
        elif requested == name:
            app.command(name, epilog=f"Example: {example_of(name)}")(_interruptible(_loaded(command)))
    app(prog_name="cylcollide")


class _Interrupted(BaseException):
    """KeyboardInterrupt under a name for which Click has neither a message nor an exit status."""


def _interruptible(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def interruptible(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except KeyboardInterrupt:
            raise _Interrupted from None

    return interruptible


def _loaded(command: Command) -> Callable[..., Any]:
    """Import a command; if a package that it needs is missing, exit with the remedy."""
    if missing := _missing(command):
        sys.exit(_remedy(missing, command.extra))
    function: Callable[..., Any] = getattr(import_module(command.module), command.function)
    return function


def _named_only(command: Command) -> Callable[[], None]:
    """A function in place of a command that is not imported, for the list of commands."""

    def named() -> None: ...

    unusable = f"(not usable here: install the extra {command.extra!r})"  # Rich would swallow brackets
    named.__doc__ = unusable if _missing(command) else f"{command.does[0].upper()}{command.does[1:]}."
    return named


def _missing(command: Command) -> str | None:
    """The first package that a command needs and that is not installed; none is imported."""
    return next((package for package in command.needs if find_spec(package) is None), None)


def print_version(wanted: bool) -> None:
    """Print the version if it is wanted, and exit."""
    if wanted:
        print(f"cylcollide {__version__}")
        sys.exit()


def _start(typer: Any) -> Callable[..., None]:
    shown = typer.Option("--version", callback=print_version, is_eager=True, help="Print the version and exit.")

    def start(_version: Annotated[bool, shown] = False) -> None:
        """Exact hit detection on character limbs, cross-checked against other engines."""

    return start


def _remedy(package: str, extra: str) -> str:
    return f"cylcollide: the command line needs {package}, which is missing: {to_install(extra)}"
