"""The counts of a run put into other groups: by how and how large the limb was built, by call, and by depth of a graze.

Every group has the segments and the true hits that shares are taken of, so that no figure needs more than its rows.
"""

import json
from typing import Any

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int8Array
from cylcollide.crosscheck.judge.disagreements import Kind
from cylcollide.crosscheck.records import JsonObject
from cylcollide.crosscheck.run.tally import Tally, error_figures

COUNTED = (Kind.MISSED, Kind.PHANTOM, Kind.WRONG_LIMB, Kind.LOST)
"""The kinds that are counted by group: the verdicts, and no answer at all."""

GRAZES = "side-graze"
"""The family whose depth is that of the cut below the side, and the same for limbs of all sizes."""


def setup_rows(tally: Tally) -> list[JsonObject]:
    """One row per family, way to build and greatest radius of limbs, in the order of families, then as first met."""
    groups: dict[str, JsonObject] = {}
    for family, about, kinds in _scenes(tally):
        of = {"family": family, "setup": about["setup"], "radius": about["radius"]}
        name = json.dumps(of, sort_keys=True)
        row = groups.setdefault(name, {**of, "rays": 0, "hits": 0, **{kind.field: 0 for kind in COUNTED}})
        row["rays"] += about["rays"]
        row["hits"] += about["hits"]
        for kind in COUNTED:
            row[kind.field] += int(np.sum(kinds == kind))
    return list(groups.values())


def call_rows(tally: Tally) -> list[JsonObject]:
    """One row per call of the family of whole batches: segments asked, answers that came; smallest first."""
    rows = []
    for family, about, kinds in _scenes(tally):
        if family == "batch-limits":
            lost = int(np.sum(kinds == Kind.LOST))
            rows.append({"asked": about["rays"], "as_lists": about["as_lists"], "answered": about["rays"] - lost})
    return sorted(rows, key=lambda row: (row["asked"], row["as_lists"]))


def graze_rows(tally: Tally) -> list[JsonObject]:
    """One row per radius and depth of cut, as a share of the radius: errors of the hits that are reported."""
    kind, amount = tally.column("kind", GRAZES), tally.column("amount", GRAZES)
    radius, depth = grazes(tally)
    if not len(kind):
        return []
    exponent = np.round(np.log10(np.where(depth > 0, depth, 1.0) / radius)).astype(int)
    rows = []
    for size, power in sorted(set(zip(radius[depth > 0].tolist(), exponent[depth > 0].tolist(), strict=True))):
        mine: BoolArray = (radius == size) & (exponent == power) & (depth > 0)
        counts = {k.field: int(np.sum(mine & (kind == k))) for k in (Kind.EARLY, Kind.LATE, Kind.NORMAL)}
        rows.append({"radius": size, "depth": 10.0**power, **counts, **error_figures(kind[mine], amount[mine])})
    return rows


def grazes(tally: Tally) -> tuple[Float64Array, Float64Array]:
    """Radius of the limb and depth of the cut, metres, of every disagreement of the grazing family."""
    parts = [
        np.array([about["radius"] for about in chunk.record["scenes"]])[chunk.columns["scene"]]
        for key, chunk in tally.chunks.items()
        if key.family == GRAZES
    ]
    return np.concatenate([np.empty(0), *parts]), tally.column("depth", GRAZES)


def _scenes(tally: Tally) -> list[tuple[str, dict[str, Any], Int8Array]]:
    """Family, description and kinds of disagreement of every scene."""
    return [
        (key.family, about, chunk.columns["kind"][chunk.columns["scene"] == number])
        for key, chunk in tally.chunks.items()
        for number, about in enumerate(chunk.record["scenes"])
    ]
