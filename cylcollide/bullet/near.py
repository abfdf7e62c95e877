"""A few rays after a step: only the bodies that they may hit are read, placed and tested, without a tree.

Of every body the frame of the base is read, or the box of a base without shapes, which takes half the time. All shapes
are within a distance of there, whatever the joints do: the lengths from joint to joint, and how far sliding joints are
out. Where a ray comes that near, some links are read, so that joints hold each other one to a link that is read; of a
bare body that rays have come near again and again, without its base. The others are read where a ray may hit them. So
no bound on speed is needed, nor PyBullet's boxes of links, which lag a step behind.
"""

from collections import defaultdict, deque
from math import inf, nan
from typing import Any

import numpy as np

from cylcollide import validate
from cylcollide._types import Float64Array, Vectors
from cylcollide.bullet.arguments import BULLET, MirrorInside, vectors
from cylcollide.bullet.client import BASE, BodyLink, Client
from cylcollide.bullet.near_links import ARMS, STRETCH, arms_of, closest_hold, holds_of, joints_of, read_first
from cylcollide.bullet.near_loops import MEETINGS, UNDECIDED, NearMemory, NearShapes, cast_near, enter_meshes
from cylcollide.bullet.near_marks import LINKS_FIRST, mark_near
from cylcollide.bullet.near_segments import SLACK
from cylcollide.bullet.passthrough import PADDING
from cylcollide.bullet.pose_loops import BOX, PLANE, posed_memory
from cylcollide.bullet.poses import link_frames
from cylcollide.bullet.read_shapes import Row, ball_radii
from cylcollide.bullet.scene import MirrorScene
from cylcollide.bullet.tuples import MISS, Call, RayTestResult, hit_tuples, read_rows, read_states
from cylcollide.kernels.ray import Rays
from cylcollide.query.loops.columns import empty_hits
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.surface import BLOCK, make_surface_queue
from cylcollide.runtime.compile import pack
from cylcollide.world.pose_columns import PoseMemory

FEW_RAYS, MOST_RAYS, PAIRS = 128, 1024, 20_000
"""To test so many rays, or so many pairs of a ray and a body up to the second number, takes less time than a tree."""


