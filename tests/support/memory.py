"""Memory that repeated calls do not free."""

import gc
import tracemalloc


def memory_taken(work, times):
    """Bytes still allocated after `times` calls of `work`, after three warm-up calls."""
    for _ in range(3):
        work()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(times):
            work()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
