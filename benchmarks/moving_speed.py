"""Flying bullets beside rays: the same segments, one thread, in turn, processor time.

    python benchmarks/moving_speed.py --out benchmarks/moving_speed.csv

100,000 segments of 200 m among 1,000 walking people of 17 limbs (W3 of `cylcollide bench`), as bullets that take one
tick and as segments in the world at the end of it; medians of so many rounds, and of the ratios of each round. A row:
what is asked; milliseconds of a call in processor time; and its rate over that of the first row, `cast_segments` in the
live world.
"""

import argparse
import csv
import platform
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import numpy as np

from cylcollide.bench.past import RecordedCrowd
from cylcollide.bench.workloads import WORKLOADS
from cylcollide.history.moving.hits import MovingHits

COLUMNS = ("date", "machine", "what", "bullets", "milliseconds", "hits", "rate")
TICKS, ROUNDS, BULLETS = 4, 21, 100_000


def works(n: int) -> dict[str, Callable[[], int]]:
    """What is asked, by name; each returns its hits."""
    crowd = RecordedCrowd(WORKLOADS["W3"], TICKS)
    starts, ends = WORKLOADS["W3"].segments(crowd.world, n)
    first, last = crowd.history.times[[-2, -1]].tolist()
    moment = np.full(n, first)

    def moving() -> MovingHits:
        return crowd.history.cast_moving(starts, ends, first, np.nextafter(last, 0.0), threads=1)

    return {
        "rays in the live world": lambda: int(crowd.world.cast_segments(starts, ends, threads=1).hit.sum()),
        "rays at one tick": lambda: int(crowd.history.cast_segments(starts, ends, moment, threads=1).hit.sum()),
        "bullets": lambda: int(moving().hit.sum()),
        "bullets and their exits": lambda: int((moving().duration >= 0.0).sum()),
    }


def measured(n: int, rounds: int) -> list[dict[str, object]]:
    """The rows of the table."""
    asked = works(n)
    hits = {name: work() for name, work in asked.items()}
    times: dict[str, list[float]] = {name: [] for name in asked}
    for _ in range(rounds):
        for name, work in asked.items():
            begun = time.process_time()
            work()
            times[name].append(time.process_time() - begun)
    label = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
    }
    base = next(iter(times.values()))
    return [
        label | {"what": name, "bullets": n, "milliseconds": round(1e3 * median(taken), 2), "hits": hits[name],
                 "rate": round(median(a / b for a, b in zip(base, taken, strict=True)), 4)}
        for name, taken in times.items()
    ]  # fmt: skip


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/moving_speed.csv"))
    parser.add_argument("--bullets", type=int, default=BULLETS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args()
    rows = measured(chosen.bullets, chosen.rounds)
    with chosen.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for row in rows:
        print(*list(row.values())[2:])


if __name__ == "__main__":
    main()
