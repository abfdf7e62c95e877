"""Views of every kind of subject, without a browser: scene contents, names, texts of shots, files."""

import json
import re
import time
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from urllib.request import Request, urlopen

import numpy as np
import pytest
from support.cases.one_case import RECORD
from support.logging_server import logged
from support.missing_packages import hide_package

import cylcollide as cc

pytest.importorskip("viser", reason="the extra view")

from cylcollide.view import files
from cylcollide.view.command import read_subject
from cylcollide.view.frames import frame_of_state, frame_of_tick
from cylcollide.view.marks import Marks
from cylcollide.view.subjects import ShotView, Subject, subject_of, subject_of_cases
from cylcollide.view.viewer import AS_NOW, AS_PLAYER, FROM_SIDE


@pytest.fixture(scope="module")
def match(tmp_path_factory: pytest.TempPathFactory):
    """A match of 6 ticks with 2 shots each, its log, and its limbs at each tick."""
    path, limbs = tmp_path_factory.mktemp("view") / "match.shots", []
    return logged(path, 6, 2, after=lambda match: limbs.append(match.world.limbs)), path, limbs


def test_the_scene_has_all_limbs_where_they_are(viewer_of, match):
    history = match[0].history
    viewer = viewer_of(history)
    for number in (0, len(history.ticks) - 1):
        viewer.show(number)
        limbs = history.limbs_at(tick=int(history.ticks[number]))
        middle, rows = 0.5 * limbs.p1 + 0.5 * limbs.p2, 0
        for name, (node, _) in viewer._stage._limbs.items():
            positions = node.batched_positions
            rows += len(positions) if "ball-of" not in name else 0
            nearest = np.linalg.norm(positions[:, None] - np.concatenate([middle, limbs.p1, limbs.p2]), axis=2)
            assert nearest.min(axis=1).max() < 1e-5
        assert rows == len(limbs)


def test_a_narrow_window_shows_all_above_the_panel(viewer_of):
    viewer, aspect = viewer_of(cc.Limbs.spheres([[0, -9, 0], [0, 9, 0], [0, 0, 9], [0, 0, 0]], 1.0), up="z"), 390 / 844
    camera = SimpleNamespace(aspect=aspect)
    viewer._aim(SimpleNamespace(camera=camera))
    ahead, half = camera.look_at - camera.position, np.tan(0.5 * viewer._server.initial_camera.fov)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    down = np.cross(ahead, right)
    away = viewer._frame.limbs.p1 - camera.position
    ahead, right, down = (away @ axis / np.linalg.norm(axis) for axis in (ahead, right, down))
    assert 0.5 < np.abs(right / ahead).max() / (half * aspect) < 1.0
    assert -1.0 < (down / ahead).max() / half < -0.1  # the panel takes up to 60 % of the window, from below


def test_frames_of_ticks_are_those_of_the_world():
    rig, world = cc.Rig.humanoid(), cc.HitWorld()
    ids, history = world.spawn(rig, 2), cc.PoseHistory(world)
    world.add_static(cc.Limbs.boxes([[0, 0, 1]], [[0, 0, 0, 1]], [[1, 1, 1]]))
    world.set_poses(ids, *rig.forward([[0, 0, 1], [2, 0, 1]], [0, 0, 0, 1], np.tile(rig.rest_orientations, (2, 1, 1))))
    history.record(0.0)
    now, then = frame_of_state(world.snapshot()), frame_of_tick(history, history._kept_ticks[0])
    assert now.limbs == then.limbs
    assert now.is_static.tolist() == then.is_static.tolist() == [False] * 34 + [True]
    assert now.bones.shape == (2 * 16, 2, 3)
    assert np.array_equal(now.bones, then.bones)


