"""Figures of the past: what is drawn, and where."""

import numpy as np
import pytest
from support.cases.rigs import mixed_rig, random_poses
from support.one_limb import AT_REST, one_limb_history

import cylcollide as cc
from cylcollide.limbs.pictures import GAP, HIT


def walking_character() -> cc.PoseHistory:
    """Return the history of a character that walks along y, 1 per tick, and of a bare ball."""
    world, rig = cc.HitWorld(cc.Limbs.spheres([0, 5, 1], 0.2)), cc.Rig.humanoid()
    ids, history = world.spawn(rig), cc.PoseHistory(world)
    for k in range(4):
        world.set_poses(ids, *rig.forward([0, k, 0.95], [0, 0, 0, 1], rig.rest_orientations))
        history.record(k)
    return history


def shapes_of(axes) -> list[np.ndarray]:
    return [path.vertices for outlines in axes.collections for path in outlines.get_paths()]


def test_a_plot_at_a_time_not_kept_is_refused_without_naming_on_old():
    with pytest.raises(ValueError, match=r"time: expected 0.* which is kept, got 99\.0 in row 0; keep more ticks$"):
        walking_character().plot(99.0)


def test_limbs_then_and_now(tmp_path):
    """From three sides: present limbs dashed; those of a time 2.5 steps earlier filled."""
    history = walking_character()
    figure = history.plot(0.5, tmp_path / "then.png", focus=history.world.characters, unit="ft")
    assert (tmp_path / "then.png").read_bytes()[:4] == b"\x89PNG"
    assert figure.get_suptitle() == "filled: limbs at time 0.5; dashed: now"
    labels = [(axes.get_xlabel(), axes.get_ylabel()) for axes in figure.axes]
    assert labels == [("y [ft]", "z [ft]"), ("x [ft]", "z [ft]"), ("x [ft]", "y [ft]")]
    _, filled, dashed = figure.axes[0].collections
    assert [dashes is not None for outlines in (dashed, filled) for _, dashes in outlines.get_linestyle()] == [
        True,
        False,
    ]
    assert (dashed.get_facecolor()[:, 3] == 0.0).all()
    assert len(np.unique(filled.get_facecolor(), axis=0)) == 4, "a colour for each group; the ball is not in sight"
    now, then = ([path.vertices[:, 0] for path in outlines.get_paths()] for outlines in (dashed, filled))
    assert len(now) == len(then) == 17
    # The person has walked from 0.5 to 3.
    shift = [0.5 * (a.min() + a.max() - b.min() - b.max()) for a, b in zip(now, then, strict=True)]
    assert shift == pytest.approx([2.5] * 17, abs=1e-9)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "head (1)", "torso (2)", "arm (3)", "leg (4)", "now"
    ]  # fmt: skip


def test_a_miss_is_seen_along_the_segment(tmp_path):
    """The gap has its true length, points to the side of the limb, and z is upright."""
    history = walking_character()
    why = history.explain_miss([-5, 1.5, 1.65], [5, 1.5, 1.65], 1.0)
    figure = why.plot(tmp_path / "miss.png")
    assert (tmp_path / "miss.png").read_bytes()[:4] == b"\x89PNG"
    view, above, times = figure.axes
    gap = next(line for line in view.lines if line.get_color() == GAP).get_xydata()
    assert np.linalg.norm(gap[1] - gap[0]) == pytest.approx(why.gap)
    assert gap[1, 0] > 0.2, "who looks along x sees smaller y to the right"
    assert [text.get_text() for text in view.texts] == [], "no number over a head"
    assert f"gap: {why.gap:.4g} m" in [text.get_text() for text in figure.legends[0].get_texts()]
    assert (above.get_xlabel(), times.get_xlabel()[:8]) == ("x [m]", "time [s]")
    corners = np.concatenate(shapes_of(view))
    assert np.ptp(corners[:, 1]) == pytest.approx(1.75, abs=0.01)
    assert corners[:, 1].max() < 0.2, "upwards is upwards"
    assert len(shapes_of(view)) == 17
    (bar,) = times.patches
    assert [bar.get_x(), bar.get_x() + bar.get_width()] == pytest.approx(why.intervals[0])
    assert [line.get_xdata()[0] for line in times.lines] == [1.0]
    title = figure.get_suptitle().replace("\n", " ")
    assert title.startswith(str(why).splitlines()[0])
    assert "the same segment would have hit a limb: 1.41" in title


def test_hit_or_no_limb_can_be_drawn():
    _, _, history = one_limb_history(AT_REST)
    hit = history.explain_miss([0.5, -1, 0], [0.5, 1, 0], 0).plot().axes[0]
    assert [line.get_color() for line in hit.lines if line.get_marker() == "o" and len(line.get_xdata())] == [HIT]
    nobody = history.explain_miss([0.5, -1, 0], [0.5, 1, 0], 0, mask=0).plot()
    assert GAP not in [line.get_color() for line in nobody.axes[0].lines], "nothing is marked"


@pytest.mark.parametrize(("start", "end", "group"), [([3, 3, 3], [3, 3, 3], None), ([9, 0, 1], [3] * 3, -7)])
def test_any_miss_can_be_drawn(start, end, group):
    """Of every shape, from any side, also by a point."""
    rig, world = mixed_rig(), cc.HitWorld()
    ids, history = world.spawn(rig, 2), cc.PoseHistory(world)
    world.set_poses(ids, *random_poses(rig, 2))
    history.record(0)
    assert len(shapes_of(history.explain_miss(start, end, 0, hit_group=group).plot().axes[0])) >= 1
