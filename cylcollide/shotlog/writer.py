"""The thread that writes a log: it takes entries from a queue, and commits a page for each tick."""

import json
import os
import sqlite3
from collections import deque
from contextlib import suppress
from os import PathLike
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

from cylcollide.shotlog.contents import APPLICATION_ID, COLUMNS, PAGE_SIZE, TABLES, VERSION, first_link, next_link
from cylcollide.shotlog.pages import END, Entry, PageWriter

WOKEN_EACH = 64
"""The writer is woken after this many waiting entries, and at the end of each tick."""


class Writer:
    """Writes entries into a new file, in its own thread. It holds only the entries that are not yet written."""

    def __init__(self, path: str | PathLike[str], synchronous: str, about: dict[str, Any]) -> None:
        """FileExistsError if the file exists; OSError or sqlite3.Error if it cannot be written."""
        self.error: BaseException | None = None
        self.acknowledged = -1
        self.waiting: deque[Entry] = deque()
        self._ended = self._taken = 0
        self._wake, self._page, self._pages_written = SimpleQueue[bool](), PageWriter(), 0
        text = json.dumps(about)
        self._chain = first_link(text)
        self._file = _created(Path(path), synchronous)
        try:
            self._file.execute("INSERT INTO about VALUES (?)", (text,))
        except BaseException:
            self._file.close()
            raise
        self._thread = Thread(target=self._run, name="cylcollide shot log", daemon=True)

    def start(self) -> None:
        """Write the waiting entries as the first page, then start the thread."""
        self._write_waiting()
        self._commit(None, None)
        self._thread.start()

    @property
    def ticks_waiting(self) -> int:
        """Number of ended ticks whose writing has not begun."""
        return self._ended - self._taken

    def put(self, name: str, **values: Any) -> None:
        """Queue an entry; only one thread at a time may queue the end of a tick."""
        self.waiting.append((name, values))
        is_end = name == END
        self._ended += is_end
        if is_end or len(self.waiting) % WOKEN_EACH == 0:
            self._wake.put(True)

    def finish(self) -> None:
        """Write the waiting entries, end the thread, and close the file."""
        if self._thread.is_alive():
            self._wake.put(False)
            self._thread.join()

    def _run(self) -> None:
        try:
            goes_on = True
            while goes_on:
                goes_on = self._wake.get()
                self._write_waiting()
            if self._page:
                self._commit(None, None)
            self._file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except BaseException as error:
            self.error = error
            self.waiting.clear()
        finally:
            with suppress(sqlite3.Error):
                self._file.close()

    def _write_waiting(self) -> None:
        while self.waiting:
            name, values = self.waiting.popleft()
            if name == END:
                self._taken += 1
                self._commit(**values)
                self.acknowledged = values["tick"]
            else:
                self._page.add(name, values)

    def _commit(self, tick: int | None, time: float | None) -> None:
        shots, state = self._page.shots, self._page.begins_with
        content, new = self._page.finished()
        digests = json.dumps([digest for digest, _, _ in new])
        row = self._pages_written, tick, time, shots, state, digests, content
        self._chain = next_link(self._chain, row)
        self._file.execute("BEGIN IMMEDIATE")
        self._file.executemany("INSERT OR IGNORE INTO objects VALUES (?, ?, ?)", new)
        self._file.execute(f"INSERT INTO pages ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*row, self._chain))
        self._file.execute("COMMIT")
        self._pages_written += 1


def _created(path: Path, synchronous: str) -> sqlite3.Connection:
    """A new file with empty tables."""
    for ending in ("-wal", "-journal"):
        if path.with_name(path.name + ending).exists():
            raise FileExistsError(f"{path}{ending}: expected a new log, got the remains of another one; move it away")
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666))
    except FileExistsError:
        raise FileExistsError(f"{path}: expected a new file, got one that exists; choose another name") from None
    try:
        file = sqlite3.connect(path.absolute(), isolation_level=None, check_same_thread=False, timeout=30.0)
        file.executescript(
            f"PRAGMA page_size = {PAGE_SIZE}; PRAGMA application_id = {APPLICATION_ID};"
            f"PRAGMA user_version = {VERSION}; PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous};"
            f"BEGIN; {TABLES} COMMIT;"
        )
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise
    return file
