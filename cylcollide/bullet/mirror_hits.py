"""The answers of a mirror as arrays: hits and chords by body and link."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int32Array, Int64Array
from cylcollide.bullet.core_hits import core_hits
from cylcollide.bullet.merge_hits import MergedHits, MirrorState, RayTest, all_hits, numbered
from cylcollide.bullet.passthrough import FRACTION, NORMAL, POSITION
from cylcollide.bullet.sheet_loops import OPEN_ORDER, fill_sheets, first_sheets
from cylcollide.bullet.tuples import MISS, RayTestResult, hit_tuples
from cylcollide.process.files import Columns
from cylcollide.process.threads import in_chunks
from cylcollide.query.result import Computed, Field, Result, read_from_file


class MirrorHits(Result):
    """The first shape along each of n segments, row by row.

    As `RayHits`, with `body` and `link` in place of a character: a miss has `hit` False, `body`, `link` and `limb` -1,
    infinite fractions and distances, NaN positions and normals. A plane has no thickness: its exit is its entry.
    Bullet's own rays report no exit: in their hits exit fractions, exit positions and thickness are NaN.
    """

    fields: ClassVar[tuple[str, ...]] = (
        *("hit", "body", "link", "limb", "fraction", "distance", "position", "normal"),
        *("exit_fraction", "exit_position", "exit_normal", "thickness"),
    )

    fraction = Field[Float64Array]("Hit point = start + fraction (end - start), inf for a miss; (n,).")
    body = Field[Int32Array]("ObjectUniqueId of the body hit, -1 for a miss; int32 (n,).", "_body_links")
    link = Field[Int32Array]("LinkIndex of the link hit, -1 for a base or a miss; int32 (n,).", "_body_links")
    position = Field[Float64Array]("Hit point, NaN for a miss; (n, 3).", "_surface")
    normal = Field[Float64Array](
        "Unit normal at the hit point, zero for a segment that starts inside, NaN for a miss; (n, 3).", "_surface"
    )
    exit_fraction = Field[Float64Array](
        "Where the segment leaves the shape or ends in it, inf for a miss; (n,).", "_exits"
    )
    thickness = Field[Float64Array](
        "Length of the segment inside the shape, 0 for a touch or a plane, NaN for a miss; (n,).", "_exits"
    )
    exit_position = Field[Float64Array](
        "Point where the segment leaves the shape or ends in it, NaN for a miss; (n, 3).", "_exit_surface"
    )
    exit_normal = Field[Float64Array](
        "Unit outward normal at the exit, zero if the segment ends in the limb, NaN for a miss; (n, 3).",
        "_exit_surface",
    )

    def __init__(self, state: MirrorState, rays: RayTest) -> None:
        self._state, self._rays, self._limbs = state, rays, len(state.limb_rank)
        radius = rays.radius if len(rays.radius) else 0.0
        self._of_limbs = state.world.cast_segments(
            *rays[:2], inside=rays.inside, mask=rays.mask, threads=rays.threads, radius=radius
        )
        self._shape, fraction = self._of_limbs.limb, self._of_limbs.fraction
        """Row of `MirrorState.shape_link`, int32 (n,): the limb, the number of limbs + the sheet, or -1."""
        self._resolved: tuple[Int64Array, MergedHits] | None = None
        if state.sheets:
            fraction = self._add_sheets(fraction)
        self._own: dict[int, RayTestResult] = {}
        """The first hits by Bullet's rules, by row: for starts in balls and capsules, and of Bullet's own rays."""
        if rays.cores:
            rows = np.flatnonzero(self._of_limbs.started_inside)
            cores = core_hits(state.world, state.shape_link, rays.starts[rows], rays.ends[rows], rays.mask)
            self._own = {int(rows[k]): hits[0] for k, hits in cores.items()}
        if state.wrapped.body_links:
            until = fraction.copy()
            until[self._own_rows] = 0.0
            self._own |= state.wrapped.first_hits(rays.starts, rays.ends, rays.mask, until)
        if self._own:
            self._shape, fraction = self._shape.copy(), fraction.copy()
            self._shape[self._own_rows] = -1
            fraction[self._own_rows] = self._of_own(FRACTION)
        self._columns = {"fraction": fraction}

    def _add_sheets(self, fraction: Float64Array) -> Float64Array:
        """Replace limb hits by earlier sheet hits; undecided rows are resolved by the exact order of all shapes."""
        state, rays, limb = self._state, self._rays, self._shape
        self._shape, first = found = np.empty(len(limb), np.int32), np.empty(len(limb))
        shapes = state.sheet_table, state.world._packed[0], state.limb_rank
        cast = partial(first_sheets, *shapes, rays.starts, rays.ends, rays.mask, state.largest)
        if any(in_chunks(len(limb), rays.threads, partial(cast, limb, fraction, self._of_limbs.face, *found))):
            rows = np.flatnonzero(self._shape == OPEN_ORDER)
            options = RayTest(rays.starts[rows], rays.ends[rows], *rays[2:])
            resolved, shape = numbered(state, options, 0, wrapped=False)
            self._resolved = rows, resolved
            self._shape[rows], first[rows] = shape, resolved.fraction
        return first

    def __len__(self) -> int:
        return len(self._shape)

    def _summary(self) -> str:
        return f"{type(self).__name__}({len(self)} rays, {int(self.hit.sum())} hits, {self.rechecked} rechecked)"

    def _take(self, rows: Int64Array) -> Self:
        return read_from_file(type(self), {name: getattr(self, name)[rows] for name in self.fields})  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the columns: a client can be neither copied nor pickled."""
        columns = self.to_dict() | {"rechecked": np.array(self.rechecked)}
        return read_from_file, (type(self), columns), {"_query_shape": self._query_shape}

    @property
    def rechecked(self) -> int:
        """Number of decisions by exact arithmetic about rays: among the limbs, and among limbs and planes."""
        return self._of_limbs.rechecked + (0 if self._resolved is None else len(self._resolved[0]))

    @property
    def _own_rows(self) -> list[int]:
        return list(self._own)

    def _of_own(self, item: int | slice) -> list[Any]:
        """An item of each tuple of Bullet's own hits."""
        return [hit[item] for hit in self._own.values()]

    def _tuples(self) -> list[RayTestResult]:
        """PyBullet's tuples, of Bullet's own hits as they are."""
        found = hit_tuples(len(self), self._shape_links(), self.fraction, *self._shape_surface(), MISS)
        for row, hit in self._own.items():
            found[row] = hit
        return found

    def _shape_links(self) -> Int32Array:
        """Body and link of each limb or sheet hit, -1 for other rays; (n, 2)."""
        return self._state.shape_link.take(self._shape, axis=0)

    def _body_links(self) -> Columns:
        body_link = self._shape_links()
        if self._own:
            body_link[self._own_rows] = self._of_own(slice(2))
        return {"body": body_link[:, 0], "link": body_link[:, 1]}

    def _shape_surface(self) -> tuple[Float64Array, Float64Array]:
        """Position and normal of each limb or sheet hit; (n, 3) each."""
        position, normal = self._of_limbs._new_surface()
        if self._state.sheets:
            starts, ends, table = self._rays.starts, self._rays.ends, self._state.sheet_table
            fill = partial(fill_sheets, table, starts, ends, self._limbs, self._shape, position, normal)
            in_chunks(len(starts), self._rays.threads, fill)
        if self._resolved is not None:
            rows, resolved = self._resolved
            position[rows], normal[rows] = resolved.position, resolved.normal
        return position, normal

    def _surface(self) -> Columns:
        position, normal = self._shape_surface()
        if self._own:
            position[self._own_rows], normal[self._own_rows] = self._of_own(POSITION), self._of_own(NORMAL)
        return {"position": position, "normal": normal}

    @Computed
    def hit(self) -> BoolArray:
        """Whether the segment hits; bool (n,)."""
        return self.fraction < np.inf

    @Computed
    def limb(self) -> Int32Array:
        """Index in `Mirror.limbs` of the limb hit, -1 for a plane, a hit of Bullet's ray, and a miss; int32 (n,)."""
        return np.where(self._shape < self._limbs, self._shape, -1).astype(np.int32)

    def _exit(self, of_limbs: Float64Array, otherwise: Float64Array) -> Float64Array:
        """A column: `of_limbs` where a limb is hit, NaN where Bullet's own ray hits, else `otherwise`."""
        column, is_limb = otherwise.copy(), self.limb >= 0
        column[is_limb] = of_limbs[is_limb]
        column[self._own_rows] = np.nan
        return column

    def _exits(self) -> Columns:
        hits, of_planes = self._of_limbs, np.where(self.hit, 0.0, np.nan)
        return {
            "exit_fraction": self._exit(hits.exit_fraction, self.fraction),
            "thickness": self._exit(hits.thickness, of_planes),
        }

    def _exit_surface(self) -> Columns:
        hits = self._of_limbs
        return {
            "exit_position": self._exit(hits.exit_position, self.position),
            "exit_normal": self._exit(hits.exit_normal, -self.normal),
        }

    @Computed
    def distance(self) -> Float64Array:
        """Distance from the start to the hit point, inf for a miss; (n,)."""
        length = np.linalg.norm(self._rays.ends - self._rays.starts, axis=1)
        distance = np.full(len(length), np.inf)
        distance[self.hit] = self.fraction[self.hit] * length[self.hit]
        return distance


