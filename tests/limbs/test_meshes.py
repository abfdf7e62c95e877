"""Limbs as triangles: closed, wound outward, and as close to the solid as their polygons allow."""

import sys

import numpy as np
import pytest
from support.cases.one_of_each_shape import LIMBS
from support.oracle.shapes.table import SHAPE_ROWS

import cylcollide as cc
from cylcollide._types import Shape
from cylcollide.limbs.meshes import tessellate

VOLUME = {kind: row.volume for kind, row in SHAPE_ROWS.items()}


@pytest.mark.parametrize("shape", Shape, ids=lambda shape: shape.name)
def test_volume_by_the_divergence_theorem(shape):
    vertices, triangles, _limb_of = tessellate(LIMBS[shape]._table, 64)
    a, b, c = (vertices[triangles[:, k]].astype(float) for k in range(3))
    volume = np.einsum("ni,ni->n", a, np.cross(b, c)).sum() / 6  # positive only if wound outward
    # A polygon of 64 sides is off by (pi / 64)² / 6 = 0.04 %; arcs along the axis by three times that.
    assert volume == pytest.approx(VOLUME[shape], rel=3e-3 if "radius" in SHAPE_ROWS[shape].takes else 1e-5)


@pytest.mark.parametrize("shape", Shape, ids=lambda shape: shape.name)
def test_corners_lie_on_the_surface(shape):
    vertices, *_ = tessellate(LIMBS[shape]._table, 64)
    assert np.abs(cc.HitWorld(LIMBS[shape]).closest_points(vertices).distance).max() < 1e-3


@pytest.mark.parametrize("shape", Shape, ids=lambda shape: shape.name)
def test_every_edge_has_two_triangles(shape):
    vertices, triangles, _limb_of = tessellate(LIMBS[shape]._table, 12)
    _, corner = np.unique(np.round(vertices, 5), axis=0, return_inverse=True)
    edges = corner.reshape(-1)[triangles][:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    assert (edges[:, 0] != edges[:, 1]).all()
    one_way = {tuple(edge) for edge in edges.tolist()}
    assert len(one_way) == len(edges)
    assert {(b, a) for a, b in one_way} == one_way


def test_triangles_name_their_limb():
    shapes = [Shape.BOX, Shape.CYLINDER, Shape.BOX, Shape.SPHERE]
    limbs = cc.Limbs.concat(
        [LIMBS[shape].moved(LIMBS[shape].p1 + 5.0 * i, LIMBS[shape].p2 + 5.0 * i) for i, shape in enumerate(shapes)]
    )
    vertices, triangles, limb_of = tessellate(limbs._table, 16)
    middle = vertices[triangles].mean(axis=1)
    centre = 0.5 * (limbs.p1 + limbs.p2)
    assert (np.linalg.norm(middle - centre[limb_of], axis=1) < 0.8).all()
    assert set(limb_of.tolist()) == {0, 1, 2, 3}


def test_a_trimesh_has_one_closed_piece_per_limb():
    limbs = cc.Limbs.concat([LIMBS[shape] for shape in Shape])  # they overlap
    mesh = limbs.to_mesh(sides=64)
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    for i, shape in enumerate(Shape):
        piece = mesh.submesh([np.flatnonzero(mesh.face_attributes["limb"] == i)], append=True)
        assert piece.is_watertight
        assert piece.body_count == 1
        assert piece.volume == pytest.approx(VOLUME[shape], rel=3e-3)
        assert piece.bounds == pytest.approx(limbs[i].to_mesh(sides=64).bounds)
    assert mesh.volume == pytest.approx(sum(VOLUME.values()), rel=3e-3)


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_bounds_of_a_mesh(size):
    mesh = cc.Limbs.boxes([size, 0, 0], [0, 0, 0, 1], [size, 2 * size, 3 * size]).to_mesh()
    assert mesh.bounds / size == pytest.approx(np.array([[0, -2, -3], [2, 2, 3]]), rel=1e-12)
    assert mesh.is_watertight


def test_limbs_that_touch_share_no_vertex():
    mesh = cc.Limbs.boxes([[0, 0, 0], [2, 0, 0]], [0, 0, 0, 1], [1, 1, 1]).to_mesh()
    assert mesh.is_watertight
    assert mesh.body_count == 2


def test_a_cone_beside_a_tapered_cylinder():
    limbs = cc.Limbs.tapered_cylinders([[0, 0, 0], [5, 0, 0]], [[0, 0, 1], [5, 0, 1]], 0.5, [0.0, 0.25])
    mesh = limbs.to_mesh()
    assert mesh.is_watertight
    assert mesh.body_count == 2
    assert mesh.volume == pytest.approx(np.pi / 3 * (0.25 + 0.25 + 0.125 + 0.0625), rel=0.01)


def test_a_mesh_of_nothing():
    assert len(LIMBS[Shape.BOX][[]].to_mesh().faces) == 0


@pytest.mark.parametrize("sides", [2, 3.5, [8, 8]])
def test_a_polygon_has_three_sides_or_more(sides):
    with pytest.raises(ValueError, match="sides: expected"):
        LIMBS[Shape.BOX].to_mesh(sides=sides)


def test_a_missing_trimesh_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(ImportError, match=r"trimesh is not installed: pip install '\.\[mesh\]'"):
        LIMBS[Shape.BOX].to_mesh()
