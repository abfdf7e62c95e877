"""Requests about the past: rays or points, when each is judged, and which characters are protected."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import ALL_LAYERS, BoolArray, Float64Array, InsidePolicy, Int64Array
from cylcollide.characters.judge import Policies, ShotRequest
from cylcollide.constants import LARGEST_NUMBER
from cylcollide.history.ticks import Ring
from cylcollide.query.overlaps import capsule_request
from cylcollide.query.request import RayRequest, ray_request, segment_request
from cylcollide.query.result import chosen_rows
from cylcollide.recorded.sample_times import find_moments
from cylcollide.runtime.memory import frozen

OnOld: TypeAlias = Literal["error", "clamp", "miss"]
ON_OLD: tuple[OnOld, ...] = ("error", "clamp", "miss")

Asked: TypeAlias = tuple[ArrayLike | None, ArrayLike | None, ArrayLike | None, OnOld]
"""Time, or tick and alpha, of each ray or of all; and what a time means that is not kept."""

NO_TICK = -1
"""The tick of a ray whose time is not kept."""


ProtectedSince: TypeAlias = Mapping[int, float]
"""From characters to the time from which on they are not hit."""

Protected: TypeAlias = tuple[Int64Array, Float64Array]
"""Characters, ascending, and the time from which on each is not hit; (k,) each."""

NOBODY: Protected = np.empty(0, np.int64), np.empty(0)


class PointOptions(TypedDict, total=False):
    """Options of `PoseHistory.contains_points`; those that a world's queries have, mean the same."""

    tick: ArrayLike
    alpha: ArrayLike
    on_old: OnOld
    protected_since: ProtectedSince | None
    threads: int | None
    mask: ArrayLike
    ignore_character: ArrayLike | None


class PastOptions(PointOptions, total=False):
    """Options of the queries of a `PoseHistory` about rays."""

    inside: InsidePolicy
    radius: ArrayLike


PastRequest: TypeAlias = tuple[RayRequest, Asked, Protected]
"""Rays, or points as segments without length; when each is judged; and the protected characters."""


def past_segments(
    starts: ArrayLike, ends: ArrayLike, time: ArrayLike | None = None, **options: Unpack[PastOptions]
) -> PastRequest:
    """A request about closed segments at times; if one of them is given for several times, it is repeated."""
    asked = asked_times(time, options, PastOptions)
    first = repeated(starts, ends, ("starts", "ends"), asked[:3], ("time", "tick", "alpha"))
    request = segment_request(first, ends, *_filters(options), radius=options.get("radius", 0.0))
    return request, asked, protected_by(options)


def past_rays(
    origins: ArrayLike,
    directions: ArrayLike,
    time: ArrayLike | None = None,
    max_distance: ArrayLike = np.inf,
    **options: Unpack[PastOptions],
) -> PastRequest:
    """A request about rays at times, as `past_segments`."""
    asked = asked_times(time, options, PastOptions)
    first = repeated(origins, directions, ("origins", "directions"), asked[:3], ("time", "tick", "alpha"))
    request = ray_request(first, directions, max_distance, *_filters(options), radius=options.get("radius", 0.0))
    return request, asked, protected_by(options)


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
    filters = options.get("mask", ALL_LAYERS), options.get("ignore_character"), options.get("threads")
    return segment_request(places, places, "hit", *filters), asked, protected_by(options)


def past_capsules(
    p1: ArrayLike, p2: ArrayLike, radii: ArrayLike, time: ArrayLike | None = None, **options: Unpack[PointOptions]
) -> PastRequest:
    """A request about capsules from p1 to p2, (n, 3) each, at times."""
    asked = asked_times(time, options, PointOptions)
    first = repeated(p1, p2, ("p1", "p2"), asked[:3], ("time", "tick", "alpha"))
    _, *filters = _filters(options)  # type: ignore[arg-type]
    mask, ignored, threads = filters
    request = capsule_request(first, p2, radii, mask=mask, ignore_character=ignored, threads=threads)  # type: ignore[arg-type]
    return request, asked, protected_by(options)


def asked_times(time: ArrayLike | None, options: PointOptions, known: type) -> Asked:
    """The times of a query with these options; TypeError for an option that there is not."""
    check_names(options, known)
    return time, options.get("tick"), options.get("alpha"), options.get("on_old", "error")


def check_names(options: Mapping[str, object], known: type) -> None:
    """Raise TypeError for a keyword that there is not."""
    unknown = set(options) - set(known.__annotations__)
    if unknown:
        raise TypeError(f"unexpected keyword {sorted(unknown)[0]!r}; expected {', '.join(known.__annotations__)}")


def repeated(
    first: ArrayLike, second: ArrayLike, names: tuple[str, str], times: tuple[Any, ...], time_names: tuple[str, ...]
) -> ArrayLike:
    """Starts of rays, the only one repeated if there is one ray for several times."""
    most = max(map(count, times, time_names))
    if most > 1 and len(validate.as_vectors(first, names[0])) == len(validate.as_vectors(second, names[1])) == 1:
        return np.repeat(validate.as_vectors(first, names[0]), most, axis=0)
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


# Sample times ---------------------------------------------------------------------------------------------------------


