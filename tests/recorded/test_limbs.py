"""Limbs of recorded states: where their bones carry them, by the stated operations, one by one and eight abreast."""

import numpy as np
import pytest
from support.cases.recorded_world import GOES, HIDDEN, JUMPS, LEAVES, pose_between, recorded_world
from support.check_cylinders import IS_COMPILED
from support.machine_code import as_machine_code, interpreted

import cylcollide as cc
from cylcollide._types import Shape
from cylcollide.constants import LARGEST_NUMBER
from cylcollide.kernels.limb_table import ROW, LimbRows
from cylcollide.recorded.limb_lanes import LaneRows, copy_lane, limbs_at_moments, make_lane_rows, set_lane
from cylcollide.recorded.limbs import Recorded, place_bones, place_recorded, tick_rows
from cylcollide.recorded.sample_times import find_moments
from cylcollide.runtime.simd import LANES, store_rows

pytestmark = [pytest.mark.plain_python, pytest.mark.coverage]

ALPHAS = (0.0, 0.3, 1.0)


def both(loop):
    return pytest.mark.parametrize("loop", [loop, interpreted(loop)], ids=["loop", "plain"])


def placed(loop, history: cc.PoseHistory, tick: int, alpha: float, rows: np.ndarray):
    """What the loop writes of these rows at one moment."""
    n = len(rows)
    made = LimbRows(np.empty(n, np.int8), np.empty(n, np.int32), np.empty(n, np.uint32), np.zeros((n, ROW)), 0)
    at = np.full(1, tick, np.int32), np.full(1, alpha), np.array([0, n])
    loop(history._ring.recorded, *at, rows.astype(np.int32), made)
    return made


@both(place_recorded)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_limbs_go_with_their_bones(loop, alpha: float):
    """Bare limbs by their ends; characters by their bones, if they go on; all with the bits of `Rig.place`."""
    world = recorded_world()
    got = placed(loop, world.history, 0, alpha, np.arange(14 + 4 * 9))
    (p, u), (q, v) = ((column[0], column[1]) for column in world.ends)
    t = world.bare.table
    ends = [[a, (1 - alpha) * a + alpha * b, b][(alpha > 0) + (alpha == 1)] for a, b in ((p, u), (q, v))]
    bare = cc.Limbs.concat([world.bare])
    moved = cc.HitWorld(bare)
    moved.set_endpoints(*ends)
    want = [moved.snapshot().table, *(
        world.rig.place(*pose_between(world, c, alpha), character=world.ids[c]).table for c in range(4)
    )]  # fmt: skip
    assert np.array_equal(got.solid, np.concatenate([table.solid for table in want]))
    assert np.array_equal(got.character, np.concatenate([table.character for table in want]))
    assert np.array_equal(got.rows, np.concatenate([table.rows for table in want]))
    masks = np.concatenate([table.mask for table in want])
    masks[14 + 9 * HIDDEN : 14 + 9 * (HIDDEN + 1)] = 0
    assert np.array_equal(got.mask, masks)
    assert set(got.solid.tolist()) == set(range(len(Shape)))
    assert len(t.kind) == 14


@both(place_recorded)
def test_ends_go_straight(loop):
    """Where ends were recorded, limbs of characters go by them, and boxes keep their axes."""
    world, alpha = recorded_world("ends"), 0.3
    got = placed(loop, world.history, 0, alpha, np.arange(14 + 4 * 9))
    for c in (GOES, JUMPS, LEAVES, HIDDEN):
        here, there = (world.rig.place(*(column[[c]] for column in pose)) for pose in world.poses)
        goes = c in {GOES, HIDDEN}
        p1, p2 = ((1 - alpha) * a + alpha * b if goes else a for a, b in ((here.p1, there.p1), (here.p2, there.p2)))
        rows = got.rows[14 + 9 * c : 14 + 9 * (c + 1)]
        is_box = here.kind == Shape.BOX
        assert np.array_equal(rows[~is_box, 9:12], p1[~is_box])
        assert np.array_equal(rows[~is_box, 12:15], p2[~is_box])
        assert np.array_equal(rows[is_box, :3], p1[is_box])
        assert np.array_equal(rows[is_box, 3:12], here.box_axes[is_box].reshape(-1, 9))


@both(place_recorded)
def test_a_limb_that_has_no_axis_half_way(loop):
    """It is where it was, in no layer; a capsule becomes a ball."""
    limbs = cc.Limbs.concat(
        [cc.Limbs.cylinders([0, 0, 0], [1, 0, 0], 0.1), cc.Limbs.capsules([0, 0, 0], [1, 0, 0], 0.1)]
    )
    world = cc.HitWorld(limbs)
    history = cc.PoseHistory(world)
    history.record(0.0)
    world.set_endpoints(limbs.p2, limbs.p1)
    history.record(1.0)
    got = placed(loop, history, 0, 0.5, np.arange(2))
    assert got.mask.tolist() == [0, limbs.mask[1]]
    assert got.rows[0, 9:15].tolist() == [0, 0, 0, 1, 0, 0]
    assert got.solid.tolist() == [Shape.CYLINDER, Shape.SPHERE]


