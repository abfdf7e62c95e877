"""The soak: rays and limbs of all shapes by the hundred million, every verdict compared with an independent oracle.

Run: python benchmarks/soak.py   (needs pip install '.[test]'; five minutes on two processors)

Rays go at faces and edges of all shapes, beside or short of them by 10⁻¹ to 10⁻¹⁶ of the size, in units from 2⁻⁴⁵⁰ to
2⁴⁵⁰: at single limbs, and at crowds of 3 to 420 limbs by each of the three loops.

The oracle (`tests/support/oracle/compiled`) computes with 106 bits and a bound on its own error, in formulas that the
library does not use; open cases are decided in rational arithmetic (`tests/support/oracle/any_shape.py`). Queries are
in `tests/support/soak/batches.py`, comparisons in `tests/support/soak/judge.py`.

Ctrl-C keeps finished chunks; the same command resumes. A wrong answer is saved as a file in the folder `cases`, which
`--replay FILE` repeats; any wrong answer makes the status 1. Seed and number determine a chunk of work: `--chunk K`
runs one alone and prints its wrong answers.

column                    meaning
------------------------  --------------------------------------------------------------------------------------------
way                       how the library was called: limb by limb, or a world, with the loop for its size
rays, pairs               rays cast; judged verdicts, each on one ray and one limb
hits, misses              of the pairs
grazes                    pairs within 10⁻⁶ of a tangent, in squares of the radius
inside                    rays that start in a limb
undecided                 rays that the library's float64 bounds left to its exact arithmetic
exact                     rays that the oracle's 106 bits left to its rationals
wrong                     rays with a wrong verdict, limb, face or inside, or a place off by more than 4 ulp
fraction_ulps, position.. largest distance of a place from the truth, by coordinate
library_seconds, seconds  of one process: in the library; with the oracle
"""

import argparse
import csv
import os
import platform
import signal
import sys
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent
sys.path[:0] = [str(BENCHMARKS.parent / "tests")]

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn  # noqa: E402
from support.soak.tally import LARGEST, Part, Tally, replay, run_chunk, version_of  # noqa: E402

from cylcollide.crosscheck.csv_rows import write_csv as write_rows  # noqa: E402

CSV = BENCHMARKS / "soak.csv"
INTERRUPTED = 130  # 128 + SIGINT, as shells have it


def run(tally: Tally, pairs: float, jobs: int) -> None:
    """Run chunks until so many pairs are judged; each is kept as soon as it is finished."""
    # Forking a process that has threads may hang: start afresh. Ctrl-C is for this process alone.
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN))
    columns = BarColumn(), TextColumn("{task.percentage:.1f} %, {task.fields[wrong]} wrong")
    with Progress(TextColumn("pairs"), *columns, TimeElapsedColumn(), TimeRemainingColumn()) as bar:
        task = bar.add_task("", total=pairs, completed=tally.total("pairs"), wrong=int(tally.total("wrong")))
        missing, running = iter(tally.missing()), set[Future[Part]]()
        try:
            while tally.total("pairs") < pairs:
                while len(running) < jobs + 1:
                    running.add(pool.submit(run_chunk, tally.seed, next(missing)))
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    tally.add(future.result())
                bar.update(task, completed=tally.total("pairs"), wrong=int(tally.total("wrong")))
        finally:
            workers = list(pool._processes.values())
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.terminate()
                worker.join()


def write_csv(tally: Tally, file: Path) -> None:
    """Replace the file's rows of this version, machine and seed."""
    mine = {"version": tally.version, "machine": f"{platform.machine()}, {os.cpu_count()} processors"}
    mine["seed"] = str(tally.seed)
    rows = list(csv.DictReader(file.read_text().splitlines())) if file.exists() else []
    rows = [row for row in rows if any(row[name] != value for name, value in mine.items())]
    for name, numbers in sorted(tally.rows.items()):
        way, kind = name.split("; ")
        shape, family = kind.split(": ")
        shown = {k: f"{v:.3g}" if k in LARGEST or "seconds" in k else str(round(v)) for k, v in numbers.items()}
        rows.append(
            {"date": f"{datetime.now(UTC):%Y-%m-%d}", **mine, "way": way, "shape": shape, "family": family, **shown}
        )
    write_rows(file, rows)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--pairs", type=float, default=1e8, help="stop after so many (1e8)")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (all processors)")
    options.add_argument(
        "--folder", type=Path, default=BENCHMARKS / ".soak", help="for what is finished, and for cases"
    )
    options.add_argument("--csv", type=Path, default=CSV)
    options.add_argument("--chunk", type=int, help="run this chunk alone")
    options.add_argument("--replay", type=Path, metavar="FILE", help="repeat a saved case")
    chosen = options.parse_args()
    if chosen.replay:
        what = replay(chosen.replay)
        print(what or "the answer is right")
        return int(bool(what))
    if chosen.chunk is not None:
        part = run_chunk(chosen.seed, chosen.chunk)
        print(*(case["what"] for case in part.cases), f"{len(part.cases)} cases", sep="\n")
        return int(bool(part.cases))
    tally = Tally(chosen.folder, chosen.seed, version_of("soak", "oracle", "cases"))
    print(f"seed {chosen.seed}, version {tally.version}, from chunk {tally.next} on", flush=True)
    status = 0
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell's background jobs ignore the first
        signal.signal(number, signal.default_int_handler)
    try:
        run(tally, chosen.pairs, max(1, chosen.jobs))
    except KeyboardInterrupt:
        status = INTERRUPTED
        print(f"stopped: {tally.file} has {len(tally.done)} chunks; the same command goes on", flush=True)
    if tally.rows:
        write_csv(tally, chosen.csv)
    wrong, seconds = int(tally.total("wrong")), tally.total("seconds")
    pairs, rays = tally.total("pairs"), tally.total("rays")
    print(f"{pairs:.4g} pairs, {rays:.4g} rays, {wrong} wrong, {seconds:.0f} s, {chosen.csv}")
    return status or int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
