"""What tests of mirrors share."""

from itertools import pairwise

import numpy as np
import pytest
import support.pybullet_scenes as scenes

from cylcollide.bullet.near import NearBodies
from cylcollide.bullet.near_links import LENGTHS, USUAL


@pytest.fixture
def c():
    """The number of an empty PyBullet client."""
    with scenes.client() as number:
        yield number


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
