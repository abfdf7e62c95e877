"""What loops write of rays, as columns: what each hits first, and chords."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from cylcollide import lending
from cylcollide._types import NO_LIMB, BoolArray, Face, Float64Array, Int8Array, Int32Array
from cylcollide.kernels.ray import Rays


class Verdicts(NamedTuple):
    """What each ray hits first, written while the query runs; n rows."""

    limb: Int32Array  # -1 on a miss
    fraction: Float64Array  # inf on a miss
    face: Int8Array
    inside: BoolArray  # the ray starts in some limb, hit or not
    unsure: BoolArray  # the row is not decided, and the columns above are not the answer


KINDS = [np.dtype(kind) for kind in (np.float64, np.int32, np.int8, np.bool_, np.bool_)]
"""Of fraction, limb, face, inside, unsure."""


def empty_verdicts(n: int) -> Verdicts:
    """Room for n rows, to be filled."""
    fraction, limb, face, inside, unsure = lending.columns(n, *KINDS)
    return Verdicts(limb, fraction, face, inside, unsure)


class Answer(Protocol):
    """What was asked, and what each ray hits first: the columns of `Verdicts`."""

    @property
    def rays(self) -> Rays:
        """The rays."""

    @property
    def limb(self) -> Int32Array:
        """As in `Verdicts`, and so are the others."""

    @property
    def fraction(self) -> Float64Array:
        """See there."""

    @property
    def face(self) -> Int8Array:
        """See there."""

    @property
    def inside(self) -> BoolArray:
        """See there."""


class Chorded(NamedTuple):
    """The chord of each ray in the limb it is credited with: fractions as double-doubles."""

    limb: Int32Array  # (n,), -1 on a miss
    entry: Float64Array  # (n, 2), high and low word; NaN on a miss
    exit: Float64Array  # (n, 2); inf on a miss
    entry_face: Int8Array  # INSIDE where the ray starts in the limb
    exit_face: Int8Array  # INSIDE where the ray ends in the limb


CHORD_KINDS = [np.dtype(kind) for kind in (np.int32, np.int8, np.int8)]
"""Of limb, entry_face, exit_face."""


def empty_chords(n: int) -> Chorded:
    """Room for n chords, to be filled."""
    ends = lending.rows((2, n, 2))
    limb, entry_face, exit_face = lending.columns(n, *CHORD_KINDS)
    return Chorded(limb, ends[0], ends[1], entry_face, exit_face)


def missed_chords(n: int) -> Chorded:
    """So many chords, all of them misses."""
    chords = empty_chords(n)
    chords.limb[:], chords.entry[:], chords.exit[:] = NO_LIMB, np.nan, np.inf
    chords.entry_face[:] = chords.exit_face[:] = Face.NONE
    return chords


def joined(parts: Sequence[Chorded]) -> Chorded:
    """All chords of the parts, one part after another."""
    return Chorded._make(np.concatenate([part[k] for part in parts]) for k in range(len(Chorded._fields)))
