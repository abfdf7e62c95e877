"""Files of a view: a page that stands alone, and a picture."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np

from cylcollide.view.browser import QUIET, Browser
from cylcollide.view.marks import NO_MARKS
from cylcollide.view.stage import Stage
from cylcollide.view.standalone import page_with_shots
from cylcollide.view.subjects import Subject


def html_of(server: Any, stage: Stage, subject: Subject, rate: float, up: int) -> str:
    """A page with all frames of a subject, at most so many a second, which it plays itself; and shots in a list."""
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
    return page_with_shots(server, stage, subject, text, up) if subject.shots else text


def _thinned(times: Any, step: float) -> list[int]:
    """Frames that are at least a step apart, the first one first."""
    kept, last = [], -np.inf
    for number, time in enumerate(times.tolist()):
        if time - last >= 0.999 * step:
            kept.append(number)
            last = time
    return kept


def write_png(server: Any, path: Path, width: int, height: int) -> None:
    """Write a picture of a server's page, as a browser without a window draws it."""
    with Browser(width, height) as browser:
        browser.open(f"http://{server.get_host()}:{server.get_port()}")
        browser.evaluate(QUIET)
        browser.settle()
        path.write_bytes(browser.picture())
