"""The counts of a soak so far, in a file that is replaced atomically; and the cases with wrong results."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from support.oracle.shapes.rows import Shapes, Shots
from support.soak.batches import Batch, batches
from support.soak.judge import judge, one_ray

import cylcollide as cc
from cylcollide.process.files import write_text

LARGEST = ("fraction_ulps", "position_ulps")
"""Columns that are merged by maximum; the others are summed."""

Row = dict[str, float]


@dataclass
class Part:
    """One judged chunk: numbers by loop and family, and the wrong rays."""

    chunk: int
    rows: dict[str, Row] = field(default_factory=dict)  # by "way; shape: family"
    cases: list[dict[str, Any]] = field(default_factory=list)


def merge(rows: dict[str, Row], name: str, more: Row) -> None:
    """Merge numbers into the row of this name."""
    row = rows.setdefault(name, dict.fromkeys(more, 0.0))
    for column, value in more.items():
        row[column] = max(row[column], value) if column in LARGEST else row[column] + value


def run_chunk(seed: int, chunk: int) -> Part:
    """Evaluate and judge one chunk."""
    part = Part(chunk)
    for number, (batch, inside) in enumerate(batches(seed, chunk)):
        judged = judge(batch, inside)
        families, which = np.unique(batch.shots.family, return_inverse=True)
        for k, family in enumerate(families.tolist()):
            mine = which == k
            row = {
                name: float(column[mine].max() if name in LARGEST else column[mine].sum())
                for name, column in judged.columns.items()
            }
            merge(part.rows, f"{batch.way}; {family}", row)
        for wrong in judged.wrong[:20]:
            origin = {"seed": seed, "chunk": chunk, "batch": number, "row": wrong.row, "what": wrong.what}
            part.cases.append({**origin, "inside": inside, **_written(batch, wrong.row)})
    return part


# Cases --------------------------------------------------------------------------------------------------------------


def _written(batch: Batch, row: int) -> dict[str, Any]:
    """Return a ray, its limbs and its query as JSON data, which keeps float64 exactly."""
    s, limbs = batch.shots, batch.limbs if batch.crowd is not None else batch.shots.shapes.take(np.array([row]))
    return {
        "way": batch.way,
        "family": str(s.family[row]),
        "rays": len(s),
        "start": s.start[row].tolist(),
        "end": s.end[row].tolist(),
        "limit": None if s.limit is None else float(s.limit[row]),
        "crowd": batch.crowd is not None,
        "limbs": {f.name: getattr(limbs, f.name).tolist() for f in fields(Shapes)},
    }


def read_case(case: dict[str, Any]) -> Batch:
    """Return the batch that repeats a case's ray as often as the original had rays, so that the same loop is used."""
    limbs = Shapes(**{name: np.array(column) for name, column in case["limbs"].items()})
    family, limit = np.array([case["family"]]), None if case["limit"] is None else np.array([case["limit"]])
    shot = Shots(family, limbs.take(np.array([0])), np.array([case["start"]]), np.array([case["end"]]), limit)
    return one_ray(Batch(case["way"], shot, limbs if case["crowd"] else None), 0, case["rays"])


def replay(file: Path) -> str:
    """Return the present error of a saved case, "" if it is right."""
    case = json.loads(file.read_text())
    wrong = judge(read_case(case), case["inside"]).wrong
    return wrong[0].what if wrong else ""


# The file -----------------------------------------------------------------------------------------------------------


def version_of(*support: str) -> str:
    """Return the library's version, and a digest of its source and of files and folders of tests/support."""
    digest, folder = hashlib.sha256(), Path(__file__).parents[1]
    for part in (Path(cc.__file__).parent, *(folder / name for name in support)):
        for file in sorted(part.rglob("*.py")) if part.is_dir() else [part]:
            digest.update(file.read_bytes())
    return f"{cc.__version__}+{digest.hexdigest()[:8]}"


class Tally:
    """All finished chunks of one seed, kept in a folder."""

    def __init__(self, folder: Path, seed: int, version: str) -> None:
        self.file, self.cases = folder / f"seed-{seed}.json", folder / "cases"
        self.seed, self.version, self.done, self.rows = seed, version, set[int](), dict[str, Row]()
        if not self.file.exists():
            return
        kept = json.loads(self.file.read_text())
        if kept["version"] != version:
            raise ValueError(
                f"{self.file}: expected chunks of version {version}, got those of {kept['version']}; "
                f"choose another seed, or move the file away"
            )
        self.done, self.rows = set(range(kept["next"])) | set(kept["ahead"]), kept["rows"]

    @property
    def next(self) -> int:
        """Return the first chunk that is missing."""
        return next(k for k in range(len(self.done) + 1) if k not in self.done)

    def missing(self) -> Iterable[int]:
        """Yield the numbers of missing chunks, without end."""
        number = 0
        while True:
            if number not in self.done:
                yield number
            number += 1

    def total(self, column: str) -> float:
        """Return the sum of a column."""
        return sum(row[column] for row in self.rows.values())

    def add(self, part: Part) -> None:
        """Add a chunk and write the file."""
        for name, row in part.rows.items():
            merge(self.rows, name, row)
        self.cases.mkdir(parents=True, exist_ok=True)
        for number, case in enumerate(part.cases):
            write_text(self.cases / f"seed-{self.seed}-chunk-{part.chunk}-{number}.json", json.dumps(case))
        self.done.add(part.chunk)
        first = self.next
        kept = {"version": self.version, "next": first, "ahead": sorted(k for k in self.done if k > first)}
        write_text(self.file, json.dumps({**kept, "rows": self.rows}))
