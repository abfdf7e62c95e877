"""Figures of explanations: a cut that shows the chord, and the bounds as bars."""

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed
from support.explained import BY_HAND, shots_at_own
from support.oracle.lines import BOX, CAPSULE, ELLIPSOID, TAPERED

import cylcollide as cc
from cylcollide.limbs.explain_drawing import visible


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=pytest.mark.long if k % 12 else ()) for k, x in enumerate(BY_HAND)]
)
def test_every_case_can_be_drawn(name, tmp_path):
    why = BY_HAND[name][0].limbs().explain_segment(*BY_HAND[name][1:3])
    figure = why.plot(tmp_path / "cut.png")
    assert (tmp_path / "cut.png").read_bytes()[:4] == b"\x89PNG"
    cut, bars = figure.axes
    assert why.reason in figure.get_suptitle()
    names = [label.get_text() for label in bars.get_yticklabels()]
    assert names[: len({b.name for b in why.bounds})] == list(dict.fromkeys(b.name for b in why.bounds))
    assert cut.get_xlabel() == "along the axis"


@pytest.mark.parametrize("kind", [TAPERED, ELLIPSOID, CAPSULE, BOX])
def test_the_cut_shows_the_chord(kind):
    """The filled part of the picture ends where the segment enters and leaves."""
    world = mixed(140)
    limbs, (start, end) = world.limbs(), shots_at_own(world)
    rows = [i for i in np.flatnonzero(world.kind == kind) if limbs[i].cast_segments(start[i], end[i]).hit[0]]
    why = limbs[rows[0]].explain_segment(start[rows[0]], end[rows[0]])
    cut = why.plot().axes[0]
    filled = cut.collections[0].get_paths()[0]
    inside = next(line for line in cut.lines if line.get_linewidth() == 2.5).get_xydata()
    middle = inside.mean(axis=0)
    assert filled.contains_point(middle, radius=1e-2)
    for tip, face in zip(inside, why.passed[0][2:], strict=True):
        if face != cc.Face.INSIDE:
            assert not filled.contains_point(tip + 0.05 * (tip - middle) / np.linalg.norm(tip - middle), radius=0)


def test_segments_are_clipped_to_the_window():
    low, high = np.array([-1.0, -1.0, -1.0]), np.array([1.0, 1.0, 1.0])
    through, within, past = [[-4, 0.5, 0], [4, 0.5, 0]], [[0, 0, 0], [0.5, 0.5, 0.5]], [[-4, 3, 0], [4, 3, 0]]
    assert visible(np.array(through), low, high).tolist() == [[-1, 0.5, 0], [1, 0.5, 0]]
    for whole in (within, past):
        assert visible(np.array(whole), low, high).tolist() == whole
