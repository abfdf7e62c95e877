"""Flying bullets and rotating boxes: contacts within the resolution; undecided ones are marked."""

import numpy as np
import pytest
from support.character_life import Life
from support.check_cylinders import IS_COMPILED
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
