"""Calls of every loop, with few limbs and rays: their signatures are recorded here."""

import numpy as np

from cylcollide._types import ALL_LAYERS, Float64Array
from cylcollide.bullet.box_loops import entering_rows
from cylcollide.bullet.plane import EVERY_GROUP, Sheet, sheet_hits, sheet_table
from cylcollide.bullet.pose_loops import BOX, pose_shapes, posed_memory
from cylcollide.bullet.sheet_loops import fill_sheets, first_sheets
from cylcollide.bvh.build import build
from cylcollide.bvh.patch import grafted, renumbered
from cylcollide.characters.policy import Policy
from cylcollide.characters.rig import Rig
from cylcollide.constants import SMALLEST_STREAM, TREE_WIDTH
from cylcollide.engines import rounded_cylinder
from cylcollide.history import PoseHistory
from cylcollide.history.flight import flight
from cylcollide.kernels.clearance import growths_to_reach
from cylcollide.kernels.limb_table import limb_at
from cylcollide.kernels.rig_rows import Bones
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.loops import chords as chord_loops
from cylcollide.query.request import segment_request
from cylcollide.world import HitWorld, Snapshot
from cylcollide.world.draft import Draft
from cylcollide.world.in_place import Stage


def call_every_loop() -> None:
    """Make every kind of query; in each, one that float64 leaves undecided."""
    rng = np.random.default_rng(1)
    for limbs in (_crowd(rng), Limbs.cylinders([0, 0, 0], [0, 0, 1], 0.5)):
        world = HitWorld(limbs)
        for n in (1, SMALLEST_STREAM):
            starts, ends = rng.normal(size=(2, n, 3))
            starts[0], ends[0] = [0.5, -1.0, 0.5], [0.5, 1.0, 0.5]  # touches the first limb
            hits = world.cast_segments(starts, ends, threads=1)
            _ = hits.position, hits.exit_position, hits.local_position
            world.judge_segments(starts, ends, Policy.first_surface(), threads=1)
            _ = world.contains_points(0.5 * (starts + ends), threads=1).axis_distance_squared
        world.set_endpoints(limbs.p1, limbs.p2)
    limbs[:1].cast_segments(starts[0], ends[0])
    limbs[:1].classify_points(starts[0])
    limbs[:1].explain_segment(starts[0], ends[0])
    growths_to_reach(starts[:1], limb_at(limbs.table.rows, limbs.table.solid, 0), np.empty(1))
    request, state, crossed = segment_request(starts, ends, "hit"), world.snapshot(), np.zeros((1, 2), np.int32)
    chord_loops.pieces_of_crossings(request.batch, state.kernel_rows, crossed, 0, 0, len(starts))
    _characters(starts, ends)
    _flights()
    _patches()
    _bullet()
    _rounded_cylinders()


def _crowd(rng: np.random.Generator) -> Limbs:
    """A limb that is touched, and too many for brute force."""
    p1 = rng.normal(size=(20, 3))
    p1[0] = 0.0
    return Limbs.cylinders(p1, p1 + np.array([0.0, 0.0, 1.0]), 0.5)


def _move_in_place(rig: Rig, poses: tuple[Float64Array, Float64Array]) -> None:
    """Call the loop that plain Python does not call, since it is no single step there."""
    world = HitWorld()
    crowd = world.spawn(rig, len(poses[0]))
    for _ in range(2):
        world.set_poses(crowd, *poses)
    present = world._present
    assert present.memory is not None
    stage = Stage(rig, 1, len(present.memory.columns.bounds))
    present.move(stage, Bones(poses[0][0], poses[1][0]), np.zeros(1, np.int64))


