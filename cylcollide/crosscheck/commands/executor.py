"""Where the chunks of a run are computed."""

import os
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from cylcollide.crosscheck.run.run import local_processes


@contextmanager
def executor_of(jobs: int | None, scheduler: str | None) -> Iterator[Executor | None]:
    """Worker processes of this machine or, with the address of a Dask scheduler, its cluster.

    Raises
    ------
    ImportError
        For a scheduler without the extra ``cluster``.
    OSError
        If the cluster is not there.
    """
    if scheduler is None:
        with local_processes(jobs or os.cpu_count() or 1) as executor:
            yield executor
        return
    try:
        from distributed import Client  # noqa: PLC0415  # an extra of its own
    except ImportError as missing:
        raise ImportError(
            f"--scheduler needs distributed, which is missing ({missing}): pip install 'cylcollide[cluster]'"
        ) from missing
    with Client(scheduler) as client:
        yield client.get_executor(retries=3)
