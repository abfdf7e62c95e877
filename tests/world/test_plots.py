"""Figures of worlds and of shots in them: what is drawn, what is green, and what is red."""

import numpy as np
import pytest
from matplotlib.colors import same_color
from matplotlib.text import Text
from support.missing_packages import hide_package

import cylcollide as cc
from cylcollide.limbs import meshes
from cylcollide.limbs.meshes import profile
from cylcollide.limbs.pictures import GAP, HIT, OTHERS, TARGET, pale

SHOOTER, VICTIM = 0, 1


@pytest.fixture(scope="module")
def street() -> cc.HitWorld:
    """A shooter at the origin, a victim 5 ahead along x, a third character far away, and a wall behind the victim."""
    world, rig = cc.HitWorld(), cc.Rig.humanoid()
    ids = world.spawn(rig, 3)
    roots = [[0, 0, 0.95], [5, 0, 0.95], [40, 30, 0.95]]
    world.set_poses(ids, *rig.forward(roots, [[0, 0, 0, 1]] * 3, np.tile(rig.rest_orientations, (3, 1, 1))))
    world.add_static(cc.Limbs.boxes([[7, 0, 1.5]], [0, 0, 0, 1], [[0.1, 3, 1.5]]))
    return world


def filled(axes) -> list[tuple[float, ...]]:
    """The colours of all filled outlines."""
    return [tuple(color) for one in axes.collections for color in one.get_facecolor()]


def count(axes, color: str) -> int:
    return sum(same_color(one, color) for one in filled(axes))


def test_no_focus_gives_a_map_with_ids(street, tmp_path):
    figure = street.plot(tmp_path / "map.png")
    (only,) = figure.axes
    assert (tmp_path / "map.png").stat().st_size > 1000
    assert [text.get_text() for text in only.texts] == ["0", "1", "2"]
    assert (only.get_xlabel(), only.get_title()) == ("x [m]", "from above")
    assert only.get_xlim()[1] > 40


def test_limbs_of_a_shape_are_outlined_at_once(street, monkeypatch):
    made = []
    monkeypatch.setattr(meshes, "profile", lambda *given: made.append(given[0]) or profile(*given))
    street.plot()
    assert set(made) == {cc.Shape(kind) for kind in street.limbs.kind} - {cc.Shape.BOX}
    assert len(made) < len(street.limbs) / 2


def test_a_focus_has_three_views_and_shows_others_near(street):
    figure = street.plot(focus=VICTIM, unit="cm")
    front, side, above = figure.axes
    assert [one.get_xlabel() for one in figure.axes] == ["y [cm]", "x [cm]", "x [cm]"]
    assert side.get_xlim() == pytest.approx((5 - 0.98, 5 + 0.98), abs=0.1)
    assert count(side, OTHERS) == 0
    assert len(filled(front)) > 17, "others stand in the same line of sight"
    assert above.get_xlim()[0] > 4


def test_a_hit_is_green_and_the_shooter_is_not_drawn(street):
    figure = street.plot(shot=([0.2, 0, 1.66], [9, 0, 1.66]), ignore_character=SHOOTER)
    along, above = figure.axes
    assert figure.get_suptitle() == "hit: head of character 1"
    assert [count(along, color) for color in (pale(HIT), TARGET, OTHERS)] == [1, 16, 0]
    (spot,) = [line.get_xydata()[0] for line in along.lines if line.get_marker() == "o" and len(line.get_xdata())]
    assert spot == pytest.approx([0, 0]), "the shot is at 0, 0"
    assert above.get_xlim()[0] < 0.2, "from where it came"
    assert GAP not in {line.get_color() for line in (*along.lines, *above.lines)}


@pytest.mark.parametrize(("height", "panels"), [(2.2, 2), (1.8, 3)])
def test_a_gap_is_red_and_a_narrow_one_is_enlarged(street, height, panels):
    figure = street.plot(shot=([0.2, 0, height], [6, 0, height]), ignore_character=SHOOTER)
    assert len(figure.axes) == panels
    assert [count(one, pale(GAP, 0.3)) for one in figure.axes] == [1] * panels
    for axes in figure.axes[:-1]:
        (red,) = [line.get_xydata() for line in axes.lines if line.get_color() == GAP and len(line.get_xdata()) == 2]
        assert np.linalg.norm(red[1] - red[0]) == pytest.approx(height - 1.7725, abs=1e-9)
    assert figure.get_suptitle().endswith("m beside head of character 1")


