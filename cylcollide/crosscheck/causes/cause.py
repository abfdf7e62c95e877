"""The causes of disagreements, as codes and as words."""

from enum import IntEnum
from typing import Self


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
