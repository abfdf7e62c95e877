"""Actors of Panda3D as characters: their limbs go where Panda3D's own skinning takes the skin."""

import io
import re
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from shutil import which

import numpy as np
import pytest
from panda3d import core
from support.package import run_python

import cylcollide as cc
from cylcollide.panda3d import Actors, mouse_segment, rig_of, wireframe
from cylcollide.panda3d.joints import array_of, joints_of

SCALE = 0.005
NEAR = 2e-5  # metres: matrices are float32, and the model is 1000 units long


@pytest.fixture(scope="module")
def page() -> Iterator[dict]:
    """The names that the page's example defines, and what it prints."""
    core.loadPrcFileData(
        "", "window-type offscreen\nload-display p3tinydisplay\naudio-library-name null\nnotify-level error"
    )
    text = (Path(__file__).parents[2] / "docs" / "panda3d.md").read_text()
    names, printed = {}, io.StringIO()
    with redirect_stdout(printed):
        exec(compile(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1], "panda3d.md", "exec"), names)
    yield names | {"printed": printed.getvalue()}
    names["base"].destroy()


@pytest.fixture(scope="module")
def base(page):
    page["base"].disableMouse()
    page["base"].cam.clearTransform()
    return page["base"]


def panda(base, scale: float = SCALE):
    from direct.actor.Actor import Actor

    actor = Actor("models/panda-model", {"walk": "models/panda-walk4"})
    actor.setScale(scale)
    actor.reparentTo(base.render)
    return actor


EGG = """<CoordinateSystem> { Z-Up }
<Group> a {
  <Dart> { 1 }
  <VertexPool> v {
    <Vertex> 1 { 0 0 0 } <Vertex> 2 { 1 0 0 } <Vertex> 3 { 0 1 0 } <Vertex> 4 { 0 0 1 }
  }
  <Polygon> { <VertexRef> { 1 3 2 <Ref> { v } } }
  <Polygon> { <VertexRef> { 1 2 4 <Ref> { v } } }
  <Polygon> { <VertexRef> { 1 4 3 <Ref> { v } } }
  <Polygon> { <VertexRef> { 2 3 4 <Ref> { v } } }
  <Joint> J0 {
    <Transform> { <Matrix4> { 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 } }
    <VertexRef> { 1 2 3 4 <Ref> { v } }
  }
}
"""


@pytest.fixture
def tetrahedron(base, tmp_path):
    """An actor of one joint."""
    from direct.actor.Actor import Actor

    (tmp_path / "tetrahedron.egg").write_text(EGG)
    actor = Actor(core.Filename.fromOsSpecific(str(tmp_path / "tetrahedron.egg")))
    actor.reparentTo(base.render)
    return actor


@pytest.fixture(scope="module")
def rig(page) -> cc.Rig:
    sizes = joints_of(page["panda"], "modelRoot", "lodRoot").sizes
    assert sizes.min() < 0.0, "some joints are mirrored"
    assert np.abs(sizes - 1.0).max() > 0.1, "some are scaled"
    return page["rig"]


def carried_by_panda(actor, rig: cc.Rig) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of all limbs, as Panda3D moves vertices that are bound to their joints alone."""
    joints = joints_of(actor, "modelRoot", "lodRoot")
    orientations = rig.rest_orientations[None]
    rest = rig.place(*rig.forward(rig.rest_positions[:1], orientations[:, 0], orientations))
    moved, matrix = [], core.LMatrix4f()
    for end in (rest.p1, rest.p2):
        rows = []
        for limb, bone in enumerate(rig.limb_bone):
            core.JointVertexTransform(joints.joints[bone]).getMatrix(matrix)
            in_scene = array_of(matrix) @ array_of(joints.character.getNetTransform().getMat())
            rows.append((np.append(end[limb] / SCALE, 1.0) @ in_scene)[:3])
        moved.append(np.array(rows))
    return moved[0], moved[1]


@pytest.mark.parametrize("frame", [0, 7, 23])
def test_limbs_go_where_the_skin_goes(base, rig, frame):
    world, both = cc.HitWorld(), [panda(base), panda(base)]
    actors = Actors(world)
    ids = [actors.add(actor, rig) for actor in both]
    for k, actor in enumerate(both):
        actor.setPosHpr(1.0 + 3 * k, 2.0, 0.5, 30.0 - 80 * k, 10.0, 5.0)
        actor.pose("walk", frame + 5 * k)
    actors.update()
    limbs = world.limbs
    for character, actor in zip(ids, both, strict=True):
        mine, (p1, p2) = limbs[limbs.character == character], carried_by_panda(actor, rig)
        assert len(mine) == len(rig.limbs) > 15
        assert np.abs(mine.p1 - p1).max() < NEAR
        assert np.abs(mine.p2 - p2).max() < NEAR


def test_actors_are_hit_where_they_are_until_removed(base, rig):
    world, actor = cc.HitWorld(), panda(base)
    actors = Actors(world)
    character = actors.add(actor, rig)
    assert not world.cast_segments([-9.0, 0, 1], [9.0, 0, 1]).hit[0], "it has no pose yet"
    for x in (0.0, 4.0):
        actor.setX(x)
        actors.update()
        hits = world.cast_segments([x, -9.0, 1.2], [x, 9.0, 1.2])
        assert hits.hit[0]
        assert actors.actor(hits.character[0]) is actor
        assert actors.joint(hits.character[0], hits.rig_limb[0]) in hits.limb_name[0]
    actors.remove(character)
    assert not world.cast_segments([4.0, -9, 1.2], [4.0, 9, 1.2]).hit[0]
    assert actors.actor(character) is None
    actors.update()
    with pytest.raises(KeyError):
        actors.remove(character)


def test_an_update_takes_at_most_three_times_the_animation(base, rig):
    """Medians of frames in turn; the animation includes the joints' matrices, which the update reads."""
    actors, crowd = Actors(cc.HitWorld()), [panda(base) for _ in range(12)]
    for actor in crowd:
        actors.add(actor, rig)
    animated, updated = [], []
    for frame in range(60):
        begun = time.perf_counter()
        for actor in crowd:
            actor.pose("walk", frame % 24)
            actor.update(force=True)
        between = time.perf_counter()
        actors.update()
        animated.append(between - begun)
        updated.append(time.perf_counter() - between)
    assert np.median(updated) < 3.0 * np.median(animated)


