"""Files of a view: a page that stands alone, and a picture."""

import itertools
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from cylcollide.view.marks import NO_MARKS
from cylcollide.view.stage import Stage
from cylcollide.view.subjects import Subject

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
DRAWN_WITHIN = 20_000
"""Milliseconds of the browser's time after which a page is drawn."""
SOFTWARE = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")
"""Options that let Chromium draw without a graphics card."""


def html_of(server: Any, stage: Stage, subject: Subject, rate: float) -> str:
    """A page with all frames of a subject, at most so many a second; it plays them itself."""
    times = subject.times
    shown = _thinned(times, 1.0 / rate)
    stage.show(subject.frame(shown[0]), NO_MARKS)
    recording = server.get_scene_serializer()
    for before, number in itertools.pairwise(shown):
        recording.insert_sleep(float(times[number] - times[before]))
        stage.show(subject.frame(number))
    if len(shown) > 1:
        recording.insert_sleep(float(times[shown[-1]] - times[shown[-2]]))
    text: str = recording.as_html()
    return text


def _thinned(times: Any, step: float) -> list[int]:
    """Frames that are at least a step apart, the first one first."""
    kept, last = [], -np.inf
    for number, time in enumerate(times.tolist()):
        if time - last >= 0.999 * step:
            kept.append(number)
            last = time
    return kept


def browser() -> str:
    """The Chromium that is installed; RuntimeError if there is none."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        raise RuntimeError(f"expected Chromium to draw the picture, found none of {', '.join(BROWSERS)}; install one")
    return found


def write_png(url: str, path: Path, width: int, height: int) -> None:
    """Write a picture of a page, as a browser without a window draws it."""
    program = browser()
    with tempfile.TemporaryDirectory() as profile:
        words = [program, "--headless", "--no-sandbox", *SOFTWARE, f"--user-data-dir={profile}", "--hide-scrollbars"]
        words += [f"--window-size={width},{height}", f"--virtual-time-budget={DRAWN_WITHIN}"]
        words += [f"--screenshot={path.absolute()}", url]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    if not path.exists():
        raise RuntimeError(f"{program} drew nothing: {done.stderr.strip()[-300:]}")
