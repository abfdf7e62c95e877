"""Which limbs of a shot count: a policy, applied to the chords of each ray.

Chords are in order along the ray: by entry, at equal entries by row. Limbs of one `character` belong together;
a limb of no character is a character of its own. A limb that a shot enters behind a static does not count, except
with penetration; the damage to a static is 0, unless the policy names its group.
"""

from typing import NamedTuple

import numpy as np

from cylcollide._types import NO_CHARACTER, Column, Reason
from cylcollide.kernels.ray import broadcast_index
from cylcollide.query.loops.columns import ChordColumns
from cylcollide.runtime.compile import compiled, compiled_loop, inlined

FIRST_SURFACE, MOST_IMPORTANT, LONGEST_CHORD, PENETRATION = range(4)
"""Kinds of policies."""

NO_CHORD = -1
"""In place of the chord by which a shot is judged, if no chord counts."""

COUNTED, NOT_FIRST = int(Reason.COUNTED), int(Reason.NOT_FIRST)
LESS_IMPORTANT, SHORTER = int(Reason.LESS_IMPORTANT), int(Reason.SHORTER)
PASSED_THROUGH, STOPPED = int(Reason.PASSED_THROUGH), int(Reason.STOPPED)
SPENT_BEFORE, OVERLAPPED = int(Reason.SPENT_BEFORE), int(Reason.OVERLAPPED)


class PolicyRows(NamedTuple):
    """The numbers of a policy for each of k hit groups; the last row is for all other groups."""

    kind: int
    group: Column[np.int32]  # (k,)
    factor: Column[np.float64]  # (k + 1,): damage per energy
    static_factor: Column[np.float64]  # (k + 1,): for statics, 0 for groups without damage of their own
    loss: Column[np.float64]  # (k + 1,): energy per length
    rank: Column[np.int32]  # (k + 1,): place in the order of importance


class ShotChords(NamedTuple):
    """The chords of n rays in compressed rows, and labels of their limbs."""

    offsets: Column[np.int64]  # (n + 1,)
    chords: ChordColumns
    length: Column[np.float64]  # of one unit of fraction
    hit_group: Column[np.int32]  # a row per limb
    character: Column[np.int32]  # a row per limb
    static: Column[np.int32]  # a row per limb, -1: of no static


class ImpactColumns(NamedTuple):
    """The result of a policy for each chord."""

    energy_in: Column[np.float64]
    energy_out: Column[np.float64]
    damage: Column[np.float64]
    union_exit: Column[np.float64]  # fraction up to which limbs of the character have been counted; penetration alone
    union_first: Column[np.int64]  # the chord whose group rules where limbs overlap; penetration alone
    reason: Column[np.int8]


class ShotColumns(NamedTuple):
    """The result of a policy for each ray; (n,) each."""

    chord: Column[np.int64]  # by which it is judged, NO_CHORD if nothing counts
    damage: Column[np.float64]
    energy_left: Column[np.float64]


@inlined
def policy_row(policy: PolicyRows, group: int) -> int:
    """The row of a policy for a hit group."""
    for k in range(policy.group.size):
        if policy.group[k] == group:
            return k
    return int(policy.group.size)


@inlined
def same_character(flight: ShotChords, j: int, k: int) -> bool:
    """Whether two chords are of one character."""
    one, other = flight.character[flight.chords.limb[j]], flight.character[flight.chords.limb[k]]
    return bool(one == other and (one != NO_CHARACTER or flight.chords.limb[j] == flight.chords.limb[k]))


@inlined
def is_static(flight: ShotChords, j: int) -> bool:
    """Whether a chord is of a static."""
    return bool(flight.static[flight.chords.limb[j]] >= 0)


@inlined
def damage_factor(policy: PolicyRows, flight: ShotChords, j: int, row: int) -> float:
    """Damage per energy in the limb of a chord, by this row of the policy."""
    return float(policy.static_factor[row] if is_static(flight, j) else policy.factor[row])


@inlined
def thickness(flight: ShotChords, i: int, j: int) -> float:
    """Length of chord j of ray i, as `Chords.thickness`."""
    entry, leave = flight.chords.entry[j], flight.chords.exit[j]
    return float(((leave[0] - entry[0]) + (leave[1] - entry[1])) * flight.length[i])


