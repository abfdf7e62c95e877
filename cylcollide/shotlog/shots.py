"""Judged calls as values: the arguments, and digests of the answer; and the same call made again."""

from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cylcollide.characters.judged import Judged
from cylcollide.characters.policy import Policy
from cylcollide.shotlog.states import Receiver, Values
from cylcollide.world.observers import JudgedCall

PARTS = ("verdict", "limb", "face", "order", "numbers")
"""The parts of an answer, in the order in which a difference is reported."""
SAME_EVERYWHERE = PARTS[:4]
"""The parts that are identical on every machine, at every level and in every version of the same meaning."""

WHEN = np.float64, np.int64, np.float64
"""The dtypes of the time, tick and alpha of a call."""

MOST_LATE = 16
"""A call on a history that is more ticks behind is logged with its ticks. A replay keeps twice as many."""


def entry_of_call(call: JudgedCall, last_tick: int, note: str | None) -> Values:
    """The parts of a call that the caller's thread hands to the writer: without arrays that the caller may still write.

    `state` only if it is not the present one, `ring` only if it is older than MOST_LATE ticks; `tick`: its last one.
    """
    tick = -1 if call.ring is None else call.ring.last
    state, ring = None if call.is_present else call.state, call.ring if last_tick - tick > MOST_LATE else None
    past = call.past
    if past is not None:
        (*when, on_old), protected = past
        past = [None if one is None else np.array(one, kind) for one, kind in zip(when, WHEN, strict=True)]
        past = [*past, on_old], protected
    given = call._replace(judged=None, state=None, ring=None, past=past)  # type: ignore[arg-type]
    return {
        "call": given, "answer": call.judged._trace(), "tick": tick, "note": note, "state": state, "ring": ring
    }  # fmt: skip


def values_of_call(
    digest: Callable[[Policy], str], call: JudgedCall, answer: dict[str, tuple[NDArray[Any], ...]], tick: int, note: Any
) -> Values:
    """All arguments of a judged call, as they were checked, and its answer."""
    shots = call.shots
    rays = shots.rays
    is_segment, distance, mask, ignored, _ = rays.options
    values: Values = {
        "segments": bool(is_segment), "first": rays.batch.rays.origin, "second": rays.batch.rays.second,
        "inside": rays.inside, "mask": _one(mask), "ignored": _one(ignored), "distance": _one(distance),
        "radius": _one(rays.radius) if len(rays.radius) else 0.0,
        "policies": [digest(one) for one in shots.policies],
        "which": None if len(shots.policies) == 1 else shots.which, "energy": _one(shots.energies),
        "shot": shots.ids, "note": note, "limb": answer["limb"][0].astype(np.int32),
        "digests": {part: digest_of_arrays(answer[part]) for part in PARTS},
    }  # fmt: skip
    if call.past is not None:
        when, protected = call.past
        values |= {"past": when, "tick": tick, "protected": list(protected)}
    return values


def _one(column: NDArray[Any]) -> Any:
    """The single entry of a column with one for all rays; else the column."""
    return column.item() if len(column) == 1 else column


def digest_of_arrays(arrays: tuple[NDArray[Any], ...]) -> str:
    """A digest of numbers and shapes, in hexadecimal."""
    state = blake2b(digest_size=8)
    for array in arrays:
        kind = np.float64 if array.dtype.kind == "f" else np.int64
        state.update(len(array).to_bytes(8, "little"))
        state.update(np.ascontiguousarray(array, kind).tobytes())
    return state.hexdigest()


def arguments_of_call(values: Values, objects: Any, policy: Policy | None = None) -> dict[str, Any]:
    """The arguments of the call by name; `policy`: replaces the call's policies."""
    policies = [objects[digest] for digest in values["policies"]]
    which = values["which"]
    chosen = policies[0] if which is None else [policies[one] for one in which.tolist()]
    arguments: dict[str, Any] = {
        "policy": chosen if policy is None else policy, "energy": values["energy"], "shot": values["shot"],
        "inside": values["inside"], "mask": values["mask"],
        "ignore_character": values["ignored"], "radius": values["radius"],
    }  # fmt: skip
    names = ("starts", "ends") if values["segments"] else ("origins", "directions")
    arguments |= dict(zip(names, (values["first"], values["second"]), strict=True))
    if not values["segments"]:
        arguments["max_distance"] = values["distance"]
    if "past" in values:
        time, tick, alpha, on_old = values["past"]
        given = {"time": time, "tick": tick, "alpha": alpha, "on_old": on_old}
        arguments |= {name: value for name, value in given.items() if value is not None}
        ids, since = (column.tolist() for column in values["protected"])
        arguments["protected_since"] = dict(zip(ids, since, strict=True)) or None
    return arguments


def judged_again(values: Values, receiver: Receiver, objects: Any, policy: Policy | None = None) -> Judged:
    """The answer to the same call on an object, which must be in the same state."""
    judge: Any = receiver.judge_segments if values["segments"] else receiver.judge_rays
    judged: Judged = judge(**arguments_of_call(values, objects, policy))
    return judged


def differences(values: Values, judged: Judged) -> dict[str, int]:
    """The parts in which an answer differs from the logged one, each with the first row known to differ, or 0."""
    answer = judged._trace()
    found = {part: 0 for part in PARTS if digest_of_arrays(answer[part]) != values["digests"][part]}
    if found:
        logged, limb = values["limb"], answer["limb"][0]
        for part, rows in (("verdict", (logged >= 0) != (limb >= 0)), ("limb", logged != limb)):
            if part in found:
                found[part] = int(rows.argmax())
    return found
