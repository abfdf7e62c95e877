"""The bounds of accepted numbers (docs/design.md, section 3), and limbs in units near these."""

from dataclasses import replace

import numpy as np
from support.oracle.shapes.rows import Shapes

LARGEST, SMALLEST = 2.0**500, 2.0**-500
BEYOND, BELOW = np.nextafter(LARGEST, np.inf), np.nextafter(SMALLEST, 0.0)
LENGTHS = ("p1", "p2", "radius", "radius2", "half")
POWERS = (-490, -300, -60, 60, 300, 490)
GOOD = np.arange(15.0).reshape(5, 3)
UP = GOOD + np.array([0.0, 0.0, 5.0])


def times(limbs: Shapes, power: int) -> Shapes:
    """Return the limbs with all lengths times 2**power."""
    return replace(limbs, **{name: np.ldexp(getattr(limbs, name), power) for name in LENGTHS})
