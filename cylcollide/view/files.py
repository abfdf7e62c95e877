"""Files of a view: a picture, and a self-contained page with all ticks, a list of shots, and words about each shot."""

import itertools
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from cylcollide import validate
from cylcollide.process.files import replace
from cylcollide.view.browser import QUIET, Browser
from cylcollide.view.marks import NO_MARKS
from cylcollide.view.server import STYLE, legend, url_of
from cylcollide.view.stage import Stage, look_at_shot
from cylcollide.view.subjects import Subject


def html_of(server: Any, stage: Stage, subject: Subject, rate: float, up: int) -> str:
    """A page that plays all frames of a subject, at most `rate` per second, and lists its shots."""
    times, most = subject.times, validate.one_number(rate)
    if not most > 0.0:
        raise ValueError(f"rate: expected frames per second, a number > 0, got {validate.shown(rate)}; 20 is usual")
    shown = _thinned(times, 1.0 / most)
    stage.show(subject.frame(shown[0]), NO_MARKS)
    recording = server.get_scene_serializer()
    for before, number in itertools.pairwise(shown):
        recording.insert_sleep(float(times[number] - times[before]))
        stage.show(subject.frame(number))
    if len(shown) > 1:
        recording.insert_sleep(float(times[shown[-1]] - times[shown[-2]]))
    page: str = recording.as_html()
    return _page_with_shots(server, stage, subject, page, up) if subject.shots else page


def _thinned(times: Any, step: float) -> list[int]:
    """Numbers of frames that are at least a step apart, beginning with the first one."""
    kept, last = [], -np.inf
    for number, time in enumerate(times.tolist()):
        if time - last >= 0.999 * step:
            kept.append(number)
            last = time
    return kept


def write_png(server: Any, path: Path, width: int, height: int) -> None:
    """Write a picture of a server's page, drawn by a headless browser."""
    for name, size in (("width", width), ("height", height)):
        if not validate.is_integer(size) or not 1 <= int(size) <= LARGEST_PICTURE:
            raise ValueError(
                f"{name}: expected 1 to {LARGEST_PICTURE} pixels, got {validate.shown(size)}; 1400 × 900 is usual"
            )
    with Browser(width, height) as browser:
        browser.open(url_of(server))
        browser.evaluate(QUIET)
        browser.settle()
        picture = browser.picture()
    replace(path, lambda stream: stream.write(picture))


LARGEST_PICTURE = 16384
"""Most pixels of a side of a picture: no browser draws a larger canvas."""

RECORDING = re.compile(r'(?<=__VISER_EMBED_DATA__=")([^"]*)')
"""The recording in a page of viser."""

LARGEST = 9_500_000
"""Largest number of characters of a page: shots that exceed it are left out."""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<style>
body {{ margin: 0; display: flex; flex-wrap: wrap; min-height: 100vh; font-family: sans-serif }}
iframe {{ flex: 1 1 600px; min-width: 0; height: 100vh; border: 0 }}
aside {{ flex: 1 1 300px; max-width: 420px; min-width: 0 }}
@media (max-width: 700px) {{
  iframe {{ flex-basis: 100%; height: 50vh }}
  aside {{ flex-basis: 100%; max-width: none }}
}}
select {{ width: calc(100% - 24px); margin: 8px 12px }}
</style>
</head>
<body>
<iframe title="scene"></iframe>
<aside>{legend}<select size="12" aria-label="shots"></select><pre style="{style}"></pre></aside>
<script type="application/json">{content}</script>
<script>
const {{title, head, tail, lines, words, recordings}} = JSON.parse(document.querySelector("script").textContent);
const list = document.querySelector("select");
document.title = title;
list.append(...lines.map(line => new Option(line)));
list.onchange = () => {{
  document.querySelector("iframe").srcdoc = head + recordings[list.selectedIndex] + tail;
  document.querySelector("pre").textContent = words[list.selectedIndex];
}};
list.selectedIndex = 0;
list.onchange();
</script>
</body>
</html>
"""


def _page_with_shots(server: Any, stage: Stage, subject: Subject, page: str, up: int) -> str:
    """A page that contains `page`, of all ticks, and the shots of a subject, as many as there is room for.

    Pages of viser differ in their recordings alone, so that everything else is stored once.
    """
    assert subject.shot_view is not None
    head, ticks, tail = RECORDING.split(page)
    count, left = len(subject.times), LARGEST - len(page)
    lines, words, recordings = [f"{count} ticks" if count > 1 else "without a shot"], ["Choose a shot."], [ticks]
    for number, line in enumerate(subject.shots):
        shot = subject.shot_view(number)
        stage.show(shot.judged, shot.marks)
        look_at_shot(server.initial_camera, shot.judged, shot.marks, up, stage.origin)
        _, recording, _ = RECORDING.split(server.get_scene_serializer().as_html())
        left -= len(line) + len(shot.words) + len(recording)
        if left < 0:
            words[0] = f"The first {number} of {len(subject.shots)} shots. {words[0]}"
            break
        lines.append(line)
        words.append(shot.words)
        recordings.append(recording)
    title = f"cylcollide: {subject.title}"
    content = {"title": title, "head": head, "tail": tail, "lines": lines, "words": words, "recordings": recordings}
    text = json.dumps(content).replace("<", "\\u003c")
    return PAGE.format(legend=legend(subject.groups), style=STYLE, content=text)
