"""Views far from the world's origin equal those near it; sizes that a browser cannot draw are refused."""

import shutil
import threading
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

import cylcollide as cc

viser = pytest.importorskip("viser", reason="the extra view")

from cylcollide.view import view
from cylcollide.view import viewer as room
from cylcollide.view.browser import PROGRAMS, QUIET, Browser
from cylcollide.view.server import stop
from cylcollide.view.stage import FARTHEST, THINNEST

POLICY = cc.Policy.first_surface(damage={})
PLACES = [5e5, 1e9]


def played(path: Path, far: float, ticks: int = 2) -> cc.PoseHistory:
    """History of two people and a wall, `far` along x and y, and a log of hits and misses in a file."""
    world, rig, middle = cc.HitWorld(), cc.Rig.humanoid(), np.array([far, far, 0.0])
    ids, history = world.spawn(rig, 2), cc.PoseHistory(world)
    world.add_static(cc.Limbs.boxes(np.add(middle, [0, 4, 1]), [0, 0, 0, 1], [2, 0.25, 1]))
    with cc.ShotLog(path, world, history):
        for tick in range(ticks):
            roots = np.add(middle, [[0, 0.25 * tick, 1], [2, 0, 1]])
            world.set_poses(ids, *rig.forward(roots, [0, 0, 0, 1], rig.rest_orientations))
            history.record(0.25 * tick)
            start = np.add(middle, [[-3, 0, 1.25], [-3, 0, 2.5]])
            history.judge_segments(start, np.add(start, [9, 0, 0]), POLICY, 0.25 * tick, on_old="clamp")
    return history


def seen(viewer) -> dict[str, np.ndarray]:
    """All positions in the scene of a viewer, and of its camera."""
    camera, stage = viewer._server.initial_camera, viewer._stage
    ground = viewer._server.scene._handle_from_node_name["/ground"]
    found = {"eye": camera.position, "at": camera.look_at, "ground": ground.batched_positions}
    found |= {name: node.batched_positions for name, (node, _) in stage._limbs.items()}
    return found | {name: node.points for name, node in stage._lines.items()}


@pytest.mark.parametrize("far", PLACES)
def test_a_scene_far_away_equals_one_near_the_origin(viewer_of, far, tmp_path: Path):
    pair = [played(tmp_path / f"{place}.shots", place) for place in (0.0, far)]
    logs = [cc.ShotLog.open(tmp_path / f"{place}.shots") for place in (0.0, far)]
    for both, shots in ((pair, 0), (logs, 4)):
        near, away = map(viewer_of, both)
        assert near._origin.tolist() == [0, 0, 0]
        for viewer in (near, away):
            viewer._stage.shows_bones = True
            viewer.show(len(viewer._subject.times) - 1)
        for number in range(-1, shots):
            for viewer in (near, away):
                viewer.choose(number) if number >= 0 else None
            there = seen(away)
            assert there.keys() == seen(near).keys()
            for name, places in seen(near).items():
                assert np.abs(places - there[name]).max() < 1e-5, name
            assert {"path"} <= there.keys() or number < 0
    for log in logs:
        log.close()


@pytest.mark.parametrize("spawned", [0, 3])
def test_the_camera_shows_where_the_first_people_are(viewer_of, spawned, tmp_path: Path):
    world, rig = cc.HitWorld(), cc.Rig.humanoid()
    history = cc.PoseHistory(world)
    with cc.ShotLog(tmp_path / "late.shots", world, history):
        for tick in range(6):
            if tick == spawned:
                ids = world.spawn(rig, 1)
            if tick >= spawned:
                world.set_poses(ids, *rig.forward([[1e7, tick, 1]], [0, 0, 0, 1], rig.rest_orientations))
            history.record(tick)
    with cc.ShotLog.open(tmp_path / "late.shots") as log:
        for shown in (history, log):
            viewer = viewer_of(shown)
            assert len(viewer._frame.limbs) == (17 if spawned == 0 else 0)
            assert viewer._origin.tolist() == [1e7, 0, 0]
            assert seen(viewer)["at"] == pytest.approx([0, spawned, 0.9], abs=0.2)


@pytest.fixture
def sent(monkeypatch) -> list[tuple[str, np.ndarray]]:
    """Names and positions of all that is added to a scene from now on, and cameras of servers that are stopped."""
    found = []
    for method, argument in (("batched_meshes_simple", 4), ("line_segments", 1), ("point_cloud", 1)):
        added = getattr(viser.SceneApi, f"add_{method}")

        def spied(own, name, *given, added=added, argument=argument, **named):
            found.append((name, named["batched_positions"] if "batched_positions" in named else given[argument - 1]))
            return added(own, name, *given, **named)

        monkeypatch.setattr(viser.SceneApi, f"add_{method}", spied)

    def stopped(server):
        found.append(("camera", np.array([server.initial_camera.position, server.initial_camera.look_at])))
        stop(server)

    monkeypatch.setattr(room, "stop", stopped)
    return found


def test_a_page_far_away_has_places_near_zero(viewer_of, sent, tmp_path: Path):
    history = played(tmp_path / "far.shots", 1e7)
    with cc.ShotLog.open(tmp_path / "far.shots") as log:
        for shown in (history, log):
            viewer_of(shown).save_html(tmp_path / "far.html")
    assert {"/ground", "/path", "/limbs/ball-of-capsule", "/statics/box", "camera"} <= {name for name, _ in sent}
    assert max(np.abs(places).max(initial=0.0) for _, places in sent) < 40.0