@pytest.mark.parametrize("x", [0.0, 1e7])
def test_a_limb_hit_by_a_ray_is_named(viewer_of, x: float):
    """A ray of the scene begins at a place from the view's origin."""
    limbs = cc.Limbs.spheres([[x, 0, 0], [x + 3, 0, 0]], 1.0, name=["near", "far"], character=[7, 8], hit_group=[1, 2])
    viewer = viewer_of(limbs)
    assert viewer._name_at([-5, 0, 0], [1, 0, 0]).startswith("near, character 7: sphere, row 0, hit group 1")
    assert viewer._name_at([9, 0, 0], [-1, 0, 0]).startswith("far, character 8")
    assert viewer._name_at([9, 0, 0], [1, 0, 0]) == ""


def test_the_page_gets_the_limb_under_its_pointer(viewer_of, monkeypatch):
    """The page's camera is at (0, -5, 0) and looks along y; the world's x is to its right, z up."""
    limbs = cc.Limbs.spheres([[-2, 0, 0], [2, 0, 0], [2, 0, 2]], 0.5, name=["left", "right", "above"])
    viewer, aspect = viewer_of(limbs), 1.5
    turn = cc.quaternions.from_axis_angle([1, 0, 0], -0.5 * np.pi, order="wxyz")
    camera = SimpleNamespace(position=np.array([0, -5, 0]), wxyz=turn, fov=np.pi / 2, aspect=aspect)
    monkeypatch.setattr(viewer._server, "get_clients", lambda: {7: SimpleNamespace(camera=camera)})
    pointed, own = f"http://127.0.0.1:{viewer._pointed._answers.server_port}", viewer.url
    x, y = 0.5 + 0.5 * 2 / 5 / aspect, 0.5 - 0.5 * 2 / 5
    for path, name in (
        (f"{1 - x}/0.5", "left"),
        (f"{x}/0.5", "right"),
        (f"{x}/{y}", "above"),
        ("0/0", ""),
        ("x/y", ""),
    ):
        for origin in (own, own.replace("127.0.0.1", "localhost"), "http://example.org"):
            with urlopen(Request(f"{pointed}/7/{path}", headers={"Origin": origin})) as told:
                assert told.read().decode().partition(":")[0] == name
                allowed = told.headers["Access-Control-Allow-Origin"]
                assert allowed == (origin if "example" not in origin else own)
    with urlopen(f"{pointed}/8/0.5/0.5") as told:
        assert told.read() == b""


def test_shots_of_a_log_are_shown_as_judged(viewer_of, match):
    with cc.ShotLog.open(match[1]) as log:
        subject, found = subject_of(log), {True: 0, False: 0}
        assert len(subject.times) == len(log.ticks) == 6
        viewer = viewer_of(subject)
        for shot in list(log)[::2]:
            viewer.choose(shot.number)
            told = viewer._shown_shot
            assert viewer._listed.value == subject.shots[shot.number]
            assert log.ticks[viewer._slider.value] == shot.tick
            found[shot.hit] += 1
            assert told.marks.struck == shot.limb
            assert "'player': 'ann'" in told.words
            assert "judged by" in told.words if shot.hit else "miss" in told.words
            entry = told.marks.entries
            if shot.hit:
                hit = cc.HitWorld(told.judged.limbs).cast_segments(shot.start, told.marks.path[0, 1])
                assert np.array_equal(hit.position[0], entry[0])
            seen, at = viewer._server.initial_camera, told.marks.place
            assert np.array_equal(seen.look_at, entry[0] if shot.hit else told.marks.gap[0, 0])
            assert np.linalg.norm(seen.position - at) < 2.0
            across = np.cross(seen.position - at, told.marks.path[0, 1] - shot.start)
            assert np.linalg.norm(across) > 0.8 * np.linalg.norm(told.marks.path[0, 1] - shot.start)
            viewer._whence.value = AS_PLAYER
            viewer._look_at_shot()
            assert np.linalg.norm(seen.position - shot.start) < 0.7
            assert np.array_equal(seen.look_at, at)
            viewer._whence.value = FROM_SIDE
            line = subject.shots[shot.number]
            assert line.startswith(f"{shot.number}: tick {shot.tick}, {'hit' if shot.hit else 'miss'}  player ann")
        assert min(found.values()) > 0
        viewer._which.value = AS_NOW
        viewer._draw_shot()
        assert viewer._frame is told.now
        viewer._listed.value = "none"  # as if chosen in the page
        assert viewer._shown_shot is None
        viewer._listed.value = subject.shots[5]
        assert viewer._shown_shot.words.startswith("shot 5,")
        viewer._slider.value = 3
        assert viewer._shown_shot is None
        assert viewer._frame.limbs == match[2][3]
        assert viewer._listed.value == "none"


