"""Flights as straight pieces: continuous, within their error bounds of the curve, and with the same bits in a batch."""

from decimal import Decimal

import numpy as np
import pytest
from support.flights import State, distance, fly
from support.machine_code import interpreted
from support.oracle.nearest import vector

import cylcollide as cc
from cylcollide.moving.ballistics import fly_bullets

pytestmark = pytest.mark.plain_python

DOWN = (0.0, 0.0, -9.81)


def many(n: int, seed: int = 1) -> dict:
    """The arguments of n flights, some with heavy drag, some vertical, of one to thirty pieces."""
    rng = np.random.default_rng(seed)
    velocities = rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(0, 3, (n, 1))
    velocities[::7, :2] = 0.0
    return {
        "starts": rng.normal(size=(n, 3)) * 100.0,
        "velocities": velocities,
        "duration": rng.uniform(0.01, 2.0, n),
        "gravity": DOWN,
        "drag": np.where(rng.random(n) < 0.2, 0.0, 10.0 ** rng.uniform(-6, -0.5, n)),
        "step": rng.uniform(0.06, 0.2, n),
        "t0": rng.uniform(-10.0, 1000.0, n),
    }


def of_bullet(path: cc.FlightPath, i: int) -> list[np.ndarray]:
    """The pieces of one bullet."""
    rows = path.bullet == i
    return [column[rows] for column in (path.starts, path.ends, path.t0, path.t1, path.error)]


def test_flights_are_continuous_from_their_starts():
    given = many(50)
    path = cc.flight(**given)
    assert len(path) == len(path.error) == len(path.bullet)
    counts = set()
    for i in range(50):
        starts, ends, t0, t1, error = of_bullet(path, i)
        assert np.array_equal(starts[0], given["starts"][i])
        assert t0[0] == given["t0"][i]
        assert t1[-1] == given["t0"][i] + given["duration"][i]
        assert np.array_equal(starts[1:], ends[:-1])
        assert np.array_equal(t0[1:], t1[:-1])
        assert ((t1 - t0) <= given["step"][i] * (1 + 1e-9) + 1e-12).all()
        assert len(error) == np.ceil(given["duration"][i] / given["step"][i])
        counts.add(len(error))
    assert len(counts) > 10
    assert (np.diff(path.bullet) >= 0).all()


def worst_share(path: cc.FlightPath, given: dict, samples: int) -> float:
    """The largest distance of any piece from the curve, relative to its bound."""
    rng, worst = np.random.default_rng(2), 0.0
    for i in range(len(given["starts"])):
        gravity, drag = vector(given["gravity"]), Decimal(float(given["drag"][i]))
        state, now = State(vector(given["starts"][i]), vector(given["velocities"][i])), Decimal(given["t0"][i])
        for start, end, t0, t1, error in zip(*of_bullet(path, i), strict=True):
            begin, span = Decimal(float(t0)), Decimal(float(t1)) - Decimal(float(t0))
            for s in sorted(rng.random(samples)):
                time = begin + Decimal(s) * span
                state, now = fly(state, gravity, drag, time - now), time
                pairs = zip(vector(start), vector(end), strict=True)
                point = tuple(a + Decimal(s) * (b - a) for a, b in pairs)
                off = float(distance(point, state.place))
                assert off <= error
                worst = max(worst, off / error)
    return worst


@pytest.mark.parametrize(
    ("n", "seed", "samples", "least"), [(20, 1, 3, 0.9), pytest.param(2000, 3, 4, 0.99, marks=pytest.mark.long)]
)
def test_pieces_stay_within_their_error_bounds(n: int, seed: int, samples: int, least: float):
    given = many(n, seed)
    assert worst_share(cc.flight(**given), given, samples) > least


def test_without_drag_pieces_are_parabola_chords():
    """In the middle it is g dt² / 8 from the curve, and the bound is that up to rounding."""
    path = cc.flight([[1.0, 2.0, 3.0]], [[300.0, -50.0, 40.0]], 1.0, gravity=DOWN, step=1 / 8)
    assert len(path) == 8
    assert np.allclose(path.error, 9.81 / 64 / 8, rtol=3e-4, atol=0)
    assert (path.error >= 9.81 / 64 / 8).all()
    assert np.allclose(path.ends[-1], [301.0, -48.0, 43.0 - 9.81 / 2], rtol=1e-14)


def test_without_forces_a_flight_is_straight():
    path = cc.flight([0.0, 0.0, 0.0], [[8.0, 4.0, 2.0]], 4.0, step=1.0)
    assert path.ends.tolist() == [[8.0, 4.0, 2.0], [16.0, 8.0, 4.0], [24.0, 12.0, 6.0], [32.0, 16.0, 8.0]]
    assert path.t1.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert (path.error < 1e-12).all()


