"""Processes that compile entry points for another one, which goes on meanwhile.

There are two, where there are two processors: the first types and lowers what is requested through its standard input,
with numba, and passes LLVM's code on to the second, which optimises it and keeps machine code on disk, where the other
process finds it. They end when their input does: with the process that started them, however that ends. They run
nothing of the program, take part in no signal from the terminal, and inherit no file.
"""

import gc
import os
import pickle
import queue
import subprocess
import sys
from atexit import register, unregister
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any, BinaryIO, NamedTuple

from cylcollide.runtime.compile import entry_point_named, examples

START = """
import sys, types
sys.path[:] = {path!r}
sys.modules[{package!r}] = types.ModuleType({package!r})
sys.modules[{package!r}].__path__ = {folders!r}
from {module} import {role}
{role}()
"""
"""The package is there with its folder, but not all that its users import."""

EVERYTHING = "cylcollide.warm_up.warm_up"
"""A request for all entry points: the module that knows them, which lies above this one."""


class Kept(NamedTuple):
    """Where machine code is to be kept."""

    directory: Path
    name: str
    tag: bytes


class Worker:
    """The processes, as seen by the one that starts them."""

    def __init__(self, directory: Path, processes: int) -> None:
        self.directory = directory
        self._requested: list[str] = []
        self._processes: list[subprocess.Popen[bytes]] = []
        with suppress(OSError, RuntimeError):
            self._start(processes)
        register(self.end)

    def _start(self, processes: int) -> None:
        """Start two processes, or one that does the work of both."""
        if not sys.executable or getattr(sys, "frozen", False):  # another program than Python: it would start itself
            return
        if processes == 1:
            self._begin("lower_and_optimise", subprocess.PIPE, subprocess.DEVNULL)
            return
        with self._begin("lower", subprocess.PIPE, subprocess.PIPE).stdout as passed_on:
            self._begin("optimise", passed_on, subprocess.DEVNULL)

    def _begin(self, role: str, given: Any, passed_on: Any) -> Any:
        package = __name__.partition(".")[0]
        folders = [os.fspath(Path(folder).resolve()) for folder in sys.modules[package].__path__]
        path = [os.fspath(Path(folder).resolve()) for folder in sys.path]
        start = START.format(path=path, package=package, folders=folders, module=__name__, role=role)
        process = subprocess.Popen(
            [sys.executable, "-c", start],
            stdin=given,
            stdout=passed_on,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )
        self._processes.append(process)
        return process

    def request(self, name: str, arguments: tuple[Any, ...]) -> bool:
        """Have an entry point compiled for arguments of these types; False if a process has ended, or never began.

        What was requested last is compiled first.
        """
        if not self.is_alive():
            return False
        if self._requested[-1:] != [name]:
            try:
                self._input.write(pickle.dumps((name, examples(arguments), self.directory)))
            except OSError:
                return False
            self._requested.append(name)
        return True

    @property
    def _input(self) -> Any:
        return self._processes[0].stdin

    def is_alive(self) -> bool:
        """Whether the processes have begun, and none has ended."""
        return bool(self._processes) and all(process.poll() is None for process in self._processes)

    def end(self) -> None:
        """End the processes now."""
        unregister(self.end)
        processes, self._processes = self._processes, []
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()
            _close(process)

    def leave_to_parent(self) -> None:
        """Let go of the processes, in a fork of the one that started them."""
        unregister(self.end)
        processes, self._processes = self._processes, []
        for process in processes:
            process.returncode = 0  # not a child of this process: nothing to wait for
            _close(process)


def _close(process: "subprocess.Popen[bytes]") -> None:
    if process.stdin is not None:
        process.stdin.close()


def lower() -> None:
    """Lower what is requested, and pass it on."""
    passed_on = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever else is printed
    passed: set[int] = set()

    def pass_on(lowered: Any, kept: Kept) -> None:
        texts = {number: text for number, text in lowered.called.texts.items() if number not in passed}
        passed.update(texts)
        try:
            pickle.dump((lowered._replace(called=lowered.called._replace(texts=texts)), kept), passed_on)
            passed_on.flush()
        except OSError:  # the other process has ended
            os._exit(1)

    _lower_requests(pass_on)


def lower_and_optimise() -> None:
    """Lower what is requested, and make machine code of it."""
    _lower_requests(finisher())


def optimise() -> None:
    """Make machine code of what the other process has lowered: the last first, which a program may be held up by."""
    lowered_ones = _begin_reading()
    finish, texts = finisher(), dict[int, str]()
    later: list[Any] = []
    while True:
        while not later or not lowered_ones.empty():
            lowered, kept = lowered_ones.get()
            texts.update(lowered.called.texts)
            later.append((lowered, kept))
        lowered, kept = later.pop()
        finish(lowered._replace(called=lowered.called._replace(texts=texts)), kept)


def _begin_reading() -> "queue.SimpleQueue[Any]":
    """What comes through standard input; the process ends with it, in the middle of whatever it does."""
    gc.disable()  # a fifth of the time; a compiler is gone when it has finished
    read: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def read_all(source: BinaryIO) -> None:
        try:
            while True:
                read.put(pickle.load(source))
        finally:
            os._exit(0)

    Thread(target=read_all, args=(sys.stdin.buffer,), daemon=True).start()
    return read


def _lower_requests(finish: Callable[[Any, Kept], None]) -> None:
    """Lower what is requested, the last first; and when there is nothing else to do, what may be next."""
    requests = _begin_reading()
    requested: list[Any] = []
    may_be_next: list[Any] = []
    lowered = set()
    while True:
        while not (requested or may_be_next) or not requests.empty():
            request = requests.get()
            (may_be_next if request[0] == EVERYTHING else requested).append(request)
        name, arguments, directory = (requested or may_be_next).pop()
        if name == EVERYTHING:
            for other in reversed(import_module(EVERYTHING).requests_of_every_query(directory)):
                if not other.is_made():
                    may_be_next.append((other.name, other.arguments, directory))
        elif name not in lowered:
            lowered.add(name)
            finish(*lower_one(name, arguments, directory))


def lower_one(name: str, arguments: tuple[Any, ...], directory: Path) -> tuple[Any, Kept]:
    """Lower an entry point; with where its machine code is to be kept."""
    from cylcollide.runtime import machine_code  # noqa: PLC0415  numba takes half a second

    entry = entry_point_named(name)
    lowered = machine_code.lower(entry.function, entry.allocates, entry.keeps_lock, arguments)
    return lowered, Kept(directory, name, machine_code.tag(arguments))


def finisher() -> Callable[[Any, Kept], None]:
    """What makes machine code and keeps it."""
    from cylcollide.runtime import code_cache, machine_code  # noqa: PLC0415  numba takes half a second

    def finish(lowered: Any, kept: Kept) -> None:
        code_cache.write(kept.directory, kept.name, kept.tag, machine_code.optimiser().machine_code(lowered))

    return finish
