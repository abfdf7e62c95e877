"""From a request about shots and a policy to `Judged`."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import ALL_LAYERS, Float64Array, InsidePolicy, Int64Array
from cylcollide.characters.judged import Impacts, Judged
from cylcollide.characters.policy import Policy
from cylcollide.constants import LARGEST_NUMBER
from cylcollide.query.chords import Chords
from cylcollide.query.chords import chords as chords_of
from cylcollide.query.loops.judge import (
    LONGEST_CHORD,
    PENETRATION,
    ImpactColumns,
    PolicyRows,
    ShotColumns,
    judge_chords,
)
from cylcollide.query.request import RayRequest, State, ray_request, segment_request


class GroupedState(State, Protocol):
    """A state whose rigs name their hit groups."""

    @property
    def group_names(self) -> Mapping[str, int]:
        """Numbers of hit groups by name."""


class ShotRequest(NamedTuple):
    """A request about n shots: their rays, the policy that judges them, and what each begins with."""

    rays: RayRequest
    policy: Policy
    energies: Float64Array  # (1,) for all, or (n,)
    ids: Int64Array | None

    @classmethod
    def of(cls, rays: RayRequest, policy: Policy, energy: ArrayLike, shot: ArrayLike | None) -> "ShotRequest":
        """A request with checked energies and ids."""
        if not isinstance(policy, Policy):
            raise ValueError(f"policy: expected a Policy, got {type(policy).__name__}; see Policy.first_surface")
        n = len(rays.first)
        ids = None if shot is None else validate.integers(shot, "shot", n, -(2**63), 2**63 - 1)
        return cls(rays, policy, _energies(energy, n), ids)


def segment_shots(
    starts: ArrayLike,
    ends: ArrayLike,
    policy: Policy,
    energy: ArrayLike = 1.0,
    shot: ArrayLike | None = None,
    inside: InsidePolicy = "hit",
    mask: ArrayLike = ALL_LAYERS,
    ignore_character: ArrayLike | None = None,
    threads: int | None = None,
) -> ShotRequest:
    """A request about shots along closed segments from starts to ends, (n, 3) each, or one for all."""
    return ShotRequest.of(segment_request(starts, ends, inside, mask, ignore_character, threads), policy, energy, shot)


def ray_shots(
    origins: ArrayLike,
    directions: ArrayLike,
    policy: Policy,
    max_distance: ArrayLike = np.inf,
    energy: ArrayLike = 1.0,
    shot: ArrayLike | None = None,
    inside: InsidePolicy = "hit",
    mask: ArrayLike = ALL_LAYERS,
    ignore_character: ArrayLike | None = None,
    threads: int | None = None,
) -> ShotRequest:
    """A request about shots from origins along directions, (n, 3) each, or one for all."""
    rays = ray_request(origins, directions, max_distance, inside, mask, ignore_character, threads)
    return ShotRequest.of(rays, policy, energy, shot)


def judge(state: GroupedState, request: ShotRequest) -> Judged:
    """Judge shots by a policy."""
    rows, rays = request.policy.rows(state.group_names), request.rays
    return judge_flight(chords_of(state, rays, rays.threads), request, rows)


def judge_flight(chords: Chords, shots: ShotRequest, rows: PolicyRows) -> Judged:
    """Judge shots by their chords, and by the rows of their policy."""
    n, flight = len(chords.offsets) - 1, chords.flight(needs_length=rows.kind in (LONGEST_CHORD, PENETRATION))
    (energy_in, energy_out, damage, until), m = np.empty((4, len(chords))), len(chords)
    impacts = ImpactColumns(energy_in, energy_out, damage, until, np.empty(m, np.int64), np.empty(m, np.int8))
    judged = ShotColumns(np.empty(n, np.int64), np.empty(n), np.empty(n))
    judge_chords(rows, shots.energies, flight, impacts, judged)
    return Judged(Impacts(chords, impacts), judged, shots.energies, shots.ids, shots.policy.kind)


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
