"""Use of the pages in Chromium: clicks, sliders, lists; no error, and no request to another machine."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import numpy as np
import pytest
from support.logging_server import logged
from support.package import ABOVE_PACKAGE

import cylcollide as cc

pytest.importorskip("viser", reason="the extra view")

from viser.transforms import SO3

from cylcollide.view.browser import HAS_CANVAS, PROGRAMS, TIMEOUT, Browser
from cylcollide.view.firing import TICKS, make_firing
from cylcollide.view.people import range_rig
from cylcollide.view.range import Range
from cylcollide.view.viewer import view

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not any(map(shutil.which, PROGRAMS)), reason="no Chromium is installed"),
]

BOX = """(element => {{
  const box = element.getBoundingClientRect();
  return [box.x + {share} * box.width, box.y + box.height / 2];
}})({element})"""
BY_TEXT = "[...document.querySelectorAll('{kind}')].filter(e => e.textContent.trim() === '{text}')[0]"
LISTED = "[...document.querySelectorAll('input')].filter(e => e.value === 'none')[0]"
SLIDER = "document.querySelector('[role=slider]').closest('.mantine-Slider-root')"

FRAMES = """new Promise(done => {
  const kind = WebGL2RenderingContext.prototype, clear = kind.clear, begun = performance.now();
  let drawn = 0;
  kind.clear = function (...bits) { drawn += 1; return clear.apply(this, bits); };
  const next = () => {
    if (performance.now() < begun + 3000) { requestAnimationFrame(next); return; }
    kind.clear = clear;
    done([drawn, 1e-3 * (performance.now() - begun)]);
  };
  requestAnimationFrame(next);
})"""
"""Number of frames drawn in about 3 seconds, and the seconds measured."""


def until(is_so) -> None:
    end = time.monotonic() + TIMEOUT
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


def place_in(camera, place: np.ndarray) -> np.ndarray:
    """Where a camera shows a place, in shares (2,) of the picture from the left and from above."""
    x, y, ahead = SO3(camera.wxyz).inverse() @ (place - camera.position)
    return 0.5 + 0.5 * np.array([x / camera.aspect, y]) / ahead / np.tan(0.5 * camera.fov)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are read from /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_chromium_ends_with_the_command_for_any_signal(tmp_path, number):
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # short: Chromium's sockets lie there

        def of_browser():
            for line in Path("/proc").glob("[0-9]*/cmdline"):
                with suppress(OSError):
                    if f"--user-data-dir={folder}" in line.read_text(errors="replace"):
                        yield line

        cc.Limbs.capsules([[0, 0, 0]], [[0, 0, 1]], 0.2).save(tmp_path / "limbs.npz")
        words = [sys.executable, "-m", "cylcollide", "view", "limbs.npz", "--png", "limbs.png"]
        surroundings = {**os.environ, "PYTHONPATH": str(ABOVE_PACKAGE), "TMPDIR": folder}
        with subprocess.Popen(words, cwd=tmp_path, env=surroundings) as run:
            until(lambda: run.poll() is not None or any(Path(folder).glob("tmp*/DevToolsActivePort")))
            assert any(of_browser())
            run.send_signal(number)
            run.wait(30.0)
        try:
            until(lambda: not any(of_browser()))
        finally:
            for line in of_browser():  # a failure leaves no process behind either
                os.kill(int(line.parent.name), signal.SIGKILL)


def test_a_picture_leaves_no_files_of_chromium_behind(monkeypatch):
    with TemporaryDirectory() as folder:  # short, as above
        monkeypatch.setattr("tempfile.tempdir", folder)
        monkeypatch.setenv("TMPDIR", folder)
        viewer = view(cc.Limbs.spheres([[0, 0, 0]], 1.0), open_browser=False)
        viewer.save_png(Path(folder, "out.png"))
        viewer.close()
        assert [one.name for one in Path(folder).iterdir()] == ["out.png"]


class Page:
    """A page with mouse input and checks."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.browser = browser
        browser.open(url)

    def click(self, x: float, y: float) -> None:
        self.browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            self.browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def click_on(self, element: str, share: float = 0.5) -> None:
        self.click(*self.browser.evaluate(BOX.format(share=share, element=element)))

    def says(self, pattern: str) -> None:
        """Wait until the page's text matches a pattern."""
        until(lambda: re.search(pattern, self.browser.evaluate("document.body?.innerText") or ""))

    def check(self) -> None:
        """Assert that the page has no errors and sent requests only to this machine."""
        events = self.browser.events
        asked = [e["params"]["request"]["url"] for e in events if e.get("method") == "Network.requestWillBeSent"]
        assert asked
        assert not [url for url in asked if not re.match(r"(blob:)?http://127\.0\.0\.1|(blob:)?(data|file|null)", url)]
        assert not [e for e in events if e.get("method") == "Runtime.exceptionThrown"]
        told = [e["params"] for e in events if e.get("method") == "Runtime.consoleAPICalled"]
        assert not [one for one in told if one["type"] in ("error", "assert")]
        entries = [e["params"]["entry"] for e in events if e.get("method") == "Log.entryAdded"]
        assert not [entry for entry in entries if entry["level"] == "error"]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of 12 ticks."""
    path = tmp_path_factory.mktemp("log") / "match.shots"
    logged(path, 12)
    return path


@pytest.mark.parametrize("width", [1400, 390])
def test_a_log(path: Path, width: int):
    with cc.ShotLog.open(path) as shots, Browser(width, 900) as browser:
        viewer = view(shots, open_browser=False)
        page = Page(browser, viewer.url)
        page.says("time 0")
        browser.settle()  # the panel slides in
        page.click_on(LISTED)
        page.says(r"3: tick \d")
        page.click_on(BY_TEXT.format(kind="[role=option]", text=viewer._subject.shots[3]))
        page.says("shot 3, after tick")
        assert viewer._shown_shot is not None
        hit = next(shot.number for shot in shots if shot.hit)
        viewer.choose(hit)
        page.says(f"shot {hit}, after tick")
        browser.settle()
        (client,) = viewer._server.get_clients().values()
        x, y = place_in(client.camera, viewer._shown_shot.marks.place) * [width, 900]
        for step in (0, 1):
            browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + step, y=y)
        until(lambda: re.search("character .*row", browser.evaluate("document.querySelector('#pointed').textContent")))
        page.click_on(SLIDER, 0.98)
        page.says(r"time 0\.1\d+")
        assert viewer._shown_shot is None
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
        page.check()
        viewer.close()


def test_a_click_fires_in_the_range():
    shown = Range(make_firing(range_rig(), [], 4))
    Thread(target=shown.run, daemon=True).start()
    try:
        with Browser(1200, 800) as browser:
            page = Page(browser, shown.url)
            page.says("Click to fire")
            page.click(600, 450)
            page.says("PyBullet")
            shot = shown.shot
            assert shot is not None
            judged = shown.firing.history.judge_rays(shot.origin, shot.direction, shown.firing.policy, time=shot.seen)
            assert judged.limb[0] == shot.judged.limb[0]
            page.click_on(BY_TEXT.format(kind="button", text="Go on"))
            until(lambda: shown.shot is None)
            page.click_on(SLIDER)
            until(lambda: shown._ghosts._limbs)
            page.click_on(BY_TEXT.format(kind="button", text="Fire 0.5 mm past a limb"))
            page.says(r"a miss, by 0\.500 mm")
            page.check()
    finally:
        shown.close()


def processor_times(browser: Browser) -> np.ndarray:
    """Processor seconds that all processes of a browser have used, and this process."""
    session, browser._session = browser._session, None
    processes = browser.call("SystemInfo.getProcessInfo")["processInfo"]
    browser._session = session
    fields = [Path(f"/proc/{one['id']}/stat").read_text().rpartition(")")[2].split() for one in processes]
    ticks = sum(int(one[11]) + int(one[12]) for one in fields)
    return np.array([ticks / os.sysconf("SC_CLK_TCK"), time.process_time()])


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads the time of processes as Linux tells it")
@pytest.mark.parametrize("command", ["range", "view"])
def test_two_processors_draw_a_crowd_ten_times_a_second_without_a_graphics_card(command: str):
    """64 people; processor time is measured, because other processes may share the processors."""
    firing, needed = make_firing(range_rig(), [], 64), []
    for tick in range(TICKS if command == "view" else 0):
        firing.step(tick / 30)
    shown = Range(firing) if command == "range" else view(firing.history, open_browser=False)
    with Browser(1400, 900) as browser:
        page = Page(browser, shown.url)
        page.says("Play" if command == "view" else "Click to fire")
        browser.settle()  # the panel slides in
        if isinstance(shown, Range):
            Thread(target=shown.run, daemon=True).start()
        for _ in range(4):
            if command == "view":
                page.says("\nPlay\n")
                page.click_on(BY_TEXT.format(kind="button", text="Play"))
            before = processor_times(browser)
            drawn, seconds = browser.evaluate(FRAMES)
            theirs, ours = processor_times(browser) - before
            needed.append(10.0 * theirs / max(drawn, 1) + ours / seconds)
            print(f"{command}: {drawn / seconds:.1f} frames a second; ten would take {needed[-1]:.2f} processors")
        page.check()
    shown.close()
    assert min(needed) < 2.0


def test_a_standalone_page(path: Path, tmp_path: Path):
    with cc.ShotLog.open(path) as shots, Browser(1400, 900) as browser:
        viewer = view(shots, open_browser=False)
        viewer.save_html(tmp_path / "page.html", rate=60.0)
        words = [viewer._subject.shot_view(number).words for number in range(len(shots))]
        viewer.close()
        page = Page(browser, (tmp_path / "page.html").as_uri())
        assert browser.evaluate("document.querySelector('select').options.length") == 1 + len(shots) == 1 + len(words)
        for number in (-1, 3):
            browser.evaluate(f"(() => {{ const list = document.querySelector('select'); "
                             f"list.selectedIndex = {number + 1}; list.onchange(); }})()")  # fmt: skip
            until(lambda: browser.evaluate(HAS_CANVAS))
            until(lambda: len(browser.picture()) > 100_000)
            said = browser.evaluate("document.querySelector('pre').textContent")
            assert said == ("Choose a shot." if number < 0 else words[number])
        for width, height in ((1400, 900), (390, 844)):
            browser.resize(width, height)
            assert browser.evaluate("document.querySelector('select').getBoundingClientRect().bottom <= innerHeight")
        page.check()
