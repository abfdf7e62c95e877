"""Bullets against boxes that move and turn: certain results are right, and few are undecided."""

from itertools import pairwise

import numpy as np
import pytest
from support.check_cylinders import sized
from support.moving_boxes import Cases, cases_of, compiled_contacts, contacts, coordinates, deepest, depth

from cylcollide._types import Face
from cylcollide.kernels.interval import UNDECIDED_FACE
from cylcollide.moving.box import RESOLUTION, BoxPath, end_of_box_contact, first_box_contact, relative_flight

pytestmark = pytest.mark.plain_python

POSSIBLE, CERTAIN, LOWER, UPPER, INSIDE, FACE = range(6)
EXIT = 6
"""First of five columns about the contact's end: `possible`, `certain`, `lower`, `upper` and `face`."""

ULP = 2.0**-58
"""Rounding of a depth: coordinates below 2**6 with 64 bits."""


def check_contacts(cases: Cases, rows: np.ndarray, samples: int) -> None:
    """Compare certain results with the depth at every sampled moment."""
    missed = rows[:, POSSIBLE] == 0.0
    some, every = cases.take(missed), np.ones(missed.sum())
    assert (deepest(some, 0.0 * every, every, samples) < ULP).all()
    certain, inside = rows[:, CERTAIN] == 1.0, rows[:, INSIDE] == 1.0
    assert (depth(cases.take(certain), rows[certain, UPPER, None]) > -ULP).all()
    assert (depth(cases.take(inside), np.zeros((inside.sum(), 1))) > -ULP).all()
    assert (rows[inside, FACE] == Face.INSIDE).all()
    later = (rows[:, POSSIBLE] == 1.0) & ~inside
    assert (deepest(cases.take(later), np.zeros(later.sum()), rows[later, LOWER], samples) < 1e-12).all()
    assert (rows[:, LOWER] <= rows[:, UPPER])[rows[:, POSSIBLE] == 1.0].all()


def check_ends(cases: Cases, rows: np.ndarray, samples: int) -> None:
    """The bullet is in the box from the contact to the earliest end, and outside at the latest."""
    stays = (rows[:, CERTAIN] == 1.0) & (rows[:, EXIT] == 0.0)
    assert (depth(cases.take(stays), np.ones((stays.sum(), 1))) > -ULP).all()
    ends = rows[:, EXIT] == 1.0
    some, share = cases.take(ends), np.linspace(0.0, 1.0, samples)
    between = rows[ends, UPPER, None] + (rows[ends, EXIT + 2] - rows[ends, UPPER])[:, None] * share
    assert (depth(some, between) > -1e-12).all()
    gone = rows[:, EXIT + 1] == 1.0
    assert (depth(cases.take(gone), rows[gone, EXIT + 3, None]) < 1e-12).all()
    assert (rows[:, EXIT + 2] <= rows[:, EXIT + 3])[ends].all()


def check_faces(cases: Cases, rows: np.ndarray, columns: tuple[int, int], face: int) -> int:
    """Check that the bullet is at this face at its contact or end; return the number of checked rows."""
    decided = (rows[:, CERTAIN] == 1.0) & (rows[:, face] >= Face.NEG_X) & (rows[:, face] <= Face.POS_Z)
    some, code = cases.take(decided), rows[decided, face].astype(int) - Face.NEG_X
    middle = 0.5 * (rows[decided, columns[0]] + rows[decided, columns[1]])
    place, half = coordinates(some, middle[:, None])[:, 0].astype(float), some.half
    speed = np.abs(some.end - some.start).sum(1) + np.abs(some.there - some.here).sum(1) + 20.0
    off = speed * (rows[decided, columns[1]] - rows[decided, columns[0]]) + 1e-12
    i, axis = np.arange(len(code)), code // 2
    assert (np.abs(place[i, axis] - np.where(code % 2, 1.0, -1.0) * half[i, axis]) <= off).all()
    return len(code)


def check_open_ends(cases: Cases, rows: np.ndarray) -> None:
    """An end is open only if the bullet stays near."""
    some = cases.take((rows[:, EXIT] == 1.0) & (rows[:, EXIT + 1] == 0.0))
    bone = some.here + some.alpha[:, 1:] * (some.there - some.here)
    reach = np.linalg.norm(some.centre, axis=1) + np.linalg.norm(some.half, axis=1)
    assert (np.linalg.norm(some.end - bone, axis=1) <= 1.01 * reach).all()


def check(cases: Cases, samples: int, resolution: float = RESOLUTION) -> np.ndarray:
    """Check all columns; return the rows."""
    rows = contacts(cases, resolution)
    check_open_ends(cases, rows)
    check_contacts(cases, rows, samples)
    check_ends(cases, rows, samples)
    assert check_faces(cases, rows, (LOWER, UPPER), FACE) > len(rows) // 12
    assert check_faces(cases, rows, (EXIT + 2, EXIT + 3), EXIT + 4) > len(rows) // 12
    return rows


