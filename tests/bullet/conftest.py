"""What tests of mirrors share."""

import pytest
import support.pybullet_scenes as scenes


@pytest.fixture
def c():
    """The number of an empty PyBullet client."""
    with scenes.client() as number:
        yield number