def test_focus_selects_what_a_shot_missed(street):
    figure = street.plot(shot=([0.2, 0, 2.2], [9, 0, 2.2]), ignore_character=SHOOTER, focus=2)
    assert figure.get_suptitle() == "hit: limb 51 of static 0", "the wall is hit, whatever is in focus"
    figure = street.plot(shot=([0.2, 0, 2.2], [6, 0, 2.2]), ignore_character=SHOOTER, focus=[2])
    assert figure.get_suptitle().endswith("of character 2")


def test_unknown_characters_are_refused_by_name(street):
    with pytest.raises(ValueError, match=r"focus: expected characters with limbs at that time \(0, 1, 2\), got 9"):
        street.plot(focus=9)
    with pytest.raises(ValueError, match="shot, start and end"):
        street.plot(shot=[0, 0, 0])


def test_a_judged_ray_shows_crossed_and_counted_limbs(street, tmp_path):
    policy = cc.Policy.penetration(loss={"default": 1.0})
    judged = street.judge_rays([[0.3, 0, 1.3], [0.3, 0, 2.5]], [[1, 0, 0]], policy, ignore_character=SHOOTER)
    figure = judged.plot(0, tmp_path / "shot.svg")
    assert "<svg" in (tmp_path / "shot.svg").read_text()
    assert figure.get_suptitle().startswith("hit: chest of character 1\nray 0, penetration")
    assert count(figure.axes[0], pale(HIT)) == 1, "walls stay grey"
    first = street.judge_segments([0.3, 0, 1.3], [9, 0, 1.3], cc.Policy.first_surface(), ignore_character=SHOOTER)
    assert count(first.plot(0).axes[0], pale(HIT)) == 1
    nothing = street.judge_segments([0.3, 0, 2.5], [6, 0, 2.5], policy, ignore_character=[SHOOTER], mask=1)
    assert nothing.plot(-1).get_suptitle().startswith("miss: ")
    with pytest.raises(IndexError, match="1 rays were judged"):
        nothing.plot(1)


def test_selected_rows_keep_their_filters(street):
    shots = [[0.3, 0, 2.0]] * 2, [[6, 0, 2.0]] * 2
    judged = street.judge_segments(*shots, cc.Policy.first_surface(), ignore_character=[VICTIM, SHOOTER])
    figures = judged.plot(0), judged.plot(1), judged[1:].plot(0)
    first, second, chosen = (one.get_suptitle().split("\n")[0] for one in figures)
    assert chosen == second != first


def test_a_past_judged_ray_is_drawn_with_past_limbs():
    world = cc.HitWorld(cc.Limbs.spheres([[5, 0, 0]], 0.5))
    history = cc.PoseHistory(world)
    history.record(0.0)
    world.set_endpoints([[5, 9, 0]], [[5, 9, 0]])
    history.record(1.0)
    judged = history.judge_segments([0, 0, 0.0], [9, 0, 0.0], cc.Policy.first_surface(), [0.0, 1.0, 7.0], on_old="miss")
    assert judged.plot(0).get_suptitle().startswith("hit: ")
    assert judged.plot(1).get_suptitle().startswith("miss: 8.5 m")
    with pytest.raises(ValueError, match="ray: expected one of a time that is kept, got ray 2, of time 7"):
        judged.plot(2)
    figure = history.plot(0.0, shot=[[0, 0, 0], [9, 0, 0]])
    assert figure.get_suptitle() == "hit: limb 0 at time 0"


@pytest.mark.parametrize("ends", [([1, 2, 3], [1, 2, 3]), ([5, 0, 9], [5, 0, 3]), ([0.2, 0, 1.6], [0.2, 0, 1.6])])
def test_any_shot_can_be_drawn(street, ends):
    """Without length, straight down, and in an empty world."""
    for world in (street, cc.HitWorld()):
        assert world.plot(shot=ends).axes[0].get_xlabel() == "to the right of the shot [m]"
    assert len(cc.HitWorld().plot().axes) == 3


def test_walls_between_are_shown_and_walls_behind_are_not():
    world = cc.HitWorld(cc.Limbs.spheres([[5, 0, 1]], 0.3))
    world.add_static(cc.Limbs.boxes([[3, 0.6, 1], [8, 0, 1]], [0, 0, 0, 1], [[0.1, 0.3, 1], [0.1, 3, 2]]))
    along, above = world.plot(shot=([0, 0, 1], [6, 0, 1])).axes
    assert (len(filled(along)), len(filled(above))) == (2, 2)


