"""A client's bodies at one moment, for a mirror: read anew, or the last scene with what has changed."""

import warnings
from collections import deque
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.bullet.arguments import MeshPolicy
from cylcollide.bullet.client import BodyLink, Client
from cylcollide.bullet.filters import filter_groups
from cylcollide.bullet.merge_hits import MirrorState
from cylcollide.bullet.passthrough import LARGEST, Wrapped, wrapped_boxes
from cylcollide.bullet.plane import sheet_table
from cylcollide.bullet.pose_loops import Posed, posed_memory
from cylcollide.bullet.poses import FRAME, Placement, by_body, limbs_of, placement, pose, sheets_of
from cylcollide.bullet.read_shapes import Shapes, shape_arrays
from cylcollide.bullet.reader import NOTHING_READ, Reading, read_bodies
from cylcollide.bullet.tuples import read_states
from cylcollide.world import Snapshot
from cylcollide.world.pose_columns import Draft, PoseMemory


class MirrorScene(NamedTuple):
    """All data that a mirror has of its client, stored in one step: an interrupt leaves the old scene or the new."""

    reading: Reading
    shapes: Shapes
    fixed: Placement
    frames: Float64Array  # (m, 7), of the links that `fixed` names
    groups: dict[BodyLink, int]  # the filter group of every link
    state: MirrorState


def _same_bits(new: Float64Array, old: Float64Array) -> bool:
    """Whether two arrays of one shape hold the same bits, which takes a tenth of the time of comparing numbers."""
    return new.tobytes() == old.tobytes()


READINGS = 16
"""How often a client is read before PyBullet's error is passed on: bodies may be removed while they are read."""


