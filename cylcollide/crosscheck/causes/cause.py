"""The causes of disagreements, as codes and as words."""

from enum import IntEnum
from typing import Self

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int8Array


class Cause(IntEnum):
    """Why, as ``docs/causes.md`` explains each: a code, and what it is called."""

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
"""Causes of which it says nothing how near their number comes to a bound."""


class Verdict:
    """Causes being decided row by row: the first that claims a row keeps it."""

    def __init__(self, n: int) -> None:
        self.cause: Int8Array = np.zeros(n, dtype=np.int8)
        self.measured: Float64Array = np.full(n, np.nan)
        self.bound: Float64Array = np.full(n, np.nan)
        self._open = np.ones(n, dtype=np.bool_)

    def claim(self, cause: Cause, where: BoolArray, measured: Float64Array, bound: Float64Array | float) -> None:
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