class SampleTimes(NamedTuple):
    """When each ray is judged; (n,) each, arrays that cannot be written."""

    time: Float64Array
    """The time that is judged."""
    tick: Int64Array
    """The last tick that is not after it; -1 for a time that is not kept, where every ray misses."""
    alpha: Float64Array
    """How far it is from this tick to the next, 0 to 1; nan for tick -1."""
    clamped: BoolArray
    """Whether another time was asked for, which is not kept any more, or not yet."""

    def take(self, rows: Any) -> "SampleTimes":
        """The sample times of some rays."""
        chosen = chosen_rows(rows, len(self.time), "moments")
        return SampleTimes._make(frozen(column[chosen]) for column in (self.time, self.tick, self.alpha, self.clamped))


def sample_times(ring: Ring, n: int, asked: Asked, has_on_old: bool = True) -> SampleTimes:
    """The sample times of n rays, by time or by tick and alpha; whether the call has `on_old`."""
    time, tick, alpha, on_old = asked
    if time is not None and tick is None and alpha is None:
        return _times_at(ring, time, n, on_old, has_on_old)
    if time is None and tick is not None:
        return _times_of_ticks(ring, tick, alpha, n)
    given = [name for name, value in (("time", time), ("tick", tick), ("alpha", alpha)) if value is not None]
    raise ValueError(f"time: expected either time, or tick and perhaps alpha; got {' and '.join(given) or 'neither'}")


def _times_at(ring: Ring, time: ArrayLike, n: int, on_old: OnOld, has_on_old: bool) -> SampleTimes:
    """The sample times of n times, given as such or as one for all."""
    validate.one_of(on_old, "on_old", *ON_OLD)
    asked = one_or_each(time, "time", n)
    begins, (judged, alpha), index = ring.times, np.empty((2, n)), np.empty(n, np.int64)
    outside = np.empty(n, np.bool_)
    count = find_moments(asked, begins, judged, index, alpha, outside)
    if on_old == "error" and count:
        raise_not_kept(ring, "time", asked, outside, has_on_old)
    number = ring.first + index
    if on_old == "miss" and count:
        judged, number, alpha = (np.where(outside, without, known) for without, known in (
            (asked, judged), (NO_TICK, number), (np.nan, alpha)))  # fmt: skip
        outside = np.zeros(n, np.bool_)
    return SampleTimes(frozen(judged), frozen(number), frozen(alpha), frozen(outside))


def raise_not_kept(ring: Ring, name: str, asked: Float64Array, outside: BoolArray, has_on_old: bool = True) -> NoReturn:
    """Raise the ValueError of times, (n,), some of which are not kept; it names `on_old` if the call has it."""
    count, row = int(outside.sum()), int(outside.argmax())
    remedy = "keep more ticks" + ", or say what such a time means by on_old='clamp' or 'miss'" * has_on_old
    raise ValueError(
        f"{name}: expected {ring.times[0]} to {ring.times[-1]}, which is kept, got {asked[row]} in row {row}"
        f"{f', {count} rows in all' if count > 1 else ''}; {remedy}"
    )


def _times_of_ticks(ring: Ring, tick: ArrayLike, alpha: ArrayLike | None, n: int) -> SampleTimes:
    """The sample times of n ticks and alphas, given as such or as one for all."""
    first, last = ring.first, ring.last
    number = validate.integers(tick, "tick", n, first, last)
    share = np.zeros(n) if alpha is None else one_or_each(alpha, "alpha", n)
    row = validate.first_bad_row(~((share >= 0.0) & (share <= 1.0)))
    if row is not None:
        raise ValueError(f"alpha: expected 0 to 1, got {share[row]} in row {row}")
    row = validate.first_bad_row((number == last) & (share > 0.0))
    if row is not None:
        raise ValueError(
            f"alpha: expected 0 for tick {last}, the last one, got {share[row]} in row {row}; record another one first"
        )
    begins = ring.times
    index = number - first
    span = begins[np.minimum(index + 1, len(begins) - 1)] - begins[index]
    return SampleTimes(
        frozen(begins[index] + share * span), frozen(number), frozen(share), frozen(np.zeros(n, np.bool_))
    )


def count(values: ArrayLike | None, name: str) -> int:
    """How many numbers there are, as numpy's size says; ValueError for what is no array of numbers."""
    known = values is None or isinstance(values, np.ndarray | float | int)
    return np.size(values) if known else validate.as_numbers(values, name, "(n,) or one number").size  # type: ignore


def one_or_each(values: ArrayLike, name: str, n: int) -> Float64Array:
    """Finite numbers, (n,), given as such or as one for all."""
    number: Any = values
    if isinstance(number, float) and abs(number) <= LARGEST_NUMBER:  # as many calls have it: 9 µs less
        return np.full(n, number)
    given = validate.as_numbers(values, name, f"({n},) or one number")
    if given.shape not in ((), (1,), (n,)):
        raise ValueError(f"{name}: expected one number or shape ({n},), got shape {given.shape}")
    numbers = validate.in_range(validate.as_float64(np.atleast_1d(given), name), name)
    return numbers if len(numbers) == n else np.repeat(numbers, n)
