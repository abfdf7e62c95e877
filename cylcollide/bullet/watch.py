"""A PyBullet client with a mirror's ray tests, which notes what calls may change a ray's answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import isbuiltin
from itertools import count
from typing import Any, TypeAlias

from cylcollide.bullet.client import Client
from cylcollide.bullet.effects import Effect, effect_of

Changed: TypeAlias = tuple[int, int, int]
"""Serial numbers of the last calls that may have changed poses, bodies or shapes, and filters."""


class Changes:
    """Serial numbers of the last calls that may have changed a client; all its watched clients share one record."""

    def __init__(self) -> None:
        self._serial = count(1)
        self.poses = 0
        """Of the last call with the effect POSES."""
        self.scene = 0
        """Of the last call with the effect SCENE."""
        self.filters = 0
        """Of the last call with the effect FILTERS."""

    def last(self) -> Changed:
        """The numbers of poses, scene and filters."""
        return self.poses, self.scene, self.filters

    def note(self, effect: Effect) -> None:
        """Record a call. Numbers never repeat, so that none is lost between threads."""
        if effect == Effect.FILTERS:
            self.filters = next(self._serial)
        elif effect == Effect.SCENE:
            self.scene = next(self._serial)
        else:
            self.note_poses()

    def note_poses(self) -> None:
        """Record a call with the effect POSES."""
        self.poses = next(self._serial)


_changes: dict[int, Changes] = {}


def changes_of(client: Client) -> Changes:
    """The record of a client, by its number: calls through any watched client of this process are in it."""
    return _changes.setdefault(client.number, Changes())


class WatchedClient:
    """PyBullet's functions and constants, as a `BulletClient` has them, bound to one client: made by `Mirror.watch`.

    `ray_tests`: what answers `rayTest` and `rayTestBatch`, by name.
    """

    def __init__(self, client: Client, ray_tests: Mapping[str, Callable[..., Any]]) -> None:
        self._client, self._api, self._changes = client.number, client.api, changes_of(client)
        vars(self).update(ray_tests)

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._api, name)
        if not isbuiltin(attribute):
            return attribute
        bound = partial(attribute, physicsClientId=self._client)
        effect = effect_of(name)
        function = bound if effect == Effect.NONE else noting(bound, self._changes, effect)
        setattr(self, name, function)  # found without this method from now on
        return function


def noting(function: Callable[..., Any], changes: Changes, effect: Effect) -> Callable[..., Any]:
    """The function, its calls noted, also those that fail: they may have done a part of their work."""

    def call(*arguments: Any, **keywords: Any) -> Any:
        try:
            return function(*arguments, **keywords)
        finally:
            changes.note(effect)

    return call
