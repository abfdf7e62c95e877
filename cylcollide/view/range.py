"""The range in the browser: people in motion, a click fires from the camera, and the result is shown beside them."""

import time
from contextlib import ExitStack
from html import escape
from threading import Event, RLock
from typing import Any

import numpy as np

from cylcollide._types import Face, Float64Array
from cylcollide._version import to_install
from cylcollide.view.firing import Answer, FiredShot, Firing
from cylcollide.view.frames import frame_at, frame_of_state
from cylcollide.view.marks import HIT, NO_MARKS, Marks, marks_of_shot
from cylcollide.view.server import PORT, legend, preformatted, serve, stop, url_of
from cylcollide.view.stage import Stage, aim, beside, prepare, usual_size

STEP = 1.0 / 30.0
"""Seconds between two ticks."""
GAP = 5e-4
"""Distance by which the button's shot misses a limb, metres: PyBullet's tolerance is 1 mm."""
EYE, AT = (1.0, -9.5, 2.6), (0.0, 0.0, 0.8)
AHEAD = 1.0
"""Metres from the camera at which the drawn path of a shot begins: nearer it would hide what is hit."""


class Range:
    """A range that is open at `url` until `close`."""

    def __init__(self, firing: Firing, port: int = PORT) -> None:
        self.firing = firing
        self.shot: FiredShot | None = None
        """The shot that is shown; None while time runs."""
        self._lock, self._goes_on, self._ends, self._seed = RLock(), Event(), Event(), 0
        firing.step(0.0)
        frame = frame_of_state(firing.world.snapshot())
        self._frame, self._seen = frame, firing.now
        groups, self._size = firing.world.snapshot()._group_names, usual_size(frame)
        with ExitStack() as opened:  # no error leaves a server behind
            self._server = server = serve("cylcollide range", port)
            opened.callback(stop, server)
            prepare(server, 2, np.array(EYE), np.array(AT), np.zeros(3), 1.0)
            self._stage = Stage(server.scene, groups, self._size)
            self._ghosts = Stage(server.scene, groups, self._size, ghost=True)
            self._build_panel(server.gui, groups)
            server.scene.on_click()(lambda event: self.fire(event.ray_origin, event.ray_direction))
            self.draw()
            opened.pop_all()

    @property
    def url(self) -> str:
        """The address of the page."""
        return url_of(self._server)

    def run(self) -> None:
        """Run the time, in this thread, until `close`."""
        self._goes_on.set()
        begun, stood = time.monotonic() - self.firing.now, 0.0
        while not self._ends.is_set():
            if not self._goes_on.is_set():
                before = time.monotonic()
                self._goes_on.wait(0.1)
                stood += time.monotonic() - before
                continue
            self.step(time.monotonic() - begun - stood)
            time.sleep(max(0.0, self.firing.now + begun + stood + STEP - time.monotonic()))

    def close(self) -> None:
        """Close the range."""
        with self._lock:
            self._ends.set()
            stop(self._server)

    def step(self, now: float) -> None:
        """Advance to a time, unless a shot is shown."""
        with self._lock:
            if self.shot is None and now > self.firing.now and not self._ends.is_set():
                self.firing.step(now)
                self.draw()

    def draw(self, marks: Marks = NO_MARKS) -> None:
        """Draw the limbs that a client with the chosen latency sees, and beside them those of the server."""
        latency = self.latency
        with self._lock, self._server.atomic():
            if self.shot is None:
                self._seen = self.firing.seen_with(latency)
                self._frame = frame_at(self.firing.history, self._seen)
            self._stage.show(self._frame, marks)
            if latency > 0.0 and self._ghost_box.value:
                self._ghosts.show(frame_of_state(self.firing.world.snapshot()))
            else:
                self._ghosts.clear()

    @property
    def latency(self) -> float:
        """Latency of the client, in seconds."""
        return 1e-3 * float(self._slider.value)

    def fire(self, origin: Any, direction: Any) -> FiredShot:
        """Fire at the limbs that are shown; time stands still until `go_on`."""
        with self._lock:
            shot = self.shot = self.firing.fire(origin, direction, self._seen)
            self._goes_on.clear()
            self._frame = shot.frame
            self._result.content = words_of(shot, self.firing)
            self._go.visible = self._aside.visible = True
            self.draw(self._marks(shot))
            return shot

    def fire_past_a_limb(self, origin: Any) -> FiredShot | None:
        """Fire from a place so that the shot misses a limb by half a millimetre; None if no limb is in sight."""
        with self._lock:
            self._seed += 1
            way = self.firing.past_a_limb(self._frame, origin, GAP, self._seed)
            return None if way is None else self.fire(origin, way)

    def go_on(self) -> None:
        """Continue the time after a shot."""
        with self._lock:
            self.shot, self._go.visible, self._aside.visible = None, False, False
            self._goes_on.set()

    def _marks(self, shot: FiredShot) -> Marks:
        reach = min(shot.ours.distance + 3.0, 30.0)
        begin, end = (shot.origin + way * shot.direction for way in (AHEAD, reach))
        marks = marks_of_shot(shot.judged, begin, end, self._size)
        if shot.differs and shot.bullet is not None and shot.bullet.limb >= 0:
            place = shot.origin + shot.bullet.distance * shot.direction
            marks = marks._replace(places=place[None])
        return marks._replace(points=max(1.0, 0.25 * shot.nearest)) if np.isfinite(shot.nearest) else marks

    def _build_panel(self, gui: Any, groups: Any) -> None:
        gui.add_html(legend(groups))
        self._slider = gui.add_slider("Latency, ms", 0, 500, 10, 0)
        self._ghost_box = gui.add_checkbox("Present places of the server", True)
        past = gui.add_button("Fire 0.5 mm past a limb")
        self._aside = gui.add_button("Look from the side", visible=False)
        self._go = gui.add_button("Go on", visible=False)
        hint = "Click to fire from where you are. Drag to look round, scroll to come nearer."
        self._result = gui.add_html(preformatted(hint))
        self._slider.on_update(lambda _: self.draw() if self.shot is None else None)
        past.on_click(lambda event: self.fire_past_a_limb(event.client.camera.position))
        self._go.on_click(lambda _: self.go_on())
        self._aside.on_click(lambda one: aim(one.client.camera, *side_view(self.shot), 2) if self.shot else None)


