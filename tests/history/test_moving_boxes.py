"""Flying bullets and rotating boxes: contacts within the resolution; undecided ones are marked."""

import numpy as np
import pytest
from support.character_life import Life
from support.check_cylinders import IS_COMPILED
from support.moving_boxes import Cases, deepest
from support.one_limb import one_bone_rig
from support.oracle.moving_bullets import Bullet, Ticks

import cylcollide as cc
from cylcollide._types import Face, Shape
from cylcollide.exact.line import segment_numbers
from cylcollide.exact.order import limb_chords
from cylcollide.history import PoseHistory
from cylcollide.query.exact_fallback import exact_limb

pytestmark = pytest.mark.plain_python

N = 20 if IS_COMPILED else 10


def walking(rng: np.random.Generator, interpolate: str) -> tuple[Life, PoseHistory]:
    """Four ticks of characters with limbs of every shape that walk and turn."""
    life = Life(rng, cc.Limbs.boxes([[0.0, 0.0, 0.0]], [0, 0, 0, 1], [[0.3, 0.2, 0.4]], name="crate"), 2.0)
    rig = life.rigs[2]
    ids = life.world.spawn(rig, 6)
    root, turn = rng.uniform(-2, 2, (6, 3)), rng.normal(size=(6, 4))
    joints = rig.rest_orientations + 0.2 * rng.normal(size=(6, 4, 4))
    history = PoseHistory(life.world, interpolate=interpolate)
    for k in range(4):
        life.world.set_poses(ids, *rig.forward(root, turn, joints))
        life.world.set_endpoints([[0.1 * k, 0.0, 0.0]], [[0.1 * k, 0.0, 0.0]])
        history.record(float(k))
        root, turn = root + 0.1 * rng.normal(size=(6, 3)), turn + 0.2 * rng.normal(size=(6, 4))
        joints = joints + 0.1 * rng.normal(size=(6, 4, 4))
    return life, history


def outside_by(limbs: cc.Limbs, row: int, point: np.ndarray) -> float:
    """Largest signed distance of a point from a box along one of the box's axes; negative inside."""
    axes, half = limbs.box_axes[row], limbs.half_extents[row]
    return float((np.abs(axes @ (point - limbs.p1[row])) - half).max())


@pytest.mark.machine_code
@pytest.mark.parametrize(("seed", "interpolate"), [(0, "bones"), (1, "ends")])
def test_contacts_with_boxes_are_on_the_boxes_of_that_time(seed: int, interpolate: str):
    rng = np.random.default_rng(seed)
    _, history = walking(rng, interpolate)
    start, t0 = rng.uniform(-4, 4, (N, 3)), rng.uniform(0.0, 1.5, N)
    limbs = history.limbs_at(0.0)
    aim = limbs.p1[rng.choice(np.flatnonzero(limbs.kind == Shape.BOX), N)]
    end, t1 = start + 1.5 * (aim - start), t0 + rng.uniform(0.0, 1.5, N)
    hits = history.cast_moving(start, end, t0, t1)
    ticks, boxes = Ticks(history, 1), 0
    assert hits.undecided.sum() <= 1
    for i in np.flatnonzero(~hits.undecided).tolist():
        way = (start[i], end[i], t0[i], t1[i])
        want = ticks.first_contact(Bullet(start[i], end[i], float(t0[i]), float(t1[i])))
        last = 1.0 if want is None else hits.fraction[i]
        if hits.hit[i] and limbs.kind[hits.limb[i]] == Shape.BOX:
            boxes += 1
            there = history.limbs_at(tick=hits.tick[i], alpha=hits.alpha[i])
            if hits.face[i] == Face.INSIDE:
                assert outside_by(there, hits.limb[i], hits.position[i]) <= 1e-15
            else:
                # parts of an interval are narrowed far below the resolution
                assert abs(outside_by(there, hits.limb[i], hits.position[i])) < 1e-6
                axis, sign = divmod(int(hits.face[i]) - int(Face.NEG_X), 2)
                assert np.allclose(hits.normal[i], (2 * sign - 1) * there.box_axes[hits.limb[i], axis], atol=1e-12)
            assert hits.exit_fraction[i] >= hits.fraction[i]
            assert hits.duration[i] >= 0.0
            assert want is None or (want.tick + want.alpha >= hits.tick[i] + hits.alpha[i] - 1e-12)
            last = hits.fraction[i]
        else:
            assert (want is not None) == hits.hit[i]
            assert want is None or (want.tick, want.limb) == (hits.tick[i], hits.limb[i])
        check_free(history, way, last)
    assert boxes > N // 4


def check_free(history: PoseHistory, way: tuple, last: float) -> None:
    """Assert that a bullet is in no box before s = `last`, at twenty moments."""
    start, end, t0, t1 = way
    for s in np.linspace(0.0, 1.0, 20, endpoint=False) * last:
        limbs = history.limbs_at(t0 + s * (t1 - t0))
        for row in np.flatnonzero(limbs.kind == Shape.BOX).tolist():
            assert outside_by(limbs, row, start + s * (end - start)) > -1e-6


def test_a_coarse_resolution_leaves_bullets_undecided():
    rng = np.random.default_rng(5)
    _, history = walking(rng, "bones")
    limbs = history.limbs_at(0.0)
    chosen = np.flatnonzero(limbs.kind == Shape.BOX)
    start = rng.uniform(-3, 3, (2 * N, 3))
    aim = limbs.p1[rng.choice(chosen, 2 * N)] + 0.4 * rng.normal(size=(2 * N, 3))
    fine = history.cast_moving(start, start + 2 * (aim - start), 0.0, 1.0)
    coarse = history.cast_moving(start, start + 2 * (aim - start), 0.0, 1.0, resolution=1.0)
    assert fine.undecided.sum() <= 1
    assert coarse.undecided.sum() > fine.undecided.sum()
    decided = ~(fine.undecided | coarse.undecided)
    assert np.array_equal(fine.limb[decided], coarse.limb[decided])
    assert "undecided" in repr(coarse)


