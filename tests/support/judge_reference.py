"""A plain reference implementation of policies: lists of crossings, in floats or rational numbers."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

import cylcollide as cc
from cylcollide import Reason

Number = Any


class Crossing(NamedTuple):
    """The part of a ray in a limb: fractions of the ray, and a length."""

    entry: Number
    exit: Number
    row: int
    character: int
    group: int
    thickness: Number
    is_static: bool = False


@dataclass
class Traced:
    """A crossing with its energies, damage and reason."""

    crossing: Crossing
    energy_in: Number
    energy_out: Number
    damage: Number
    reason: Reason


@dataclass
class Verdict:
    """The judgement of one ray."""

    counted: int | None  # index of the crossing
    damage: Number
    energy_left: Number
    trace: list[Traced]


def in_order(crossings: list[Crossing]) -> list[Crossing]:
    """Return the crossings sorted by entry, then by row, then by exit."""
    return sorted(crossings, key=lambda c: (c.entry, c.row, c.exit))


def whose(crossing: Crossing) -> tuple[str, int]:
    """Return the owner of a limb: its character, or the limb itself without a character."""
    return ("limb", crossing.row) if crossing.character == -1 else ("character", crossing.character)


def weight(weights: Any, group: int, rest: float) -> Number:
    """Return the factor or loss of a group, given by number."""
    return Fraction(weights.get(group, weights.get("default", rest)))


def factor(policy: cc.Policy, crossing: Crossing, group: int) -> Number:
    """Return the damage per energy; 0 for a static, unless `damage` has its group."""
    return Fraction(policy.damage.get(group, 0)) if crossing.is_static else weight(policy.damage, group, 1)


def verdict(policy: cc.Policy, crossings: list[Crossing], energy: Number, length: Number) -> Verdict:
    """Judge one ray of this length, with sorted crossings."""
    if policy.kind == "penetration":
        return penetrated(policy, crossings, energy, length)
    if not crossings:
        return Verdict(None, 0, energy, [])
    first = whose(crossings[0])
    wall = next((k for k, crossing in enumerate(crossings) if crossing.is_static), len(crossings))
    own = [k for k, crossing in enumerate(crossings) if k == 0 or (k < wall and whose(crossing) == first)]
    places = {group: place for place, group in enumerate(policy.order)}
    keys = {
        "first_surface": lambda k: k,
        "most_important": lambda k: (places.get(crossings[k].group, len(places)), k),
        "longest_chord": lambda k: (-crossings[k].thickness, k),
    }
    best = min(own, key=keys[policy.kind])
    losers = {"most_important": Reason.LESS_IMPORTANT, "longest_chord": Reason.SHORTER}
    damage = factor(policy, crossings[best], crossings[best].group) * energy
    trace = []
    for k, crossing in enumerate(crossings):
        reason = losers.get(policy.kind, Reason.NOT_FIRST) if k in own else Reason.NOT_FIRST
        flying = energy if k < best else 0
        trace.append(Traced(crossing, flying, flying, 0, reason))
    trace[best] = Traced(crossings[best], energy, 0, damage, Reason.COUNTED)
    return Verdict(best, damage, 0, trace)


def penetrated(policy: cc.Policy, crossings: list[Crossing], energy: Number, length: Number) -> Verdict:
    """Judge by penetration: the ray loses energy limb by limb. `unions`: end and group of each owner's last union."""
    unions: dict[tuple[str, int], tuple[Number, int]] = {}
    trace, total, counted = [], 0 * energy, None
    for k, crossing in enumerate(crossings):
        end, group = unions.get(whose(crossing), (None, crossing.group))
        if end is None or crossing.entry >= end:
            path, group, reach = crossing.thickness, crossing.group, crossing.exit
        else:
            path, reach = max(crossing.exit - end, 0) * length, max(crossing.exit, end)
        unions[whose(crossing)] = reach, group
        hidden = end is not None and crossing.entry < end and crossing.exit <= end
        loss = weight(policy.loss, group, 0) * path
        left = energy
        if energy <= 0:
            reason = Reason.SPENT_BEFORE
        elif hidden:
            reason = Reason.OVERLAPPED
        elif loss >= energy:
            reason, left = Reason.STOPPED, 0 * energy
        else:
            reason, left = Reason.PASSED_THROUGH, energy - loss
        if counted is None and reason in (Reason.STOPPED, Reason.PASSED_THROUGH):
            counted = k
        damage = factor(policy, crossing, group) * (energy - left)
        trace.append(Traced(crossing, energy, left, damage, reason))
        energy, total = left, total + damage
    return Verdict(counted, total, energy, trace)