@pytest.mark.parametrize(("size", "up"), [(THINNEST, "y"), (1e-3, "z"), (1e10, "z")])
def test_all_sizes_within_the_range_have_a_page(viewer_of, sent, size, up, tmp_path: Path):
    one, large = (viewer_of(cc.Rig.humanoid().scaled(by), up=up) for by in (1.0, 20.0 * size))
    for name, places in seen(one).items():
        assert np.allclose(20.0 * size * places, seen(large)[name], rtol=1e-5, atol=1e-3 * size) or name == "ground"
    sent.clear()
    large.save_html(tmp_path / "page.html")
    limbs = [(name, places) for name, places in sent if name.startswith("/limbs")]
    assert len(limbs) > 5
    for name, places in limbs:
        assert np.allclose(places, seen(large)[name[1:]], rtol=0.0, atol=20.0 * size * 2e-4)


OUTSIDE = {
    "tiny": cc.Limbs.spheres([[1, 2, 3]], 1e-150),
    "rather tiny": cc.Limbs.spheres([[0, 0, 0]], 0.9 * THINNEST),
    "large": cc.Limbs.spheres([[0, 0, 0]], 1e30),
    "rather large": cc.Limbs.spheres([[0, 0, 0]], 1.1 * FARTHEST),
    "huge": cc.Limbs.cylinders([[1e150, 0, 0]], [[1e150, 1e150, 0]], 1e149),
    "thin": cc.Limbs.cylinders([[0, 0, 0]], [[0, 0, 1e100]], 1e-100),
    "far apart": cc.Limbs.spheres([[0, 0, 0], [9e12, 0, 0]], 1.0),
    "a box": cc.Limbs.boxes([0, 0, 0], [0, 0, 0, 1], [1, 1, 1e40]),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("limbs", OUTSIDE.values(), ids=OUTSIDE)
def test_sizes_out_of_range_are_refused(limbs):
    said = r"view: expected limbs with a median radius of at least 1e-12, all within 1e\+12 of \[.*\], got .*unit"
    with pytest.raises(ValueError, match=said):
        view(limbs, open_browser=False)


def test_a_shot_that_cannot_be_shown_leaves_no_server(refused, tmp_path: Path):
    world = cc.HitWorld(cc.Limbs.spheres([[0, 0, 0]], 1.0))
    with cc.ShotLog(tmp_path / "far.shots", world) as log:
        for tick, x in enumerate((0.0, 1e100)):
            world.set_endpoints([[x, 0, 0]], [[x, 0, 0]])
            log.tick(tick)
            world.judge_segments([x, 0, -9], [x, 0, 9], POLICY)
    before = set(threading.enumerate())
    refused("view", tmp_path / "far.shots", "--shot", "1", "--no-browser")
    assert set(threading.enumerate()) <= before


@pytest.mark.filterwarnings("error")
def test_a_later_frame_out_of_range_is_refused(viewer_of, tmp_path: Path):
    world = cc.HitWorld(cc.Limbs.spheres([[0, 0, 0]], 1.0))
    history = cc.PoseHistory(world)
    for tick, x in enumerate((0.0, 1e100, 3.0)):
        world.set_endpoints([[x, 0, 0]], [[x, 0, 0]])
        history.record(tick)
    viewer = viewer_of(history)
    with pytest.raises(
        ValueError, match=r"all within 1e\+12 of \[0\.0, 0\.0, 0\.0\], got 1, and one up to 1e\+100 away"
    ):
        viewer.show(1)
    with pytest.raises(ValueError, match="view: expected limbs with"):
        viewer.save_html(tmp_path / "page.html")
    viewer.show(2)


@pytest.mark.filterwarnings("error")
def test_shots_that_begin_or_end_far_away_are_clipped_to_drawable_range(viewer_of, tmp_path: Path):
    world = cc.HitWorld(cc.Limbs.spheres([[0, 0, 0]], 1.0))
    with cc.ShotLog(tmp_path / "far.shots", world) as written:
        written.tick(0.0)
        for reach in (1e20, 1e150):
            for start, way in (([-9, 0, 0], [1, 0, 0]), ([-9, 0, 5], [1, 0, 0]), ([reach, 0, 5], [0, 0, 1])):
                world.judge_rays(start, way, POLICY, max_distance=reach)
            world.judge_segments([-reach, 0, 0], [reach, 0, 0], POLICY)
    with cc.ShotLog.open(tmp_path / "far.shots") as log:
        viewer = viewer_of(log)
        for number in range(len(log)):
            viewer.choose(number)
            places = seen(viewer)
            assert max(np.abs(one).max() for one in places.values()) < 3.0 * FARTHEST
            assert ("path" in places) == (number % 4 < 2)
            assert viewer._shown_shot.words.startswith(f"shot {number}")
        viewer.save_html(tmp_path / "far.html")
    assert "7: tick" in (tmp_path / "far.html").read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.skipif(not any(map(shutil.which, PROGRAMS)), reason="no Chromium is installed")
def test_pictures_and_pages_far_away_equal_those_near_0(viewer_of, tmp_path: Path):
    image, pictures = pytest.importorskip("matplotlib.image"), []
    with Browser(700, 450) as browser:
        for far in (0.0, *PLACES):
            viewer = viewer_of(played(tmp_path / f"{far}.shots", far).limbs_at(0.0))
            viewer.save_html(tmp_path / "page.html")
            for url in (viewer.url, (tmp_path / "page.html").as_uri()):
                browser.open(url)
                browser.evaluate(QUIET)
                browser.settle()
                pictures.append(image.imread(BytesIO(browser.picture()))[..., :3])
    assert min(np.ptp(picture, axis=2).max() for picture in pictures) > 0.2  # there is colour
    for number, picture in enumerate(pictures[2:]):
        differs = np.abs(picture - pictures[number % 2]).max(axis=2) > 0.2
        assert differs.mean() < 1e-3
