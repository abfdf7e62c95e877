"""Exact answers for PyBullet's ray tests in this process: `with patched():` around an unedited program.

`pybullet.rayTest` and `rayTestBatch` are replaced in the module, for every client, including a `BulletClient`. Each
client has its own `Mirror`, which reads the client at every ray test and is dropped by `disconnect`. A function
imported by its name earlier (`from pybullet import rayTest`) stays PyBullet's.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import update_wrapper
from inspect import signature
from threading import RLock
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import ALL_LAYERS, Float64Array
from cylcollide.bullet.arguments import LARGEST, MeshPolicy, MirrorInside, MirrorOptions, are_rows, mirror_options
from cylcollide.bullet.client import number_of
from cylcollide.bullet.mirror import Mirror
from cylcollide.bullet.tuples import MISS, RayTestResult
from cylcollide.bullet.watch import EFFECTS, AsBuiltin, Changes, Effect, filter_calls, recorded
from cylcollide.constants import LARGEST_NUMBER

Observer: TypeAlias = Callable[[Mirror, dict[str, Any], tuple[RayTestResult, ...]], None]
"""Is notified of a ray test: the mirror, the arguments of `rayTestBatch` by name, and the answer."""

_Own: TypeAlias = Callable[..., tuple[RayTestResult, ...]]
"""PyBullet's own ray test, with or without bound arguments."""


class Patch(NamedTuple):
    """One patch of the ray tests."""

    options: MirrorOptions
    mirrors: dict[int, Mirror]
    """The mirrors with these options, by client."""
    is_block: bool
    """Whether it ends with a `with` block, and not by `unpatch`."""


_lock = RLock()
_mirrors: dict[MirrorOptions, dict[int, Mirror]] = {}
_patches: dict[object, Patch] = {}
"""The patches by unique keys, the innermost last."""
_changes = Changes()
"""Calls of all clients that may have changed bodies or filters; poses count as changed at every ray test."""

observers: list[Observer] = []
"""They are called after each ray test that a mirror has answered."""


def patch(*, mesh: MeshPolicy | None = None, inside: MirrorInside = "ignore", tolerance: float = 0.0) -> None:
    """Answer `pybullet.rayTest` and `rayTestBatch` exactly, for all clients, until `unpatch`.

    Parameters
    ----------
    mesh, inside, tolerance
        As in `Mirror`. In nested patches the innermost options apply.

    Raises
    ------
    ImportError
        Without pybullet: install the extra `crosscheck`.
    ValueError
        For options that `Mirror` refuses.
    """
    _begin(object(), mirror_options(mesh, inside, tolerance), False)


def unpatch() -> None:
    """Undo the last `patch`, if any; if none is left, restore PyBullet's own functions."""
    with _lock:
        last = next((key for key, one in reversed(_patches.items()) if not one.is_block), None)
        _patches.pop(last, None)
    _restore()


@contextmanager
def patched(
    *, mesh: MeshPolicy | None = None, inside: MirrorInside = "ignore", tolerance: float = 0.0
) -> Iterator[None]:
    """`patch` for the length of a `with` block."""
    key, options = object(), mirror_options(mesh, inside, tolerance)
    try:
        _begin(key, options, True)
        yield
    finally:
        _patches.pop(key, None)  # one call, which no signal handler interrupts
        _restore()


def _begin(key: object, options: MirrorOptions, is_block: bool) -> None:
    """Add a patch, and replace PyBullet's functions."""
    from cylcollide._pybullet import pybullet  # noqa: PLC0415  # an extra: imported only when used

    with _lock:
        _patches[key] = Patch(options, _mirrors.setdefault(options, {}), is_block)
        vars(pybullet).update(_replacements())


def _restore() -> None:
    """Put PyBullet's own functions back if there is no patch."""
    from cylcollide._pybullet import OWN, pybullet  # noqa: PLC0415  # an extra: imported only when used

    with _lock:
        if not _patches:
            vars(pybullet).update({name: getattr(OWN, name) for name in _replacements()})
            _mirrors.clear()


def _innermost() -> Patch | None:
    """The patch whose options apply; None in a thread that looked up a function before it was restored."""
    try:
        return next(reversed(_patches.values()), None)
    except RuntimeError:  # another thread has added or removed one meanwhile
        return _innermost()


_made: dict[str, Any] = {}


def _replacements() -> dict[str, Any]:
    """The replacements for PyBullet's own functions in the module, by name; `isbuiltin` accepts them, too."""
    from cylcollide._pybullet import OWN  # noqa: PLC0415  # an extra: imported only when used

    filter_calls()  # counts calls from now on, including those made by these functions
    if not _made:
        changing = {name: effect for name, effect in EFFECTS.items() if effect > Effect.POSES and hasattr(OWN, name)}
        functions = {name: recorded(getattr(OWN, name), _changes, effect) for name, effect in changing.items()}
        functions |= {name: _answering(name, getattr(OWN, name)) for name in ("rayTest", "rayTestBatch")}
        functions["disconnect"] = _disconnecting
        _made.update({name: update_wrapper(AsBuiltin(f), getattr(OWN, name)) for name, f in functions.items()})
    return _made


