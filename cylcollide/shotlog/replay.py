"""A match from its log: a world and a history to which the logged changes are applied again."""

from collections.abc import Iterator

import numpy as np

from cylcollide.history.pose_history import PoseHistory
from cylcollide.history.ticks import Ring
from cylcollide.shotlog.pages import PageReader
from cylcollide.shotlog.shots import MOST_LATE
from cylcollide.shotlog.source import Source
from cylcollide.shotlog.states import Receiver, Values, fill_history, state_of
from cylcollide.world.hit_world import HitWorld, world_in

MOST_RINGS = 2 * MOST_LATE
"""How many rings of the history are kept: a thread may have judged by an earlier one while another thread recorded."""


class Replay:
    """The world and its history at one moment of a log, whose pages are replayed from one that begins with a state."""

    def __init__(self, source: Source) -> None:
        self.world = HitWorld()
        self.history: PoseHistory | None = None
        self._source, self._reader = source, PageReader(source)
        self._rings: dict[int, Ring] = {}
        self._early: list[Values] = []
        """Calls whose tick is not recorded yet."""
        self._is_first = True

    def calls(self, page: int) -> Iterator[tuple[Values, Receiver]]:
        """Replay the next page; yields its judged calls and the objects they were made on, in their state then.

        These objects must be used before the next step.
        """
        for name, values in self._reader.entries(self._source.page(page)):
            if name != "shots":
                self._apply(name, values)
                due, self._early = self._early, []
            else:
                due = [values]
            for call in due:
                receiver = self._receiver(call)
                if receiver is None:
                    self._early.append(call)
                else:
                    yield call, receiver

    def _apply(self, name: str, values: Values) -> None:
        """Apply a change."""
        if name == "state":
            if self._is_first or values["whole"]:
                self._begin(values)
        elif name == "record":
            self._record(values["time"], values["number"])
        elif name == "spawn":
            ids = self.world.spawn(self._source[values["rig"]], len(values["ids"]))
            if not np.array_equal(ids, values["ids"]):
                raise ValueError(f"spawn: expected characters {values['ids'].tolist()}, got {ids.tolist()}")
        elif name == "add_static":
            handle = self.world.add_static(self._source[values["limbs"]])
            if handle != values["handle"]:
                raise ValueError(f"add_static: expected handle {values['handle']}, got {handle}")
        elif name in CHANGES:
            getattr(self.world, name)(**values)
        else:
            raise ValueError(f"expected a change that this version knows, got {name!r}")

    def _begin(self, values: Values) -> None:
        self._is_first = False
        self.world, self._rings = world_in(HitWorld, state_of(values["world"], self._source)), {}
        if self._source.about["history"] is not None:
            self.history = self._empty_history()
            fill_history(self.history, values["ticks"], self._source)
            self._keep_ring()

    def _record(self, time: float, number: int) -> None:
        if self.history is None:
            raise ValueError("record: expected a log of a history, got one without")
        self.history._keep(self.world.snapshot(), number, time)
        self._keep_ring()

    def _keep_ring(self) -> None:
        ring = None if self.history is None else self.history._ring
        if ring:
            self._rings[ring.last] = ring
            self._rings.pop(ring.last - MOST_RINGS, None)

    def _receiver(self, call: Values) -> Receiver | None:
        """The object that a call was made on; None if its tick is not recorded yet."""
        if "own_state" in call:
            return state_of(call["own_state"], self._source)
        if "tick" not in call:
            return self.world
        ring = None if self.history is None else self.history._ring
        if self.history is None or not ring or call["tick"] > ring.last:
            return None
        if call["tick"] == ring.last:
            return self.history
        past = self._empty_history()
        if "own_ticks" in call:
            fill_history(past, call["own_ticks"], self._source)
        else:
            past._ring = self._rings.get(call["tick"])
        return past

    def _empty_history(self) -> PoseHistory:
        about = self._source.about["history"]
        distance = np.inf if about["teleport_distance"] is None else about["teleport_distance"]
        return PoseHistory(self.world, about["ticks"], interpolate=about["interpolate"], teleport_distance=distance)


CHANGES = ("set_poses", "set_layers", "set_endpoints", "despawn", "move_static", "remove_static")