class SceneReader:
    """Reads the scenes of a client."""

    def __init__(self, client: Client, mesh: MeshPolicy, tolerance: float, warns: bool) -> None:
        self._client, self._mesh, self._tolerance = client, mesh, tolerance
        self._kept = deque[tuple[Draft, Posed]](maxlen=2)
        """The memory of the last two scenes, each once: only one thread can take it."""
        self._warns, self._warns_of_unnumbered = warns, True  # once each, at the first such body

    def bodies_are_those_of(self, scene: MirrorScene) -> bool:
        """Whether no body came, went or changed its shapes or mass since the scene was read."""
        return not read_bodies(self._client, scene.reading).changed

    def read(self, before: MirrorScene | None, filters: bool, poses_only: bool = False) -> MirrorScene:
        """The client as it is now; `filters`: whether all filters are measured. Nothing of `before` is changed.

        `poses_only`: whether nothing but poses can have changed. If a body is gone, or another one has its number, as
        after calls of another thread, all is read again.
        """
        for reading in range(READINGS - 1):
            with suppress(self._client.api.error, IndexError):
                scene = self._read(before, filters, poses_only and not reading)
                is_moved = before is not None and scene.shapes is before.shapes
                if is_moved or not scene.reading.is_known or self.bodies_are_those_of(scene):
                    return scene
        return self._read(before, filters, False)

    def _read(self, before: MirrorScene | None, filters: bool, poses_only: bool) -> MirrorScene:
        client, read = self._client, None
        are_as_many = before is not None and client.api.getNumBodies(client.number) == len(before.reading.bodies)
        if before is not None and are_as_many and not filters:
            with suppress(client.api.error, IndexError):  # a body is gone
                boxes, frames = wrapped_boxes(client, before.shapes.wrapped), np.empty_like(before.frames)
                read_states(before.fixed.calls, frames)
                read = frames, boxes
        if before is not None and are_as_many and poses_only:
            reading = before.reading._replace(changed=False)
        else:  # after the frames, to detect bodies that another thread has replaced
            reading = read_bodies(client, before.reading if before else NOTHING_READ)
        if before is None or read is None or reading.changed:
            known = {} if before is None or filters else before.groups
            return self._rebuilt(reading, {at: group for at, group in known.items() if at.body in reading.same})
        shapes, fixed, wrapped, (frames, boxes) = before.shapes, before.fixed, before.state.wrapped, read
        if not _same_bits(boxes, wrapped.bounds):
            wrapped = wrapped.moved(boxes)
        elif _same_bits(frames, before.frames):
            return before
        draft, made = self._memory(before)
        pose(client, shapes, fixed, frames, made)
        world = before.state.world._moved(draft)
        sheets, table = before.state.sheets, before.state.sheet_table
        if not _same_bits(frames.take(fixed.of_planes, 0), before.frames.take(fixed.of_planes, 0)):
            sheets = sheets_of(shapes, made, fixed)
            table = sheet_table(sheets, table.group, table.rank)
        state = before.state._replace(world=world, sheets=sheets, sheet_table=table, wrapped=wrapped)
        self._kept.append((draft, made))
        return before._replace(reading=reading, frames=frames, state=state)

    def _memory(self, before: MirrorScene) -> tuple[Draft, Posed]:
        """Memory for the next scene, with its limbs in the draft: that of an earlier scene that nothing reads."""
        layout, nodes = before.state.world._layout, len(before.state.world._tree.child)
        if len(self._kept) == self._kept.maxlen:  # else the only one belongs to this scene
            with suppress(IndexError):  # another thread was faster
                kept = self._kept.popleft()
                if kept[0].suits(layout, nodes):
                    return kept
        draft = Draft(layout, nodes)
        return draft, posed_memory(len(before.shapes.kind), draft.columns)

    def _rebuilt(self, reading: Reading, known: dict[BodyLink, int]) -> MirrorScene:
        """A scene of all bodies; `known`: filter groups that need not be measured."""
        client = self._client
        shapes = shape_arrays(client, reading.rows(), self._mesh, self._tolerance)
        if self._warns and shapes.wrapped:
            self._warns = False
            _warn_of_wrapped(client, reading, shapes.wrapped)
        if self._warns_of_unnumbered and (count := _unnumbered(client)):
            self._warns_of_unnumbered = False
            warnings.warn(
                f"client {client.number}: solids without a body number, as loadBullet makes them, are not mirrored "
                f"(there are {count}): PyBullet does not describe their shapes, so exact rays pass through; make them "
                "by createMultiBody, or load them by loadURDF, loadSDF or loadMJCF",
                RuntimeWarning,
                stacklevel=4,
            )
        fixed = placement(client, shapes)
        frames = np.empty((sum(map(len, fixed.links.values())), FRAME))
        made = posed_memory(len(shapes.kind), PoseMemory(len(fixed.limbs), fixed.boxes, 0, 0).columns)

        def centres() -> Float64Array:
            read_states(fixed.calls, frames)
            pose(client, shapes, fixed, frames, made)
            return made.position.copy()

        groups = filter_groups(client, shapes, centres, known)
        group = np.array([groups[link] for link in shapes.body_links], dtype=np.uint32)[shapes.body_link]
        sheets = sheets_of(shapes, made, fixed)
        rows = np.concatenate([fixed.limbs, fixed.planes])
        links = [shapes.body_links[k] for k in shapes.body_link[rows].tolist()]
        named = [reading.bodies[body].names[link] for body, link in links[: len(fixed.limbs)]]
        world = Snapshot._of(limbs_of(shapes, made, fixed.limbs, group[fixed.limbs], named))
        state = MirrorState(
            world,
            sheets,
            sheet_table(sheets, group[fixed.planes], fixed.planes),
            fixed.limbs,
            np.array([*links, (-1, -1)], dtype=np.int32),
            Wrapped(client, shapes.wrapped, wrapped_boxes(client, shapes.wrapped)),
        )
        return MirrorScene(reading, shapes, fixed, frames, groups, state)


def _unnumbered(client: Client) -> int:
    """How many solids have no body number."""
    return sum(body < 0 for body, _ in client.getOverlappingObjects([-LARGEST] * 3, [LARGEST] * 3) or ())


_named: set[bytes | None] = set()
"""Tokens of the bodies that a warning has named: a client is warned about once, however many mirrors it has."""


def _warn_of_wrapped(client: Client, reading: Reading, body_links: list[BodyLink]) -> None:
    """Warn that Bullet decides about these links, unless this client was warned about before."""
    links = by_body(body_links)
    tokens = {reading.bodies[body].token for body in links}
    if tokens & _named:
        return
    _named.update(tokens)
    names = "; ".join(f"{client.body_name(body)}, links {of_body}" for body, of_body in links.items())
    warnings.warn(
        f"client {client.number}: Bullet's own rays decide about {names}: meshes, height fields, soft bodies, or "
        "shapes that PyBullet does not describe. Their hits are Bullet's, to 1 mm and with its faults; all other "
        "shapes are exact. mesh='wrap' means the same without this warning, mesh='raise' refuses such bodies; load "
        "URDF cylinders and MJCF capsules with flags=URDF_USE_IMPLICIT_CYLINDER",
        UserWarning,
        stacklevel=5,
    )
