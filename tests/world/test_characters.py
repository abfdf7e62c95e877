"""Characters and statics that come, move and go: answers equal those of a world of their limbs; snapshots stay."""

import weakref
from copy import copy

import numpy as np
import pytest
from support.cases.everyday_worlds import make_crowd
from support.character_life import Life, all_shapes_rig, answers, check_equal, crowd_of
from support.check_cylinders import IS_COMPILED
from support.memory import memory_taken

import cylcollide as cc
from cylcollide.constants import REBUILT_AT_ONCE

QUERIES = ({}, {"inside": "exit"}, {"inside": "ignore", "mask": 2}, {"ignore_character": 3})


def live(life: Life, steps: int, rays: int) -> int:
    """Make this many steps and compare each with a new world of the expected limbs; returns the number of hits."""
    hits = 0
    for _ in range(steps):
        life.step()
        limbs, options = life.expected(), QUERIES[life.rng.integers(len(QUERIES))]
        if life.rng.random() < 0.5:  # the held state must not be written again
            assert life.world.limbs == limbs
            labels = life.world.snapshot()._labels
            rows = zip(labels.names, labels.bone, labels.rig_limb, life.world.limbs.character, strict=True)
            assert [tuple(row) for row in rows] == life.labels()
            assert labels.static.tolist() == life.static_rows()
        shots = life.rays(rays)
        want = answers(cc.HitWorld(limbs), shots, options)
        hits += check_equal(answers(life.world, shots, options), want)
        if life.rng.random() < 0.1:
            life.kept.append((life.world.snapshot(), (shots, options, want)))
        for snapshot, (then, with_options, said) in life.kept[-3:]:
            check_equal(answers(snapshot, then, with_options), said)
        del life.kept[:-3]
    return hits


@pytest.mark.parametrize(
    ("seed", "bare", "steps"),
    [(0, 0, 60), (1, 12, 80), pytest.param(99, 5, 10_000, marks=pytest.mark.long)],
)
def test_a_life_of_characters(seed: int, bare: int, steps: int):
    life = Life(np.random.default_rng(seed), make_crowd(bare), names=Life.WITH_STATICS)
    assert live(life, steps, 25) > 4 * steps
    assert life.steps.keys() == set(Life.WITH_STATICS)


def test_a_few_of_many_move_and_others_stay():
    """More limbs than REBUILT_AT_ONCE, so branches are refitted, and characters inserted into the tree and removed."""
    world, rig, ids, life = crowd_of(70)
    assert len(world) > REBUILT_AT_ONCE
    at, turn = (world.snapshot()._columns.positions.reshape(70, -1, 3), world.snapshot()._columns.orientations)
    at, turn = at.copy(), turn.reshape(70, -1, 4).copy()
    alive = list(range(70))
    for step in range(40):
        k = int(life.rng.choice(alive))
        pose = life.pose(rig, 1)
        if step % 4 == 3:
            world.despawn(ids[k])
            alive.remove(k)
        else:
            world.set_poses(ids[k], *pose)
            at[k], turn[k] = pose[0][0], pose[1][0]
        if step % 10 == 5:
            new = world.spawn(rig)
            world.set_poses(new, *(pose := life.pose(rig, 1)))
            ids, alive = np.append(ids, new), [*alive, len(ids)]
            at, turn = np.concatenate([at, pose[0]]), np.concatenate([turn, pose[1]])
        fresh = cc.HitWorld(rig.place(at[alive], turn[alive], character=ids[alive]))
        assert world.limbs == fresh.limbs
        rays = life.rays(300)
        assert check_equal(answers(world, rays, {}), answers(fresh, rays, {})) > 100
    world.finish_rebuild()
    assert check_equal(answers(world, rays, {}), answers(fresh, rays, {})) > 100


def test_an_update_of_a_few_keeps_the_tree():
    world, rig, ids, life = crowd_of(70)
    child = world.snapshot()._tree.child
    world.set_poses(ids[3], *life.pose(rig, 1))
    assert world.snapshot()._tree.child is child


def test_despawned_characters_free_memory():
    life = Life(np.random.default_rng(1), cc.HitWorld().limbs)
    world, rig = life.world, life.rigs[0]

    def generation() -> None:
        ids = world.spawn(rig, 40)
        world.set_poses(ids, *life.pose(rig, 40))
        world.set_poses(ids[:3], *life.pose(rig, 3))
        world.despawn(ids)

    assert memory_taken(generation, 30 if IS_COMPILED else 3) < 100_000
    assert len(world) == 0
    assert world.spawn(rig).tolist() == [40 * (33 if IS_COMPILED else 6)]


def test_a_despawned_rig_is_freed():
    world, rig = cc.HitWorld(), all_shapes_rig()
    ids = world.spawn(rig, 2)
    gone = weakref.ref(rig)
    world.despawn(ids)
    del rig
    assert gone() is None


def test_copies_do_not_write_into_each_other():
    """In every order of moves, neither world writes into columns that the other has written."""
    world, rig, ids, life = crowd_of(40, field=3.0)
    world.set_poses(ids[0], *life.pose(rig, 1))
    pair = [world, copy(world)]
    expected = [cc.Limbs.concat([one.limbs]) for one in pair]  # copies of the arrays, which do not hold the state
    for which in (0, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 0, *life.rng.integers(0, 2, 60)):
        k, pose = int(life.rng.integers(40)), life.pose(rig, 1)
        pair[which].set_poses(ids[k], *pose)
        placed, rows = rig.place(*pose), np.arange(17 * k, 17 * k + 17)
        expected[which] = expected[which].moved(placed.p1, placed.p2, limbs=rows)
        for one, limbs in zip(pair, expected, strict=True):
            assert one.limbs == limbs


def test_poses_have_the_same_bits_alone_and_in_a_batch():
    world, rig, ids, life = crowd_of(30, field=3.0)
    at, turn = life.pose(rig, 30)
    world.set_poses(ids, at, turn)
    batch = world.limbs
    for k in life.rng.permutation(30).tolist():
        world.set_poses(ids[k], *life.pose(rig, 1))
    for k in life.rng.permutation(30).tolist():
        world.set_poses(ids[k], at[k], turn[k])
    assert world.limbs == batch == rig.place(at, turn, character=ids)
