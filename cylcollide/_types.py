"""Data dictionary: array types, enumerations, sentinels and codes.

Nothing here computes. Kernels read these names as compile-time constants, so each is defined once.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import Annotated, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Float64Array: TypeAlias = NDArray[np.float64]
Float32Array: TypeAlias = NDArray[np.float32]
Int32Array: TypeAlias = NDArray[np.int32]
Int64Array: TypeAlias = NDArray[np.int64]
Int8Array: TypeAlias = NDArray[np.int8]
Uint32Array: TypeAlias = NDArray[np.uint32]
BoolArray: TypeAlias = NDArray[np.bool_]

# The arrays that loops take, in C order, with the length of each dimension; a letter is any length. The build reads
# the dtype and the number of dimensions (`docs/build.md`).
Item = TypeVar("Item", bound=np.generic)

Column: TypeAlias = Annotated[NDArray[Item], "n"]
"""One number per row; or work memory."""
Rows: TypeAlias = Annotated[NDArray[Item], "n", "k"]
"""Several numbers per row."""
Blocks: TypeAlias = Annotated[NDArray[Item], "n", "m", "k"]
"""One matrix per row."""
Vectors: TypeAlias = Annotated[Float64Array, "n", 3]
"""Positions and sizes in the unit of the input, and directions: x, y, z."""
Quaternions: TypeAlias = Annotated[Float64Array, "n", 4]
"""Orientations: x, y, z, w."""
NodeBoxes: TypeAlias = Annotated[Float32Array, "n", 6, 8]
"""Low x, y, z and high x, y, z of the eight slots of a node, in the frame of the tree."""
LayerMasks: TypeAlias = Column[np.uint32]
"""Sets of layers, a bit each."""

Flags: TypeAlias = bool | Sequence[bool] | BoolArray
"""One bool for all, or one per row."""

InsidePolicy: TypeAlias = Literal["hit", "exit", "ignore"]


class RayNumbers(NamedTuple):
    """The float64 numbers that define a ray: start and end, or origin and direction, and the largest fraction."""

    origin: tuple[float, float, float]
    second: tuple[float, float, float]
    is_segment: bool
    limit: float  # may be infinite


class Face(IntEnum):
    """The part of a limb's surface at a point; INSIDE: a start or end in the limb, NONE: a miss.

    A box's edge belongs to its lowest code; a rim, where cap and side meet exactly, belongs to the
    cap.
    """

    SIDE = 0
    CAP1 = 1
    CAP2 = 2
    BORE = 3
    NEG_X = 4
    POS_X = 5
    NEG_Y = 6
    POS_Y = 7
    NEG_Z = 8
    POS_Z = 9
    INSIDE = 10
    NONE = 11


class Shape(IntEnum):
    """The kind of solid of a limb."""

    CYLINDER = 0
    TUBE = 1
    TAPERED = 2
    ELLIPSOID = 3
    CAPSULE = 4
    SPHERE = 5
    BOX = 6


class Side(IntEnum):
    """Where a point lies with respect to one closed limb."""

    OUTSIDE = 0
    SURFACE = 1
    INSIDE = 2


class Doubt(IntEnum):
    """Whether a segment hits limbs whose places are uncertain."""

    EXCLUDED = 0
    DEPENDS = 1  # or nothing is proved
    CERTAIN = 2


class Reason(IntEnum):
    """Why a limb that a shot crosses counts or not, under a policy."""

    COUNTED = 0  # the limb that the shot is judged by
    NOT_FIRST = 1  # another limb, or another character, is entered first
    LESS_IMPORTANT = 2  # the group of another limb of the character comes first in the order
    SHORTER = 3  # another chord of the character is longer
    PASSED_THROUGH = 4  # penetrated
    STOPPED = 5  # the energy ends in it, or at its exit
    SPENT_BEFORE = 6  # the energy has ended before it
    OVERLAPPED = 7  # all of it lies in limbs of the same character that were entered before


class Aim(IntEnum):
    """Which limbs a loop searches for, among those that a ray may hit."""

    CLOSEST = 0  # the first along the ray
    ANY = 1  # whichever is certainly hit
    ALL = 2  # every one that is not certainly missed


# Codes of `inside=`: what a query does with a limb that contains the start.
POLICY_HIT, POLICY_EXIT, POLICY_IGNORE = 0, 1, 2
POLICY_CODES: dict[str, int] = {"hit": POLICY_HIT, "exit": POLICY_EXIT, "ignore": POLICY_IGNORE}

# A kernel's verdict. UNDECIDED: the float64 bounds do not decide, exact arithmetic must.
MISS, HIT, UNDECIDED = 0, 1, 2

NO_LIMB = -1  # the limb of a miss
NO_CHARACTER = -1  # of a limb of no character; as `ignore_character`: none is ignored
ALL_LAYERS = 0xFFFFFFFF  # the mask with every layer
