"""Entry points: the compiled functions that Python calls. Plain Python answers until there is machine code.

Machine code is made by processes of its own (`compile_worker.py`), kept on disk (`code_cache.py`), and loaded between
two calls; the results have the same bits, so nothing changes but the speed. What is done when is set by
`CYLCOLLIDE_COMPILE`:

- `background` (default): calls are answered by plain Python. Once that has taken `PLAIN_SECONDS` in all, machine code
  is loaded, or made meanwhile. Only a call that plain Python would spend longer on than the compiler is held up.
- `now`: the first call of each entry point is held up until its machine code is there.

`NUMBA_DISABLE_JIT=1` turns machine code off.
"""

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from threading import Lock, local
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from cylcollide.constants import PLAIN_ROW_SECONDS, PLAIN_SECONDS, WAIT_SECONDS
from cylcollide.runtime import code_cache
from cylcollide.runtime.compile import ENTRY_POINTS, MARKED, Place, examples
from cylcollide.runtime.compile_worker import EVERYTHING, Worker
from cylcollide.runtime.threads import uninterrupted

Result = TypeVar("Result")
Parameters = ParamSpec("Parameters")
Function = Callable[..., Any]

POLL_SECONDS = 0.02
"""Between two looks for machine code that is being made."""


class Mode(Enum):
    """When machine code is made."""

    OFF = "off"
    NOW = "now"
    BACKGROUND = "background"


def _mode_of_environment() -> Mode:
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return Mode.OFF
    given = os.environ.get("CYLCOLLIDE_COMPILE", "background")
    if given not in ("background", "now"):
        raise ValueError(f"CYLCOLLIDE_COMPILE: expected background or now, got {given!r}; unset it for background")
    return Mode(given)


MODE = _mode_of_environment()


class _Process:
    """What all entry points of this process share."""

    def __init__(self) -> None:
        self.lock = Lock()
        """Held while machine code is loaded or asked for."""
        self.plain_seconds = 0.0
        """Time spent in plain Python that machine code could have saved."""
        self.worker: Worker | None = None
        self.noticed = False


_process = _Process()


class _Recorder(local):
    """Where the calls of this thread are recorded, if they are."""

    calls: dict[str, tuple[Any, ...]] | None = None
    """Examples of the arguments by name of the entry point."""


_recorder = _Recorder()


def _forget_worker() -> None:
    """After a fork: it is the parent's."""
    worker, _process.worker, _process.lock = _process.worker, None, Lock()
    if worker is not None:
        worker.leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_worker)


def notice(text: str) -> None:
    """Say once a process that something is compiled: to the log, and at a terminal."""
    if not _process.noticed:
        _process.noticed = True
        logging.getLogger("cylcollide").info(text)
        if sys.stderr is not None and sys.stderr.isatty():
            print(f"cylcollide: {text}", file=sys.stderr)


@contextmanager
def recording() -> Iterator[dict[str, tuple[Any, ...]]]:
    """In this thread, entry points without machine code run in plain Python, and their arguments are recorded."""
    calls: dict[str, tuple[Any, ...]] = {}
    before, _recorder.calls = _recorder.calls, calls
    try:
        yield calls
    finally:
        _recorder.calls = before


def _rows(arguments: tuple[Any, ...]) -> int:
    return max((len(argument) for argument in arguments if isinstance(argument, np.ndarray)), default=0)


