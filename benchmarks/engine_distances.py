"""Signed distances of points as engines measure them: wrong signs, errors and time, as in the cross-check's report.

    pip install '.[crosscheck,peers]'
    python benchmarks/engine_distances.py engine_distances.csv [seed]

Time is processor time over that of `Limbs.closest_points` for the same points.
"""

import argparse
from pathlib import Path

from cylcollide.crosscheck.csv_rows import with_figures_apart, write_csv
from cylcollide.crosscheck.run.distances import distances


def main() -> None:
    """Write a row an engine and shape, and print why PyBullet is off."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    options = parser.parse_args()
    found = distances(["all"], seed=options.seed)
    write_csv(options.out, [with_figures_apart(row, ("outside_mm", "inside_mm")) for row in found["rows"]])
    for cause in found["causes"]:
        print(cause)
    print(f"{found['unproved']} signs of this library are wrong")


if __name__ == "__main__":
    main()
