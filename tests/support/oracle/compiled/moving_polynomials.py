"""A bullet and a moving limb as polynomials of time with enclosed coefficients, and the proofs that they give.

The polynomials are formed from the cross product of the axis and the vector from p1: no Lagrange identity, no middle
of the axis, no Bernstein basis. Taylor coefficients at the middle of an interval prove that a polynomial is positive
there, so that the bullet is outside; steps of such intervals lead up to a moment.
"""

from math import sqrt

import numpy as np
from numba import njit
from numpy.typing import NDArray
from support.oracle.compiled.enclosures import (
    OPEN,
    Enclosure,
    add,
    difference,
    exact,
    multiply,
    negative,
    sign,
    subtract,
)
from support.oracle.cylinder import CAP1, CAP2, SIDE
from support.oracle.lines import BORE, CAPSULE, ELLIPSOID, SPHERE, TAPERED, TUBE

LOW, HIGH, WALL, HOLE, BALL1, BALL2, DISTANCE, LENGTH, POLYNOMIALS = range(9)
"""Rows of a limb's polynomials, which are positive outside; each shape has some of them. Two more rows: the squared
distance from p1 and the squared length of the axis."""

SIZE = 7
"""Coefficients per polynomial: degrees are at most 6."""

MOST_STEPS = 400
SHORTEST = 2.0**-70
"""Largest number of steps towards a moment, and the step length below which the proof is given up."""


@njit
def affine(p: float, q: float, c0: Enclosure, c1: Enclosure) -> tuple[Enclosure, Enclosure]:
    """Return the coefficients of p + (c0 + c1 s) (q - p)."""
    d = difference(q, p)
    return add(exact(p), multiply(d, c0)), multiply(d, c1)


@njit
def put(target: NDArray, k: int, x: Enclosure) -> None:
    """Write coefficient k."""
    target[k, 0], target[k, 1], target[k, 2] = x


@njit
def get(source: NDArray, k: int) -> Enclosure:
    """Return coefficient k."""
    return source[k, 0], source[k, 1], source[k, 2]


@njit
def add_product(target: NDArray, a: NDArray, b: NDArray, degree: int, minus: bool) -> None:
    """Add, or subtract, the product of two polynomials of at most this degree."""
    for i in range(degree + 1):
        for j in range(degree + 1):
            if i + j < SIZE:
                x = multiply(get(a, i), get(b, j))
                put(target, i + j, add(get(target, i + j), negative(x) if minus else x))


@njit
def add_scaled(target: NDArray, a: NDArray, factor: Enclosure) -> None:
    """Add a polynomial times a number."""
    for i in range(SIZE):
        put(target, i, add(get(target, i), multiply(get(a, i), factor)))


