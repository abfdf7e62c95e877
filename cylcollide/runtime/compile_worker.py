"""A process that compiles entry points for another one, which goes on meanwhile.

It gets requests through its standard input, keeps machine code on disk, where the other process finds it, and ends when
that input does: with the process that started it, however that ends. It runs nothing of the program, takes part in no
signal from the terminal, and inherits no file.
"""

import os
import pickle
import queue
import subprocess
import sys
from atexit import register, unregister
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

from cylcollide.runtime.compile import ENTRY_POINTS, examples

START = "import sys; sys.path[:] = sys.argv[1].split({separator!r}); from {module} import main; main()"

EVERYTHING = "cylcollide.warm_up.warm_up"
"""A request for all entry points: the module that knows them, which lies above this one."""


class Worker:
    """The process, as seen by the one that starts it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._requested: list[str] = []
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError, RuntimeError):
            self._process = self._start()
        register(self.end)

    @staticmethod
    def _start() -> "subprocess.Popen[bytes] | None":
        if not sys.executable or getattr(sys, "frozen", False):  # another program than Python: it would start itself
            return None
        start = START.format(separator=os.pathsep, module=__name__)
        path = os.pathsep.join(os.fspath(Path(folder).resolve()) for folder in sys.path)
        return subprocess.Popen(
            [sys.executable, "-c", start, path],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )

    def request(self, name: str, arguments: tuple[Any, ...]) -> bool:
        """Have an entry point compiled for arguments of these types; False if the process has ended, or never began.

        What was requested last is compiled first.
        """
        if self._process is None or self._process.stdin is None or not self.is_alive():
            return False
        if self._requested[-1:] != [name]:
            try:
                self._process.stdin.write(pickle.dumps((name, examples(arguments), self.directory)))
            except OSError:
                return False
            self._requested.append(name)
        return True

    def is_alive(self) -> bool:
        """Whether the process has begun, and not ended."""
        return self._process is not None and self._process.poll() is None

    def end(self) -> None:
        """End the process now."""
        unregister(self.end)
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            if process.stdin is not None:
                process.stdin.close()

    def leave_to_parent(self) -> None:
        """Let go of the process, in a fork of the one that started it."""
        unregister(self.end)
        process, self._process = self._process, None
        if process is not None:
            process.returncode = 0  # not a child of this process: nothing to wait for
            if process.stdin is not None:
                process.stdin.close()


def main() -> None:
    """Compile what is requested, until standard input ends."""
    requests: queue.LifoQueue[Any] = queue.LifoQueue()  # the last one is what the program is held up by
    Thread(target=_read_requests, args=(requests,), daemon=True).start()
    compiled = set()
    while True:
        name, arguments, directory = requests.get()
        if name == EVERYTHING:
            _compile_missing(directory, arguments)
        elif name not in compiled:
            compile_one(name, arguments, directory)
            compiled.add(name)


def _compile_missing(directory: Path, requested: tuple[str, ...]) -> None:
    """Compile what is not there yet, but for what another process does."""
    for request in import_module(EVERYTHING).requests_of_every_query(directory):
        if request.name not in requested and not request.is_made():
            compile_one(request.name, request.arguments, directory)


def _read_requests(requests: "queue.LifoQueue[Any]") -> None:
    """Queue requests; end the process with its input, in the middle of whatever it does."""
    try:
        while True:
            requests.put(pickle.load(sys.stdin.buffer))
    finally:
        os._exit(0)


def compile_one(name: str, arguments: tuple[Any, ...], directory: Path) -> None:
    """Compile an entry point and keep its machine code."""
    from cylcollide.runtime import code_cache, machine_code  # noqa: PLC0415  numba takes half a second

    import_module(f"cylcollide.{name.rpartition('.')[0]}")
    entry = ENTRY_POINTS[name]
    _, content = machine_code.build(entry.function, entry.allocates, entry.keeps_lock, arguments)
    code_cache.write(directory, name, machine_code.tag(arguments), content)