def test_states_of_a_log_are_those_of_its_ticks(match):
    with cc.ShotLog.open(match[1]) as log:
        subject = subject_of(log)
        for number in (0, 1, 2, 5, 3):  # steps and jumps
            assert subject.frame(number).limbs == match[2][number]


def test_a_case_has_both_answers(viewer_of):
    case_room = pytest.importorskip("cylcollide.crosscheck.cases.case", reason="the extra crosscheck")
    subject = subject_of_cases([case_room.Case.read(RECORD)], "one case")
    viewer = viewer_of(subject)
    told = viewer._shown_shot
    assert told is not None
    assert told.marks.entries[0] == pytest.approx(np.array([-0.1, 0.0045, 0.0135]))
    assert told.marks.places[0][0] < -0.1
    assert "PyBullet" in told.words
    camera, radius = viewer._server.initial_camera, float(told.judged.limbs.radius[0])
    assert 5.0 < np.linalg.norm(camera.position - camera.look_at) / radius < 12.0, "a limb is seen from near"


def test_standalone_files(viewer_of, match, tmp_path: Path):
    viewer = viewer_of(match[0].history)
    viewer.save_html(tmp_path / "out.html", rate=1e9)
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "__VISER_EMBED_DATA__" in page
    assert len(page) < 2_000_000
    viewer.show(1)  # the live view goes on


def content_of(page: str) -> dict:
    content = json.loads(re.search(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)[1])
    content["pages"] = [content["head"] + recording + content["tail"] for recording in content["recordings"]]
    return content


def test_a_page_of_a_log_has_a_list_of_shots(viewer_of, match, tmp_path: Path, monkeypatch):
    with cc.ShotLog.open(match[1]) as log:
        viewer = viewer_of(log)
        viewer.save_html(tmp_path / "out.html")
        content = content_of((tmp_path / "out.html").read_text(encoding="utf-8"))
        assert content["lines"] == ["6 ticks", *viewer._subject.shots]
        assert content["words"] == ["Choose a shot.", *(viewer._subject.shot_view(i).words for i in range(len(log)))]
        assert all(page.startswith("<!") and page.endswith("</html>") for page in map(str.strip, content["pages"]))
        data = [re.findall(r'__VISER_EMBED_DATA__="([^"]+)"', page) for page in content["pages"]]
        assert len({one for (one,) in data}) == len(data)  # each has a recording of its own
        monkeypatch.setattr(files, "LARGEST", len(content["pages"][0]) + 2 * len(data[1][0]))
        viewer.save_html(tmp_path / "small.html")
        fewer = content_of((tmp_path / "small.html").read_text(encoding="utf-8"))
        assert 1 <= len(fewer["lines"]) < len(content["lines"])
        assert fewer["words"][0].startswith(f"The first {len(fewer['lines']) - 1} of {len(log)} shots.")


def test_the_command_reads_every_kind_of_file(match, tmp_path: Path):
    limbs = cc.Limbs.spheres([[0, 0, 0]], 1.0)
    limbs.save(tmp_path / "limbs.npz")
    cc.Rig.humanoid().save(tmp_path / "rig.json")
    for file, frames in ((tmp_path / "limbs.npz", 1), (tmp_path / "rig.json", 1), (match[1], 6)):
        with ExitStack() as opened:
            subject = read_subject(file, opened)
            assert len(subject.times) == frames
            assert len(subject.frame(0).limbs)


