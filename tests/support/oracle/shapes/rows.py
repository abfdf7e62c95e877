"""Limbs of every shape as parallel arrays, and rays at them: the rows of the shape families."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from support.cases.frames import Array, Whole
from support.oracle.cylinder import Ray, ray, segment
from support.oracle.lines import Solid

import cylcollide as cc

UNTURNED = (0.0, 0.0, 0.0, 1.0)
"""The quaternion x, y, z, w of no rotation."""


@dataclass(frozen=True)
class Shapes:
    """n limbs. Unused columns of a shape are 0; a sphere or box has p1 = p2 = centre. `radius2` as in `Limbs`."""

    kind: Whole  # (n,) codes of `support.oracle.lines`
    p1: Array  # (n, 3)
    p2: Array
    radius: Array  # (n,)
    radius2: Array
    orientation: Array  # (n, 4) quaternions x, y, z, w of any length
    half: Array  # (n, 3)

    def __len__(self) -> int:
        return len(self.kind)

    def take(self, rows: Whole | NDArray[np.bool_]) -> "Shapes":
        """Return the given rows."""
        return Shapes(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    def scaled(self, factor: float) -> "Shapes":
        """Return the limbs with all lengths times a factor."""
        lengths = ("p1", "p2", "radius", "radius2", "half")
        return replace(self, **{name: getattr(self, name) * factor for name in lengths})

    def limbs(self) -> cc.Limbs:
        """Return the library's limbs in the same order, each made by the constructor of its shape."""
        from support.oracle.shapes.table import SHAPE_ROWS

        rows = [np.flatnonzero(self.kind == kind) for kind in SHAPE_ROWS]
        made = [row.make(self.take(r)) for r, row in zip(rows, SHAPE_ROWS.values(), strict=True) if len(r)]
        return cc.Limbs.concat(made)[np.argsort(np.concatenate(rows))]

    def solids(self) -> list[Solid]:
        """Return the limbs for the oracle. Only a box's axes come from the library, because they define the box."""
        from support.oracle.shapes.table import SHAPE_ROWS

        axes = box_axes(self.orientation)
        axes[["orientation" not in SHAPE_ROWS[kind].takes for kind in self.kind.tolist()]] = 0.0
        return solids_of(self.kind, self.p1, self.p2, self.radius, self.radius2, axes, self.half)


def concat(parts: list[Shapes]) -> Shapes:
    """Return all limbs of all parts."""
    return Shapes(*(np.concatenate([getattr(p, name) for p in parts]) for name in Shapes.__dataclass_fields__))


def solids_of(*columns: Array | Whole) -> list[Solid]:
    """Return limbs for the oracle, from their columns in the order of a `Solid`."""
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [Solid(k, tuple(p), tuple(q), r, s, tuple(map(tuple, m)), tuple(h)) for k, p, q, r, s, m, h in rows]


def box_axes(orientation: Array) -> Array:
    """Return the library's float64 axes of boxes with these orientations, (n, 3, 3), a writable copy."""
    n = len(orientation)
    return np.array(cc.Limbs.boxes(np.zeros((n, 3)), orientation, np.ones((n, 3))).box_axes)


def shapes(kind: int, p1: Array, p2: Array | None = None, **columns: Array) -> Shapes:
    """Return limbs of one kind; omitted columns are 0."""
    n = len(p1)
    blank = {"radius": np.zeros(n), "radius2": np.zeros(n), "half": np.zeros((n, 3))}
    blank["orientation"] = np.tile(UNTURNED, (n, 1))
    return Shapes(np.full(n, kind), p1, p1 if p2 is None else p2, **blank | columns)


@dataclass(frozen=True)
class Shots:
    """n queries: row i casts the closed segment start → end, or a ray, against limb i.

    For rays `end` is the direction, and `limit` the max_distance.
    """

    family: NDArray[np.str_]  # (n,) "shape: family"
    shapes: Shapes
    start: Array  # (n, 3)
    end: Array
    limit: Array | None = None  # (n,), None for segments

    def __len__(self) -> int:
        return len(self.start)

    def query(self, i: int) -> Ray:
        """Return the segment or ray of row i for the oracle."""
        if self.limit is None:
            return segment(self.start[i], self.end[i])
        return ray(self.start[i], self.end[i], float(self.limit[i]))

    def take(self, rows: Whole | NDArray[np.bool_]) -> "Shots":
        """Return the given rows."""
        limit = None if self.limit is None else self.limit[rows]
        return Shots(self.family[rows], self.shapes.take(rows), self.start[rows], self.end[rows], limit)

    def cast(self, inside: str = "hit") -> cc.RayHits:
        """Return the library's hits, row by row."""
        limbs = self.shapes.limbs()
        if self.limit is None:
            return limbs.cast_segments(self.start, self.end, inside=inside)
        return limbs.cast_rays(self.start, self.end, max_distance=self.limit, inside=inside)


def shots(limbs: Shapes, start: Array, end: Array, limit: Array | None = None) -> Shots:
    """Return queries with an empty family."""
    return Shots(np.full(len(start), "", dtype="U32"), limbs, start, end, limit)


def named(rows: Shots, name: str) -> Shots:
    """Return the queries with this family in every row."""
    return replace(rows, family=np.full(len(rows), name, dtype="U32"))


def joined(parts: list[Shots]) -> Shots:
    """Return all rows of all parts: segments only, or rays only."""
    family, start, end = (np.concatenate([getattr(p, name) for p in parts]) for name in ("family", "start", "end"))
    bounded = [p.limit for p in parts if p.limit is not None]
    return Shots(family, concat([p.shapes for p in parts]), start, end, np.concatenate(bounded) if bounded else None)