def test_bounds_include_rounding_of_far_places():
    start, velocity = [1e9 / 3, -2e9 / 3, 1e8], [0.3, 0.2, 0.1]
    path = cc.flight([start], [velocity], 50.0, step=0.1)
    for k, end in enumerate(path.ends):
        time = Decimal(float(path.t1[k]))
        real = tuple(x + v * time for x, v in zip(vector(start), vector(velocity), strict=True))
        assert float(distance(vector(end), real)) <= path.error[k] <= 1e-4


def test_bits_are_equal_alone_in_batches_and_interpreted():
    given = many(30)
    path = cc.flight(**given)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cylcollide.history.flight.fly_bullets", interpreted(fly_bullets))
        plain = cc.flight(**given)
    for i in range(30):
        alone = cc.flight(**{name: value if name == "gravity" else value[i] for name, value in given.items()})
        for other in (of_bullet(plain, i), of_bullet(alone, 0)):
            assert all(np.array_equal(a, b) for a, b in zip(of_bullet(path, i), other, strict=True))


def test_a_flight_has_64_pieces_unless_a_step_is_given():
    """Its error is 1/4096 of that of one straight line."""
    path = cc.flight([0.0, 0.0, 0.0], [30.0, 0.0, 30.0], [1.0], gravity=DOWN)
    one = cc.flight([0.0, 0.0, 0.0], [30.0, 0.0, 30.0], [1.0], gravity=DOWN, step=2.0)
    assert (len(path), len(one)) == (64, 1)
    assert np.allclose(path.error * 4096, one.error, rtol=1e-6)


def test_one_row_is_broadcast():
    path = cc.flight([0, 0, 0], np.eye(3), 1.0, gravity=np.full((3, 3), -1), drag=[0.0, 0.1, 0.2], step=1.0)
    assert path.bullet.tolist() == [0, 1, 2]
    assert path.bullet.dtype == np.int32
    for i, drag in enumerate((0.0, 0.1, 0.2)):
        alone = cc.flight([0, 0, 0], np.eye(3)[i], 1.0, gravity=(-1, -1, -1), drag=drag, step=1.0)
        assert np.array_equal(path.ends[i], alone.ends[0])
    assert len(cc.flight(np.empty((0, 3)), np.empty((0, 3)), 1.0)) == 0


def test_no_array_can_be_written():
    given = many(3)
    path = cc.flight(**given)
    for column in (path.starts, path.ends, path.t0, path.t1, path.bullet, path.error):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 0
    given["starts"][:] = 9.0
    assert (path.starts[0] != 9.0).all()


def test_a_clock_too_coarse_for_the_step():
    """Pieces whose times round to the same float64 are refused, in the first such row; a few ulp suffice."""
    with pytest.raises(ValueError, match=r"t0: expected pieces that end later than they begin, .* in row 1"):
        cc.flight([0, 0, 0], [[1.0, 0, 0]] * 2, 0.001, gravity=DOWN, step=0.0001, t0=[0.0, 2.0**42])
    path = cc.flight([0, 0, 0], [1.0, 0, 0], 0.1, gravity=DOWN, step=0.005, t0=2.0**42)
    assert (path.t1 > path.t0).all()
    assert len(path) == 20


@pytest.mark.parametrize("unit", [2.0**-440, 2.0**-300, 2.0**300, 2.0**440])
def test_any_unit(unit: float):
    """A power of two as unit changes no bit but those of the bound, where a floor is added."""
    given = many(10)
    metres = cc.flight(**given)
    given["drag"] = given["drag"] / unit
    lengths = {name: np.multiply(given[name], unit) for name in ("starts", "velocities", "gravity")}
    other = cc.flight(**{**given, **lengths})
    assert np.array_equal(other.ends, metres.ends * unit)
    assert (other.error <= metres.error * unit * (1 + 1e-12) + 2.0**-499).all()
    assert (other.error >= metres.error * unit * (1 - 1e-12)).all()


def call(**changed):
    """A flight of two bullets, with some arguments changed."""
    return cc.flight(**{"starts": np.zeros((2, 3)), "velocities": np.ones((2, 3)), "duration": 1.0, **changed})


@pytest.mark.coverage
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"duration": [1.0, 0.0]}, "duration: expected > 0.*got 0.0 in row 1"),
        ({"step": 1e-12}, r"step: expected at most 2\*\*26 pieces in all, got 2e\+12, 1e\+12 of them in row 0"),
        ({"drag": [0.1, 1e9]}, "step: expected pieces so short.*at most 512, got 2.71e.07 in row 1"),
        ({"velocities": [[1, 1, 1], [2.0**499, 1, 1]], "duration": 4.0}, "duration: expected flights.*in row 1"),
        ({"duration": 2.0**500, "t0": [0.0, 2.0**500]}, "duration: expected flights.*in row 1"),
        ({"velocities": [[1, 1, 1], [2.0**500, 1, 1]], "drag": 2.0**500}, "step: expected pieces.*in row 0"),
    ],
)
def test_bad_arguments(changed: dict, message: str):
    with pytest.raises(ValueError, match=message):
        call(**changed)
