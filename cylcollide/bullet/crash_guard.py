"""Detection of shapes for which PyBullet's `getCollisionShapeData` crashes the process.

PyBullet 3.2.7 does so for a capsule that MJCF gives by its two ends (`fromto`), which Bullet stores as two swept balls.
A child process, which has a copy of a DIRECT client, makes the calls first.
"""

import faulthandler
import os
import sys
import warnings
from contextlib import suppress
from pathlib import Path

from cylcollide.bullet.client import BodyLink, Client

MARGINS = (0.0, 0.04)
"""Collision margins that no importer has set: of a compound, and of a single shape. Swept balls have one of these;
PyBullet's own shapes and those of URDF files have others, so that most links need no child process."""

MARGIN = 11  # field of getDynamicsInfo


def suspects(client: Client, body: int) -> list[BodyLink]:
    """The links of a body whose margin is that of swept balls, or that show a capsule: a margin can be changed."""
    visible, body_links = _shown_as_capsules(client, body), [BodyLink(body, link) for link in client.links(body)]
    return [at for at in body_links if at.link in visible or client.getDynamicsInfo(*at)[MARGIN] in MARGINS]


def _shown_as_capsules(client: Client, body: int) -> set[int]:
    """The links of a body with a visual shape that is a capsule."""
    return {row[1] for row in client.getVisualShapeData(body) if row[2] == client.api.GEOM_CAPSULE}


def crashing(client: Client, body_links: list[BodyLink]) -> set[BodyLink]:
    """The links for which `getCollisionShapeData` must not be called."""
    if not hasattr(os, "fork") or not client.is_direct:
        return {at for at in body_links if at.link in _shown_as_capsules(client, at.body)}  # no child process can help
    bad: set[BodyLink] = set()
    left = list(body_links)
    while left:
        survived = _calls_survived(client, left)
        bad.update(left[survived : survived + 1])
        left = left[survived + 1 :]
    return bad


def _calls_survived(client: Client, body_links: list[BodyLink]) -> int:
    """For how many of the links, in order, a child process made the call before it crashed."""
    read_end, write_end = os.pipe()
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None if closed
        stream.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork beside threads: the child runs none of theirs
        child = os.fork()
    if child == 0:
        try:
            _call_all(client, body_links, write_end)
        finally:
            os._exit(0)
    try:
        os.close(write_end)
        with os.fdopen(read_end, "rb") as marks:
            return len(marks.read())
    finally:
        os.waitpid(child, 0)


def _call_all(client: Client, body_links: list[BodyLink], write_end: int) -> None:
    """Make the call for one link after another, writing one byte to the pipe after each; prints nothing."""
    import resource  # noqa: PLC0415  # exists where fork does

    faulthandler.disable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    nowhere = os.open(Path(os.devnull), os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    for body_link in body_links:
        with suppress(client.api.error):
            client.getCollisionShapeData(*body_link)
        os.write(write_end, b".")
