"""Every body that comes with PyBullet beside its mirror: what is exact, where verdicts differ and why, and the time.

    python benchmarks/bullet/bodies.py --out benchmarks/bullet_bodies.csv --page docs/bullet.md [--files r2d2.urdf ...]

Each file is loaded with PyBullet's defaults in a process of its own, since some crash it. 10,000 rays from all around
go through points in the boxes of the links. A ray differs if body or link do; its cause is settled with the exact
limbs, the same grown by 1.05 mm (Bullet stops within 1 mm) and the same less half their margin (which rounds edges):

within 1 mm: PyBullet hits a shape that the ray misses, by less than a millimetre.
edge: PyBullet misses a shape at an edge that its margin rounds off, or that the ray only grazes.
order: both shapes are hit, and PyBullet's too early, by the millimetre; or they are less than 2 mm apart on the ray.
inside: the ray starts within 1 mm of a shape, or in it.
open: none of these.
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

import numpy as np
import pybullet as p
import pybullet_data
from scenes import connect, rays

import cylcollide as cc
from cylcollide.bullet import Mirror

RAYS = 10_000
SHELL = 1.05e-3  # Bullet stops within 1 mm
ROUNDED = 0.5  # of a margin: it takes (1 - 1 / sqrt 3) of itself off a corner
CAUSES = ("within 1 mm", "edge", "order", "inside", "open")
OWN_MARGIN, OWN_SHARE = 0.04, 0.1  # Bullet's own margin: so much, at most this share of the smallest half extent
COLUMNS = (
    *("date", "machine", "file", "limbs", "planes", "wrapped", "kind", "hits", "differ"),
    *CAUSES,
    *("bullet_us", "mirror_us", "ratio"),
)
SECONDS = 90
MARKS = "<!-- bodies: made by benchmarks/bullet/bodies.py -->", "<!-- end of bodies -->"
Places = list[dict[tuple[int, int], float]]


def files() -> list[str]:
    """All models, and one of the thousand of random_urdfs, which are a mesh each."""
    root = Path(pybullet_data.getDataPath())
    found = [str(path.relative_to(root)) for kind in ("urdf", "sdf", "xml") for path in root.rglob(f"*.{kind}")]
    return sorted(name for name in found if not name.startswith("random_urdfs/") or name == "random_urdfs/000/000.urdf")


def shrunk(limbs: cc.Limbs, by: float) -> cc.Limbs:
    """The limbs with every face moved in."""
    parts = []
    for i, kind in enumerate(limbs.kind.tolist()):
        p1, p2, radius = limbs.p1[[i]], limbs.p2[[i]], max(limbs.radius[i] - by, 1e-9)
        if kind == cc.Shape.BOX:
            half = np.maximum(limbs.half_extents[i] - by, 1e-9)
            parts.append(cc.Limbs.boxes(p1, quaternion(limbs.box_axes[i].T), half))
        elif kind == cc.Shape.SPHERE:
            parts.append(cc.Limbs.spheres(p1, radius))
        elif kind == cc.Shape.CAPSULE:
            parts.append(cc.Limbs.capsules(p1, p2, radius))
        else:
            step = min(by / np.linalg.norm(p2 - p1), 0.49) * (p2 - p1)
            parts.append(cc.Limbs.cylinders(p1 + step, p2 - step, radius))
    return cc.Limbs.concat(parts)


def quaternion(m: np.ndarray) -> np.ndarray:
    """Quaternion x, y, z, w of a rotation matrix, by its eigenvector."""
    k = np.empty((4, 4))
    k[:3, :3] = m + m.T - np.trace(m) * np.eye(3)
    k[3, :3] = k[:3, 3] = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
    k[3, 3] = np.trace(m)
    return np.linalg.eigh(k)[1][:, -1]


def crossed(mirror: Mirror, limbs: cc.Limbs, starts: np.ndarray, ends: np.ndarray) -> Places:
    """The places of all limbs that each ray crosses, with the fraction of the first crossing."""
    chords, places = cc.HitWorld(limbs).chords_segments(starts, ends), mirror.limb_places
    found: Places = [{} for _ in starts]
    for ray, limb, entry in zip(*(x.tolist() for x in (chords.ray, chords.limb, chords.entry_fraction)), strict=True):
        found[ray].setdefault(tuple(places[limb]), entry)
    return found


def rounding(mirror: Mirror) -> float:
    """What a margin takes off the edges of boxes and cylinders at most."""
    limbs, margins = mirror.limbs, [0.0]
    for i, place in enumerate(mirror.limb_places):
        if limbs.kind[i] in (cc.Shape.BOX, cc.Shape.CYLINDER):
            half_length = 0.5 * np.linalg.norm(limbs.p2[i] - limbs.p1[i])
            is_box = limbs.kind[i] == cc.Shape.BOX
            smallest = limbs.half_extents[i].min() if is_box else min(limbs.radius[i], half_length)
            # of a compound PyBullet reports 0; the shapes in it have what Bullet gives each that nobody gave any
            margins.append(mirror._client.getDynamicsInfo(*place)[11] or min(OWN_MARGIN, OWN_SHARE * smallest))
    return ROUNDED * max(margins)


def causes(mirror: Mirror, starts: np.ndarray, ends: np.ndarray, ours: list[Any], theirs: list[Any]) -> Counter[str]:
    """Why verdicts differ, ray by ray."""
    grown_limbs = mirror.limbs.inflated(SHELL)
    exact, grown = crossed(mirror, mirror.limbs, starts, ends), crossed(mirror, grown_limbs, starts, ends)
    small = crossed(mirror, shrunk(mirror.limbs, rounding(mirror)), starts, ends) if len(mirror.limbs) else exact
    inside = cc.HitWorld(grown_limbs).cast_segments(starts, ends).started_inside
    limbs = {tuple(place) for place in mirror.limb_places}
    length = np.linalg.norm(ends - starts, axis=1)
    counts: Counter[str] = Counter()
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        near = abs(a[2] - b[2]) * length[i] < 2e-3
        if inside[i]:
            counts["inside"] += 1
        elif b[:2] in limbs and b[:2] not in exact[i]:
            counts["within 1 mm" if b[:2] in grown[i] else "open"] += 1
        elif a[:2] in limbs and small[i].get(a[:2], 2.0) > a[2] + 2e-3 / length[i]:
            counts["edge"] += 1
        elif a[0] >= 0 and b[0] >= 0 and (near or grown[i].get(b[:2], 2.0) <= b[2] < exact[i].get(b[:2], 0.0)):
            counts["order"] += 1
        else:
            counts["open"] += 1
    return counts


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
    if not len(mirror.limbs) + len(mirror.sheets) + wrapped:
        return None
    p.performCollisionDetection(physicsClientId=c)
    starts, ends = rays(c, RAYS)
    first, last = starts.tolist(), ends.tolist()
    ours = list(mirror.rayTestBatch(first, last))
    theirs = list(p.rayTestBatch(first, last, physicsClientId=c))
    rows = [i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a[:2] != b[:2]]
    counts = causes(mirror, starts[rows], ends[rows], [ours[i] for i in rows], [theirs[i] for i in rows])
    bullet, own = timed(
        [lambda: p.rayTestBatch(first, last, physicsClientId=c), lambda: mirror.rayTestBatch(first, last)]
    )
    kind = "exact" if not wrapped else "wrapped" if not len(mirror.limbs) else "both"
    facts = {"file": name, "limbs": len(mirror.limbs), "planes": len(mirror.sheets), "wrapped": wrapped, "kind": kind}
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
