"""The bounds of accepted numbers (docs/design.md, section 3)."""

import numpy as np

LARGEST, SMALLEST = 2.0**500, 2.0**-500
BEYOND, BELOW = np.nextafter(LARGEST, np.inf), np.nextafter(SMALLEST, 0.0)
POWERS = (-490, -300, -60, 60, 300, 490)
GOOD = np.arange(15.0).reshape(5, 3)
UP = GOOD + np.array([0.0, 0.0, 5.0])