def victim(want: Verdict) -> int:
    """Return the first character whose limb counts or is passed through, -1 for none."""
    hit = (Reason.COUNTED, Reason.PASSED_THROUGH, Reason.STOPPED)
    who = [one.crossing.character for one in want.trace if one.reason in hit and one.crossing.character >= 0]
    return who[0] if who else -1


def differences(judged: cc.Judged, i: int, want: Verdict, close: float = 0.0) -> list[str]:
    """Return the fields of ray i that differ from `want`; numbers may differ by `close`, relative above 1."""
    impacts, (begin, end) = judged.impacts, judged.impacts.offsets[i : i + 2].tolist()
    if end - begin != len(want.trace):
        return [f"{end - begin} impacts, not {len(want.trace)}"]

    def differs(got: float, number: Number) -> bool:
        return float(got) != number and not abs(Fraction(got) - Fraction(number)) <= close * max(abs(number), 1)

    crossings = [traced.crossing for traced in want.trace]
    found = [
        *([] if judged.hit[i] == (want.counted is not None) else ["hit"]),
        *([] if judged.limb[i] == (-1 if want.counted is None else crossings[want.counted].row) else ["limb"]),
        *([] if judged.victim[i] == victim(want) else ["victim"]),
        *(name for name in ("damage", "energy_left") if differs(getattr(judged, name)[i], getattr(want, name))),
    ]
    for row, traced in zip(range(begin, end), want.trace, strict=True):
        entry, leave, limb, character, group, thickness, is_static = traced.crossing
        numbers = {"entry_fraction": entry, "exit_fraction": leave, "thickness": thickness}
        numbers |= {name: getattr(traced, name) for name in ("energy_in", "energy_out", "damage")}
        codes = {"ray": i, "limb": limb, "character": character, "hit_group": group, "reason": traced.reason}
        at = f"impact {row - begin}"
        found += [f"{at} {name}" for name, number in numbers.items() if differs(getattr(impacts, name)[row], number)]
        found += [f"{at} {name}" for name, code in codes.items() if getattr(impacts, name)[row] != code]
        found += [] if (impacts.static[row] >= 0) == is_static else [f"{at} static"]
    return found


def seen_in(policy: cc.Policy, want: Verdict) -> Counter[str]:
    """Return the counts of reasons and corner cases in a verdict."""
    seen = Counter(traced.reason.name for traced in want.trace)
    crossings = [traced.crossing for traced in want.trace]
    for one, other in zip(want.trace, want.trace[1:], strict=False):
        same = whose(one.crossing) == whose(other.crossing)
        seen["tie of entries"] += one.crossing.entry == other.crossing.entry
        seen["touch"] += same and one.crossing.exit == other.crossing.entry
        seen["twice through one limb"] += one.crossing.row == other.crossing.row
        passes = one.reason == other.reason == Reason.PASSED_THROUGH
        seen["overlap in part"] += passes and same and other.crossing.entry < one.crossing.exit
        seen["overlap of two characters"] += passes and not same and other.crossing.entry < one.crossing.exit
    for traced in want.trace:
        if policy.kind == "penetration" and traced.reason == Reason.STOPPED:
            group = weight(policy.loss, traced.crossing.group, 0)
            seen["spent exactly at the exit"] += group * traced.crossing.thickness == traced.energy_in
    walls = [k for k, crossing in enumerate(crossings) if crossing.is_static]
    first_walls = walls[:1]
    seen["behind a wall"] += any(
        whose(other) == whose(crossings[0]) for k in first_walls for other in crossings[k:][1:]
    )
    seen["a wall is harmed"] += any(want.trace[k].damage > 0 for k in walls)
    seen["a victim behind a wall"] += bool(first_walls == [0] and victim(want) >= 0)
    seen["starts inside"] += any(crossing.entry == 0 for crossing in crossings)
    seen["no energy"] += bool(want.trace) and want.trace[0].energy_in == 0
    seen["nobody's limbs"] += sum(crossing.character == -1 for crossing in crossings) > 1
    seen["a touch of no length"] += any(crossing.thickness == 0 for crossing in crossings)
    return seen


def single_crossings(limbs: cc.Limbs, starts: np.ndarray, ends: np.ndarray) -> list[list[Crossing]]:
    """Return the sorted crossings of each ray, computed limb by limb."""
    found: list[list[Crossing]] = [[] for _ in starts]
    for k in range(len(limbs)):
        chords = cc.HitWorld(limbs[k : k + 1]).chords_segments(starts, ends)
        columns = (chords.ray, chords.entry_fraction, chords.exit_fraction, chords.thickness)
        for ray, entry, leave, thickness in zip(*(column.tolist() for column in columns), strict=True):
            labels = (k, limbs.character.item(k), limbs.hit_group.item(k))
            found[ray].append(Crossing(entry, leave, *labels, thickness))
    return [in_order(crossings) for crossings in found]
