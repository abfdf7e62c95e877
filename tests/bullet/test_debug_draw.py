"""Debug lines of mirrors and of histories: number, places, and removal or replacement of the last drawing."""

import numpy as np
import pybullet as p
import pytest
import support.pybullet_scenes as scenes
from support.cases.rigs import every_shape
from support.one_limb import about_z, one_limb_world

import cylcollide as cc
from cylcollide._pybullet import OWN
from cylcollide.bullet import Mirror, draw_rewound
from cylcollide.limbs.outlines import outlines

LINES = {cc.Shape.CYLINDER: 28, cc.Shape.CAPSULE: 52, cc.Shape.SPHERE: 36, cc.Shape.BOX: 12}
"""Lines of each of PyBullet's shapes."""

OTHERS = {cc.Shape.TUBE: 56, cc.Shape.TAPERED: 28, cc.Shape.ELLIPSOID: 36}


def test_every_shape_is_outlined():
    """All ends of lines are on the limb's surface, also for shapes that PyBullet lacks."""
    limbs = every_shape()
    for i, limb in enumerate(limbs[[k]] for k in range(len(limbs))):
        points = outlines(limb).reshape(-1, 3)
        assert len(points) == 2 * {**LINES, **OTHERS}[limb.kind[0]]
        assert (limb.inflated(1e-9).classify_points(points) != cc.Side.OUTSIDE).all(), i
        middle = (limb.p1 + limb.p2) / 2
        outside = limb.classify_points(points - 1e-9 * (middle - points)) == cc.Side.OUTSIDE
        inward = limb.classify_points(points + 1e-9 * (middle - points)) == cc.Side.OUTSIDE
        assert (outside | inward if limb.kind[0] == cc.Shape.TUBE else outside).all(), i


@pytest.fixture
def window(monkeypatch) -> tuple[dict, list]:
    """Return the lines that are added to PyBullet, by number, and the numbers of those that are removed."""
    lines, removed = {}, []

    def add(start, end, lineColorRGB, replaceItemUniqueId=-1, **_):
        number = replaceItemUniqueId if replaceItemUniqueId >= 0 else len(lines)
        lines[number] = (start, end, tuple(lineColorRGB))
        return number

    monkeypatch.setattr(OWN, "addUserDebugLine", add)
    monkeypatch.setattr(OWN, "removeUserDebugItem", lambda item, **_: removed.append(item))
    return lines, removed


def test_debug_draw_replaces_the_last_lines(c, window):
    lines, removed = window
    for kind in range(4):
        scenes.body(c, kind, [kind, 0, 0])
    p.loadURDF("plane_implicit.urdf", [0, 0, -1], physicsClientId=c)
    mirror = Mirror(c)
    hits = mirror.rayTestBatch([[0, 0, 5.0], [0.5, 9, 9], [1, 0, 5]], [[0, 0, -5.0], [0.5, 9, 8], [1, 0, -5]])
    count = mirror.debug_draw(hits)
    assert len(lines) == count == sum(LINES.values()) + 5 + 2 * 3
    middle = np.mean([line[:2] for line in list(lines.values())[-6:]], axis=1)
    np.testing.assert_allclose(middle, [hits[0][3]] * 3 + [hits[2][3]] * 3, atol=1e-15)
    assert mirror.debug_draw() == count - 6
    assert removed == list(range(count - 6, count))
    assert mirror.debug_draw(hits) == count


def test_boxes_around_meshes_are_drawn(c):
    p.loadURDF("duck_vhacd.urdf", physicsClientId=c)
    assert Mirror(c, mesh="wrap").debug_draw() == 12, "a DIRECT client draws nothing, and says so"
    assert Mirror(c, mesh="skip").debug_draw() == 0


def test_bad_hits_and_colours_are_refused_and_the_last_drawing_stays(c, window):
    _, removed = window
    scenes.body(c, 0, [0, 0, 0])
    mirror, ray = Mirror(c), ([0, 0, 5.0], [0, 0, -5.0])
    mirror.debug_draw()
    for bad in (mirror.rayTest(*ray)[0], [1], 3, mirror.cast_segments(*ray), [(0, -1, 0.5, "x", "y")]):
        with pytest.raises(ValueError, match="hits: expected results of rayTest or rayTestBatch, got"):
            mirror.debug_draw(bad)
    for bad in (3, (1, 2), (0, 0, 255), "red", (0, 0, np.nan), None):
        for name in ("color", "hit_color"):
            with pytest.raises(ValueError, match=f"{name}: expected red, green and blue from 0 to 1, got"):
                mirror.debug_draw(**{name: bad})
        with pytest.raises(ValueError, match=r"^color: expected red"):
            draw_rewound(c, moving_rod_history(), 1.5, color=bad)
    assert removed == []


# Limbs of a history ---------------------------------------------------------------------------------------------------

OF_A_ROD = 28
THEN, NOW = (0.85, 0.3, 0.1), (0.6, 0.65, 0.7)


def moving_rod_history() -> cc.PoseHistory:
    """Return the history of a rod that moves by 1 along y each tick."""
    world, _, ids = one_limb_world()
    history = cc.PoseHistory(world)
    for k in range(4):
        world.set_poses(ids, [[0, k, 0]], [about_z(0.0)])
        history.record(k)
    return history


def test_a_client_without_a_window_shows_none(c):
    assert draw_rewound(c, moving_rod_history(), 1.5) == [-1] * 2 * OF_A_ROD


def test_then_and_now_in_their_colours(c, window):
    lines, removed = window
    items = draw_rewound(c, moving_rod_history(), 1.5)
    assert items == list(range(2 * OF_A_ROD))
    for color, y in ((THEN, 1.5), (NOW, 3.0)):
        points = np.array([line[:2] for line in lines.values() if line[2] == color])
        assert points.shape == (OF_A_ROD, 2, 3)
        assert np.ptp(points[..., 1]) == pytest.approx(0.2)
        assert points[..., 1].mean() == pytest.approx(y)
    assert removed == []


def test_a_drawing_is_replaced(c, window):
    lines, removed = window
    history = moving_rod_history()
    items = draw_rewound(c, history, 0.0)
    again = draw_rewound(c, history, 2.0, live_color=None, replaces=items)
    assert again == items[:OF_A_ROD]
    assert removed == items[OF_A_ROD:]
    assert {line[2] for line in list(lines.values())[:OF_A_ROD]} == {THEN}
    more = draw_rewound(c, history, 3.0, replaces=again)
    assert more[:OF_A_ROD] == again
    assert len(set(more)) == 2 * OF_A_ROD


def test_nothing_is_drawn_of_a_time_that_is_not_kept(window):
    with scenes.client() as c, pytest.raises(ValueError, match=r"time: expected 0.0 to 3.0, which is kept, got 9.0"):
        draw_rewound(c, moving_rod_history(), 9.0)
    with pytest.raises(ValueError, match="client: expected a connected PyBullet client"):
        draw_rewound(99, moving_rod_history(), 1.0)
    assert window == ({}, [])
