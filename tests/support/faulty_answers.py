"""One engine with a chosen fault: the field, the change, and the hits that it applies to."""

from typing import ClassVar

import numpy as np
from support.faulty_engines import ExactEngine

import cylcollide as cc
from cylcollide.engines import EngineHits

FIELDS = ("limb", "fraction", "position", "normal")
SHIFT, SCALE, FAR = 1e-4, 1.001, 3.0

DONE = {
    "shifted": lambda column, along: column + (1 if column.dtype == np.int32 else SHIFT * along),
    "scaled": lambda column, _: column * SCALE,
    "stale": lambda column, _: np.concatenate([column[:1], column[:-1]]),
    "swapped": lambda column, _: column[np.minimum(np.arange(len(column)) ^ 1, len(column) - 1)],
    "rounded": lambda column, _: column.astype(np.float32).astype(np.float64),
    "negative": lambda column, _: -column,
    "nan": lambda column, _: np.full(column.shape, np.nan),
    "infinite": lambda column, _: np.full(column.shape, np.inf),
}
"""Changes of a column, by name; ``along`` is a metre along the segment in the column's unit."""

TO = {
    "all": lambda hits, limbs: np.ones(len(hits), bool),
    "every seventh": lambda hits, limbs: np.cumsum(hits.limb >= 0) % 7 == 0,
    "far cap": lambda hits, limbs: hits.face == cc.Face.CAP2,
    "every seventh on a far cap": lambda hits, limbs: np.cumsum(hits.face == cc.Face.CAP2) % 7 == 0,
    "thin": lambda hits, limbs: limbs.radius[hits.limb] < 0.03,
    "far": lambda hits, limbs: hits.position[:, 0] > FAR,
}
"""The hits that have the fault, by name."""

MEANINGLESS = {("limb", what) for what in ("scaled", "rounded", "negative", "infinite")}
FAULTS = (
    *(f"{field} {what}: all" for field in FIELDS for what in DONE if (field, what) not in MEANINGLESS),
    *(f"answer lost: {to}" for to in TO if to != "all"),
    *(f"{field} shifted: {to}" for field in FIELDS[1:] for to in ("every seventh", "thin")),
    "limbs late: all",
)

ELSEWHERE = tuple(
    f"{hit} {fault}: all"
    for hit in ("phantom", "second")
    for fault in (
        *("none none", "position shifted", "position nan", "normal scaled", "normal nan", "normal infinite"),
        *(("normal negative", "fraction shifted", "fraction scaled") if hit == "second" else ()),
    )
)
"""Faults of hits that are already wrong: phantoms, or hits of the second limb in place of the first."""


class PlantedEngine(ExactEngine):
    """This library with one of the faults."""

    name = "planted"
    variants: ClassVar = {fault: {"fault": fault} for fault in (*FAULTS, *ELSEWHERE)}

    def __init__(self, fault="none: all"):
        super().__init__()
        what, self.to = fault.split(": ")
        *hit, self.field, self.what = what.split(" ") if " " in what else ("", what)
        self.hit = hit[0] if hit else ""

    def set_endpoints(self, p1, p2):
        if self.field == "limbs":  # a tick late
            p1, p2, self.next = *self.next, (p1, p2)
        super().set_endpoints(p1, p2)

    def build(self, limbs):
        super().build(limbs)
        self.next = limbs.p1, limbs.p2

    def cast_segments(self, starts, ends):
        hits, true = self.world.cast_segments(starts, ends), super().cast_segments(starts, ends)
        wrong = hits.hit & TO[self.to](hits, self.world.limbs)
        if self.hit:
            true, wrong = self.elsewhere(starts, ends, true)
        if self.field == "answer":
            rows = wrong[:, None]
            nothing = np.where(wrong, np.nan, true.fraction)
            limb = np.where(wrong, -1, true.limb).astype(np.int32)
            return EngineHits(limb, nothing, np.where(rows, np.nan, true.position), np.where(rows, np.nan, true.normal))
        if self.field not in FIELDS:
            return true
        return self.with_fault(true, wrong, ends - starts)

    def elsewhere(self, starts, ends, true):
        """The hits with phantoms, or with second limbs in place of the first; and the mask of the changed rows."""
        fraction, normal, limb = true.fraction.copy(), true.normal.copy(), true.limb.copy()
        if self.hit == "phantom":
            rows = np.flatnonzero(limb < 0)
            limb[rows], fraction[rows], normal[rows] = 0, 0.5, [0.6, 0.0, 0.8]
        else:
            chords = self.world.chords_segments(starts, ends)
            some = np.flatnonzero(np.diff(chords.offsets) > 1)
            second = chords.offsets[some] + 1
            outside = chords.entry_fraction[second] > 0.0
            rows, second = some[outside], second[outside]
            limb[rows], fraction[rows] = chords.limb[second], chords.entry_fraction[second]
            normal[rows] = chords.entry_normal[second]
        position = true.position.copy()
        position[rows] = starts[rows] + fraction[rows, None] * (ends - starts)[rows]
        return EngineHits(limb, fraction, position, normal), np.isin(np.arange(len(limb)), rows)

    def with_fault(self, true, wrong, step):
        """The hits with the fault in the rows of `wrong`."""
        length = np.linalg.norm(step, axis=1)
        length = np.where(length > 0, length, 1.0)
        along = {"fraction": 1 / length, "limb": 1, "normal": np.ones(3)}.get(self.field, step / length[:, None])
        column = getattr(true, self.field)
        told = DONE[self.what](column, along)
        rows = wrong if told.ndim == 1 else wrong[:, None]
        return EngineHits(**(vars(true) | {self.field: np.where(rows, told, column)}))
