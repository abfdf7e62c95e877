"""A shot log of 64 people in motion: its size, and its cost on the calling thread and in the writer.

    python benchmarks/shot_log.py --out benchmarks/shot_log.csv

Two worlds get the same poses, ticks and shots in turn, a log records one of them. A row: how poses were rounded,
seconds at 60 ticks a second, shots a tick, megabytes of the file, medians of the calling thread's processor time a tick
without the log and of what the log adds, both in microseconds, its share of a tick of 1/60 s, and processor time of
the writer a tick. Status 1: a minute takes more than 150, 85 or 25 MB, the log 5 % of a tick, or the writer 2 ms.
"""

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import cylcollide as cc
from cylcollide.bench.results import save, script_options
from cylcollide.view.people import People, walk

PEOPLE, RATE, SHOTS = 64, 60, 10
POLICY = cc.Policy.first_surface(damage={"head": 4.0})
ROUNDED: dict[str, Any] = {
    "float64": lambda *poses: poses,
    "float32": lambda *poses: [one.astype(np.float32) for one in poses],
    "round_poses": cc.round_poses,
}
MOST_MB = {"float64": 150.0, "float32": 85.0, "round_poses": 25.0}


def measured(kind: str, seconds: int) -> dict[str, object]:
    """A row."""
    rig, rng, worlds = cc.Rig.humanoid(), np.random.default_rng(1), [cc.HitWorld(), cc.HitWorld()]
    people = People(worlds[0], rig, [walk(rig)], PEOPLE)
    ids, histories = [people.ids, worlds[1].spawn(rig, PEOPLE)], [cc.PoseHistory(one) for one in worlds]
    took, whole = np.zeros((seconds * RATE, 2)), 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "match.shots")
        log = cc.ShotLog(path, worlds[0], histories[0], when_full="wait")
        for tick in range(seconds * RATE):
            ((_, *exact),) = people.poses(tick / RATE)
            poses = ROUNDED[kind](*exact)
            start = rng.uniform(-10.0, 10.0, (SHOTS, 3))
            aim = poses[0][rng.integers(PEOPLE, size=SHOTS), 0] + rng.normal(0.0, 0.1, (SHOTS, 3))
            before = time.process_time() - time.thread_time()
            for k in (tick % 2, 1 - tick % 2):
                begun = time.thread_time()
                worlds[k].set_poses(ids[k], *poses)
                histories[k].record(tick / RATE)
                histories[k].judge_segments(start, 2.0 * aim - start, POLICY, time=tick / RATE, threads=1)
                took[tick, k] = time.thread_time() - begun
            while log.acknowledged < tick:
                time.sleep(0.0002)
            whole += time.process_time() - time.thread_time() - before
        log.close()
        with cc.ShotLog.open(path) as logged:
            assert logged.rejudge().identical
        size = path.stat().st_size / 1e6
    added, alone = np.median(took[:, 0] - took[:, 1]), np.median(took[:, 1])
    return {
        "poses": kind, "seconds": seconds, "shots_a_tick": SHOTS, "megabytes": f"{size:.1f}",
        "tick_us": f"{1e6 * alone:.0f}",
        "log_us": f"{1e6 * added:.0f}", "share": f"{added * RATE:.4f}", "writer_us": f"{1e6 * whole / len(took):.0f}",
    }  # fmt: skip


def main() -> int:
    """Measure all kinds of poses."""
    parser = script_options(__doc__, "benchmarks/shot_log.csv")
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    rows = [measured(kind, options.seconds) for kind in ROUNDED]
    save(options.out, rows)
    within = [
        float(str(row["megabytes"])) * 60 <= MOST_MB[str(row["poses"])] * options.seconds
        and float(str(row["share"])) <= 0.05
        and float(str(row["writer_us"])) <= 2000
        for row in rows
    ]
    return int(not all(within))


if __name__ == "__main__":
    sys.exit(main())
