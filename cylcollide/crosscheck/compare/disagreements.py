"""The kinds of disagreements and their causes, and the table of disagreements of a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Self

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int8Array, Int64Array


class Cause(IntEnum):
    """Codes of the causes with their names; ``docs/causes.md`` explains each."""

    label: str

    UNEXPLAINED = 0, "unexplained"
    TERMINATION = 1, "termination tolerance"
    RIM_ROUNDING = 2, "rim rounding by the margin"
    EARLY_EXIT = 3, "early exit"
    BIG_SHAPE = 4, "big-shape rounding"
    INSIDE_START = 5, "inside-start policy"
    NO_CORE_DISTANCE = 6, "no distance at the core"
    NOISY_NORMAL = 7, "noisy normal"
    SHAPE = 8, "shape approximation"
    SEGMENT_END = 9, "segment end"
    BROAD_PHASE = 10, "broad phase"
    API_LIMIT = 11, "API limit"
    SINGLE_PRECISION = 12, "single precision"

    def __new__(cls, code: int, label: str = "") -> Self:
        """Return the code with its label."""
        cause = int.__new__(cls, code)
        cause._value_, cause.label = code, label
        return cause


WITHOUT_BOUND = (Cause.UNEXPLAINED, Cause.INSIDE_START, Cause.BROAD_PHASE)
"""Causes whose numbers have no meaningful bound."""


class Kind(IntEnum):
    """The kind of a disagreement. One answer may be wrong in distance, normal and position: three disagreements."""

    MISSED = 0  # this library has a hit, the engine none
    PHANTOM = 1  # the engine has a hit, this library none
    WRONG_LIMB = 2
    LOST = 3  # the engine gave no answer at all
    EARLY = 4  # the hit is reported before the true surface
    LATE = 5
    NORMAL = 6  # its direction is not the true one, or it is not a unit vector
    POSITION = 7  # not the point of the segment at the reported fraction

    @property
    def label(self) -> str:
        """The kind in words."""
        return self.name.lower().replace("_", " ")

    @property
    def field(self) -> str:
        """The kind's name in ``summary.json`` and in tables."""
        return self.name.lower()


VERDICTS = (Kind.MISSED, Kind.PHANTOM, Kind.WRONG_LIMB)
"""The kinds that exact arithmetic resolves."""

COUNTED = (*VERDICTS, Kind.LOST)
"""The kinds that are counted by group and against an engine: wrong verdicts, and missing answers."""
COUNTED_FIELDS = tuple(kind.field for kind in COUNTED)

ERRORS = (Kind.EARLY, Kind.LATE, Kind.NORMAL, Kind.POSITION)
"""The kinds whose amount is an error: with an amount of 0 there is no disagreement."""

NOT_SOUGHT = -1
"""The cause of a row whose cause was not sought."""


@dataclass(frozen=True)
class Disagreements:
    """k disagreements: a row of the scene may occur twice, for its distance and for its normal.

    Of several causes that claim a row, the first keeps it.
    """

    row: Int64Array  # segment of the scene
    kind: Int8Array  # codes of Kind
    cause: Int8Array  # codes of Cause, or NOT_SOUGHT
    amount: Float64Array
    """Verdicts: metres by which the segment cuts or misses the limb; distances: signed metres; normals: radians."""
    measured: Float64Array  # the quantity that `bound` limits, metres or radians
    bound: Float64Array

    @classmethod
    def of_kind(cls, rows: Int64Array, kind: Kind, amount: Float64Array) -> Self:
        """Rows of one kind, without a cause."""
        kinds, causes = (np.full(len(rows), code, dtype=np.int8) for code in (kind, NOT_SOUGHT))
        unknown = np.full(len(rows), np.nan)
        return cls(rows.astype(np.int64), kinds, causes, amount, unknown, unknown.copy())

    def claim(self, cause: int, where: BoolArray | bool, measured: Float64Array, bound: Float64Array | float) -> None:
        """Assign a cause to the rows without one where the predicate holds, with its measured number and bound."""
        rows = (self.cause == NOT_SOUGHT) & where
        self.cause[rows] = cause
        self.measured[rows] = measured[rows]
        self.bound[rows] = np.broadcast_to(bound, rows.shape)[rows]

    @classmethod
    def joined(cls, parts: Sequence["Disagreements"]) -> Self:
        """All rows of the parts, in the order of segments, then of kinds."""
        columns = [np.concatenate([getattr(part, name) for part in parts]) for name in cls.__dataclass_fields__]
        order = np.lexsort((columns[1], columns[0]))
        return cls(*(column[order] for column in columns))


Figures = tuple[float, float, float]
"""Median, 99th percentile, largest; nan without values."""


def median_99_max(values: Float64Array) -> Figures:
    """Figures of the finite values."""
    values = values[np.isfinite(values)]
    if not len(values):
        return (np.nan, np.nan, np.nan)
    return float(np.median(values)), float(np.percentile(values, 99)), float(values.max())
