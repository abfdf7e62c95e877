"""Blades that are swept: from arguments to results."""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import ALL_LAYERS, BoolArray, Float64Array, Int64Array
from cylcollide.bvh.traverse import make_stack
from cylcollide.query.loops.blades import Swept, missed_strokes, sweep_blades
from cylcollide.query.loops.inputs import PointFilters
from cylcollide.query.near_requests import as_radii
from cylcollide.query.request import LabelledLimbs, State, point_request
from cylcollide.query.results import LimbFields, Surface
from cylcollide.runtime.memory import frozen
from cylcollide.runtime.threads import in_chunks

RESOLUTION = 2.0**-10
"""Of the time of a stroke."""


class SweepRequest(NamedTuple):
    """Blades that go from some ends to others in one unit of time."""

    ends: tuple[Float64Array, Float64Array, Float64Array, Float64Array]
    radius: Float64Array
    resolution: float
    filters: PointFilters
    threads: int | None


def sweep_request(
    p1: ArrayLike,
    p2: ArrayLike,
    to_p1: ArrayLike,
    to_p2: ArrayLike,
    radius: ArrayLike,
    *,
    resolution: float = RESOLUTION,
    mask: ArrayLike = ALL_LAYERS,
    ignore_character: ArrayLike | None = None,
    threads: int | None = None,
) -> SweepRequest:
    """A request about capsules whose ends go straight from p1 and p2 to `to_p1` and `to_p2`, (n, 3) each."""
    names = ("p1", "p2", "to_p1", "to_p2")
    given = [validate.as_vectors(ends, name) for ends, name in zip((p1, p2, to_p1, to_p2), names, strict=True)]
    n = max(map(len, given))
    ends = [validate.vectors(np.repeat(one, n, axis=0) if len(one) == 1 else one, name, n)
            for one, name in zip(given, names, strict=True)]  # fmt: skip
    number = validate.is_real(resolution) and not isinstance(resolution, bool)
    if not (number and 2.0**-30 <= resolution <= 1.0):
        raise ValueError(f"resolution: expected a number from 2**-30 to 1, a share of the time, got {resolution!r}")
    _, filters, workers = point_request(ends[0], threads=threads, mask=mask, ignore_character=ignore_character)
    first, second, third, fourth = ends
    return SweepRequest(
        (first, second, third, fourth), as_radii(radius, "radius", n), float(resolution), filters, workers
    )


class SweptHits(LimbFields):
    """What blades touch first; arrays that cannot be written.

    The true first contact lies in [fraction - resolution, fraction]. Where `undecided`, an earlier
    contact, or any at all, could be neither shown nor excluded.
    """

    _what = "blades"
    fields: ClassVar[tuple[str, ...]] = (
        *("hit", "fraction", "position", "undecided", "limb", "character", "static", "limb_name", "hit_group"),
        *("bone", "rig_limb"),
    )

    def __init__(self, limbs: LabelledLimbs, swept: Swept) -> None:
        self._limbs, self._row, self._columns, self._swept = limbs, swept.limb, {}, swept

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
    def fraction(self) -> Float64Array:
        """The time of first contact, 0 to 1, late by at most the resolution; inf for a miss; (n,)."""
        return frozen(self._swept.fraction)

    @property
    def position(self) -> Float64Array:
        """The limb's place nearest to the blade then, NaN for a miss; (n, 3)."""
        return frozen(self._swept.position)

    @property
    def undecided(self) -> BoolArray:
        """Whether a contact before `fraction` could be neither shown nor excluded; bool (n,)."""
        return frozen(self._swept.undecided)

    @property
    def _surface(self) -> Surface:
        return self.position, np.full_like(self.position, np.nan)


def sweep(state: State, request: SweepRequest) -> SweptHits:
    """What each blade touches first."""
    n, table, tree = len(request.radius), state._kernel_rows, state._tree
    swept = missed_strokes(n)

    def task(begin: int, end: int) -> None:
        blades = request.ends, request.radius, request.resolution, request.filters
        sweep_blades(*blades, table, tree, make_stack(tree), begin, end, swept)

    in_chunks(n, request.threads, task)
    return SweptHits(state, swept)
