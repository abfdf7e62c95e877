"""Merges chunks: counts and errors by family, and causes with their bounds."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int8Array
from cylcollide.constants import ROUNDING_BOUND
from cylcollide.crosscheck.cases.case import Case
from cylcollide.crosscheck.cases.trials import Trial, is_proved
from cylcollide.crosscheck.compare.disagreements import (
    COUNTED,
    COUNTED_FIELDS,
    ERRORS,
    NOT_SOUGHT,
    VERDICTS,
    WITHOUT_BOUND,
    Cause,
    Kind,
    median_99_max,
)
from cylcollide.crosscheck.engine import DEFAULT
from cylcollide.crosscheck.generate.families import BATCH_LIMITS, ChunkKey
from cylcollide.crosscheck.records import JsonObject, plain
from cylcollide.crosscheck.run.chunk_store import Chunk

ALL = "all"
"""The family name in the row of totals."""

MM_PER_METRE = 1000.0

GRAZES = "side-graze"
"""The family whose depth is that of the cut below the side, at equal shares of the radius for all sizes."""


@dataclass(frozen=True)
class Tally:
    """All chunks of a run, in the order of its plan."""

    chunks: Mapping[ChunkKey, Chunk]

    def column(self, name: str, family: str | None = None) -> Any:
        """One column of all disagreements, or of those of a family."""
        parts = [chunk.columns[name][_rows(chunk, family)] for chunk in self.chunks.values()]
        return np.concatenate(parts) if parts else np.empty(0)

    def total(self, name: str, family: str | None = None) -> int:
        """Sum of a count of segments: ``rays``, ``hits`` or ``proved``."""
        rows = [row for chunk in self.chunks.values() for row in chunk.record["families"]]
        return sum(row[name] for row in rows if family in (None, row["family"]))

    def rechecked(self, family: str | None) -> int | None:
        """Segments that needed exact arithmetic for this library's own answer; None if families are mixed."""
        chunks = [chunk for chunk in self.chunks.values() if family in (None, *_names(chunk))]
        mixed = family is not None and any(len(_names(chunk)) > 1 for chunk in chunks)
        return None if mixed else sum(chunk.record["rechecked"] for chunk in chunks)

    @property
    def families(self) -> list[str]:
        """The families that ran."""
        return list(dict.fromkeys(family for chunk in self.chunks.values() for family in _names(chunk)))

    @property
    def cases(self) -> list[Case]:
        """Every case that the chunks kept."""
        return [Case.read(record) for chunk in self.chunks.values() for record in chunk.record["cases"]]

    @property
    def calibrations(self) -> list[JsonObject]:
        """The calibrations, each engine, setup and size once."""
        found = [known for chunk in self.chunks.values() for known in chunk.record["calibrations"]]
        every = {json.dumps(known, sort_keys=True): known for known in found}
        return [every[text] for text in sorted(every)]

    def rows(self) -> list[JsonObject]:
        """One row per family, then the row of totals."""
        return [*(self._row(family) for family in self.families), self._row(None)]

    def _row(self, family: str | None) -> JsonObject:
        kind: Int8Array = self.column("kind", family)
        cause: Int8Array = self.column("cause", family)
        amount: Float64Array = self.column("amount", family)
        # If causes were not sought, the errors of all right hits are included: those of 0 do not count.
        off = ~np.isin(kind, ERRORS) | (amount != 0)
        return {
            "family": ALL if family is None else family,
            **{name: self.total(name, family) for name in ("rays", "hits")},
            "rechecked": self.rechecked(family),
            "proved": self.total("proved", family),
            "disagreements": int(np.sum((cause != NOT_SOUGHT) | np.isin(kind, VERDICTS))),
            **{k.field: int(np.sum((kind == k) & off)) for k in Kind},
            **_error_figures(kind, np.where(off | (kind == Kind.NORMAL), amount, np.nan)),
            "causes": {c.label: n for c in Cause if (n := int(np.sum(cause == c)))},
        }

    def cause_rows(self, tried: Mapping[Cause, Sequence[list[Trial]]]) -> list[JsonObject]:
        """One row per cause that was found, most frequent first; ``tried`` has the trials of a sample of each."""
        found = self.column("cause")
        rows = [self._cause_row(cause, found == cause, tried.get(cause, ())) for cause in Cause if cause in found]
        return sorted(rows, key=lambda row: -row["count"])

    @cached_property
    def ratios(self) -> Float64Array:
        """The measured number of each disagreement as a share of its cause's bound; nan if there is none."""
        kind, cause, measured, bound = (self.column(name) for name in ("kind", "cause", "measured", "bound"))
        # Lost answers have the numbers of answers and rays of the call, not a length and its bound.
        bounded = np.isfinite(bound) & (bound > 0) & (kind != Kind.LOST) & ~np.isin(cause, WITHOUT_BOUND)
        return np.where(bounded, measured / np.where(bounded, bound, 1.0), np.nan)

    def _cause_row(self, cause: Cause, mine: BoolArray, tried: Sequence[list[Trial]]) -> JsonObject:
        kinds, measured, bound, amount = (self.column(name)[mine] for name in ("kind", "measured", "bound", "amount"))
        ratio = self.ratios[mine]
        nearest: JsonObject = dict.fromkeys(("measured", "bound", "ratio", "kind"))
        if np.isfinite(ratio).any():
            at = int(np.nanargmax(ratio))
            nearest = {"measured": measured[at], "bound": bound[at], "ratio": ratio[at], "kind": Kind(kinds[at]).label}
        sizes = {k.label: np.abs(amount[kinds == k]) for k in Kind}
        return {
            "cause": cause.label,
            "count": int(mine.sum()),
            "share": float(mine.mean()),
            "kinds": {k.label: n for k in Kind if (n := int(np.sum(kinds == k)))},
            "worst": {kind: plain(np.nanmax(each)) for kind, each in sizes.items() if np.isfinite(each).any()},
            "nearest_to_bound": plain(nearest),
            "interventions": _trial_row(tried),
        }

    def setup_rows(self) -> list[JsonObject]:
        """One row per family, setup and largest radius of limbs, in the order of families, then of occurrence."""
        groups: dict[str, JsonObject] = {}
        for family, about, kinds in self._scenes():
            of = {"family": family, "setup": about["setup"], "radius": about["radius"]}
            new = {**of, "rays": 0, "hits": 0, **dict.fromkeys(COUNTED_FIELDS, 0)}
            row = groups.setdefault(json.dumps(of, sort_keys=True), new)
            counts = {kind.field: int(np.sum(kinds == kind)) for kind in COUNTED}
            for name, count in ({"rays": about["rays"], "hits": about["hits"]} | counts).items():
                row[name] += count
        return list(groups.values())

    def call_rows(self) -> list[JsonObject]:
        """One row per call of the family of whole batches: number of segments and of answers; smallest first."""
        rows = []
        for _, about, kinds in filter(lambda scene: scene[0] == BATCH_LIMITS, self._scenes()):
            asked, lost = about["rays"], int(np.sum(kinds == Kind.LOST))
            rows.append({"asked": asked, "as_lists": about["as_lists"], "answered": asked - lost})
        return sorted(rows, key=lambda row: (row["asked"], row["as_lists"]))

    def graze_rows(self) -> list[JsonObject]:
        """One row per radius and depth of the cut as a share of the radius: errors of the reported hits."""
        kind, amount = self.column("kind", GRAZES), self.column("amount", GRAZES)
        radius, depth = self.of_scene("radius", GRAZES), self.column("depth", GRAZES)
        cut = depth > 0
        exponent = np.round(np.log10(np.where(cut, depth, 1.0) / radius)).astype(int)
        rows = []
        for size, decade in sorted(set(zip(radius[cut].tolist(), exponent[cut].tolist(), strict=True))):
            mine: BoolArray = (radius == size) & (exponent == decade) & cut
            counts = {k.field: int(np.sum(mine & (kind == k))) for k in (Kind.EARLY, Kind.LATE, Kind.NORMAL)}
            rows.append({"radius": size, "depth": 10.0**decade, **counts, **_error_figures(kind[mine], amount[mine])})
        return rows

    def of_scene(self, name: str, family: str | None = None) -> Any:
        """``setup`` or ``radius`` of the scene of each disagreement, or of each one of a family."""
        parts = [
            np.array([about[name] for about in chunk.record["scenes"]])[chunk.columns["scene"]]
            for key, chunk in self.chunks.items()
            if family in (None, key.family)
        ]
        return np.concatenate([np.empty(0), *parts])

    def _scenes(self) -> Iterator[tuple[str, JsonObject, Int8Array]]:
        """Family, description and kinds of disagreement of every scene."""
        for key, chunk in self.chunks.items():
            for number, about in enumerate(chunk.record["scenes"]):
                yield key.family, about, chunk.columns["kind"][chunk.columns["scene"] == number]

    def unexplained(self) -> JsonObject:
        """Number and share of unexplained disagreements among those whose cause was sought."""
        cause = self.column("cause")
        count, sought = int(np.sum(cause == Cause.UNEXPLAINED)), int(np.sum(cause != NOT_SOUGHT))
        return {"count": count, "disagreements": sought, "share": count / sought if sought else 0.0}


