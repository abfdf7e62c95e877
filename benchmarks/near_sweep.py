"""The long sweep of distances, thick rays, overlaps, blades and doubt: adversarial queries, independent truths.

Run: python benchmarks/near_sweep.py [--cases 100000]   (of each query; hours on one processor)

Queries and truths are in `tests/support/soak/near.py`. Worlds have 32 limbs, each in a layer of its own, so that every
query traverses a tree. The same command resumes after the chunks of the CSV.

column     meaning
---------  -----------------------------------------------------------------------------------------------------------
family     place of the query: at what feature, or in which unit, or how far from the origin
cases      judged cases
wrong      a wrong sign, verdict, face or chosen place; more than 4 ulp; undecided where that is not allowed
undecided  left open, as the contract allows; of doubt: DEPENDS
worst      largest error of a distance, a place or a fraction, in ulp of the largest coordinate; of capsules and
           boxes, the largest overlap or gap of an undecided one, in 2⁻⁴⁰ of the size
chunks     of 32 limbs each; the number of a chunk determines it
"""

import argparse
import csv
import sys
import time
from collections import defaultdict
from math import inf
from pathlib import Path

import numpy as np

BENCHMARKS = Path(__file__).resolve().parent
sys.path[:0] = [str(BENCHMARKS.parent / "tests")]

from support.cases.near_points import MAKERS  # noqa: E402
from support.soak.near import QUERIES, group  # noqa: E402

CSV = BENCHMARKS / "near_sweep.csv"
COLUMNS = ("cases", "wrong", "undecided", "worst", "chunks")


Table = dict[tuple[str, str], dict[str, list[float]]]
"""The numbers of a row, by query and shape, then by family."""


def main() -> None:
    """Run until each query has enough cases of each shape."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100_000, help="of each query")
    parser.add_argument("--seconds", type=float, default=inf, help="end after that")
    parser.add_argument("--shapes", nargs="+", choices=MAKERS, default=list(MAKERS))
    parser.add_argument("--queries", nargs="+", choices=QUERIES, default=list(QUERIES))
    options = parser.parse_args()
    table, end = read(), time.monotonic() + options.seconds
    works = [(name, shape) for name in options.queries for shape in options.shapes]
    while works and time.monotonic() < end:
        done = {work: sum(row[0] for row in table[work].values()) for work in works}
        works = [work for work in works if done[work] < options.cases / len(MAKERS)]
        for name, shape in works:
            rows = table[name, shape]
            chunk = int(max((row[4] for row in rows.values()), default=0))
            seed = [chunk, list(MAKERS).index(shape), list(QUERIES).index(name)]
            for case in QUERIES[name](group(shape, np.random.default_rng(seed))):
                row = rows[case.family]
                row[:4] = row[0] + 1, row[1] + case.wrong, row[2] + case.undecided, max(row[3], case.worst)
                if case.wrong:
                    print(f"wrong: {name}, {shape}, {case.family}, chunk {chunk}", flush=True)
            for row in rows.values():
                row[4] = chunk + 1
        write(table)


def read() -> Table:
    """Return what is in the CSV."""
    table: Table = defaultdict(lambda: defaultdict(lambda: [0, 0, 0, 0.0, 0]))
    if CSV.exists():
        with CSV.open() as file:
            for row in csv.DictReader(file):
                table[row["query"], row["shape"]][row["family"]] = [float(row[name]) for name in COLUMNS]
    return table


def write(table: Table) -> None:
    """Write the CSV."""
    with CSV.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["query", "shape", "family", *COLUMNS])
        for work, rows in sorted(table.items()):
            for family, (cases, wrong, undecided, worst, chunks) in sorted(rows.items()):
                out.writerow([*work, family, *map(int, (cases, wrong, undecided)), f"{worst:.3g}", int(chunks)])


if __name__ == "__main__":
    main()
