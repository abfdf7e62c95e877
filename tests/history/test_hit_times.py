"""Intervals of hits: their ends to the last bit, and what steps may miss."""

import numpy as np
import pytest

from cylcollide.history.misses import intervals, searched_times


def between(edges: list[float], so_before: bool = False):
    """Return a predicate that changes at each edge; an edge itself belongs to the part after it."""

    def is_so(times: np.ndarray) -> np.ndarray:
        return (np.searchsorted(edges, times, side="right") % 2 == 1) ^ so_before

    return is_so


@pytest.mark.parametrize("seed", range(20))
def test_ends_are_exact(seed: int):
    """The predicate holds at both ends and not just outside; searched times agree with the intervals."""
    rng = np.random.default_rng(seed)
    offset = (0.0, 1e9, -1e6, 1e-9)[seed % 4]
    ticks = np.cumsum(rng.uniform(0.01, 0.05, 20)) + offset
    if seed % 5 == 0:
        ticks -= ticks[7]  # times around 0
    edges = np.sort(np.concatenate([rng.uniform(*ticks[[0, -1]], 7), ticks[[3, 7, 11]]]))
    is_so, times = between(edges, bool(seed % 2)), searched_times(ticks, 0.0005)
    found = intervals(is_so, times)
    assert (found[:, 0] <= found[:, 1]).all()
    assert (found[1:, 0] > found[:-1, 1]).all()
    for begin, end in found:
        assert is_so(begin)
        assert is_so(end)
        assert begin == ticks[0] or not is_so(np.nextafter(begin, -np.inf))
        assert end == ticks[-1] or not is_so(np.nextafter(end, np.inf))
    inside = ((times >= found[:, :1]) & (times <= found[:, 1:])).any(axis=0)
    assert np.array_equal(inside, is_so(times))
    assert len(found) >= 4


def test_a_single_moment_at_a_tick():
    """An interval at a tick alone is found, though it holds at no time beside it."""
    times = searched_times(np.array([0.0, 1.0, 2.0]), None)
    assert intervals(lambda t: t == 1.0, times).tolist() == [[1.0, 1.0]]


def test_the_time_before_a_tick_is_tested():
    """A jump at a tick changes the state: an interval that ends just before it is found."""
    times = searched_times(np.array([0.0, 1.0, 2.0]), None)
    (found,) = intervals(lambda t: (t > 0.9) & (t < 1.0), times)
    assert found.tolist() == [np.nextafter(0.9, 1.0), np.nextafter(1.0, 0.0)]


@pytest.mark.parametrize(
    ("resolution", "longest", "count"), [(None, 0.5, 18), (0.3, 0.3, 24), (10.0, 2.0, 6), (1e-3, 1e-3, 6003)]
)
def test_steps_have_the_given_length(resolution: float | None, longest: float, count: int):
    """A quarter of each tick, or the resolution; never more than a tick, and all ticks are included."""
    ticks = np.array([0.0, 2.0, 3.0, 5.0, 6.0])
    times = searched_times(ticks, resolution)
    steps = np.diff(times)
    assert 0.8 * longest < steps.max() <= longest * (1.0 + 1e-9)
    assert (steps > 0.0).all()
    assert set(ticks) <= set(times)
    assert len(times) == pytest.approx(count, abs=count // 100 + 3)
