"""Fixtures of the tests of mirrors."""

from typing import NamedTuple

import numpy as np
import pybullet as p
import pytest
import support.pybullet_scenes as scenes
from pybullet_utils.bullet_client import BulletClient

from cylcollide.bullet import patching
from cylcollide.bullet.near import NearBodies
from cylcollide.bullet.near_bodies import LENGTHS, USUAL


@pytest.fixture
def c():
    """The number of an empty PyBullet client."""
    with scenes.client() as number:
        yield number


@pytest.fixture
def clients():
    """Two clients with a ball each; no patch is left after the test."""
    both = BulletClient(p.DIRECT), BulletClient(p.DIRECT)
    for x, client in enumerate(both):
        scenes.ball(client, x)
        client.performCollisionDetection()
    yield both
    patching._patches.clear()
    patching._restore()
    for client in both:
        if client._client >= 0:
            client.disconnect()


@pytest.fixture(autouse=True)
def usual_lengths():
    """Restore `LENGTHS` after tests with unusual quaternions, after which mirrors read more."""
    before, LENGTHS[0] = LENGTHS[0], USUAL
    yield
    LENGTHS[0] = before


class NearCall(NamedTuple):
    """Result of a call of `NearBodies.answers`, and counts of the bodies and links that it read."""

    answers: list | None
    bodies: int  # in the scene
    near: int  # bodies near rays
    links: int  # of near bodies
    read: int  # links of near bodies
    late: int  # links of all bodies, after others
    unread: int  # links of all bodies


@pytest.fixture
def near_calls(monkeypatch):
    """All calls of `NearBodies.answers`."""
    seen, own = [], NearBodies.answers

    def answers(self, *given):
        found = own(self, *given)
        memory = self._kept[-1][0]
        read, near, first = memory.known | memory.wanted, memory.near, self._shapes.first_link
        is_near = np.repeat(near, np.diff(first))
        of_near = int(is_near.sum()), int(read[first[0] : first[-1]][is_near].sum())
        seen.append(NearCall(found, len(near), int(near.sum()), *of_near, memory.wanted.sum(), (~read).sum()))
        return found

    monkeypatch.setattr(NearBodies, "answers", answers)
    return seen
