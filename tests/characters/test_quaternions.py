"""The public functions on quaternions: rotations, both orders, broadcasting shapes, and bad numbers."""

import numpy as np
import pytest
from support.oracle.pose import rational, turned

import cylcollide as cc

ORDERS = ("xyzw", "wxyz")
rng = np.random.default_rng(1)
A, B = rng.normal(size=(2, 40, 4))
AXES, ANGLES = rng.normal(size=(40, 3)), rng.uniform(-7.0, 7.0, 40)


def unit(q):
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def vectors_turned(q, vectors):
    """Rotate by rational arithmetic, rounded once."""
    return np.array([[float(c) for c in turned(rational(one), rational(v))] for one, v in zip(q, vectors, strict=True)])


def as_order(q, order):
    return q if order == "xyzw" else q[..., [3, 0, 1, 2]]


def test_a_product_applies_the_second_first():
    product = cc.quaternions.multiply(unit(A), unit(B))
    expected = vectors_turned(A, vectors_turned(B, AXES))
    assert np.abs(vectors_turned(product, AXES) - expected).max() < 1e-14


def test_a_turn_about_an_axis():
    """Rodrigues' formula; a quarter turn about z takes x to y."""
    assert np.allclose(cc.quaternions.from_axis_angle([0, 0, 5], np.pi / 2), [0, 0, np.sqrt(0.5), np.sqrt(0.5)])
    got = vectors_turned(cc.quaternions.from_axis_angle(AXES, ANGLES), B[:, :3])
    n, v, cos, sin = unit(AXES), B[:, :3], np.cos(ANGLES)[:, None], np.sin(ANGLES)[:, None]
    expected = v * cos + np.cross(n, v) * sin + n * (n * v).sum(axis=1, keepdims=True) * (1 - cos)
    assert np.abs(got - expected).max() < 1e-14


@pytest.mark.parametrize("length", [2.0**-500, 1e-140, 1.0, 5e149])
def test_an_axis_has_any_length(length: float):
    assert cc.quaternions.from_axis_angle([0.0, 3 * length, 4 * length], 1.0) == pytest.approx(
        [0.0, 0.6 * np.sin(0.5), 0.8 * np.sin(0.5), np.cos(0.5)], abs=1e-15
    )


def test_a_matrix_turns_as_its_quaternion():
    columns = [vectors_turned(A, np.tile(axis, (40, 1))) for axis in np.eye(3)]
    got = cc.quaternions.from_matrix(np.stack(columns, axis=2))
    assert np.abs(vectors_turned(got, AXES) - vectors_turned(A, AXES)).max() < 1e-14


def test_slerp_is_uniform_and_goes_the_short_way():
    """Equal steps; the turn from a to the middle is half of that from a to b."""
    steps = cc.quaternions.slerp(A[:, None], B[:, None], np.linspace(0.0, 1.0, 9))
    assert steps.shape == (40, 9, 4)
    cosine = (steps[:, :-1] * steps[:, 1:]).sum(axis=2)
    assert np.abs(cosine - cosine[:, :1]).max() < 1e-14
    assert (cosine > np.cos(np.pi / 16) - 1e-14).all()
    assert np.abs(steps[:, 0] - unit(A)).max() < 1e-15
    sign = np.sign((unit(A) * unit(B)).sum(axis=1))[:, None]
    assert np.abs(steps[:, -1] - sign * unit(B)).max() < 1e-15
    assert len(set(sign[:, 0])) == 2


@pytest.mark.parametrize("angle", [0.0, 1e-300, 1e-160, 1e-8, 1e-3, np.pi])
def test_slerp_of_small_turns(angle: float):
    a, b = (cc.quaternions.from_axis_angle([1, 2, 2], by) for by in (0.0, angle))
    expected = cc.quaternions.from_axis_angle([1, 2, 2], 0.25 * angle)
    assert cc.quaternions.slerp(a, b, 0.25) == pytest.approx(expected, rel=1e-12, abs=1e-17)
    assert cc.quaternions.slerp(a, -7.0 * b, 0.25) == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("share", [0.3, 2.0**53, -(2.0**53) - 2.0, 1e17, 3e150])
def test_slerp_between_equal_turns_is_that_turn(share: float):
    for b in (A, -A, 4.0 * A):
        assert np.abs(cc.quaternions.slerp(A, b, share) - unit(A)).max() < 4e-16


@pytest.mark.parametrize("order", ORDERS)
def test_orders(order):
    """Arguments and results use the same order, and the same numbers."""
    q = cc.quaternions
    a, b = as_order(A, order), as_order(B, order)
    assert q.multiply(a, b, order=order).tobytes() == as_order(q.multiply(A, B), order).tobytes()
    assert q.slerp(a, b, 0.3, order=order).tobytes() == as_order(q.slerp(A, B, 0.3), order).tobytes()
    expected = as_order(q.from_axis_angle(AXES, ANGLES), order)
    assert q.from_axis_angle(AXES, ANGLES, order).tobytes() == expected.tobytes()
    assert q.from_matrix(np.eye(3), order).tolist() == as_order(np.array([0.0, 0.0, 0.0, 1.0]), order).tolist()


def test_shapes_broadcast():
    q = cc.quaternions
    assert q.multiply(A[:3, None], B[None, :5]).shape == (3, 5, 4)
    assert q.multiply([0, 0, 0, 1], [1, 2, 3, 4]).tolist() == [1.0, 2.0, 3.0, 4.0]
    assert q.from_axis_angle([0, 0, 1], ANGLES).shape == (40, 4)
    assert q.from_axis_angle(AXES, 1.0).shape == (40, 4)
    assert q.from_matrix(np.tile(np.eye(3), (2, 5, 1, 1))).shape == (2, 5, 4)
    assert q.from_matrix(np.empty((0, 3, 3))).shape == (0, 4)
    assert q.slerp(A, B[0], 0.5).shape == (40, 4)
    for empty in (q.multiply([], []), q.slerp([], [0, 0, 0, 1], 0.5), q.from_axis_angle([], []), q.from_matrix([])):
        assert empty.shape == (0, 4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda q: q.multiply(A[:3], B[:4]), r"a: expected shapes that broadcast, got a \(3,\), b \(4,\)"),
        (lambda q: q.multiply(A, B, order="zyxw"), "order: expected 'xyzw' or 'wxyz', got 'zyxw'"),
        (lambda q: q.from_axis_angle([0, 0, 0], 1.0), "axis: expected a component of at least 2"),
        (lambda q: q.slerp(A, 0 * B, 0.5), "b: expected a component of at least 2"),
        (lambda q: q.slerp(A, B, [0.5] * 3), "a: expected shapes that broadcast"),
        (lambda q: q.from_matrix([np.eye(3), 2 * np.eye(3)]), "got columns of lengths 2 2 2; .* in row 1"),
        (lambda q: q.from_matrix(np.diag([1, 1, -1])), "got a mirrored one of scale 1 1 1"),
        (lambda q: q.from_matrix(np.eye(3) + np.eye(3, k=1) * 0.001), "got a sheared one of scale 1 1 1"),
    ],
)
def test_bad_arguments(call, message: str):
    with pytest.raises(ValueError, match=message):
        call(cc.quaternions)