class MirrorChords(Result):
    """Every shape that each segment crosses, sorted along it, in compressed rows.

    The chords of segment i are rows `offsets[i]:offsets[i + 1]`. `ray`, `body`, `link`, `limb` (-1 for planes and what
    Bullet hits; int32), `entry_fraction` and `exit_fraction` (NaN for what Bullet hits) have one entry per chord. A
    plane's chord has no length. `chords[i]` has the chords of segment i alone, as in `Chords`.
    """

    _what = "chords"
    fields: ClassVar[tuple[str, ...]] = ("ray", "body", "link", "limb", "entry_fraction", "exit_fraction")

    ray = Field[Int64Array]("Row of the segment; int64, one per chord.")
    body = Field[Int32Array]("ObjectUniqueId of the body; int32, one per chord.")
    link = Field[Int32Array]("LinkIndex of the link, -1 for a base; int32, one per chord.")
    limb = Field[Int32Array]("Index in `Mirror.limbs`, -1 for planes and what Bullet hits; int32, one per chord.")
    entry_fraction = Field[Float64Array]("Where the segment enters the shape; one per chord.")
    exit_fraction = Field[Float64Array]("Where it leaves, NaN for what Bullet hits; one per chord.")
    offsets = Field[Int64Array]("Where the chords of each segment begin, and the last end; int64 (n + 1,).")

    def __init__(self, state: MirrorState, rays: RayTest) -> None:
        hits = all_hits(state, rays)
        count = np.bincount(hits.ray, minlength=len(rays.starts))
        self._columns = {
            "ray": hits.ray,
            "body": hits.body_link[:, 0],
            "link": hits.body_link[:, 1],
            "limb": np.where(hits.shape < len(state.limb_rank), hits.shape, -1).astype(np.int32),
            "entry_fraction": hits.fraction,
            "exit_fraction": hits.exit_fraction,
            "offsets": np.concatenate([[0], np.cumsum(count)]),
        }

    def __len__(self) -> int:
        return len(self.ray)

    @property
    def _count(self) -> int:
        return len(self.offsets) - 1

    def _summary(self) -> str:
        return f"MirrorChords({len(self)} chords of {self._count} rays)"

    def _take(self, rows: Int64Array) -> Self:
        return read_from_file(type(self), self._columns)._take(rows)  # type: ignore[no-any-return]
