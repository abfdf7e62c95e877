"""Every body that comes with PyBullet beside its mirror: what is exact, where verdicts differ and why, and the time.

    python benchmarks/bullet/bodies.py --out benchmarks/bullet_bodies.csv --page docs/bullet.md [--files r2d2.urdf ...]

Each file is loaded with PyBullet's defaults in a process of its own, since some crash it. 10,000 rays from all around
go through points in the boxes of the links. A ray differs if body or link do; its cause is that of
`cylcollide.bullet.differences`.
"""

import argparse
import csv
import multiprocessing
import platform
import time
import warnings
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import pybullet as p
import pybullet_data
from scenes import connect, rays

from cylcollide.bullet import Mirror
from cylcollide.bullet.differences import CAUSES, causes_of

RAYS = 10_000
COLUMNS = (
    *("date", "machine", "file", "limbs", "planes", "wrapped", "kind", "hits", "differ"),
    *CAUSES,
    *("bullet_us", "mirror_us", "ratio"),
)
SECONDS = 90
MARKS = "<!-- bodies: made by benchmarks/bullet/bodies.py -->", "<!-- end of bodies -->"


def files() -> list[str]:
    """All models, and one of the thousand of random_urdfs, which are a mesh each."""
    root = Path(pybullet_data.getDataPath())
    found = [str(path.relative_to(root)) for kind in ("urdf", "sdf", "xml") for path in root.rglob(f"*.{kind}")]
    return sorted(name for name in found if not name.startswith("random_urdfs/") or name == "random_urdfs/000/000.urdf")


def timed(calls: list[Any], rounds: int = 2) -> list[float]:
    """Median microseconds of processor time a ray, of calls in turn."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, of_call in zip(calls, times, strict=True):
            begun = time.process_time()
            call()
            of_call.append((time.process_time() - begun) / RAYS * 1e6)
    return [median(of_call) for of_call in times]


def measure(name: str) -> dict[str, Any] | None:
    """A row about one file; None if nothing of it can be hit."""
    c = connect()
    load = {".xml": p.loadMJCF, ".sdf": p.loadSDF, ".urdf": p.loadURDF}[Path(name).suffix]
    load(name, physicsClientId=c)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        mirror = Mirror(c, follow=False)
    wrapped = len(mirror._scene.shapes.wrapped)
    if not len(mirror.limbs) + len(mirror._sheets) + wrapped:
        return None
    p.performCollisionDetection(physicsClientId=c)
    starts, ends = rays(c, RAYS)
    first, last = starts.tolist(), ends.tolist()
    ours = list(mirror.rayTestBatch(first, last))
    theirs = list(p.rayTestBatch(first, last, physicsClientId=c))
    rows = [i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a[:2] != b[:2]]
    counts = Counter(causes_of(mirror, starts[rows], ends[rows], [ours[i] for i in rows], [theirs[i] for i in rows]))
    bullet, own = timed(
        [lambda: p.rayTestBatch(first, last, physicsClientId=c), lambda: mirror.rayTestBatch(first, last)]
    )
    kind = "exact" if not wrapped else "wrapped" if not len(mirror.limbs) else "both"
    facts = {"file": name, "limbs": len(mirror.limbs), "planes": len(mirror._sheets), "wrapped": wrapped, "kind": kind}
    times = {"bullet_us": f"{bullet:.2f}", "mirror_us": f"{own:.2f}", "ratio": f"{bullet / own:.2f}"}
    hits = sum(answer[0] >= 0 for answer in theirs)
    return facts | {"hits": hits, "differ": len(rows)} | {cause: counts[cause] for cause in CAUSES} | times


def _send(name: str, pipe: Any) -> None:
    try:
        pipe.send(measure(name))
    except (p.error, ValueError) as error:
        pipe.send(f"{type(error).__name__}: {error}")


def in_a_process(name: str) -> dict[str, Any] | str | None:
    """`measure`, or why it failed."""
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    process = fork.Process(target=_send, args=(name, sender))
    process.start()
    sender.close()
    try:
        return receiver.recv() if receiver.poll(SECONDS) else "takes too long"
    except EOFError:
        return "PyBullet crashes"
    finally:
        process.kill()
        process.join()


def page_table(rows: list[dict[str, Any]]) -> str:
    """A table of Markdown: the files of each kind, sums of rays and median times."""
    lines = [
        "| kind | files | hits | differ | " + " | ".join(CAUSES) + " | PyBullet, µs a ray | Mirror, µs |",
        "|---|" + "---|" * (5 + len(CAUSES)),
    ]
    for kind in ("exact", "both", "wrapped"):
        of_kind = [row for row in rows if row["kind"] == kind]
        counts = [str(sum(int(row[name]) for row in of_kind)) for name in ("hits", "differ", *CAUSES)]
        times = [f"{median(float(row[name]) for row in of_kind):.2f}" for name in ("bullet_us", "mirror_us")]
        lines.append(" | ".join([f"| {kind}", str(len(of_kind)), *counts, *times]) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=Path("benchmarks/bullet_bodies.csv"))
    parser.add_argument("--files", nargs="*", help="only these, or none; other rows stay as they are in the CSV")
    parser.add_argument("--page", type=Path, help="the page whose table is replaced")
    options = parser.parse_args()
    facts = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
    }
    rows: dict[str, dict[str, Any]] = {}
    if options.files is not None:
        with options.out.open(newline="") as file:
            rows = {row["file"]: row for row in csv.DictReader(file)}
    for name in files() if options.files is None else options.files:
        row = in_a_process(name)
        print(name, row, flush=True)
        if isinstance(row, dict):
            rows[name] = facts | row
    with options.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows.values())
    if options.page:
        before, rest = options.page.read_text().split(MARKS[0])
        after = rest.split(MARKS[1])[1]
        options.page.write_text(f"{before}{MARKS[0]}\n\n{page_table(list(rows.values()))}\n\n{MARKS[1]}{after}")


if __name__ == "__main__":
    main()
