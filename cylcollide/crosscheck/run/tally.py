"""Chunks put together: counts and errors by family, causes with their bounds, and ``summary.json`` of schema 2.

Chunks are taken in the order of their keys, so that nothing depends on the order in which they were finished.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int8Array
from cylcollide.crosscheck.cases.case import Case, plain
from cylcollide.crosscheck.cases.interventions.trials import Trial, is_proved
from cylcollide.crosscheck.causes.kinds_and_causes import WITHOUT_BOUND, Cause, Kind
from cylcollide.crosscheck.generate.families import FAMILIES, ChunkKey
from cylcollide.crosscheck.run.chunk_store import Chunk

SCHEMA = 2
"""Version of ``summary.json`` of a run by families: raised when a field changes its meaning or goes away."""

MM_PER_METRE = 1000.0
Record = dict[str, Any]


@dataclass(frozen=True)
class Tally:
    """All chunks of a run."""

    chunks: Mapping[ChunkKey, Chunk]

    def __post_init__(self) -> None:
        """Put the chunks in the order of families, then numbers."""
        ordered = sorted(self.chunks, key=lambda key: (FAMILIES.index(key.family), key.seed, key.number))
        object.__setattr__(self, "chunks", {key: self.chunks[key] for key in ordered})

    def column(self, name: str, family: str | None = None) -> Any:
        """One column of all disagreements, or of those of a family."""
        parts = [chunk.columns[name] for key, chunk in self.chunks.items() if family in (None, key.family)]
        return np.concatenate(parts) if parts else np.empty(0)

    def total(self, name: str, family: str | None = None) -> int:
        """Sum of a number in the records."""
        return sum(chunk.record[name] for key, chunk in self.chunks.items() if family in (None, key.family))

    @property
    def families(self) -> list[str]:
        """The families that ran."""
        return [family for family in FAMILIES if any(key.family == family for key in self.chunks)]

    @property
    def cases(self) -> list[Case]:
        """Every case that the chunks kept."""
        return [Case.read(record) for chunk in self.chunks.values() for record in chunk.record["cases"]]

    @property
    def calibrations(self) -> list[Record]:
        """What was measured, each engine, setup and size once."""
        every = {
            json.dumps(c, sort_keys=True): c for chunk in self.chunks.values() for c in chunk.record["calibrations"]
        }
        return [every[text] for text in sorted(every)]

    def rows(self) -> list[Record]:
        """One row per family, then the row of all."""
        return [*(self._row(family) for family in self.families), self._row(None)]

    def _row(self, family: str | None) -> Record:
        kind: Int8Array = self.column("kind", family)
        cause: Int8Array = self.column("cause", family)
        amount: Float64Array = self.column("amount", family)
        counts = {k.label.replace(" ", "_"): int(np.sum(kind == k)) for k in Kind}
        return {
            "family": "all" if family is None else family,
            **{name: self.total(name, family) for name in ("rays", "hits", "rechecked", "proved")},
            "disagreements": len(kind),
            **counts,
            "early_mm": median_99_max(-amount[kind == Kind.EARLY] * MM_PER_METRE),
            "late_mm": median_99_max(amount[kind == Kind.LATE] * MM_PER_METRE),
            "normal_deg": median_99_max(np.degrees(amount[kind == Kind.NORMAL])),
            "causes": {c.label: n for c in Cause if (n := int(np.sum(cause == c)))},
        }

    def cause_rows(self, tried: Mapping[Cause, Sequence[list[Trial]]]) -> list[Record]:
        """One row per cause that was found, most frequent first; ``tried`` holds the trials of a sample of each."""
        kind, cause = self.column("kind"), self.column("cause")
        rows = [self._cause_row(c, cause == c, kind, tried.get(c, ())) for c in Cause if (cause == c).any()]
        return sorted(rows, key=lambda row: -row["count"])

    def _cause_row(self, cause: Cause, mine: BoolArray, kind: Int8Array, tried: Sequence[list[Trial]]) -> Record:
        measured, bound, amount = (self.column(name)[mine] for name in ("measured", "bound", "amount"))
        kinds = kind[mine]
        # The answers and rays of a call are kept to ask it again: they are no length and its bound.
        finite = np.isfinite(measured) & np.isfinite(bound) & (bound > 0) & (kinds != Kind.LOST)
        finite &= cause not in WITHOUT_BOUND
        ratio = np.where(finite, measured / np.where(finite, bound, 1.0), -np.inf)
        tightest = int(np.argmax(ratio)) if len(ratio) else 0
        some = bool(finite.any())
        return {
            "cause": cause.label,
            "count": int(mine.sum()),
            "share": float(mine.mean()),
            "kinds": {k.label: n for k in Kind if (n := int(np.sum(kinds == k)))},
            "worst": {
                k.label: plain(np.nanmax(np.abs(amount[kinds == k])))
                for k in Kind
                if np.isfinite(amount[kinds == k]).any()
            },
            "nearest_to_bound": {
                "measured": plain(measured[tightest]) if some else None,
                "bound": plain(bound[tightest]) if some else None,
                "ratio": plain(ratio[tightest]) if some else None,
                "kind": Kind(kinds[tightest]).label if some else None,
            },
            "interventions": _trial_row(tried),
        }

    def unexplained(self) -> Record:
        """How many disagreements no cause claims."""
        cause = self.column("cause")
        count = int(np.sum(cause == Cause.UNEXPLAINED))
        return {"count": count, "disagreements": len(cause), "share": count / len(cause) if len(cause) else 0.0}


def _trial_row(tried: Sequence[list[Trial]]) -> Record:
    changes: dict[tuple[str, str], list[int]] = {}
    for run in tried:
        for trial in run:
            counts = changes.setdefault((trial.change, trial.predicted), [0, 0])
            counts[0 if trial.held else 1] += 1
    return {
        "cases": len(tried),
        "tested": sum(bool(run) for run in tried),
        "proved": sum(is_proved(run) for run in tried),
        "changes": [
            {"change": change, "predicted": predicted, "held": held, "failed": failed}
            for (change, predicted), (held, failed) in sorted(changes.items())
        ],
    }


def median_99_max(values: Float64Array) -> list[float | None]:
    """Median, 99th percentile and maximum of the finite values; None where there are none."""
    values = values[np.isfinite(values)]
    if not len(values):
        return [None, None, None]
    return [float(np.median(values)), float(np.percentile(values, 99)), float(values.max())]


def sample(cases: Sequence[Case], count: int) -> dict[Cause, list[Case]]:
    """Up to ``count`` cases of every cause, spread evenly over families and chunks."""
    chosen: dict[Cause, list[Case]] = {}
    for cause in Cause:
        mine = [case for case in cases if case.cause_code == cause]
        step = max(1.0, len(mine) / count)
        chosen[cause] = [mine[int(place * step)] for place in range(min(count, len(mine)))]
    return chosen


def write_summary(path: Path, summary: Record) -> None:
    """Write ``summary.json``."""
    path.write_text(json.dumps(summary, indent=2, allow_nan=False) + "\n", encoding="utf-8")
