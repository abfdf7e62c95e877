"""Signed distances of points as engines measure them: wrong signs, errors and time, as in the cross-check's report.

    pip install '.[crosscheck,peers]'
    python benchmarks/engine_distances.py engine_distances.csv [seed]

Time is processor time over that of `Limbs.closest_points` for the same points.
"""

import sys
from pathlib import Path

from cylcollide.crosscheck.csv_rows import with_figures_apart, write_csv
from cylcollide.crosscheck.run.distances import distances


def main(path: str, seed: str = "0") -> None:
    """Write a row an engine and shape, and print why PyBullet is off."""
    found = distances(["all"], seed=int(seed))
    write_csv(Path(path), [with_figures_apart(row, ("outside_mm", "inside_mm")) for row in found["rows"]])
    for cause in found["causes"]:
        print(cause)
    print(f"{found['unproved']} signs of this library are wrong")


if __name__ == "__main__":
    main(*sys.argv[1:])
