"""The causes of disagreements, as codes and as words."""

from enum import IntEnum

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int8Array


class Cause(IntEnum):
    """Why, as ``docs/causes.md`` explains each."""

    UNEXPLAINED = 0
    TERMINATION = 1
    RIM_ROUNDING = 2
    EARLY_EXIT = 3
    BIG_SHAPE = 4
    INSIDE_START = 5
    NO_CORE_DISTANCE = 6
    NOISY_NORMAL = 7
    SHAPE = 8
    SEGMENT_END = 9
    BROAD_PHASE = 10
    API_LIMIT = 11
    SINGLE_PRECISION = 12

    @property
    def label(self) -> str:
        """In words."""
        return LABELS[self]


LABELS = {
    Cause.UNEXPLAINED: "unexplained",
    Cause.TERMINATION: "termination tolerance",
    Cause.RIM_ROUNDING: "rim rounding by the margin",
    Cause.EARLY_EXIT: "early exit",
    Cause.BIG_SHAPE: "big-shape rounding",
    Cause.INSIDE_START: "inside-start policy",
    Cause.NO_CORE_DISTANCE: "no distance at the core",
    Cause.NOISY_NORMAL: "noisy normal",
    Cause.SHAPE: "shape approximation",
    Cause.SEGMENT_END: "segment end",
    Cause.BROAD_PHASE: "broad phase",
    Cause.API_LIMIT: "API limit",
    Cause.SINGLE_PRECISION: "single precision",
}


WITHOUT_BOUND = (Cause.UNEXPLAINED, Cause.INSIDE_START, Cause.BROAD_PHASE)
"""Causes of which it says nothing how near their number comes to a bound."""


class Verdict:
    """Causes being decided row by row: the first that claims a row keeps it."""

    def __init__(self, n: int) -> None:
        self.cause: Int8Array = np.zeros(n, dtype=np.int8)
        self.measured: Float64Array = np.full(n, np.nan)
        self.bound: Float64Array = np.full(n, np.nan)
        self._open = np.ones(n, dtype=np.bool_)

    def claim(
        self,
        cause: Cause,
        where: BoolArray,
        measured: Float64Array,
        bound: Float64Array | float,
    ) -> None:
        """Give the cause to the rows still open where the predicate holds, with the number that its bound is for."""
        rows = self._open & where
        self.cause[rows] = cause
        self.measured[rows] = measured[rows]
        self.bound[rows] = np.broadcast_to(bound, rows.shape)[rows]
        self._open &= ~rows

    def adopt(self, other: "Verdict", where: BoolArray) -> None:
        """Take over what another decided about some rows."""
        for mine, its in ((self.cause, other.cause), (self.measured, other.measured), (self.bound, other.bound)):
            mine[where] = its[where]
        self._open &= ~where

    def rest(self, measured: Float64Array, bound: Float64Array | float) -> None:
        """Leave what is open unexplained, with the number that no bound holds for."""
        self.claim(Cause.UNEXPLAINED, self._open.copy(), measured, bound)
