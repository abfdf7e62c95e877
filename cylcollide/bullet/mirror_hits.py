"""What a mirror's queries return as arrays: hits and chords by body and link."""

from functools import cached_property

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int32Array, Int64Array
from cylcollide.bullet.merge_hits import FirstHits


class MirrorHits:
    """The first shape along each of n segments, row by row.

    As `RayHits`, with `body` and `link` in place of a character: a miss has `hit` False, `body`, `link` and `limb` -1,
    infinite fractions and distances, NaN positions and normals. A plane has no thickness: its exit is its entry. What
    Bullet's own rays hit has no exit that it reports: exit fractions, exit positions and thickness are NaN.
    """

    def __init__(self, first: FirstHits) -> None:
        self._first = first

    def __len__(self) -> int:
        return len(self._first.shape)

    def __repr__(self) -> str:
        return f"MirrorHits({len(self)} rays, {int(self.hit.sum())} hits)"

    @cached_property
    def _place(self) -> Int32Array:
        return self._first.place()

    @cached_property
    def _surface(self) -> tuple[Float64Array, Float64Array]:
        position, normal = self._first.surface()
        return position, normal

    @property
    def body(self) -> Int32Array:
        """ObjectUniqueId of the body hit, -1 for a miss; int32 (n,)."""
        return self._place[:, 0]

    @property
    def link(self) -> Int32Array:
        """LinkIndex of the link hit, -1 for a base or a miss; int32 (n,)."""
        return self._place[:, 1]

    @cached_property
    def hit(self) -> BoolArray:
        """Whether the segment hits; bool (n,)."""
        return self._first.fraction < np.inf

    @property
    def fraction(self) -> Float64Array:
        """Hit point = start + fraction (end - start), inf for a miss; (n,)."""
        return self._first.fraction

    @property
    def position(self) -> Float64Array:
        """Hit point, NaN for a miss; (n, 3)."""
        return self._surface[0]

    @property
    def normal(self) -> Float64Array:
        """Unit normal at the hit point, zero for a segment that starts inside, NaN for a miss; (n, 3)."""
        return self._surface[1]

    @cached_property
    def limb(self) -> Int32Array:
        """Index in `Mirror.limbs` of the limb hit, -1 for a plane, for what Bullet hits, and for a miss; int32 (n,)."""
        shape = self._first.shape
        return np.where(shape < self._first.limbs, shape, -1).astype(np.int32)

    @cached_property
    def _is_limb(self) -> BoolArray:
        return self.limb >= 0

    def _exit(self, of_limbs: Float64Array, otherwise: Float64Array) -> Float64Array:
        """A column of the limbs hit; elsewhere another one, NaN for what Bullet hits."""
        column = otherwise.copy()
        column[self._is_limb] = of_limbs[self._is_limb]
        column[self._first.bullet_rows] = np.nan
        return column

    @cached_property
    def exit_fraction(self) -> Float64Array:
        """Where the segment leaves the shape or ends in it, inf for a miss; (n,)."""
        return self._exit(self._first.hits.exit_fraction, self.fraction)

    @cached_property
    def exit_position(self) -> Float64Array:
        """Point where the segment leaves the shape or ends in it, NaN for a miss; (n, 3)."""
        return self._exit(self._first.hits.exit_position, self.position)

    @cached_property
    def exit_normal(self) -> Float64Array:
        """Unit outward normal at the exit, zero if the segment ends in the limb, NaN for a miss; (n, 3)."""
        return self._exit(self._first.hits.exit_normal, -self.normal)

    @cached_property
    def thickness(self) -> Float64Array:
        """Length of the segment inside the shape, 0 for a touch or a plane, NaN for a miss; (n,)."""
        return self._exit(self._first.hits.thickness, np.where(self.hit, 0.0, np.nan))

    @cached_property
    def distance(self) -> Float64Array:
        """Distance from the start to the hit point, inf for a miss; (n,)."""
        rays = self._first.rays
        length = np.linalg.norm(rays.ends - rays.starts, axis=1)
        distance = np.full(len(length), np.inf)
        distance[self.hit] = self.fraction[self.hit] * length[self.hit]
        return distance


class MirrorChords:
    """Every shape that each segment crosses, sorted along it, in compressed rows.

    Those of segment i are rows `offsets[i]:offsets[i + 1]`. `ray`, `body`, `link`, `limb` (-1 for planes and what
    Bullet hits), `entry_fraction` and `exit_fraction` (NaN for what Bullet hits) have one entry a chord. A plane's
    chord has no length.
    """

    def __init__(
        self,
        ray: Int64Array,
        limb: Int64Array,
        place: Int32Array,
        fractions: tuple[Float64Array, Float64Array],
        rays: int,
    ) -> None:
        self.ray, self.limb, self._place = ray, limb.astype(np.int32), place
        self.entry_fraction, self.exit_fraction = fractions
        self.offsets: Int64Array = np.concatenate([[0], np.cumsum(np.bincount(ray, minlength=rays))])

    def __len__(self) -> int:
        return len(self.ray)

    def __repr__(self) -> str:
        return f"MirrorChords({len(self)} chords of {len(self.offsets) - 1} rays)"

    @property
    def body(self) -> Int32Array:
        """objectUniqueId; int32, one a chord."""
        return self._place[:, 0]

    @property
    def link(self) -> Int32Array:
        """linkIndex; int32, one a chord."""
        return self._place[:, 1]
