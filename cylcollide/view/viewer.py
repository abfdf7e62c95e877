"""A view in the browser: the scene, beside it a slider over ticks, a list of shots, and words about the one chosen."""

import os
import sys
import time
import webbrowser
from os import PathLike
from pathlib import Path
from threading import Event, RLock, Thread
from typing import Any, Literal

import numpy as np

from cylcollide.view.files import html_of, write_png
from cylcollide.view.frames import Frame
from cylcollide.view.marks import NO_MARKS, Marks
from cylcollide.view.panel import legend, preformatted
from cylcollide.view.server import PORT, serve, stop
from cylcollide.view.stage import Stage, up_axis, usual_size, view_of
from cylcollide.view.subjects import Subject, Told, subject_of
from cylcollide.world.hit_world import HitWorld

Up = Literal["auto", "y", "z"]

LISTED = 200
"""Shots in the list at a time."""
STEP = 1.0 / 30.0
"""Seconds between two frames that are drawn while it plays, at least."""


def view(seen: Any, *, up: Up = "auto", port: int = PORT, open_browser: bool = True) -> "Viewer":
    """Show `Limbs`, a `Rig`, a `HitWorld`, a `PoseHistory` or a log in the browser, as it is now.

    Parameters
    ----------
    seen
        What is shown.
    up
        The axis that points up; "auto": the one along which characters are tall.
    port
        Of this machine alone; the next one that is free, if it is taken.
    open_browser
        Whether to open a browser; not in a notebook, which shows what is returned, and not without a display.

    Raises
    ------
    ImportError
        Without viser: install `cylcollide[view]`.
    ValueError
        If it cannot be shown.
    """
    viewer = Viewer(seen if isinstance(seen, Subject) else subject_of(seen), up=up, port=port)
    if open_browser and has_display() and "ipykernel" not in sys.modules:
        webbrowser.open(viewer.url)
    return viewer


def has_display() -> bool:
    """Whether a browser would open a window: elsewhere one in the terminal would take its place."""
    return sys.platform in ("win32", "darwin") or any(os.environ.get(one) for one in ("DISPLAY", "WAYLAND_DISPLAY"))


