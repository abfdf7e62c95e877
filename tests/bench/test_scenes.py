"""`cylcollide bench --scene`: limbs and rays of a user's files."""

import csv

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed, shots_at
from support.logged_life import LoggedLife

import cylcollide as cc
from cylcollide.bench.scenes import read_scene

URDF = """<robot name="r"><link name="arm"><collision><origin xyz="0 0 0.5"/><geometry>
<cylinder radius="0.004" length="0.02"/></geometry></collision></link></robot>"""


def scene_file(folder, **columns):
    """Write limbs of all shapes plus these columns, as the page about `bench` shows."""
    mixed(28).limbs().save(folder / "scene.npz")
    np.savez(folder / "scene.npz", **columns, **np.load(folder / "scene.npz"))
    return folder / "scene.npz"


def test_a_file_has_limbs_and_rays(tmp_path):
    starts, ends = shots_at(mixed(28), 300)
    scene = read_scene(scene_file(tmp_path, starts=starts, ends=ends))
    world = cc.HitWorld(scene.limbs())
    assert scene.limbs() == mixed(28).limbs()
    outside = world.contains_points(starts).limb < 0
    assert 0 < outside.sum() < len(starts)
    for got, want in zip(scene.segments(world, 1000), (starts, ends), strict=True):
        assert np.array_equal(got, want[outside])
    assert len(scene.segments(world, 10).starts) == outside[:10].sum()


def test_limbs_without_rays_get_rays_in_any_unit(tmp_path):
    for unit in (1e-3, 1e3):
        (tmp_path / "robot.urdf").write_text(URDF.replace("0.004", str(unit)).replace("0.02", str(5 * unit)))
        scene = read_scene(tmp_path / "robot.urdf")
        world = cc.HitWorld(scene.limbs())
        starts, ends = scene.segments(world, 500)
        assert len(starts) == 500
        assert 0.3 < world.cast_segments(starts, ends).hit.mean() < 0.99


def test_a_log_has_its_shots_at_its_middle_tick(tmp_path):
    path = tmp_path / "match.shots"
    life = LoggedLife(path, 3, mixed(7).limbs())
    for _ in range(3):
        life.step()
    life.log.close()
    scene = read_scene(path)
    with cc.ShotLog.open(path) as log:
        assert len(scene.rays.starts) == len(log) > 10
        assert np.array_equal(scene.rays.ends[5], log[5].end)
        assert scene.limbs() == list(log._states())[len(log.ticks) // 2].limbs


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"starts": np.zeros((2, 3))}, "expected the columns starts and ends"),
        ({"starts": np.zeros((2, 3)), "ends": np.zeros((3, 3))}, "column ends: expected 2 rows, got 3"),
        ({"starts": np.full((1, 3), np.nan), "ends": np.zeros((1, 3))}, "column starts: expected finite"),
    ],
)
def test_bad_columns_are_one_line(tmp_path, columns, said, refused):
    assert said in refused("bench", "--scene", scene_file(tmp_path, **columns), "--out", tmp_path / "out")


def test_other_files_are_one_line(tmp_path, refused):
    (tmp_path / "text.shots").write_text("no log")
    mixed(28).limbs()[:0].save(tmp_path / "none.npz")
    for name, said in (("text.shots", "text.shots"), ("none.npz", "a limb, got none"), ("missing.npz", "cannot read")):
        assert said in refused("bench", "--scene", tmp_path / name, "--out", tmp_path / "out")
        assert not (tmp_path / "out").exists()


@pytest.mark.machine_code
def test_the_command_measures_scenes(tmp_path, command):
    starts, ends = shots_at(mixed(28), 300)
    file = scene_file(tmp_path, starts=starts, ends=ends)
    options = ["--engines", "cylcollide", "--rays", 200, "--rounds", 2, "--out", tmp_path]
    status, said, error = command("bench", "--scene", file, *options)
    assert (status, error) == (0, "")
    assert "scene.npz" in said
    rows = list(csv.DictReader((tmp_path / "rays.csv").read_text().splitlines()))
    assert [row["engine"] for row in rows] == ["cylcollide", "cylcollide, lean"]
    assert {row["limbs"] for row in rows} == {"28"}
    assert int(rows[0]["hits"]) > 20
    assert not (tmp_path / "tasks.csv").exists()
