"""The queries of a world and of its snapshots."""

from __future__ import annotations

from abc import abstractmethod
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, Self

from numpy.typing import ArrayLike

from cylcollide._types import BoolArray
from cylcollide.characters.judge import GroupedState, ShotRequest, judge, ray_shots, segment_shots
from cylcollide.characters.judged import Judged
from cylcollide.limbs.figures import PORT, viewer_of
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.pictures import Scene, scene_figure
from cylcollide.limbs.shot_figure import ends_of_shot, first_hit, shot_figure
from cylcollide.process.signatures import Shown
from cylcollide.query.arguments import arguments_of
from cylcollide.query.blades import SweepRequest, SweptHits, sweep, sweep_request
from cylcollide.query.boxes import BoxRequest, box_request, overlap_boxes
from cylcollide.query.chords import Chords, chords
from cylcollide.query.closest import closest, occluded
from cylcollide.query.doubts import Doubts, doubt, doubt_request
from cylcollide.query.hits import RayHits
from cylcollide.query.near_requests import NearRequest, closest_request, sphere_request, within_request
from cylcollide.query.nearest import ClosestPoints, NearLimbs, closest_points, near_limbs
from cylcollide.query.overlaps import Overlaps, capsule_request, overlaps_of
from cylcollide.query.points import PointHits, contains
from cylcollide.query.request import PointRequest, RayRequest, point_request, ray_request, segment_request

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class WorldState(GroupedState, Protocol):
    """The part of a world that queries read: the immutable columns and tree of its limbs at one moment."""

    @property
    def limbs(self) -> Limbs:
        """The limbs at that moment."""

    def _scene(self) -> Scene:
        """The limbs at that moment, for pictures."""


