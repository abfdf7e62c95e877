"""Every body that comes with PyBullet beside its mirror: what is exact, where verdicts differ and why, and the time.

    python benchmarks/bullet/bodies.py --out benchmarks/bullet_bodies.csv --page docs/bullet.md [--files r2d2.urdf ...]

Each file is loaded with PyBullet's defaults in a process of its own, since some crash it. 10,000 rays from all around
go through points in the boxes of the links. A ray differs if body or link do; its cause is that of
`cylcollide.bullet.differences`.
"""

import csv
import multiprocessing
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pybullet as p
import pybullet_data
from scenes import connect, rays

from cylcollide.bench.results import markdown_table, replace_between, save, script_options
from cylcollide.bench.timing import interleaved
from cylcollide.bullet import Mirror
from cylcollide.bullet.differences import CAUSES, causes_of

RAYS = 10_000
SECONDS = 90
MARKS = "<!-- bodies: made by benchmarks/bullet/bodies.py -->", "<!-- end of bodies -->"


def files() -> list[str]:
    """All models, and one of the thousand of random_urdfs, which are a mesh each."""
    root = Path(pybullet_data.getDataPath())
    found = [str(path.relative_to(root)) for kind in ("urdf", "sdf", "xml") for path in root.rglob(f"*.{kind}")]
    return sorted(name for name in found if not name.startswith("random_urdfs/") or name == "random_urdfs/000/000.urdf")


def measure(name: str) -> dict[str, Any] | None:
    """A row about one file; None if nothing of it can be hit."""
    c = connect()
    load = {".xml": p.loadMJCF, ".sdf": p.loadSDF, ".urdf": p.loadURDF}[Path(name).suffix]
    load(name, physicsClientId=c)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        mirror = Mirror(c, follow=False)
    wrapped = len(mirror._follower.scene.shapes.wrapped)
    if not len(mirror.limbs) + len(mirror._sheets) + wrapped:
        return None
    p.performCollisionDetection(physicsClientId=c)
    starts, ends = rays(c, RAYS)
    first, last = starts.tolist(), ends.tolist()
    ours = list(mirror.rayTestBatch(first, last))
    theirs = list(p.rayTestBatch(first, last, physicsClientId=c))
    rows = [i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a[:2] != b[:2]]
    counts = Counter(causes_of(mirror, starts[rows], ends[rows], [ours[i] for i in rows], [theirs[i] for i in rows]))
    works = {
        "bullet": lambda: p.rayTestBatch(first, last, physicsClientId=c),
        "mirror": lambda: mirror.rayTestBatch(first, last),
    }
    bullet, own = (1e6 / RAYS * median(taken) for taken in interleaved(works, 2, time.process_time).values())
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
    lines = []
    for kind in ("exact", "both", "wrapped"):
        of_kind = [row for row in rows if row["kind"] == kind]
        counts = [sum(int(row[name]) for row in of_kind) for name in ("hits", "differ", *CAUSES)]
        times = [f"{median(float(row[name]) for row in of_kind):.2f}" for name in ("bullet_us", "mirror_us")]
        lines.append([kind, len(of_kind), *counts, *times])
    head = ["kind", "files", "hits", "differ", *CAUSES, "PyBullet, µs a ray", "Mirror, µs"]
    return markdown_table(head, lines)


def measured(names: list[str], rows: dict[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Measure these files, replace their rows, and yield all rows."""
    for name in names:
        row = in_a_process(name)
        print(name, row, flush=True)
        if isinstance(row, dict):
            rows[name] = row
    yield from rows.values()


def main() -> None:
    parser = script_options(__doc__, "benchmarks/bullet_bodies.csv")
    parser.add_argument("--files", nargs="*", help="only these, or none; other rows stay as they are in the CSV")
    parser.add_argument("--page", type=Path, help="the page whose table is replaced")
    options = parser.parse_args()
    rows: dict[str, dict[str, Any]] = {}
    if options.files is not None:
        with options.out.open(newline="") as file:
            rows = {row["file"]: row for row in csv.DictReader(file)}
    save(options.out, measured(files() if options.files is None else options.files, rows))
    if options.page:
        replace_between(options.page, *MARKS, page_table(list(rows.values())))


if __name__ == "__main__":
    main()
