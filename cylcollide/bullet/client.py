"""A PyBullet client, given in any of the forms that programs use."""

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from cylcollide._types import Float64Array

BATCH = 16_000
"""Rays in one call of PyBullet's `rayTestBatch`. Its limit is 16,383: of 16,384 rays it silently drops
the last one (lists) or all (arrays); more raise an error."""

TOKEN = "cylcollide"
"""Key of the user data that identify a body: PyBullet gives the number of a removed body to the next one, and deletes
user data with their body, by `removeBody` and by `resetSimulation`."""

NO_USER_DATA = -1

LINK_NAME = 12  # field of getJointInfo

MARGIN = 11  # field of getDynamicsInfo; 0 for a compound

BASE = -1
"""PyBullet's link index of a body's base."""

MADE_OF_SHAPES = b"link0"
"""PyBullet's name for the base of a body that `createMultiBody` made."""


class BodyLink(NamedTuple):
    """The body of a shape, and its link, -1 for the base."""

    body: int
    link: int


class Client:
    """PyBullet's functions, bound to one client: `client.getNumBodies()`."""

    def __init__(self, client: Any) -> None:
        from cylcollide._pybullet import OWN, pybullet  # noqa: PLC0415  # an extra: imported only when used

        self.api: Any = OWN
        """PyBullet's own functions and constants."""
        self.number = 0 if isinstance(client, ModuleType) and client is pybullet else number_of(client)
        """PyBullet's physicsClientId."""
        if not pybullet.isConnected(self.number):
            raise ValueError(
                f"client: expected a connected PyBullet client, got {self.number}; pybullet.connect(...) returns one"
            )
        self.is_direct: bool = self.getConnectionInfo()["connectionMethod"] == pybullet.DIRECT
        """Whether only this process changes the client."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(getattr(self.api, name), physicsClientId=self.number)

    def bodies(self) -> list[int]:
        """The numbers of all bodies that the client lists, in order."""
        number, body_at = self.number, self.api.getBodyUniqueId
        return sorted([body_at(i, number) for i in range(self.api.getNumBodies(number))])

    def links(self, body: int) -> range:
        """The base, -1, and the links of a body."""
        return range(BASE, self.getNumJoints(body))

    def body_name(self, body: int) -> str:
        """Number and name of a body, for messages."""
        return f"body {body} ({self.getBodyInfo(body)[1].decode(errors='replace')!r})"

    def link_name(self, body_link: BodyLink) -> str:
        """Body and link by name: "ant 3/front_left_foot"; "base" for a base or link without a name.

        `createMultiBody` gives none: PyBullet then calls the base link0, and link 0 link1.
        """
        base, body = self.getBodyInfo(body_link.body)
        if base == MADE_OF_SHAPES:
            link = b"base" if body_link.link == BASE else f"link{body_link.link}".encode()
        else:
            link = base if body_link.link == BASE else self.getJointInfo(*body_link)[LINK_NAME]
        own, part = (name.decode(errors="replace") for name in (body, link))
        return f"{own or 'body'} {body_link.body}/{part or 'base'}"

    def token(self, body: int) -> tuple[int, bytes | None]:
        """The user data of a body that hold its token, and the token, None if it has none."""
        item = self.api.getUserDataId(body, TOKEN, -1, -1, self.number)
        return item, None if item == NO_USER_DATA else self.api.getUserData(item, self.number)

    def ray_hits(self, starts: Float64Array, ends: Float64Array, **keywords: int) -> list[Any]:
        """The results of `rayTestBatch` for segments (n, 3), (n, 3), in as many calls as its limit needs.

        In one thread: answers are the same with any number (`numThreads`), and no faster.
        """
        found: list[Any] = []
        for first in range(0, len(starts), BATCH):
            rows = slice(first, first + BATCH)
            found.extend(self.rayTestBatch(starts[rows], ends[rows], **keywords))
        return found


def number_of(client: Any) -> int:
    """The number of a client; ValueError for anything else."""
    number = getattr(client, "_client", client)
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
        raise ValueError(
            f"client: expected what pybullet.connect returned, a BulletClient, or the module pybullet, got "
            f"{type(client).__name__}"
        )
    return int(number)
