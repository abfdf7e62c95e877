"""Limbs as triangles: closed, wound outward, and as close to the solid as their polygons promise."""

import numpy as np
import pytest
from support.cases.one_of_each_shape import LIMBS

import cylcollide as cc
from cylcollide._types import Shape
from cylcollide.limbs.meshes import tessellate

VOLUME = {
    Shape.CYLINDER: np.pi * 0.09 * 0.8,
    Shape.TUBE: np.pi * (0.09 - 0.01) * 0.8,
    Shape.TAPERED: np.pi * 0.8 / 3 * (0.09 + 0.06 + 0.04),
    Shape.ELLIPSOID: 4 / 3 * np.pi * 0.09 * 0.4,
    Shape.CAPSULE: np.pi * 0.09 * 0.8 + 4 / 3 * np.pi * 0.027,
    Shape.SPHERE: 4 / 3 * np.pi * 0.027,
    Shape.BOX: 8 * 0.3 * 0.2 * 0.4,
}


@pytest.mark.parametrize("shape", Shape, ids=lambda shape: shape.name)
def test_volume_by_the_divergence_theorem(shape):
    vertices, triangles, _limb_of = tessellate(LIMBS[shape], 64)
    a, b, c = (vertices[triangles[:, k]].astype(float) for k in range(3))
    volume = np.einsum("ni,ni->n", a, np.cross(b, c)).sum() / 6  # positive only if wound outward
    # A polygon of 64 sides is off by (pi / 64)² / 6 = 0.04 %; arcs along the axis by three times that.
    assert volume == pytest.approx(VOLUME[shape], rel=3e-3 if shape != Shape.BOX else 1e-5)


@pytest.mark.parametrize("shape", Shape, ids=lambda shape: shape.name)
def test_every_edge_has_two_triangles(shape):
    vertices, triangles, _limb_of = tessellate(LIMBS[shape], 12)
    _, corner = np.unique(np.round(vertices, 5), axis=0, return_inverse=True)
    edges = corner.reshape(-1)[triangles][:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    assert (edges[:, 0] != edges[:, 1]).all()
    one_way = {tuple(edge) for edge in edges.tolist()}
    assert len(one_way) == len(edges)
    assert {(b, a) for a, b in one_way} == one_way


def test_triangles_know_their_limb():
    shapes = [Shape.BOX, Shape.CYLINDER, Shape.BOX, Shape.SPHERE]
    limbs = cc.Limbs.concat(
        [LIMBS[shape].moved(LIMBS[shape].p1 + 5.0 * i, LIMBS[shape].p2 + 5.0 * i) for i, shape in enumerate(shapes)]
    )
    vertices, triangles, limb_of = tessellate(limbs, 16)
    middle = vertices[triangles].mean(axis=1)
    centre = 0.5 * (limbs.p1 + limbs.p2)
    assert (np.linalg.norm(middle - centre[limb_of], axis=1) < 0.8).all()
    assert set(limb_of.tolist()) == {0, 1, 2, 3}