@both(place_bones)
def test_bones(loop):
    """The bone of each limb; nothing for bare limbs."""
    world = recorded_world()
    rows = np.arange(14 + 4 * 9)
    positions, orientations = np.full((len(rows), 3), np.nan), np.full((len(rows), 4), np.nan)
    at = np.zeros(len(rows), np.int32), np.full(len(rows), 0.3), rows.astype(np.int32)
    loop(world.history._ring.recorded, *at, positions, orientations)
    assert np.isnan(positions[:14]).all()
    for c in range(4):
        x, turn = (column[0][world.rig.limb_bone] for column in pose_between(world, c, 0.3))
        own = slice(14 + 9 * c, 14 + 9 * (c + 1))
        assert np.array_equal(positions[own], x)
        assert np.array_equal(orientations[own], turn)


def lanes_of(recorded: Recorded, rows: np.ndarray, alpha: np.ndarray, lanes: LaneRows, out: np.ndarray) -> None:
    """Write the rows of eight limbs, of the first tick."""
    here, there = tick_rows(recorded, 0), tick_rows(recorded, 1)
    for k in range(rows.size):
        set_lane(lanes, k, k, here, there, rows[k], alpha[k])
    for k in range(rows.size, LANES):
        copy_lane(lanes, 0, k)
    limb = limbs_at_moments(here, there, 0, lanes, 0)
    f, p, q, c, u = limb.frame, limb.p1, limb.p2, limb.frame.centre, limb.frame.axis
    store_rows(out, 0, 0, (c[0], c[1], c[2], u[0], u[1], u[2], f.half_length, f.radius))
    store_rows(out, 0, LANES, (limb.radius2, p[0], p[1], p[2], q[0], q[1], q[2], f.extent))


@pytest.mark.parametrize("loop", [as_machine_code(lanes_of), lanes_of], ids=["loop", "plain"])
def test_eight_limbs_have_the_bits_of_one(loop):
    world, rng = recorded_world(), np.random.default_rng(2)
    every = placed(place_recorded, world.history, 0, 0.5, np.arange(14 + 4 * 9))
    some = np.array([row for row in range(14, 14 + 4 * 9) if every.solid[row] != Shape.BOX])
    for count in (8, 3):
        for _ in range(12):
            rows, alpha = rng.choice(some, count), rng.choice([0.0, 1.0, 0.3, 0.77], count)
            out = np.zeros((LANES, ROW))
            loop(world.history._ring.recorded, rows.astype(np.int32), alpha, make_lane_rows(LANES), out)
            for k in range(count):
                one = placed(place_recorded, world.history, 0, alpha[k], rows[k : k + 1])
                assert np.array_equal(out[k], one.rows[0])


@pytest.mark.parametrize("scale", [1.0, LARGEST_NUMBER], ids=["near", "at the end of the range"])
def test_who_is_out_of_range_between_ticks(scale: float):
    """A limb that is in range at both ticks may leave it between them: then its character is not hit, and said to be
    where it was."""
    limb = cc.Limbs.spheres([[0.3 * scale, 0, 0], [0, 0, 0]], 0.01 * scale, name=["hand", "hip"])
    rig = cc.Rig(["bone"], [-1], [[0, 0, 0]], [[0, 0, 0, 1]], limb, [0, 0])
    world = cc.HitWorld()
    ids, history = world.spawn(rig), cc.PoseHistory(world)
    for tick, angle in enumerate((60.0, -60.0)):
        half = np.radians(angle) / 2
        world.set_poses(ids, [[[0.8 * scale, 0, 0]]], [[[0, 0, np.sin(half), np.cos(half)]]])
        history.record(float(tick))
    for alpha, leaves in ((0.0, False), (0.05, False), (0.5, scale > 1.0), (1.0, False)):
        limbs = history.limbs_at(alpha)
        assert (limbs.mask == 0).all() == leaves
        if leaves:
            assert np.array_equal(limbs.p1, history.limbs_at(0.0).p1)
        x, y = limbs.p1[1, 0], 0.5 * scale
        hits = history.cast_segments([x, -y, 0], [x, y, 0], alpha)
        assert bool(hits.hit[0]) != leaves
        assert leaves or np.isclose(np.linalg.norm(hits.local_position[0]), 0.01 * scale)


@both(find_moments)
def test_moments(loop):
    """The last tick that is not after each time, whether ticks are evenly spaced or not."""
    rng = np.random.default_rng(3)
    gaps = np.array([0.0, 1e-300, 2e-300, 1e300]), np.array([-1e300, 0.0, 1e-300, 1.0, 1e9])
    narrow = np.array([1.0, 1.0 + 2**-52]), np.array([0.0, 5e-324]), np.array([0.0, 1e-310, 2e-310])
    for times in (np.arange(9.0), np.cumsum(rng.exponential(size=40)), np.array([5.0]), *gaps, *narrow):
        asked = np.concatenate([rng.uniform(times[0] - 1, times[-1] + 1, 200 if IS_COMPILED else 20), times])
        judged, alpha = np.empty((2, len(asked)))
        place, outside = np.empty(len(asked), np.int64), np.empty(len(asked), np.bool_)
        count = loop(asked, times, judged, place, alpha, outside)
        assert np.array_equal(judged, np.clip(asked, times[0], times[-1]))
        assert np.array_equal(outside, asked != judged)
        assert count == outside.sum()
        assert np.array_equal(place, np.searchsorted(times, judged, side="right") - 1)
        later = np.minimum(place + 1, len(times) - 1)
        span = np.where(later > place, times[later] - times[place], 1.0)
        assert np.array_equal(alpha, (judged - times[place]) / span)
