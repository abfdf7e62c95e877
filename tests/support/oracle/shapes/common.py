"""Shared by several shapes: columns of four valid limbs, upright ends, everyday ends, and signs at caps."""

import numpy as np
from support.oracle.cylinder import CAP1, CAP2, SIDE
from support.oracle.lines import Signs

LOW = np.array([[0.0, 0, 0], [1, 2, 3], [4, 5, 6], [7, 8, 9]])
HIGH = np.array([[0.0, 0, 2], [1, 2, 9], [4, 9, 6], [9, 8, 9]])
TURN, HALF, ONE = np.tile([0.0, 0, 0, 1], (4, 1)), np.ones((4, 3)), np.ones(4)

UPRIGHT = np.array([[0.0, 0, 0]]), np.array([[0.0, 0, 4]])
X, Y, Z = np.eye(3)

CENTER, AXIS, ACROSS = np.array([[0.5, -1.0, 2.0], [0.6, 0.0, 0.8], [-0.8, 0.0, 0.6]])
HALF_LENGTH, RADIUS = 0.4, 0.3
EVERYDAY = CENTER[None] - HALF_LENGTH * AXIS, CENTER[None] + HALF_LENGTH * AXIS
"""Both ends of everyday limbs."""


def capped_where(s: Signs) -> int:
    """Return -1, 0 or 1 for outside, surface or inside, from the signs of `Seen.capped`."""
    return min(s["low"], s["high"], -s["wall"])


def capped_face(s: Signs) -> int:
    """Return the cap whose plane the point lies in, else the side."""
    return CAP1 if s["low"] == 0 else CAP2 if s["high"] == 0 else SIDE
