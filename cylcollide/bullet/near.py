"""Tests of a few rays after a step: only the bodies that they may hit are read, placed and tested, without a tree.

The base frame of every body is read, or the base's box if the base is at its centre, which takes half the time.
For any positions of the joints, all shapes are within a radius of that place: the lengths from joint to joint plus the
positions of sliding joints. If a ray comes that near, some links are read, so that a joint connects each other link to
one of them; if rays have come near a body repeatedly, this is done without reading its box. Other links are read if a
ray may hit them. So no bound on speed is needed, nor PyBullet's boxes of links, which lag a step behind.

If calls are not recorded, bodies are checked for changes: tokens of all; masses of those whose filter groups depend on
them; shapes of those that rays come near, as the box of a base is always that of its present shapes, and shapes of all
bodies that may share a base's shape. Planes do not change their shapes.
"""

from collections import deque
from collections.abc import Callable
from functools import partial
from math import inf, nan
from typing import Any, TypeAlias

import numpy as np

from cylcollide import validate
from cylcollide._types import ALL_LAYERS, Float64Array, Int64Array, Vectors
from cylcollide.bullet.arguments import BULLET, MirrorInside, are_rows, vectors
from cylcollide.bullet.client import BASE, BodyLink, Client
from cylcollide.bullet.filters import DEFAULT, STATIC
from cylcollide.bullet.near_bodies import ARMS, LENGTHS, NearBody, near_bodies
from cylcollide.bullet.near_loops import LINKS_PER_RAY, UNDECIDED, NearMemory, NearShapes, cast_near, enter_meshes
from cylcollide.bullet.near_marks import LINKS_FIRST, mark_near
from cylcollide.bullet.passthrough import PADDING
from cylcollide.bullet.pose_loops import BOX, PLANE, posed_memory
from cylcollide.bullet.read_shapes import ball_radii
from cylcollide.bullet.reader import shapes_check, unchanged
from cylcollide.bullet.scene import MirrorScene
from cylcollide.bullet.tuples import MISS, Call, RayTestResult, hit_tuples, read_rows, read_states, results_unchanged
from cylcollide.kernels.ray import Rays
from cylcollide.query.loops.columns import empty_hits
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.surface import BLOCK, make_surface_queue
from cylcollide.runtime.compile import pack
from cylcollide.runtime.simd import LANES
from cylcollide.world.pose_columns import PoseMemory

FEW_RAYS, MOST_RAYS, PAIRS = 128, 1024, 20_000
"""Testing FEW_RAYS rays, or PAIRS pairs of a ray and a body (at most MOST_RAYS rays), is faster than making a tree."""

_Kept: TypeAlias = tuple[NearMemory, Any, Vectors, Vectors, tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]
"""Memory of a ray test, also packed, its starts and ends, and arguments to read bodies, read links and make tuples."""


