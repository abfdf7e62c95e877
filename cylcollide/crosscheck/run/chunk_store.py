"""Computes chunks in any order on any executor, and keeps them on disk, so that a stopped sweep can resume."""

import json
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, Executor, Future, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cylcollide.crosscheck.generate.families import ChunkKey
from cylcollide.crosscheck.records import one_line
from cylcollide.process.files import read_columns, write_columns

Arrays = dict[str, NDArray[Any]]
Warn = Callable[[str], None]
"""Called with one line of text for the user."""


@dataclass(frozen=True)
class Chunk:
    """The result of a chunk: columns with the same meaning in every chunk, and a JSON record."""

    columns: Arrays
    record: dict[str, Any]


@dataclass(frozen=True)
class ChunkStore:
    """Finished chunks in a folder, one ``.npz`` each.

    ``stamp`` has the versions, engine and size of the computation: a file with another stamp belongs to another run and
    is computed anew. A chunk is written completely or not at all; zip checksums reveal later damage.
    """

    folder: Path
    stamp: dict[str, Any]

    def path(self, key: ChunkKey) -> Path:
        """The file of a chunk."""
        return self.folder / f"{key.family}-{key.seed}-{key.number}.npz"

    def load(self, key: ChunkKey, warn: Warn) -> Chunk | None:
        """Return a finished chunk, or None without one; a warning gives the reason why an existing one is not used."""
        path = self.path(key)
        try:
            columns = dict(read_columns(path, "a sweep"))
            about = json.loads(str(columns.pop("about")))
            stamp, record = about["stamp"], about["record"]
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            warn(f"{path} is damaged ({one_line(error, named=True)}): computing this chunk anew")
            return None
        if stamp != self.stamp:
            warn(f"{path} was computed with other versions or settings: computing this chunk anew")
            return None
        return Chunk(columns, record)

    def save(self, key: ChunkKey, chunk: Chunk) -> None:
        """Write a chunk, completely or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        about = json.dumps({"stamp": self.stamp, "record": chunk.record})
        write_columns(self.path(key), {"about": np.array(about), **chunk.columns})


class UnfinishedError(RuntimeError):
    """A sweep ended before all its chunks were finished; the finished ones are kept."""


def run_chunks(
    keys: Iterable[ChunkKey],
    work: Callable[[ChunkKey], Chunk],
    executor: Executor | None,
    store: ChunkStore | None,
    warn: Warn,
    progress: Callable[[ChunkKey], None],
) -> dict[ChunkKey, Chunk]:
    """Every chunk, in the order of ``keys``: from the store if it has the chunk, else from ``work``.

    Without an executor the work is done in this thread. ``warn`` is called for files that cannot be used, ``progress``
    for every finished chunk, which is kept at once. UnfinishedError if the executor lost a worker.
    """
    wanted = list(keys)
    done: dict[ChunkKey, Chunk] = {}

    def keep(key: ChunkKey, chunk: Chunk) -> None:
        if store is not None:
            store.save(key, chunk)
        done[key] = chunk
        progress(key)

    for key in wanted:
        if store is not None and (kept := store.load(key, warn)):
            done[key] = kept
            progress(key)
    missing = [key for key in wanted if key not in done]
    if executor is None:
        for key in missing:
            keep(key, work(key))
        return {key: done[key] for key in wanted}
    futures: dict[Future[Chunk], ChunkKey] = {}
    failure: BaseException | None = None
    try:
        for key in missing:
            futures[executor.submit(work, key)] = key
        for future in as_completed(futures):
            key = futures[future]
            # Each executor has its own error for a lost worker.
            if failure := future.exception():
                break
            keep(key, future.result())
    except BrokenExecutor as error:
        failure = error
    finally:
        # After an interrupt or a failure, chunks that have been finished by now are kept, too.
        for future, of in futures.items():
            if not future.cancel() and of not in done and future.done() and future.exception() is None:
                keep(of, future.result())
    if failure is not None:
        raise UnfinishedError(
            f"chunk {key} failed ({one_line(failure, named=True)}); {len(done)} of {len(wanted)} chunks are finished "
            "and kept: run the same command again to go on"
        ) from failure
    return {key: done[key] for key in wanted}
