"""Flying bullets beside rays: the same segments, one thread, in turn, processor time.

    python benchmarks/moving_speed.py --out benchmarks/moving_speed.csv

100,000 segments of 200 m among 1,000 walking people of 17 limbs (W3 of `cylcollide bench`), as bullets that take one
tick and as segments in the world at the end of it; medians of so many rounds, and of the ratios of each round. A row:
the query; milliseconds of a call in processor time; and its rate over that of the first row, `cast_segments` in the
live world.
"""

import time
from collections.abc import Callable, Iterator

import numpy as np

from cylcollide.bench.past import RecordedCrowd
from cylcollide.bench.results import save, script_options
from cylcollide.bench.timing import interleaved
from cylcollide.bench.workloads import WORKLOADS
from cylcollide.history.moving.hits import MovingHits

TICKS, ROUNDS, BULLETS = 4, 21, 100_000


def works(n: int) -> dict[str, Callable[[], int]]:
    """Queries by name; each returns its number of hits."""
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


def measured(n: int, rounds: int) -> Iterator[dict[str, object]]:
    """The rows of the table."""
    calls = works(n)
    hits = {name: work() for name, work in calls.items()}
    times = interleaved(calls, rounds, time.process_time)
    base = next(iter(times.values()))
    for name, taken in times.items():
        row = {"what": name, "bullets": n, "milliseconds": round(1e3 * float(np.median(taken)), 2), "hits": hits[name]}
        yield row | {"rate": round(float(np.median(base / taken)), 4)}


def main() -> None:
    """Measure and write the table."""
    parser = script_options(__doc__, "benchmarks/moving_speed.csv")
    parser.add_argument("--bullets", type=int, default=BULLETS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args()
    save(chosen.out, measured(chosen.bullets, chosen.rounds))


if __name__ == "__main__":
    main()
