"""One bullet and one moving capsule or sphere each: `cast_moving` beside `ipctk`, in turn, one thread.

    python benchmarks/moving_peers.py --out benchmarks/moving_peers.csv   (needs pip install '.[test,peers]')

4,096 pairs, half of them within 10⁻¹ … 10⁻⁹ of a radius of a touch, or none (`tests/support/moving_peers.py`). A row:
the library; the shape; microseconds of processor time a pair, the median of the rounds; contacts. `ipctk` offers calls
of single pairs only, so that each call from Python counts; its contacts are conservative, ours exact.
"""

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent
sys.path[:0] = [str(BENCHMARKS.parent / "tests")]

import ipctk  # noqa: E402
import numpy as np  # noqa: E402
from support.moving_peers import Pairs, history_of, pairs_of, peer_contacts  # noqa: E402

import cylcollide as cc  # noqa: E402
from cylcollide.bench.results import save, script_options, stamp  # noqa: E402
from cylcollide.bench.timing import interleaved  # noqa: E402

PAIRS, ROUNDS = 4096, 9


def our_hits(history: cc.PoseHistory, pairs: Pairs) -> int:
    """Number of bullets that hit."""
    return int(history.cast_moving(pairs.start, pairs.end, 0.0, 1.0, threads=1).hit.sum())


def their_hits(ccd: object, pairs: Pairs, kind: str) -> int:
    """Number of pairs with a contact by `ipctk`."""
    return int(peer_contacts(ccd, pairs, kind)[0].sum())


def works(kind: str) -> dict[str, Callable[[], int]]:
    """Calls by name of the library; each returns the number of contacts."""
    found: dict[str, Callable[[], int]] = {}
    for more, grazes in (("", 0.5), (", no grazes", 0.0)):
        pairs = pairs_of(np.random.default_rng(3), PAIRS, kind, grazes)
        history = history_of(pairs, kind)
        found[f"cylcollide{more}"] = partial(our_hits, history, pairs)
        for name in ("TightInclusionCCD", "AdditiveCCD"):
            found[f"{name}{more}"] = partial(their_hits, getattr(ipctk, name)(), pairs, kind)
    return found


def measured(kind: str) -> Iterator[dict[str, object]]:
    """The rows of a shape."""
    label, calls = stamp(), works(kind)
    label["machine"] += f", ipctk {ipctk.__version__}"
    for name, taken in interleaved(calls, ROUNDS + 1, time.thread_time).items():
        microseconds = round(1e6 * float(np.median(taken[1:])) / PAIRS, 2)
        row = {"who": name, "shape": kind, "pairs": PAIRS, "us_a_pair": microseconds}
        yield label | row | {"contacts": calls[name]()}


def main() -> None:
    """Measure and write the table."""
    out = script_options(__doc__, "benchmarks/moving_peers.csv").parse_args().out
    ipctk.set_logger_level(ipctk.LoggerLevel.error)
    save(out, (row for kind in ("capsule", "sphere") for row in measured(kind)))


if __name__ == "__main__":
    main()