class EntryPoint(Generic[Parameters, Result]):
    """A function that Python calls.

    Machine code does not type-check its arguments: checking seventy arrays takes longer than fifty rays among few
    limbs. Every call must pass arguments of the same types, so callers pass only arrays that this package has made or
    checked (`validate.py`), which `tests/runtime/test_compile.py` tests.
    """

    def __init__(
        self, function: Callable[Parameters, Result], allocates: bool, reads_all: bool, keeps_lock: bool
    ) -> None:
        MARKED[function] = Place.ENTRY_POINT
        self.function, self.allocates, self.reads_all, self.keeps_lock = function, allocates, reads_all, keeps_lock
        self.name = f"{function.__module__.removeprefix('cylcollide.')}.{function.__qualname__}"
        self.plain: Callable[Parameters, Result] = np.errstate(all="ignore")(function)
        """Plain Python, which does not warn either."""
        self.call: Callable[Parameters, Result] = self.plain
        """Machine code, or what leads there."""
        self.has_machine_code = False
        self._next_look = 0.0
        self._tag = b""
        ENTRY_POINTS[self.name] = self
        if MODE is not Mode.OFF:
            self.call = self.wait_and_call if MODE is Mode.NOW else self._call_plain

    def __call__(self, *arguments: Parameters.args, **keywords: Parameters.kwargs) -> Result:
        """Call machine code, or plain Python."""
        return self.call(*arguments, **keywords)

    @property
    def ready(self) -> Callable[Parameters, Result]:
        """Machine code if it is there, else plain Python: a call of this does not ask for machine code."""
        return self.call if self.has_machine_code else self.plain

    @property
    def is_plain(self) -> bool:
        """Whether a call may still go to plain Python, to be replaced by machine code."""
        return not self.has_machine_code and (MODE is Mode.BACKGROUND or _recorder.calls is not None)

    def is_fast(self, *arguments: Any) -> bool:
        """Whether a call goes to machine code, or never will; else that is made, if it is worth it by now."""
        return not self.is_plain or self._look(arguments)

    def is_machine_code(self, *arguments: Any) -> bool:
        """Whether a call goes to machine code; that is made, if it is worth it by now."""
        return self.has_machine_code or (MODE is not Mode.OFF and self.is_fast(*arguments))

    def _look(self, arguments: tuple[Any, ...]) -> bool:
        """Whether there is machine code by now; it is made, if that is worth it."""
        if _recorder.calls is not None:
            _recorder.calls[self.name] = examples(arguments)
            return False
        if _process.plain_seconds < PLAIN_SECONDS or time.monotonic() < self._next_look:
            return False
        uninterrupted(lambda: self._load_or_request(arguments))
        self._next_look = time.monotonic() + POLL_SECONDS
        return self.has_machine_code

    def _call_plain(self, *arguments: Parameters.args, **keywords: Parameters.kwargs) -> Result:
        if self.reads_all and _recorder.calls is None and _rows(arguments) * PLAIN_ROW_SECONDS > WAIT_SECONDS:
            return self.wait_and_call(*arguments, **keywords)
        if self._look(arguments):
            return self.call(*arguments, **keywords)
        begun = time.perf_counter()
        try:
            return self.plain(*arguments, **keywords)
        finally:
            _process.plain_seconds += time.perf_counter() - begun

    def wait_and_call(self, *arguments: Parameters.args, **keywords: Parameters.kwargs) -> Result:
        """Call machine code, as soon as it is there."""
        if _recorder.calls is not None:
            return self._call_plain(*arguments, **keywords)
        while not self.has_machine_code:
            uninterrupted(lambda: self._load_or_request(arguments))
            if not self.has_machine_code:
                time.sleep(POLL_SECONDS)
        return self.call(*arguments, **keywords)

    def tag(self, arguments: tuple[Any, ...]) -> bytes:
        """What machine code for such arguments is kept under, which is the same for all calls."""
        from cylcollide.runtime import machine_code  # noqa: PLC0415  numba takes half a second

        self._tag = self._tag or machine_code.tag(arguments)
        return self._tag

    def _load_or_request(self, arguments: tuple[Any, ...]) -> None:
        """Load machine code if it is on disk; else have it made, by the worker if one can be had."""
        from cylcollide.runtime import machine_code  # noqa: PLC0415  numba takes half a second

        with _process.lock:
            if self.has_machine_code:
                return
            content = code_cache.read(self.name, self.tag(arguments))
            code = self._request(arguments) if content is None else machine_code.load(content)
            if code is not None:
                self.call, self.has_machine_code = code, True

    def load_or_build(self, arguments: tuple[Any, ...]) -> None:
        """Load machine code if it is on disk; else make it here."""
        from cylcollide.runtime import machine_code  # noqa: PLC0415  numba takes half a second

        with _process.lock:
            content = code_cache.read(self.name, self.tag(arguments))
            self.call = self._build(arguments) if content is None else machine_code.load(content)
            self.has_machine_code = True

    def _build(self, arguments: tuple[Any, ...]) -> Function:
        from cylcollide.runtime import machine_code  # noqa: PLC0415  numba takes half a second

        lowered = machine_code.lower(self.function, self.allocates, self.keeps_lock, arguments)
        content = machine_code.optimiser().machine_code(lowered)
        code_cache.write(code_cache.writable_directory(), self.name, self.tag(arguments), content)
        return machine_code.load(content)

    def _request(self, arguments: tuple[Any, ...]) -> Function | None:
        """Have machine code made by the worker; make it here and now if there is none."""
        directory = code_cache.writable_directory()
        notice(
            f"compiling loops, once; this takes up to half a minute beside the program, and is kept in {directory}. "
            "`cylcollide warm-up` does it ahead."
        )
        if _process.worker is None:
            two = MODE is Mode.BACKGROUND and (os.cpu_count() or 1) > 1
            _process.worker = Worker(directory, 1 + two)
            if two:
                _process.worker.request(EVERYTHING, ())  # what may be next
        if _process.worker.request(self.name, arguments):
            return None
        return self._build(arguments)


def entry_point(
    *, allocates: bool = False, reads_all: bool = False, keeps_lock: bool = False
) -> Callable[[Callable[Parameters, Result]], EntryPoint[Parameters, Result]]:
    """Make a function an entry point.

    Parameters
    ----------
    allocates : bool
        It allocates arrays.
    reads_all : bool
        Its time grows with the rows of its arrays, and it cannot be stopped between two of them: with many rows
        it is worth waiting for machine code.
    keeps_lock : bool
        Machine code holds Python's interpreter lock: no other thread runs Python meanwhile.
    """
    return lambda function: EntryPoint(function, allocates, reads_all, keeps_lock)
