"""Detection of shapes for which PyBullet's `getCollisionShapeData` crashes the process or returns noise.

A capsule that MJCF gives by its two ends (`fromto`) is stored as two swept balls. PyBullet 3.2.7 reads them as a
capsule, whose axis is then a huge index: the length comes from memory some gigabytes away, the radius from empty
fields. That crashes, unless the process has mapped such memory, as other libraries do. A child process, which has a
copy of a DIRECT client, makes the calls first.
"""

import faulthandler
import os
import signal
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from cylcollide.bullet.client import MARGIN, BodyLink, Client

MARGINS = (0.0, 0.04)
"""Collision margins that no importer has set: of a compound, and of a single shape. Swept balls have one of these;
PyBullet's own shapes and those of URDF files have others, so that most links need no child process."""

KIND, SIZES = 2, 3  # fields of getCollisionShapeData

EMPTY_FIELDS = (0.0, 1.0)
"""Values of the fields that are read as radius: sizes that swept balls leave at 0, or the scale along z."""

ROUNDING = 1e-6
"""Relative error allowed for bounding boxes: Bullet's are float64 sums of a few terms, its importer's are float32."""

ENDING = "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGALRM"
"""Signals that end the child process."""

LONGEST_CALLS = 20
"""Seconds after which the child process ends: a lock that another thread held at the fork is never released in it."""

SOUND, NOISE = b".", b"?"
"""What the child process writes after a call that returned the link's shapes, and after one that returned noise."""


def links_to_check(client: Client, body: int) -> list[BodyLink]:
    """The links of a body whose margin is that of swept balls, or that show a capsule: a margin can be changed."""
    visible, body_links = _shown_as_capsules(client, body), [BodyLink(body, link) for link in client.links(body)]
    return [at for at in body_links if at.link in visible or client.getDynamicsInfo(*at)[MARGIN] in MARGINS]


def _shown_as_capsules(client: Client, body: int) -> set[int]:
    """The links of a body with a visual shape that is a capsule."""
    return {row[1] for row in client.getVisualShapeData(body) if row[2] == client.api.GEOM_CAPSULE}


def crashing(client: Client, body_links: list[BodyLink]) -> set[BodyLink]:
    """The links for which `getCollisionShapeData` must not be called: it crashes, or its answer is noise."""
    bad: set[BodyLink] = set()
    left = list(body_links)
    while left:
        marks = _marks_of_calls(client, left)
        if marks is None:
            return bad | {at for at in left if at.link in _shown_as_capsules(client, at.body)}
        bad.update(at for at, mark in zip(left, marks + NOISE, strict=False) if mark == NOISE[0])
        left = left[len(marks) + 1 :]
    return bad


def _marks_of_calls(client: Client, body_links: list[BodyLink]) -> bytes | None:
    """A mark for each of the links, in order, for which a child process made the call before it crashed.

    None if there is no child process, or if it has no copy of the client.
    """
    if not hasattr(os, "fork") or not client.is_direct:
        return None
    read_end, write_end = os.pipe()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # about fork with threads: the child runs none of them
            child = os.fork()
    except OSError:  # too many processes, or too little memory
        os.close(read_end)
        os.close(write_end)
        return None
    if child == 0:
        try:
            _call_all(client, body_links, write_end)
        finally:
            os._exit(0)
    try:
        os.close(write_end)
        with os.fdopen(read_end, "rb") as marks:
            return marks.read()
    finally:
        with suppress(ChildProcessError):  # the program ignores SIGCHLD, or collects all child processes itself
            os.waitpid(child, 0)


def _call_all(client: Client, body_links: list[BodyLink], write_end: int) -> None:
    """Make the call for one link after another, writing its mark to the pipe after each; prints nothing."""
    import resource  # noqa: PLC0415  # exists where fork does

    faulthandler.disable()
    for name in ENDING:  # a handler that returns would repeat the instruction that crashes
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.alarm(LONGEST_CALLS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    nowhere = os.open(Path(os.devnull), os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    for body_link in body_links:
        try:
            reported = client.getCollisionShapeData(*body_link)
        except client.api.error:
            reported = ()
        os.write(write_end, NOISE if any(_is_noise(client, body_link, row) for row in reported) else SOUND)


def _is_noise(client: Client, body_link: BodyLink, row: tuple[Any, ...]) -> bool:
    """Whether a reported capsule has the radius of an empty field and does not fit in the bounding box of its link."""
    length, radius, _ = row[SIZES]
    if row[KIND] != client.api.GEOM_CAPSULE or radius not in EMPTY_FIELDS:
        return False
    low, high = np.array(client.getAABB(*body_link))
    extent = (high - low) * (1.0 + ROUNDING)
    return bool(
        radius == 0.0 < extent.min() or 2.0 * radius > extent.min() or length > np.linalg.norm(extent) - 2.0 * radius
    )
