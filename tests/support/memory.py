"""Memory that work leaves behind."""

import gc
import tracemalloc


def memory_taken(work, times):
    """Bytes that are left over after so many times, in a warm process."""
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
