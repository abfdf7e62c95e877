"""Reading the bodies of a client: which are new, removed, or have changed shapes or mass.

A token in its user data identifies a body; of a body that was read before, only what can change is read again. Two
calls change shapes: `unsupportedChangeScaling`, and a collision margin, which changes the last bits of boxes and
cylinders. Both act on the shape of a body's base, whichever link they name, and so on every link that shares it:
possibly links made by `createMultiBody`, never links of a file, which are read again only after other changes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from cylcollide.bullet.client import BASE, MADE_OF_SHAPES, TOKEN, BodyLink, Client
from cylcollide.bullet.crash_guard import crashing, links_to_check
from cylcollide.bullet.read_shapes import SIZES, Row
from cylcollide.bullet.tuples import results_unchanged

MASS, BODY_TYPE, MARGIN = 0, 10, 11  # fields of getDynamicsInfo
SOFT_BODY = 3


@dataclass(frozen=True)
class Body:
    """One body as it was read. A body with the same token is the same body."""

    token: bytes | None
    item: int  # the user data that hold the token
    fixed: bool  # has no mass: PyBullet resets the filter group of a base that becomes fixed or free
    rows: dict[int, tuple[Row, ...] | None]  # the shapes of each link, None where PyBullet does not report them
    readable: tuple[int, ...]  # the links with shapes that become limbs or planes
    variable: dict[int, Any]  # PyBullet's reports on the links that are read at every pass
    names: dict[int, str]  # body and link by name, for readable links


class Reading(NamedTuple):
    """The bodies of a client at one moment."""

    bodies: dict[int, Body]  # by number, in order
    same: frozenset[int]  # the bodies that have the filter groups of the previous reading
    changed: bool  # whether bodies or shapes differ from the previous reading

    @property
    def is_known(self) -> bool:
        """Whether all bodies have tokens."""
        return all(body.token is not None for body in self.bodies.values())

    def rows(self) -> dict[BodyLink, tuple[Row, ...] | None]:
        """The shapes of every link."""
        return {BodyLink(body, link): rows for body, read in self.bodies.items() for link, rows in read.rows.items()}


NOTHING_READ = Reading({}, frozenset(), True)


class Unchanged:
    """Checks whether a client still has these bodies, none of them replaced, fixed, freed or of another shape since.

    Their number and all tokens have to be unchanged: a token is unique, and deleted with its body. `masses`, `shapes`:
    the bodies whose mass, and whose shapes, are checked.
    """

    def __init__(
        self, client: Client, bodies: Mapping[int, Body], masses: Iterable[int], shapes: Iterable[int]
    ) -> None:
        api, number = client.api, client.number
        self._fixed = {(body, BASE, number): bodies[body].fixed for body in masses}
        self._facts_of, self._is_known = api.getDynamicsInfo, all(body.token is not None for body in bodies.values())
        self._reports = (
            (api.getNumBodies, (number,), len(bodies)),
            *((api.getUserData, (body.item, number), body.token) for body in bodies.values()),
            *((api.getCollisionShapeData, (k, link, number), reported)
              for k in shapes for link, reported in bodies[k].variable.items()),
        )  # fmt: skip

    def holds(self) -> bool:
        """Whether the bodies are unchanged now."""
        if not (self._is_known and results_unchanged(self._reports)):
            return False
        return all((self._facts_of(*base)[MASS] == 0.0) == fixed for base, fixed in self._fixed.items())


class Reader:
    """Reads a client's shapes; of bodies that were read before, only what can have changed."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def read(self, before: Reading) -> Reading:
        """All bodies: their shapes, and which of them are the same as before."""
        known = before.bodies
        if Unchanged(self._client, known, known, known).holds():
            return before if not before.changed else Reading(known, frozenset(known), False)
        numbers = self._client.bodies()
        checked = ((number, self._same_body(number, known.get(number))) for number in numbers)
        read = {number: body for number, body in checked if body is not None}
        if len(read) < len(numbers):
            numbers = self._with_unlisted(numbers)
            new = self._new_bodies([number for number in numbers if number not in read])
            read = {number: read.get(number) or new[number] for number in numbers}
        pairs = {number: (body, known.get(number)) for number, body in read.items() if body.token is not None}
        same = {n for n, (now, old) in pairs.items() if old and (now.token, now.fixed) == (old.token, old.fixed)}
        return Reading(read, frozenset(same), len(read) < len(known) or any(read[n] is not known.get(n) for n in read))

    def body(self, number: int) -> Body:
        """One body, as if it was new."""
        return self._new_bodies([number])[number]

    def _same_body(self, number: int, before: Body | None) -> Body | None:
        """The body as it is now; None if it is not the one that was read before."""
        if before is None or before.token is None or self._client.token(number) != (before.item, before.token):
            return None
        shapes = {link: self._client.getCollisionShapeData(number, link) for link in before.readable}
        now = replace(
            before,
            fixed=bool(self._client.api.getDynamicsInfo(number, BASE, self._client.number)[MASS] == 0.0),
            rows=before.rows | {link: _rows(reported) for link, reported in shapes.items()},
            variable={link: shapes[link] for link in before.variable},
        )
        return before if now == before else now

    def _with_unlisted(self, numbers: list[int]) -> list[int]:
        """The numbers of all bodies: of those that `batchPositions` makes, PyBullet's client lists only the last."""
        missing = sorted(set(range(numbers[-1] + 2)) - set(numbers))
        if any(self._exists(number) for number in missing):
            self._client.syncBodyInfo()
            return self._client.bodies()
        return numbers

    def _exists(self, number: int) -> bool:
        try:
            self._client.getDynamicsInfo(number, -1)
        except self._client.api.error:
            return False
        return True

    def _new_bodies(self, numbers: list[int]) -> dict[int, Body]:
        """Bodies that were not read before. Shapes that PyBullet would crash on are not read."""
        client = self._client
        bad = crashing(client, [link for number in numbers for link in links_to_check(client, number)])
        return {number: self._new_body(number, {at.link for at in bad if at.body == number})
                for number in numbers}  # fmt: skip

    def _new_body(self, number: int, unsafe: set[int]) -> Body:
        if self._client.token(number)[1] is None:  # a unique token is added
            self._client.addUserData(number, TOKEN, uuid4().hex)
        item, token = self._client.token(number)
        info = self._client.getDynamicsInfo(number, BASE)
        rows: dict[int, tuple[Row, ...] | None] = {}
        reports = {}
        for link in self._client.links(number):
            rows[link] = None
            if link not in unsafe and info[BODY_TYPE] != SOFT_BODY:
                reports[link] = reported = self._reported(BodyLink(number, link))
                rows[link] = None if reported is None else _rows(reported)
        readable = tuple(link for link, shapes in rows.items() if any(row[0] in SIZES for row in shapes or ()))
        shares = self._client.getBodyInfo(number)[0] == MADE_OF_SHAPES  # links of files share no shapes
        variable = {k: reports[k] for k in readable if k == BASE or shares}
        names = {link: self._client.link_name(BodyLink(number, link)) for link in readable}
        return Body(token, item, info[MASS] == 0.0, rows, readable, variable, names)

    def _reported(self, body_link: BodyLink) -> tuple[Any, ...] | None:
        """PyBullet's report on the shapes of one link, () if there are none, None if it does not report them."""
        try:
            reported: tuple[Any, ...] = self._client.getCollisionShapeData(*body_link)
        except self._client.api.error:  # bodies in maximal coordinates
            return None
        if not reported and self._has_extent(body_link):
            return None  # a height field, which PyBullet leaves out
        return reported

    def _has_extent(self, body_link: BodyLink) -> bool:
        """Whether the bounding box of the link exceeds twice the margins on both sides, which an empty one has."""
        low, high = np.array(self._client.getAABB(*body_link))
        margin = self._client.getDynamicsInfo(*body_link)[MARGIN]
        return bool((high - low > 4.0 * margin).any())


def _rows(reported: tuple[Any, ...]) -> tuple[Row, ...]:
    return tuple((row[2], row[3], row[5], row[6]) for row in reported)
