"""Files of columns: `.npz` archives read without pickles, atomic replacement of files, and error messages.

No signal handler runs while an archive is read or written. An exception that a handler raises in zipfile's or numpy's
destructors, or in the middle of zipfile's bookkeeping, would be lost or become another error.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from threading import Event
from typing import Any, BinaryIO, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cylcollide.process.tasks import uninterrupted

Columns: TypeAlias = Mapping[str, NDArray[Any]]
"""Columns by name."""


METHODS, MOST_PER_BYTE = (0, 8), 1032
"""How entries of archives are stored: as they are, or by deflate; and the most bytes that one of deflate's stands for.

An archive beyond that has entries that overlap. It is refused before memory is taken for its contents."""


def file_of(path: str | PathLike[str]) -> Path:
    """The path with the suffix .npz, added if it is missing."""
    file = Path(path)
    if not file.name:
        raise ValueError(f"path: expected the name of a file, got {str(path)!r}")
    return file if file.name.endswith(".npz") else file.with_name(file.name + ".npz")


@contextmanager
def named_in_errors(source: str | PathLike[str], ending: str = "") -> Iterator[None]:
    """Prefix the message of a ValueError raised inside with `source`, a file or a word, and append `ending`."""
    try:
        yield
    except ValueError as error:
        name = str(Path(source))
        if str(error).startswith((f"{name}:", f"{name},")):
            raise
        raise ValueError(f"{name}: {error}{ending}") from None


def replace(file: Path, write_to: Callable[[BinaryIO], object]) -> None:
    """Write a file by a function of an open stream, and replace the old file once everything is written.

    A failure or an interrupt leaves the old file and no unfinished one: no signal handler runs meanwhile. An OSError
    names the file. A link is followed and its target replaced. A path that is no file, such as a pipe, is written to.
    """
    # imported in the calling thread: an interrupt may otherwise leave the import lock held for ever
    from tempfile import mkstemp  # noqa: PLC0415  imported on first use

    interrupted = Event()
    try:
        uninterrupted(lambda: _replace(file, write_to, interrupted, mkstemp))
    except BaseException as error:
        interrupted.set()
        if isinstance(error, OSError):
            error.filename = str(file)
        raise


def write_text(file: Path, text: str) -> None:
    """Write text in UTF-8; see `replace`."""
    replace(file, lambda stream: stream.write(text.encode()))


def _replace(
    file: Path, write_to: Callable[[BinaryIO], object], interrupted: Event, mkstemp: Callable[..., tuple[int, str]]
) -> None:
    """Write a new file in the same directory, and rename it to `file` unless interrupted."""
    if file.exists() and not file.is_file():
        with file.open("wb") as stream:
            write_to(stream)
        return
    file = Path(os.path.realpath(file))
    handle, unfinished = mkstemp(prefix=f".{file.stem}-", suffix=file.suffix, dir=file.parent)
    try:
        with open(handle, "wb") as stream:  # noqa: PTH123  # a descriptor, not a path
            write_to(stream)
        mode = os.stat(file).st_mode & 0o777 if file.exists() else 0o666 & ~_umask()  # noqa: PTH116
        os.chmod(unfinished, mode)  # noqa: PTH101
        if not interrupted.is_set():
            os.replace(unfinished, file)  # noqa: PTH105
    finally:
        with suppress(FileNotFoundError):
            os.unlink(unfinished)  # noqa: PTH108


def _umask() -> int:
    """The umask of the process; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def write_columns(path: str | PathLike[str], columns: Columns) -> None:
    """Write columns of numbers to an .npz file; see `replace`."""
    import zipfile  # noqa: F401, PLC0415  imported in the calling thread, as in `replace`; numpy uses it

    replace(file_of(path), lambda stream: np.savez_compressed(stream, allow_pickle=False, **columns))


def read_columns(path: str | PathLike[str], writer: str) -> Columns:
    """All columns of an archive written by `writer`, such as "Limbs.save".

    OSError if the file cannot be opened; ValueError if it is no archive, or damaged.
    """
    from zipfile import is_zipfile  # noqa: PLC0415  imported on first use, in the calling thread, as in `replace`

    with file_of(path).open("rb") as stream:
        return uninterrupted(lambda: _columns(stream, writer, is_zipfile))


def _columns(stream: Any, writer: str, is_zipfile: Callable[[Any], bool]) -> Columns:
    """All columns of an archive; their contents are not checked."""
    if not is_zipfile(stream):
        refuse(writer, "one that is no archive, or not a whole one")
    stream.seek(0)
    try:
        with np.load(stream, allow_pickle=False) as archive:
            entries = archive.zip.infolist()
            whole, size = sum(one.file_size for one in entries), stream.seek(0, os.SEEK_END)
            if any(one.compress_type not in METHODS for one in entries) or whole > MOST_PER_BYTE * size:
                raise ValueError(f"{size:,} bytes cannot hold {whole:,} in this format")
            return {name: np.asarray(archive[name]) for name in archive.files}
    except Exception as error:  # damaged archives raise what zipfile, zlib, numpy, ast and struct raise
        refuse(writer, f"one that cannot be read ({type(error).__name__}: {str(error)[:120]})")


def refuse(writer: str, what: str) -> NoReturn:
    """Raise the ValueError of a file that `writer` did not write."""
    raise ValueError(f"expected a file that {writer} wrote, got {what}; save it again")


def texts_as_bytes(texts: Any) -> NDArray[np.uint8]:
    """A list of str and None as bytes of JSON: NumPy's text arrays drop trailing NUL characters."""
    return np.frombuffer(json.dumps(texts).encode(), np.uint8)
