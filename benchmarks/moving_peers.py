"""One bullet and one moving capsule or sphere each: `cast_moving` beside `ipctk`, in turn, processor time of one thread.

    python benchmarks/moving_peers.py --out benchmarks/moving_peers.csv   (needs pip install '.[test,peers]')

4,096 pairs, half of them within 10⁻¹ … 10⁻⁹ of a radius of a touch (`tests/support/moving_peers.py`). A row: who
answers; the shape; microseconds a pair, the median of so many rounds; contacts that it sees. `ipctk` is called pair by
pair, which is all it offers, so that each call from Python counts; its contacts are conservative, ours exact.
"""

import argparse
import csv
import os
import platform
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

os.environ.setdefault("CYLCOLLIDE_COMPILE", "now")
BENCHMARKS = Path(__file__).resolve().parent
sys.path[:0] = [str(BENCHMARKS.parent / "tests")]

import ipctk  # noqa: E402
import numpy as np  # noqa: E402
from support.moving_peers import history_of, pairs_of, peer_contacts  # noqa: E402

PAIRS, ROUNDS = 4096, 9


def works(kind: str) -> dict[str, Callable[[], int]]:
    """What is asked of whom; each returns how many contacts there are."""
    pairs = pairs_of(np.random.default_rng(3), PAIRS, kind)
    history = history_of(pairs, kind)
    everyday = pairs_of(np.random.default_rng(3), PAIRS, kind, grazes=0.0)
    once = history_of(everyday, kind)
    found = {"cylcollide": lambda: history.cast_moving(pairs.start, pairs.end, 0.0, 1.0, threads=1).hit.sum()}
    found["cylcollide, no grazes"] = lambda: once.cast_moving(everyday.start, everyday.end, 0.0, 1.0, threads=1).hit.sum()
    for name in ("TightInclusionCCD", "AdditiveCCD"):
        ccd = getattr(ipctk, name)()
        found[name] = lambda ccd=ccd: peer_contacts(ccd, pairs, kind)[0].sum()
        found[f"{name}, no grazes"] = lambda ccd=ccd: peer_contacts(ccd, everyday, kind)[0].sum()
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
            rows.append(label | {"who": name, "shape": kind, "pairs": PAIRS, "us_a_pair": microseconds, "contacts": work()})
            print(*list(rows[-1].values())[2:])
    with out.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
