"""Steps of a flight against arithmetic with 60 decimal digits: no error exceeds its bound."""

from decimal import Decimal
from math import ceil, sqrt

import numpy as np
import pytest
from support.flights import State, acceleration, distance, fly
from support.oracle.nearest import vector

from cylcollide.moving.ballistics import (
    MOST_STEPS,
    FlightState,
    Forces,
    acceleration_bound,
    after_step,
    length_and_direction,
    steps_needed,
)

pytestmark = pytest.mark.plain_python

DOWN = (0.0, 0.0, -9.81)
CASES = {  # velocity, gravity, drag, time of a piece
    "rifle": ((850.0, 20.0, 12.0), DOWN, 1.1e-3, 1 / 60),
    "pellet": ((400.0, -30.0, 60.0), DOWN, 0.02, 1 / 60),
    "tiny drag": ((300.0, 200.0, 100.0), DOWN, 1e-12, 0.1),
    "heavy drag": ((1000.0, 10.0, 5.0), DOWN, 1.0, 1 / 60),
    "no gravity": ((100.0, -200.0, 50.0), (0.0, 0.0, 0.0), 0.3, 0.02),
    "no drag": ((100.0, -200.0, 50.0), DOWN, 0.0, 0.1),
    "upward": ((0.0, 0.0, 30.0), DOWN, 0.01, 0.21),
    "upward, heavy": ((0.0, 0.0, 500.0), DOWN, 0.5, 0.05),
    "over the top": ((0.01, 0.0, 20.0), DOWN, 0.02, 0.19),
    "from rest": ((0.0, 0.0, 0.0), DOWN, 0.2, 0.3),
    "terminal velocity": ((0.0, 0.0, -sqrt(9.81 / 0.3)), DOWN, 0.3, 0.4),
    "feather": ((3.0, 1.0, 2.0), DOWN, 12.0, 0.25),
    "slanted pull": ((3.0, -1.0, 2.0), (4.0, -5.0, 1.0), 0.07, 0.3),
    "great units": ((8.5e102, 2e101, 1e101), (0.0, 0.0, -9.81e100), 1.1e-103, 1 / 60),
    "small units": ((8.5e-98, 2e-99, 1e-99), (0.0, 0.0, -9.81e-100), 1.1e97, 1 / 60),
}


def random_cases(count: int):
    """Flights of any ratio of drag, gravity and speed."""
    rng = np.random.default_rng(5)
    for _ in range(count):
        velocity = tuple((rng.normal(size=3) * 10.0 ** rng.uniform(-2, 3)).tolist())
        gravity = tuple((rng.normal(size=3) * 10.0 ** rng.uniform(-1, 2)).tolist())
        yield velocity, gravity, 10.0 ** rng.uniform(-5, 0), 10.0 ** rng.uniform(-3, -0.5)


def check_flight(velocity, gravity, drag: float, time: float, pieces: int) -> tuple[float, float]:
    """Check each step; return the largest used shares of the bounds of place and velocity."""
    forces = Forces(gravity, length_and_direction(gravity)[0], drag)
    motion, real = FlightState(velocity, 0.0, (0.0, 0.0, 0.0), 0.0), State(vector((0, 0, 0)), vector(velocity))
    shares = [0.0, 0.0]
    for _ in range(pieces):
        parts = max(1, ceil(steps_needed(motion.velocity, forces, time)))
        assert parts <= MOST_STEPS
        for _ in range(min(parts, 12)):
            fastest = acceleration_bound(motion, forces)
            motion = after_step(motion, forces, time / parts)
            real = fly(real, vector(gravity), Decimal(drag), Decimal(time / parts))
            for k, (own, true, bound) in enumerate(
                (
                    (motion.displacement, real.place, motion.error),
                    (motion.velocity, real.velocity, motion.velocity_error),
                )
            ):
                off = float(distance(vector(own), true))
                assert off <= bound, (off, bound)
                shares[k] = max(shares[k], off / bound if bound else 0.0)
            assert float(acceleration(real, vector(gravity), Decimal(drag))) <= fastest
    return shares[0], shares[1]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_bounds_of_steps(case: str):
    place, velocity = check_flight(*CASES[case], pieces=4)
    print(f"{case}: {place:.2g} of the bound of the place, {velocity:.2g} of the velocity's")


def test_bounds_of_random_steps():
    """No bound is exceeded, and the largest error is more than 2% of its bound."""
    shares = np.array([check_flight(*case, pieces=2) for case in random_cases(25)])
    print(shares.max(axis=0))
    assert (shares.max(axis=0) > 0.02).all()
