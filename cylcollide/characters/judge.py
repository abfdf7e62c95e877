"""From a request about shots and a policy to `Judged`."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import Float64Array, Int64Array
from cylcollide.characters.judged import Impacts, Judged
from cylcollide.characters.policy import Policy
from cylcollide.constants import LARGEST_NUMBER
from cylcollide.query.chords import chords as chords_of
from cylcollide.query.loops.judge import (
    LONGEST_CHORD,
    PENETRATION,
    ImpactColumns,
    PolicyRows,
    ShotColumns,
    judge_chords,
)
from cylcollide.query.ray_chords import Chords
from cylcollide.query.request import RayRequest, State


class GroupedState(State, Protocol):
    """A state whose rigs name their hit groups."""

    @property
    def group_names(self) -> Mapping[str, int]:
        """Numbers of hit groups by name."""


def judge(
    state: GroupedState,
    request: RayRequest,
    policy: Policy,
    energy: ArrayLike,
    shot: ArrayLike | None,
    threads: int | None,
) -> Judged:
    """Judge shots by a policy."""
    shots = shots_of(policy, state.group_names, energy, shot, len(request.first))
    return judge_flight(chords_of(state, request, threads), shots)


class Shots(NamedTuple):
    """What is asked about n shots, checked."""

    kind: str
    rows: PolicyRows
    energies: Float64Array  # (1,) for all, or (n,)
    ids: Int64Array | None


def shots_of(
    policy: Policy, group_names: Mapping[str, int], energy: ArrayLike, shot: ArrayLike | None, n: int
) -> Shots:
    """What a policy asks about n shots of these energies and ids."""
    if not isinstance(policy, Policy):
        raise ValueError(f"policy: expected a Policy, got {type(policy).__name__}; see Policy.first_surface")
    return Shots(policy.kind, policy.rows(group_names), _energies(energy, n), _shots(shot, n))


def judge_flight(chords: Chords, shots: Shots) -> Judged:
    """Judge shots by their chords."""
    kind, rows, energies, ids = shots
    n, flight = len(chords.offsets) - 1, chords.flight(needs_length=rows.kind in (LONGEST_CHORD, PENETRATION))
    (energy_in, energy_out, damage, until), m = np.empty((4, len(chords))), len(chords)
    impacts = ImpactColumns(energy_in, energy_out, damage, until, np.empty(m, np.int64), np.empty(m, np.int8))
    judged = ShotColumns(np.empty(n, np.int64), np.empty(n), np.empty(n))
    judge_chords(rows, energies, flight, impacts, judged)
    return Judged(Impacts(chords, impacts), judged, energies, ids, kind)


def _energies(energy: Any, n: int) -> Float64Array:
    """Energies at the start, (1,) for all rays or (n,); at least 0."""
    if isinstance(energy, float) and 0.0 <= energy <= LARGEST_NUMBER:
        return np.full(1, energy)
    given = validate.as_numbers(energy, "energy", "(n,) or one number")
    if given.shape not in ((), (n,)):
        raise ValueError(f"energy: expected one number or shape ({n},), got shape {given.shape}")
    energies = validate.as_float64(given, "energy").reshape(-1)
    row = validate.first_bad_row(~((energies >= 0.0) & (energies <= LARGEST_NUMBER)))
    if row is not None:
        raise ValueError(
            f"energy: expected >= 0 and at most 2**500 (about 3e150), got {energies[row].tolist()} in row {row}; leave "
            "such shots out"
        )
    return energies


def _shots(shot: ArrayLike | None, n: int) -> Int64Array | None:
    """Ids of shots, (n,)."""
    return None if shot is None else validate.integers(shot, "shot", n, -(2**63), 2**63 - 1)
