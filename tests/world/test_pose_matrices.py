"""Poses as matrices: bit for bit like `set_poses` with their quaternions, in every form; and what is refused."""

import numpy as np
import pytest
from support.skins import matrix

import cylcollide as cc

RIG = cc.Rig.humanoid()
BONES = len(RIG.bone_names)


def matrices(k: int, seed: int = 1):
    """Transforms of the bones of k characters, (k, b, 4, 4): matrix times column vector."""
    rng = np.random.default_rng(seed)
    at, turn = RIG.forward(rng.normal(size=(k, 3)) * 5, rng.normal(size=(k, 4)), rng.normal(size=(k, BONES, 4)))
    return matrix(at, turn)


def forms(m):
    """The given transforms in every form."""
    column = np.ascontiguousarray(np.swapaxes(m, -1, -2))
    yield "row", m
    yield "row", m[..., :3, :]
    yield "column", column
    yield "column", column[..., :3]
    yield "row", column.swapaxes(-1, -2)  # a view that is not in C order
    yield "row", m.tolist()


def state(world):
    limbs = world.limbs
    return limbs.p1.tobytes() + limbs.p2.tobytes() + limbs.box_axes.tobytes()


@pytest.mark.parametrize("k", [1, 3, 64])
def test_matrices_are_poses_bit_for_bit(k: int):
    m, (world, other) = matrices(k), (cc.HitWorld(), cc.HitWorld())
    ids, others = world.spawn(RIG, k), other.spawn(RIG, k)
    other.set_poses(others, m[..., :3, 3], cc.quaternions.from_matrix(m[..., :3, :3]))
    for order, given in forms(m):
        world.set_pose_matrices(ids, matrices(k, seed=2), order="row")
        assert state(world) != state(other)
        world.set_pose_matrices(ids, given, order=order)
        assert state(world) == state(other)
        starts, ends = m[:, 0, :3, 3] + [9.0, 0.0, 0.1], m[:, 0, :3, 3] - [9.0, 0.0, 0.1]
        hits, same = world.cast_segments(starts, ends), other.cast_segments(starts, ends)
        assert hits.hit.any()
        assert hits.local_position.tobytes() == same.local_position.tobytes()


def test_float32_matrices():
    m = matrices(5).astype(np.float32)
    world, other = cc.HitWorld(), cc.HitWorld()
    world.set_pose_matrices(world.spawn(RIG, 5), m, order="row")
    turn = cc.quaternions.from_matrix(m[..., :3, :3])
    other.set_poses(other.spawn(RIG, 5), m[..., :3, 3], turn)
    assert state(world) == state(other)


def test_some_characters_in_any_order():
    m, (world, other) = matrices(4), (cc.HitWorld(), cc.HitWorld())
    for one in (world, other):
        one.set_pose_matrices(one.spawn(RIG, 4), m, order="row")
    ids = world.characters
    world.set_pose_matrices(ids[[3, 1]], m[[0, 2]], order="row")
    other.set_poses(ids[[1, 3]], m[[2, 0], :, :3, 3], cc.quaternions.from_matrix(m[[2, 0], :, :3, :3]))
    world.set_pose_matrices(int(ids[0]), m[1], order="row")
    other.set_poses(ids[0], m[1, :, :3, 3], cc.quaternions.from_matrix(m[1, :, :3, :3]))
    assert state(world) == state(other)


def test_a_teleport():
    world = cc.HitWorld()
    ids = world.spawn(RIG)
    history = cc.PoseHistory(world)
    world.set_pose_matrices(ids, matrices(1), order="row")
    history.record(0.0)
    world.set_pose_matrices(ids, matrices(1, seed=2), order="row", teleport=True)
    history.record(1.0)
    assert history.limbs_at(0.9) == history.limbs_at(0.0)


def test_no_ids():
    world = cc.HitWorld()
    ids = world.spawn(RIG, 2)
    before = world.snapshot()
    for nothing in ([], np.empty((0, BONES, 4, 4))):
        world.set_pose_matrices([], nothing, order="row")
    world.set_poses([], [], [])
    world.set_poses(ids[:0], np.empty((0, BONES, 3)), np.empty((0, BONES, 4)))
    assert world.snapshot() is before


def spoiled(change):
    """Transforms of two characters, with one bone of the second changed."""
    m = matrices(2)
    change(m[1, 4])
    return m


BONE = f"it is bone 4 \\('{RIG.bone_names[4]}'\\) in row 1 \\(character 1\\)"


@pytest.mark.parametrize(
    ("given", "order", "message"),
    [
        (spoiled(lambda m: m[:3, :3].__imul__(100.0)), "row", f"got columns of lengths 100 100 100; .*{BONE}"),
        (spoiled(lambda m: m[:3, 1].__imul__(1.001)), "row", f"got columns of lengths 1 1.001 1; .*{BONE}"),
        (spoiled(lambda m: m[:3, 1].__imul__(-1.0)), "row", f"got a mirrored one of scale 1 1 1; .*{BONE}"),
        (spoiled(lambda m: m[:3, 1].__iadd__(0.01 * m[:3, 0])), "row", f"sheared one of scale 1 1.00005 1, .*{BONE}"),
        (spoiled(lambda m: m[3].__imul__(2.0)), "row", f"expected 0, 0, 0, 1 as the last row .* 2.0\\]; {BONE}"),
        (
            matrices(2).swapaxes(-1, -2),
            "row",
            "as the last row for order='row', got .*it is order='column'; it is bone 0",
        ),
        (matrices(2), "column", "as the last column for order='column', got .*it is order='row'; it is bone 0"),
        (matrices(2)[..., :3, :], "column", r"expected shape \(k, 17, 4, 4\) or \(k, 17, 4, 3\) for order='column'"),
        (matrices(3), "row", "matrices: expected 2 characters, one for each id, got 3"),
        (matrices(2), "rows", "order: expected 'row' or 'column', got 'rows'"),
    ],
)
def test_bad_matrices(given, order, message: str):
    world = cc.HitWorld()
    ids = world.spawn(RIG, 2)
    world.set_pose_matrices(ids, matrices(2), order="row")
    before = state(world)
    with pytest.raises(ValueError, match=message):
        world.set_pose_matrices(ids, given, order=order)
    assert state(world) == before