@inlined
def takes_precedence(policy: PolicyRows, flight: ShotChords, i: int, j: int, k: int) -> bool:
    """Whether chord j of ray i counts rather than chord k, which is entered earlier, of the same character."""
    if policy.kind == LONGEST_CHORD:
        return thickness(flight, i, j) > thickness(flight, i, k)
    groups, limb = flight.hit_group, flight.chords.limb
    one, other = policy_row(policy, groups[limb[j]]), policy_row(policy, groups[limb[k]])
    return bool(policy.rank[one] < policy.rank[other])


@compiled
def judge_by_one(
    policy: PolicyRows, flight: ShotChords, i: int, energy: float, impacts: ImpactColumns, shots: ShotColumns
) -> None:
    """Judge ray i by one chord of the character that is entered first, before any static; there its energy ends."""
    first, last = flight.offsets[i], flight.offsets[i + 1]
    counted, reached = first, first
    while reached < last and not is_static(flight, reached):
        reached += 1
    if policy.kind != FIRST_SURFACE:
        for j in range(first + 1, reached):
            if same_character(flight, first, j) and takes_precedence(policy, flight, i, j, counted):
                counted = j
    other = LESS_IMPORTANT if policy.kind == MOST_IMPORTANT else SHORTER
    for j in range(first, last):
        impacts.energy_in[j] = energy if j <= counted else 0.0
        impacts.energy_out[j] = energy if j < counted else 0.0
        impacts.damage[j] = 0.0
        rival = policy.kind != FIRST_SURFACE and j < reached and same_character(flight, first, j)
        impacts.reason[j] = COUNTED if j == counted else other if rival else NOT_FIRST
    shots.chord[i], shots.damage[i], shots.energy_left[i] = NO_CHORD, 0.0, energy
    if first < last:
        row = policy_row(policy, flight.hit_group[flight.chords.limb[counted]])
        impacts.damage[counted] = damage_factor(policy, flight, counted, row) * energy
        shots.chord[i], shots.damage[i], shots.energy_left[i] = counted, impacts.damage[counted], 0.0


@inlined
def chord_before(flight: ShotChords, first: int, j: int) -> int:
    """The last chord from `first` on before chord j that is of its character; j if there is none."""
    for k in range(j - 1, first - 1, -1):
        if same_character(flight, j, k):
            return k
    return j


@compiled
def penetrate(
    policy: PolicyRows, flight: ShotChords, i: int, energy: float, impacts: ImpactColumns, shots: ShotColumns
) -> None:
    """Let ray i lose energy in one limb after another.

    A chord that begins within the union of its character's earlier chords counts only beyond this union, by the group
    of the chord that began the union.
    """
    first, left, damage, judged_by = flight.offsets[i], energy, 0.0, NO_CHORD
    for j in range(first, flight.offsets[i + 1]):
        before, ruling, path = chord_before(flight, first, j), j, thickness(flight, i, j)
        until = flight.chords.exit[j, 0]
        overlaps = before != j and flight.chords.fraction[j] < impacts.union_exit[before]
        covered = overlaps and until <= impacts.union_exit[before]
        if overlaps:
            ruling, path = impacts.union_first[before], (until - impacts.union_exit[before]) * flight.length[i]
            until = max(until, impacts.union_exit[before])
        impacts.union_exit[j], impacts.union_first[j] = until, ruling
        row = policy_row(policy, flight.hit_group[flight.chords.limb[ruling]])
        cost, out = policy.loss[row] * path, left
        reason = SPENT_BEFORE
        if left > 0.0:
            reason = OVERLAPPED
            if not covered:
                reason = PASSED_THROUGH if cost < left else STOPPED
                out = left - cost if cost < left else 0.0
                judged_by = j if judged_by == NO_CHORD else judged_by
        impacts.energy_in[j], impacts.energy_out[j], impacts.reason[j] = left, out, reason
        impacts.damage[j] = damage_factor(policy, flight, j, row) * (left - out)
        damage += impacts.damage[j]
        left = out
    shots.chord[i], shots.damage[i], shots.energy_left[i] = judged_by, damage, left


@compiled_loop
def judge_chords(
    policy: PolicyRows,
    rays: Column[np.int64],
    energy: Column[np.float64],
    flight: ShotChords,
    impacts: ImpactColumns,
    shots: ShotColumns,
) -> None:
    """Judge some rays by their chords; `energy` of all rays, (n,), or (1,) for all."""
    for i in rays:
        start = energy[broadcast_index(energy, i)]
        if policy.kind == PENETRATION:
            penetrate(policy, flight, i, start, impacts, shots)
        else:
            judge_by_one(policy, flight, i, start, impacts, shots)
