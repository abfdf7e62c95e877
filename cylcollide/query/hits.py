"""The answer of a cast: `RayHits`, the closest hit of each ray. Most fields are computed when they are first read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, cast

import numpy as np

from cylcollide._types import BoolArray, Float64Array, InsidePolicy, Int8Array, Int32Array, Int64Array
from cylcollide.process.files import Columns
from cylcollide.query import exact_fallback
from cylcollide.query.clearance import Considered, ConsideredNow, clearances
from cylcollide.query.loops.columns import ChordColumns, ChordRows, HitColumns, ray_of_each, take_rays_of_chords
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.record import Record
from cylcollide.query.request import LabelledLimbs, State, take_rays
from cylcollide.query.result import Computed, Field
from cylcollide.query.results import HitFields, Surface, distances, ray_lengths, surface_at
from cylcollide.runtime.memory import frozen


@dataclass(frozen=True, eq=False)
class RayHit(Record):
    """One row of `RayHits`, as plain Python values and small arrays."""

    hit: bool
    fraction: float
    distance: float
    position: Float64Array
    normal: Float64Array
    limb: int
    limb_name: str | None
    hit_group: int
    character: int
    static: int
    bone: int
    rig_limb: int
    local_position: Float64Array
    local_normal: Float64Array
    face: int
    started_inside: bool
    exit_fraction: float
    exit_distance: float
    exit_position: Float64Array
    exit_normal: Float64Array
    exit_face: int
    thickness: float
    undecided: bool


class RayHits(HitFields):
    """The closest hit of each ray, row by row; arrays that cannot be written.

    Lengths are in the unit of the input, fractions are parameters of the ray (0 to 1 on a segment).
    A miss has `hit` False, `limb` and `character` -1, `limb_name` None, `face` NONE, infinite
    fractions and distances, NaN positions and normals. A ray that starts in its limb has face
    INSIDE and a zero normal; so has the exit of a ray that ends in its limb.

    `hits[i]` is one row, as a `RayHit`; a slice, a mask or an array of indices chooses rows, as
    `RayHits`.
    """

    _kind_of_row = RayHit
    fields: ClassVar[tuple[str, ...]] = tuple(RayHit.__annotations__)

    exit_fraction = Field[Float64Array](
        "Parameter where the ray leaves the limb or ends in it, inf for a miss; (n,).", "_exit_ends"
    )
    exit_face = Field[Int8Array]("`Face` the ray leaves by, INSIDE if it ends in the limb; int8 (n,).", "_exit_ends")
    exit_position = Field[Float64Array](
        "Point where the ray leaves the limb or ends in it, NaN for a miss; (n, 3).", "_exit_surface"
    )
    exit_normal = Field[Float64Array](
        "Unit outward normal there, zero if the ray ends in the limb, NaN for a miss; (n, 3).", "_exit_surface"
    )

    clearance = Field[Float64Array](
        "Growth by `Limbs.inflated` at which the limb that is hit just touches the ray, at most 0:\n"
        "minus the depth; for a miss the least over all limbs considered, at least 0, inf without\n"
        "any. A graze may have 0 on either side: growths are rounded, `hit` is not. Of a thick ray\n"
        "that of its line, more than 0 where only the ball touches. Computed when it is read; (n,).",
        "_clearances",
    )
    clearance_limb = Field[Int32Array]("The limb that `clearance` is about, -1 without any; int32 (n,).", "_clearances")

    def __init__(
        self,
        read: Callable[[str], Any],
        limbs: LabelledLimbs,
        inside: InsidePolicy,
        resolved: ChordRows | None = None,
        considered: Considered | None = None,
        given: Int64Array | None = None,
    ) -> None:
        """Hits of the rays `read("batch")`; `read` also takes the names of `HitColumns`.

        `resolved`: the chords of undecided rows, None without any. `considered` gives the limbs
        that ray i, row `given[i]` there, may hit; by default its mask and the character that it
        ignores select them from `limbs`, a state.
        """
        self._read, self._limbs, self._inside, self._resolved = read, limbs, inside, resolved
        self._row, self._considered, self._given = read("limb"), considered, given
        self._columns = {}

    def _take(self, rows: Int64Array) -> RayHits:
        read, resolved = self._read, self._resolved
        part = named_columns(
            take_rays(read("batch"), rows), HitColumns._make(read(name)[rows] for name in HitColumns._fields)
        )
        known = None if resolved is None else take_rays_of_chords(resolved, rows)
        args = self._limbs, self._inside, known, self._all_considered
        return type(self)(part, *args, rows if self._given is None else self._given[rows])

    def _summary(self) -> str:
        return f"RayHits({len(self)} rays, {int(self.hit.sum())} hits, {self.rechecked} rechecked)"

    @property
    def rechecked(self) -> int:
        """How many rays needed exact arithmetic."""
        return 0 if self._resolved is None else int(np.count_nonzero(self._resolved.undecided))

    @Computed
    def undecided(self) -> BoolArray:
        """Whether bounds do not decide that a thick ray touches this limb first; bool (n,)."""
        rows = np.zeros(len(self), np.bool_)
        if self._resolved is not None:
            rows[ray_of_each(self._resolved.offsets)] = self._resolved.chords.is_open
        return frozen(rows)

    @property
    def fraction(self) -> Float64Array:
        """Parameter of the hit point, inf for a miss; (n,)."""
        return frozen(self._read("fraction"))

    @property
    def face(self) -> Int8Array:
        """`Face` of the hit; int8 (n,)."""
        return frozen(self._read("face"))

    @property
    def started_inside(self) -> BoolArray:
        """Whether the start lies in any limb that the query considers, hit or not; bool (n,)."""
        return frozen(self._read("inside"))

    @cached_property
    def _chords(self) -> ChordColumns:
        """The whole chord of each hit."""
        return exact_fallback.whole_chords(self._read("batch"), self._limbs, self._row, self._inside, self._resolved)

    def _exit_ends(self) -> Columns:
        chords = self._chords
        return {"exit_fraction": np.ascontiguousarray(chords.exit[:, 0]), "exit_face": chords.exit_face}

    @property
    def _all_considered(self) -> Considered:
        """All rays of the query, and the limbs that they may hit."""
        return self._considered or ConsideredNow(cast(State, self._limbs), self._read("batch"))

    def _clearances(self) -> Columns:
        batch, given = self._read("batch"), np.arange(len(self)) if self._given is None else self._given
        growth, limb = clearances(batch, self._limbs, self._row, self._inside, self._all_considered, given)
        return {"clearance": growth, "clearance_limb": limb}

    def _new_surface(self) -> Surface:
        """Positions and normals of the hits, NaN for misses, (n, 3) each: new arrays."""
        exact = exact_fallback.exact_hits(self._resolved, self._inside)
        batch, fraction, face = self._read("batch"), self._read("fraction"), self._read("face")
        return surface_at(batch, self._limbs, self._row, fraction, face, exact, False)

    def _surface_columns(self) -> Columns:
        position, normal = self._new_surface()
        return {"position": position, "normal": normal}

    def _exit_surface(self) -> Columns:
        batch, chords, rows = self._read("batch"), self._chords, np.flatnonzero(self._chords.exact_chord)
        fraction, exact = self.exit_fraction, (rows, chords.exit[rows])
        position, normal = surface_at(batch, self._limbs, chords.limb, fraction, chords.exit_face, exact, True)
        return {"exit_position": position, "exit_normal": normal}

    @cached_property
    def _length(self) -> Float64Array:
        return ray_lengths(self._read("batch").rays)

    @Computed
    def distance(self) -> Float64Array:
        """Distance from the start to the hit point, inf for a miss; (n,)."""
        return distances(self.fraction, self._length)

    @Computed
    def exit_distance(self) -> Float64Array:
        """Distance from the start to the exit point, inf for a miss; (n,)."""
        return distances(self.exit_fraction, self._length)

    @Computed
    def thickness(self) -> Float64Array:
        """Length of the ray inside the limb, 0 for a touch, NaN for a miss; (n,)."""
        return frozen(self._chords.extent * self._length)


def named_columns(batch: RayBatch, hits: HitColumns) -> Callable[[str], Any]:
    """A function that reads the columns of a loop by name, as `RayHits` takes it."""
    return partial(_named_column, batch, hits)


def _named_column(batch: RayBatch, hits: HitColumns, name: str) -> Any:
    return batch if name == "batch" else getattr(hits, name)