@njit
def fill_polynomials(kind: int, radii: NDArray, bullet: NDArray, ends: NDArray, alpha: NDArray, found: NDArray) -> None:
    """Write the polynomials of a limb in s, (POLYNOMIALS, SIZE, 3).

    bullet: (2, 3), start and end; ends: (4, 3), p1 at both ticks, then p2; alpha: (2, 3), c0 and c1 of c0 + c1 s.
    """
    m, n, a = np.zeros((3, SIZE, 3)), np.zeros((3, SIZE, 3)), np.zeros((3, SIZE, 3))
    c0, c1, found[:] = get(alpha, 0), get(alpha, 1), 0.0
    for axis in range(3):
        x0, x1 = exact(bullet[0, axis]), difference(bullet[1, axis], bullet[0, axis])
        p0, p1 = affine(ends[0, axis], ends[1, axis], c0, c1)
        q0, q1 = affine(ends[2, axis], ends[3, axis], c0, c1)
        put(m[axis], 0, subtract(x0, p0))
        put(m[axis], 1, subtract(x1, p1))
        put(n[axis], 0, subtract(x0, q0))
        put(n[axis], 1, subtract(x1, q1))
        put(a[axis], 0, subtract(q0, p0))
        put(a[axis], 1, subtract(q1, p1))
    r, r2 = exact(radii[0]), exact(radii[1])
    s, s2 = multiply(r, r), multiply(r2, r2)
    for axis in range(3):
        add_product(found[DISTANCE], m[axis], m[axis], 1, False)
        add_product(found[LENGTH], a[axis], a[axis], 1, False)
    if kind in (SPHERE, CAPSULE):
        for axis in range(3):
            add_product(found[BALL1], m[axis], m[axis], 1, False)
            add_product(found[BALL2], n[axis], n[axis], 1, False)
        put(found[BALL1], 0, subtract(get(found[BALL1], 0), s))
        put(found[BALL2], 0, subtract(get(found[BALL2], 0), s))
    if kind == SPHERE:
        return
    aa, off, cross = found[LENGTH], np.zeros((SIZE, 3)), np.zeros((3, SIZE, 3))
    for axis in range(3):
        one, two = (axis + 1) % 3, (axis + 2) % 3
        add_product(found[LOW], m[axis], a[axis], 1, True)
        add_product(found[HIGH], n[axis], a[axis], 1, False)
        add_product(cross[axis], m[one], a[two], 1, False)
        add_product(cross[axis], m[two], a[one], 1, True)
        add_product(off, cross[axis], cross[axis], 2, False)
    if kind in (TAPERED, ELLIPSOID):
        add_product(found[WALL], aa, off, 4, False)
        width = np.zeros((SIZE, 3))
        if kind == TAPERED:
            # r times the height below p2, plus r2 times the height above p1
            add_scaled(width, found[HIGH], negative(r))
            add_scaled(width, found[LOW], negative(r2))
            add_product(found[WALL], width, width, 2, True)
        else:
            add_scaled(width, found[LOW], exact(-1.0))
            height = np.zeros((SIZE, 3))
            add_scaled(height, found[HIGH], exact(-1.0))
            room = np.zeros((SIZE, 3))
            add_product(room, width, height, 2, False)
            add_scaled(found[WALL], room, multiply(exact(-4.0), s))
        return
    add_scaled(found[WALL], off, exact(1.0))
    add_scaled(found[WALL], aa, negative(s))
    if kind == TUBE:
        add_scaled(found[HOLE], aa, s2)
        add_scaled(found[HOLE], off, exact(-1.0))


@njit
def taylor(p: NDArray, middle: float, shifted: NDArray) -> None:
    """Write the Taylor coefficients of a polynomial at a float64 number."""
    for i in range(SIZE):
        put(shifted, i, get(p, i))
    x = exact(middle)
    top = SIZE - 1
    while top > 0 and p[top, 0] == 0.0 and p[top, 2] == 0.0:
        top -= 1
    for i in range(top):
        for j in range(top - 1, i - 1, -1):
            put(shifted, j, add(get(shifted, j), multiply(get(shifted, j + 1), x)))


@njit
def sign_on(p: NDArray, low: float, high: float, shifted: NDArray) -> int:
    """Return 1 or -1 if a polynomial is certainly positive, or negative, on an interval; else 0."""
    middle = 0.5 * (low + high)
    half = max(high - middle, middle - low) * (1.0 + 2.0**-50)
    taylor(p, middle, shifted)
    rest, power = shifted[0, 2], 1.0
    for i in range(1, SIZE):
        power *= half * (1.0 + 2.0**-50)
        rest += (abs(shifted[i, 0]) * (1.0 + 2.0**-50) + shifted[i, 2]) * power
    rest *= 1.0 + 2.0**-40
    value = abs(shifted[0, 0]) * (1.0 - 2.0**-50)
    if value > rest:
        return 1 if shifted[0, 0] > 0.0 else -1
    return 0


@njit
def bounds_on(p: NDArray, low: float, high: float, shifted: NDArray) -> tuple[float, float]:
    """Return a lower and an upper bound of a polynomial on an interval."""
    sign_on(p, low, high, shifted)
    half, rest, power = max(high - low, 0.0), shifted[0, 2], 1.0
    for i in range(1, SIZE):
        power *= half
        rest += (abs(shifted[i, 0]) * (1.0 + 2.0**-50) + shifted[i, 2]) * power
    rest = (rest + abs(shifted[0, 0]) * 2.0**-50) * (1.0 + 2.0**-40)
    return shifted[0, 0] - rest, shifted[0, 0] + rest


@njit
def is_far(width: float, p: NDArray, low: float, high: float, shifted: NDArray) -> bool:
    """Return whether the bullet is farther from p1 than any point of a limb whose radius is at most `width`."""
    nearest, _ = bounds_on(p[DISTANCE], low, high, shifted)
    _, longest = bounds_on(p[LENGTH], low, high, shifted)
    reach = (width + sqrt(max(longest, 0.0))) * (1.0 + 2.0**-40)
    return nearest > reach * reach * (1.0 + 2.0**-40)


