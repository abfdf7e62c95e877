"""Limbs of a history in PyBullet's window: how many lines, where, and that an earlier drawing is replaced."""

import numpy as np
import pytest
import support.pybullet_scenes as scenes
from support.one_limb import about_z, one_limb_world

import cylcollide as cc
from cylcollide._pybullet import OWN
from cylcollide.bullet import draw_rewound

LINES = 28
THEN, NOW = (0.85, 0.3, 0.1), (0.6, 0.65, 0.7)


def a_rod_that_moves() -> cc.PoseHistory:
    """Return the history of a rod that moves by 1 along y each tick."""
    world, _, ids = one_limb_world()
    history = cc.PoseHistory(world)
    for k in range(4):
        world.set_poses(ids, [[0, k, 0]], [about_z(0.0)])
        history.record(k)
    return history


@pytest.fixture
def window(monkeypatch) -> tuple[dict, list]:
    """Return lines that PyBullet is told to draw, by number, and the numbers of those that it is told to remove."""
    lines, removed = {}, []

    def add(start, end, lineColorRGB, replaceItemUniqueId=-1, **_):
        number = replaceItemUniqueId if replaceItemUniqueId >= 0 else len(lines)
        lines[number] = (start, end, tuple(lineColorRGB))
        return number

    monkeypatch.setattr(OWN, "addUserDebugLine", add)
    monkeypatch.setattr(OWN, "removeUserDebugItem", lambda item, **_: removed.append(item))
    return lines, removed


def test_a_client_without_a_window_shows_none(c):
    assert draw_rewound(c, a_rod_that_moves(), 1.5) == [-1] * 2 * LINES


def test_then_and_now_in_their_colours(c, window):
    lines, removed = window
    items = draw_rewound(c, a_rod_that_moves(), 1.5)
    assert items == list(range(2 * LINES))
    for color, y in ((THEN, 1.5), (NOW, 3.0)):
        points = np.array([line[:2] for line in lines.values() if line[2] == color])
        assert points.shape == (LINES, 2, 3)
        assert np.ptp(points[..., 1]) == pytest.approx(0.2)
        assert points[..., 1].mean() == pytest.approx(y)
    assert removed == []


def test_a_drawing_is_replaced(c, window):
    lines, removed = window
    history = a_rod_that_moves()
    items = draw_rewound(c, history, 0.0)
    again = draw_rewound(c, history, 2.0, live_color=None, replaces=items)
    assert again == items[:LINES]
    assert removed == items[LINES:]
    assert {line[2] for line in list(lines.values())[:LINES]} == {THEN}
    more = draw_rewound(c, history, 3.0, replaces=again)
    assert more[:LINES] == again
    assert len(set(more)) == 2 * LINES


def test_nothing_is_drawn_of_a_time_that_is_not_kept(window):
    with scenes.client() as c, pytest.raises(ValueError, match=r"time: expected 0.0 to 3.0, which is kept, got 9.0"):
        draw_rewound(c, a_rod_that_moves(), 9.0)
    with pytest.raises(ValueError, match="client: expected a connected PyBullet client"):
        draw_rewound(99, a_rod_that_moves(), 1.0)
    assert window == ({}, [])
