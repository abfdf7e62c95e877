"""The scoreboard in a process of its own: an engine that ends its process is named, and the others go on without it."""

import multiprocessing
import signal
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection

from cylcollide.crosscheck.scoreboard.scoreboard import DEFAULT_RAYS, Progress, Score, scoreboard
from cylcollide.crosscheck.workers import interrupts_blocked


def guarded_scoreboard(
    engines: Sequence[str], rays: int = DEFAULT_RAYS, seed: int = 0, progress: Progress | None = None
) -> list[Score]:
    """What :func:`cylcollide.crosscheck.scoreboard.scoreboard` returns and raises, surviving engines that crash.

    After a crash all is asked again without the engine that was being asked. RuntimeError if there was none.
    """
    # Spawned, not forked: a fork copies the locks of threads, those of PyBullet among them.
    context, dead = multiprocessing.get_context("spawn"), dict[str, str]()
    while True:
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
                    case ("progress", *news) if progress is not None:
                        progress(*news)
                    case ("error", error):
                        raise error
                    case ("scores", scores):
                        return list(scores)
        except EOFError:
            process.join()
            code = process.exitcode or 0
            end = signal.Signals(-code).name if code < 0 else f"exit status {code}"
            if not blamed:
                raise RuntimeError(f"the scoreboard's process died before any engine was asked ({end})") from None
            dead[blamed] = f"{asked}: it ended the process ({end})"
        finally:
            listening.close()
            process.terminate()
            process.join()


def _work(speaking: Connection, engines: list[str], rays: int, seed: int, dead: dict[str, str]) -> None:
    def told(what: str) -> Callable[..., None]:
        return lambda *news: speaking.send((what, *news))

    # Sent at once and whole: what was said before a crash arrives.
    try:
        told("scores")(scoreboard(engines, rays, seed, told("progress"), told("watch"), dead))
    except (ValueError, ImportError) as error:
        told("error")(error)
