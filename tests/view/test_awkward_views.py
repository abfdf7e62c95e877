"""Views of shots of length 0, of logs without shots, and bad arguments: a page, or a ValueError."""

from pathlib import Path
from threading import Thread
from threading import enumerate as enumerate_threads

import numpy as np
import pytest
from support.cases.one_case import RECORD
from support.logging_server import Match

import cylcollide as cc

viser = pytest.importorskip("viser", reason="the extra view")

from cylcollide.view import view
from cylcollide.view.firing import make_firing
from cylcollide.view.marks import unit_direction
from cylcollide.view.people import range_rig
from cylcollide.view.range import Range

LENGTHS = [0.0, 5e-324, 1e-200, 1e-15]
POLICY = cc.Policy.first_surface(damage={})


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_shots_of_length_0_are_in_view_and_have_a_page(viewer_of, tmp_path: Path):
    match = Match(5)
    with cc.ShotLog(tmp_path / "short.shots", match.world, match.history):
        match.tick(0)
        inside = match.world.limbs.p1[0]
        for length in LENGTHS:
            for start in (inside, np.full(3, 9.0)):
                match.history.judge_segments(start, start + length * np.eye(3)[0], POLICY, time=0.0)
    with cc.ShotLog.open(tmp_path / "short.shots") as log:
        viewer = viewer_of(log)
        for number in range(len(log)):
            viewer.choose(number)
            camera = viewer._server.initial_camera
            assert 0.1 < np.linalg.norm(camera.position - camera.look_at) < 10.0
        viewer.save_html(tmp_path / "short.html")
    assert f"{len(LENGTHS) * 2 - 1}: tick 0" in (tmp_path / "short.html").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("length", [0.0, 1e-200])
def test_a_case_without_length_has_a_page(command, length, tmp_path: Path):
    room = pytest.importorskip("cylcollide.crosscheck.cases.case", reason="the extra crosscheck")
    short = {**RECORD, "start": [-0.1, 0.0, 0.0], "end": [length - 0.1, 0.0, 0.0]}
    room.write_cases(tmp_path / "cases.json", [room.Case.read(short)])
    status, _, said = command("view", tmp_path / "cases.json", "--html", tmp_path / "cases.html")
    assert (status, said) == (0, "")
    assert (tmp_path / "cases.html").stat().st_size > 100_000


@pytest.mark.parametrize("factor", [5e-324, 1e-200, 1.0, 1e200])
def test_a_direction_of_any_size_has_length_one(factor):
    assert unit_direction(factor * np.array([0.0, -2.0, 0.0]), np.eye(3)[0]).tolist() == [0.0, -1.0, 0.0]
    assert unit_direction(np.zeros(3), np.eye(3)[0]).tolist() == [1.0, 0.0, 0.0], "the default"


def test_a_log_with_one_tick_and_no_shot_can_be_viewed(viewer_of, tmp_path: Path):
    match = Match(5)
    with cc.ShotLog(tmp_path / "one.shots", match.world, match.history):
        match.tick(0)
    with cc.ShotLog.open(tmp_path / "one.shots") as log:
        assert (len(log.ticks), len(log)) == (1, 0)
        viewer = viewer_of(log)
        assert viewer._shown_shot is None
        assert len(viewer._frame.limbs) > 0


def test_a_shot_at_a_time_that_was_not_kept_is_shown_at_the_present_state(viewer_of, tmp_path: Path):
    match, times = Match(5), [{"time": 0.0}, {"time": 1e9}, {"tick": 1}]
    with cc.ShotLog(tmp_path / "old.shots", match.world, match.history):
        for number in range(7):
            match.tick(number)
        for when in times:
            match.history.judge_segments([-9, 0, 0], [9, 0, 0], POLICY, on_old="miss", **when)
        match.shoot(1)
    with cc.ShotLog.open(tmp_path / "old.shots") as log:
        viewer = viewer_of(log)
        for number in range(len(log)):
            viewer.choose(number)
            told, is_old = viewer._shown_shot, number < len(times)
            assert told.marks.path.tolist() == [[[-9, 0, 0], [9, 0, 0]]] or not is_old
            assert (told.judged.limbs == match.world.limbs) == is_old == (told.now is None)
            assert ("judged at a time that was not kept; the present state is shown" in told.words) == is_old
            assert str(log.explain(number)) in told.words
        viewer.save_html(tmp_path / "old.html")
    assert (tmp_path / "old.html").stat().st_size > 100_000


@pytest.mark.parametrize("port", [70000, 65536, 1023, 0, -1, 8080.5, "8080", None, True, 10**400])
def test_bad_ports_are_refused_at_once(port):
    with pytest.raises(
        ValueError, match=r"port: expected an integer from 1024 to 65535, got .+; the usual one is 8765"
    ):
        view(cc.Limbs.spheres([[0, 0, 0]], 1.0), port=port, open_browser=False)


