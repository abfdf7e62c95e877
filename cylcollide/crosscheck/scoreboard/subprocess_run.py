"""The scoreboard in a process of its own: an engine that ends its process is named, and the others go on without it."""

import multiprocessing
import signal
from collections.abc import Sequence
from multiprocessing.connection import Connection

from cylcollide.crosscheck.scoreboard.scoreboard import DEFAULT_RAYS, Progress, Score, scoreboard
from cylcollide.crosscheck.workers import interrupts_blocked


def guarded_scoreboard(
    engines: Sequence[str], rays: int = DEFAULT_RAYS, seed: int = 0, progress: Progress | None = None
) -> list[Score]:
    """Return what :func:`cylcollide.crosscheck.scoreboard.scoreboard` does, and survive engines that crash.

    After a crash all is asked again without the engine that was being asked.

    Raises
    ------
    ValueError, ImportError
        As there.
    RuntimeError
        If the process died while no engine was being asked.
    """
    dead: dict[str, str] = {}
    while True:
        outcome = _attempt(engines, rays, seed, progress, dead)
        if isinstance(outcome, Exception):
            raise outcome
        if outcome is not None:
            return outcome


def _attempt(
    engines: Sequence[str], rays: int, seed: int, progress: Progress | None, dead: dict[str, str]
) -> list[Score] | Exception | None:
    """Run it in a new process; None if that died, then `dead` names the engine to blame."""
    # Spawned, not forked: a fork copies the threads' locks of a process that already runs numba and PyBullet.
    context = multiprocessing.get_context("spawn")
    listening, speaking = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(speaking, list(engines), rays, seed, dead), daemon=True)
    with interrupts_blocked():
        process.start()
    speaking.close()
    blamed, asked = "", ""
    try:
        while True:
            match listening.recv():
                case ("watch", place, what):
                    blamed, asked = place, what
                case ("progress", *news):
                    if progress is not None:
                        progress(*news)
                case ("outcome", outcome):
                    return outcome  # type: ignore[no-any-return]  # what _work sent
    except EOFError:
        process.join()
        if not blamed:
            raise RuntimeError(f"the scoreboard's process died before any engine was asked ({_end(process)})") from None
        dead[blamed] = f"{asked}: it ended the process ({_end(process)})"
        return None
    finally:
        listening.close()
        process.terminate()
        process.join()


def _end(process: multiprocessing.process.BaseProcess) -> str:
    code = process.exitcode or 0
    return signal.Signals(-code).name if code < 0 else f"exit status {code}"


def _work(speaking: Connection, engines: list[str], rays: int, seed: int, dead: dict[str, str]) -> None:
    # Sent at once and whole: what was said before a crash arrives.
    try:
        outcome: object = scoreboard(
            engines,
            rays,
            seed,
            lambda *news: speaking.send(("progress", *news)),
            lambda place, what: speaking.send(("watch", place, what)),
            dead,
        )
    except (ValueError, ImportError) as error:
        outcome = error
    speaking.send(("outcome", outcome))
