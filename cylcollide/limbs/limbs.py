"""Limbs: closed solids around an axis segment, as a struct of arrays of mixed shapes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property, partial
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import (
    BoolArray,
    Float64Array,
    InsidePolicy,
    Int8Array,
    Int32Array,
    Shape,
    Uint32Array,
)
from cylcollide.kernels.limb_table import LimbRows, LimbTable
from cylcollide.limbs import explain, files, meshes, tables
from cylcollide.limbs.constructors import Constructors
from cylcollide.limbs.point_queries import PointQueries
from cylcollide.limbs.tables import Labels
from cylcollide.process.signatures import NO_CONSTRUCTOR
from cylcollide.query.arguments import arguments_of
from cylcollide.query.boxes import BoxRequest, box_request, touching
from cylcollide.query.clearance import OwnLimbs
from cylcollide.query.exact_fallback import own_pieces, resolve_hits
from cylcollide.query.farthest import rows_of
from cylcollide.query.hits import RayHits, named_columns
from cylcollide.query.labels import RowLabels, bare_labels
from cylcollide.query.loops import single
from cylcollide.query.loops.columns import empty_hits
from cylcollide.query.overlaps import capsule_request, find_apart
from cylcollide.query.request import RayRequest, ray_request, segment_request
from cylcollide.query.result import chosen_rows
from cylcollide.runtime.memory import frozen
from cylcollide.shapes import Solids

if TYPE_CHECKING:
    import trimesh


def own_segments(
    starts: ArrayLike, ends: ArrayLike, *, inside: InsidePolicy = "hit", radius: ArrayLike = 0.0
) -> RayRequest:
    """Closed segments, one per limb."""
    return segment_request(starts, ends, inside=inside, radius=radius)


def own_rays(
    origins: ArrayLike,
    directions: ArrayLike,
    *,
    max_distance: ArrayLike = np.inf,
    inside: InsidePolicy = "hit",
    radius: ArrayLike = 0.0,
) -> RayRequest:
    """Rays, one per limb."""
    return ray_request(origins, directions, max_distance=max_distance, inside=inside, radius=radius)


def own_capsules(p1: ArrayLike, p2: ArrayLike, radii: ArrayLike) -> RayRequest:
    """Capsules, one per limb."""
    return capsule_request(p1, p2, radii)


def own_boxes(center: ArrayLike, orientation: ArrayLike, half_extents: ArrayLike) -> BoxRequest:
    """Boxes, one per limb."""
    return box_request(center, orientation, half_extents)


class Limbs(Constructors, PointQueries):
    """Limbs of one or many characters. Immutable; make them with `Limbs.cylinders` and the like.

    Lengths are in any unit. Attributes (n rows): `kind` (n,), a `Shape`; `p1`, `p2` (n, 3), the
    ends of the axis (both the centre, of a sphere or box); `radius`, `radius2` (n,), the second a
    tube's inner radius or a tapered cylinder's at p2; `box_axes` (n, 3, 3), `half_extents` (n, 3),
    zero but for boxes; `character`, `mask`, `hit_group` (n,), and `names`, a tuple of n strings.

    All constructors take, by keyword and each (n,) or one for all: `character`, the number of the
    character that a limb belongs to (-1: none); `mask`, its layers, 32 bits: a query tests limbs
    that share a bit with the query's mask; `name`; `hit_group`, an integer. They raise ValueError
    on a wrong shape, on NaN and numbers above 2**500 in magnitude, and on sizes (radii, half
    extents, axes) below 2**-500; the message names the first bad row.
    """

    __signature__ = NO_CONSTRUCTOR

    __hash__ = None  # type: ignore[assignment]  # arrays inside

    _table: LimbTable
    """The columns that kernels read."""
    kind: Int8Array
    p1: Float64Array
    p2: Float64Array
    radius: Float64Array
    radius2: Float64Array
    character: Int32Array
    mask: Uint32Array
    hit_group: Int32Array
    names: tuple[str, ...]
    _state_row: None = None

    def __init__(self, table: LimbTable, hit_group: Int32Array, names: tuple[str, ...]) -> None:
        for column in (*table, hit_group):
            column.flags.writeable = False
        vars(self).update(
            _table=table, kind=table.kind, p1=table.p1, p2=table.p2, radius=table.radius, radius2=table.radius2,
            character=table.character, mask=table.mask, hit_group=hit_group, names=names,
        )  # fmt: skip

    def __setattr__(self, name: str, value: object = None) -> None:
        """Raise AttributeError: limbs are immutable."""
        raise AttributeError(
            f"{name}: Limbs are immutable; make others with moved(), inflated(), limbs[rows] or a constructor"
        )

    __delattr__ = __setattr__

    def __reduce__(self) -> tuple[type[Limbs], tuple[LimbTable, Int32Array, tuple[str, ...]]]:
        """Copy and pickle by the constructor, which makes arrays read-only."""
        return Limbs, (self._table, self.hit_group, self.names)

    @classmethod
    def _of(cls, solids: Solids, labels: Labels) -> Self:
        character, mask, hit_group, names = tables.label_columns(labels, len(solids.p1))
        return cls(tables.solid_table(solids, character, mask), hit_group, names)

    @classmethod
    def concat(cls, parts: Iterable[Limbs]) -> Limbs:
        """All limbs of the parts, one after another."""
        given: Any = parts
        parts = list(given) if isinstance(given, Iterable) and getattr(given, "ndim", 1) != 0 else [given]
        wrong = [type(part).__name__ for part in parts if not isinstance(part, Limbs)]
        if wrong or not parts:
            raise ValueError(f"concat: expected a list of one or more Limbs, got {wrong[0] if wrong else 'none'}")
        names = tuple(name for part in parts for name in part.names)
        return cls(
            tables.joined_tables([part._table for part in parts]),
            np.concatenate([part.hit_group for part in parts]),
            names,
        )

    def __len__(self) -> int:
        return len(self.radius)

    def __repr__(self) -> str:
        kinds = Counter(Shape(kind).name.lower() for kind in self.kind.tolist())
        return f"Limbs({len(self)}: {', '.join(f'{count} {name}' for name, count in kinds.items()) or 'none'})"

    def __eq__(self, other: object) -> bool:
        """Whether all columns and names are equal."""
        if not isinstance(other, Limbs):
            return NotImplemented
        same = [np.array_equal(self._table[k], other._table[k]) for k in range(len(LimbTable._fields))]
        return all(same) and self.names == other.names and np.array_equal(self.hit_group, other.hit_group)

    def __getitem__(self, rows: Any) -> Limbs:
        """The limbs of an index, a slice, a mask, an array of indices, or a name, as `Limbs`."""
        chosen = chosen_rows(tables.named_rows(self.names, rows), len(self), "limbs")
        names = tuple(self.names[i] for i in chosen)
        return Limbs(tables.chosen_rows(self._table, chosen), self.hit_group[chosen], names)

    @cached_property
    def _kernel_rows(self) -> LimbRows:
        return self._table.kernel_rows

    @cached_property
    def _labels(self) -> RowLabels:
        return bare_labels(self.names, self.hit_group)

    @property
    def box_axes(self) -> Float64Array:
        """Unit axes of the boxes, one per row, zero for other shapes; (n, 3, 3)."""
        return frozen(tables.box_columns(self._table)[:, :9].reshape(-1, 3, 3))

    @property
    def half_extents(self) -> Float64Array:
        """Half extents of the boxes along their axes, zero for other shapes; (n, 3)."""
        return frozen(tables.box_columns(self._table)[:, 9:])

    def save(self, path: str | PathLike[str]) -> None:
        """Write all limbs to an .npz file; the suffix is added if it is missing.

        The file is replaced in one step once everything is written: a failure leaves the old file.
        """
        files.write(path, self._table, self.hit_group, self.names)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Limbs:
        """Read the limbs of a file that `save` wrote; the suffix .npz is added if it is missing.

        Raises
        ------
        OSError
            If the file cannot be opened.
        ValueError
            If `save` did not write it, it is damaged, or it holds limbs that no constructor
            accepts; the message names column and row.
        """
        return cls(*files.read(path))

    def to_mesh(self, *, sides: int = 32) -> trimesh.Trimesh:
        """All limbs as one triangle mesh, with polygons of `sides` sides (3 or more) for circles.

        Each limb is closed, with normals outward. `mesh.face_attributes["limb"]` is the limb of
        each triangle; `mesh.split()` gives one mesh per limb. Corners of polygons are as far
        outside the circle as the midpoints of their sides are inside.

        Raises
        ------
        ImportError
            Without trimesh: install the extra `mesh`.
        ValueError
            If `sides` is not an integer of 3 or more.
        """
        return meshes.closed_mesh(self._table, int(validate.integers(sides, "sides", 1, 3, 2**15)[0]))

    def moved(self, p1: ArrayLike, p2: ArrayLike, *, limbs: ArrayLike | None = None) -> Limbs:
        """The limbs with new ends of all, or of those of the given indices; p1, p2 (n, 3) or (m, 3).

        Both ends of a sphere or box are its centre; a box keeps its axes.

        Raises
        ------
        ValueError
            As the constructors do, and for an index that is out of range or named twice.
        """
        chosen = None if limbs is None else validate.indices(limbs, "limbs", len(self))
        return Limbs(tables.moved_table(self._table, p1, p2, chosen), self.hit_group, self.names)

    def inflated(self, by: ArrayLike) -> Limbs:
        """The limbs grown by 0 or a length of at least 2**-500 on every side, (n,) or one for all.

        Exact for capsules and spheres (all points within `by` of the limb) and for cylinders and
        boxes (each face moved out by `by`), up to the rounding of the new numbers. Tubes also grow
        inwards, and must keep a bore; the caps and the wall of a tapered cylinder move out by `by`;
        the half axes of an ellipsoid grow by `by`. A growth beyond the range of accepted numbers is
        a ValueError.
        """
        return Limbs(tables.inflated_table(self._table, by), self.hit_group, self.names)

    @arguments_of(own_segments)
    def cast_segments(self, request: RayRequest) -> RayHits:
        """Segment i against limb i only.

        One limb stands for all rows, as does one segment. Starts and ends are (n, 3). `inside`: a
        segment that starts in the limb hits it at fraction 0 ("hit"), at its exit ("exit"), or not
        ("ignore"). `radius`, one per segment or one for all: a limb then means all points within
        `radius` of it.
        """
        return self._cast(request)

    @arguments_of(own_capsules)
    def overlap_capsules(self, request: RayRequest) -> BoolArray:
        """Whether capsule i touches limb i, row by row as `cast_segments`; bool (n,).

        Also True if `HitWorld.overlap_capsules` is undecided.
        """
        hits, rays = self._cast(request), request.batch.rays
        touch: BoolArray = hits.hit | hits.undecided
        if (open_ := np.flatnonzero(hits.undecided)).size:
            query, row = (np.minimum(open_, n - 1) for n in (len(rays.origin), len(self)))
            touch[open_] = ~find_apart(rays, query, self, row.astype(np.int32))[0]
        return touch

    @arguments_of(own_boxes)
    def overlap_boxes(self, request: BoxRequest) -> BoolArray:
        """Whether box i touches limb i, or is undecided, row by row as `overlap_capsules`; bool (n,)."""
        near, boxes = request
        n = self._paired(len(boxes), "center")
        box, limb = (np.arange(n) if k == n else np.zeros(n, np.int64) for k in (len(boxes), len(self)))
        return touching(near.points[box], boxes[box], rows_of(self._table, limb))[0]

    @arguments_of(own_rays)
    def cast_rays(self, request: RayRequest) -> RayHits:
        """Ray i against limb i, as `cast_segments`; directions (n, 3), `max_distance` a length."""
        return self._cast(request)

    def _cast(self, request: RayRequest) -> RayHits:
        rays = request.batch.rays
        request.copy_checked(0, len(rays.origin))
        n = self._paired(len(rays.origin), "rays")
        if len(rays.origin) != n:
            rays = rays._replace(origin=np.repeat(rays.origin, n, axis=0), second=np.repeat(rays.second, n, axis=0))
        batch = request.batch._replace(rays=rays)
        hits = empty_hits(n)
        single.cast_rows(batch, self._kernel_rows, hits)
        read, resolved = named_columns(batch, hits), None
        if hits.undecided.any():
            resolved = resolve_hits(read, self._table, request.inside, partial(own_pieces, self._table))
        return RayHits(read, self, request.inside, resolved, OwnLimbs(self, batch))

    def explain_segment(self, start: ArrayLike, end: ArrayLike, *, limb: int | None = None) -> explain.Explanation:
        """Why the segment start → end (3,) hits or misses limb number `limb` (None: the only one)."""
        return explain.explain_segment(self._table, start, end, limb)