def named(figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_the_nearest_limb_is_drawn_in_front_of_others():
    world = cc.HitWorld(cc.Limbs.spheres([[2, 0.4, 1], [5, 0.2, 1]], [0.3, 0.1], character=[0, 1]))
    along, above = world.plot(shot=([0, 0, 1], [9, 0, 1])).axes
    for axes in (along, above):
        assert same_color(filled(axes)[-1], pale(GAP, 0.3))


def test_hidden_limbs_are_not_named():
    world = cc.HitWorld(cc.Limbs.spheres([[5, 0, 1], [60, 0, 1]], 0.3))
    shot = [0, 0, 1], [99, 0, 1]
    wall = world.add_static(cc.Limbs.boxes([[90, 0, 1]], [0, 0, 0, 1], [[0.1, 3, 1]]))
    assert named(world.plot(shot=shot)) == ["hit: limb 0", "where it hits"]
    world.move_static(wall, [-88, 3.2, 0], [0, 0, 0, 1])
    assert "static" in named(world.plot(shot=shot))[-1]
    world = cc.HitWorld(cc.Limbs.spheres([[5, 0, 1], [5.5, 0, 1]], 0.3))
    assert named(world.plot(shot=shot)) == ["hit: limb 0", "where it hits", "also crossed"]


def test_a_skin_is_drawn_behind_the_limbs():
    z = np.linspace(0.0, 1.0, 9)
    vertices = np.concatenate(
        [np.stack([np.cos(z), np.sin(z), z], axis=1), np.stack([-np.cos(z), np.sin(z), z], axis=1)]
    )
    faces = [[i, i + 1, i + 9] for i in range(8)]
    rig = cc.Rig.from_skin(vertices, faces, np.ones((18, 1)), ["root"], [-1], [[0, 0, 0]], [[0, 0, 0, 1]])
    with_skin, without = rig.plot(skin=True), rig.plot()
    assert [len(one.axes[0].collections[0].get_paths()) for one in (with_skin, without)] == [8, 1]
    assert "skin" in named(with_skin)


def test_rig_without_skin_is_refused():
    for skin in (True, "me", "", 0, np.zeros(2)):
        with pytest.raises(ValueError, match="skin: expected a Skin, got"):
            cc.Rig.humanoid().plot(skin=skin)


def test_without_matplotlib_the_extra_is_named(monkeypatch, street):
    shot, history = ([0.3, 0, 2.5], [6, 0, 2.5]), cc.PoseHistory(street)
    history.record(0.0)
    judged, why = street.judge_segments(*shot, cc.Policy.first_surface()), history.explain_miss(*shot, 0.0)
    cut = street.limbs.explain_segment(*shot, limb=0)
    hide_package(monkeypatch, "matplotlib")
    for draw in (
        *(street.plot, street.snapshot().plot, lambda: judged.plot(0), lambda: history.plot(0.0), why.plot, cut.plot),
        cc.Rig.humanoid().plot,
    ):
        with pytest.raises(ImportError, match=r"plot needs matplotlib: pip install '\.\[plot\]' in a clone"):
            draw()


def test_names_with_dollars_are_drawn_as_they_are(tmp_path):
    name = r"$\frac{1}$"  # as mathematics it is an error when it is drawn
    limbs = cc.Limbs.spheres([[0, 0, 0]], 1.0, name=name, hit_group=5)
    rig = cc.Rig([name], [-1], [[0, 0, 0]], [[0, 0, 0, 1]], limbs, 0, {name: 5})
    world = cc.HitWorld()
    world.set_poses(world.spawn(rig, 1), [[[0, 0, 0]]], [[[0, 0, 0, 1]]])
    start, end, policy = [-9.0, 0, 0], [9.0, 0, 0], cc.Policy.first_surface(damage={})
    history = cc.PoseHistory(world)
    history.record(0.0)
    figures = [
        rig.plot(),
        world.plot(unit=name),
        world.plot(tmp_path / "shot.png", shot=(start, end), unit=name),
        world.judge_segments(start, end, policy).plot(0),
        history.explain_miss([-9, 0, 3], [9, 0, 3], 0.0).plot(unit=name),
    ]
    for figure in figures:
        with_dollars = [text for text in figure.findobj(Text) if name in text.get_text()]
        assert with_dollars
        assert not any(text.get_parse_math() for text in with_dollars)


@pytest.mark.parametrize("name", ["a.txt", "a.b.doc", 3, None])
def test_files_that_are_no_pictures_are_refused_with_those_that_are(street, tmp_path, name):
    path = tmp_path / name if isinstance(name, str) else name
    one = street.limbs[:1]
    for plot in (street.plot, one.explain_segment([0, 0, 0], [1, 0, 0]).plot, cc.Rig.humanoid().plot):
        if name is None:
            plot(path)
            continue
        match = (
            r"path: expected a name that ends in .*\.png.*, got \.(txt|doc): .*a\." if path != 3 else "path: .* got 3"
        )
        with pytest.raises(ValueError, match=match):
            plot(path)
    assert not any(tmp_path.iterdir())
