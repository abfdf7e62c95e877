"""The only import of PyBullet, so that its absence always raises the same error, with the remedy."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

from cylcollide._version import not_installed

STANDARD_ERROR = 2


@contextmanager
def _greeting_hidden() -> Iterator[None]:
    """Suppress standard error: on import, PyBullet's C code prints its build time, which would spoil progress bars."""
    try:
        kept = os.dup(STANDARD_ERROR)
    except OSError:  # it is closed
        yield
        return
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), STANDARD_ERROR)
    try:
        yield
    finally:
        os.dup2(kept, STANDARD_ERROR)
        os.close(kept)


try:
    with _greeting_hidden():
        import pybullet
        import pybullet_data
except ImportError as missing:
    raise not_installed("PyBullet", "crosscheck", missing) from missing


OWN = SimpleNamespace(**vars(pybullet))
"""PyBullet's own functions and constants, even if a program replaces them later."""


def connect() -> int:
    """Connect a new, empty DIRECT client."""
    client: int = pybullet.connect(pybullet.DIRECT)
    if client < 0:
        raise RuntimeError("PyBullet gave no DIRECT client: too many are open in this process; close some first")
    return client


def data_folder() -> Path:
    """Return the folder of the models and motions that come with PyBullet."""
    return Path(pybullet_data.getDataPath())


__all__ = ["OWN", "connect", "data_folder", "pybullet"]
