"""Numbers that PyBullet takes one by one, checked: ValueError where PyBullet raises TypeError or OverflowError."""

from operator import index
from typing import Any

from cylcollide._types import ALL_LAYERS

SMALLEST, LARGEST = -(2**31), 2**31 - 1
"""What PyBullet's own integers hold."""


def integer(value: Any, name: str, largest: int = LARGEST) -> int:
    """A whole number from -2**31 to `largest`; ValueError for all else."""
    try:
        number = index(value)
    except TypeError:
        number = LARGEST + ALL_LAYERS  # beyond any limit
    if not SMALLEST <= number <= largest:
        raise ValueError(
            f"{name}: expected a whole number from {SMALLEST} to {largest}, got {value!r}; leave it out for the default"
        )
    return number


def mask(value: Any, name: str) -> int:
    """32 bits, given as a signed number, as PyBullet takes them, or as an unsigned one."""
    return integer(value, name, ALL_LAYERS) & ALL_LAYERS


def real(value: Any, name: str) -> float:
    """A real number; ValueError for all else."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: expected a real number, got {value!r}; leave it out for the default") from None