def _disconnecting(*arguments: Any, **keywords: Any) -> Any:
    """As `pybullet.disconnect`; drops the mirrors of clients that are no longer connected."""
    from cylcollide._pybullet import OWN  # noqa: PLC0415  # an extra: imported only when used

    try:
        return OWN.disconnect(*arguments, **keywords)
    finally:
        with _lock:
            for mirrors in _mirrors.values():
                for client in [client for client in mirrors if not OWN.isConnected(client)]:
                    del mirrors[client]


RAYS = "rayFromPositions", "rayToPositions"
"""The ends of rays, among the arguments of `rayTestBatch`."""


def _answering(name: str, test: _Own) -> Callable[..., tuple[RayTestResult, ...]]:
    """A replacement for one of PyBullet's ray tests, answered by mirrors, with the arguments of `Mirror`'s method."""
    names = list(signature(getattr(Mirror, name)).parameters)[1:]
    is_one, known = name == "rayTest", set(names)

    def ray_test(*arguments: Any, **keywords: Any) -> tuple[RayTestResult, ...]:
        def own() -> tuple[RayTestResult, ...]:
            return test(*arguments, **keywords)

        rays, given, innermost = arguments, {}, _innermost()
        if keywords or len(rays) != 2:
            given = dict(zip(names, arguments, strict=False)) | keywords
            if len(given) != len(arguments) + len(keywords) or not known.issuperset(given):
                return own()  # PyBullet's own error
            rays = given.pop(names[0], None), given.pop(names[1], None)
        elif innermost and not observers and (mirror := innermost.mirrors.get(0)) and mirror._follower._is_partial:
            _changes.record(Effect.POSES)  # short cut: starts and ends alone, and the last ray test was near few bodies
            starts, ends = ([rays[0]], [rays[1]]) if is_one else rays
            found = mirror._follower.near_answers(starts, ends, ALL_LAYERS)
            if found is not None:
                return tuple(found)
        starts, ends = rays
        if starts is None or ends is None:
            return own()
        return _answer(own, [starts] if is_one else starts, [ends] if is_one else ends, given)

    return ray_test


def _answer(own: _Own, starts: Any, ends: Any, options: dict[str, Any]) -> tuple[RayTestResult, ...]:
    """The answer of the client's mirror; PyBullet's own answer or error for arguments that only PyBullet accepts."""
    innermost = _innermost()
    if innermost is None:
        return own()
    client, mask = options.pop("physicsClientId", 0), options.get("collisionFilterMask", 0)
    if not (are_rows(starts) and are_rows(ends)) or (isinstance(mask, (int, np.integer)) and mask > LARGEST):
        own()  # raises errors that a mirror would not
    try:
        mirror = _mirror_of(client, innermost)
    except ValueError as error:
        return _own_answer(own, error)
    try:
        answer = mirror.rayTestBatch(starts, ends, **options)
    except ValueError:
        try:
            mirror.sync()
        except ValueError as error:
            return _own_answer(own, error)
        answer, rays = own(), _as_rays(starts, ends)  # raises PyBullet's own error, if any
        if rays is None:
            return (MISS,) * len(answer)  # PyBullet reads uninitialised numbers
        numbers = np.abs(rays).max(axis=(1, 2)) <= LARGEST_NUMBER
        if numbers.all():
            return answer
        with suppress(ValueError):  # rays without accepted numbers are misses, as in PyBullet
            answers = iter(mirror.rayTestBatch(rays[numbers, 0], rays[numbers, 1], **options))
            answer = tuple(next(answers) if has_numbers else MISS for has_numbers in numbers.tolist())
    for observer in observers:
        observer(mirror, {"rayFromPositions": starts, "rayToPositions": ends, **options}, answer)
    return answer


def _own_answer(own: _Own, error: ValueError) -> tuple[RayTestResult, ...]:
    """PyBullet's own answer about a client that cannot be mirrored, with a warning that says why."""
    answer = own()  # raises if the client is not connected
    warnings.warn(f"{error}; PyBullet's own answer is returned", UserWarning, stacklevel=4)
    return answer


def _mirror_of(given: Any, patch: Patch) -> Mirror:
    """The mirror of a client, which follows the recorded calls; ValueError if the client cannot be mirrored."""
    client, made = number_of(given), patch.mirrors
    mirror = made.get(client)
    if mirror is None:
        with _lock:
            mirror = made.get(client)
            if mirror is None:
                since, (mesh, inside, tolerance) = _changes.last(), patch.options
                mirror = Mirror(client, mesh=mesh, inside=inside, tolerance=tolerance, follow=False)
                mirror._follower.follow_calls(_changes, since)
                made[client] = mirror
    _changes.record(Effect.POSES)
    return mirror


def _as_rays(starts: Any, ends: Any) -> Float64Array | None:
    """Both ends of each ray, (n, 2, 3); None if they are not vectors."""
    try:
        rays = np.stack([np.asarray(starts, np.float64), np.asarray(ends, np.float64)], axis=1)
    except (ValueError, TypeError):
        return None
    return rays if rays.shape[1:] == (2, 3) else None
