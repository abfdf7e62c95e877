"""Instances of limbs that a browser draws: number, places and meshes."""

import numpy as np
import pytest
from support.cases.one_of_each_shape import LIMBS
from support.oracle.shapes.table import SHAPE_ROWS

import cylcollide as cc
from cylcollide._types import Shape
from cylcollide.limbs.outlines import surface_points
from cylcollide.view import instances
from cylcollide.view.instances import instances_of, turns_to, unit_mesh


def placed_vertices(one, i):
    """Vertices of an instance, in the world."""
    w, x, y, z = one.orientations[i]
    local = one.mesh.vertices * one.scales[i]
    u = np.array([x, y, z])
    turned = local + 2.0 * np.cross(u, np.cross(u, local) + w * local)
    return one.positions[i] + turned


@pytest.mark.parametrize("is_crowd", [False, True], ids=["few", "crowd"])
@pytest.mark.parametrize("shape", Shape, ids=lambda shape: shape.name)
def test_instances_lie_where_the_limbs_do(shape, is_crowd, monkeypatch):
    monkeypatch.setattr(instances, "FEW", 0 if is_crowd else 400)
    rng, one = np.random.default_rng(int(shape)), LIMBS[shape]
    limbs = cc.Limbs.concat([one, one.inflated(0.04), one.inflated(0.09)])
    step = rng.normal(size=(3, 3))
    p2 = limbs.p2 + step if "p2" not in SHAPE_ROWS[shape].takes else rng.normal(size=(3, 3))
    limbs = limbs.moved(limbs.p1 + step, p2)
    for i in range(3):
        found = [(each, k) for each in instances_of(limbs) for k in np.flatnonzero(each.rows == i)]
        assert len(found) == (3 if shape == Shape.CAPSULE and not is_crowd else 1)
        points, surface = np.concatenate([placed_vertices(*pair) for pair in found]), surface_points(limbs, i)
        for way in rng.normal(size=(50, 3)):  # both have the same extent in every direction
            way /= np.linalg.norm(way)
            assert (points @ way).max() == pytest.approx((surface @ way).max(), abs=0.08 if is_crowd else 0.02)


def test_every_limb_of_a_crowd_has_its_instances():
    rig, world = cc.Rig.humanoid(), cc.HitWorld()
    ids = world.spawn(rig, 5)
    places = np.column_stack([np.arange(5.0), np.zeros(5), np.ones(5)])
    world.set_poses(ids, *rig.forward(places, [0, 0, 0, 1], np.tile(rig.rest_orientations, (5, 1, 1))))
    found = instances_of(world.limbs)
    capsules = int((world.limbs.kind == Shape.CAPSULE).sum())
    assert sum(len(one.rows) for one in found) == len(world.limbs) + 2 * capsules
    assert np.unique(np.concatenate([one.rows for one in found])).tolist() == list(range(len(world.limbs)))
    assert len(found) < 20  # characters share their meshes
    middle = 0.5 * world.limbs.p1 + 0.5 * world.limbs.p2
    for one in found:
        if not one.name.startswith("ball-of"):
            assert np.allclose(one.positions, middle[one.rows])


@pytest.mark.parametrize("few", [0, 400])
def test_every_mesh_has_a_name_of_its_own(few, monkeypatch):
    monkeypatch.setattr(instances, "FEW", few)
    names = [one.name for one in instances_of(cc.Limbs.concat(list(LIMBS.values())))]
    assert len(set(names)) == len(names) >= len(LIMBS)


@pytest.mark.parametrize("shape", [Shape.TAPERED, Shape.CAPSULE])
def test_many_ratios_of_radii_share_meshes(shape):
    n = 500
    p1, radii = np.random.default_rng(0).normal(size=(n, 3)), np.linspace(1e-6, 1.0, n)
    limbs = (
        cc.Limbs.tapered_cylinders(p1, p1 + 1.0, radii, 1.0)
        if shape == Shape.TAPERED
        else cc.Limbs.capsules(p1, p1 + np.geomspace(1e-9, 1e9, n)[:, None], radii)
    )
    assert len(instances_of(limbs)) <= 33
    assert all(np.isfinite(one.mesh.vertices).all() for one in instances_of(limbs))
    assert sum(len(one.rows) for one in instances_of(limbs)) == n


def test_turns_take_z_to_the_axis():
    axes = np.array([[0, 0, 1], [0, 0, -1], [1, 0, 0], [0, -2, 0], [1, 2, -3], [0, 0, 0], [1e-9, 0, -1]], float)
    w, x, y, z = turns_to(axes).T
    ways = np.column_stack([2 * (x * z + w * y), 2 * (y * z - w * x), w * w + z * z - x * x - y * y])
    length = np.linalg.norm(axes, axis=1)
    wanted = np.where(length[:, None] > 0, axes / np.where(length > 0, length, 1)[:, None], [0, 0, 1])
    assert np.allclose(ways, wanted, atol=1e-8)


def test_caps_and_walls_share_no_vertices():
    whole, wall = unit_mesh("cylinder", 24), unit_mesh("wall", 24)
    assert len(whole.triangles) == 2 * len(wall.triangles)
    normals = np.cross(*(whole.vertices[whole.triangles[:, k]] - whole.vertices[whole.triangles[:, 0]] for k in (1, 2)))
    is_cap = np.abs(normals[:, 2]) > 0.5 * np.linalg.norm(normals, axis=1)
    assert not set(whole.triangles[is_cap].reshape(-1)) & set(whole.triangles[~is_cap].reshape(-1))
    assert len(unit_mesh("box", 24).vertices) == 24
