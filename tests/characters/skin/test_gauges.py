"""Gauges of shapes: what they contain, their volumes and their surfaces, against limbs and meshes."""

import numpy as np
import pytest
from support import skins

import cylcollide as cc
from cylcollide import Shape, Side
from cylcollide.characters.skin.gauges import FAMILIES

Z = np.array([0.0, 0.0, 1.0])


def limbs(shape, p, s):
    """Limbs of proportions p at scales s (n,) about 0."""
    ends = (p[0] if len(p) else 0.0) * np.outer(s, Z)
    match shape:
        case Shape.CYLINDER:
            return cc.Limbs.cylinders(-ends, ends, s)
        case Shape.TAPERED:
            return cc.Limbs.tapered_cylinders(-ends, ends, s * (1 - p[1]), s * (1 + p[1]))
        case Shape.CAPSULE:
            return cc.Limbs.capsules(-ends, ends, s)
        case Shape.ELLIPSOID:
            return cc.Limbs.ellipsoids(-ends, ends, s)
        case Shape.SPHERE:
            return cc.Limbs.spheres(ends, s)
        case _:
            return cc.Limbs.boxes(0 * ends, skins.IDENTITY, np.outer(s, [p[0], p[1], 1.0]))


def mesh(shape, p):
    """The mesh of the limb at scale 1."""
    end = (p[0] if len(p) else 0.0) * Z
    match shape:
        case Shape.CYLINDER:
            return skins.cylinder(-end, end, 1.0, sides=128, rings=8)
        case Shape.TAPERED:
            return skins.cylinder(-end, end, 1 - p[1], 1 + p[1], sides=128, rings=8)
        case Shape.ELLIPSOID:
            return skins.ellipsoid(-end, end, 1.0)
        case Shape.BOX:
            return skins.box(0 * Z, np.eye(3), [p[0], p[1], 1.0])
        case _:
            return skins.capsule(-end, end, 1.0)


PROPORTIONS = {
    Shape.CYLINDER: [[0.3], [1.0], [4.0]], Shape.TAPERED: [[0.4, 0.5], [2.0, -0.7], [1.0, 1.0], [0.7, 0.0]],
    Shape.CAPSULE: [[0.02], [1.0], [5.0]], Shape.ELLIPSOID: [[0.2], [1.0], [1.0001], [3.0]], Shape.SPHERE: [[]],
    Shape.BOX: [[0.5, 2.0], [1.0, 1.0]],
}  # fmt: skip


@pytest.mark.parametrize(("shape", "p"), [(shape, p) for shape, rows in PROPORTIONS.items() for p in rows], ids=str)
def test_a_gauge_is_the_least_containing_scale(shape, p):
    family, row = FAMILIES[shape], np.array([p], dtype=float).reshape(1, -1)
    points = np.random.default_rng(2).uniform(-3, 3, (300, 3))
    points[:4] = [[0, 0, 1.5], [0, 0, 0], [2, 0, 0], [0, 0, -0.1]]
    scales = family.gauge(*(points.T[:, None]), row)[0]
    assert scales[1] == 0.0
    points, scales = np.delete(points, 1, axis=0), np.delete(scales, 1)
    assert (limbs(shape, p, scales * (1 + 1e-12)).classify_points(points) != Side.OUTSIDE).all()
    assert (limbs(shape, p, scales * (1 - 1e-12)).classify_points(points) == Side.OUTSIDE).all()


@pytest.mark.parametrize(("shape", "p"), [(shape, p) for shape, rows in PROPORTIONS.items() for p in rows], ids=str)
def test_volume_and_surface_match_the_mesh(shape, p):
    family, row = FAMILIES[shape], np.array([p], dtype=float).reshape(1, -1)
    points, faces = mesh(shape, p)
    corners = points[faces]
    crosses = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
    volume, surface = (corners[:, 0] * crosses).sum() / 3, np.linalg.norm(crosses, axis=1).sum()
    assert volume > 0  # the mesh faces outwards
    assert family.volume(row)[0] == pytest.approx(volume, rel=6e-3)
    assert family.surface(row)[0] == pytest.approx(surface, rel=6e-3)
    assert family.size(row, "volume")[0] == pytest.approx(np.cbrt(volume), rel=3e-3)
    assert family.size(row, "surface")[0] == pytest.approx(np.sqrt(surface), rel=3e-3)
