"""What tests of mirrors share."""

from itertools import pairwise

import numpy as np
import pybullet as p
import pytest
import support.pybullet_scenes as scenes
from pybullet_utils.bullet_client import BulletClient
from support.two_clients import ball

from cylcollide._pybullet import OWN
from cylcollide.bullet import unpatch
from cylcollide.bullet.near import NearBodies
from cylcollide.bullet.near_links import LENGTHS, USUAL


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
        ball(client, x)
        client.performCollisionDetection()
    yield both
    while p.rayTest is not OWN.rayTest:
        unpatch()
    for client in both:
        if client._client >= 0:
            client.disconnect()


@pytest.fixture(autouse=True)
def usual_lengths():
    """Forget the quaternions that tests gave bodies: mirrors of a process that gave none read less."""
    before, LENGTHS[0] = LENGTHS[0], USUAL
    yield
    LENGTHS[0] = before


@pytest.fixture
def asked(monkeypatch):
    """The answers of all `NearBodies`; of each: bodies that it read, of how many, and links of these, of how many."""
    seen, own = [], NearBodies.answers

    def answers(self, *given):
        found = own(self, *given)
        memory = self._kept[-1][0]
        links = np.diff(self._shapes.first_link)[memory.near]
        first, read = self._shapes.first_link, memory.known | memory.wanted
        known = [read[first:end].sum() for first, end in pairwise(first)]
        seen.append((found, int(memory.near.sum()), len(memory.near), np.array(known)[memory.near].sum(), links.sum()))
        return found

    monkeypatch.setattr(NearBodies, "answers", answers)
    return seen
