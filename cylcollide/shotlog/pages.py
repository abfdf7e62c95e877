"""A page: all entries up to one tick, as the bytes of one row of the file; and the entries read from it."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.characters.rig import Rig
from cylcollide.history.ticks import Ring
from cylcollide.shotlog.contents import NewContents
from cylcollide.shotlog.pose_codec import PoseCodec
from cylcollide.shotlog.shots import values_of_call
from cylcollide.shotlog.states import Values, values_of_state, values_of_ticks
from cylcollide.shotlog.values import packed, unpacked
from cylcollide.world.snapshot import Snapshot

Entry = tuple[str, dict[str, Any]]
"""Name and arguments of a change or call. "state": a whole state, with the ring of the history."""
END = "end"
"""The name of the entry that ends a page: number and time of a tick."""
NO_STATE, WORLD_ALONE, WHOLE = 0, 1, 2
"""What a page may begin with. Reading starts at one of the last two; with WORLD_ALONE the history has no ticks yet."""


class PageWriter:
    """Collects entries, and turns them into the bytes of a page."""

    def __init__(self) -> None:
        self.contents = NewContents()
        self._codec, self._rigs = PoseCodec(), dict[int, Rig]()
        self._clear()

    def _clear(self) -> None:
        self._entries: list[Any] = []
        self._groups: list[tuple[list[int], list[Float64Array]]] = []
        """Ids and poses of characters with equally many bones, each character once; they are encoded together."""
        self._open: dict[int, int] = {}
        """The last group by the number of bones."""
        self._states: dict[int, tuple[Snapshot, int]] = {}
        """The states that this page keeps only for shots, with their numbers."""
        self.shots = 0
        """Number of shots in this page."""

    @property
    def begins_with(self) -> int:
        """What the page begins with: a whole state, a state of the world alone, or neither."""
        name, values = self._entries[0] if self._entries else ("", {})
        return NO_STATE if name != "state" else WHOLE if values["whole"] else WORLD_ALONE

    def __bool__(self) -> bool:
        return bool(self._entries)

    def add(self, name: str, what: dict[str, Any]) -> None:
        """Add an entry; its arrays are read when the page is finished, and must not be written until then."""
        if name == "state":
            self._add_state(**what)
        elif name == "shots":
            self._add_call(**what)
        elif name == "spawn":
            self._rigs |= dict.fromkeys(what["ids"].tolist(), what["rig"])
            self._entries.append([name, {**what, "rig": self.contents.digest(what["rig"])}])
        elif name == "add_static":
            self._entries.append([name, {**what, "limbs": self.contents.digest(what["limbs"])}])
        elif name == "set_poses":
            self._add_poses(**what)
        else:
            self._entries.append([name, what])

    def _add_state(self, state: Snapshot, ring: Ring | None, whole: bool) -> None:
        if not self._entries:
            self._codec = PoseCodec()
        roster, digest = state._roster, self.contents.digest
        self._rigs = {one: roster.rigs[rig] for one, rig in zip(roster.ids.tolist(), roster.rig.tolist(), strict=True)}
        values = {"world": values_of_state(state, digest), "ticks": values_of_ticks(ring, digest), "whole": whole}
        self._entries.append(["state", values])

    def _add_poses(self, ids: Any, positions: Float64Array, orientations: Float64Array, teleport: Any) -> None:
        each, bones = ids.tolist(), positions.shape[1]
        number = self._open.get(bones)
        if number is None or not set(each).isdisjoint(self._groups[number][0]):
            number = self._open[bones] = len(self._groups)
            self._groups.append(([], []))
        group, numbers = self._groups[number]
        self._entries.append(
            ["set_poses", {"group": number, "first": len(group), "count": len(each), "teleport": teleport}]
        )
        group += each
        numbers.append(np.concatenate([np.moveaxis(positions, -1, 0), np.moveaxis(orientations, -1, 0)]))

    def _add_call(self, state: Snapshot | None, ring: Ring | None, **call: Any) -> None:
        values = values_of_call(self.contents.digest, **call)
        if state is not None:
            values["own_state"] = self._states.setdefault(id(state), (state, len(self._states)))[1]
        if ring is not None:
            values["own_ticks"] = values_of_ticks(ring, self.contents.digest)
        self._entries.append(["shots", values])
        self.shots += len(values["first"])

    def finished(self) -> tuple[bytes, list[tuple[str, str, bytes]]]:
        """The bytes of the page and its new contents; begins the next page."""
        groups = []
        for ids, parts in self._groups:
            numbers = np.ascontiguousarray(np.concatenate(parts, axis=1))
            form, data = self._codec.encoded(ids, [self._rigs[one] for one in ids], numbers)
            groups.append({"ids": np.array(ids, np.int32), "form": form, "data": data})
        states = [values_of_state(state, self.contents.digest) for state, _ in self._states.values()]
        page = packed({"poses": groups, "states": states, "entries": self._entries})
        gone = [one for name, what in self._entries if name == "despawn" for one in what["ids"].tolist()]
        self._codec.reset(gone)
        for one in gone:
            self._rigs.pop(one, None)
        self._clear()
        return page, self.contents.take()


class PageReader:
    """Turns pages into their entries, one page after another from one that begins with a state."""

    def __init__(self, objects: Any) -> None:
        """`objects`: rigs by their digests."""
        self._objects, self._codec, self._rigs = objects, PoseCodec(), dict[int, Rig]()

    def entries(self, page: bytes) -> Iterable[tuple[str, Values]]:
        """Names and values, in the order of their effect; for "set_poses" the arguments of the call."""
        content = unpacked(page)
        entries: list[tuple[str, Values]] = content["entries"]
        if entries and entries[0][0] == "state":
            self._codec = PoseCodec()
        for name, values in entries:
            if name == "spawn":
                self._rigs |= dict.fromkeys(values["ids"].tolist(), self._objects[values["rig"]])
            elif name == "state":
                world, rigs = values["world"], [self._objects[digest] for digest in values["world"]["rigs"]]
                pairs = zip(world["ids"].tolist(), world["rig"].tolist(), strict=True)
                self._rigs |= {one: rigs[rig] for one, rig in pairs}
        groups = []
        for group in content["poses"]:
            own = [self._rigs[one] for one in group["ids"].tolist()]
            groups.append((group["ids"], self._codec.decoded(group["form"], group["data"], group["ids"].tolist(), own)))
        for name, values in entries:
            if name == "set_poses":
                ids, numbers = groups[values["group"]]
                rows = slice(values["first"], values["first"] + values["count"])
                poses = np.ascontiguousarray(np.moveaxis(numbers[:, rows], 0, -1))
                at, turn = np.ascontiguousarray(poses[..., :3]), np.ascontiguousarray(poses[..., 3:])
                yield name, {"ids": ids[rows], "positions": at, "orientations": turn, "teleport": values["teleport"]}
            elif "own_state" in values:
                yield name, {**values, "own_state": content["states"][values["own_state"]]}
            else:
                yield name, values