@pytest.mark.parametrize("up", ["x", "", 2, None, ["y"]])
def test_bad_axes_are_refused(up):
    with pytest.raises(ValueError, match=r"up: expected 'auto', 'y' or 'z', got .+; turn"):
        view(cc.Limbs.spheres([[0, 0, 0]], 1.0), up=up, open_browser=False)
    with pytest.raises(ValueError, match="open_browser: expected True or False, got"):
        view(cc.Limbs.spheres([[0, 0, 0]], 1.0), open_browser=up)


def test_frames_and_shots_that_do_not_exist_are_refused(viewer_of):
    viewer = viewer_of(cc.Limbs.spheres([[0, 0, 0]], 1.0))
    for number in (99, 1, -1, 0.5, None):
        with pytest.raises(ValueError, match=r"frame: expected one of 1 frames, 0 to 0, got .+; count them from 0"):
            viewer.show(number)
        with pytest.raises(ValueError, match=r"shot: expected no number, there are no shots, got .+; the list"):
            viewer.choose(number)
    viewer.show(np.int64(0))


def test_rates_and_sizes_of_files_that_are_none_are_refused(viewer_of, tmp_path: Path):
    viewer = viewer_of(cc.Limbs.spheres([[0, 0, 0]], 1.0))
    for number in (0, -1, np.nan, None, "20", True, [20, 30]):
        with pytest.raises(ValueError, match=r"rate: expected frames per second, a number > 0, got .+; 20 is usual"):
            viewer.save_html(tmp_path / "out.html", number)
        for sizes, name in (((number, 900), "width"), ((1400, number), "height")):
            with pytest.raises(ValueError, match=rf"{name}: expected 1 to 16384 pixels, got .+; 1400 × 900 is usual"):
                viewer.save_png(tmp_path / "out.png", *sizes)
    assert not [*tmp_path.iterdir()]
    viewer.save_html(tmp_path / "out.html", 10**400)


def test_a_closed_viewer_refuses_calls_except_close(viewer_of, tmp_path: Path):
    viewer = viewer_of(cc.Limbs.spheres([[0, 0, 0]], 1.0))
    viewer.close()
    viewer.close()
    calls = {"save_png": tmp_path / "out.png", "show": 0, "choose": 0}
    for name, argument in calls.items():
        with pytest.raises(ValueError, match=rf"{name}: expected an open viewer, got a closed one; call it before"):
            getattr(viewer, name)(argument)
    assert not (tmp_path / "out.png").exists()


@pytest.mark.parametrize(
    ("made", "interrupted"),
    [
        ("view", "SceneApi.add_light_ambient"),  # before the server is returned
        *(
            (made, call)
            for made in ("view", "range")
            for call in ("SceneApi.add_light_directional", "ViserServer.atomic")
        ),
        ("view", "ViserServer.on_client_connect"),
    ],
)
def test_an_interrupt_while_it_opens_leaves_no_server(monkeypatch, made, interrupted):
    """In methods of viser that are called one after another."""
    room, _, method = interrupted.partition(".")
    world, firing = cc.HitWorld(cc.Limbs.spheres([[0, 0, 0]], 1.0)), make_firing(range_rig(), [], 1)
    before = set(enumerate_threads())

    def fails(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(getattr(viser, room), method, fails)
    with pytest.raises(KeyboardInterrupt):
        view(world, open_browser=False) if made == "view" else Range(firing)
    assert set(enumerate_threads()) <= before


def test_wait_returns_when_the_viewer_is_closed(viewer_of):
    viewer = viewer_of(cc.Limbs.spheres([[0, 0, 0]], 1.0))
    waiting = Thread(target=viewer.wait, daemon=True)
    waiting.start()
    waiting.join(0.2)
    assert waiting.is_alive()
    viewer.close()
    waiting.join(60.0)
    assert not waiting.is_alive()
    later = Thread(target=viewer.wait, daemon=True)
    later.start()
    later.join(60.0)
    assert not later.is_alive()


def test_a_page_is_written_although_no_higher_port_exists(viewer_of, tmp_path: Path):
    viewer = viewer_of(cc.Limbs.spheres([[0, 0, 0]], 1.0), port=65535)
    viewer.save_html(tmp_path / "out.html")
    assert (tmp_path / "out.html").exists()
    with pytest.raises(ValueError, match=r"port: expected a free one from 65535 on, got none; the usual one is 8765"):
        view(cc.Limbs.spheres([[0, 0, 0]], 1.0), port=65535, open_browser=False)


def test_a_log_without_ticks_is_named(tmp_path: Path):
    path = tmp_path / "none.shots"
    cc.ShotLog(path, cc.HitWorld()).close()
    with (
        cc.ShotLog.open(path) as log,
        pytest.raises(ValueError, match=r"none.shots: expected a log with at .*; record"),
    ):
        view(log, open_browser=False)
