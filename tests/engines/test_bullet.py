"""PyBullet as an engine: constructions, margins, threads, closing."""

import numpy as np
import pybullet
import pytest

import cylcollide as cc
from cylcollide.engines import EngineHits
from cylcollide.engines.bullet import BulletEngine, axis_quaternion

X = np.array([1.0, 0.0, 0.0])
AXES = [
    (0, 0, 1), (0, 0, -1), (1, 0, 0), (0, -1, 0), (1e-9, 0, -1), (0, -1e-300, -1), (1e-17, 1e-17, 1), (3, -4, 12),
    *np.random.default_rng(3).normal(size=(20, 3)).tolist(),
]  # fmt: skip


def crossed_pair():
    """Return two limbs, one behind the other along x."""
    return cc.Limbs.cylinders([[0, 0, -1], [3, -1, 0]], [[0, 0, 1], [3, 1, 0]], [0.5, 0.25])


@pytest.mark.parametrize("axis", AXES)
def test_quaternion_turns_z_to_the_axis(axis):
    axis = np.array(axis, dtype=float)
    turned = np.array(pybullet.getMatrixFromQuaternion(axis_quaternion(axis))).reshape(3, 3)[:, 2]
    # Half angles, sines and the matrix round a dozen times: float32 anywhere would be off by 1e-8.
    np.testing.assert_allclose(turned, axis / np.linalg.norm(axis), rtol=0, atol=1e-15)


def test_a_cap_is_where_the_limb_ends():
    # Bullet is exact at flat faces only: the shape's ends must be p1 and p2.
    rng = np.random.default_rng(8)
    p1, p2 = rng.normal(size=(2, 40, 3))
    limbs = cc.Limbs.cylinders(p1, p2, 0.1)
    axis = (p2 - p1) / np.linalg.norm(p2 - p1, axis=1)[:, None]
    for limb in range(len(limbs)):
        with BulletEngine() as engine:
            engine.build(limbs[[limb]])
            hits = engine.cast_segments((p2 + 2 * axis)[[limb]], p1[[limb]])
        assert hits.limb[0] == 0
        np.testing.assert_allclose(hits.position[0], p2[limb], rtol=0, atol=1e-12)


def test_closing_many_times():
    for _ in range(30):  # PyBullet has a limited number of clients
        with BulletEngine() as engine:
            client = engine._client
            assert pybullet.isConnected(client)
        assert not pybullet.isConnected(client)


def early(engine):
    """Return the metres by which a head-on shot at the first limb's side is reported early."""
    engine.build(crossed_pair())
    hits = engine.cast_segments(np.array([[-10.0, 0, 0.2]]), np.array([[10.0, 0, 0.2]]))
    return 9.5 - 20 * hits.fraction[0]


@pytest.mark.parametrize(
    ("construction", "margin", "expected", "room"),
    [
        ("geom", None, 0.0, 1e-9), ("geom", 0.01, 0.0, 1e-9),
        ("urdf", None, 1e-3, 1e-6), ("urdf", 0.01, 1e-2, 1e-6),  # a hull, and the margin lies outside it
        ("urdf-implicit", None, 0.0, 1e-9),
        ("mjcf", None, 0.0, 1e-7),
    ],
)  # fmt: skip
def test_constructions_and_margins_differ_as_bullet_does(construction, margin, expected, room):
    with BulletEngine(construction, margin) as engine:
        # One corner of the hull's polygon lies on -x, and a head-on shot hits it.
        assert abs(early(engine) - expected) < room
        assert (engine.capabilities.sides == 32) == (construction == "urdf")


def test_threads_change_nothing():
    rng = np.random.default_rng(6)
    starts, ends = np.array([-10.0, 0, 0]) + rng.normal(size=(2, 3000, 3))
    found = []
    for threads in (1, 2):
        with BulletEngine(threads=threads) as engine:
            engine.build(crossed_pair())
            found.append(engine.cast_segments(starts, ends + 20 * X))
    assert (found[0].limb >= 0).sum() > 500
    for field in EngineHits.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(found[0], field), getattr(found[1], field))


def test_unknown_construction_is_refused():
    with pytest.raises(ValueError, match="expected one of geom, urdf, urdf-implicit, mjcf, got 'sdf'"):
        BulletEngine("sdf")
