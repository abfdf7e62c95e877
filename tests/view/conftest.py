"""Fixtures of the tests of views."""

import sys

import pytest


@pytest.fixture
def viewer_of(request: pytest.FixtureRequest):
    """Return a function that opens viewers by the public function; they are closed afterwards."""
    room = pytest.importorskip("cylcollide.view.viewer", reason="the extra view")

    def make(seen, **options):
        made = room.view(seen, open_browser=False, **options)
        request.addfinalizer(made.close)
        return made

    return make


def connected() -> set[int]:
    """The connected clients of PyBullet, if it was imported."""
    pybullet = sys.modules.get("pybullet")
    return set() if pybullet is None else {number for number in range(32) if pybullet.isConnected(number)}


@pytest.fixture(autouse=True)
def no_client_is_left():
    """Disconnect the client that a range keeps until its process ends; other tests expect clients from 0."""
    before = connected()
    yield
    for number in connected() - before:
        sys.modules["pybullet"].disconnect(number)
