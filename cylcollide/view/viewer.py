"""A view in the browser: the scene, a slider over ticks, a list of shots, and words about the chosen one."""

import os
import sys
import time
import webbrowser
from collections.abc import Callable
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from threading import Event, RLock, Thread
from typing import Any, Literal, get_args

import numpy as np

from cylcollide.limbs.outlines import up_axis
from cylcollide.process.files import write_text
from cylcollide.validate import flag, is_integer, shown
from cylcollide.view.files import html_of, write_png
from cylcollide.view.frames import Frame
from cylcollide.view.marks import NO_MARKS, Marks
from cylcollide.view.pointed import PointerNames, named_at
from cylcollide.view.server import PORT, legend, preformatted, serve, stop, url_of
from cylcollide.view.stage import Stage, aim, ground_of, look_at_shot, origin_of, prepare, usual_size, view_of
from cylcollide.view.subjects import ShotView, Subject, subject_of

Up = Literal["auto", "y", "z"]

LISTED = 200
"""Shots in the list at a time."""
STEP = 1.0 / 30.0
"""Least number of seconds between two frames while it plays."""


def view(seen: Any, *, up: Up = "auto", port: int = PORT, open_browser: bool = True) -> "Viewer":
    """Show `Limbs`, a `Rig`, a `HitWorld`, a `PoseHistory` or a log in the browser, as it is now.

    Parameters
    ----------
    seen
        The object to show.
    up
        The axis that points up; "auto": the one along which characters are tall.
    port
        The local port; if it is taken, the next free one.
    open_browser
        Whether to open a browser. None opens without a display, nor in a notebook, which shows the viewer itself.

    Raises
    ------
    ImportError
        Without viser: install the extra `view`.
    ValueError
        If the object cannot be shown, its limbs are too small or too far apart for a browser (`docs/view.md`), or `up`,
        `port` or `open_browser` is not valid.
    """
    opens = flag(open_browser, "open_browser") and has_display() and "ipykernel" not in sys.modules
    viewer = Viewer(seen if isinstance(seen, Subject) else subject_of(seen), up=up, port=port)
    if opens:
        webbrowser.open(viewer.url)
    return viewer


def has_display() -> bool:
    """Whether a browser would open a window; without a display, a terminal browser would open instead."""
    return sys.platform in ("win32", "darwin") or any(os.environ.get(one) for one in ("DISPLAY", "WAYLAND_DISPLAY"))


