"""Memory that queries pass on to each other."""

import subprocess
import sys
from pathlib import Path

import numpy as np

from cylcollide.constants import MOST_KEPT
from cylcollide.runtime import memory


def test_no_more_is_kept_than_there_may_be():
    """What a query of millions needed once goes back to the system."""
    loans = [memory.acquire(MOST_KEPT // 3) for _ in range(4)]
    few = [memory.acquire(1 << 18) for _ in range(20)]
    del loans, few
    kept = sum(memory.size for buffers in memory._pool.values() for memory in buffers)
    assert 1 << 18 < kept <= MOST_KEPT


def test_memory_is_lent_again_once_no_slice_is_held():
    """Not before: the numbers of somebody's answer would change."""
    first = memory.rows((1 << 15,))
    first[:] = 7.0
    held, address = first[5::3], first.__array_interface__["data"][0]
    del first
    other = memory.rows((1 << 15,))
    other[:] = 8.0
    assert (held == 7.0).all()
    assert other.__array_interface__["data"][0] != address
    del held
    again = [memory.rows((1 << 15,)) for _ in range(64)]
    assert address in {array.__array_interface__["data"][0] for array in again}
    assert np.unique([array.__array_interface__["data"][0] for array in again]).size == 64


def test_what_is_held_until_the_end_goes_in_silence():
    """By then the names of modules are gone, and what a destructor says of that cannot be caught."""
    script = "import numpy; from cylcollide.runtime import memory; numpy.held = memory, memory.rows((1 << 15,))"
    root = Path(__file__).parents[2]
    run = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True)
    assert run.stderr == ""