@pytest.mark.parametrize(
    "words",
    [("none.npz",), ("text.txt",), ("bad.npz",), ("bad.json",), ("good.npz", "--up", "x"), ("good.npz", "--shot", "5")],
)
def test_bad_files_end_in_one_line(refused, words, tmp_path: Path):
    for name in ("text.txt", "bad.npz", "bad.json"):
        (tmp_path / name).write_text("nothing of ours")
    cc.Limbs.spheres([[0, 0, 0]], 1.0).save(tmp_path / "good.npz")
    refused("view", tmp_path / words[0], *words[1:])


@pytest.mark.parametrize(("words", "waits"), [(["view", "limbs.npz"], "viewer"), (["range", "--people", 1], "range")])
def test_ctrl_c_is_how_a_page_ends(command, monkeypatch, tmp_path: Path, words, waits: str):
    def interrupt(_seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"cylcollide.view.{waits}.time", SimpleNamespace(sleep=interrupt, monotonic=time.monotonic))
    monkeypatch.chdir(tmp_path)
    cc.Limbs.spheres([[0, 0, 0]], 1.0).save("limbs.npz")
    status, said, error = command(*words, "--no-browser")
    assert said.endswith("(Ctrl-C ends it)\nEnded.\n")
    assert (status, error) == (0, "")


@pytest.mark.parametrize("option", ["--html", "--png"])
def test_the_input_is_not_overwritten(refused, option: str, tmp_path: Path):
    rig = tmp_path / "rig.json"
    cc.Rig.humanoid().save(rig)
    before = rig.read_bytes()
    assert f"{option}: expected another file" in refused("view", rig, option, rig)
    assert rig.read_bytes() == before


def test_a_page_by_the_command(command, long_path: Path):
    cc.Limbs.spheres([[0, 0, 0]], 1.0).save(long_path / "good.npz")
    status, said, _ = command("view", long_path / "good.npz", "--html", long_path / "out.html")
    assert (status, said) == (0, f"Page: {long_path / 'out.html'}\n")
    assert (long_path / "out.html").stat().st_size > 100_000


def test_without_viser_the_extra_is_named(monkeypatch):
    import sys

    hide_package(monkeypatch, "viser")
    for name in [name for name in sys.modules if name.startswith("cylcollide.view")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError, match=r"pip install '\.\[view\]' in a clone"):
        cc.HitWorld().view()


def test_play_goes_to_the_last_tick(viewer_of, match):
    viewer = viewer_of(match[0].history)
    viewer._play_or_pause()
    until = time.monotonic() + 60.0
    while viewer._playing is not None:
        assert time.monotonic() < until
        time.sleep(0.01)
    assert viewer._slider.value == len(match[0].history.ticks) - 1
    assert viewer._play.label == "Play"
    viewer._play_or_pause()  # starts from the first one again
    viewer._play_or_pause()
    assert viewer._playing is None


def test_many_shots_have_pages(viewer_of):
    frame = subject_of(cc.Limbs.spheres([[0, 0, 0]], 1.0)).frame(0)
    shots, marks = [f"{i}: a shot" for i in range(450)], Marks(path=np.eye(3)[None, :2])
    subject = Subject(
        "many", {}, lambda _: frame, shots=shots, shot_view=lambda i: ShotView(frame, None, marks, f"shot {i}")
    )
    viewer = viewer_of(subject)
    assert len(viewer._listed.options) == 201
    viewer._page.value = 2
    assert viewer._listed.options[1:] == tuple(shots[400:])
    viewer.choose(250)
    assert (viewer._page.value, viewer._listed.value) == (1, shots[250])
    with pytest.raises(ValueError, match="expected 0 to 449"):
        viewer.choose(450)
