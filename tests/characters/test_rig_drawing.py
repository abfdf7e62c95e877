"""Figures of rigs from two sides."""

import numpy as np
import pytest
from support.cases.rigs import every_shape, mixed_rig

import cylcollide as cc


@pytest.mark.parametrize(("rig", "axes"), [(cc.Rig.humanoid(), "yzxz"), (cc.Rig.humanoid(up="y"), "xyzy")])
def test_a_person_is_drawn_from_the_front_and_the_side(rig, axes, tmp_path):
    figure = rig.plot(tmp_path / "rig.png")
    assert (tmp_path / "rig.png").read_bytes()[:4] == b"\x89PNG"
    front, side = figure.axes
    labels = (front.get_xlabel(), front.get_ylabel(), side.get_xlabel(), side.get_ylabel())
    assert labels == tuple(f"{axis} [m]" for axis in axes)
    assert "17 bones from pelvis" in figure.get_suptitle().replace("\n", " ")
    for axes_ in (front, side):
        (outlines,) = axes_.collections
        drawn = [path.vertices for path in outlines.get_paths()]
        assert len(drawn) == 17
        heights = np.concatenate(drawn)[:, 1]
        assert heights.min() == pytest.approx(0.0, abs=1e-3)
        assert heights.max() == pytest.approx(1.75, abs=1e-3)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "head (1)",
        "torso (2)",
        "arm (3)",
        "leg (4)",
    ]


@pytest.mark.parametrize("changes", [{}, {"groups": {}, "limbs": every_shape()[[]], "limb_bone": []}])
def test_any_rig_can_be_drawn(changes, tmp_path):
    mixed_rig(**changes).plot(tmp_path / "rig.svg")
    assert "<svg" in (tmp_path / "rig.svg").read_text()
