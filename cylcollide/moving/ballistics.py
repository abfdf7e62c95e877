"""Bullets under gravity and drag: their flight as straight pieces, with a proven bound on the distance from the curve.

The acceleration is gravity - drag |v| v. With ζ = exp ∫ drag |v| dt and p = ζ v, the equations p' = ζ gravity and
ζ' = drag |p| are not stiff. In a step ζ is approximated by a polynomial of degree two, v is p / ζ, and the displacement
is its integral by the three-point Gauss rule. `docs/flight.md` derives all constants.
"""

from math import ceil, sqrt
from typing import NamedTuple

import numpy as np

from cylcollide._types import Column, Vectors
from cylcollide.constants import SMALLEST_SIZE, UNIT_ROUNDOFF
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.line import along
from cylcollide.kernels.ray import as_vector, dot, largest_component
from cylcollide.runtime.compile import compiled_loop, inlined

STEP_ROUNDING = 32.0 * UNIT_ROUNDOFF
"""All rounding of a step, relative to the speed: at most 16 u in the velocity, 22 u in the displacement per time."""

ACCELERATION_ROUNDING = 16.0 * UNIT_ROUNDOFF
"""Rounding of an acceleration, relative to the sum of gravity and drag."""

SUM_ROUNDING = 1.0 + 2.0**-12
"""Covers the rounding of a bound: a sum of positive terms, fewer than eight operations for each of up to 2³⁸ steps."""

UNDERFLOW = SMALLEST_SIZE
"""Error of products that underflow: 2⁻¹⁰⁷⁴ in each of fewer than 2⁴⁸ operations, multiplied by at most 2⁵⁰⁰."""

FIRST, MIDDLE, LAST = 0.5 - 0.5 * 0.6**0.5, 0.5, 0.5 + 0.5 * 0.6**0.5
"""Nodes of the three-point Gauss rule on 0 to 1; their weights are 5/18, 8/18, 5/18."""

STEPS_PER_DRAG, STEPS_PER_FALL = 8.0, 16.0
"""Steps needed per drag |v| t and per drag |gravity| t²: the sum of both is then at most 1/8 in each step."""

MOST_STEPS = 4096.0
"""Limit of steps in one piece: a millisecond of computation."""


class Forces(NamedTuple):
    """The forces on a bullet, as accelerations."""

    gravity: Vector
    pull: float  # its magnitude
    drag: float


class FlightState(NamedTuple):
    """Velocity and displacement, and bounds of their errors."""

    velocity: Vector
    velocity_error: float
    displacement: Vector
    error: float


@inlined
def length_and_direction(v: Vector) -> tuple[float, Vector]:
    """The length and the unit vector of a vector of any length; of zero, zero."""
    largest = largest_component(v)
    if largest == 0.0:
        return 0.0, v
    x, y, z = v[0] / largest, v[1] / largest, v[2] / largest
    length = sqrt(dot((x, y, z), (x, y, z)))
    return largest * length, (x / length, y / length, z / length)


@inlined
def rounding_of(v: Vector) -> float:
    """Bound on the distance of a vector from the sum that was rounded to it."""
    return UNIT_ROUNDOFF * ((abs(v[0]) + abs(v[1])) + abs(v[2]))


@inlined
def steps_needed(velocity: Vector, forces: Forces, time: float) -> float:
    """The number of equal steps that a duration needs; may be fractional, or not finite."""
    speed, _ = length_and_direction(velocity)
    rate = forces.drag * time
    return STEPS_PER_DRAG * (rate * speed) + STEPS_PER_FALL * (rate * (forces.pull * time))


@inlined
def acceleration_bound(state: FlightState, forces: Forces) -> float:
    """Bound on the acceleration of a bullet from now on: it never grows."""
    speed, _ = length_and_direction(state.velocity)
    rate = forces.drag * speed
    now, _ = length_and_direction(along(forces.gravity, state.velocity, -rate))
    unknown = forces.drag * (2.0 * speed + state.velocity_error) * state.velocity_error
    return now + (unknown + ACCELERATION_ROUNDING * (forces.pull + rate * speed))


@inlined
def shares(s: float, weight: float, kappa: float, beta: float) -> tuple[float, float]:
    """Weight / ζ(s), and weight I(s) / ζ(s), where I(s) is the integral of ζ from 0 to s."""
    share = weight / (1.0 + s * (kappa + (0.5 * s) * beta))
    return share, share * (s * (1.0 + s * (0.5 * kappa + s * (beta / 6.0))))