def _names(chunk: Chunk) -> list[str]:
    """The families in a chunk, in the order of their codes."""
    return [row["family"] for row in chunk.record["families"]]


def _rows(chunk: Chunk, family: str | None) -> Any:
    """Which disagreements of a chunk belong to a family; all for None."""
    if family is None:
        return slice(None)
    names = _names(chunk)
    return chunk.columns["family"] == (names.index(family) if family in names else -1)


def _trial_row(tried: Sequence[list[Trial]]) -> JsonObject:
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


def _error_figures(kind: Int8Array, amount: Float64Array) -> JsonObject:
    """Figures of the early hits, the late hits and the normals among some disagreements."""
    early, late = (amount[kind == k] * MM_PER_METRE for k in (Kind.EARLY, Kind.LATE))
    return {
        "early_mm": plain(median_99_max(-early)),
        "late_mm": plain(median_99_max(late)),
        "normal_deg": plain(median_99_max(np.degrees(amount[kind == Kind.NORMAL]))),
    }


def sample(cases: Sequence[Case], count: int) -> dict[Cause, list[Case]]:
    """Up to ``count`` cases of every cause, spread evenly over families and chunks."""
    chosen: dict[Cause, list[Case]] = {}
    for cause in Cause:
        mine = [case for case in cases if case.cause_code == cause]
        step = max(1.0, len(mine) / count)
        chosen[cause] = [mine[int(place * step)] for place in range(min(count, len(mine)))]
    return chosen