@pytest.mark.parametrize("aim", ["near", "surface"])
@pytest.mark.parametrize("most_turn", [0.35, np.pi])
def test_certain_results_are_right(aim: str, most_turn: float):
    rows = check(cases_of(sized(180, 375), 1, aim, most_turn), samples=40)
    assert 0.5 < rows[:, CERTAIN].mean() < 0.9
    assert (rows[:, INSIDE] == 1.0).mean() > 0.02


@pytest.mark.coverage("near-0.125", "near-1.0")
@pytest.mark.parametrize("resolution", [1.0, 2.0**-3])
@pytest.mark.parametrize("aim", ["near", "surface"])
def test_coarse_resolution_is_right(aim: str, resolution: float):
    """One part of an interval spans much of a turn; some bullets leave and enter again through one face."""
    rows = check(cases_of(sized(400, 1500), 3, aim), 40, resolution)
    assert undecided(rows).mean() > 0.003


@pytest.mark.long
@pytest.mark.parametrize(("aim", "seed"), [("near", 11), ("near", 12), ("surface", 13), ("surface", 14)])
def test_certain_results_of_many_are_right(aim: str, seed: int):
    for k in range(10):
        check(
            cases_of(1000, 100 * seed + k, aim, np.pi if k % 2 else 0.35), 60, RESOLUTION if k < 5 else 2.0 ** (k - 9)
        )


def undecided(rows: np.ndarray) -> np.ndarray:
    """Mask of the rows with an undecided contact or end."""
    contact = (rows[:, POSSIBLE] == 1.0) & (rows[:, CERTAIN] == 0.0)
    return contact | ((rows[:, EXIT] == 1.0) & (rows[:, EXIT + 1] == 0.0))


@pytest.mark.machine_code
@pytest.mark.parametrize(("most_turn", "share"), [(0.35, 1e-4), (np.pi, 1e-3)])
def test_few_random_bullets_are_undecided(most_turn: float, share: float):
    """At most 1 in 1,000; of boxes that turn by up to 20° a tick, 1 in 10,000."""
    cases = cases_of(sized(20_000), 2, "near", most_turn)
    rows = compiled_contacts(cases, RESOLUTION)
    assert undecided(rows).mean() <= share
    sure = rows[:, CERTAIN] == 1.0
    ticks = (rows[sure, UPPER] - rows[sure, LOWER]) * (cases.alpha[sure, 1] - cases.alpha[sure, 0])
    assert (ticks <= RESOLUTION).mean() > 0.999
    assert np.median(ticks) < 1e-11


@pytest.mark.machine_code
def test_a_finer_resolution_decides_more():
    cases = cases_of(sized(4000), 3, "surface")
    rows = [compiled_contacts(cases, resolution) for resolution in (1.0, 2.0**-4, RESOLUTION, 2.0**-20)]
    open_rows = [(one[:, POSSIBLE] == 1.0) & (one[:, CERTAIN] == 0.0) for one in rows]
    shares = [rows.mean() for rows in open_rows]
    assert shares[0] > shares[1] > shares[2] >= shares[3] > 0.0
    for coarse, fine in pairwise(open_rows):
        assert not (fine & ~coarse).any()


