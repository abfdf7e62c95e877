"""Reads a log: a copy if it is still being written, and only pages that the chain of digests confirms."""

import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import quote

from cylcollide.shotlog.contents import (
    APPLICATION_ID,
    COLUMNS,
    FORMAT,
    VERSION,
    Stored,
    digest_of,
    first_link,
    next_link,
    object_of,
)

SQLITE = b"SQLite format 3\0"
ID_AT = slice(68, 72)
"""The place of the application's number in the header of an SQLite file."""
SALTS = 32
"""Length of the header of a write-ahead log, which changes whenever the log is restarted."""
TRIES = 20


@dataclass(frozen=True)
class Page:
    """The columns of a page without its content."""

    index: int
    tick: int | None
    time: float | None
    shots: int
    state: int


class Source:
    """The files of a log, open for reading. They are not changed: a log with a write-ahead log is copied first."""

    def __init__(self, path: str | PathLike[str], is_copy: bool = False) -> None:
        """`is_copy`: the file is not written any more, and files beside it may change.

        OSError if it cannot be read; ValueError if it is not a log, or damaged from the start.
        """
        self.path = Path(path).absolute()
        with self.path.open("rb") as stream:
            head = stream.read(100)
        if head[:16] != SQLITE or int.from_bytes(head[ID_AT], "big") != APPLICATION_ID:
            raise ValueError(f"{path}: expected a file that ShotLog wrote, got another one")
        self._objects: dict[str, Stored] = {}
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        wal = self.path.with_name(self.path.name + "-wal")
        self.is_copy = is_copy or bool(_head_of(wal))
        self.file = self._copied(wal) if self.is_copy and not is_copy else self.path
        self._connection = self._connected()
        try:
            self.about = self._read_about()
        except BaseException:
            self.close()
            raise

    def _copied(self, wal: Path) -> Path:
        """A copy of both files, made while the write-ahead log was not restarted."""
        self._folder = tempfile.TemporaryDirectory(prefix="cylcollide-log-")
        copy = Path(self._folder.name) / "log"
        for _ in range(TRIES):
            salts = _head_of(wal)
            shutil.copyfile(self.path, copy)
            with suppress(FileNotFoundError):
                shutil.copyfile(wal, f"{copy}-wal")
            if _head_of(wal) == salts:
                return copy
        raise OSError(f"{self.path}: is written too fast to be copied; close the log first")

    def _connected(self) -> sqlite3.Connection:
        how = "mode=ro" if self.is_copy else "mode=ro&immutable=1"
        connection = sqlite3.connect(f"file:{quote(os.fsencode(self.file))}?{how}", uri=True, check_same_thread=False)
        connection.execute("PRAGMA trusted_schema = OFF")
        with suppress(sqlite3.Error):
            connection.execute("PRAGMA writable_schema = ON")  # else a file that was cut is refused as a whole
        return connection

    def _read_about(self) -> dict[str, Any]:
        try:
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            (text,) = self._connection.execute("SELECT content FROM about").fetchone()
            about: dict[str, Any] = json.loads(text)
            if about["format"] != FORMAT:
                raise ValueError(f"format {about['format']!r}")
        except (sqlite3.Error, ValueError, TypeError, KeyError) as error:
            raise ValueError(
                f"{self.path}: expected a log, got a damaged file ({type(error).__name__}: {str(error)[:80]})"
            ) from None
        if VERSION not in (version, about["version"]) or max(version, about["version"]) > VERSION:
            got = max(version, about["version"])
            raise ValueError(
                f"{self.path}: expected a log of version {VERSION}, got version {got}; install a newer cylcollide"
            )
        self._chain = first_link(text)
        return about

    def close(self) -> None:
        """Close the file, and remove a copy."""
        self._connection.close()
        if self._folder is not None:
            self._folder.cleanup()

    def confirmed_pages(self) -> Iterator[Page]:
        """All pages from the first one on, up to one that is missing or that the chain does not confirm."""
        chain = self._chain
        with suppress(sqlite3.Error, ValueError, TypeError, OverflowError, MemoryError):
            for index in count():  # by the index of the table, as in `page`: if it is damaged, a scan finds more
                found = self._connection.execute(f"SELECT {COLUMNS} FROM pages WHERE place = ?", (index,)).fetchone()
                if found is None:
                    return
                *row, link = found
                chain = next_link(chain, tuple(row))
                if row[0] != index or link != chain:
                    return
                for digest in json.loads(row[5]):
                    self.content_of(digest)
                yield Page(*row[:5])

    def _row(self, query: str, key: int | str) -> Any:
        """The row that a query finds, or None; ValueError if the log is closed."""
        try:
            return self._connection.execute(query, (key,)).fetchone()
        except sqlite3.ProgrammingError:
            raise ValueError(f"{self.path}: expected an open log, got one that is closed; open it again") from None

    def page(self, index: int) -> bytes:
        """The content of a confirmed page."""
        row = self._row("SELECT content FROM pages WHERE place = ?", index)
        if row is None:
            raise ValueError(f"{self.path}: expected page {index}, got none; the file has changed")
        content: bytes = row[0]
        return content

    def __getitem__(self, digest: str) -> Any:
        """The object with this digest, made on first use; ValueError if it is missing or damaged."""
        if digest not in self._objects:
            self._objects[digest] = object_of(*self.content_of(digest))
        return self._objects[digest]

    def content_of(self, digest: str) -> tuple[str, bytes]:
        """Kind and content of an object; ValueError if it is missing, or has another digest."""
        row = self._row("SELECT kind, content FROM objects WHERE digest = ?", digest)
        if row is None or digest_of(row[0].encode(), row[1]).hex() != digest:
            raise ValueError(
                f"{self.path}: expected the object {digest}, got {'none' if row is None else 'another one'}"
            )
        kind, content = row
        return kind, content


def _head_of(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(SALTS)
    except FileNotFoundError:
        return b""
