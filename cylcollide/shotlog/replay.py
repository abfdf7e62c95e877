"""A match from its log: a world and a history to which the logged changes are applied again."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from cylcollide.history.pose_history import PoseHistory
from cylcollide.history.ticks import Ring
from cylcollide.shotlog.pages import PageReader
from cylcollide.shotlog.shots import MOST_LATE
from cylcollide.shotlog.source import Source
from cylcollide.shotlog.states import Values, fill_history, state_of, world_of
from cylcollide.world.hit_world import HitWorld
from cylcollide.world.snapshot import Snapshot

MOST_RINGS = 2 * MOST_LATE
"""How many rings of the history are kept: a thread may have judged by an earlier one while another thread recorded."""


class Replay:
    """The world and its history at one moment of a log."""

    def __init__(self, about: dict[str, Any], objects: Any) -> None:
        self.world, self.history = HitWorld(), None if about["history"] is None else PoseHistory(HitWorld())
        self._about, self.objects = about["history"], objects
        self._rings: dict[int, Ring] = {}
        self._early: list[Values] = []
        """Calls whose tick is not recorded yet."""
        self._is_first = True

    def pages(self, source: Source, places: Iterable[int]) -> Iterator[tuple[int, Iterator[tuple[Values, Any]]]]:
        """Replay pages; yields, for each, the judged calls and the objects they were made on, in their state then.

        These objects must be used before the next step.
        """
        reader = PageReader(self.objects)
        for place in places:
            yield place, self._steps(reader.entries(source.page(place)))

    def _steps(self, entries: Iterable[tuple[str, Values]]) -> Iterator[tuple[Values, Any]]:
        for name, values in entries:
            if name != "shots":
                self.apply(name, values)
                due, self._early = self._early, []
            else:
                due = [values]
            for call in due:
                asked = self.asked(call)
                if asked is None:
                    self._early.append(call)
                else:
                    yield call, asked

    def apply(self, name: str, values: Values) -> None:
        """Apply a change."""
        if name == "state":
            if self._is_first or values["whole"]:
                self._begin(values)
        elif name == "record":
            self._record(values["time"], values["number"])
        elif name == "spawn":
            ids = self.world.spawn(self.objects[values["rig"]], len(values["ids"]))
            if not np.array_equal(ids, values["ids"]):
                raise ValueError(f"spawn: expected characters {values['ids'].tolist()}, got {ids.tolist()}")
        elif name == "add_static":
            handle = self.world.add_static(self.objects[values["limbs"]])
            if handle != values["handle"]:
                raise ValueError(f"add_static: expected handle {values['handle']}, got {handle}")
        elif name in CHANGES:
            getattr(self.world, name)(**values)
        else:
            raise ValueError(f"expected a change that this version knows, got {name!r}")

    def _begin(self, values: Values) -> None:
        self._is_first = False
        self.world, self._rings = world_of(values["world"], self.objects), {}
        if self._about is not None:
            self.history = self._empty_history()
            fill_history(self.history, values["ticks"], self.objects)
            self._keep_ring()

    def _record(self, time: float, number: int) -> None:
        if self.history is None:
            raise ValueError("record: expected a log of a history, got one without")
        self.history._keep(self.world.snapshot(), number, time)
        self._keep_ring()

    def _keep_ring(self) -> None:
        ring = self.history and self.history._ring
        if ring:
            self._rings[ring.last] = ring
            self._rings.pop(ring.last - MOST_RINGS, None)

    def asked(self, call: Values) -> HitWorld | Snapshot | PoseHistory | None:
        """The object that a call was made on; None if its tick is not recorded yet."""
        if "own_state" in call:
            return state_of(call["own_state"], self.objects)
        if "tick" not in call:
            return self.world
        ring = self.history and self.history._ring
        if self.history is None or not ring or call["tick"] > ring.last:
            return None
        if call["tick"] == ring.last:
            return self.history
        past = self._empty_history()
        if "own_ticks" in call:
            fill_history(past, call["own_ticks"], self.objects)
        else:
            past._ring = self._rings.get(call["tick"])
        return past

    def _empty_history(self) -> PoseHistory:
        about = self._about
        distance = np.inf if about["teleport_distance"] is None else about["teleport_distance"]
        return PoseHistory(self.world, about["ticks"], interpolate=about["interpolate"], teleport_distance=distance)


CHANGES = ("set_poses", "set_layers", "set_endpoints", "despawn", "move_static", "remove_static")