class Queries(metaclass=Shown):
    """The queries of a world and of a snapshot.

    They share these arguments. `inside`: the answer for a ray that starts in a limb, a hit at
    fraction 0 ("hit"), a hit where it leaves ("exit"), or no hit of this limb ("ignore"). `mask`:
    the layers whose limbs are tested, (n,) or one for all. `ignore_character`: the character whose
    limbs are skipped, (n,) or one for all. `threads`: the number of threads (None: one per
    processor). Starts and ends, or origins and directions, are paired row by row; a single one
    stands for all rows. Bad input raises a ValueError that names the first bad row; accepted
    numbers are at most 2**500 in magnitude.
    """

    @abstractmethod
    def snapshot(self) -> WorldState:
        """An immutable view of the present state; queries on it are safe while the world moves on."""

    @property
    def limbs(self) -> Limbs:
        """The limbs at their present places."""
        return self.snapshot().limbs

    def __len__(self) -> int:
        return len(self.snapshot()._table.kernel_shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} limbs)"

    def view(self, *, up: str = "auto", port: int = PORT, open_browser: bool = True) -> Any:
        """Show the present limbs in a browser on this machine, without a network; see `docs/view.md`.

        Parameters
        ----------
        up
            The axis that points up, "y" or "z"; "auto": the one along which characters are tall.
        port
            The local port; if it is taken, the next free one.
        open_browser
            Whether to open a browser. None opens without a display, nor in a notebook, which shows
            the viewer itself.

        Returns
        -------
        cylcollide.view.Viewer
            Served at its `url` until `close()`. `wait()` keeps the program running;
            `save_html(path)` and `save_png(path)` write files.

        Raises
        ------
        ImportError
            Without viser: install the extra `view`.
        """
        return viewer_of(self, up, port, open_browser)

    @arguments_of(segment_request)
    def cast_segments(self, request: RayRequest) -> RayHits:
        """The first limb along each closed segment; starts, ends (n, 3), or (3,) for all."""
        return closest(self.snapshot(), request)

    @arguments_of(ray_request)
    def cast_rays(self, request: RayRequest) -> RayHits:
        """The first limb along each ray; origins, directions (n, 3), or (3,) for all.

        `max_distance` (a length, one or one per ray) limits `fraction` to `max_distance /
        |direction|`.
        """
        return closest(self.snapshot(), request)

    @arguments_of(segment_request)
    def occluded_segments(self, request: RayRequest) -> BoolArray:
        """Whether each closed segment hits any limb; bool (n,)."""
        return occluded(self.snapshot(), request)

    @arguments_of(ray_request)
    def occluded_rays(self, request: RayRequest) -> BoolArray:
        """Whether each ray hits any limb; bool (n,)."""
        return occluded(self.snapshot(), request)

    @arguments_of(segment_request)
    def chords_segments(self, request: RayRequest) -> Chords:
        """Every limb that each closed segment crosses, sorted by entry.

        The chord of a limb that contains the start begins at fraction 0 with face INSIDE. "exit"
        omits this limb if the ray ends in it, "ignore" always omits it.
        """
        return chords(self.snapshot(), request)

    @arguments_of(ray_request)
    def chords_rays(self, request: RayRequest) -> Chords:
        """Every limb that each ray crosses, sorted by entry; as `chords_segments`."""
        return chords(self.snapshot(), request)

    @arguments_of(segment_shots, before="_before_shots")
    def judge_segments(self, request: ShotRequest) -> Judged:
        """Which limb of each closed segment counts, and the damage by the policy.

        `policy`: one for all rows, or a sequence with one per row, the same for all pellets of a
        shot; results equal those of separate calls. `shot`: integers (n,), equal for all pellets of
        a shot, which `Judged.by_shot` sums. Limbs and their order are those of `chords_segments`.
        A limb that contains the start is entered there, unless `inside` omits it.
        """
        return self._judge(request)

    @arguments_of(ray_shots, before="_before_shots")
    def judge_rays(self, request: ShotRequest) -> Judged:
        """Which limb of each ray counts; as `judge_segments`. For a wall set `max_distance`."""
        return self._judge(request)

    def _before_shots(self) -> Self:
        """Itself; called before shots are judged, even if their arguments are then refused."""
        return self

    def _judge(self, request: ShotRequest) -> Judged:
        return judge(self.snapshot(), request)

    @arguments_of(doubt_request)
    def doubt_segments(self, request: RayRequest) -> Doubts:
        """Whether each closed segment hits any limb, if each limb may be anywhere within `radius`.

        Distances are from the limb's place. CERTAIN and EXCLUDED are proved; DEPENDS means that
        neither is. Radius 0 gives the exact verdict.
        """
        return doubt(self.snapshot(), request)

    @arguments_of(sweep_request)
    def sweep_capsules(self, request: SweepRequest) -> SweptHits:
        """The first limb that each blade touches, a capsule moving from p1, p2 to `to_p1`, `to_p2`.

        Its ends move straight. The true first contact lies in [fraction - resolution, fraction];
        `undecided` marks rows where this is not proved.
        """
        return sweep(self.snapshot(), request)

    @arguments_of(point_request)
    def contains_points(self, request: PointRequest) -> PointHits:
        """The limb of lowest index that contains each point (n, 3), axis distance², number of limbs."""
        return contains(self.snapshot(), request)

    @arguments_of(closest_request)
    def closest_points(self, request: NearRequest) -> ClosestPoints:
        """The limb of least distance from each point (n, 3), negative inside, and its nearest place.

        Limbs farther away than `max_distance`, (n,) or one for all, are missed. Of equally near
        limbs the lowest row is taken; of equally near places the lowest `Face`, then the end of p1,
        then the direction from the axis that is nearest to +x, or to +y if the axis is along x.
        Inside several limbs it is the one in which the point lies deepest.
        """
        return closest_points(self.snapshot(), request)

    @arguments_of(within_request)
    def points_within(self, request: NearRequest) -> NearLimbs:
        """All limbs within a radius, (n,) or one for all, of each point (n, 3), by distance, then row."""
        return near_limbs(self.snapshot(), request)._by_distance()

    @arguments_of(sphere_request)
    def overlap_spheres(self, request: NearRequest) -> NearLimbs:
        """All limbs that each ball touches, by row; centers (n, 3), radii 0 or more, (n,) or one."""
        return near_limbs(self.snapshot(), request)

    @arguments_of(box_request)
    def overlap_boxes(self, request: BoxRequest) -> Overlaps:
        """All limbs that each box touches or overlaps, by row.

        Boxes are given as to `Limbs.boxes`: center, half_extents (n, 3), orientation (n, 4),
        quaternions x, y, z, w. Results are exact for balls, capsules and boxes; other limbs within
        2**-40 of the size of touching are `undecided`.
        """
        return overlap_boxes(self.snapshot(), request)

    @arguments_of(capsule_request)
    def overlap_capsules(self, request: RayRequest) -> Overlaps:
        """All limbs that each capsule touches, by row; p1, p2 (n, 3), radii 0 or more, (n,) or one."""
        return overlaps_of(chords(self.snapshot(), request))

    def plot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        focus: ArrayLike | None = None,
        shot: ArrayLike | None = None,
        ignore_character: int | None = None,
        unit: str = "m",
    ) -> Figure:
        """A figure of the limbs: a map of characters, characters from three sides, or a shot.

        Parameters
        ----------
        path
            File to write, its format given by its suffix; None writes nothing.
        focus
            Ids of characters to show, one or several; None: all, or with `shot` the character that
            it hits or misses.
        shot
            Start and end of a segment, (2, 3): the limb it hits is green; if it misses, the gap to
            the nearest limb is red.
        ignore_character
            The character that the shot ignores, such as the shooter.
        unit
            Unit of lengths, for the labels of the axes.

        Raises
        ------
        ValueError
            If a character in focus has no limbs, and on bad numbers.
        ImportError
            Without matplotlib: install the extra `plot`.
        """
        name, state = f"{type(self).__name__}.plot", self.snapshot()
        scene = state._scene()
        if shot is None:
            return scene_figure(name, scene, focus, f"{self!r}", path, unit)
        start, end = ends_of_shot(shot)
        crossed = chords(state, segment_request(start, end, ignore_character=ignore_character))
        drawn = first_hit(scene, crossed, start[0], end[0], ignore_character, focus)
        return shot_figure(name, scene, drawn, drawn.verdict(scene, unit), path, unit, focus)
