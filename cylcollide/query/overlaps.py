"""Capsules that overlap limbs: from arguments to results. A capsule touches a limb if it does as a thick segment."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import ALL_LAYERS, BoolArray, Int32Array, Int64Array
from cylcollide.query.chords import Chords, chords
from cylcollide.query.loops.columns import chords_of_rays, offsets_of
from cylcollide.query.near_requests import as_radii
from cylcollide.query.nearest import LimbLists
from cylcollide.query.request import LabelledLimbs, RayRequest, State, as_pairs, segment_request
from cylcollide.runtime.memory import frozen


class Overlaps(LimbLists):
    """The limbs that capsules or boxes touch, in compressed rows; arrays that cannot be written.

    As `NearLimbs`, without places. `undecided` says which of these limbs bounds do not decide.
    """

    fields: ClassVar[tuple[str, ...]] = (*LimbLists.fields, "undecided")

    def __init__(self, limbs: LabelledLimbs, offsets: Int64Array, row: Int32Array, undecided: BoolArray) -> None:
        super().__init__(limbs, offsets, row)
        self._undecided = undecided

    def _take(self, rows: Int64Array) -> Self:
        offsets, taken = chords_of_rays(self._offsets, rows)
        return type(self)(self._limbs, offsets, self._row[taken], self._undecided[taken])

    @property
    def undecided(self) -> BoolArray:
        """Whether both are within 2**-40 of their size of touching, and may be apart; one per limb."""
        return frozen(self._undecided)


def capsule_request(
    p1: ArrayLike,
    p2: ArrayLike,
    radii: ArrayLike,
    *,
    mask: ArrayLike = ALL_LAYERS,
    ignore_character: ArrayLike | None = None,
    threads: int | None = None,
) -> RayRequest:
    """A request about capsules from p1 to p2, (n, 3) each, or one for all; radii 0 or more, (n,) or one for all."""
    first, second = as_pairs(p1, p2, ("p1", "p2"))
    ends = validate.vectors(first, "p1"), validate.vectors(second, "p2", len(first))
    thick = as_radii(radii, "radii", len(first))
    return segment_request(
        *ends, inside="hit", mask=mask, ignore_character=ignore_character, threads=threads, radius=thick
    )


def overlap_capsules(state: State, request: RayRequest) -> Overlaps:
    """All limbs that each capsule touches, by row."""
    return overlaps_of(chords(state, request))


def overlaps_of(thick: Chords) -> Overlaps:
    """The limbs that thick segments touch, from their chords."""
    query, row, undecided = limbs_of_chords(thick)
    return Overlaps(thick._judged[0], offsets_of(query, len(thick._rays.origin)), row, undecided)


def limbs_of_chords(found: Chords) -> tuple[Int64Array, Int32Array, BoolArray]:
    """The ray and the limb of each pair that has a chord, in order, and whether all its chords are undecided."""
    rays, (_, limb, is_open) = found.ray, found._judged
    order = np.lexsort((is_open, limb, rays))
    rays, limb, is_open = rays[order], limb[order], is_open[order]
    first = np.ones(len(rays), np.bool_)
    first[1:] = (rays[1:] != rays[:-1]) | (limb[1:] != limb[:-1])
    return rays[first], limb[first], is_open[first]
