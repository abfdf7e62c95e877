"""Observers of a world or a history: they receive each change, in order of effect, and each judged shot."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple, Protocol, Self

from cylcollide.characters.judge import ShotRequest, judge
from cylcollide.characters.judged import Judged
from cylcollide.process.tasks import OwnLock
from cylcollide.world.queries import Queries
from cylcollide.world.snapshot import Snapshot

LOCK_TIMEOUT = 0.005
"""Timeout in seconds for a judged call to acquire the lock, under which it checks that the state it read is still the
present one. A signal handler that judges in the middle of a change never acquires it."""


class JudgedCall(NamedTuple):
    """A call of `judge_segments` or `judge_rays`, and its result."""

    shots: ShotRequest
    judged: Judged
    state: Snapshot | None = None
    """The state of the world that was read; None for a history."""
    is_present: bool = True
    """Whether the state that was read was still the present one; False if that could not be checked."""
    ring: Any = None
    """The ticks of the history that was read; None for a world."""
    past: Any = None
    """The other arguments of a query in the past: times and protected characters."""


class Observer(Protocol):
    """Is notified of every change of a world and its history, and of every judged shot."""

    def _admit(self, has_shots: bool) -> None:
        """Raise an error to refuse the next change or judged call; nothing has changed yet."""

    def _record_change(self, name: str, **what: object) -> None:
        """Record a change that has just come into effect; the caller holds the lock."""

    def _record_shots(self, call: JudgedCall) -> None:
        """Record judged shots; the caller holds the world's lock if `is_present` is known."""

    def _change_interrupted(self) -> None:
        """A change was interrupted: it may or may not have come into effect."""


class ChangeLock(OwnLock):
    """The lock held during changes, and its observers. A copy or pickle is a new lock without observers."""

    observers: tuple[Observer, ...] = ()

    def __reduce__(self) -> tuple[type["ChangeLock"], tuple[()]]:
        """A free lock without observers."""
        return ChangeLock, ()

    def changing(self) -> AbstractContextManager[object]:
        """The context manager of a change: the lock, and the calls to observers around it."""
        return self._observed(self.observers) if self.observers else self()

    @contextmanager
    def _observed(self, observers: tuple[Observer, ...]) -> Iterator[None]:
        """The lock, beside calls to observers before a change, and after a change that an error interrupted."""
        for observer in observers:
            observer._admit(False)
        with self():
            try:
                yield
            except ValueError:  # it changes nothing
                raise
            except BaseException:
                for observer in observers:
                    observer._change_interrupted()
                raise

    def notify(self, name: str, **what: object) -> None:
        """Notify all observers of a change that has just come into effect."""
        for observer in self.observers:
            observer._record_change(name, **what)

    def notify_shots(self, call: JudgedCall, is_present: Callable[[], bool]) -> None:
        """Notify all observers of judged shots, and of whether their state is still the present one."""
        lock = self()
        held = lock.acquire(timeout=LOCK_TIMEOUT)
        try:
            call = call._replace(is_present=held and is_present())
            for observer in self.observers:
                observer._record_shots(call)
        finally:
            if held:
                lock.release()


class ObservedQueries(Queries):
    """The queries of a world; its observers are notified of judged shots."""

    _lock: ChangeLock

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """An immutable view of the present state; queries on it are safe while the world moves on."""

    @abstractmethod
    def _is_present(self, state: Snapshot) -> bool:
        """Whether no change came after this state; the lock is held."""

    def _before_shots(self) -> Self:
        for observer in self._lock.observers:
            observer._admit(True)
        return self

    def _judge(self, request: ShotRequest) -> Judged:
        state = self.snapshot()
        judged = judge(state, request)
        if self._lock.observers:
            self._lock.notify_shots(JudgedCall(request, judged, state), lambda: self._is_present(state))
        return judged