def few_rays(bodies: int) -> int:
    """The largest number of rays for `NearBodies`, given the number of bodies."""
    return max(FEW_RAYS, min(MOST_RAYS, PAIRS // max(bodies, 1)))


class NearBodies:
    """The bodies of a scene, prepared for rays that come near few of them.

    `records_calls`: whether this is dropped after calls that change more than poses; if not, bodies are checked.
    """

    def __init__(self, client: Client, scene: MirrorScene, inside: MirrorInside, records_calls: bool) -> None:
        shapes, state, self._client, self.scene, self.lengths = scene.shapes, scene.state, client, scene, LENGTHS[0]
        self._policy, self._cores = validate.policy("ignore" if inside == BULLET else inside), inside == BULLET
        beyond = np.linalg.norm(shapes.position, axis=1) + ball_radii(shapes.kind, shapes.size)
        is_limb, is_box = shapes.kind != PLANE, shapes.kind == BOX
        found = near_bodies(client, scene, np.where(is_limb, beyond, 0.0), self.lengths, records_calls)
        first_link = _starts([len(one.first) + len(one.rest) for one in found], len(found))
        first_rest = first_link[:-1] + np.array([len(one.first) for one in found], np.int64)
        first_box = _starts([len(one.wrapped) for one in found])
        first_slide = _starts([len(one.sliding) for one in found])
        box_reach = np.array([reach for one in found for reach, _ in one.wrapped])
        frames = int(first_link[-1])
        holders, arms, ball = np.zeros((frames, 2), np.int64), np.zeros((frames, ARMS)), np.full(frames, -inf)
        at = list[int]()
        for b, one in enumerate(found):
            frame = {link: int(first_link[b]) + k for k, link in enumerate([*one.first, *one.rest])} | {BASE: b}
            at += [frame[link] for link in one.links]
            for link, (first, second, numbers) in one.holds.items():
                holders[frame[link]], arms[frame[link]] = (frame[first], frame[second]), numbers
        self._at = np.array(at, np.int64)
        np.maximum.at(ball, self._at[is_limb], beyond[is_limb])
        first_shape, (filled, firsts) = np.zeros(frames, np.int64), np.unique(self._at, return_index=True)
        first_shape[filled] = firsts
        self._shapes = NearShapes(
            np.array([one.is_centred for one in found], bool), np.array([one.is_bare for one in found], bool),
            first_link, first_rest, first_box, first_slide, self.lengths[1], 2.0 * shapes.tolerance,
            np.array([one.reach for one in found]), box_reach, ball, holders, arms,
            first_shape,
            np.bincount(self._at, minlength=frames),
            self._at[~is_limb], scene.frames.take(scene.fixed.of_planes, axis=0).view(np.int64), self._at,
            np.cumsum(is_limb) - is_limb, np.cumsum(is_box) - is_box, is_limb, beyond,
            shapes.kind, shapes.size, shapes.position, shapes.rotation,
            state.sheet_table, state.limb_rank, state.shape_link,
        )  # fmt: skip
        looked_at = {one.body for one in found if one.is_checked_if_near}
        known, count = scene.reading.bodies, (client.api.getNumBodies, (client.number,))
        self._unchanged: list[Callable[[], bool]] = [
            partial(results_unchanged, ((*count, len(known)),))
            if records_calls
            else unchanged(client, known, masses, known.keys() - looked_at)
            for masses in _masses(scene)
        ]
        """The check for rays that hit all groups, and the one for other rays."""
        self._set_calls(found, records_calls)
        self._packed, self._has_boxes, self._count = pack(self._shapes), box_reach.size > 0, len(known)
        self._bodies = partial(count[0], *count[1])
        self._kept = deque[_Kept](maxlen=2)

    def _set_calls(self, found: list[NearBody], records_calls: bool) -> None:
        """Make the calls that read the bodies, with the rows that they fill; loops choose one of two per body."""
        api, number, own = self._client.api, self._client.number, self._shapes
        first_link, first_rest = own.first_link.tolist(), own.first_rest.tolist()
        first_box, first_slide = own.first_box.tolist(), own.first_slide.tolist()
        self._places, self._base_boxes = list[tuple[Call | None, Call | None]](), list[tuple[Call | None, None]]()
        self._bases, self._links = list[tuple[None, Call | None]](), list[tuple[None, Call | None]]()
        self._rest, self._slides, self._boxes = list[Call](), list[Call](), list[list[Call]]()
        of_bases = [shapes_check(self._client, BodyLink(one.body, BASE), one.base) if one.base is not None else None
                    for one in found]  # fmt: skip
        self._of_bases = () if records_calls or not any(of_bases) else tuple(of_bases)
        for b, one in enumerate(found):
            base = api.getBasePositionAndOrientation, (one.body, number), b
            first = (api.getLinkStates, (one.body, one.first, 0, 1, number), first_link[b]) if one.first else None
            late = one.body, one.rest, 0, int(not one.first), number  # forward kinematics, if the first read had none
            self._places.append((None, first if one.is_bare else base) if one.is_centred else (base, base))
            self._base_boxes.append(((api.getAABB, (one.body, BASE, number), b) if one.is_centred else None, None))
            self._bases.append((None, base))
            self._links.append((None, first))
            self._rest += [(api.getLinkStates, late, first_rest[b])] if one.rest else []
            self._slides += [(api.getJointStateMultiDof, (one.body, joint, number), k)
                             for k, joint in enumerate(one.sliding, first_slide[b])]  # fmt: skip
            self._boxes.append([(api.getAABB, (*link, number), k)
                                for k, (_, link) in enumerate(one.wrapped, first_box[b])])  # fmt: skip

    def suits(self, scene: MirrorScene) -> bool:
        """Whether the scene has the same shapes and filters, and the same planes in the same places."""
        return self.scene.shapes is scene.shapes and self.scene.state.sheets is scene.state.sheets

    def _memory(self) -> _Kept:
        """New memory for one ray test, also packed for loops, and arguments of the functions that fill and read it."""
        layout, count = self.scene.state.world._layout, len(self._links)
        few, eights = few_rays(self._count), -(-count // LANES) * LANES
        columns = PoseMemory(layout.rows, layout.boxes, 0, 0).columns
        table = columns.table(layout)
        frames = np.tile([0.0] * 6 + [1.0], (len(self._shapes.ball), 1))
        frames[self._shapes.plane_at] = nan  # NaN until the plane is read
        made = posed_memory(len(self._at), columns)
        boxes, rays = np.zeros((len(self._shapes.box_reach), 6)), np.empty((4, few, 3))
        segments = Rays(rays[0], rays[1], True, validate.NO_LIMIT, validate.NO_RADIUS)
        batch = RayBatch(segments, np.empty(1, np.uint32), validate.IGNORE_NONE, self._policy)
        memory = NearMemory(
            frames, frames.view(np.int64), boxes, np.zeros((self._shapes.first_slide[-1], 2)), np.zeros(count),
            np.zeros((4, eights)), np.zeros(eights),
            np.zeros(count, np.int64), np.zeros(count, np.int64), np.empty(count, bool),
            np.empty((few, eights // LANES), np.int64), np.zeros((count, 6)), np.full((6, eights), inf),
            np.zeros((4, len(frames) + LANES)), np.empty(count, np.int64), np.empty(count, np.int64),
            np.empty(count, np.int64),
            np.zeros(len(frames), bool), np.zeros(len(frames), bool), np.empty((few * LINKS_PER_RAY, 2), np.int32),
            np.empty(len(self._at), bool),
            made, table, table.kernel_rows, batch, empty_hits(few),
            np.empty(few, np.int32), np.empty(few), rays[2], rays[3], np.empty(few, np.int64),
            np.empty((few, 2), np.int32), make_surface_queue(), np.empty(BLOCK, np.int32),
        )  # fmt: skip
        by_bases = self._places, frames, memory.read, self._base_boxes, memory.around, memory.read
        by_links = self._bases, frames, memory.unplaced, self._links, frames, memory.unread
        slides = (self._slides, memory.slides, None) if self._slides else ()
        found = memory.body_link, memory.fraction, memory.position, memory.normal, MISS
        return memory, pack(memory), rays[0], rays[1], (*by_bases, *slides), by_links, found

    def answers(self, starts: Any, ends: Any, mask: int) -> list[RayTestResult] | None:
        """PyBullet's tuples for a few segments.

        None if the arguments are not such segments, if more has to be read, or if exact arithmetic has to decide. All
        arrays are made and all names looked up in advance: after a step, either takes longer than a ray.
        """
        try:
            kept = self._kept.pop()  # only one thread can take it
        except IndexError:
            kept = self._memory()
        memory, packed, origin, second, by_bases, by_links, columns = kept
        shapes, of_bases = self._packed, self._of_bases
        try:
            n = read_rows(starts, origin) or _written(starts, origin)
            if n == 0 or n != (read_rows(ends, second) or _written(ends, second)):
                return None
            if self._bodies() != self._count:  # PyBullet prints warnings about removed bodies
                return None
            read_states(*by_bases)
            links = mark_near(shapes, packed, n, True)
            if of_bases and not results_unchanged(of_bases, memory.near):
                return None
            if links == LINKS_FIRST:
                read_states(*by_links)
                links = mark_near(shapes, packed, n, False)
            if links == UNDECIDED:
                return None
            if links:
                read_states(self._rest, memory.frames, memory.wanted)
            if not self._unchanged[mask != ALL_LAYERS]():  # after reading, to detect earlier replacements
                return None
            if cast_near(shapes, packed, n, mask, self._cores) == UNDECIDED:
                return None
            found = hit_tuples(n, *columns)
            return self._before_meshes(found, n, mask, memory, packed) if self._has_boxes else found
        except (self._client.api.error, IndexError):  # a body is gone, or another one has its number
            return None
        finally:
            self._kept.append(kept)

    def _before_meshes(
        self, found: list[RayTestResult], n: int, mask: int, memory: NearMemory, packed: Any
    ) -> list[RayTestResult] | None:
        """The answers `found` for n segments, replaced by earlier hits of wrapped links; None if undecided."""
        wrapped = zip(self._boxes, memory.wrapped.tolist(), strict=True)
        read_states([call for calls, count in wrapped for call in calls[:count]], memory.boxes)
        count = enter_meshes(self._packed, packed, n, PADDING)
        if count == UNDECIDED:
            return None
        if count:
            meshes = self.scene.state.wrapped.moved(memory.boxes.reshape(-1, 2, 3))
            rays, fraction, entering = memory.batch.rays, memory.fraction[:n], memory.entering[:count]
            hits = meshes.first_hits(rays.origin[:n], rays.second[:n], mask, fraction, entering)
            for row, hit in hits.items():
                found[row] = hit
        return found


def _starts(counts: list[int], begin: int = 0) -> Int64Array:
    """Where each of consecutive ranges of these sizes begins, and the last one ends."""
    return begin + np.append(0, np.cumsum(counts, dtype=np.int64))


def _masses(scene: MirrorScene) -> tuple[list[int], list[int]]:
    """The bodies whose masses have to be checked for rays that hit all groups, and for other rays.

    A base that becomes fixed or free gets Bullet's group for such a base. This changes hits of rays that hit all groups
    only if its group before was not Bullet's.
    """
    links = {scene.shapes.body_links[k] for k in scene.shapes.body_link.tolist()}
    groups = {link.body: scene.groups[link] for link in links if link.link == BASE}
    given = {body: STATIC if scene.reading.bodies[body].fixed else DEFAULT for body in groups}
    return [body for body in groups if groups[body] != given[body]], [*groups]


def _written(values: Any, array: Float64Array) -> int:
    """Write vectors that `read_rows` rejects into the rows of an array; returns how many, 0 if too many or none."""
    try:
        found = vectors(values, "") if are_rows(values) else array[:0]
        array[: len(found)] = found
    except ValueError:
        return 0
    return len(found)
