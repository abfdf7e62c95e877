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


def in_the_past(
    time: ArrayLike | None, options: PastOptions | PastCastOptions
) -> tuple[RequestedTimes, ProtectedSince | None, dict[str, Any]]:
    """The time of each ray or point, and the protected characters, removed from the options; and other options."""
    others: Any = options
    tick, alpha, on_old = others.pop("tick", None), others.pop("alpha", None), others.pop("on_old", "error")
    return (time, tick, alpha, on_old), others.pop("protected_since", None), others


def past_segments(
    starts: ArrayLike, ends: ArrayLike, time: ArrayLike | None = None, **options: Unpack[PastCastOptions]
) -> PastRequest:
    """A request for closed segments at times; a single segment is repeated for all times."""
    asked, protected, others = in_the_past(time, options)
    first = repeated((starts, ends), ("starts", "ends"), asked[:3])
    return segment_request(first, ends, **others), asked, protected_by(protected)


def past_rays(
    origins: ArrayLike,
    directions: ArrayLike,
    time: ArrayLike | None = None,
    *,
    max_distance: ArrayLike = np.inf,
    **options: Unpack[PastCastOptions],
) -> PastRequest:
    """A request for rays at times, as `past_segments`."""
    asked, protected, others = in_the_past(time, options)
    first = repeated((origins, directions), ("origins", "directions"), asked[:3])
    rays = ray_request(first, directions, max_distance=max_distance, **others)
    return rays, asked, protected_by(protected)


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
    asked, protected, others = in_the_past(time, options)
    places = validate.as_vectors(repeated((points,), ("points",), asked[:3]), "points")
    return RayRequest(places, places, True, validate.NO_LIMIT, "hit", **others), asked, protected_by(protected)


def past_capsules(
    p1: ArrayLike, p2: ArrayLike, radii: ArrayLike, time: ArrayLike | None = None, **options: Unpack[PastOptions]
) -> PastRequest:
    """A request for capsules from p1 to p2, (n, 3) each, at times."""
    asked, protected, others = in_the_past(time, options)
    first = repeated((p1, p2), ("p1", "p2"), asked[:3])
    return capsule_request(first, p2, radii, **others), asked, protected_by(protected)


def repeated(
    vectors: tuple[ArrayLike, ...],
    names: tuple[str, ...],
    times: tuple[Any, ...],
    time_names: tuple[str, ...] = ("time", "tick", "alpha"),
) -> ArrayLike:
    """The first of `vectors`, of rays, points or blades; a single ray, point or blade is repeated, once per time."""
    given = rows_together(*map(count, times, time_names))
    if given != 1 and all(len(validate.as_vectors(*one)) == 1 for one in zip(vectors, names, strict=True)):
        return memory.copies_of(validate.as_vectors(vectors[0], names[0]), given)
    return vectors[0]


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