def few_rays(bodies: int) -> int:
    """How many rays are few among so many bodies."""
    return max(FEW_RAYS, min(MOST_RAYS, PAIRS // max(bodies, 1)))


class NearBodies:
    """The bodies of a scene, ready for rays that come near few of them.

    `sees_shapes`: whether this is dropped when a mesh may have changed; if not, bodies with meshes are always read.
    """

    def __init__(self, client: Client, scene: MirrorScene, inside: MirrorInside, sees_shapes: bool) -> None:
        shapes, state, self._client, self.scene = scene.shapes, scene.state, client, scene
        self._policy, self._cores = validate.policy("ignore" if inside == BULLET else inside), inside == BULLET
        link_of_shape = [shapes.body_links[k] for k in shapes.body_link.tolist()]
        wrapped = [shapes.body_links[k] for k in shapes.wrapped]
        bodies = sorted({link.body for link in [*link_of_shape, *wrapped]})
        beyond = np.linalg.norm(shapes.position, axis=1) + ball_radii(shapes.kind, shapes.size)
        is_limb, is_box = shapes.kind != PLANE, shapes.kind == BOX
        self._bodies, at = bodies, list[int]()
        first_link, first_rest, first_box, reach = [len(bodies)], list[int](), [0], list[float]()
        self._sliding, box_reach = list[tuple[int, list[int]]](), list[float]()
        api, number = client.api, client.number
        self._places, self._base_boxes = list[tuple[Call | None, Call]](), list[tuple[Call | None, None]]()
        self._links, self._boxes = list[tuple[None, Call | None]](), list[list[Call]]()
        self._rest, held = list[Call](), dict[int, tuple[int, int, list[float]]]()
        bare, shapes_of, wrapped_of = np.zeros(len(bodies), bool), defaultdict[int, list[int]](list), defaultdict(list)
        for s, link_of in enumerate(link_of_shape):
            shapes_of[link_of.body].append(s)
        for link_of in wrapped:
            wrapped_of[link_of.body].append(link_of)
        for b, body in enumerate(bodies):
            joints = joints_of(client, body)
            length, sliding = arms_of(joints)
            own, own_wrapped = shapes_of[body], wrapped_of[body]
            links = {link_of_shape[s].link for s in own} - {BASE}
            bare[b] = bool(links) and not own_wrapped and _is_bare(client, body, scene.reading.bodies[body].rows[BASE])
            first = read_first(joints, links, bool(bare[b])) or sorted(links)[: bool(own_wrapped)]
            rest = sorted(links - {*first})
            row = {BASE: b} | {link: first_link[b] + k for k, link in enumerate([*first, *rest])}
            at += [row[link_of_shape[s].link] for s in own]
            for link in rest:
                one, other, arms = closest_hold(holds_of(joints, link, first))
                held[row[link]] = row[one], row[other], arms
            distances = []
            for body_link in own_wrapped:
                is_described = sees_shapes and scene.reading.bodies[body].rows[body_link.link] is not None
                is_placed = body_link.link == BASE or bool(links)  # else the mesh lags behind, as Bullet's rays do
                is_known = is_described and is_placed
                distances.append(length[body_link.link] + _mesh_radius(client, body_link) if is_known else inf)
            of_limbs = [length[link_of_shape[s].link] + float(beyond[s]) for s in own if is_limb[s]]
            reach.append(max([0.0, *of_limbs, *distances]))
            order = sorted(range(len(own_wrapped)), key=lambda k: -distances[k])
            box_reach += [distances[k] for k in order]
            self._sliding += [(b, sliding)] if sliding else []
            self._rest += [(api.getLinkStates, (body, rest, 0, 0, number), first_link[b] + len(first))] if rest else []
            read = (api.getLinkStates, (body, first, 0, 1, number), first_link[b]) if first else None
            self._links.append((None, read))
            self._boxes.append([(api.getAABB, (*own_wrapped[k], number), first_box[b] + row)
                                for row, k in enumerate(order)])  # fmt: skip
            base, box = (api.getBasePositionAndOrientation, (body, number), b), (api.getAABB, (body, BASE, number), b)
            self._places.append((None, read) if read and bare[b] else (base, base))
            self._base_boxes.append((box if bare[b] else None, None))
            first_box.append(first_box[b] + len(own_wrapped))
            first_rest.append(first_link[b] + len(first))
            first_link.append(first_rest[b] + len(rest))
        count, self._at = first_link[-1], np.array(at, np.int64)
        holders, arms_of_link, ball = np.zeros((count, 2), np.int64), np.zeros((count, ARMS)), np.full(count, -inf)
        for frame, (one, other, arms) in held.items():
            holders[frame], arms_of_link[frame] = (one, other), arms
        np.maximum.at(ball, self._at[is_limb], beyond[is_limb])
        first_shape, (filled, firsts) = np.zeros(count, np.int64), np.unique(self._at, return_index=True)
        first_shape[filled] = firsts
        self._shapes = NearShapes(
            bare, np.array(first_link, np.int64), np.array(first_rest, np.int64), np.array(first_box, np.int64),
            np.array(reach), np.array(box_reach), ball, holders, arms_of_link,
            first_shape,
            np.bincount(self._at, minlength=count),
            self._at[~is_limb], scene.frames.take(scene.fixed.of_planes, axis=0).view(np.int64), self._at,
            np.cumsum(is_limb) - is_limb, np.cumsum(is_box) - is_box, is_limb, beyond,
            shapes.kind, shapes.size, shapes.position, shapes.rotation,
            state.sheet_table, state.sheet_rank, state.limb_rank, state.shape_link,
        )  # fmt: skip
        self._packed, self._has_boxes, self._count = pack(self._shapes), bool(box_reach), len(scene.reading.bodies)
        self._kept = deque[tuple[NearMemory, Any, Vectors, Vectors]](maxlen=2)

    def suits(self, scene: MirrorScene) -> bool:
        """Whether the scene has these shapes, these filters, and these planes in their places."""
        own = self.scene
        return own is scene or (own.shapes is scene.shapes and own.state.sheets is scene.state.sheets)

    def _memory(self) -> tuple[NearMemory, Any, Vectors, Vectors]:
        """New memory for one ray test, the same for loops, and where starts and ends are written."""
        layout, count = self.scene.state.world._layout, len(self._links)
        few = few_rays(self._count)
        columns = PoseMemory(layout.rows, layout.boxes, 0, 0).columns
        table = columns.table(layout)
        frames = np.tile([0.0] * 6 + [1.0], (len(self._shapes.ball), 1))
        frames[self._shapes.plane_at] = nan  # no plane is here before it was read
        made = posed_memory(len(self._at), columns)
        boxes, rays = np.zeros((len(self._shapes.box_reach), 6)), np.empty((4, few, 3))
        segments = Rays(rays[0], rays[1], True, validate.NO_LIMIT, validate.NO_RADIUS)
        batch = RayBatch(segments, np.empty(1, np.uint32), validate.IGNORE_NONE, self._policy)
        memory = NearMemory(
            frames, frames.view(np.int64), boxes, np.zeros(count), np.empty((count, 3)), np.empty(count),
            np.zeros(count, np.int64), np.zeros(count, np.int64), np.empty(count, bool),
            np.empty((few, count), bool), np.empty((count, 6)), np.empty(count, np.int64), np.empty(count, np.int64),
            np.zeros(len(frames), bool), np.zeros(len(frames), bool), np.empty((few * MEETINGS, 2), np.int32),
            np.empty(len(self._at), bool),
            made, table, table.kernel_rows, batch, empty_hits(few),
            np.empty(few, np.int32), np.empty(few), rays[2], rays[3], np.empty(few, np.int64),
            np.empty((few, 2), np.int32), make_surface_queue(), np.empty(BLOCK, np.int32),
        )  # fmt: skip
        return memory, pack(memory), rays[0], rays[1]

    def answers(self, starts: Any, ends: Any, mask: int) -> list[RayTestResult] | None:
        """PyBullet's tuples for a few segments.

        None if they are no such segments, if more has to be read, or if exact arithmetic decides. No array is made, and
        no other function of ours is called: after a step, each takes longer than a loop.
        """
        api, number, shapes = self._client.api, self._client.number, self._packed
        try:
            kept = self._kept.pop()  # what a thread has taken, no other one finds
        except IndexError:
            kept = self._memory()
        memory, packed, origin, second = kept
        try:
            n = read_rows(starts, origin) or _written(starts, origin)
            if n == 0 or n != (read_rows(ends, second) or _written(ends, second)):
                return None
            if api.getNumBodies(number) != self._count:
                return None
            read_states(self._places, memory.frames, memory.read)
            read_states(self._base_boxes, memory.around, memory.read)
            for b, joints in self._sliding:
                memory.out[b] = STRETCH * sum([abs(api.getJointState(self._bodies[b], k, number)[0]) for k in joints])
            links = mark_near(shapes, packed, n, True)
            if links == LINKS_FIRST:
                read_states(self._links, memory.frames, memory.unread)
                links = mark_near(shapes, packed, n, False)
            if links == UNDECIDED:
                return None
            if links:
                read_states(self._rest, memory.frames, memory.wanted)
            if cast_near(shapes, packed, n, mask, self._cores) == UNDECIDED:
                return None
            found = hit_tuples(n, memory.body_link, memory.fraction, memory.position, memory.normal, MISS)
            return self._before_meshes(found, n, mask, memory, packed) if self._has_boxes else found
        except api.error:  # a body is gone
            return None
        finally:
            self._kept.append(kept)

    def _before_meshes(
        self, found: list[RayTestResult], n: int, mask: int, memory: NearMemory, packed: Any
    ) -> list[RayTestResult] | None:
        """The answers to the n segments in memory, where wrapped links may be hit before what was found."""
        wrapped = zip(self._boxes, memory.wrapped.data, strict=True)
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


def _is_bare(client: Client, body: int, rows: tuple[Row, ...] | None) -> bool:
    """Whether a base, with these shapes, has none, and is at the centre of its box, which is read in half the time.

    A base at the origin, where PyBullet reports a box for want of one, does not count if the box is a point.
    """
    low, high = np.array(client.getAABB(body, BASE))
    place = np.array(client.getBasePositionAndOrientation(body)[0])
    is_centre = np.abs((low + high) / 2.0 - place) <= SLACK * np.maximum(np.abs(low), np.abs(high))
    return rows == () and bool(is_centre.all() and (place.any() or (low < high).all()))


def _written(values: Any, array: Float64Array) -> int:
    """Write vectors that `read_rows` does not take into the rows of an array; how many, 0 if too many or none."""
    try:
        found = vectors(values, "")
        array[: len(found)] = found
    except ValueError:
        return 0
    return len(found)


def _mesh_radius(client: Client, body_link: BodyLink) -> float:
    """Radius of a ball about the centre of mass of a rigid mesh: its box, in any pose, holds all of it."""
    frame = link_frames(client, {body_link.body: [body_link.link]})[0]
    low, high = np.array(client.getAABB(*body_link))
    return float(np.linalg.norm(np.maximum(high - frame[:3], frame[:3] - low) + PADDING))
