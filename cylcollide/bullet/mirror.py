"""Mirror: the bodies of a PyBullet client as limbs, with PyBullet's ray tests on them."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import ALL_LAYERS, Float64Array, InsidePolicy, Uint32Array
from cylcollide.bullet import debug_draw
from cylcollide.bullet.client import Client, Place
from cylcollide.bullet.filters import filter_groups
from cylcollide.bullet.merge_hits import MirrorState, RayTest, RayTestResult, closest, numbered
from cylcollide.bullet.passthrough import Wrapped
from cylcollide.bullet.plane import Sheet
from cylcollide.bullet.poses import Frames, limb_ends, limb_rows, limbs_of, link_frames, shape_frames
from cylcollide.bullet.read_shapes import BOX, PLANE, MeshPolicy, Reader, Row, Shapes
from cylcollide.limbs.limbs import Limbs
from cylcollide.shapes import rotation_matrices
from cylcollide.world import HitWorld


class Mirror:
    """Exact ray tests on the shapes of a live PyBullet client.

    Spheres, boxes, capsules and cylinders of all bodies and links become limbs, planes become exact sheets. `rayTest`
    and `rayTestBatch` take PyBullet's arguments and return PyBullet's tuples, any number of rays a call.

    Parameters
    ----------
    client
        What `pybullet.connect` returned, a `BulletClient`, or the module `pybullet` (client 0).
    mesh
        What to do with meshes, height fields and soft bodies, which no limb can represent: "raise" a ValueError, "skip"
        them, or "wrap" them: Bullet's own ray test decides about rays that intersect a box around them. A link that has
        a mesh beside other shapes is wrapped as a whole.
    inside
        What a ray does with a shape that it starts in: "ignore" it, as Bullet does with boxes and cylinders, "hit" it
        at fraction 0 with a zero normal, or hit it where it leaves ("exit"). Wrapped shapes keep Bullet's behaviour.
    follow
        Whether every query calls `sync` first. If not, call it after each step; queries then do not read the client.

    Raises
    ------
    ImportError
        Without pybullet: install `cylcollide[crosscheck]`.
    ValueError
        For a client that is not connected, a shape without size, and for meshes if they are to raise.
    """

    def __init__(
        self, client: Any, *, mesh: MeshPolicy = "raise", inside: InsidePolicy = "ignore", follow: bool = True
    ) -> None:
        validate.policy(inside)
        self._client = Client(client)
        self._reader = Reader(self._client, mesh)
        self._inside, self._follow = inside, follow
        self._found: dict[Place, tuple[Row, ...] | None] | None = None
        self._drawn: list[int] = []
        self._shapes: Shapes
        self._frames: Frames
        self._groups: Uint32Array
        self._world: HitWorld
        self._state: MirrorState
        self.sync()

    @property
    def limbs(self) -> Limbs:
        """The limbs where they were at the last `sync`; their masks are the filter groups, 0 if no ray can hit them."""
        return self._state.world.limbs

    @property
    def limb_places(self) -> list[Place]:
        """Body and link of every limb."""
        return [self._state.rank_place[rank] for rank in self._state.limb_rank.tolist()]

    @property
    def sheets(self) -> list[Sheet]:
        """The planes."""
        return self._state.sheets

    def __repr__(self) -> str:
        return (
            f"Mirror(client {self._client.number}: {len(self.limbs)} limbs, {len(self.sheets)} planes, "
            f"{len(self._shapes.wrapped)} wrapped)"
        )

    def sync(self, filters: bool = False) -> None:
        """Update the mirror from the client: all poses, and bodies that were added, removed or changed.

        PyBullet does not report collision filters. They are measured with its rays when bodies change; `filters`
        measures them again, after `setCollisionFilterGroupMask`. A sync that fails leaves the mirror as it was.
        """
        found = self._reader.read()
        rebuilt = filters or self._found is None or found != self._found
        shapes = self._reader.shapes(found) if rebuilt else self._shapes
        frames = shape_frames(shapes, link_frames(self._client, shapes.places))
        if not rebuilt and not shapes.wrapped and _same(frames, self._frames):
            return
        limbs = limb_rows(shapes)
        if rebuilt:
            groups = filter_groups(self._client, shapes, frames)[shapes.place]
            world = HitWorld(limbs_of(shapes, frames, limbs, groups[limbs]))
        else:
            groups, world = self._groups, self._moved(frames)
        self._shapes, self._frames, self._groups, self._world, self._found = shapes, frames, groups, world, found
        sheets = np.flatnonzero(shapes.kind == PLANE)
        self._state = MirrorState(
            world.snapshot(),
            _sheets(shapes, frames),
            groups[sheets],
            limbs,
            sheets,
            [shapes.places[k] for k in shapes.place.tolist()],
            Wrapped(self._client, [shapes.places[k] for k in shapes.wrapped]),
        )

    def rayTest(  # noqa: N802  # PyBullet's name
        self,
        rayFromPosition: ArrayLike,
        rayToPosition: ArrayLike,
        collisionFilterMask: int = -1,
        reportHitNumber: int = -1,
        physicsClientId: int | None = None,
    ) -> tuple[RayTestResult]:
        """As `pybullet.rayTest`: one ray, (3,) each; arguments and result as of `rayTestBatch`."""
        starts, ends = (
            validate.vectors(rayFromPosition, "rayFromPosition", 1),
            validate.vectors(rayToPosition, "rayToPosition"),
        )
        keywords = {"collisionFilterMask": collisionFilterMask, "reportHitNumber": reportHitNumber}
        (result,) = self.rayTestBatch(starts, ends, physicsClientId=physicsClientId, **keywords)
        return (result,)

    def rayTestBatch(  # noqa: N802  # PyBullet's name
        self,
        rayFromPositions: ArrayLike,
        rayToPositions: ArrayLike,
        numThreads: int = 1,
        parentObjectUniqueId: int = -1,
        parentLinkIndex: int = -1,
        reportHitNumber: int = -1,
        collisionFilterMask: int = -1,
        fractionEpsilon: float = -1.0,  # noqa: ARG002  # PyBullet's argument
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
            If given, the rays are in the frame of the centre of mass of this body or link; the results are not.
        reportHitNumber
            From 0: the shape of this number in the order along the ray (PyBullet's are not sorted). Below 0: the first.
        collisionFilterMask
            Only links whose filter group has a bit in common with it are hit.
        fractionEpsilon
            Ignored.
        physicsClientId
            The mirror's own, or None.

        Returns
        -------
        tuple
            One (objectUniqueId, linkIndex, hit fraction, hit position, hit normal) a ray; a miss is
            (-1, -1, 1.0, (0, 0, 0), (0, 0, 0)).

        Raises
        ------
        ValueError
            On NaN, infinity, a wrong shape, another client, or a parent that does not exist.
        """
        starts = validate.vectors(rayFromPositions, "rayFromPositions")
        ends = validate.vectors(rayToPositions, "rayToPositions", len(starts))
        if physicsClientId not in (None, self._client.number):
            raise ValueError(
                f"physicsClientId: expected {self._client.number}, got {physicsClientId}; make it a Mirror"
            )
        if self._follow:
            self.sync()
        if parentObjectUniqueId >= 0:
            frame = self._parent(Place(parentObjectUniqueId, parentLinkIndex))
            starts, ends = frame.points(starts), frame.points(ends)
        threads = numThreads if numThreads > 0 else None
        rays = RayTest(starts, ends, self._inside, int(collisionFilterMask) & ALL_LAYERS, threads)
        if not len(starts):
            return ()
        if reportHitNumber >= 0:
            return tuple(numbered(self._state, rays, reportHitNumber))
        return tuple(closest(self._state, rays))

    def debug_draw(
        self,
        hits: Iterable[RayTestResult] = (),
        color: tuple[float, float, float] = (0.1, 0.6, 0.1),
        hit_color: tuple[float, float, float] = (0.9, 0.1, 0.1),
    ) -> int:
        """Draw limbs, planes, boxes of wrapped shapes, and a cross at each hit; replaces what was drawn before.

        `hits`: what `rayTest` and `rayTestBatch` returned. Returns the number of lines; a DIRECT client shows none.
        """
        for item in self._drawn:
            self._client.removeUserDebugItem(item)
        parts = [debug_draw.outlines(self.limbs), debug_draw.outlines(self._state.wrapped.boxes)]
        shapes = np.concatenate(parts + [debug_draw.sheet_outline(sheet) for sheet in self.sheets])
        at_hits = debug_draw.crosses(hits)
        items = [self._line(line, color) for line in shapes] + [self._line(line, hit_color) for line in at_hits]
        self._drawn = [item for item in items if item >= 0]
        return len(items)

    def _line(self, line: Float64Array, color: tuple[float, float, float]) -> int:
        return int(self._client.addUserDebugLine(line[0].tolist(), line[1].tolist(), lineColorRGB=list(color)))

    def _moved(self, frames: Frames) -> HitWorld:
        """The world with its limbs moved to these frames; a new world if a box turned, since its axes change."""
        shapes, limbs = self._shapes, limb_rows(self._shapes)
        boxes = shapes.kind == BOX
        if not np.array_equal(frames.rotation[boxes], self._frames.rotation[boxes]):
            return HitWorld(limbs_of(shapes, frames, limbs, self._groups[limbs]))
        if not _same(frames, self._frames):
            self._world.set_endpoints(*limb_ends(shapes, frames, limbs))
        return self._world

    def _parent(self, place: Place) -> Frames:
        """The frame of the centre of mass of one body or link."""
        places = self._shapes.places
        if place not in places:
            raise ValueError(
                f"parentObjectUniqueId, parentLinkIndex: expected a body and link of the client, got {tuple(place)}; "
                "the base has link -1"
            )
        row = np.array([places.index(place)])
        return link_frames(self._client, places).of(row)


def _same(new: Frames, old: Frames) -> bool:
    """Whether all frames are equal."""
    return np.array_equal(new.position, old.position) and np.array_equal(new.rotation, old.rotation)


def _sheets(shapes: Shapes, frames: Frames) -> list[Sheet]:
    """The planes at their frames."""
    rows = np.flatnonzero(shapes.kind == PLANE)
    normals = np.einsum("nij,nj->ni", rotation_matrices(frames.rotation[rows]), shapes.size[rows])
    points = frames.position[rows]
    return [
        Sheet((p[0], p[1], p[2]), (n[0], n[1], n[2])) for p, n in zip(points.tolist(), normals.tolist(), strict=True)
    ]