@inlined
def after_step(state: FlightState, forces: Forces, time: float) -> FlightState:
    """The state after a duration that needs one step."""
    speed, direction = length_and_direction(state.velocity)
    g, rate, fall = forces.gravity, forces.drag * time, forces.pull * time
    push = (g[0] * time, g[1] * time, g[2] * time)
    kappa, beta, gamma = rate * speed, rate * dot(direction, push), rate * fall
    # ζ(s) = 1 + κ s + β s²/2, velocity = (v + push I(s)) / ζ(s)
    first, middle = shares(FIRST, 5.0 / 18.0, kappa, beta), shares(MIDDLE, 8.0 / 18.0, kappa, beta)
    last, end = shares(LAST, 5.0 / 18.0, kappa, beta), shares(1.0, 1.0, kappa, beta)
    of_velocity, of_push = time * ((first[0] + last[0]) + middle[0]), time * ((first[1] + last[1]) + middle[1])
    v, before = state.velocity, state.displacement
    dx, dy, dz = along((push[0] * of_push, push[1] * of_push, push[2] * of_push), v, of_velocity)
    moved = (before[0] + dx, before[1] + dy, before[2] + dz)
    velocity = along((v[0] * end[0], v[1] * end[0], v[2] * end[0]), push, end[1])
    # bounds of the distance from the exact state that begins with the same velocity
    fastest, both = speed + fall, kappa + gamma
    turned = fall / speed if fall < speed else 1.0
    bent = (gamma * (1.1 * both + 2.2 * turned)) * fastest
    ratio = 1.1 * both + 0.75 * sqrt(gamma)
    square = ratio * ratio
    summed = (square * square * ratio) * (ratio * fastest + 2.0 * fall) / 2000.0
    rounded = STEP_ROUNDING * fastest
    error = state.error + (time * (state.velocity_error + ((0.25 * bent + summed) + rounded)) + rounding_of(moved))
    return FlightState(velocity, state.velocity_error + (0.75 * bent + rounded), moved, error)


@compiled_loop
def fly_bullets(
    places: Vectors,
    velocities: Vectors,
    gravities: Vectors,
    drag: Column[np.float64],
    begins: Column[np.float64],
    duration: Column[np.float64],
    offsets: Column[np.int64],
    starts: Vectors,
    ends: Vectors,
    t0: Column[np.float64],
    t1: Column[np.float64],
    error: Column[np.float64],
) -> int:
    """Write all pieces, columns of a `FlightPath`; returns the first in which drag changes the speed too fast, or -1.

    `error` of that piece is then the number of steps it would need; later pieces are not written. Bullets start at
    `places` at times `begins`; the pieces of bullet i are `offsets[i]` to `offsets[i + 1]`.
    """
    for i in range(begins.size):
        gravity = as_vector(gravities, i)
        forces = Forces(gravity, length_and_direction(gravity)[0], drag[i])
        first, count, begin = offsets[i], offsets[i + 1] - offsets[i], begins[i]
        x, now = as_vector(places, i), begin
        state = FlightState(as_vector(velocities, i), 0.0, (0.0, 0.0, 0.0), 0.0)
        for row in range(first, first + count):
            then = begin + duration[i] * ((row + 1 - first) / count)
            time = then - now
            steps = steps_needed(state.velocity, forces, time)
            if not steps <= MOST_STEPS:
                error[row] = steps
                return row
            most = acceleration_bound(state, forces)
            state = FlightState(state.velocity, state.velocity_error, (0.0, 0.0, 0.0), state.error)
            parts = max(1, ceil(steps))
            for _ in range(parts):
                state = after_step(state, forces, time / parts)
            start, moved = x, state.displacement
            x = (x[0] + moved[0], x[1] + moved[1], x[2] + moved[2])
            state = FlightState(state.velocity, state.velocity_error, moved, state.error + rounding_of(x))
            for k in range(3):
                starts[row, k], ends[row, k] = start[k], x[k]
            t0[row], t1[row] = now, then
            error[row] = SUM_ROUNDING * (state.error + most * (time * time) / 8.0) + UNDERFLOW
            now = then
    return -1
