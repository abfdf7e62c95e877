"""Admission of times that clients claim."""

import numpy as np
import pytest

from cylcollide import Admission, RewindLimits, estimate_time

DISAGREES, CLAIMED, TOO_OLD, TOO_NEW = Admission.DISAGREES, Admission.CLAIMED, Admission.TOO_OLD, Admission.TOO_NEW
CLAIMS = {
    "of all kinds": (
        RewindLimits(most_back=1.0, most_ahead=0.1, most_disagreement=0.2),
        ([9.5, 9.2, 8.0, 10.3, 9.7, np.nan, np.inf], [9.4, 9.5, 8.1, 10.2, 9.5, 9.6, 9.6], 10.0),
        [9.5, 9.5, 9.0, 10.1, 9.7, 9.6, 9.6],
        [CLAIMED, DISAGREES, TOO_OLD, TOO_NEW, CLAIMED, DISAGREES, DISAGREES],
    ),
    "an estimate that is too old is limited": (
        RewindLimits(most_back=0.25, most_disagreement=0.0), ([9.9], [9.0], [10.0]), [9.75], [TOO_OLD]
    ),
    "exactly at the limits a claim holds": (
        RewindLimits(1.0, 0.5, 0.5), ([9.0, 10.5, 9.5], [9.5, 10.0, 10.0], 10.0), [9.0, 10.5, 9.5], [CLAIMED] * 3
    ),
    "a bound a claim, where it is less than what the limits allow": (
        RewindLimits(9.0, 0.0, 0.5), ([8.5, 8.5, 8.0], 9.0, 10.0, [0.25, 0.5, np.inf]), [9.0, 8.5, 9.0],
        [DISAGREES, CLAIMED, DISAGREES],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", CLAIMS)
def test_claims(what: str):
    limits, given, times, reasons = CLAIMS[what]
    admitted = limits.admit(*given)
    assert (admitted.times.tolist(), admitted.reasons.tolist()) == (times, reasons)


def test_estimates():
    assert estimate_time(10.0, [0.1, 0.3], 0.05).tolist() == [10.0 - 0.1 - 0.05, 10.0 - 0.3 - 0.05]
    assert estimate_time([], 0.1, [0.05]).shape == estimate_time(10.0, [], 0.05).shape == (0,)
    with pytest.raises(ValueError, match="round_trip: expected one number"):
        estimate_time([1.0, 2.0], [], 0.05)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: RewindLimits(-1.0), "most_back: expected a number >= 0, got -1.0"),
        (lambda: RewindLimits(1.0, most_disagreement=np.nan), "most_disagreement: expected"),
        (lambda: RewindLimits("1"), "most_back: expected"),
        (
            lambda: RewindLimits(1.0).admit([1.0, 2.0], 1.0, 1.0, bound=[0.1, -0.1]),
            "bound: expected >= 0, got -0.1 in row 1",
        ),
        (lambda: RewindLimits(1.0).admit([1.0, 2.0], 1.0, 1.0, bound=np.nan), "bound: expected >= 0, got nan in row 0"),
    ],
)
def test_bad_numbers(call, message: str):
    with pytest.raises(ValueError, match=message):
        call()


def test_limits_beyond_floats_are_infinite():
    claims = [-(2.0**500), 2.0**500]
    assert RewindLimits(10**400, 10**400).admit(claims, claims, 0.0).times.tolist() == claims


def test_one_estimate_serves_all_claims():
    """Also the result of `estimate_time`, an array of one."""
    estimate = estimate_time(0.15, round_trip=0.08, buffer=0.03)
    assert estimate.shape == (1,)
    limits = RewindLimits(most_back=0.5, most_disagreement=0.02)
    for one in (estimate, float(estimate[0]), np.full(3, estimate[0])):
        times, reasons = limits.admit([0.05, 0.11, -3.0], one, [0.15])
        assert times.tolist() == [0.05, estimate[0], estimate[0]]
        assert reasons.tolist() == [0, 1, 1]
