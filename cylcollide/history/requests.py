"""Requests in the past: rays or points, the time of each, and the protected characters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import Float64Array, Int64Array
from cylcollide.characters.judge import Policies, ShotRequest
from cylcollide.history.sample_times import OnOld, RequestedTimes, SampleTimes, count
from cylcollide.query.near_requests import rows_together
from cylcollide.query.overlaps import capsule_request
from cylcollide.query.request import CastOptions, Filters, RayRequest, ray_request, segment_request
from cylcollide.runtime import memory

ProtectedSince: TypeAlias = Mapping[int, float]
"""Maps characters to the time from which on they are not hit."""

Protected: TypeAlias = tuple[Int64Array, Float64Array]
"""Characters, ascending, and the time from which on each is not hit; (k,) each."""

NO_PROTECTION: Protected = np.empty(0, np.int64), np.empty(0)

PastRequest: TypeAlias = tuple[RayRequest, RequestedTimes | SampleTimes, Protected]
"""Rays, or points as segments of length 0; the time of each; and the protected characters."""


class Moments(TypedDict, total=False):
    """Options of all queries in the past."""

    tick: ArrayLike | None
    alpha: ArrayLike | None
    on_old: OnOld
    protected_since: ProtectedSince | None


class PastOptions(Moments, Filters, total=False):
    """Options of all queries in the past, and those of all queries."""


class PastCastOptions(Moments, CastOptions, total=False):
    """Options of all queries in the past, and those of ray queries."""


def at_times(
    time: ArrayLike | None, options: PastOptions | PastCastOptions, **vectors: ArrayLike
) -> tuple[ArrayLike, tuple[RequestedTimes, Protected], dict[str, Any]]:
    """The first of `vectors`, `repeated`; the time of each row, and the protected characters; and other options."""
    others: Any = options
    times = {"time": time, "tick": others.pop("tick", None), "alpha": others.pop("alpha", None)}
    on_old, protected = others.pop("on_old", "error"), protected_by(others.pop("protected_since", None))
    return repeated(vectors, times), ((*times.values(), on_old), protected), others


def past_segments(
    starts: ArrayLike, ends: ArrayLike, time: ArrayLike | None = None, **options: Unpack[PastCastOptions]
) -> PastRequest:
    """A request for closed segments at times; a single segment is repeated for all times."""
    first, when, others = at_times(time, options, starts=starts, ends=ends)
    return segment_request(first, ends, **others), *when


def past_rays(
    origins: ArrayLike,
    directions: ArrayLike,
    time: ArrayLike | None = None,
    *,
    max_distance: ArrayLike = np.inf,
    **options: Unpack[PastCastOptions],
) -> PastRequest:
    """A request for rays at times, as `past_segments`."""
    first, when, others = at_times(time, options, origins=origins, directions=directions)
    return ray_request(first, directions, max_distance=max_distance, **others), *when


def past_segment_shots(
    starts: ArrayLike,
    ends: ArrayLike,
    policy: Policies,
    time: ArrayLike | None = None,
    *,
    energy: ArrayLike = 1.0,
    shot: ArrayLike | None = None,
    **options: Unpack[PastCastOptions],
) -> tuple[PastRequest, ShotRequest]:
    """A request for shots along closed segments at times."""
    past = past_segments(starts, ends, time, **options)
    return past, ShotRequest.of(past[0], policy, energy, shot)


def past_ray_shots(
    origins: ArrayLike,
    directions: ArrayLike,
    policy: Policies,
    time: ArrayLike | None = None,
    *,
    max_distance: ArrayLike = np.inf,
    energy: ArrayLike = 1.0,
    shot: ArrayLike | None = None,
    **options: Unpack[PastCastOptions],
) -> tuple[PastRequest, ShotRequest]:
    """A request for shots along rays at times."""
    past = past_rays(origins, directions, time, max_distance=max_distance, **options)
    return past, ShotRequest.of(past[0], policy, energy, shot)


def past_points(points: ArrayLike, time: ArrayLike | None = None, **options: Unpack[PastOptions]) -> PastRequest:
    """A request for points (n, 3) at times."""
    first, when, others = at_times(time, options, points=points)
    places = validate.as_vectors(first, "points")
    request = RayRequest(places, places, True, validate.NO_LIMIT, "hit", **others)
    request.names = "points", "points"
    return request, *when


def past_capsules(
    p1: ArrayLike, p2: ArrayLike, radii: ArrayLike, time: ArrayLike | None = None, **options: Unpack[PastOptions]
) -> PastRequest:
    """A request for capsules from p1 to p2, (n, 3) each, at times."""
    first, when, others = at_times(time, options, p1=p1, p2=p2)
    return capsule_request(first, p2, radii, **others), *when


def repeated(vectors: Mapping[str, ArrayLike], times: Mapping[str, ArrayLike | None]) -> ArrayLike:
    """The first of `vectors`, of rays, points or blades; a single ray, point or blade is repeated, once per time."""
    rows, name = rows_together(*map(count, times.values(), times)), next(iter(vectors))
    if rows != 1 and all(len(validate.as_vectors(values, key)) == 1 for key, values in vectors.items()):
        return memory.copies_of(validate.as_vectors(vectors[name], name), rows)
    return vectors[name]


def protected_by(since: ProtectedSince | None) -> Protected:
    """The checked characters and times of the option `protected_since`."""
    if since is None:
        return NO_PROTECTION
    if not isinstance(since, Mapping):
        raise ValueError(f"protected_since: expected a mapping from characters to times, got {type(since).__name__}")
    ids = validate.list_of_integers([*since] or np.empty(0, np.int64), "protected_since", 2**31 - 1)
    order, times = np.argsort(ids), [*since.values()]
    if any(getattr(time, "ndim", 0) for time in times):
        raise ValueError("protected_since: expected one time for each character, got an array; give one mapping")
    begins = validate.in_range(validate.per_row(times, "protected_since", len(ids)), "protected_since")
    return ids[order], begins[order]
