"""Results of queries in the past: those of a world, and the moment of each row; and where hits are now."""

from typing import Any, SupportsIndex, overload

from cylcollide._types import BoolArray, Float64Array, Int64Array
from cylcollide.characters.judged import Judged
from cylcollide.history.moments import Moments
from cylcollide.history.present import Touched, present_positions
from cylcollide.query.hits import HitSource, RayHit, RayHits
from cylcollide.query.limb_fields import LimbFields
from cylcollide.query.loops.columns import ChordRows
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.point_hits import PointHits
from cylcollide.query.ray_chords import Chords
from cylcollide.query.request import LabelledLimbs
from cylcollide.runtime.memory import frozen
from cylcollide.world.hit_world import HitWorld


class AtMoments:
    """The moment of each ray or point; arrays that cannot be written."""

    _moments: Moments

    @property
    def time(self) -> Float64Array:
        """The time that was judged; (n,)."""
        return self._moments.time

    @property
    def tick(self) -> Int64Array:
        """The last tick that is not after it, -1 where its time is not kept and nothing is hit; int64 (n,)."""
        return self._moments.tick

    @property
    def alpha(self) -> Float64Array:
        """How far it is from that tick to the next, 0 to 1, nan for tick -1; (n,)."""
        return self._moments.alpha

    @property
    def clamped(self) -> BoolArray:
        """Whether another time was asked for, which is not kept; bool (n,)."""
        return self._moments.clamped


class OnLimbs(AtMoments, LimbFields):
    """Places on limbs of a world's past."""

    _world: HitWorld

    def present_position(self) -> Float64Array:
        """Where these places are now, on limbs that have moved since; (n, 3), NaN for misses and despawned characters.

        The place stays where it is in the frame of its bone. Of bare limbs, and where ends are interpolated, it keeps
        its share of the way between the limb's ends, and what is beside the axis turns by the shortest turn of the
        axis; in a box it keeps its coordinates. Each call reads the present state of the world. In float64, not exact.
        """
        touched = Touched(
            self._row, self.limb, self.character, self.rig_limb, self.bone, self._surface[0], self.local_position
        )
        return frozen(present_positions(touched, self._limbs.table, self._world.snapshot()))


class RewoundHits(OnLimbs, RayHits):
    """`RayHits`, each at its moment; `limb` is a row of `PoseHistory.limbs_at` of that time."""

    def __init__(self, found: HitSource, moments: Moments, world: HitWorld) -> None:
        super().__init__(found)
        self._moments, self._world = moments, world

    @overload
    def __getitem__(self, rows: SupportsIndex) -> RayHit: ...
    @overload
    def __getitem__(self, rows: Any) -> "RewoundHits": ...
    def __getitem__(self, rows: Any) -> "RayHit | RewoundHits":
        """One row, as plain values; the hits of a slice, a mask or an array of indices."""
        part = super().__getitem__(rows)
        return part if isinstance(part, RayHit) else RewoundHits(part._found, self._moments.take(rows), self._world)


class RewoundChords(OnLimbs, Chords):
    """`Chords`, each ray's at its moment: `time`, `tick`, `alpha` and `clamped` have one entry a ray."""

    def __init__(
        self, batch: RayBatch, limbs: LabelledLimbs, rows: ChordRows, moments: Moments, world: HitWorld
    ) -> None:
        super().__init__(batch, limbs, rows)
        self._moments, self._world = moments, world

    @property
    def moments(self) -> Moments:
        """The moment of each ray."""
        return self._moments

    @property
    def judged_limbs(self) -> LabelledLimbs:
        """The limbs that the rays were judged against."""
        return self._state

    def __getitem__(self, rays: Any) -> "RewoundChords":
        """The chords of the rays that an index, a slice, a mask or an array of indices chooses."""
        part = super().__getitem__(rays)
        return RewoundChords(part._batch, part._state, part._rows, self._moments.take(rays), self._world)


class RewoundJudged(OnLimbs, Judged):
    """`Judged`, each ray at its moment."""

    @classmethod
    def of(cls, judged: Judged, moments: Moments, world: HitWorld) -> "RewoundJudged":
        """The same, with moments."""
        made = cls.__new__(cls)
        vars(made).update(vars(judged), _moments=moments, _world=world)
        return made


class RewoundPoints(AtMoments, PointHits):
    """`PointHits`, each point at its moment."""

    @classmethod
    def of(cls, points: PointHits, moments: Moments) -> "RewoundPoints":
        """The same, with moments."""
        made = cls.__new__(cls)
        vars(made).update(vars(points), _moments=moments)
        return made
