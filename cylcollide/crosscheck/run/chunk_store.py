"""Work in chunks: any executor, finished chunks kept on disk, a stopped sweep resumes, the order changes nothing."""

import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cylcollide.crosscheck.generate.families import ChunkKey

Arrays = dict[str, NDArray[Any]]
Warn = Callable[[str], None]
"""Given one line to show to a person."""


@dataclass(frozen=True)
class Chunk:
    """What came of a chunk: columns of equal meaning in every chunk, and a record that JSON can hold."""

    columns: Arrays
    record: dict[str, Any]


@dataclass(frozen=True)
class ChunkStore:
    """Finished chunks in a folder, one ``.npz`` each.

    ``stamp`` says what they were computed with (versions, engine, size): a file with another stamp belongs to another
    run and is computed anew. Files are written under another name first and renamed when complete, so that a chunk is
    there wholly or not at all; zip checksums show which was damaged afterwards.
    """

    folder: Path
    stamp: dict[str, Any]

    def path(self, key: ChunkKey) -> Path:
        """Where a chunk is kept."""
        return self.folder / f"{key.family}-{key.seed}-{key.number}.npz"

    def load(self, key: ChunkKey, warn: Warn) -> Chunk | None:
        """Return a finished chunk, or None if there is none, telling why one that is there cannot be used."""
        path = self.path(key)
        try:
            # Opened here: np.load forgets to close a file that it cannot read.
            with path.open("rb") as kept, np.load(kept, allow_pickle=False) as file:
                columns = {name: file[name] for name in file.files}
            about = json.loads(str(columns.pop("about")))
            stamp, record = about["stamp"], about["record"]
        except FileNotFoundError:
            return None
        except (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile, zlib.error) as error:
            warn(f"{path} is damaged ({_one_line(error)}): computing this chunk anew")
            return None
        if stamp != self.stamp:
            warn(f"{path} was computed with other versions or settings: computing this chunk anew")
            return None
        return Chunk(columns, record)

    def save(self, key: ChunkKey, chunk: Chunk) -> None:
        """Write a chunk so that it is there wholly or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        about = json.dumps({"stamp": self.stamp, "record": chunk.record}, sort_keys=True)
        handle, name = tempfile.mkstemp(dir=self.folder, prefix=".", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez_compressed(file, about=np.array(about), **chunk.columns)  # type: ignore[arg-type]
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self.path(key))
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


class UnfinishedError(RuntimeError):
    """A sweep ended before all its chunks were done; what was done is kept."""


def run_chunks(
    keys: Iterable[ChunkKey],
    work: Callable[[ChunkKey], Chunk],
    executor: Executor | None,
    store: ChunkStore | None,
    warn: Warn,
    progress: Callable[[ChunkKey], None],
) -> dict[ChunkKey, Chunk]:
    """Return every chunk, in the order of ``keys``: from the store where it is there, else from ``work``.

    Parameters
    ----------
    keys
        The chunks wanted.
    work
        Computes one; picklable where the executor has other processes.
    executor
        Any of ``concurrent.futures``; None works in this thread.
    store
        Where finished chunks are kept, as soon as each is there; None keeps none.
    warn, progress
        Told of files that cannot be used, and of every finished chunk.

    Raises
    ------
    UnfinishedError
        If the executor lost a worker; the message says how many chunks are kept.
    """
    wanted = list(keys)
    done: dict[ChunkKey, Chunk] = {}
    for key in wanted:
        kept = None if store is None else store.load(key, warn)
        if kept is not None:
            done[key] = kept
            progress(key)
    missing = [key for key in wanted if key not in done]
    for key, chunk in _computed(missing, work, executor, len(done), len(wanted)):
        if store is not None:
            store.save(key, chunk)
        done[key] = chunk
        progress(key)
    return {key: done[key] for key in wanted}


def _computed(
    keys: list[ChunkKey], work: Callable[[ChunkKey], Chunk], executor: Executor | None, kept: int, wanted: int
) -> Iterator[tuple[ChunkKey, Chunk]]:
    if executor is None:
        for key in keys:
            yield key, work(key)
        return
    futures: dict[Future[Chunk], ChunkKey] = {executor.submit(work, key): key for key in keys}
    finished = kept
    try:
        for future in as_completed(futures):
            try:
                chunk = future.result()
            except Exception as error:  # each executor has its own way to say that a worker died
                raise UnfinishedError(
                    f"chunk {futures[future]} failed ({_one_line(error)}); {finished} of {wanted} chunks are finished "
                    "and kept: run the same command again to go on"
                ) from error
            finished += 1
            yield futures[future], chunk
    finally:
        for future in futures:
            future.cancel()


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
