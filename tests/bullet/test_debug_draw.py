"""Debug lines: how many, where, and that the last drawing is taken away."""

import numpy as np
import pybullet as p
import support.pybullet_scenes as scenes
from support.cases.rigs import every_shape

import cylcollide as cc
from cylcollide._pybullet import OWN
from cylcollide.bullet import Mirror, debug_draw

LINES = {cc.Shape.CYLINDER: 28, cc.Shape.CAPSULE: 52, cc.Shape.SPHERE: 36, cc.Shape.BOX: 12}
"""Of what PyBullet has."""

OTHERS = {cc.Shape.TUBE: 56, cc.Shape.TAPERED: 28, cc.Shape.ELLIPSOID: 36}


def test_every_shape_is_outlined():
    """All ends of lines are on the surface of the limb, as rigs that PyBullet does not know have them."""
    limbs = every_shape()
    for i, limb in enumerate(limbs[[k]] for k in range(len(limbs))):
        points = debug_draw.outlines(limb).reshape(-1, 3)
        assert len(points) == 2 * {**LINES, **OTHERS}[limb.kind[0]]
        assert (limb.inflated(1e-9).classify_points(points) != cc.Side.OUTSIDE).all(), i
        middle = (limb.p1 + limb.p2) / 2
        outside = limb.classify_points(points - 1e-9 * (middle - points)) == cc.Side.OUTSIDE
        inward = limb.classify_points(points + 1e-9 * (middle - points)) == cc.Side.OUTSIDE
        assert (outside | inward if limb.kind[0] == cc.Shape.TUBE else outside).all(), i


def test_debug_draw_asks_for_every_line_and_takes_the_last_away(c, monkeypatch):
    for kind in range(4):
        scenes.body(c, kind, [kind, 0, 0])
    p.loadURDF("plane_implicit.urdf", [0, 0, -1], physicsClientId=c)
    mirror = Mirror(c)
    hits = mirror.rayTestBatch([[0, 0, 5.0], [0.5, 9, 9], [1, 0, 5]], [[0, 0, -5.0], [0.5, 9, 8], [1, 0, -5]])
    assert mirror.debug_draw(hits) == sum(LINES.values()) + 5 + 2 * 3, "a DIRECT client draws nothing, and says so"
    drawn, removed = [], []
    monkeypatch.setattr(OWN, "addUserDebugLine", lambda a, b, **_: drawn.append((a, b)) or len(drawn))
    monkeypatch.setattr(OWN, "removeUserDebugItem", lambda item, **_: removed.append(item))
    count = mirror.debug_draw(hits)
    assert len(drawn) == count == sum(LINES.values()) + 5 + 2 * 3
    assert removed == []
    middle = np.mean(drawn[-6:], axis=1)
    np.testing.assert_allclose(middle, [hits[0][3]] * 3 + [hits[2][3]] * 3, atol=1e-15)
    mirror.debug_draw()
    assert removed == list(range(1, count + 1))
    assert len(drawn) == 2 * count - 6


def test_boxes_around_meshes_are_drawn(c):
    p.loadURDF("duck_vhacd.urdf", physicsClientId=c)
    assert Mirror(c, mesh="wrap").debug_draw() == 12
    assert Mirror(c, mesh="skip").debug_draw() == 0