def test_the_mouse_ray_hits_what_is_under_it(base, rig):
    world, actor = cc.HitWorld(), panda(base)
    actors = Actors(world)
    actors.add(actor, rig)
    actors.update()
    base.camera.setPos(8, -7, 3)
    base.camera.lookAt(0, 0, 1)
    for limb in range(len(world.limbs)):
        middle = 0.5 * (world.limbs.p1 + world.limbs.p2)[limb]
        at = core.LPoint2()
        assert base.camLens.project(base.cam.getRelativePoint(base.render, core.LPoint3(*middle)), at)
        start, end = mouse_segment(base, tuple(at))
        along = (end - start) / np.linalg.norm(end - start)
        assert np.linalg.norm(np.cross(middle - start, along)) < 1e-3
        assert world.cast_segments(start, end).hit[0]
        assert np.linalg.norm(start - [8, -7, 3]) < np.linalg.norm(end - [8, -7, 3])
    assert mouse_segment(base) is None, "no mouse without a window"


def test_a_wireframe_has_the_lines_of_the_limbs(rig):
    lines = wireframe(rig.limbs)
    assert lines.node().getGeom(0).getPrimitive(0).getNumVertices() > 2 * 28
    low, high = lines.getTightBounds()
    assert np.isfinite([*low, *high]).all()


def test_another_scale_is_refused_with_its_name(base, rig):
    world, actor = cc.HitWorld(), panda(base)
    actors = Actors(world)
    actors.add(actor, rig)
    actor.setScale(2 * SCALE)
    with pytest.raises(ValueError, match=r"lengths 2 2 2.*bone 0 \('Dummy_hips'\).*\(character 0\)"):
        actors.update()
    for bad in ((SCALE, SCALE, 2 * SCALE), (SCALE, SCALE, -SCALE)):
        actor.setScale(*bad)
        with pytest.raises(ValueError, match=r"axes of lengths|mirrored"):
            actors.add(actor, rig)
    assert len(world.characters) == 1


@pytest.mark.parametrize("factor", [0.999, 2.0])
def test_a_rig_for_another_scale_is_refused_with_both_scales(base, rig, factor):
    world = cc.HitWorld()
    scales = f"expected a rig for scale {factor * SCALE:.6g}, .*got one for scale {SCALE:.6g}, .*rig_of"
    with pytest.raises(ValueError, match=scales):
        Actors(world).add(panda(base, factor * SCALE), rig)
    assert len(world.characters) == 0


def test_a_rig_for_the_scale_is_accepted_at_any_place_and_pose(base, rig, tetrahedron):
    actor = panda(base)
    actor.setPosHpr(1e3, 3.0, 2.0, 40.0, 20.0, 10.0)
    actor.pose("walk", 7)
    assert Actors(cc.HitWorld()).add(actor, rig) == 0
    tetrahedron.setScale(2.0)
    Actors(cc.HitWorld()).add(tetrahedron, rig_of(tetrahedron))


def test_actors_not_of_this_rig_are_refused(base, rig):
    world = cc.HitWorld()
    with pytest.raises(TypeError, match=r"expected a direct\.actor\.Actor\.Actor, got NodePath"):
        Actors(world).add(base.loader.loadModel("models/box"), rig)
    with pytest.raises(ValueError, match=r"not the bones of the rig.*rig_of"):
        Actors(world).add(panda(base), cc.Rig.humanoid())
    with pytest.raises(ValueError, match="no part 'arm'"):
        rig_of(panda(base), part="arm")
    assert len(world.characters) == 0


