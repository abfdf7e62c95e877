"""Poses are restored bit by bit, whatever the numbers; rounded poses and motions take few bytes."""

import numpy as np
import pytest

import cylcollide as cc
from cylcollide.shotlog.pose_codec import PoseCodec
from cylcollide.shotlog.values import packed, unpacked

RIG = cc.Rig.humanoid()
BONES = len(RIG.bone_names)


def motion(rng: np.random.Generator, people: int, ticks: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """People who turn, walk and swing all their joints."""
    at, heading = rng.uniform(-20, 20, (people, 3)), rng.uniform(0, 6, people)
    axes, speed = rng.normal(size=(people, BONES, 3)), rng.uniform(1, 6, (people, BONES))
    found = []
    for tick in range(ticks):
        at, heading = at + 0.02 * rng.normal(size=(people, 3)), heading + 0.01 * rng.normal(size=people)
        joints = cc.quaternions.from_axis_angle(axes, 0.4 * np.sin(speed * tick / 60))
        turn = np.column_stack([0 * heading, 0 * heading, np.sin(heading / 2), np.cos(heading / 2)])
        found.append(RIG.forward(at, turn, joints))
    return found


def sizes(poses: list[tuple[np.ndarray, np.ndarray]]) -> tuple[list[int], set[str]]:
    """Encode and decode tick after tick; return the bytes of each, and the chosen forms."""
    there, back, found, forms = PoseCodec(), PoseCodec(), [], set()
    for at, turn in poses:
        ids, rigs = list(range(len(at))), [RIG] * len(at)
        numbers = np.concatenate([np.moveaxis(at, -1, 0), np.moveaxis(turn, -1, 0)]).astype(np.float64)
        form, data = there.encoded(ids, rigs, numbers)
        again = back.decoded(form, data, ids, rigs)
        assert np.array_equal(again.view(np.int64), numbers.view(np.int64))
        found.append(len(data))
        forms.add(form)
    return found, forms


@pytest.mark.parametrize(("form", "most"), [("float64", 26.0), ("float32", 11.0), ("rounded", 5.0)])
def test_motions_take_few_bytes(form: str, most: float):
    poses = motion(np.random.default_rng(1), 8, 12)
    if form == "float32":
        poses = [(at.astype(np.float32), turn.astype(np.float32)) for at, turn in poses]
    if form == "rounded":
        poses = [cc.round_poses(at, turn) for at, turn in poses]
    found, forms = sizes(poses)
    assert forms == {form}
    assert max(found[3:]) < most * 8 * BONES


@pytest.mark.parametrize("seed", range(4))
def test_any_numbers_come_back(seed: int):
    rng = np.random.default_rng(seed)
    poses = motion(rng, 3, 6)
    for at, turn in poses:
        scale = 2.0 ** rng.integers(-500, 500, at.shape)
        at[...] = np.where(rng.random(at.shape) < 0.3, at * scale, at)
        turn[...] = np.where(rng.random(turn.shape) < 0.2, rng.choice([0.0, -0.0, 1e-310, 2.0**500]), turn)
    sizes(poses)
    sizes([(np.round(at), -np.round(turn)) for at, turn in motion(rng, 2, 4)])  # -0.0 is no multiple


def test_characters_that_come_and_go_are_kept_apart():
    (at, turn), *_ = motion(np.random.default_rng(5), 4, 1)
    there, back = PoseCodec(), PoseCodec()
    for ids in ([1, 2], [2, 3], [3], [1, 4], [4, 1]):
        rigs, numbers = [RIG] * len(ids), np.concatenate([np.moveaxis(at, -1, 0), np.moveaxis(turn, -1, 0)])
        numbers = np.ascontiguousarray(numbers[:, [one - 1 for one in ids]])
        assert np.array_equal(back.decoded(*there.encoded(ids, rigs, numbers), ids, rigs), numbers)
        there.reset([4])
        back.reset([4])


def test_round_poses_is_near_and_stable():
    rng = np.random.default_rng(3)
    at, turn = rng.uniform(-50, 50, (4, 5, 3)), rng.normal(size=(4, 5, 4))
    near, unit = cc.round_poses(at, turn * 7.0)
    assert abs(near - at).max() <= 2.0**-15
    assert abs(unit - turn / np.linalg.norm(turn, axis=-1, keepdims=True)).max() <= 2.0**-15
    assert (near * 2.0**14 == np.round(near * 2.0**14)).all()
    for got, want in zip(cc.round_poses(near, unit), (near, unit), strict=True):
        assert abs(got - want).max() <= 2.0**-14
    assert [one.shape for one in cc.round_poses([], [])] == [(0, 3), (0, 4)]
    assert not np.signbit(cc.round_poses([[-1e-9, 0, 0]], [[-1e-9, 0, 0, 1]])[0]).any()
    for size in (0.0, 1e-200):  # as everywhere a quaternion is given
        with pytest.raises(ValueError, match="orientations: expected a quaternion other than zero"):
            cc.round_poses([0.0] * 3, [0.0, 0.0, 0.0, size])


def test_values_come_back():
    value = {
        "a": [1, None, "ü", True, 0.1, float("inf")], "b": np.arange(6.0).reshape(2, 3), "c": b"bytes",
        "d": {"e": np.array([[-0.0, np.nan]]), "f": b"", "g": np.array(3, np.int32), "h": np.float64(2.5)},
    }  # fmt: skip
    again = unpacked(packed(value))
    assert again["a"] == value["a"]
    assert again["b"].tolist() == value["b"].tolist()
    assert (again["c"], again["d"]["f"], again["d"]["g"], again["d"]["h"]) == (b"bytes", b"", 3, 2.5)
    assert again["d"]["e"].tobytes() == value["d"]["e"].tobytes()
    for wrong in (packed(value)[:-20], b"", b"xxxxxxxxxxxx"):
        with pytest.raises(ValueError, match="damaged content"):
            unpacked(wrong)
    with pytest.raises(TypeError, match="expected numbers"):
        packed({"a": np.array([object()])})
