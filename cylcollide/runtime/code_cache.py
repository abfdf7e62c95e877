"""Machine code on disk: one file an entry point, in the first directory that can be written, read from all of them.

A file is valid for these very sources and for what its `tag` says (`machine_code.py`); its name holds a hash of both.
It is written elsewhere and moved, and begins with a hash of the rest, so that what was cut off is made anew.
"""

import os
import tempfile
import time
from atexit import register
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from shutil import rmtree

SOURCES = (
    "_types.py",
    "constants.py",
    "bullet/box_loops.py",
    "bullet/example_calls.py",
    "bullet/pose_loops.py",
    "bullet/sheet_loops.py",
    "bullet/tuple_loops.py",
    "bvh",
    "engines/rounded_cylinder.py",
    "kernels",
    "query/loops",
    "runtime",
    "warm_up",
    "world/draft.py",
    "world/in_place.py",
    "world/pose_columns.py",
)
"""Files and folders of this package that machine code is made of."""

PACKAGE = Path(__file__).parent.parent
HASH_SIZE = 16
DAY = 86400.0
KEPT_DAYS = 30.0
"""Days after which a file is removed that no process has loaded."""


def source_stamp() -> bytes:
    """A hash of all source files that machine code is made of."""
    digest = blake2b(digest_size=HASH_SIZE)
    for source in SOURCES:
        path = PACKAGE / source
        for file in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.digest()


@cache
def _suffix(tag: bytes) -> str:
    """The end of the name of every file that is valid here."""
    return blake2b(source_stamp() + tag, digest_size=HASH_SIZE).hexdigest() + ".code"


@cache
def _temporary() -> Path:
    """A directory that ends with this process, where no other can be written."""
    path = Path(tempfile.mkdtemp(prefix="cylcollide-"))
    owner = os.getpid()
    register(lambda: rmtree(path, ignore_errors=True) if os.getpid() == owner else None)
    return path


def directories() -> list[Path]:
    """Where machine code is kept, in the order in which it is looked for: as set, beside the source, the user's."""
    if "NUMBA_CACHE_DIR" in os.environ:
        return [Path(os.environ["NUMBA_CACHE_DIR"]) / "cylcollide"]
    user = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME")
    home = Path(user) if user else Path("~/.cache").expanduser()
    return [PACKAGE / "__pycache__" / "machine_code", home / "cylcollide"]


def _paths(name: str, tag: bytes) -> Iterator[Path]:
    """Where machine code of an entry point may be."""
    for directory in (*directories(), *([_temporary()] if _temporary.cache_info().currsize else [])):
        yield directory / f"{name}-{_suffix(tag)}"


def is_kept(name: str, tag: bytes) -> bool:
    """Whether there is a file with machine code of an entry point."""
    return any(path.exists() for path in _paths(name, tag))


def read(name: str, tag: bytes) -> bytes | None:
    """Machine code of an entry point, as it was written; None if there is none that is whole."""
    for path in _paths(name, tag):
        try:
            kept = path.read_bytes()
        except OSError:
            continue
        content = kept[HASH_SIZE:]
        if blake2b(content, digest_size=HASH_SIZE).digest() == kept[:HASH_SIZE]:
            _mark_as_used(path)
            return content
    return None


def _mark_as_used(path: Path) -> None:
    try:
        if time.time() - path.stat().st_mtime > DAY:
            os.utime(path)
    except OSError:
        pass  # a directory that cannot be written


@cache
def writable_directory() -> Path:
    """The first directory that can be written; one that ends with this process, if none can."""
    for directory in directories():
        try:
            directory.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=directory):
                return directory
        except OSError:
            continue
    return _temporary()


def write(directory: Path, name: str, tag: bytes, content: bytes) -> None:
    """Keep machine code of an entry point, and forget what no process has used for long."""
    path = directory / f"{name}-{_suffix(tag)}"
    unfinished = path.with_suffix(f".{os.getpid()}.part")
    try:
        unfinished.write_bytes(blake2b(content, digest_size=HASH_SIZE).digest() + content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    for other in directory.glob(f"{name}-*"):
        with suppress(OSError):
            if time.time() - other.stat().st_mtime > KEPT_DAYS * DAY:
                other.unlink()
