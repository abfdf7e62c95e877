"""Limbs: closed solids about an axis segment, as a struct of arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import casting, door, locating, settling
from cylcollide._types import (
    ALL_LAYERS,
    HIT,
    MISS,
    NO_CHARACTER,
    NO_LIMB,
    UNSURE,
    Float64Array,
    InsidePolicy,
    Int8Array,
    Int32Array,
    Side,
)
from cylcollide.casting import Query
from cylcollide.hits import RayHits, empty_chords
from cylcollide.kernels.ray import Rays
from cylcollide.kernels.table import LimbTable, make_table


class Limbs:
    """Limbs of one or many characters. Immutable; make them with `Limbs.cylinders` and the like.

    Lengths are in any one unit. Attributes (n rows): `p1`, `p2` (n, 3), `radius` (n,), `character`, `mask`, `hit_group`
    (n,), and `names`, a tuple of n strings.
    """

    def __init__(self, table: LimbTable, hit_group: Int32Array, names: tuple[str, ...]) -> None:
        self.table = table
        """What the kernels read."""
        self.p1, self.p2, self.radius = table.p1, table.p2, table.radius
        self.character, self.mask, self.hit_group, self.names = table.character, table.mask, hit_group, names
        for column in (*table, hit_group):
            column.flags.writeable = False

    @classmethod
    def cylinders(
        cls,
        p1: ArrayLike,
        p2: ArrayLike,
        radius: ArrayLike,
        *,
        character: ArrayLike = NO_CHARACTER,
        mask: ArrayLike = ALL_LAYERS,
        name: str | Sequence[str] = "",
        hit_group: ArrayLike = 0,
    ) -> "Limbs":
        """Capped cylinders.

        Parameters
        ----------
        p1, p2
            Centres of the two caps, (n, 3).
        radius
            Radius, (n,) or one number, larger than zero.
        character
            Whose limb it is, (n,) or one number; -1 for nobody's.
        mask
            Layers, 32 bits, (n,) or one number; a query sees a limb that shares a bit with its own mask.
        name, hit_group
            What to call the limb, and the group it counts for; (n,) or one for all.

        Raises
        ------
        ValueError
            On NaN, infinity, a wrong shape, a radius that is not positive, or p1 = p2, naming the first bad row.
        """
        first = door.vectors(p1, "p1")
        second = door.vectors(p2, "p2", len(first))
        radii = door.positive(door.per_row(radius, "radius", len(first)), "radius")
        door.axes(first, second)
        n = len(first)
        return cls(
            make_table(
                first,
                second,
                radii,
                door.integers(character, "character", n, NO_CHARACTER, 2**31 - 1).astype(np.int32),
                door.integers(mask, "mask", n, 0, ALL_LAYERS).astype(np.uint32),
            ),
            door.integers(hit_group, "hit_group", n, -(2**31), 2**31 - 1).astype(np.int32),
            _names(name, n),
        )

    @classmethod
    def concat(cls, parts: Sequence["Limbs"]) -> "Limbs":
        """All limbs of the parts, one after another."""
        if not parts:
            raise ValueError("concat: expected at least one Limbs, got none")
        columns = (np.concatenate(column) for column in zip(*(part.table for part in parts), strict=True))
        names = tuple(name for part in parts for name in part.names)
        return cls(LimbTable._make(columns), np.concatenate([part.hit_group for part in parts]), names)

    def __len__(self) -> int:
        return len(self.radius)

    def __repr__(self) -> str:
        return f"Limbs({len(self)} cylinders)"

    def __getitem__(self, rows: Any) -> "Limbs":
        """The limbs of an index, a slice, a mask or an array of indices, as `Limbs`."""
        chosen = np.atleast_1d(np.arange(len(self))[rows])
        table = LimbTable._make(column[chosen] for column in self.table)
        return Limbs(table, self.hit_group[chosen], tuple(self.names[i] for i in chosen))

    def moved(self, p1: ArrayLike, p2: ArrayLike, limbs: ArrayLike | None = None) -> "Limbs":
        """The same limbs with new ends, all of them or those of the given indices; p1, p2 (n, 3) or (m, 3).

        Raises
        ------
        ValueError
            As `cylinders` does, and for an index that is out of range or named twice.
        """
        n = len(self)
        chosen = None if limbs is None else door.indices(limbs, "limbs", n)
        first = door.vectors(p1, "p1", n if chosen is None else len(chosen))
        second = door.vectors(p2, "p2", len(first))
        door.axes(first, second)
        if chosen is not None:
            new_first, new_second = self.p1.copy(), self.p2.copy()
            new_first[chosen], new_second[chosen] = first, second
            first, second = new_first, new_second
        table = make_table(first, second, self.radius, self.character, self.mask)
        return Limbs(table, self.hit_group, self.names)

    def cast_segments(self, starts: ArrayLike, ends: ArrayLike, inside: InsidePolicy = "hit") -> RayHits:
        """Segment i against limb i: no tree. One limb takes any number of segments, one segment any number of limbs.

        Parameters
        ----------
        starts, ends
            Ends of the closed segments, (n, 3).
        inside
            What a segment that starts in the limb does: "hit" it at fraction 0, hit where it leaves ("exit"), or
            "ignore" the limb.
        """
        first = door.vectors(starts, "starts")
        return self._cast(first, door.vectors(ends, "ends", len(first)), True, np.ones(1), inside)

    def cast_rays(
        self, origins: ArrayLike, directions: ArrayLike, max_distance: ArrayLike = np.inf, inside: InsidePolicy = "hit"
    ) -> RayHits:
        """Ray i against limb i, as `cast_segments`; directions (n, 3) of any length, `max_distance` in metres."""
        first = door.vectors(origins, "origins")
        second = door.directions(directions, len(first))
        return self._cast(first, second, False, door.limits(max_distance, second), inside)

    def _cast(
        self, first: Float64Array, second: Float64Array, is_segment: bool, limit: Float64Array, inside: InsidePolicy
    ) -> RayHits:
        n = self._paired(len(first), "rays")
        if len(first) != n:
            first, second = np.repeat(first, n, axis=0), np.repeat(second, n, axis=0)
        rays = Rays(first, second, is_segment, limit)
        query = Query(rays, door.masks(ALL_LAYERS, n), door.ignored_characters(None, n), door.policy(inside))
        chords, started, unsure = empty_chords(n), np.zeros(n, bool), np.zeros(n, bool)
        casting.cast_rows(query, self.table, chords, started, unsure)
        rows = np.flatnonzero(unsure)
        settling.settle_rows(query, self.table, inside, rows, chords, started)
        return RayHits(rays, self.table, chords, started, len(rows), inside == "exit")

    def classify_points(self, points: ArrayLike) -> Int8Array:
        """Where point i lies with respect to limb i, or all points to one limb, or one point to all: `Side`, exact."""
        position, verdict = self._classified(points)
        side = np.where(verdict == HIT, Side.INSIDE, Side.OUTSIDE).astype(np.int8)
        for i in np.flatnonzero(verdict == UNSURE).tolist():
            side[i] = settling.settle_point(position[i], self.table, i if len(self) > 1 else 0)
        return side

    def axis_distance_squared(self, points: ArrayLike) -> Float64Array:
        """Greg James' test: squared distance from the axis for a point in the closed limb, -1.0 for one outside.

        Point i against limb i, or all points and one limb, or one point and all limbs. The verdict is exact.
        """
        side = self.classify_points(points)
        position = door.vectors(points, "points")
        position = position if len(position) == len(side) else np.repeat(position, len(side), axis=0)
        limbs = (np.arange(len(side)) if len(self) > 1 else np.zeros(len(side))).astype(np.int32)
        squared = np.empty(len(side))
        locating.axis_distances(position, self.table, np.where(side == Side.OUTSIDE, np.int32(NO_LIMB), limbs), squared)
        return squared

    def _classified(self, points: ArrayLike) -> tuple[Float64Array, Int8Array]:
        position = door.vectors(points, "points")
        n = self._paired(len(position), "points")
        if len(position) != n:
            position = np.repeat(position, n, axis=0)
        verdict = np.full(n, MISS, np.int8)
        locating.classify_rows(position, self.table, verdict)
        return position, verdict

    def _paired(self, rows: int, what: str) -> int:
        """How many pairs of a row and a limb there are."""
        if len(self) == 1 or rows == len(self):
            return rows
        if rows == 1:
            return len(self)
        raise ValueError(
            f"{what}: expected {len(self)} rows, one a limb (or 1), got {rows}; "
            "use HitWorld to ask every limb about every ray"
        )


def _names(name: str | Sequence[str], n: int) -> tuple[str, ...]:
    if isinstance(name, str):
        return (name,) * n
    if len(name) != n:
        raise ValueError(f"name: expected one string or {n} of them, got {len(name)}")
    return tuple(str(one) for one in name)
