"""Bodies in contact, and planes: the answers of the loops equal those of exact arithmetic."""

import numpy as np
import pybullet as p
import pytest
import support.pybullet_scenes as scenes

from cylcollide.bullet import Mirror
from cylcollide.bullet.merge_hits import RayTest, numbered


def load(c, names):
    """Bodies of PyBullet's own files."""
    for name in names:
        p.loadURDF(name, physicsClientId=c)


def box(c, half, position, turn=(0, 0, 0, 1)):
    """A fixed box."""
    shape = p.createCollisionShape(p.GEOM_BOX, halfExtents=half, physicsClientId=c)
    return p.createMultiBody(0, shape, basePosition=position, baseOrientation=turn, physicsClientId=c)


def sheet(c, normal, position):
    """A plane."""
    shape = p.createCollisionShape(p.GEOM_PLANE, planeNormal=normal, physicsClientId=c)
    return p.createMultiBody(0, shape, basePosition=position, physicsClientId=c)


def stacked(c):
    """Boxes and planes in their faces, in both orders; a plane upside down, and two slanted ones."""
    box(c, [1, 1, 0.5], [0, 0, 0.5])
    sheet(c, [0, 0, 1], [0, 0, 1])
    sheet(c, [0, 0, -1], [3, 0, 1])
    box(c, [0.5, 2, 0.25], [0, 0, 0.75], [0, 0, 0.3, 0.9])
    sheet(c, [0, 1, 0], [0, 1, 0])
    box(c, [0.2, 0.1, 0.3], [0.3, 0, 0.1 + 0.2])
    sheet(c, [0.6, 0, 0.8], [0.1, -0.2, 0.3])
    sheet(c, [0.6, 0, 0.8], [0.1, -0.2, 0.3])


def heap(c):
    """Bodies of all shapes, in which most rays start in several of them."""
    rng = np.random.default_rng(4)
    scenes.geometry(c, rng)
    for kind in range(12):
        scenes.body(c, kind % 4, rng.uniform(-0.2, 0.2, 3), rng)


SCENES = {
    "ground twice": lambda c: load(c, ["plane.urdf", "plane.urdf"]),
    "sheet twice": lambda c: load(c, ["plane_implicit.urdf"] * 2),
    "box, then sheet": lambda c: load(c, ["plane.urdf", "plane_implicit.urdf"]),
    "sheet, then box": lambda c: load(c, ["plane_implicit.urdf", "plane.urdf"]),
    "stacked": stacked,
    "heap": heap,
}


def rays(seed, n=60):
    """Segments from above, from all around, along the axes, and in planes of faces."""
    rng = np.random.default_rng(seed)
    start, end = rng.normal(size=(n, 3)) * [1, 1, 0.5] + [0, 0, 2], rng.normal(size=(n, 3)) - [0, 0, 1]
    kind, flat = np.arange(n) % 5, rng.integers(-4, 5, (n, 3)) / 4.0
    start[kind == 1] -= [0, 0, 3]
    start[kind == 2], end[kind == 2] = flat[kind == 2] + [0, 0, 3], flat[kind == 2] - [0, 0, 3]
    start[kind == 3, 2] = 1.0
    end[kind == 4, 2] = rng.choice([0.0, 1.0], (kind == 4).sum())
    return start, end


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("inside", ["ignore", "hit", "exit"])
@pytest.mark.parametrize("tolerance", [0.0, 1e-3])
def test_answers_equal_exact_arithmetic(c, name, inside, tolerance):
    SCENES[name](c)
    mirror, (starts, ends) = Mirror(c, inside=inside, tolerance=tolerance), rays(1)
    hits = mirror.cast_segments(starts, ends)
    expected, shape = numbered(mirror._follower.scene.state, RayTest(starts, ends, inside, -1 & 0xFFFFFFFF, 1), 0)
    assert np.array_equal(hits._shape, shape)
    assert np.array_equal(hits.fraction, expected.fraction)
    assert np.array_equal(hits.position, expected.position, equal_nan=True)
    assert np.array_equal(hits.normal, expected.normal, equal_nan=True)
    assert hits.hit.mean() > (0.3 if name == "heap" else 0.5)
    assert len(np.unique(shape)) > (5 if name in ("stacked", "heap") else 1)


@pytest.mark.parametrize("name", [name for name in SCENES if name != "heap"])
def test_ordinary_rays_need_no_exact_arithmetic(c, name):
    SCENES[name](c)
    rng = np.random.default_rng(2)
    up = np.array([0.0, 0.0, 9.0])
    starts, ends = rng.normal(size=(200, 3)) + up, rng.normal(size=(200, 3)) - up
    hits = Mirror(c).cast_segments(starts, ends)
    assert hits.hit.all()
    assert hits.rechecked == 0
    assert "0 rechecked" in repr(hits)


def test_rays_that_are_rechecked_are_counted(c):
    sheet(c, [0.6, 0, 0.8], [0.1, -0.2, 0.3])
    sheet(c, [0.6, 0, 0.8], [0.1 + 0.8, -0.2, 0.3 - 0.6])  # the same plane by other numbers, or nearly so
    assert Mirror(c).cast_segments([[0, 0, 5.0]] * 3, [[0.3, 0, -5.0]] * 3).rechecked == 3
