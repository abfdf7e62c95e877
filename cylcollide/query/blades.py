"""Swept blades: from arguments to results."""

from __future__ import annotations

from typing import ClassVar, Self, TypeAlias, Unpack

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import BoolArray, Float64Array, Int64Array
from cylcollide.bvh.traverse import make_stack
from cylcollide.process.threads import in_chunks
from cylcollide.query.loops.blades import Swept, missed_strokes, sweep_blades
from cylcollide.query.near_requests import NearRequest, as_radii, near_request, rows_together
from cylcollide.query.request import Filters, LabelledLimbs, State
from cylcollide.query.result import Field
from cylcollide.query.results import LimbFields, Surface
from cylcollide.runtime.memory import frozen

RESOLUTION = 2.0**-10
"""Default resolution, as a share of the time of a stroke."""


SweepRequest: TypeAlias = tuple[tuple[Float64Array, Float64Array, Float64Array, Float64Array], NearRequest, float]
"""Both ends of blades before and after one unit of time; a `NearRequest` of their p1 and radii; and the resolution."""


def sweep_request(
    p1: ArrayLike,
    p2: ArrayLike,
    to_p1: ArrayLike,
    to_p2: ArrayLike,
    radius: ArrayLike,
    *,
    resolution: float = RESOLUTION,
    **options: Unpack[Filters],
) -> SweepRequest:
    """A request about capsules whose ends move straight from p1 and p2 to `to_p1` and `to_p2`, (n, 3) each."""
    names = ("p1", "p2", "to_p1", "to_p2")
    given = [validate.as_vectors(ends, name) for ends, name in zip((p1, p2, to_p1, to_p2), names, strict=True)]
    n = rows_together(*map(len, given))
    ends = [validate.vectors(np.repeat(one, n, axis=0) if len(one) == 1 else one, name, n)
            for one, name in zip(given, names, strict=True)]  # fmt: skip
    share = validate.one_number(resolution)
    if not 2.0**-30 <= share <= 1.0:
        got = validate.shown(resolution)
        raise ValueError(f"resolution: expected a number from 2**-30 to 1, a share of the time, got {got}")
    first, second, third, fourth = ends
    blades = near_request(first, as_radii(radius, "radius", n), **options)
    return (first, second, third, fourth), blades, share


class SweptHits(LimbFields):
    """The limb that each blade touches first; arrays that cannot be written.

    The true first contact lies in [fraction - resolution, fraction]. Where `undecided`, an earlier
    contact, or any contact, is neither proved nor excluded.
    """

    _what = "blades"
    fields: ClassVar[tuple[str, ...]] = (
        *("hit", "fraction", "position", "undecided", "limb", "character", "static", "limb_name", "hit_group"),
        *("bone", "rig_limb", "local_position"),
    )

    fraction = Field[Float64Array](
        "The time of first contact, 0 to 1, late by at most the resolution; inf for a miss; (n,)."
    )
    position = Field[Float64Array]("The limb's place nearest to the blade at that time, NaN for a miss; (n, 3).")
    undecided = Field[BoolArray]("Whether a contact before `fraction` is neither proved nor excluded; bool (n,).")

    def __init__(self, limbs: LabelledLimbs, swept: Swept) -> None:
        self._limbs, self._row, self._columns, self._swept = limbs, swept.limb, swept._asdict(), swept

    def _summary(self) -> str:
        hits, undecided = np.count_nonzero(self.hit), np.count_nonzero(self.undecided)
        return f"SweptHits({len(self)} blades, {hits} hits, {undecided} undecided)"

    def _take(self, rows: Int64Array) -> Self:
        return type(self)(self._limbs, Swept._make(column[rows] for column in self._swept))

    @property
    def hit(self) -> BoolArray:
        """Whether there is certainly a contact; bool (n,)."""
        return frozen(self._row >= 0)

    @property
    def _surface(self) -> Surface:
        return self.position, np.full_like(self.position, np.nan)


def sweep(state: State, request: SweepRequest) -> SweptHits:
    """The first limb that each blade touches."""
    (ends, blades, resolution), table, tree = request, state._kernel_rows, state._tree
    swept = missed_strokes(len(blades.reach))

    def task(begin: int, end: int) -> None:
        args = ends, blades.reach, resolution, blades.filters, table, tree, make_stack(tree)
        sweep_blades(*args, begin, end, swept)

    in_chunks(len(blades.reach), blades.threads, task)
    return SweptHits(state, swept)
