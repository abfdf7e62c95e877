"""ShotLog: every judged shot of a match in one file, with all that is needed to judge it again."""

from __future__ import annotations

import atexit
import json
import os
from collections.abc import Mapping
from os import PathLike
from threading import local
from time import sleep
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from cylcollide import validate
from cylcollide._version import __version__
from cylcollide.history.pose_history import PoseHistory
from cylcollide.process.info import info
from cylcollide.process.signatures import Shown
from cylcollide.shotlog.contents import FORMAT, VERSION
from cylcollide.shotlog.pages import END
from cylcollide.shotlog.shots import entry_of_call
from cylcollide.shotlog.writer import Writer
from cylcollide.world.hit_world import HitWorld
from cylcollide.world.observers import JudgedCall

if TYPE_CHECKING:
    from cylcollide.shotlog.logged import LoggedShots

WhenFull = Literal["raise", "wait", "drop"]
STATE_EACH = 600
"""Ticks from one logged state to the next: judging again may begin at each."""
MOST_ENTRIES = 256
"""Largest number of waiting entries, per tick of the queue."""
POLL = 0.001
"""Seconds between two checks for room in the queue."""


class ShotLog(metaclass=Shown):
    """A log of every judged shot of a world and its history in one SQLite file, to judge them again.

    It logs changes of these objects, and their calls of `judge_segments` and `judge_rays`, in the
    order of effect, until `close`. It does not log their copies and snapshots. A thread writes; a
    logged call only copies its arrays.

    A transaction ends at `history.record`, or at `tick(time)` without a history. Shots after tick k
    are committed with tick k + 1, and by `close`.

    Parameters
    ----------
    path
        The new file; `-wal` and `-shm` files stand beside it until `close`.
    world, history
        The objects to log, from their present state on. The history must be of this world.
    synchronous
        "normal": acknowledged ticks survive any end of the process. "full": they also survive a
        power cut; each tick then waits for the disk.
    queue
        The largest number of ticks in the queue to the writer.
    when_full
        What a logged call does when the queue is full. "raise": a RuntimeError before it has any
        effect. "wait": it waits. "drop": it is not logged but counted in `gaps`; the log continues
        with a whole state when there is room again.

    Raises
    ------
    FileExistsError
        If the file exists.
    OSError, sqlite3.Error
        If it cannot be written. After an error of the writing thread each logged call raises it,
        before it has any effect, until `close`.
    ValueError
        For other arguments.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        world: HitWorld,
        history: PoseHistory | None = None,
        *,
        synchronous: Literal["normal", "full"] = "normal",
        queue: int = 256,
        when_full: WhenFull = "raise",
    ) -> None:
        if not isinstance(world, HitWorld):
            raise ValueError(f"world: expected a HitWorld, got {type(world).__name__}")
        if history is not None and not (isinstance(history, PoseHistory) and history.world is world):
            raise ValueError("history: expected None or a PoseHistory of this world, got another object")
        validate.one_of(synchronous, "synchronous", "normal", "full")
        validate.one_of(when_full, "when_full", "raise", "wait", "drop")
        self._queue, self._when_full = validate.index(queue, "queue", 2**31), when_full
        if self._queue == 0:
            raise ValueError("queue: expected 1 or more, got 0")
        self._world, self._history, self._process = world, history, os.getpid()
        self._of_thread, self._needs_state, self._gaps, self._last_time = local(), False, 0, -np.inf
        self._ticks, self._is_open, self._raised = 0, True, False
        self._locks = (world._lock,) if history is None else (world._lock, history._recording)
        self._writer = Writer(path, synchronous, self._about())
        with world._lock():
            self._put_state()
            self._writer.start()
            world._lock.observers += (self,)
        if history is not None:
            history._recording.observers += (self,)
        atexit.register(self._writer.finish)  # for a log that is not closed

    def _about(self) -> dict[str, Any]:
        about = {
            "format": FORMAT,
            "version": VERSION,
            "cylcollide": __version__,
            "level": info().level,
            "history": None,
        }
        h = self._history
        if h is not None:
            distance = None if h._distance == np.inf else h._distance
            about["history"] = {"ticks": h._most, "interpolate": h._interpolate, "teleport_distance": distance}
        return about

    @staticmethod
    def open(path: str | PathLike[str]) -> LoggedShots:
        """The shots of a log; its files are only read. See `LoggedShots`."""
        from cylcollide.shotlog.logged import LoggedShots  # noqa: PLC0415  it imports this module

        return LoggedShots(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "open" if self._is_open else "closed"
        return f"ShotLog({state}, tick {self.acknowledged} acknowledged, {self.gaps} gaps)"

    @property
    def acknowledged(self) -> int:
        """The last tick that is on disk; -1 if none is."""
        return self._writer.acknowledged

    @property
    def gaps(self) -> int:
        """How many changes, ticks and judged calls were dropped."""
        return self._gaps

    def note(self, mapping: Mapping[str, Any]) -> None:
        """Add a note to this thread's next judging call, such as its player; kept as JSON.

        A refused call uses up the note, too. ValueError if it is not a mapping, or not JSON, or the
        log is closed.
        """
        self._check_open("note")
        if not isinstance(mapping, Mapping):
            raise ValueError(f"note: expected a mapping, got {type(mapping).__name__}")
        try:
            self._of_thread.next = json.dumps(dict(mapping), allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"note: expected what JSON can hold, got {type(error).__name__}: {error}") from None

    def tick(self, time: float) -> int:
        """End a transaction of a log without a history; returns the tick's number, counted from 0.

        ValueError if the time is not after the last one, the log is closed, or it has a history:
        its `record` ends ticks.
        """
        self._check_open("tick")
        if self._history is not None:
            raise ValueError("tick: expected a log without a history; call history.record, which ends a tick")
        moment = float(validate.in_range(validate.per_row(time, "time", 1), "time")[0])
        with self._world._lock.changing():
            if moment <= self._last_time:
                raise ValueError(f"time: expected more than {self._last_time}, that of the last tick, got {moment}")
            number, self._last_time, self._ticks = self._ticks, moment, self._ticks + 1
            self._record_change("tick", time=moment, number=number)
        return number

    def _check_open(self, method: str) -> None:
        if not self._is_open:
            raise ValueError(f"{method}: expected an open ShotLog, got one that is closed; make another for more shots")

    def close(self) -> None:
        """Commit the rest and stop logging; raises an error of the writer that no call has raised."""
        if not self._is_open:
            return
        self._is_open = False
        for lock in self._locks:
            lock.observers = tuple(one for one in lock.observers if one is not self)
        atexit.unregister(self._writer.finish)
        self._writer.finish()
        if self._writer.error is not None and not self._raised:
            raise self._writer.error

    # Notifications by world and history -------------------------------------------------------------------------------

    def _admit(self, has_shots: bool) -> None:
        """Before a change or call: raise if the queue is full or the writer failed, or wait until there is room."""
        if has_shots:
            self._of_thread.note, self._of_thread.next = getattr(self._of_thread, "next", None), None
        while self._logs_here:
            if self._writer.error is not None:
                self._raised = True
                raise self._writer.error
            if self._when_full == "drop" or not self._is_full:
                return
            if self._when_full == "raise":
                raise RuntimeError(
                    f"ShotLog: expected fewer than {self._queue} ticks in the queue to the writer, got "
                    f"{self._writer.ticks_waiting}; choose a longer queue, or when_full='wait' or 'drop'"
                )
            sleep(POLL)

    @property
    def _logs_here(self) -> bool:
        """Whether this process writes the log; a fork of it does not."""
        return self._is_open and os.getpid() == self._process

    @property
    def _is_full(self) -> bool:
        writer = self._writer
        return writer.ticks_waiting >= self._queue or len(writer.waiting) >= MOST_ENTRIES * self._queue

    def _record_change(self, name: str, **what: Any) -> None:
        """Log a change."""
        if not self._logs_here or self._drops():
            return
        is_end = name in ("record", "tick")
        if self._needs_state:
            self._put_state()
        elif name != "tick":
            copies = {key: value.copy() if isinstance(value, np.ndarray) else value for key, value in what.items()}
            self._writer.put(name, **copies)  # the owner of an array may write it
        if is_end:
            self._writer.put(END, tick=what["number"], time=what["time"])
            if (what["number"] + 1) % STATE_EACH == 0:
                self._put_state(whole=False)

    def _record_shots(self, call: JudgedCall) -> None:
        """Log a judged call."""
        if not self._logs_here or self._drops():
            return
        if self._needs_state and call.state is not None and call.is_present:
            self._put_state()
        if self._needs_state:
            self._gaps += 1
            return
        note = getattr(self._of_thread, "note", None)
        last = -1 if call.ring is None or self._history is None else self._history._kept().last
        self._writer.put("shots", **entry_of_call(call, last, note))

    def _change_interrupted(self) -> None:
        """Make the next entry a whole state."""
        self._needs_state = True

    def _drops(self) -> bool:
        """Whether there is no room, so that the next entry is dropped."""
        drops = self._writer.error is not None or (self._when_full == "drop" and self._is_full)
        if drops:
            self._gaps += 1
            self._needs_state = True
        return drops

    def _put_state(self, whole: bool = True) -> None:
        """Log a state of the world, whose lock is held; a whole one has the ticks of the history, too."""
        ring = self._history._ring if whole and self._history is not None else None
        self._writer.put("state", state=self._world.snapshot(), ring=ring, whole=whole)
        self._needs_state = False