def one(**changed) -> np.ndarray:
    """A box of half extents 1, 2 and 3 at its bone, which stands still; a bullet from x = -5 to 5 through it."""
    still = {
        "start": (-5.0, 0.0, 0.0),
        "end": (5.0, 0.0, 0.0),
        "alpha": (0.0, 1.0),
        "here": (0.0, 0.0, 0.0),
        "there": (0.0, 0.0, 0.0),
        "turn_here": (0.0, 0.0, 0.0, 1.0),
        "turn_there": (0.0, 0.0, 0.0, 1.0),
        "centre": (0.0, 0.0, 0.0),
        "axes": (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
        "half": (1.0, 2.0, 3.0),
    }
    cases = Cases(**{name: np.array([changed.get(name, value)], float) for name, value in still.items()})
    return contacts(cases, RESOLUTION)[0]


def assert_passes(row: np.ndarray, first: float, last: float, faces: tuple[Face, Face]) -> None:
    """The contact is certain, from one moment to another, through these faces."""
    assert row[[POSSIBLE, CERTAIN, EXIT, EXIT + 1]].tolist() == [1.0] * 4
    for moment, column in ((first, LOWER), (last, EXIT + 2)):
        assert row[column] <= moment <= row[column + 1]
        assert row[column + 1] - row[column] < 1e-12
    assert (row[FACE], row[EXIT + 4]) == faces


def test_through_a_box_that_stands_still():
    assert_passes(one(), 0.4, 0.6, (Face.NEG_X, Face.POS_X))
    assert_passes(one(start=(0.0, 5.0, 1.0), end=(0.0, -5.0, 1.0)), 0.3, 0.7, (Face.POS_Y, Face.NEG_Y))
    assert_passes(one(start=(0.0, 1.0, -6.0), end=(0.0, 1.0, 4.0)), 0.3, 0.9, (Face.NEG_Z, Face.POS_Z))


def test_with_a_box_that_moves_along():
    """The box keeps pace with the bullet, or overtakes it."""
    assert one(there=(10.0, 0.0, 0.0))[POSSIBLE] == 0.0
    assert_passes(one(there=(20.0, 0.0, 0.0), start=(5.0, 0, 0), end=(15.0, 0, 0)), 0.4, 0.6, (Face.POS_X, Face.NEG_X))
    row = one(start=(0.5, 0, 0), end=(10.5, 0, 0), there=(10.0, 0.0, 0.0))
    assert row[[CERTAIN, INSIDE, FACE, LOWER, UPPER]].tolist() == [1.0, 1.0, Face.INSIDE, 0.0, 0.0]
    assert row[EXIT] == 0.0


def test_boxes_that_turn_away_or_into_the_path():
    """A bullet at x = 2.5; a box of half extents 1, 2, 3 reaches x = 2 when turned by 90° about z, 3 about y."""
    half_turn = np.sqrt(0.5)
    path = {"start": (2.5, 0.0, 0.0), "end": (2.5, 0.0, 0.1)}
    assert one(**path, turn_there=(0.0, 0.0, half_turn, half_turn))[POSSIBLE] == 0.0
    row = one(**path, turn_there=(0.0, half_turn, 0.0, half_turn))
    assert row[CERTAIN] == 1.0
    assert row[EXIT] == 0.0
    assert 0.7 < row[LOWER] <= row[UPPER] < 0.75  # its wall at 1 / cos 66° = 2.5


def test_flights_at_one_alpha():
    """A flight at one alpha is a ray; one of zero length is a point."""
    assert_passes(one(alpha=(0.5, 0.5), there=(0.0, 1.0, 0.0)), 0.4, 0.6, (Face.NEG_X, Face.POS_X))
    assert one(start=(0.5, 0, 0), end=(0.5, 0, 0))[INSIDE] == 1.0
    assert one(start=(1.5, 0, 0), end=(1.5, 0, 0))[POSSIBLE] == 0.0


@pytest.mark.coverage
def test_a_box_that_is_moved_by_its_ends_does_not_turn():
    still = (0.0, 0.0, 0.0, 1.0)
    axes, half = ((0.6, 0.8, 0.0), (-0.8, 0.6, 0.0), (0.0, 0.0, 1.0)), (1.0, 2.0, 3.0)
    path = BoxPath((1.0, 0.0, 0.0), (0.0, 2.0, 0.0), still, still, (0.0, 0.0, 0.0), axes, half)
    flight = relative_flight((-5.0, 0.0, 0.0), (5.0, 0.0, 0.0), 0.0, 1.0, path)
    bounds = first_box_contact(flight, RESOLUTION)
    assert bounds.certain
    assert bounds.upper - bounds.lower < 1e-12
    behind = flight.last - 1e-3  # the bullet is near, and already outside
    assert end_of_box_contact(flight, behind, RESOLUTION)[:4] == (True, True, behind, behind)


def test_touches_are_undecided():
    """Exactly on a face all along, at a corner, and at the start."""
    for row in (
        one(start=(-5.0, 2.0, 0.0), end=(5.0, 2.0, 0.0)),
        one(start=(-5.0, -2.0, 3.0), end=(7.0, 6.0, 3.0)),
        one(start=(-1.0, 0.0, 0.0), end=(-5.0, 0.0, 0.0)),
    ):
        assert row[[POSSIBLE, CERTAIN]].tolist() == [1.0, 0.0]
    row = one(start=(-1.0, 0.0, 0.0), end=(5.0, 0.0, 0.0))
    assert row[[POSSIBLE, CERTAIN, INSIDE, FACE]].tolist() == [1.0, 1.0, 0.0, UNDECIDED_FACE]


@pytest.mark.coverage
@pytest.mark.parametrize("unit", [1e-160, 1e160, 2.0**499])
@pytest.mark.parametrize("turn", [0.0, 0.1])
def test_overflow_and_underflow_are_undecided(unit: float, turn: float):
    names = ("start", "end", "half", "here", "there")
    scaled = {"start": (-5.0, 0, 0), "end": (5.0, 0, 0), "half": (1.0, 2.0, 3.0), "here": (0, 0, 0), "there": (0, 0, 0)}
    row = one(**{name: np.multiply(scaled[name], unit) for name in names}, turn_there=(turn, 0.0, 0.0, 1.0))
    assert row[[POSSIBLE, CERTAIN]].tolist() == [1.0, 0.0]
