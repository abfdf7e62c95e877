"""Numbers of a run that figures, captions and advice share: each is counted in one place."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.crosscheck.compare.disagreements import Cause, Kind
from cylcollide.crosscheck.engine import DEFAULT
from cylcollide.crosscheck.records import JsonObject
from cylcollide.crosscheck.report.case_choice import HUMAN
from cylcollide.crosscheck.run.run import Result
from cylcollide.crosscheck.run.tally import GRAZES, Tally

ARM = 0.05
"""Metres: where limbs of several sizes were shot at, a figure of one size shows that nearest to this radius."""
FLATTEST = np.pi / 6
"""Least angle between a segment of the grazing family and the axis."""
SPREAD = ("generic", "same-line", "elbow", "humanoid")
"""Families whose segments pass at any distance from the limb, not at powers of ten."""
STRAIGHT = ("generic", GRAZES, "rim")
"""Families of which shares of phantoms are drawn by size: their segments differ in nothing but the scale."""


def facts(summary: JsonObject) -> dict[str, float]:
    """What was measured of the limbs built by default: the stop, the rim's radius, and from where limbs are big."""
    default = [c for c in summary["calibrations"] if c["setup"] == asdict(DEFAULT)] or summary["calibrations"]
    big = [c["big_from"] for c in summary["calibrations"] if c["big_from"] is not None]
    most = {name: max((c[name] for c in default), default=math.nan) for name in ("stop", "rim")}
    return {**most, "big": min(big, default=math.nan)}


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
    return np.asarray(across / np.sin(FLATTEST))


def early_grazes(tally: Tally) -> list[Float64Array]:
    """Radius, depth of the cut and amount, metres, of the hits of the grazing family that are early by the stop."""
    kind, cause, amount = (tally.column(name, GRAZES) for name in ("kind", "cause", "amount"))
    radius, depth = tally.grazes()
    return [x[(kind == Kind.EARLY) & (cause == Cause.TERMINATION) & (depth > 0)] for x in (radius, depth, amount)]


def earlier_than_bound(result: Result) -> int:
    """How many hits of the grazing family are earlier than the stop allows; of all sizes of limb."""
    radius, depth, amount = early_grazes(result.tally)
    allowed = early_bound(radius, depth, facts(result.summary)["stop"])
    # The depth is that of the construction, right to the rounding of its coordinates.
    return int(np.sum(-amount > allowed * (1 + 1e-6)))


class RightHits(NamedTuple):
    """Every hit of a sweep over poses that both sides credit to the same limb, (n,)."""

    depth: Float64Array  # of a graze's cut, as a share of the limb's radius; nan for others
    error: Float64Array  # metres along the segment, < 0 early
    tilt: Float64Array  # degrees between both normals


def right_hits(tally: Tally) -> RightHits:
    """Put distance and normal of each right hit together, which stand in the table in the same order."""
    kind, amount = tally.column("kind"), tally.column("amount")
    tilted, along = kind == Kind.NORMAL, np.isin(kind, (Kind.EARLY, Kind.LATE))
    return RightHits(tally.column("depth")[tilted], amount[along], np.degrees(amount[tilted]))


def grazing_phantoms(tally: Tally) -> Float64Array:
    """How far outside the limb grazing bullets pass that are phantoms, as shares of its radius."""
    depth = tally.column("depth")
    return np.asarray(-depth[(tally.column("kind") == Kind.PHANTOM) & (depth < 0.0)])


def gaps(tally: Tally) -> Float64Array:
    """Metres by which phantoms of the families with any gap pass limbs that were built by default."""
    kind, amount = tally.column("kind"), tally.column("amount")
    any_gap = np.repeat(
        [key.family in SPREAD for key in tally.chunks], [len(c.columns["kind"]) for c in tally.chunks.values()]
    )
    usual = np.array([setup == asdict(DEFAULT) for setup in tally.of_scene("setup")], dtype=np.bool_)
    return np.asarray(amount[(kind == Kind.PHANTOM) & any_gap & usual & (amount > 0)])


def scale_rows(summary: JsonObject, families: Sequence[str] = STRAIGHT) -> list[JsonObject]:
    """Phantoms and true misses by radius, limbs built by default, smallest first."""
    rows = [row for row in summary["setups"] if row["family"] in families and row["setup"] == asdict(DEFAULT)]
    return [row for row in _pooled(rows, "radius", lambda row: row["radius"]) if row["misses"]]


def margin_rows(summary: JsonObject) -> list[JsonObject]:
    """Counts of the margin sweep by margin, least first, limbs as large as those of people."""
    return _pooled(_pictured(summary, "margin-sweep"), "margin", lambda row: row["setup"]["margin"])


def construction_rows(summary: JsonObject) -> list[JsonObject]:
    """Counts of the family of constructions by construction, limbs as large as those of people."""
    return _pooled(_pictured(summary, "construction"), "construction", lambda row: row["setup"]["construction"])


def _pictured(summary: JsonObject, family: str) -> list[JsonObject]:
    return [row for row in summary["setups"] if row["family"] == family and HUMAN[0] <= row["radius"] <= HUMAN[1]]


def _pooled(rows: Sequence[JsonObject], name: str, of: Callable[[JsonObject], Any]) -> list[JsonObject]:
    """Sums of the rows by what ``of`` says about each, under that name, in its order."""
    counted = ("rays", "hits", "missed", "phantom", "wrong_limb")
    pooled = []
    for value in sorted({of(row) for row in rows}):
        sums = {field: sum(row[field] for row in rows if of(row) == value) for field in counted}
        pooled.append({name: value, **sums, "misses": sums["rays"] - sums["hits"]})
    return pooled
