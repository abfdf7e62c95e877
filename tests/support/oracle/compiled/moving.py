"""Flying bullets and moving limbs: confirm a claimed first contact with 106 bits, or leave it open.

No equation is solved. `moving_polynomials` shows that the bullet is outside all limbs up to the claimed moment, and in
the claimed limb, through the claimed face, just after it. Rational arithmetic decides what is not shown.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray
from support.oracle.compiled.enclosures import difference, divide, exact
from support.oracle.compiled.moving_polynomials import (
    POLYNOMIALS,
    SIZE,
    face_is,
    fill_polynomials,
    is_within,
    put,
    stays_outside,
    touches_at,
)
from support.oracle.cylinder import INSIDE

CONFIRMED, STILL_OPEN = 1, 0

NEAR_TICK = 2.0**-51
"""A contact whose s is this close to that of a tick is left open."""


@njit
def part_within(times: NDArray, k: int, target: NDArray, alpha: NDArray) -> tuple[float, float]:
    """Return the interval of s in which a flight is in tick k, slightly widened, or end < begin; write alpha."""
    following, span = min(k + 1, len(times) - 1), difference(target[1], target[0])
    put(alpha, 0, exact(0.0))
    put(alpha, 1, exact(0.0))
    if times[k] > target[1] or (following > k and times[following] <= target[0]):
        return 1.0, 0.0
    if following > k:
        step = difference(times[following], times[k])
        put(alpha, 0, divide(difference(target[0], times[k]), step))
        put(alpha, 1, divide(span, step))
    begin, end = 0.0, 1.0
    if times[k] > target[0]:
        begin = divide(difference(times[k], target[0]), span)[0] - 2.0**-53
    if following > k and times[following] <= target[1]:
        end = divide(difference(times[following], target[0]), span)[0] + 2.0**-53
    return max(begin, 0.0), min(end, 1.0)


@njit
def ends_at(ends: NDArray, k: int, j: int, pair: NDArray) -> None:
    """Write the ends of limb j at tick k and the next one: p1 at both ticks, then p2."""
    following = min(k + 1, len(ends) - 1)
    for axis in range(3):
        pair[0, axis], pair[1, axis] = ends[k, j, 0, axis], ends[following, j, 0, axis]
        pair[2, axis], pair[3, axis] = ends[k, j, 1, axis], ends[following, j, 1, axis]


@njit
def certain_misses(
    kind: NDArray, radii: NDArray, ends: NDArray, times: NDArray, bullet: NDArray, target: NDArray, missed: NDArray
) -> None:
    """Write (k, m) whether one bullet is certainly outside each limb during each tick."""
    p, alpha, shifted, pair = np.zeros((POLYNOMIALS, SIZE, 3)), np.zeros((2, 3)), np.zeros((SIZE, 3)), np.zeros((4, 3))
    for k in range(len(times)):
        begin, end = part_within(times, k, target, alpha)
        for j in range(len(kind)):
            missed[k, j] = begin > end
            if not missed[k, j]:
                ends_at(ends, k, j, pair)
                fill_polynomials(kind[j], radii[j], bullet, pair, alpha, p)
                missed[k, j] = stays_outside(kind[j], max(radii[j, 0], radii[j, 1]), p, begin, end, shifted)


@njit
def judge_bullets(
    kind: NDArray, radii: NDArray, ends: NDArray, times: NDArray, bullets: NDArray, target: NDArray,
    claims: NDArray, width: float, verdicts: NDArray,
) -> None:  # fmt: skip
    """Write `CONFIRMED` or `STILL_OPEN` for each claimed first contact.

    Parameters
    ----------
    kind, radii, ends, times
        Limbs (m,), (m, 2); their ends at k ticks (k, m, 2, 3), and the times of the ticks (k,).
    bullets, target
        Starts and ends (n, 2, 3), and the targets' times at both (n, 2), within the ticks' times.
    claims
        (n, 4): s, limb (-1 for a miss), index of the tick, and face; the claimed contact is within `width` of s.
    """
    ticks, m = len(times), len(kind)
    p, alpha, shifted, pair = np.zeros((POLYNOMIALS, SIZE, 3)), np.zeros((2, 3)), np.zeros((SIZE, 3)), np.zeros((4, 3))
    for i in range(len(bullets)):
        s, limb, tick, face = claims[i, 0], int(claims[i, 1]), int(claims[i, 2]), int(claims[i, 3])
        verdicts[i], begins = CONFIRMED, face == INSIDE
        low, high = (max(s - width, 0.0), min(s + width, 1.0)) if limb >= 0 else (1.0, 1.0)
        for k in range(ticks):
            begin, end = part_within(times, k, target[i], alpha)
            if verdicts[i] != CONFIRMED or (limb >= 0 and k > tick):
                break
            if begin > end:
                continue
            is_last = k == tick and limb >= 0
            if is_last and not begins:
                ends_in_tick = k + 1 == ticks or times[k + 1] > target[i, 1]
                if (begin > 0.0 and low < begin + NEAR_TICK) or (not ends_in_tick and high > end - NEAR_TICK):
                    verdicts[i] = STILL_OPEN  # at the time of a tick
                    break
            for j in range(m):
                ends_at(ends, k, j, pair)
                fill_polynomials(kind[j], radii[j], bullets[i], pair, alpha, p)
                thick = max(radii[j, 0], radii[j, 1])
                if begins:  # in limbs at s = 0: the lowest row counts
                    want = 1 if j == limb else -1
                    if (j <= limb and touches_at(kind[j], p) != want) or s != 0.0:
                        verdicts[i] = STILL_OPEN
                        break
                elif j == limb and is_last:
                    shown = (
                        stays_outside(kind[j], thick, p, begin, low, shifted)
                        and is_within(kind[j], p, high, high, -1, shifted)
                        and face_is(kind[j], face, p, low, high, shifted)
                    )
                    if not shown or low <= 0.0:
                        verdicts[i] = STILL_OPEN
                        break
                elif not stays_outside(kind[j], thick, p, begin, min(end, high), shifted):
                    verdicts[i] = STILL_OPEN
                    break