def _characters(starts: Float64Array, ends: Float64Array) -> None:
    """Call every loop that characters and their history need, with some that stay, move, come and go."""
    rig, world = Rig.humanoid(), HitWorld(Limbs.spheres([9.0, 9.0, 9.0], 1.0))
    history, crowd = PoseHistory(world), world.spawn(rig, 5)
    roots = np.arange(3.0 * len(crowd)).reshape(-1, 3)
    poses = rig.forward(roots, [0, 0, 0, 1], rig.rest_orientations)
    rig.place(*poses)
    for moment in range(2):
        world.set_poses(crowd, *poses)
        world.set_poses(crowd[0], poses[0][0], poses[1][0])
        world.set_endpoints([9.0, 9.0, 9.0], [9.0, 9.0, 9.0])
        history.record(moment)
    _move_in_place(rig, poses)
    world.despawn(crowd[1])
    world.set_poses(world.spawn(rig), poses[0][1], poses[1][1])
    times = np.full(len(starts), 0.5)
    history.judge_segments(starts, ends, Policy.first_surface(), times)
    _ = history.cast_segments(starts, ends, times).position
    _ = history.contains_points(starts, times).axis_distance_squared
    flight(starts[:1], ends[:1], 1.0)


def _flights() -> None:
    """Call every loop that flying bullets need, against a box that moves."""
    world = HitWorld(Limbs.boxes([0.0, 0.0, 0.0], [0, 0, 0, 1], [1.0, 1.0, 1.0]))
    history = PoseHistory(world)
    history.record(0.0)
    world.set_endpoints([0.5, 0.0, 0.0], [0.5, 0.0, 0.0])
    history.record(1.0)
    _ = history.cast_moving([-9.0, 0.0, 0.0], [9.0, 0.0, 0.0], 0.0, np.ones(SMALLEST_STREAM))
    hits = history.cast_moving([-9.0, 0.0, 0.0], [9.0, 0.0, 0.0], 0.0, 1.0)
    _ = hits.exit_time, hits.local_position


def _patches() -> None:
    """Call the loops that patch the tree of many limbs."""
    corner, item = np.zeros((2, 3)), np.zeros(1, np.int32)
    grafted(renumbered(build(corner, corner + 1.0), np.array([0, -1], np.int32), 1), item, corner[:1], corner[:1], 1)


def _bullet() -> None:
    """A box is placed; a segment crosses a plane and enters the box."""
    starts, ends, upright = np.full((1, 3), -2.0), np.full((1, 3), 2.0), np.array([[0.0, 0.0, 0.0, 1.0]])
    at, kind, frames = np.zeros(1, np.int64), np.full(1, BOX, np.int64), np.hstack([ends, upright])
    world = Snapshot.of(Limbs.boxes(starts, upright, ends))
    draft = Draft(world.rows, len(world.tree.child))
    pose_shapes(frames, at, kind, ends, starts, upright, posed_memory(1, draft.columns))
    world.moved(draft)
    tree = build(0.5 * starts, 0.5 * ends)
    entering_rows(tree, starts, ends, np.ones(1), np.empty(tree.stack_size + TREE_WIDTH), at)
    sheet = Sheet((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    sheet_hits(sheet, starts, ends, "hit")
    table, limb, shape = sheet_table([sheet], EVERY_GROUP), np.full(1, -1, np.int32), np.empty(1, np.int32)
    first_sheets(table, starts, ends, ALL_LAYERS, 1.0, 0, limb, np.full(1, np.inf), shape, np.empty(1), 0, 1)
    fill_sheets(table, starts, ends, 0, shape, np.empty((1, 3)), np.empty((1, 3)), 0, 1)


def _rounded_cylinders() -> None:
    """Points and segments at what an engine holds instead of a cylinder."""
    first, last, size = np.zeros((1, 3)), np.ones((1, 3)), np.ones(1)
    solid = rounded_cylinder.Rounded(first, last, size, size, size)
    rounded_cylinder.signed_distance(solid, last)
    rounded_cylinder.outward_normal(solid, last)
    least = rounded_cylinder.least_distance(solid, 4.0 * last, last)
    rounded_cylinder.first_reach(solid, 4.0 * last, last, least, size)
