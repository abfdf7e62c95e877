"""Helpers for a scene: arguments that are no scene."""

import pytest

from cylcollide.panda3d import mouse_segment


@pytest.mark.parametrize("base", [None, 3, object()])
@pytest.mark.parametrize("at", [None, (0.0, 0.0)])
def test_a_mouse_ray_needs_the_showbase(base, at):
    with pytest.raises(ValueError, match=f"base: expected the ShowBase of the program, got {type(base).__name__}"):
        mouse_segment(base, at)
