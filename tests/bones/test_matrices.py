"""Quaternions of rotation matrices: accurate, bits equal one by one and eight at a time, other matrices refused."""

import numpy as np
import pytest
from support.cases.frames import matrices
from support.check_cylinders import sized
from support.machine_code import interpreted

from cylcollide.bones.matrices import pose_matrices, turn_matrices
from cylcollide.characters.quaternions import of_matrices

pytestmark = [pytest.mark.plain_python, pytest.mark.coverage]

ROWS = 4, 1


def hard_quaternions(rng, n):
    """Any turns; half turns, whose w is 0; turns about the axes; equal components, so that two are the largest."""
    q = rng.normal(size=(n, 4))
    q[1::5, 3] = 0.0
    q[2::5, rng.integers(0, 4)] = 0.0
    q[3::5] = np.sign(q[3::5])
    q[4::5, :2] *= 1e-9
    return q


def transforms(rng, n):
    """Rotations and translations, (n, 4, 4)."""
    m = np.zeros((n, 4, 4))
    m[:, :3, :3], m[:, :3, 3], m[:, 3, 3] = matrices(hard_quaternions(rng, n)), rng.normal(size=(n, 3)), 1.0
    return m


def posed(m, form=ROWS):
    at, turn = np.empty((len(m), 3)), np.empty((len(m), 4))
    return pose_matrices(m.reshape(len(at), -1), *form, at, turn), at, turn


def test_the_quaternion_is_that_of_the_matrix():
    q = hard_quaternions(np.random.default_rng(1), sized(2000))
    unit = q / np.sqrt((q * q).sum(axis=1))[:, None]
    got = of_matrices(matrices(q))
    sign = np.sign((got * unit).sum(axis=1))[:, None]
    assert np.abs(got - sign * unit).max() <= 8 * 2.0**-53
    assert (got.max(axis=1) >= 0.5).all()  # the largest component is positive
    assert len(set(np.abs(got).argmax(axis=1).tolist())) == 4


def test_machine_code_has_the_bits_of_plain_python():
    m, turns = matrices(hard_quaternions(np.random.default_rng(2), 200)), np.empty((200, 4))
    assert interpreted(turn_matrices)(m, turns, True) == -1
    assert of_matrices(m).tobytes() == turns.tobytes()


@pytest.mark.parametrize("n", [1, 8, 29])
def test_eight_lanes_have_the_bits_of_one(n: int):
    m = transforms(np.random.default_rng(n), n)
    bad, at, turn = posed(m)
    assert bad == -1
    assert turn.tobytes() == of_matrices(m[:, :3, :3]).tobytes()
    assert at.tobytes() == m[:, :3, 3].tobytes()


def test_every_arrangement_is_read():
    m = transforms(np.random.default_rng(3), 19)
    expected = posed(m)[1:]
    for form, given in (
        ((4, 1), m[:, :3]),
        ((1, 4), np.swapaxes(m, 1, 2)),
        ((1, 3), np.swapaxes(m[:, :3], 1, 2)),
    ):
        bad, *got = posed(np.ascontiguousarray(given), form)
        assert bad == -1
        assert [a.tobytes() for a in got] == [e.tobytes() for e in expected]


FAULTS = {
    "nan": lambda m: m.__setitem__((0, 1), np.nan),
    "far": lambda m: m.__setitem__((2, 3), 1e200),
    "large": lambda m: m.__setitem__((2, 2), 1e300),
    "scaled": lambda m: m[:3, :3].__imul__(1.00012),
    "one column scaled": lambda m: m[:3, 1].__imul__(0.99988),
    "mirrored": lambda m: m[:3, 0].__imul__(-1.0),
    "sheared": lambda m: m[:3, 0].__iadd__(2.2e-4 * m[:3, 1]),
    "zeros": lambda m: m[:3, :3].__imul__(0.0),
    "last row": lambda m: m.__setitem__((3, 1), 1e-9),
    "last entry": lambda m: m.__setitem__((3, 3), 2.0),
}


@pytest.mark.parametrize("row", [5, 18])
@pytest.mark.parametrize("fault", FAULTS)
def test_the_first_fault_is_found(fault: str, row: int):
    """Also in a batch of eight; poses of the rows before it are written."""
    m = transforms(np.random.default_rng(4), 19)
    good = posed(m)[2]
    for one in {row, 18}:
        FAULTS[fault](m[one])
    bad, _, turn = posed(m)
    assert bad == row
    assert turn[:row].tobytes() == good[:row].tobytes()
    out, rotation = np.empty((19, 4)), m[:, :3, :3].copy()
    expected = -1 if fault in ("far", "last row", "last entry") else row
    assert turn_matrices(rotation, out, True) == expected


def test_near_rotations_are_accepted():
    m = transforms(np.random.default_rng(7), 16)
    m[0, :3, :3] *= 1.00009
    m[1, :3, 2] *= 0.99991
    m[2, :3, 0] += 1.8e-4 * m[2, :3, 1]
    assert posed(m)[0] == -1
