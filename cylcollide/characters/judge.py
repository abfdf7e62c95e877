"""Judges shots: from `ShotRequest` to `Judged`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, Unpack

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import Float64Array, Int64Array
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
from cylcollide.query.request import CastOptions, RayRequest, State, ray_request, segment_request

Policies: TypeAlias = Policy | Sequence[Policy]
"""One policy for all rows, or one per row."""


class GroupedState(State, Protocol):
    """A state whose hit groups have names."""

    @property
    def _group_names(self) -> Mapping[str, int]:
        """Numbers of hit groups by name."""


@dataclass(frozen=True, slots=True)
class ShotRequest:
    """A request to judge n rays: the rays, their policies and energies, and the shots that they belong to."""

    rays: RayRequest
    policies: tuple[Policy, ...]  # all different
    which: Int64Array  # the policy of each ray, (n,), or (1,) for all
    energies: Float64Array  # (1,) for all, or (n,)
    ids: Int64Array | None

    @classmethod
    def of(cls, rays: RayRequest, policy: Policies, energy: ArrayLike, shot: ArrayLike | None) -> ShotRequest:
        """A request with checked policies, energies and ids."""
        n = len(rays.first)
        policies, which = _distinct(policy, n)
        ids = None if shot is None else validate.integers(shot, "shot", n, -(2**63), 2**63 - 1)
        if ids is not None and len(policies) > 1:
            _, first, shot_of_ray = np.unique(ids, return_index=True, return_inverse=True)
            row = validate.first_bad_row(which != which[first[shot_of_ray]])
            if row is not None:
                raise ValueError(
                    f"policy: expected one policy per shot, got different ones in rows {first[shot_of_ray[row]]} and "
                    f"{row} of shot {ids[row]}; give them different ids"
                )
        return cls(rays, policies, which, _energies(energy, n), ids)

    def policy_rows(self, group_names: Mapping[str, int]) -> list[PolicyRows]:
        """The arrays that loops read, for each policy; ValueError for an unknown group."""
        return [policy._rows(group_names) for policy in self.policies]


def segment_shots(
    starts: ArrayLike,
    ends: ArrayLike,
    policy: Policies,
    *,
    energy: ArrayLike = 1.0,
    shot: ArrayLike | None = None,
    **options: Unpack[CastOptions],
) -> ShotRequest:
    """A request for shots along closed segments from starts to ends, (n, 3) each, or one for all."""
    return ShotRequest.of(segment_request(starts, ends, **options), policy, energy, shot)


def ray_shots(
    origins: ArrayLike,
    directions: ArrayLike,
    policy: Policies,
    *,
    max_distance: ArrayLike = np.inf,
    energy: ArrayLike = 1.0,
    shot: ArrayLike | None = None,
    **options: Unpack[CastOptions],
) -> ShotRequest:
    """A request for shots from origins along directions, (n, 3) each, or one for all."""
    rays = ray_request(origins, directions, max_distance=max_distance, **options)
    return ShotRequest.of(rays, policy, energy, shot)


def judge(state: GroupedState, request: ShotRequest) -> Judged:
    """Judge shots by their policies."""
    rows = request.policy_rows(state._group_names)  # first: a name may be unknown
    return judge_flight(chords_of(state, request.rays), request, rows)


def judge_flight(chords: Chords, shots: ShotRequest, rows: list[PolicyRows]) -> Judged:
    """Judge shots by their chords; `rows`: the arrays of each policy."""
    needs_length = any(one.kind in (LONGEST_CHORD, PENETRATION) for one in rows)
    n, flight = len(chords.offsets) - 1, chords._flight(needs_length=needs_length)
    (energy_in, energy_out, damage, until), m = np.empty((4, len(chords))), len(chords)
    impacts = ImpactColumns(energy_in, energy_out, damage, until, np.empty(m, np.int64), np.empty(m, np.int8))
    judged = ShotColumns(np.empty(n, np.int64), np.empty(n), np.empty(n))
    for number, policy in enumerate(rows):
        own = np.arange(n) if len(rows) == 1 else np.flatnonzero(shots.which == number)
        judge_chords(policy, own, shots.energies, flight, impacts, judged)
    kinds = np.array([policy.kind for policy in rows], np.int64)[shots.which]
    return Judged(Impacts(chords, impacts), judged, shots.energies, shots.ids, kinds)


def _distinct(policy: Policies, n: int) -> tuple[tuple[Policy, ...], Int64Array]:
    """The distinct policies, and the one of each of n rays; for a single policy (1,) instead of (n,)."""
    if isinstance(policy, Policy):
        return (policy,), np.zeros(1, np.int64)
    if not isinstance(policy, Sequence | np.ndarray) or getattr(policy, "ndim", 1) == 0:
        raise ValueError(
            f"policy: expected a Policy, got {type(policy).__name__}; see Policy.first_surface, or give one per row"
        )
    for row, one in enumerate(policy):
        if not isinstance(one, Policy):
            raise ValueError(f"policy: expected a Policy in row {row}, got {type(one).__name__}")
    if len(policy) != n:
        raise ValueError(f"policy: expected {n}, one per row, or one Policy for all, got {len(policy)}")
    objects = {id(one): one for one in policy}
    numbers: dict[Policy, int] = {}
    number = {key: numbers.setdefault(one, len(numbers)) for key, one in objects.items()}
    return tuple(numbers), np.array([number[id(one)] for one in policy], np.int64)


def _energies(energy: Any, n: int) -> Float64Array:
    """Energies at the start, (1,) for all rays or (n,); at least 0."""
    if isinstance(energy, float) and 0.0 <= energy <= LARGEST_NUMBER:
        return np.full(1, energy)
    energies = validate.one_or_numbers(energy, "energy", n)
    row = validate.first_bad_row(~((energies >= 0.0) & (energies <= LARGEST_NUMBER)))
    if row is not None:
        raise ValueError(
            f"energy: expected >= 0 and at most 2**500 (about 3e150), got {energies[row].tolist()} in row {row}; leave "
            "such shots out"
        )
    return energies