class Viewer:
    """A view that is open at `url` until `close`; a notebook shows it."""

    def __init__(self, subject: Subject, *, up: Up = "auto", port: int = PORT) -> None:
        if not (isinstance(up, str) and up in get_args(Up)):
            raise ValueError(f"up: expected 'auto', 'y' or 'z', got {shown(up)}; turn what has x up before it is shown")
        self._subject, self._lock = subject, RLock()
        self._shown_shot: ShotView | None = None
        self._playing: Event | None = None
        """Set to end the playback; None if nothing plays."""
        self._is_updating = self._is_closed = False
        self._frame, frames = subject.frame(0), map(subject.frame, range(len(subject.times)))
        self._first = first = next((frame for frame in frames if len(frame.limbs)), self._frame)
        self._up = up_axis(first.limbs, ~first.is_static) if up == "auto" else "xyz".index(up)
        self._origin = origin_of(first)
        with ExitStack() as opened:  # no error leaves anything open
            self._server = serve(f"cylcollide: {subject.title}", port)
            opened.callback(stop, self._server)
            self._stage = self._stage_of(self._server)
            self._build_panel()
            self._pointed = PointerNames(self._server, self._name_at)
            opened.callback(self._pointed.close)
            self._server.on_client_connect(self._pointed.install)
            self._server.on_client_connect(self._aim)
            self.show(0)
            if subject.shots and len(subject.times) == 1:
                self.choose(0)
            self._opened = opened.pop_all()

    @property
    def url(self) -> str:
        """The address of the page."""
        return url_of(self._server)

    def __repr__(self) -> str:
        return f"Viewer({self.url})"

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.url}" width="100%" height="600" style="border:0"></iframe>'

    def close(self) -> None:
        """Close the viewer."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._pause()
                self._opened.close()

    def wait(self) -> None:
        """Wait until the viewer is closed; Ctrl-C closes it."""
        try:
            while not self._is_closed:
                time.sleep(0.1)
        except KeyboardInterrupt:
            self.close()

    def _check_open(self, method: str) -> None:
        if self._is_closed:
            raise ValueError(f"{method}: expected an open viewer, got a closed one; call it before close()")

    # What is shown ----------------------------------------------------------------------------------------------------

    def show(self, number: int) -> None:
        """Show the frame with a number, without a shot.

        ValueError if there is none with this number, its limbs are out of range, or this viewer is closed.
        """
        self._check_open("show")
        count = len(self._subject.times)
        if not is_integer(number) or not 0 <= number < count:
            expected = f"one of {count} frames, 0 to {count - 1}"
            raise ValueError(f"frame: expected {expected}, got {shown(number)}; count them from 0")
        with self._lock:
            self._shown_shot, self._frame = None, self._subject.frame(number)
            self._words.content, self._which.visible, self._whence.visible = "", False, False
            self._draw(self._frame, NO_MARKS)
            self._put(number, None)

    def choose(self, number: int) -> None:
        """Show a shot: the limbs it was judged on, where it hits, and why.

        ValueError if none has this number, or this viewer is closed.
        """
        self._check_open("choose")
        count = len(self._subject.shots)
        if self._subject.shot_view is None or not is_integer(number) or not 0 <= number < count:
            expected = f"0 to {count - 1}" if count else "no number, there are no shots"
            raise ValueError(f"shot: expected {expected}, got {shown(number)}; the list of shots begins with numbers")
        self._pause()
        with self._lock:
            chosen = self._shown_shot = self._subject.shot_view(number)
            self._words.content, self._which.visible = preformatted(chosen.words), chosen.now is not None
            self._whence.visible = True
            self._draw_shot()
            self._put(chosen.frame, number)
            self._look_at_shot()

    def _look_at_shot(self) -> None:
        chosen = self._shown_shot
        if chosen is not None:
            as_player = self._whence.value == AS_PLAYER
            look_at_shot(self._server.initial_camera, chosen.judged, chosen.marks, self._up, self._origin, as_player)
            for client in self._server.get_clients().values():
                self._aim(client)

    def _aim(self, client: Any) -> None:
        first = self._server.initial_camera
        aim(client.camera, first.position, first.look_at, self._up)

    def _draw_shot(self) -> None:
        chosen = self._shown_shot
        if chosen is not None:
            then = chosen.now is None or self._which.value == AS_JUDGED
            self._frame = chosen.judged if then or chosen.now is None else chosen.now
            self._draw(self._frame, chosen.marks if then else chosen.marks._replace(struck=-1))

    def _put(self, frame: int | None, shot: int | None) -> None:
        """Update the panel to what is shown; its callbacks have no effect meanwhile."""
        self._is_updating = True
        try:
            if frame is not None:
                self._slider.value = frame
                self._time.content = f"time {self._subject.times[frame]:.13g}"
            if shot is not None:
                self._page.value = shot // LISTED
                self._listed.options = self._lines()
            self._listed.value = NO_SHOT if shot is None else self._subject.shots[shot]
        finally:
            self._is_updating = False

    def _draw(self, frame: Frame, marks: Marks) -> None:
        with self._server.atomic():
            self._stage.show(frame, marks)

    def _stage_of(self, server: Any, rounded_to: float = 0.0) -> Stage:
        """A stage; aims its server's camera at the first limbs. `rounded_to`: a share of a cell of the ground."""
        first, up, origin = self._first, self._up, self._origin
        ground, cell = ground_of(first, up, origin)
        prepare(server, up, *view_of(first, up, origin), ground, cell)
        return Stage(server.scene, self._subject.groups, usual_size(first), origin, rounded_to * cell)

    # The panel --------------------------------------------------------------------------------------------------------

    def _build_panel(self) -> None:
        gui, subject, count = self._server.gui, self._subject, len(self._subject.times)
        shots, moves = len(subject.shots), count > 1
        if subject.groups:
            gui.add_html(legend(subject.groups))
        self._slider = gui.add_slider("Tick", 0, max(count - 1, 1), 1, 0, visible=moves)
        self._time = gui.add_markdown("", visible=moves)
        self._play = gui.add_button("Play", visible=moves)
        last = max(shots - 1, LISTED) // LISTED
        self._page = gui.add_slider("Page of shots", 0, last, 1, 0, visible=shots > LISTED)
        self._listed = gui.add_dropdown("Shot", self._lines(), visible=shots > 0)
        self._which = gui.add_button_group("World", [AS_JUDGED, AS_NOW], visible=False)
        self._whence = gui.add_button_group("Look", [FROM_SIDE, AS_PLAYER], visible=False)
        self._words = gui.add_html("")
        self._bones = gui.add_checkbox("Bones", False)
        self._slider.on_update(lambda _: self._on_change(lambda: self.show(int(self._slider.value))))
        self._play.on_click(lambda _: self._play_or_pause())
        self._page.on_update(lambda _: self._on_change(lambda: setattr(self._listed, "options", self._lines())))
        self._listed.on_update(lambda _: self._on_change(self._chosen))
        self._which.on_click(lambda _: self._on_change(self._draw_shot))
        self._whence.on_click(lambda _: self._on_change(self._look_at_shot))
        self._bones.on_update(lambda _: self._show_bones(bool(self._bones.value)))

    def _lines(self) -> list[str]:
        """The list of shots."""
        first = int(self._page.value) * LISTED
        return [NO_SHOT, *self._subject.shots[first : first + LISTED]]

    def _on_change(self, action: Callable[[], None]) -> None:
        """Handle a user's change of the panel, not a change by `_put`."""
        with self._lock:
            if not self._is_updating:
                action()

    def _chosen(self) -> None:
        line = str(self._listed.value)
        if line == NO_SHOT:
            self.show(int(self._slider.value))
        else:
            self.choose(int(line.partition(":")[0]))

    def _play_or_pause(self) -> None:
        if not self._pause():
            self._playing = playing = Event()
            self._play.label = "Pause"
            Thread(target=self._go_on, args=(playing,), daemon=True).start()

    def _pause(self) -> bool:
        """Stop the playback; returns whether it was playing."""
        playing, self._playing = self._playing, None
        if playing is not None:
            playing.set()
            self._play.label = "Play"
        return playing is not None

    def _go_on(self, ends: Event) -> None:
        """Play in real time from the present frame on; from the first one if that is the last."""
        times, number = self._subject.times, int(self._slider.value)
        number = number if number < len(times) - 1 else 0
        begun, first = time.monotonic(), times[number]
        while not ends.wait(STEP):
            passed = first + time.monotonic() - begun
            number = max(number, int(np.searchsorted(times, passed, "right")) - 1)
            with self._lock:
                if not ends.is_set():
                    self.show(number)
            if number == len(times) - 1:
                self._pause()
                return

    def _show_bones(self, shows: bool) -> None:
        with self._lock:
            self._stage.shows_bones = shows
            marks = NO_MARKS if self._shown_shot is None else self._shown_shot.marks
            self._draw(self._frame, marks)

    def _name_at(self, origin: Any, direction: Any) -> str:
        """The first of the shown limbs that a ray of the scene hits, in words; "" for none."""
        return named_at(self._frame.limbs, self._subject.groups, self._origin + origin, direction)

    # Files ------------------------------------------------------------------------------------------------------------

    def save_html(self, path: str | PathLike[str], rate: float = 20.0) -> None:
        """Write a self-contained page: all frames, at most `rate` a second, and a list of shots, up to 10 MB.

        ValueError if `rate` is no number > 0.
        """
        server = serve(self._subject.title)  # a separate one: the live view continues
        try:
            stage = self._stage_of(server, rounded_to=2.0**-12)
            write_text(Path(path), html_of(server, stage, self._subject, rate, self._up))
        finally:
            stop(server)

    def save_png(self, path: str | PathLike[str], width: int = 1400, height: int = 900) -> None:
        """Write a picture of the present view, by an installed Chromium; RuntimeError if there is none.

        ValueError if this viewer is closed, or `width` or `height` is not 1 to 16,384 pixels.
        """
        self._check_open("save_png")
        write_png(self._server, Path(path), width, height)


NO_SHOT = "none"
AS_JUDGED, AS_NOW = "as judged", "as of now"
FROM_SIDE, AS_PLAYER = "from the side", "as its player"