@njit
def is_outside(kind: int, width: float, p: NDArray, low: float, high: float, shifted: NDArray) -> bool:
    """Return whether the bullet is certainly outside the limb on an interval of times."""
    if is_far(width, p, low, high, shifted):
        return True
    if kind == SPHERE:
        return sign_on(p[BALL1], low, high, shifted) > 0
    outside = sign_on(p[WALL], low, high, shifted) > 0
    if kind != ELLIPSOID:
        outside = outside or sign_on(p[LOW], low, high, shifted) > 0 or sign_on(p[HIGH], low, high, shifted) > 0
    if kind == TUBE:
        outside = outside or sign_on(p[HOLE], low, high, shifted) > 0
    if kind == CAPSULE:
        outside = outside and sign_on(p[BALL1], low, high, shifted) > 0 and sign_on(p[BALL2], low, high, shifted) > 0
    return outside


@njit
def stays_outside(kind: int, width: float, p: NDArray, begin: float, end: float, shifted: NDArray) -> bool:
    """Return whether the bullet is certainly outside from one time to another; True for an empty interval."""
    step = end - begin
    for _ in range(MOST_STEPS):
        if begin >= end:
            return True
        until = min(begin + step, end)
        if is_outside(kind, width, p, begin, until, shifted):
            if until >= end:
                return True
            begin = until
            step = 2.0 * step
        else:
            step = 0.5 * min(step, end - begin)
            if step < SHORTEST or begin + step == begin:
                return False
    return False


@njit
def is_within(kind: int, p: NDArray, low: float, high: float, skip: int, shifted: NDArray) -> bool:
    """Return whether the bullet certainly satisfies all bounds but `skip` on an interval; of a capsule, one part's."""
    if kind == CAPSULE:
        if skip < 0 and (sign_on(p[BALL1], low, high, shifted) < 0 or sign_on(p[BALL2], low, high, shifted) < 0):
            return True
    elif kind == SPHERE:
        return skip == BALL1 or sign_on(p[BALL1], low, high, shifted) < 0
    for which in range(LOW, BALL1):
        has = which == WALL or (kind != ELLIPSOID and which != HOLE) or (which == HOLE and kind == TUBE)
        if has and which != skip and sign_on(p[which], low, high, shifted) >= 0:
            return False
    return True


@njit
def face_is(kind: int, face: int, p: NDArray, low: float, high: float, shifted: NDArray) -> bool:
    """Return whether an existing contact between two times is certainly through this face."""
    if kind in (SPHERE, ELLIPSOID):
        return face == SIDE
    if kind == CAPSULE:
        if face == CAP1:
            return sign_on(p[LOW], low, high, shifted) > 0
        if face == CAP2:
            return sign_on(p[HIGH], low, high, shifted) > 0
        below, above = sign_on(p[LOW], low, high, shifted), sign_on(p[HIGH], low, high, shifted)
        return face == SIDE and below < 0 and above < 0
    if face == CAP1:
        return is_within(kind, p, low, high, LOW, shifted)
    if face == CAP2:
        return is_within(kind, p, low, high, HIGH, shifted)
    if face == BORE:
        return is_within(kind, p, low, high, HOLE, shifted)
    return face == SIDE and is_within(kind, p, low, high, WALL, shifted)


@njit
def touches_at(kind: int, p: NDArray) -> int:
    """Return 1 if the bullet is in the limb at s = 0, -1 if not, OPEN if bounds do not decide."""
    signs = np.zeros(POLYNOMIALS, np.int64)
    for which in range(POLYNOMIALS):
        signs[which] = sign(get(p[which], 0))
    if kind == SPHERE:
        return OPEN if signs[BALL1] == OPEN else -signs[BALL1] if signs[BALL1] else 1
    if kind == CAPSULE and (signs[BALL1] in (-1, 0) or signs[BALL2] in (-1, 0)):
        return 1
    is_open = kind == CAPSULE and (signs[BALL1] == OPEN or signs[BALL2] == OPEN)
    for which in range(LOW, BALL1):
        has = which == WALL or (kind != ELLIPSOID and which != HOLE) or (which == HOLE and kind == TUBE)
        if has and signs[which] == 1:
            return OPEN if is_open else -1
        is_open = is_open or (has and signs[which] == OPEN)
    return OPEN if is_open else 1
