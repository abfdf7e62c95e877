"""Rays in the present, and at more and more moments of the past: the parts of a ray's time.

    CYLCOLLIDE_LEVEL=x86-64-v3 python benchmarks/past_parts.py   (half a minute; without a level, the best one)

Adds a row for each kind of rays to the CSV: date, level, rays, nanoseconds of a ray, the least and the median of
interleaved rounds, and the median of the present's time over it. 100,000 rays, 1,000 characters, 64 ticks, one thread.
"""

import csv
import sys
import time
from functools import partial

import numpy as np

from cylcollide.bench.past import TICKS, RecordedCrowd
from cylcollide.bench.results import script_options, stamp
from cylcollide.bench.timing import interleaved
from cylcollide.bench.workloads import WORKLOADS
from cylcollide.runtime.levels import CHOICE

RAYS = 100_000
COLUMNS = ("date", "level", "rays", "least_ns", "median_ns", "present_over_it")
PRESENT = "the present"


def main() -> None:
    parser = script_options(__doc__, "benchmarks/past_parts.csv")
    parser.add_argument("--rounds", type=int, default=31)
    options = parser.parse_args()
    crowd = RecordedCrowd(WORKLOADS["W3"], TICKS)
    segments, ticks, spread = WORKLOADS["W3"].segments(crowd.world, RAYS), crowd.history.times, crowd.times(RAYS)
    moments = {
        "one tick, at its time": ticks[30],
        "one tick, between it and the next": 0.5 * (ticks[30] + ticks[31]),
        "two ticks": ticks[30] + (spread > np.median(spread)) * (ticks[31] - ticks[30]),
        f"{TICKS} ticks, in order of time": np.sort(spread),
        f"{TICKS} ticks": spread,
    }
    works = {name: partial(crowd.history.cast_segments, *segments, at, threads=1) for name, at in moments.items()}
    works[PRESENT] = partial(crowd.world.cast_segments, *segments, threads=1)
    interleaved(works, 2)
    times = {name: 1e9 / RAYS * spent for name, spent in interleaved(works, options.rounds, time.process_time).items()}
    is_new, facts = not options.out.exists(), (stamp()["date"], CHOICE.level)
    with options.out.open("a", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerows([COLUMNS] if is_new else [])
        for name in (PRESENT, *moments):
            numbers = np.min(times[name]), np.median(times[name]), np.median(times[PRESENT] / times[name])
            out.writerow([*facts, name, *(f"{number:.3g}" for number in numbers)])
            print(*facts, name, *(f"{number:.3g}" for number in numbers), sep="\t", file=sys.stderr)


if __name__ == "__main__":
    main()