def test_a_box_that_stands_still_is_exact():
    world = cc.HitWorld(cc.Limbs.boxes([[0.0, 0.0, 0.0]], [0, 0, 0, 1], [[1.0, 1.0, 1.0]]))
    history = PoseHistory(world)
    for k in range(2):
        history.record(float(k))
    start, end = [[-2.0, 1.0, 0.5], [-2.0, np.nextafter(1.0, 2.0), 0.5]], [[2.0, 1.0, 0.5], [2.0, 1.0 + 2**-52, 0.5]]
    hits = history.cast_moving(start, end, 0.0, 1.0)
    assert hits.hit.tolist() == [True, False]
    assert not hits.undecided.any()
    assert (hits.fraction[0], hits.face[0], hits.exit_fraction[0]) == (0.25, Face.NEG_X, 0.75)


def test_walls_need_no_exact_arithmetic():
    rng, n = np.random.default_rng(4), 300 if IS_COMPILED else 40
    turns = np.vstack([rng.normal(size=(8, 4)), np.tile([0.0, 0.0, 0.0, 1.0], (8, 1))])
    walls = cc.Limbs.boxes(rng.uniform(-6.0, 6.0, (16, 3)), turns, rng.uniform(0.2, 3.0, (16, 3)))
    world = cc.HitWorld()
    world.add_static(walls)
    history = PoseHistory(world)
    for k in range(4):
        history.record(float(k))
    start, end = rng.uniform(-9.0, 9.0, (2, n, 3))
    flown = history.cast_moving(start, end, rng.uniform(0.0, 1.2, n), rng.uniform(1.3, 3.0, n))
    assert flown.rechecked == 0
    entered = np.flatnonzero(flown.hit & (flown.face != Face.INSIDE))
    assert len(entered) > n / 4
    for i in entered.tolist():
        (chord,) = limb_chords(segment_numbers(start[i], end[i]), exact_limb(walls._table, flown.limb[i]))
        assert (flown.fraction[i], flown.face[i]) == (chord.entry.double_double()[0], chord.entry_face)
        assert flown.exit_fraction[i] == chord.exit.double_double()[0]
    assert flown.limb.tolist() == cc.HitWorld(walls).cast_segments(start, end).limb.tolist()


def boxes_apart(rng: np.random.Generator, n: int) -> tuple[PoseHistory, Cases]:
    """As many boxes as bullets, each far from the others, that move and turn by up to 30 degrees in a tick."""
    box = cc.Limbs.boxes([[0.02, -0.03, 0.1]], [[0.1, 0.2, -0.1, 1.0]], [[0.1, 0.2, 0.3]])
    rig = one_bone_rig(box)
    world = cc.HitWorld()
    ids, row = world.spawn(rig, n), np.arange(n)
    here = 20.0 * np.column_stack([row % 12, row // 12 % 12, row // 144]) + rng.normal(size=(n, 3))
    there = here + 0.2 * rng.normal(size=(n, 3))
    axis = rng.normal(size=(n, 3))
    turn, angle = rng.normal(size=(n, 4)), rng.uniform(0.0, np.pi / 6, (n, 1))
    by = np.hstack([axis / np.linalg.norm(axis, axis=1)[:, None] * np.sin(angle / 2), np.cos(angle / 2)])
    turned, history = cc.quaternions.multiply(by, turn), PoseHistory(world)
    for time, (place, pose) in enumerate([(here, turn), (there, turned)]):
        world.set_poses(ids, place[:, None], pose[:, None])
        history.record(float(time))
    limb = [np.repeat(column, n, axis=0) for column in (box.p1, box.box_axes.reshape(1, 9), box.half_extents)]
    alpha = np.tile([0.0, 1.0], (n, 1))
    return history, Cases(here, there, alpha, here, there, turn, turned, *limb)


@pytest.mark.long
@pytest.mark.skipif(not IS_COMPILED, reason="thousands of bullets take machine code")
def test_at_most_one_in_a_thousand_is_undecided_and_others_are_right():
    """With the default resolution, for bullets anywhere near boxes of human size."""
    undecided = hits = misses = 0
    for seed in range(10):
        rng, n = np.random.default_rng(seed), 1700
        history, cases = boxes_apart(rng, n)
        u, travel = rng.random((n, 1)), rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-0.5, 0.5, (n, 1))
        place = cases.here + u * (cases.there - cases.here) + rng.uniform(-0.5, 0.5, (n, 3))
        cases = cases._replace(start=place - u * travel, end=place + (1.0 - u) * travel)
        found = history.cast_moving(cases.start, cases.end, 0.0, np.nextafter(1.0, 0.0))
        decided, zero, resolution = ~found.undecided, np.zeros(n), 2.0**-10
        undecided += int(found.undecided.sum())
        s = np.where(found.hit, found.fraction, 1.0)
        reached = deepest(cases, zero, np.minimum(s + resolution, 1.0), 65)
        before = deepest(cases, zero, np.where(found.hit, np.maximum(s - resolution, 0.0), 1.0), 65)
        assert (reached[decided & found.hit] > -1e-12).all()
        assert (before[decided & ((s > 2 * resolution) | ~found.hit)] < 1e-12).all()
        hits, misses = hits + int(found.hit.sum()), misses + int((~found.hit).sum())
    print(f"{hits} hits, {misses} misses, {undecided} undecided")
    assert min(hits, misses) > 3000
    assert undecided <= (hits + misses) / 1000
