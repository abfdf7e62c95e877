"""Facts about each shape, besides its kernels: one row per shape."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from cylcollide._types import Shape


class Traits(NamedTuple):
    """Facts about a shape."""

    corner_speed: float
    """Speed of corners relative to faces as the limb grows; for a tapered limb, times 1 + slope."""
    is_round: bool = False
    """Whether it consists of all points within a distance of a segment or of a point."""
    is_bounded: bool = False
    """Whether contacts of thick rays are bounded only, not known to the last digit."""
    has_axes: bool = False
    """Whether its row holds a centre, three axes and half extents, those of a box around it, not ends and radii."""


TRAITS: Mapping[Shape, Traits] = {
    Shape.CYLINDER: Traits(2.0**0.5),
    Shape.TUBE: Traits(2.0**0.5),
    Shape.TAPERED: Traits(2.0, is_bounded=True),
    Shape.ELLIPSOID: Traits(1.0, is_bounded=True),
    Shape.CAPSULE: Traits(1.0, is_round=True),
    Shape.SPHERE: Traits(1.0, is_round=True),
    Shape.BOX: Traits(3.0**0.5, has_axes=True),
}
"""By `Shape`, in the order of its codes."""

BOUNDED = tuple(int(shape) for shape, traits in TRAITS.items() if traits.is_bounded)
ROUND = tuple(int(shape) for shape, traits in TRAITS.items() if traits.is_round)
WITH_AXES = tuple(int(shape) for shape, traits in TRAITS.items() if traits.has_axes)
CORNER_SPEEDS = np.array([traits.corner_speed for traits in TRAITS.values()])
"""By code."""
