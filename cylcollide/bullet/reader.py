"""Reading the bodies of a client: which are new, removed, or have changed shapes or mass.

A token in its user data identifies a body; of a body that was read before, only what can change is read again. Two
calls change shapes: `unsupportedChangeScaling`, and a collision margin, which changes the last bits of boxes and
cylinders. Both act on the shape of a body's base, whichever link they name, and so on every link that shares it:
possibly links made by `createMultiBody`, never links of a file, which are read again only after other changes.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from cylcollide.bullet.client import BASE, MADE_OF_SHAPES, MARGIN, TOKEN, BodyLink, Client
from cylcollide.bullet.crash_guard import crashing, links_to_check
from cylcollide.bullet.read_shapes import SIZES, Row
from cylcollide.bullet.tuples import results_unchanged

MASS, BODY_TYPE = 0, 10  # fields of getDynamicsInfo
SOFT_BODY = 3


@dataclass(frozen=True)
class Body:
    """One body as it was read. A body with the same token is the same body."""

    token: bytes | None
    item: int  # the user data that hold the token
    fixed: bool | None  # has no mass; None if soft. A base that becomes fixed or free gets another filter group
    rows: dict[int, tuple[Row, ...] | None]  # the shapes of each link, None where PyBullet does not report them
    readable: tuple[int, ...]  # the links with shapes that become limbs or planes
    variable: dict[int, Any]  # reports, without noise, on the links that are read at every pass
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


def unchanged(
    client: Client, bodies: Mapping[int, Body], masses: Iterable[int], shapes: Iterable[int]
) -> Callable[[], bool]:
    """A check whether the client still has these bodies, none of them replaced, fixed, freed or of another shape since.

    Their number and all tokens have to be unchanged: a token is unique, and deleted with its body. `masses`, `shapes`:
    the bodies whose mass, and whose shapes, are checked.
    """
    api, number = client.api, client.number
    fixed = {(body, BASE, number): bodies[body].fixed for body in masses if bodies[body].fixed is not None}
    facts_of = api.getDynamicsInfo
    is_known = all(body.token is not None for body in bodies.values())
    reports = (
        (api.getNumBodies, (number,), len(bodies)),
        *((api.getUserData, (body.item, number), body.token) for body in bodies.values()),
        *(shapes_check(client, BodyLink(k, link), report)
          for k in shapes for link, report in bodies[k].variable.items()),
    )  # fmt: skip

    def is_unchanged() -> bool:
        if not (is_known and results_unchanged(reports)):
            return False
        return all((facts_of(*base)[MASS] == 0.0) == is_fixed for base, is_fixed in fixed.items())

    return is_unchanged


def shapes_check(client: Client, body_link: BodyLink, report: Any) -> tuple[Callable[..., Any], tuple[int, ...], Any]:
    """A call that returns the report, without noise, as long as the shapes of the link are unchanged."""
    own = client.api.getCollisionShapeData
    function = own if len(report) == 1 else lambda *arguments: _without_noise(own(*arguments))
    return function, (*body_link, client.number), report


def _without_noise(reported: Any) -> tuple[Any, ...]:
    """A report without the numbers of body and link in all but its first row, where PyBullet writes noise."""
    return (*reported[:1], *(row[2:] for row in reported[1:]))


def read_bodies(client: Client, before: Reading) -> Reading:
    """All bodies; of those that were read before, only what can have changed is read again."""
    known = before.bodies
    if unchanged(client, known, known, known)():
        return before if not before.changed else Reading(known, frozenset(known), False)
    numbers = client.bodies()
    checked = ((number, _same_body(client, number, known.get(number))) for number in numbers)
    read = {number: body for number, body in checked if body is not None}
    if len(read) < len(numbers):
        numbers = _with_unlisted(client, numbers)
        new = new_bodies(client, [number for number in numbers if number not in read])
        read = {number: read.get(number) or new[number] for number in numbers}
    pairs = {number: (body, known.get(number)) for number, body in read.items() if body.token is not None}
    same = {n for n, (now, old) in pairs.items() if old and (now.token, now.fixed) == (old.token, old.fixed)}
    return Reading(read, frozenset(same), len(read) < len(known) or any(read[n] is not known.get(n) for n in read))


def _same_body(client: Client, number: int, before: Body | None) -> Body | None:
    """The body as it is now; None if it is not the one that was read before."""
    if before is None or before.token is None or client.token(number) != (before.item, before.token):
        return None
    shapes = {link: client.getCollisionShapeData(number, link) for link in before.readable}
    now = replace(
        before,
        fixed=None if before.fixed is None else bool(client.getDynamicsInfo(number, BASE)[MASS] == 0.0),
        rows=before.rows | {link: _rows(reported) for link, reported in shapes.items()},
        variable={link: _without_noise(shapes[link]) for link in before.variable},
    )
    return before if now == before else now


def _with_unlisted(client: Client, numbers: list[int]) -> list[int]:
    """The numbers of all bodies: of those that `batchPositions` makes, PyBullet's client lists only the last."""
    for missing in sorted(set(range(numbers[-1] + 2)) - set(numbers)):
        try:
            client.getDynamicsInfo(missing, BASE)
        except client.api.error:
            continue
        client.syncBodyInfo()
        return client.bodies()
    return numbers


def new_bodies(client: Client, numbers: list[int]) -> dict[int, Body]:
    """Bodies that were not read before. Shapes that PyBullet would crash on are not read."""
    bad = crashing(client, [link for number in numbers for link in links_to_check(client, number)])
    return {number: _new_body(client, number, {at.link for at in bad if at.body == number}) for number in numbers}


def _new_body(client: Client, number: int, unsafe: set[int]) -> Body:
    if client.token(number)[1] is None:  # a unique token is added
        client.addUserData(number, TOKEN, uuid4().hex)
    item, token = client.token(number)
    info = client.getDynamicsInfo(number, BASE)
    is_soft, rows, reports = info[BODY_TYPE] == SOFT_BODY, dict[int, tuple[Row, ...] | None](), {}
    for link in client.links(number):
        reported = None if is_soft or link in unsafe else _reported(client, BodyLink(number, link))
        reports[link], rows[link] = reported, None if reported is None else _rows(reported)
    readable = tuple(link for link, shapes in rows.items() if any(row[0] in SIZES for row in shapes or ()))
    shares = client.getBodyInfo(number)[0] == MADE_OF_SHAPES  # links of files share no shapes
    variable = {k: _without_noise(reports[k]) for k in readable if k == BASE or shares}
    names = {link: client.link_name(BodyLink(number, link)) for link in readable}
    return Body(token, item, None if is_soft else info[MASS] == 0.0, rows, readable, variable, names)


def _reported(client: Client, body_link: BodyLink) -> tuple[Any, ...] | None:
    """PyBullet's report on the shapes of one link, () if there are none, None if it does not report them."""
    try:
        reported: tuple[Any, ...] = client.getCollisionShapeData(*body_link)
    except client.api.error:  # bodies in maximal coordinates
        return None
    if reported:
        return reported
    low, high = np.array(client.getAABB(*body_link))  # of an empty link, it has the margin on both sides, twice
    is_height_field = (high - low > 4.0 * client.getDynamicsInfo(*body_link)[MARGIN]).any()
    return None if is_height_field else ()


def _rows(reported: tuple[Any, ...]) -> tuple[Row, ...]:
    return tuple((row[2], row[3], row[5], row[6]) for row in reported)
