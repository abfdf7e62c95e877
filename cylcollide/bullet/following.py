"""How a mirror follows its client: what each query reads of it, and when."""

from typing import Any, NamedTuple

import numpy as np

from cylcollide.bullet.arguments import MirrorInside
from cylcollide.bullet.client import Client
from cylcollide.bullet.near import FEW_RAYS, NearBodies, few_rays
from cylcollide.bullet.near_bodies import LENGTHS
from cylcollide.bullet.scene import MirrorScene, SceneReader
from cylcollide.bullet.tuples import RayTestResult
from cylcollide.bullet.watch import LAST_CALL, Changed, Changes, filter_calls

NEAR_TESTS = 8
"""How many ray tests after one change read only the bodies near their rays; then a scene of all bodies pays."""


class Known(NamedTuple):
    """The last reading of a client. It is stored as a whole: concurrent readers cannot store a mixture."""

    scene: MirrorScene
    seen: Changed | None
    """The last change that was recorded before the scene was read."""
    filter_calls: int


class Follower:
    """The scene of a client, read when a query needs it.

    `follow`: whether every query reads the client, until `follow_calls` is called.
    """

    def __init__(self, client: Client, reader: SceneReader, inside: MirrorInside, follow: bool) -> None:
        self._client, self._reader, self._inside, self._follow = client, reader, inside, follow
        self._changes: Changes | None = None
        self._near: NearBodies | None = None
        self._near_tests = 0, 0  # the last recorded change of poses, and near tests since then
        self._is_partial = False  # whether a query has read only some bodies
        calls = filter_calls()
        self._known = Known(reader.read(None, True), None, calls)

    @property
    def scene(self) -> MirrorScene:
        """The scene as it was last read."""
        return self._known.scene

    def follow_calls(self, changes: Changes, since: Changed | None = None) -> None:
        """Read the client from now on only after calls in `changes`; `since`: its `last()` before the present scene."""
        self._changes, self._known = changes, self._known._replace(seen=since)

    def sync(self, filters: bool = False) -> MirrorScene:
        """Read the client; `filters`: measure all filters, too."""
        known = self._known
        return self._read(known, known.seen, filters)

    def _read(self, known: Known, seen: Changed | None, filters: bool) -> MirrorScene:
        """The whole scene, read and stored."""
        calls = filter_calls()
        scene = self._reader.read(known.scene, filters or calls != known.filter_calls)
        self._known, self._is_partial = Known(scene, seen, calls), False
        if self._changes is not None:
            self._near = None  # meshes may have changed
        return scene

    def sync_if_due(self) -> MirrorScene:
        """The scene; the client is read if it is followed, and something may have changed."""
        known = self._known
        if self._changes is None:
            return self.sync() if self._follow else known.scene
        now, before = self._changes.last(), known.seen
        is_old = filter_calls() != known.filter_calls or not self._client.is_direct
        if before is None or now[1] != before[1] or is_old:
            return self._read(known, now, before is None)
        if now == before:
            return known.scene
        scene = self._reader.read(known.scene, False, poses_only=True)
        if self._changes.last()[1] != now[1]:  # another thread has changed bodies meanwhile
            return self._read(known, now, False)
        self._known, self._is_partial = known._replace(scene=scene, seen=now), False
        return scene

    @property
    def whole_scene(self) -> MirrorScene:
        """The scene of the last query; read now if that query read only some of the bodies."""
        return self.sync_if_due() if self._is_partial else self.scene

    def near_answers(self, starts: Any, ends: Any, mask: int) -> list[RayTestResult] | None:
        """PyBullet's tuples for a few segments, if nothing but poses has changed since the last scene; else None.

        Also None after `NEAR_TESTS` ray tests since one change.
        """
        (scene, before, calls), changes, near = self._known, self._changes, self._near
        n = len(starts) if isinstance(starts, (list, tuple)) else np.size(starts) // 3
        if LAST_CALL[0] != calls or (n > FEW_RAYS and n > few_rays(len(scene.reading.bodies))):
            return None
        if changes is None:
            if not self._follow:
                return None
        else:
            now, (tested, tests) = changes.last(), self._near_tests
            if before is None or now[0] == before[0] or now[1] != before[1]:
                return None
            if tested != now[0]:
                tests = 0
            self._near_tests = now[0], tests + 1
            if tests >= NEAR_TESTS or not self._client.is_direct:
                return None
        if near is None or LENGTHS[0] != near.lengths or (near.scene is not scene and not near.suits(scene)):
            try:
                if changes is None and not self._reader.bodies_are_those_of(scene):
                    return None
                near = self._near = NearBodies(self._client, scene, self._inside, records_calls=changes is not None)
            except (self._client.api.error, IndexError):  # a body is gone, or another one has its number
                return None
        answers = near.answers(starts, ends, mask)
        if changes is not None and before is not None and changes.last()[1] != before[1]:
            return None  # another thread has changed bodies meanwhile
        self._is_partial = self._is_partial or answers is not None
        return answers
