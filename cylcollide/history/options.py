"""Options of queries in the past, and the requests that are made with them."""

from collections.abc import Mapping
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import ALL_LAYERS, Float64Array, InsidePolicy, Int64Array
from cylcollide.history.moments import Moments, OnOld, count, moments_at, moments_of_ticks
from cylcollide.history.ring import Ring
from cylcollide.query.request import RayRequest, ray_request, segment_request

Protection = Mapping[int, float]
"""From characters to the time from which on they are not hit."""


NOBODY = np.empty(0, np.int64), np.empty(0)


class PointOptions(TypedDict, total=False):
    """Options of `PoseHistory.contains_points`."""

    tick: ArrayLike
    alpha: ArrayLike
    on_old: OnOld
    protected_since: Protection | None
    threads: int | None


class PastOptions(TypedDict, total=False):
    """Options of the queries of a `PoseHistory`; those that a world's queries have, mean the same."""

    tick: ArrayLike
    alpha: ArrayLike
    on_old: OnOld
    protected_since: Protection | None
    inside: InsidePolicy
    mask: ArrayLike
    ignore_character: ArrayLike | None
    threads: int | None


def request_of_segments(starts: ArrayLike, ends: ArrayLike, time: ArrayLike | None, options: PastOptions) -> RayRequest:
    """A request about closed segments; one of them for all times, if there are several."""
    return segment_request(_one_a_time(starts, ends, ("starts", "ends"), time, options), ends, *_filters(options))


def request_of_rays(
    origins: ArrayLike, directions: ArrayLike, max_distance: ArrayLike, time: ArrayLike | None, options: PastOptions
) -> RayRequest:
    """A request about rays; one of them for all times, if there are several."""
    first = _one_a_time(origins, directions, ("origins", "directions"), time, options)
    return ray_request(first, directions, max_distance, *_filters(options))


def _one_a_time(
    first: ArrayLike, second: ArrayLike, names: tuple[str, str], time: ArrayLike | None, options: PastOptions
) -> ArrayLike:
    """Starts of rays, the only one repeated if there is one ray for several times."""
    times = max(count(time, "time"), count(options.get("tick"), "tick"), count(options.get("alpha"), "alpha"))
    if times > 1 and len(validate.as_vectors(first, names[0])) == len(validate.as_vectors(second, names[1])) == 1:
        return np.repeat(validate.as_vectors(first, names[0]), times, axis=0)
    return first


def _filters(options: PastOptions) -> tuple[InsidePolicy, ArrayLike, ArrayLike | None]:
    """What of the options a request takes."""
    check_names(options, PastOptions)
    return options.get("inside", "hit"), options.get("mask", ALL_LAYERS), options.get("ignore_character")


def checked_protection(since: Protection | None) -> tuple[Int64Array, Float64Array]:
    """Characters, ascending, and the time from which on each is not hit; (k,) each."""
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


def check_names(options: Mapping[str, object], known: type) -> None:
    """Raise TypeError for a keyword that there is not."""
    unknown = set(options) - set(known.__annotations__)
    if unknown:
        raise TypeError(f"unexpected keyword {sorted(unknown)[0]!r}; expected {', '.join(known.__annotations__)}")


def moments_of(
    ring: Ring,
    n: int,
    time: ArrayLike | None,
    tick: ArrayLike | None,
    alpha: ArrayLike | None,
    on_old: OnOld,
) -> Moments:
    """The moments of n rays, by time or by tick and alpha."""
    if time is not None and tick is None and alpha is None:
        return moments_at(ring, time, n, on_old)
    if time is None and tick is not None:
        return moments_of_ticks(ring, tick, alpha, n)
    raise ValueError("time: expected either time, or tick and perhaps alpha; got neither, or both")