def side_view(shot: FiredShot) -> tuple[Float64Array, Float64Array]:
    """The position of a camera beside the place of a shot, and the place; (3,) each."""
    place = shot.origin + (shot.nearest if np.isfinite(shot.nearest) else 10.0) * shot.direction
    return beside(shot.frame, place, shot.direction, 2), place


def words_of(shot: FiredShot, firing: Firing) -> str:
    """The result of a shot, as HTML; PyBullet's answer is red if it differs."""
    judged, limbs = shot.judged, shot.frame.limbs
    past = f", by {1e3 * shot.gap:.3f} mm" if shot.ours.limb < 0 else ""
    lines = [f"<b>{escape(_verdict(shot, limbs.names, shot.ours))}{past}</b>"]
    if len(judged.impacts.limb):
        chords = judged.impacts.chords
        entry, leave = chords.entry_position[0], chords.exit_position[0]
        into, out = (Face(int(face[0])).name.lower() for face in (chords.entry_face, chords.exit_face))
        thick = f"{1e3 * float(chords.thickness[0]):.1f} mm thick"
        lines += [f"enters by its {into} at {_place(entry)}", f"leaves by its {out} at {_place(leave)}, {thick}"]
    counted = judged.limb_name[0] if judged.hit[0] else None
    counts = "" if counted is None else f", {escape(str(counted))} counts"
    lines.append(f"damage {float(judged.damage[0]):g} of energy {firing.energy:g}{counts} ({firing.policy.kind})")
    lines.append("")
    if firing.peer is None:
        lines.append(f"PyBullet is not installed: {to_install('crosscheck')}")
    elif shot.bullet is None:
        lines.append("PyBullet does not have all of these shapes.")
    else:
        answer = f"PyBullet: {_verdict(shot, limbs.names, shot.bullet)}"
        if shot.ours.limb == shot.bullet.limb >= 0:
            answer += f", {1e3 * (shot.bullet.distance - shot.ours.distance):+.3f} mm"
        lines.append(f'<span style="color:{HIT};font-weight:bold">{escape(answer)}</span>' if shot.differs else answer)
    if shot.now > shot.seen:
        late = 1e3 * (shot.now - shot.seen)
        live = str(shot.live.limb_name[0]) if shot.live.hit[0] else "a miss"
        lines += ["", f"seen {late:.0f} ms ago and judged as seen; at the server's present it would be {escape(live)}"]
    return preformatted("\n".join(lines), is_html=True)


def _verdict(shot: FiredShot, names: tuple[str, ...], answer: Answer) -> str:
    if answer.limb < 0:
        return "a miss"
    owner = int(shot.frame.limbs.character[answer.limb])
    of_person = f" of person {owner}" if owner >= 0 else ""
    return f"{names[answer.limb].replace('_', ' ')}{of_person} at {answer.distance:.4f} m"


def _place(point: Float64Array) -> str:
    return f"({', '.join(f'{x:.3f}' for x in point.tolist())})"
