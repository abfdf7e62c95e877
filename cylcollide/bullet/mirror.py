"""Mirror: the bodies of a PyBullet client as limbs, with PyBullet's ray tests on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import BoolArray, Float64Array
from cylcollide.bullet import arguments, debug_draw
from cylcollide.bullet.arguments import (
    BULLET,
    NOT_GIVEN,
    ONE,
    PLAIN,
    MeshPolicy,
    MirrorInside,
    RayOptions,
    integer,
    ray_options,
    vectors,
)
from cylcollide.bullet.client import BodyLink, Client
from cylcollide.bullet.explain import RayExplanation, explain_ray
from cylcollide.bullet.following import Follower
from cylcollide.bullet.merge_hits import MirrorState, RayTest, numbered
from cylcollide.bullet.mirror_hits import MirrorChords, MirrorHits
from cylcollide.bullet.mirrored_limbs import MirroredLimbs
from cylcollide.bullet.poses import in_world, parent_frame
from cylcollide.bullet.scene import SceneReader
from cylcollide.bullet.thick_hits import cast
from cylcollide.bullet.tuples import MISS, RayTestResult, hit_tuples
from cylcollide.bullet.watch import WatchedClient, changes_of
from cylcollide.limbs.outlines import outlines
from cylcollide.query.arguments import arguments_of


class Mirror(MirroredLimbs):
    """Exact ray tests on the shapes of a live PyBullet client.

    Spheres, boxes, capsules and cylinders of all bodies and links become limbs, planes become exact
    sheets. `rayTest` and `rayTestBatch` take PyBullet's arguments and return PyBullet's tuples, any
    number of rays per call.

    Parameters
    ----------
    client
        What `pybullet.connect` returned, a `BulletClient`, or the module `pybullet` (client 0).
    mesh
        The treatment of meshes, height fields and soft bodies, which are not limbs. "wrap":
        Bullet's own ray test decides about rays that intersect a box around them; a link that has a
        mesh beside other shapes is wrapped as a whole. "raise": a ValueError. "skip": they are left
        out. None: "wrap", with one UserWarning that names them.
    inside
        For a ray that starts in a shape: "ignore" the shape, "hit" it at fraction 0 with a zero
        normal, or hit it where the ray leaves ("exit"). "bullet": as Bullet, which ignores boxes
        and cylinders, and hits spheres and capsules at fraction 0 if the ray goes towards the
        centre, or the nearest point of the axis, with the normal from there; `limb` is -1 for such
        a hit, and it has no exit. Wrapped shapes keep Bullet's behaviour.
    tolerance
        The growth of every limb, as by `Limbs.inflated`, in the unit of the client; planes
        become slabs of this half thickness. With 1e-3, rays that miss by 1 mm hit, as Bullet's may.
        A start in the grown solid is inside. Wrapped shapes do not grow.
    follow
        Whether every query calls `sync` first. If not, call `sync` after each step; queries then do
        not read the client.

    Raises
    ------
    ImportError
        Without pybullet: install the extra `crosscheck`.
    ValueError
        For a client that is not connected, a shape without size, and meshes with `mesh="raise"`.
    """

    def __init__(
        self,
        client: Any,
        *,
        mesh: MeshPolicy | None = None,
        inside: MirrorInside = "ignore",
        tolerance: float = 0.0,
        follow: bool = True,
    ) -> None:
        _, self.inside, self.tolerance = arguments.mirror_options(mesh, inside, tolerance)
        self._client = Client(client)
        self._drawn: list[int] = []
        reader = SceneReader(self._client, mesh or "wrap", self.tolerance, warns=mesh is None)
        self._follower = Follower(self._client, reader, inside, validate.flag(follow, "follow"))

    def __repr__(self) -> str:
        state = self._state
        wrapped = len(state.wrapped.body_links)
        counts = f"{len(state.world.limbs)} limbs, {len(state.sheets)} planes, {wrapped} wrapped"
        grown = f", tolerance {self.tolerance:g}" if self.tolerance else ""
        return f"Mirror(client {self._client.number}: {counts}{grown})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Mirror belongs to its PyBullet client, and has no copies; make another one: Mirror(client)")

    def sync(self, filters: bool = False) -> None:
        """Update the mirror: all poses, and bodies that were added, removed or changed.

        PyBullet does not report collision filters. They are measured with its rays when a body is
        new, its base becomes fixed or free, or this process has called
        `setCollisionFilterGroupMask`, `loadBullet`, `changeDynamics(mass=0)` or a plugin; `filters`
        measures all again. A sync that fails, or is interrupted, leaves the mirror as it was.
        """
        self._follower.sync(validate.flag(filters, "filters"))

    def watch(self) -> WatchedClient:
        """A client with PyBullet's functions, whose calls the mirror follows: `p = mirror.watch()`.

        Its `rayTest` and `rayTestBatch` are the mirror's. It takes the place of the client in the
        program, as a `BulletClient` would. Queries then read the client only after a call that may
        have changed an answer (`docs/bullet.md` lists them). Changes through the module or by
        another process are not read before the next such call or `sync`. A client other than DIRECT
        may change without calls, so every query reads it.
        """
        self._follower.follow_calls(changes_of(self._client))
        return WatchedClient(self._client, {"rayTest": self.rayTest, "rayTestBatch": self.rayTestBatch})

    def rayTest(  # noqa: N802  # PyBullet's name
        self,
        rayFromPosition: ArrayLike,
        rayToPosition: ArrayLike,
        collisionFilterMask: int = NOT_GIVEN,
        reportHitNumber: int = NOT_GIVEN,
        physicsClientId: int | None = None,
    ) -> tuple[RayTestResult]:
        """As `pybullet.rayTest`: one ray, (3,) each; arguments and result as in `rayTestBatch`."""
        names, request = ("rayFromPosition", "rayToPosition"), PLAIN
        if not (NOT_GIVEN is collisionFilterMask is reportHitNumber and physicsClientId is None):
            request = ray_options(1, collisionFilterMask, reportHitNumber, physicsClientId, self._client.number)
        rays = [rayFromPosition], [rayToPosition], request[1]
        found = self._follower.near_answers(*rays) if request[2] < 0 else None
        if found is None:
            starts, ends = vectors(rayFromPosition, names[0], 1), vectors(rayToPosition, names[1], 1)
            found = self._answers(starts, ends, request, names)
        return (found[0],)

    def rayTestBatch(  # noqa: N802  # PyBullet's name
        self,
        rayFromPositions: ArrayLike,
        rayToPositions: ArrayLike,
        numThreads: int = ONE,
        parentObjectUniqueId: int = NOT_GIVEN,
        parentLinkIndex: int = NOT_GIVEN,
        reportHitNumber: int = NOT_GIVEN,
        collisionFilterMask: int = NOT_GIVEN,
        fractionEpsilon: float = arguments.NO_EPSILON,
        physicsClientId: int | None = None,
    ) -> tuple[RayTestResult, ...]:
        """As `pybullet.rayTestBatch`: the first shape along each segment, any number of them, exactly.

        Parameters
        ----------
        rayFromPositions, rayToPositions
            Ends of the closed segments, (n, 3), in the unit of the client.
        numThreads
            Number of threads; 0 for the number of processors. The results are the same.
        parentObjectUniqueId, parentLinkIndex
            If given, rays (not results) are in the frame of this body's or link's centre of mass.
        reportHitNumber
            0: the first shape along the ray, 1: the second … (PyBullet's are not sorted). Below 0:
            the first.
        collisionFilterMask
            Only links whose filter group has a bit in common with the mask are hit.
        fractionEpsilon
            Ignored.
        physicsClientId
            The mirror's own, or None.

        Returns
        -------
        tuple
            One (objectUniqueId, linkIndex, hit fraction, hit position, hit normal) per ray; a miss
            is (-1, -1, 1.0, (0, 0, 0), (0, 0, 0)).

        Raises
        ------
        ValueError
            On NaN, infinity, a wrong shape, arguments that are not numbers or out of range, another
            client, or a parent that does not exist.
        """
        request, found, starts, ends = PLAIN, None, rayFromPositions, rayToPositions
        names = "rayFromPositions", "rayToPositions"
        body, link, number, mask = parentObjectUniqueId, parentLinkIndex, reportHitNumber, collisionFilterMask
        are_given = not (numThreads is ONE and fractionEpsilon is arguments.NO_EPSILON and physicsClientId is None)
        if are_given or not NOT_GIVEN is body is link is number is mask:
            request = ray_options(numThreads, mask, number, physicsClientId, self._client.number)
            parent = BodyLink(integer(body, "parentObjectUniqueId"), integer(link, "parentLinkIndex"))
            arguments.real(fractionEpsilon, "fractionEpsilon")
            if parent.body >= 0:
                first = vectors(starts, names[0])
                last = vectors(ends, names[1], len(first))
                starts, ends = in_world(parent_frame(self._client, parent), first, last)
        if request[2] < 0:
            found = self._follower.near_answers(starts, ends, request[1])
        if found is None:
            first = vectors(starts, names[0])
            found = self._answers(first, vectors(ends, names[1], len(first)), request, names)
        return tuple(found)

    def _answers(
        self, starts: Float64Array, ends: Float64Array, request: RayOptions, names: tuple[str, str]
    ) -> list[RayTestResult]:
        """PyBullet's tuples for segments whose numbers are not checked yet; `names`: their names in messages."""
        thread_count, mask, number = request
        state = self._follower.sync_if_due().state
        if not len(starts):
            return []
        rays = self._rays(starts, ends, mask, thread_count if thread_count > 0 else None)
        try:
            if number >= 0:
                return hit_tuples(len(starts), *numbered(state, rays, number)[0], MISS)
            return MirrorHits(state, rays)._tuples()
        except ValueError:
            for array, name in zip((starts, ends), names, strict=True):
                validate.vectors(array, name)
            raise

    @arguments_of(arguments.mirror_casts)
    def cast_segments(self, request: tuple[arguments.SegmentArguments, ArrayLike]) -> MirrorHits:
        """The first shape along each closed segment, as arrays: at the speed of a `HitWorld`.

        Parameters
        ----------
        starts, ends
            (..., 3), or one for all, in the unit of the client.
        mask
            Only links whose filter group has a bit in common with it are hit; 32 bits.
        threads
            The number of threads; None: one per processor.
        radius
            Of thick rays, one for all or per ray, as in `HitWorld.cast_segments`; planes are slabs.

        Raises
        ------
        ValueError
            NaN, infinity or a wrong shape; a radius with `inside="bullet"` or wrapped shapes.
        """
        segments, radius = request
        return cast(*self._array_request(segments), radius, self._client)

    @arguments_of(arguments.mirror_segments)
    def chords_segments(self, request: arguments.SegmentArguments) -> MirrorChords:
        """Every shape that each segment crosses, sorted along it; arguments as in `cast_segments`."""
        return MirrorChords(*self._array_request(request))

    @arguments_of(arguments.mirror_segments)
    def occluded_segments(self, request: arguments.SegmentArguments) -> BoolArray:
        """Whether each segment hits anything, bool (n,); arguments as in `cast_segments`."""
        state, rays = self._array_request(request)
        if state.sheets or state.wrapped.body_links or rays.cores:
            return MirrorHits(state, rays).fraction < np.inf
        return state.world.occluded_segments(*rays[:2], inside=rays.inside, mask=rays.mask, threads=rays.threads)

    def _array_request(self, request: arguments.SegmentArguments) -> tuple[MirrorState, RayTest]:
        """The scene, and checked rays."""
        starts, ends, mask, threads = request
        rays = self._rays(starts, ends, arguments.layers(mask, "mask"), threads)
        return self._follower.sync_if_due().state, rays

    def _rays(self, starts: Float64Array, ends: Float64Array, mask: int, threads: int | None) -> RayTest:
        """Segments with the mirror's policy."""
        inside = "ignore" if self.inside == BULLET else self.inside
        return RayTest(starts, ends, inside, mask, threads, cores=self.inside == BULLET)

    def explain(self, start: ArrayLike, end: ArrayLike) -> RayExplanation:
        """Why PyBullet and the mirror answer a segment, start and end (3,), as they do.

        `print` it, or `save` it. The search casts some hundred nearby segments in PyBullet.
        """
        first, last = vectors(start, "start", 1), vectors(end, "end", 1)
        return explain_ray(self, validate.in_range(first, "start")[0], validate.in_range(last, "end")[0])

    def debug_draw(
        self,
        hits: Iterable[RayTestResult] = (),
        color: debug_draw.Color = (0.1, 0.6, 0.1),
        hit_color: debug_draw.Color = (0.9, 0.1, 0.1),
    ) -> int:
        """Draw limbs, planes, boxes of wrapped shapes, and a cross at each hit.

        It replaces the previous drawing. `hits`: results of `rayTest` and `rayTestBatch`. Returns
        the number of lines; a DIRECT client shows none.
        """
        parts = [outlines(limbs) for limbs in (self.limbs, self._state.wrapped.boxes)]
        shapes = np.concatenate(parts + [debug_draw.sheet_outline(sheet) for sheet in self._state.sheets])
        colors = debug_draw.checked_color(color, "color"), debug_draw.checked_color(hit_color, "hit_color")
        lines = zip((shapes, debug_draw.crosses(hits)), colors, strict=True)
        self._drawn = debug_draw.draw(self._client, lines, self._drawn)
        return len(self._drawn)
