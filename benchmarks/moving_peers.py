"""One bullet and one moving capsule or sphere each: `cast_moving` beside `ipctk`, in turn, one thread.

    python benchmarks/moving_peers.py --out benchmarks/moving_peers.csv   (needs pip install '.[test,peers]')

4,096 pairs, half of them within 10⁻¹ … 10⁻⁹ of a radius of a touch, or none (`tests/support/moving_peers.py`). A row:
who answers; the shape; microseconds of processor time a pair, the median of so many rounds; contacts. `ipctk` is called
pair by pair, which is all it offers, so that each call from Python counts; its contacts are conservative, ours exact.
"""

import argparse
import csv
import platform
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median

BENCHMARKS = Path(__file__).resolve().parent
sys.path[:0] = [str(BENCHMARKS.parent / "tests")]

import ipctk  # noqa: E402
import numpy as np  # noqa: E402
from support.moving_peers import Pairs, history_of, pairs_of, peer_contacts  # noqa: E402

import cylcollide as cc  # noqa: E402

PAIRS, ROUNDS = 4096, 9


def our_hits(history: cc.PoseHistory, pairs: Pairs) -> int:
    """How many bullets hit."""
    return int(history.cast_moving(pairs.start, pairs.end, 0.0, 1.0, threads=1).hit.sum())


def their_hits(ccd: object, pairs: Pairs, kind: str) -> int:
    """How many pairs `ipctk` sees in contact."""
    return int(peer_contacts(ccd, pairs, kind)[0].sum())


def works(kind: str) -> dict[str, Callable[[], int]]:
    """What is asked of whom; each returns how many contacts there are."""
    found: dict[str, Callable[[], int]] = {}
    for more, grazes in (("", 0.5), (", no grazes", 0.0)):
        pairs = pairs_of(np.random.default_rng(3), PAIRS, kind, grazes)
        history = history_of(pairs, kind)
        found[f"cylcollide{more}"] = partial(our_hits, history, pairs)
        for name in ("TightInclusionCCD", "AdditiveCCD"):
            found[f"{name}{more}"] = partial(their_hits, getattr(ipctk, name)(), pairs, kind)
    return found


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=BENCHMARKS / "moving_peers.csv")
    out = parser.parse_args().out
    ipctk.set_logger_level(ipctk.LoggerLevel.error)
    label = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": f"{platform.machine()}, Python {platform.python_version()}, ipctk {ipctk.__version__}",
    }
    rows = []
    for kind in ("capsule", "sphere"):
        asked = works(kind)
        times: dict[str, list[float]] = {name: [] for name in asked}
        for _ in range(ROUNDS + 1):
            for name, work in asked.items():
                begun = time.thread_time()
                work()
                times[name].append(time.thread_time() - begun)
        for name, work in asked.items():
            microseconds = round(1e6 * median(times[name][1:]) / PAIRS, 2)
            rows.append(
                label | {"who": name, "shape": kind, "pairs": PAIRS, "us_a_pair": microseconds, "contacts": work()}
            )
            print(*list(rows[-1].values())[2:])
    with out.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
