"""Requests about the past: rays or points, when each is judged, and who is protected. Checked where a query enters."""

from collections.abc import Mapping
from typing import Any, TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import ALL_LAYERS, Float64Array, InsidePolicy, Int64Array
from cylcollide.characters.judge import Policies, ShotRequest
from cylcollide.history.sample_times import Asked, OnOld, count
from cylcollide.query.request import RayRequest, ray_request, segment_request

ProtectedSince: TypeAlias = Mapping[int, float]
"""From characters to the time from which on they are not hit."""

Protected: TypeAlias = tuple[Int64Array, Float64Array]
"""Characters, ascending, and the time from which on each is not hit; (k,) each."""

NOBODY: Protected = np.empty(0, np.int64), np.empty(0)


class PointOptions(TypedDict, total=False):
    """Options of `PoseHistory.contains_points`."""

    tick: ArrayLike
    alpha: ArrayLike
    on_old: OnOld
    protected_since: ProtectedSince | None
    threads: int | None


class PastOptions(PointOptions, total=False):
    """Options of the queries of a `PoseHistory`; those that a world's queries have, mean the same."""

    inside: InsidePolicy
    mask: ArrayLike
    ignore_character: ArrayLike | None


PastRequest: TypeAlias = tuple[RayRequest, Asked, Protected]
"""Rays, or points as segments without length; when each is judged; and who is not hit from some time on."""


def past_segments(
    starts: ArrayLike, ends: ArrayLike, time: ArrayLike | None = None, **options: Unpack[PastOptions]
) -> PastRequest:
    """A request about closed segments at times; if one of them is given for several times, it is repeated."""
    asked = asked_times(time, options, PastOptions)
    first = _repeated(starts, ends, ("starts", "ends"), asked)
    return segment_request(first, ends, *_filters(options)), asked, protected_by(options)


def past_rays(
    origins: ArrayLike,
    directions: ArrayLike,
    time: ArrayLike | None = None,
    max_distance: ArrayLike = np.inf,
    **options: Unpack[PastOptions],
) -> PastRequest:
    """A request about rays at times, as `past_segments`."""
    asked = asked_times(time, options, PastOptions)
    first = _repeated(origins, directions, ("origins", "directions"), asked)
    return ray_request(first, directions, max_distance, *_filters(options)), asked, protected_by(options)


def past_segment_shots(
    starts: ArrayLike,
    ends: ArrayLike,
    policy: Policies,
    time: ArrayLike | None = None,
    energy: ArrayLike = 1.0,
    shot: ArrayLike | None = None,
    **options: Unpack[PastOptions],
) -> tuple[PastRequest, ShotRequest]:
    """A request about shots along closed segments at times."""
    past = past_segments(starts, ends, time, **options)
    return past, ShotRequest.of(past[0], policy, energy, shot)


def past_ray_shots(
    origins: ArrayLike,
    directions: ArrayLike,
    policy: Policies,
    time: ArrayLike | None = None,
    max_distance: ArrayLike = np.inf,
    energy: ArrayLike = 1.0,
    shot: ArrayLike | None = None,
    **options: Unpack[PastOptions],
) -> tuple[PastRequest, ShotRequest]:
    """A request about shots along rays at times."""
    past = past_rays(origins, directions, time, max_distance, **options)
    return past, ShotRequest.of(past[0], policy, energy, shot)


def past_points(points: ArrayLike, time: ArrayLike | None = None, **options: Unpack[PointOptions]) -> PastRequest:
    """A request about points (n, 3) at times."""
    asked, places = asked_times(time, options, PointOptions), validate.vectors(points, "points")
    return segment_request(places, places, threads=options.get("threads")), asked, protected_by(options)


def asked_times(time: ArrayLike | None, options: PointOptions, known: type) -> Asked:
    """The times of a query with these options; TypeError for an option that there is not."""
    check_names(options, known)
    return time, options.get("tick"), options.get("alpha"), options.get("on_old", "error")


def check_names(options: Mapping[str, object], known: type) -> None:
    """Raise TypeError for a keyword that there is not."""
    unknown = set(options) - set(known.__annotations__)
    if unknown:
        raise TypeError(f"unexpected keyword {sorted(unknown)[0]!r}; expected {', '.join(known.__annotations__)}")


def _repeated(first: ArrayLike, second: ArrayLike, names: tuple[str, str], asked: Asked) -> ArrayLike:
    """Starts of rays, the only one repeated if there is one ray for several times."""
    time, tick, alpha, _ = asked
    times = max(count(time, "time"), count(tick, "tick"), count(alpha, "alpha"))
    if times > 1 and len(validate.as_vectors(first, names[0])) == len(validate.as_vectors(second, names[1])) == 1:
        return np.repeat(validate.as_vectors(first, names[0]), times, axis=0)
    return first


def _filters(options: PastOptions) -> tuple[InsidePolicy, ArrayLike, ArrayLike | None, int | None]:
    """The options of rays."""
    return (
        options.get("inside", "hit"), options.get("mask", ALL_LAYERS), options.get("ignore_character"),
        options.get("threads"),
    )  # fmt: skip


def protected_by(options: Mapping[str, Any]) -> Protected:
    """Who is protected by the option `protected_since`."""
    since = options.get("protected_since")
    if since is None:
        return NOBODY
    if not isinstance(since, Mapping):
        raise ValueError(f"protected_since: expected a mapping from characters to times, got {type(since).__name__}")
    ids = validate.list_of_integers([*since] or np.empty(0, np.int64), "protected_since", 0, 2**31 - 1)
    order, times = np.argsort(ids), [*since.values()]
    if any(getattr(time, "ndim", 0) for time in times):
        raise ValueError("protected_since: expected one time for each character, got an array; give one mapping")
    begins = validate.in_range(validate.per_row(times, "protected_since", len(ids)), "protected_since")
    return ids[order], begins[order]
