"""Engines by name: ours, those of other packages, and those that are missing."""

import sys
import tomllib
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

import cylcollide as cc
from cylcollide import engines
from cylcollide._types import Shape
from cylcollide.characters.quaternions import rotated
from cylcollide.engines import registry
from cylcollide.engines._adapter import poses, y_up


def test_ours_are_listed_and_unknown_names_are_refused():
    assert engines.names()[:2] == ("cylcollide", "bullet")
    with pytest.raises(ValueError, match=r"expected one of cylcollide, bullet, .* got 'havok'"):
        engines.create("havok")


def test_an_entry_point_adds_an_engine(monkeypatch):
    point = EntryPoint("theirs", "cylcollide.engines.own:OwnEngine", engines.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point] if group == engines.GROUP else [])
    assert "theirs" in engines.names()
    assert engines.available()["theirs"] is None
    with engines.create("theirs", threads=2) as engine:
        assert engine.threads == 2


PACKAGES = {
    "bullet": "pybullet", "mujoco": "mujoco", "rapier": "rapier3d", "jolt": "culverin", "embree": "embreex",
    "open3d": "open3d", "warp": "warp", "coal": "coal",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted({*registry._OURS} - {"cylcollide"}))
def test_a_missing_package_is_one_line_that_names_it_and_the_extra(monkeypatch, name):
    package, extra = PACKAGES[name], "crosscheck" if name == "bullet" else "peers"
    monkeypatch.setitem(sys.modules, package, None)
    for module in (f"cylcollide.engines.{name}", "cylcollide._pybullet"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(ImportError, match=rf"{package}.*pip install '\.\[{extra}\]' in a clone") as missing:
        engines.create(name)
    assert "\n" not in str(missing.value)
    needed = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert package in " ".join(needed["optional-dependencies"][extra])


def test_poses_turn_z_to_the_axis_of_the_limb():
    rng = np.random.default_rng(3)
    p1, p2 = rng.normal(size=(2, 50, 3))
    p2[:4] = np.add(p1[:4], [[0, 0, 1], [0, 0, -1], [1, 0, 0], [0, -1, 0]])
    solids = poses(cc.Limbs.cylinders(p1, p2, 0.1))
    axis = (p2 - p1) / np.linalg.norm(p2 - p1, axis=1)[:, None]
    np.testing.assert_allclose(rotated(solids.turn, np.eye(3)[2]), axis, atol=1e-15)
    np.testing.assert_allclose(rotated(y_up(solids.turn), np.eye(3)[1]), axis, atol=1e-15)
    np.testing.assert_allclose(solids.center + solids.half_length[:, None] * axis, p2, atol=1e-15)


def test_capabilities_list_weaknesses():
    best = engines.Capabilities(shapes=frozenset(Shape), inside="hit", accuracy=0.0)
    assert best.cannot() == []
    some = frozenset(Shape) - {Shape.TAPERED, Shape.BOX}
    worst = replace(best, shapes=some, inside="ignore", max_batch=1000, normal=False, moves=False)
    assert worst.lacks([Shape.SPHERE, Shape.BOX]) == [Shape.BOX]
    assert worst.cannot() == [
        "no tapered cylinder, box", "a start inside is not noticed",
        "1,000 rays a call", "no normal", "moving means building anew",
    ]  # fmt: skip