LIMBS = 15
"""Number of the humanoid's limbs."""
ENOUGH = 20
"""Number of true hits of a limb from which an engine that reports none of them lacks the limb."""


def findings(tally: Tally) -> Iterator[JsonObject]:
    """Yield the notable results in calibrations of the default setup and in counts."""
    default = [c for c in tally.calibrations if c["setup"] == asdict(DEFAULT)]
    if default:
        yield from _measured(default)
    # For each limb of the humanoid, count true first hits and reported ones.
    records = [chunk.record for chunk in tally.chunks.values() if len(chunk.record["limb_hits"]) == LIMBS]
    hits, reported = (np.sum([r[name] for r in records], axis=0) for name in ("limb_hits", "limb_reported"))
    silent = np.flatnonzero((hits >= ENOUGH) & (reported == 0)).tolist()
    if silent:
        text = f"limb {', '.join(map(str, silent))} is never reported, though it is hit {hits[silent].sum()} times"
        yield _finding("limb missing", text, {"limbs": silent, "hits": hits[silent].tolist()})
    # A hit that is reported if its ray is cast alone has no bound.
    came_back = np.isnan(tally.column("bound")) & (tally.column("cause") == Cause.API_LIMIT)
    if lost := int((came_back & (tally.column("kind") != Kind.LOST)).sum()):
        text = f"{lost} hits are lost that come back when the same ray is asked alone"
        yield _finding("rays lost", text, {"lost": lost})


def _measured(default: Sequence[JsonObject]) -> Iterator[JsonObject]:
    names = ("radius", "half", "stop", "rim", "cap_growth", "caps_open", "single")
    radius, half, stop, rim, cap, caps_open, single = (np.array([c[name] for c in default]) for name in names)
    side = np.array([c["side_growth"][1] for c in default])
    rounding = 4 * ROUNDING_BOUND * (radius + half)
    if stop.max() > rounding.max() and not single.all():
        text = f"rays stop {1e3 * stop.max():.6g} mm in front of a limb"
        yield _finding("stops early", text, {"stop": float(stop.max())})
    if rim.max() > rounding.max():
        text = f"rims are rounded with a radius of {1e3 * rim.max():.6g} mm"
        yield _finding("rounded rim", text, {"rim": float(rim.max())})
    # Larger or smaller by the same share of its size, for every measured size.
    shares = side / radius
    if (np.abs(side) > rounding).all() and np.ptp(shares) <= 0.01 * np.abs(shares).max():
        word, share = "inflated" if shares[0] > 0 else "shrunk", float(np.median(shares))
        text = f"every limb is {word} by {100 * abs(share):.3g} % of its radius"
        yield _finding(word, text, {"side_share": share, "cap_share": float(np.median(cap / half))})
    if caps_open.all():
        yield _finding("ends open", "limbs have no caps: rays enter through them", {"limbs_measured": len(default)})
    if single.all():
        text = "all fractions reported are float32 numbers"
        yield _finding("single precision", text, {"limbs_measured": len(default)})


def _finding(name: str, text: str, evidence: JsonObject) -> JsonObject:
    """One sentence and its evidence in numbers."""
    return {"name": name, "text": text, "evidence": evidence}