class Viewer:
    """A view that is open at `url` until `close`; a notebook shows it."""

    def __init__(self, subject: Subject, *, up: Up = "auto", port: int = PORT) -> None:
        self.subject, self._lock, self._playing = subject, RLock(), Event()
        self._number = 0
        self._told: Told | None = None
        self._asked_up = up
        self._server = serve(f"cylcollide: {subject.title}", port)
        self._frame = self._prepare(self._server)
        self._stage = Stage(self._server.scene, subject.groups, usual_size(self._frame))
        self._build_panel()
        self._server.scene.on_click()(self._name_clicked)
        self.show(0)
        if subject.tell is not None and len(subject.times) == 1:
            self.choose(0)

    @property
    def url(self) -> str:
        """Where it is shown."""
        return f"http://{self._server.get_host()}:{self._server.get_port()}"

    def __repr__(self) -> str:
        return f"Viewer({self.url})"

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.url}" width="100%" height="600" style="border:0"></iframe>'

    def close(self) -> None:
        """Close it."""
        self._playing.clear()
        stop(self._server)

    def wait(self) -> None:
        """Wait until Ctrl-C, then close it."""
        try:
            while True:
                time.sleep(3600.0)
        except KeyboardInterrupt:
            self.close()

    # What is shown ----------------------------------------------------------------------------------------------------

    def show(self, number: int) -> None:
        """Show the frame with a number, without a shot."""
        with self._lock:
            self._number, self._told = number, None
            self._frame = self.subject.frame(number)
            self._draw(self._frame, NO_MARKS)
            if len(self.subject.times) > 1:
                self._tick_words.content = f"time {self.subject.times[number]:.9g}"

    def choose(self, number: int) -> None:
        """Show a shot: what it was judged on, where it hits, and why, in words."""
        if self.subject.tell is None:
            raise ValueError("choose: expected a subject with shots, got one without")
        self._playing.clear()
        with self._lock:
            told = self._told = self.subject.tell(number)
            self._words.content = preformatted(told.words)
            self._which.visible = told.now is not None
            self._show_told()

    def _show_told(self) -> None:
        told = self._told
        if told is not None:
            then = told.now is None or self._which.value == AS_JUDGED
            self._frame = told.judged if then or told.now is None else told.now
            self._draw(self._frame, told.marks if then else told.marks._replace(struck=-1))

    def _draw(self, frame: Frame, marks: Marks) -> None:
        with self._server.atomic():
            self._stage.show(frame, marks)

    def _prepare(self, server: Any) -> Frame:
        """Put the camera where it sees the first frame, which is returned."""
        frame = self.subject.frame(0)
        up = up_axis(frame) if self._asked_up == "auto" else "xyz".index(self._asked_up)
        server.scene.set_up_direction("+" + "xyz"[up])
        place, at = view_of(frame, up)
        camera, distance = server.initial_camera, float(np.linalg.norm(place - at))
        camera.position, camera.look_at, camera.up = place, at, np.eye(3)[up]
        camera.near, camera.far = 1e-3 * distance, 1e3 * distance
        return frame

    # The panel --------------------------------------------------------------------------------------------------------

    def _build_panel(self) -> None:
        gui, subject, count = self._server.gui, self.subject, len(self.subject.times)
        if subject.groups:
            gui.add_html(legend(subject.groups))
        if count > 1:
            slider = gui.add_slider("Tick", 0, count - 1, 1, 0)
            self._tick_words = gui.add_markdown("")
            play = gui.add_button("Play")
            slider.on_update(lambda _: self._moved(int(slider.value)))
            play.on_click(lambda _: self._play_or_pause(play, slider))
        if subject.tell is not None:
            self._build_shots(gui, subject)
        bones = gui.add_checkbox("Bones", False)
        bones.on_update(lambda _: self._show_bones(bool(bones.value)))
        self._clicked = gui.add_html(preformatted("Click a limb for its name."))

    def _build_shots(self, gui: Any, subject: Subject) -> None:
        count = len(subject.shots)
        pages = -(-count // LISTED)
        page = gui.add_slider("Page of shots", 0, pages - 1, 1, 0, visible=pages > 1) if pages > 1 else None
        listed = gui.add_dropdown("Shot", [NO_SHOT, *subject.shots[:LISTED]])
        if page is not None:
            page.on_update(
                lambda _: setattr(
                    listed, "options", [NO_SHOT, *subject.shots[page.value * LISTED : (page.value + 1) * LISTED]]
                )
            )
        self._which = gui.add_button_group("World", [AS_JUDGED, AS_NOW], visible=False)
        self._words = gui.add_html("")
        listed.on_update(lambda _: self._chosen(str(listed.value)))
        self._which.on_click(lambda _: self._show_told())

    def _chosen(self, line: str) -> None:
        if line == NO_SHOT:
            self._words.content = ""
            self.show(self._number)
        else:
            self.choose(int(line.partition(":")[0]))

    def _moved(self, number: int) -> None:
        if number != self._number or self._told is not None:
            self.show(number)

    def _play_or_pause(self, play: Any, slider: Any) -> None:
        if self._playing.is_set():
            self._playing.clear()
        else:
            self._playing.set()
            Thread(target=self._play, args=(play, slider), daemon=True).start()

    def _play(self, play: Any, slider: Any) -> None:
        """Play from the present frame on, as fast as it was; from the first one at the end."""
        play.label, times = "Pause", self.subject.times
        number = int(slider.value) if int(slider.value) < len(times) - 1 else 0
        begun, first = time.monotonic(), times[number]
        while self._playing.is_set() and number < len(times) - 1:
            time.sleep(STEP)
            passed = first + time.monotonic() - begun
            number = max(number, min(int(np.searchsorted(times, passed, "right")) - 1, len(times) - 1))
            slider.value = number
        self._playing.clear()
        play.label = "Play"

    def _show_bones(self, shows: bool) -> None:
        with self._lock:
            self._stage.shows_bones = shows
            marks = NO_MARKS if self._told is None else self._told.marks
            self._draw(self._frame, marks)

    def _name_clicked(self, event: Any) -> None:
        self._clicked.content = preformatted(self.name_at(event.ray_origin, event.ray_direction))

    def name_at(self, origin: Any, direction: Any) -> str:
        """What a ray meets first among the limbs that are shown, in words."""
        limbs = self._frame.limbs
        hits = HitWorld(limbs).cast_rays([origin], [direction])
        if not hits.hit[0]:
            return "nothing"
        row = int(hits.limb[0])
        names = {number: name for name, number in self.subject.groups.items()}
        group = int(limbs.hit_group[row])
        owner = "" if limbs.character[row] < 0 else f", character {int(limbs.character[row])}"
        kind = repr(limbs[row]).partition("1 ")[2].rstrip(")")
        return f"{limbs.names[row] or f'limb {row}'}{owner}: {kind}, row {row}, hit group {names.get(group, group)}"

    # Files ------------------------------------------------------------------------------------------------------------

    def save_html(self, path: str | PathLike[str], rate: float = 20.0) -> None:
        """Write a file that stands alone: all frames, at most `rate` of them a second, and shots at their ticks."""
        server = serve(self.subject.title, self._server.get_port())  # of its own: the live view goes on
        try:
            first = self._prepare(server)
            stage = Stage(server.scene, self.subject.groups, usual_size(first), rounded_to=2.0**-12)
            Path(path).write_text(html_of(server, stage, self.subject, rate), encoding="utf-8")
        finally:
            stop(server)

    def save_png(self, path: str | PathLike[str], width: int = 1400, height: int = 900) -> None:
        """Write a picture of what is shown, by a Chromium that is installed; RuntimeError if there is none."""
        write_png(self._server, Path(path), width, height)


NO_SHOT = "none"
AS_JUDGED, AS_NOW = "as judged", "as of now"
