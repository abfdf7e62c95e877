"""What tests of views share."""

import pytest


@pytest.fixture
def viewer_of(request: pytest.FixtureRequest):
    """Makes viewers by the public function; they are closed afterwards."""
    room = pytest.importorskip("cylcollide.view.viewer", reason="the extra view")

    def make(seen, **options):
        made = room.view(seen, open_browser=False, **options)
        request.addfinalizer(made.close)
        return made

    return make
