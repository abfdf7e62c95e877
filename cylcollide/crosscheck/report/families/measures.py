"""Numbers of a run that figures, captions and advice share: each is counted in one place."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cylcollide._types import BoolArray, Float64Array
from cylcollide.crosscheck.causes.kinds_and_causes import Cause, Kind
from cylcollide.crosscheck.engine.setup import Setup, as_record
from cylcollide.crosscheck.report.families.case_choice import HUMAN
from cylcollide.crosscheck.report.families.sentences import Record, facts
from cylcollide.crosscheck.run.breakdowns import GRAZES, grazes
from cylcollide.crosscheck.run.families import FamiliesResult
from cylcollide.crosscheck.run.tally import Tally

ARM = 0.05
"""Metres: where limbs of several sizes were shot at, a figure of one size shows that nearest to this radius."""
FLATTEST = np.pi / 6
"""Least angle between a segment of the grazing family and the axis."""
SPREAD = ("generic", "same-line", "elbow", "humanoid")
"""Families whose segments pass at any distance from the limb, not at powers of ten."""
STRAIGHT = ("generic", GRAZES, "rim")
"""Families of which shares of phantoms are drawn by size: their segments differ in nothing but the scale."""


def arm(radii: Float64Array) -> float:
    """Of the radii the one nearest to that of an arm."""
    return float(radii[np.argmin(np.abs(np.log(radii / ARM)))])


def early_bound(radius: Float64Array | float, depth: Float64Array, stop: float) -> Float64Array:
    """How early a segment at 30° to the axis can be stopped by a shell of thickness ``stop``; metres.

    Across the axis a line that passes at R - depth from it meets the shell √((R + stop)² - (R - depth)²) and the side
    √(R² - (R - depth)²) before its middle; a segment at an angle goes farther by one over its sine.
    """
    passes = (radius - depth) ** 2
    across: Float64Array = np.sqrt((radius + stop) ** 2 - passes) - np.sqrt(radius**2 - passes)
    slanted: Float64Array = across / np.sin(FLATTEST)
    return slanted


def earlier_than_bound(result: FamiliesResult) -> int:
    """How many hits of the grazing family are earlier than the stop allows; of all sizes of limb."""
    radius, depth = grazes(result.tally)
    kind, cause, amount = (result.tally.column(name, GRAZES) for name in ("kind", "cause", "amount"))
    mine: BoolArray = (kind == Kind.EARLY) & (cause == Cause.TERMINATION) & (depth > 0)
    allowed = early_bound(radius[mine], depth[mine], facts(result.summary)["stop"])
    # The depth is that of the construction, right to the rounding of its coordinates.
    return int(np.sum(-amount[mine] > allowed * (1 + 1e-6)))


def gaps(tally: Tally) -> Float64Array:
    """Metres by which phantoms of the families with any gap pass limbs that were built by default."""
    kind, amount = tally.column("kind"), tally.column("amount")
    any_gap = np.repeat(
        [key.family in SPREAD for key in tally.chunks], [len(c.columns["kind"]) for c in tally.chunks.values()]
    )
    passed: Float64Array = amount[(kind == Kind.PHANTOM) & any_gap & is_default(tally) & (amount > 0)]
    return passed


def is_default(tally: Tally) -> BoolArray:
    """Which disagreements are about limbs that were built by default."""
    parts = [
        np.array([about["setup"] == as_record(Setup()) for about in chunk.record["scenes"]])[chunk.columns["scene"]]
        for chunk in tally.chunks.values()
    ]
    every: BoolArray = np.concatenate(parts) if parts else np.empty(0, dtype=np.bool_)
    return every


def scale_rows(summary: Record, families: Sequence[str] = STRAIGHT) -> list[Record]:
    """Phantoms and true misses by radius, limbs built by default, smallest first."""
    rows = [row for row in summary["setups"] if row["family"] in families and row["setup"] == as_record(Setup())]
    return [row for row in _pooled(rows, "radius", lambda row: row["radius"]) if row["misses"]]


def margin_rows(summary: Record) -> list[Record]:
    """Counts of the margin sweep by margin, least first, limbs as large as those of people."""
    rows = [row for row in _pictured(summary) if row["family"] == "margin-sweep"]
    return _pooled(rows, "margin", lambda row: row["setup"]["margin"])


def construction_rows(summary: Record) -> list[Record]:
    """Counts of the family of constructions by construction, limbs as large as those of people."""
    rows = [row for row in _pictured(summary) if row["family"] == "construction"]
    return _pooled(rows, "construction", lambda row: row["setup"]["construction"])


def _pictured(summary: Record) -> list[Record]:
    return [row for row in summary["setups"] if HUMAN[0] <= row["radius"] <= HUMAN[1]]


def _pooled(rows: Sequence[Record], name: str, of: Callable[[Record], Any]) -> list[Record]:
    """Sums of the rows by what ``of`` says about each, under that name, in its order."""
    counted = ("rays", "hits", "missed", "phantom", "wrong_limb")
    pooled = []
    for value in sorted({of(row) for row in rows}):
        sums = {field: sum(row[field] for row in rows if of(row) == value) for field in counted}
        pooled.append({name: value, **sums, "misses": sums["rays"] - sums["hits"]})
    return pooled