def test_a_failed_update_leaves_actors_with_other_bones_where_they_were(base, rig, tetrahedron):
    world, actor = cc.HitWorld(), panda(base)
    actors = Actors(world)
    actors.add(actor, rig)
    actors.add(tetrahedron, rig_of(tetrahedron))
    actors.update()
    before = world.limbs
    for k, (moved, spoiled) in enumerate([(actor, tetrahedron), (tetrahedron, actor)]):
        moved.setX(3.0 + k)
        scale = spoiled.getScale()
        for spoil in (lambda one: one.setScale(2.0 * one.getSx()), lambda one: one.setPos(1e30, 1e30, 1e30)):
            spoil(spoiled)
            with pytest.raises(ValueError, match=r"got columns of lengths 2 2 2|keep their axes|axis"):
                actors.update()
            assert world.limbs == before
            spoiled.setScale(scale)
            spoiled.setPos(0, 0, 0)
    actors.update()
    assert world.limbs != before


def test_actors_are_teleported_one_by_one(base, rig, tetrahedron):
    world, both = cc.HitWorld(), [panda(base), tetrahedron]
    actors, history = Actors(world), cc.PoseHistory(world)
    ids = [actors.add(actor, one) for actor, one in zip(both, (rig, rig_of(tetrahedron)), strict=True)]
    flags = [False, [True, False], np.array([False, True]), True, [[False, True]], [True] * 3, "no"]
    jumped = [(False, False), (True, False), (False, True), (True, True)]
    for k, flag in enumerate(flags):
        if k >= len(jumped):
            with pytest.raises(ValueError, match=r"teleport: expected True or False, one or \(2,\), got"):
                actors.update(teleport=flag)
            continue
        actors.update()
        history.record(2.0 * k)
        for actor in both:
            actor.setX(actor.getX() + 1.0)
        actors.update(teleport=flag)
        history.record(2.0 * k + 1.0)
        start, half = history.limbs_at(2.0 * k), history.limbs_at(2.0 * k + 0.5)
        stays = [bool((half.p1 == start.p1)[half.character == character].all()) for character in ids]
        assert tuple(stays) == jumped[k]


def test_arguments_of_other_types_are_refused(base, rig):
    with pytest.raises(ValueError, match="world: expected a HitWorld, got NoneType"):
        Actors(None)
    world = cc.HitWorld()
    actors, actor = Actors(world), panda(base)
    with pytest.raises(ValueError, match=r"rig: expected a Rig, got NoneType; .*rig_of"):
        actors.add(actor, None)
    with pytest.raises(ValueError, match="limbs: expected Limbs, got NoneType"):
        wireframe(None)
    character = actors.add(actor, rig)
    last = len(rig.limbs) - 1
    assert actors.joint(character, np.int32(last)) == rig.bone_names[rig.limb_bone[last]]
    for limb in (-1, last + 1, 99, 0.0, None):
        with pytest.raises(ValueError, match=rf"rig_limb: expected one of {last + 1} limbs from 0 on, got"):
            actors.joint(character, limb)


@pytest.mark.long
@pytest.mark.ci_long
def test_the_demo_plays_without_a_window(tmp_path):
    picture = tmp_path / "picture.png"
    figure = Path(__file__).parents[2] / "docs" / "figures" / "panda.py"  # it plays demos/panda.py
    run = run_python(figure, picture, timeout=120)
    assert run.returncode == 0, run.stderr
    assert re.search(r"0\.5 s ago: panda \d, Bone_skull: 40 damage, health 60", run.stdout), run.stdout
    assert picture.stat().st_size > 50_000


def test_the_page_s_example_names_the_joint_that_is_hit(page):
    assert "Bone_" in page["printed"]


@pytest.mark.long
@pytest.mark.ci_long
@pytest.mark.skipif(which("which") is None, reason="Ursina calls it at import")
def test_the_demo_in_ursina_shoots_without_a_window():
    pytest.importorskip("ursina")
    demos = str(Path(__file__).parents[2] / "demos")
    program = (
        "import sys\nfrom panda3d.core import loadPrcFileData\n"
        "loadPrcFileData('', 'load-display p3tinydisplay\\naudio-library-name null')\n"
        f"sys.path.insert(0, {demos!r})\nsys.argv = ['', 'offscreen']\nimport panda_in_ursina as demo\n"
        "demo.app.step()\ndemo.shoot((0.0, -0.15))\ndemo.shoot((0.9, 0.9))\n"
    )
    run = run_python("-c", program, timeout=120)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split()[-2:] == ["Bone_skull", "missed"], run.stdout
