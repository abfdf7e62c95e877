"""Files of a view: a picture, and a self-contained page with all ticks, a list of shots, and words about each shot."""

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cylcollide.process.files import replace
from cylcollide.view.browser import QUIET, Browser
from cylcollide.view.marks import NO_MARKS
from cylcollide.view.panel import STYLE, legend
from cylcollide.view.server import url_of
from cylcollide.view.stage import Stage, look_at_shot
from cylcollide.view.subjects import ShotView, Subject


def html_of(server: Any, stage: Stage, subject: Subject, rate: float, up: int) -> str:
    """A page that plays all frames of a subject, at most `rate` per second, and lists its shots."""
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
    return _page_with_shots(server, stage, subject, text, up) if subject.shots else text


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
    with Browser(width, height) as browser:
        browser.open(url_of(server))
        browser.evaluate(QUIET)
        browser.settle()
        picture = browser.picture()
    replace(path, lambda stream: stream.write(picture))


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
const {{title, head, tail, lines, words, middles}} = JSON.parse(document.querySelector("script").textContent);
const list = document.querySelector("select");
document.title = title;
list.append(...lines.map(line => new Option(line)));
list.onchange = () => {{
  document.querySelector("iframe").srcdoc = head + middles[list.selectedIndex] + tail;
  document.querySelector("pre").textContent = words[list.selectedIndex];
}};
list.selectedIndex = 0;
list.onchange();
</script>
</body>
</html>
"""


@dataclass(frozen=True)
class Entry:
    """One line of the list, and its page as a difference from another page, with the lengths of equal ends of both."""

    line: str
    words: str
    before: int
    own: str
    after: int


def _page_with_shots(server: Any, stage: Stage, subject: Subject, ticks: str, up: int) -> str:
    """A page that contains the page of all ticks and the shots of a subject, as many as there is room for."""
    count, words = len(subject.times), "Choose a shot."
    entries, left = list[Entry](), LARGEST - len(ticks)
    for number, shot in enumerate(subject.shot_views()):
        entry = _entry(server, stage, subject.shots[number], shot, ticks, up)
        left -= sum(map(len, (entry.line, entry.words, entry.own)))
        if left < 0:
            words = f"The first {number} of {len(subject.shots)} shots. {words}"
            break
        entries.append(entry)
    stage.show(subject.frame(0), NO_MARKS)
    first = Entry(f"{count} ticks" if count > 1 else "without a shot", words, len(ticks), "", 0)
    return _joined(subject, [first, *entries], ticks)


def _entry(server: Any, stage: Stage, line: str, shot: ShotView, ticks: str, up: int) -> Entry:
    """The entry of a shot: the limbs that were judged, where it hits, and why."""
    stage.show(shot.judged, shot.marks)
    look_at_shot(server.initial_camera, shot.judged, shot.marks, up, stage.origin)
    page: str = server.get_scene_serializer().as_html()
    before = _equal(lambda count: page[:count] == ticks[:count], min(len(page), len(ticks)))
    most = min(len(page), len(ticks)) - before
    after = _equal(lambda count: page[len(page) - count :] == ticks[len(ticks) - count :], most)
    return Entry(line, shot.words, before, page[before : len(page) - after], after)


def _equal(is_so: Callable[[int], bool], most: int) -> int:
    """The largest count up to `most` for which `is_so` holds, by bisection; it holds for all smaller ones."""
    least = 0
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if is_so(middle) else (least, middle - 1)
    return least


def _joined(subject: Subject, entries: list[Entry], ticks: str) -> str:
    """One page of all entries, with their common beginning and end stored once."""
    n, head, tail = len(ticks), min(e.before for e in entries), min(e.after for e in entries[1:] or entries)
    middles = [ticks[head : n - tail]]
    middles += [ticks[head : e.before] + e.own + ticks[n - e.after : n - tail] for e in entries[1:]]
    content = json.dumps({
        "title": f"cylcollide: {subject.title}", "head": ticks[:head], "tail": ticks[n - tail :],
        "lines": [entry.line for entry in entries], "words": [entry.words for entry in entries], "middles": middles,
    })  # fmt: skip
    return PAGE.format(legend=legend(subject.groups), style=STYLE, content=content.replace("<", "\\u003c"))
