"""Many rays: the first limb hit in a crowd (or the limb of the ray's row), and the errors of reported positions."""

from math import frexp
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from support.oracle.compiled.chords import HIT, MISS, UNKNOWN, Chord
from support.oracle.compiled.enclosures import OPEN, Enclosure, add, difference, exact, multiply, sign, subtract
from support.oracle.compiled.pairs import ORIGIN, P1, P2, SECOND, SEGMENT, chord_of
from support.oracle.cylinder import INSIDE, NONE

Array = NDArray[np.float64]

POLICIES = ("hit", "exit", "ignore")
"""Policies for rays that start in a limb; the index is the code."""


class Truths(NamedTuple):
    """Results of the oracle for n rays; undefined where a ray is open."""

    verdict: NDArray[np.int8]  # (n, m), for every pair: MISS, HIT, OPEN
    limb: NDArray[np.int32]  # (n,) the first limb hit, -1 for none
    face: NDArray[np.int8]
    time: Array  # (n, 3) enclosures of the fraction
    inside: NDArray[np.bool_]  # the ray starts in a limb
    graze: NDArray[np.int32]  # number of limbs that are nearly touched
    open: NDArray[np.bool_]


def empty_truths(n: int, m: int) -> Truths:
    """Return empty columns for n rays and m limbs each."""
    return Truths(
        np.zeros((n, m), np.int8),
        np.full(n, -1, np.int32),
        np.full(n, NONE, np.int8),
        np.zeros((n, 3)),
        np.zeros(n, bool),
        np.zeros(n, np.int32),
        np.zeros(n, bool),
    )


@njit
def event(chord: Chord, at: float, policy: int) -> tuple[int, Enclosure, int]:
    """Return the verdict, time and face of a chord's hit under the policy."""
    if chord.verdict != HIT:
        return chord.verdict, exact(0.0), NONE
    if chord.first_face != INSIDE:
        return HIT, add(exact(at), chord.first), chord.first_face
    if policy == 0:
        return HIT, exact(0.0), INSIDE
    if policy == 2 or chord.last_face == INSIDE:
        return MISS, exact(0.0), NONE
    if chord.last_face == UNKNOWN:
        return OPEN, exact(0.0), NONE
    return HIT, add(exact(at), chord.last), chord.last_face


@njit
def first_of(states: NDArray, times: Array) -> int:
    """Return the index of the earliest of m events, ties by index; -1 for none, -2 if bounds do not decide."""
    best = -1
    for j in range(len(states)):
        if states[j] == OPEN:
            return -2
        if states[j] == HIT and (best < 0 or times[j, 0] + times[j, 1] < times[best, 0] + times[best, 1]):
            best = j
    if best < 0:
        return best
    one = times[best, 0], times[best, 1], times[best, 2]
    first = best
    for j in range(len(states)):
        if states[j] == HIT and j != best:
            later = sign(subtract((times[j, 0], times[j, 1], times[j, 2]), one))
            if later == 0:
                first = min(first, j)
            elif later != 1:
                return -2
    return first


@njit(nogil=True)
def cast(rays: Array, limbs: Array, row_by_row: bool, policy: int, found: Truths) -> None:
    """Fill the columns for n rays against all m limbs, or for each ray against the limb of its row."""
    m = 1 if row_by_row else len(limbs)
    states, times, faces = np.empty(m, np.int64), np.empty((m, 3)), np.empty(m, np.int64)
    for i in range(len(rays)):
        for j in range(m):
            chord, at = chord_of(rays[i], limbs[i if row_by_row else j])
            state, time, face = event(chord, at, policy)
            found.verdict[i, j], states[j], faces[j] = chord.verdict, state, face
            times[j, 0], times[j, 1], times[j, 2] = time
            found.inside[i] |= chord.verdict == HIT and chord.first_face == INSIDE
            found.open[i] |= chord.verdict == OPEN
            found.graze[i] += chord.graze
        first = first_of(states, times)
        if first == -2:
            found.open[i] = True
        elif first >= 0:
            found.limb[i], found.face[i], found.time[i] = first, faces[first], times[first]
            if row_by_row:
                found.limb[i] = i


@njit
def ulp(x: float) -> float:
    """Return the distance to the next float64 beyond |x|."""
    return 2.0 ** (frexp(x)[1] - 53)


@njit(nogil=True)
def places(rays: Array, limbs: Array, found: Truths, fraction: Array, position: Array, off: Array) -> None:
    """Write lower bounds of the errors of origin + fraction·direction (column 0) and of the position (column 1).

    Units are ulp of the largest coordinate among ray ends, limb ends and the true point; NaN for rays that are open or
    miss. Column 2 is the error bound of the truth itself.
    """
    off[:] = np.nan
    for i in range(len(rays)):
        if found.open[i] or found.limb[i] < 0:
            continue
        if not (np.isfinite(fraction[i]) and np.isfinite(position[i]).all()):
            off[i] = np.inf
            continue
        ray, limb, segment = rays[i], limbs[found.limb[i]], rays[i, SEGMENT] == 1.0
        time = found.time[i, 0], found.time[i, 1], found.time[i, 2]
        late, largest = subtract(time, exact(fraction[i])), 0.0
        by_fraction, by_position, vague = 0.0, 0.0, 0.0
        for k in range(3):
            o, e = ray[ORIGIN + k], ray[SECOND + k]
            step = difference(e, o) if segment else exact(e)
            point = add(exact(o), multiply(time, step))
            for x in (o, e if segment else o, limb[P1 + k], limb[P2 + k], point[0]):
                largest = max(largest, abs(x))
            away, beside = multiply(late, step), subtract(point, exact(position[i, k]))
            by_fraction = max(by_fraction, abs(away[0]) - away[2])
            by_position = max(by_position, abs(beside[0]) - beside[2])
            vague = max(vague, away[2], beside[2])
        unit = ulp(largest)
        off[i, 0], off[i, 1], off[i, 2] = by_fraction / unit, by_position / unit, vague / unit
