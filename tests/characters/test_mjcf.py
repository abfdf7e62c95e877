"""Rigs from MJCF files: a model with every shape, MuJoCo's own kinematics, and files without a valid model."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from support.cases.text_files import MJCF

import cylcollide as cc
from cylcollide._pybullet import data_folder

mujoco = pytest.importorskip("mujoco")

STILL = [0.0, 0.0, 0.0, 1.0]


def rig_of(tmp_path: Path, text: str = MJCF, **options: str) -> cc.Rig:
    (tmp_path / "model.xml").write_text(text)
    return cc.Rig.from_mjcf(tmp_path / "model.xml", **options)


def test_bodies_are_bones_and_geoms_limbs(tmp_path):
    """The floor is part of the world; geoms without collisions are left out; defaults and fromto are resolved."""
    rig = rig_of(tmp_path)
    assert rig.bone_names == ("hip", "thigh", "body_3", "ball")
    assert rig.parents.tolist() == [-1, 0, 1, -1]
    assert rig.rest_positions.tolist() == [[0, 0, 1], [0, 0.1, 0], [0.3, 0, -0.4], [3, 0, 0]]
    assert rig.rest_orientations[1] == pytest.approx([0.5**0.5, 0, 0, 0.5**0.5])
    assert rig.limb_names == ("hip", "belt", "thigh", "pad", "body_3", "body_3_2", "body_3_3", "ball")
    assert rig.limb_bone.tolist() == [0, 0, 1, 1, 2, 2, 2, 3]
    kinds = ("SPHERE", "CYLINDER", "CAPSULE", "BOX", "ELLIPSOID", "ELLIPSOID", "ELLIPSOID", "SPHERE")
    assert rig.limbs.kind.tolist() == [cc.Shape[kind] for kind in kinds]
    assert rig.limbs.radius[[0, 1, 2, 4, 5, 6, 7]] == pytest.approx([0.2, 0.3, 0.05, 0.1, 0.1, 0.1, 0.1])
    ends = sorted([rig.limbs.p1[2].round(12).tolist(), rig.limbs.p2[2].round(12).tolist()])
    assert ends == [[0, 0, 0], [0.3, 0, -0.4]]
    assert np.linalg.norm(rig.limbs.p2[4:7] - rig.limbs.p1[4:7], axis=1) == pytest.approx([0.6] * 3)


def models(tmp_path: Path) -> list[Path]:
    """Return the model above, and those of PyBullet's that MuJoCo compiles and that have limbs."""
    (tmp_path / "model.xml").write_text(MJCF)
    names = ("ant", "humanoid", "humanoid_symmetric_no_ground", "inverted_pendulum", "pusher", "cylinder_fromtoX")
    return [tmp_path / "model.xml", *(data_folder() / "mjcf" / f"{name}.xml" for name in names)]


def test_bones_and_placed_limbs_match_the_bodies_and_geoms_of_mujoco(tmp_path):
    """Bodies at rest, and geoms in another pose."""
    rng = np.random.default_rng(1)
    for path in models(tmp_path):
        rig, model = cc.Rig.from_mjcf(path), mujoco.MjModel.from_xml_path(str(path))
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        positions, _ = rig.forward(rig.rest_positions[0], STILL, rig.rest_orientations)
        assert positions[0] == pytest.approx(data.xpos[1:], abs=1e-14)
        data.qpos[:] = rng.normal(size=model.nq)
        mujoco.mj_normalizeQuat(model, data.qpos)
        mujoco.mj_kinematics(model, data)
        limbs = rig.place(data.xpos[1:], data.xquat[1:, [1, 2, 3, 0]])
        collides = model.geom_contype | model.geom_conaffinity
        geoms = [i for i in range(model.ngeom) if model.geom_bodyid[i] and collides[i]]
        assert len(limbs) == len(geoms) > 0
        for limb, geom in enumerate(geoms):
            centre, turn, size = data.geom_xpos[geom], data.geom_xmat[geom].reshape(3, 3), model.geom_size[geom]
            assert 0.5 * (limbs.p1[limb] + limbs.p2[limb]) == pytest.approx(centre, abs=1e-14)
            half = 0.5 * (limbs.p2[limb] - limbs.p1[limb])
            kind = cc.Shape(limbs.kind[limb])
            if kind in (cc.Shape.CAPSULE, cc.Shape.CYLINDER):
                assert half == pytest.approx(size[1] * turn[:, 2], abs=1e-14)
            elif kind == cc.Shape.ELLIPSOID:
                assert np.abs(half) == pytest.approx(np.abs(size.max() * turn[:, size.argmax()]), abs=1e-14)
            elif kind == cc.Shape.BOX:
                assert limbs.box_axes[limb] == pytest.approx(turn.T, abs=1e-14)
                assert limbs.half_extents[limb].tolist() == size.tolist()


def swap(old: str, new: str) -> str:
    assert old in MJCF
    return MJCF.replace(old, new, 1)


MESH = swap("<worldbody>", '<asset><mesh name="wedge" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset><worldbody>').replace(
    '<geom type="sphere" size="0.1"/>', '<geom type="mesh" mesh="wedge"/>'
)
BAD = {
    "nothing": ("", r"expected MJCF that MuJoCo compiles"),
    "an unknown field": (swap('size="0.2"', 'size="0.2" taste="sour"'), r"MuJoCo compiles, got .*'taste'"),
    "the world alone": ("<mujoco><worldbody/></mujoco>", r"expected at least one body besides the world, got none"),
    "an egg": (
        swap("0.3 0.1 0.1", "0.3 0.2 0.1"),
        r"body 'body_3', geom \d+ \(''\): expected a sphere, .*ellipsoid of revolution, got ellipsoid of size \[0.3,",
    ),
    "a mesh": (MESH, r"body 'ball', geom \d+ \(''\): expected .*, got mesh .*mesh='skip'"),
}


@pytest.mark.parametrize("case", BAD)
def test_files_without_a_model(tmp_path, case):
    text, message = BAD[case]
    with pytest.raises(ValueError, match=rf"^{re.escape(str(tmp_path / 'model.xml'))}[,:] .*{message}"):
        rig_of(tmp_path, text)


def test_other_shapes_are_skipped_on_request(tmp_path):
    assert "ball" not in rig_of(tmp_path, MESH, mesh="skip").limb_names
    assert len(rig_of(tmp_path, BAD["an egg"][0], mesh="skip").limbs) == 7
    with pytest.raises(ValueError, match="mesh: expected 'raise' or 'skip', got None"):
        rig_of(tmp_path, mesh=None)


def test_without_mujoco_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ImportError, match=r"cylcollide\[rigs\]"):
        rig_of(tmp_path)


def test_generated_names_are_unique(tmp_path):
    """The second body has the name that the first one would get."""
    text = """<mujoco><worldbody><body><geom size="1"/><body name="body_1"><geom size="1"/></body>
    <body name="body_1_"><geom size="1"/></body><body><geom size="1"/></body></body></worldbody></mujoco>"""
    assert rig_of(tmp_path, text).bone_names == ("body_1__", "body_1", "body_1_", "body_4")


def test_geoms_that_collide_only_by_a_pair_are_limbs(tmp_path):
    geom = '<geom name="{}" size="1" contype="0" conaffinity="0"/>'
    bodies = "".join(f'<body name="b{name}">{geom.format(name)}</body>' for name in "xyz")
    text = f'<mujoco><worldbody>{bodies}</worldbody><contact><pair geom1="x" geom2="z"/></contact></mujoco>'
    assert rig_of(tmp_path, text).limb_names == ("x", "z")


def test_names_must_be_utf_8(tmp_path):
    model = '<mujoco><worldbody><body name="H\u00fcfte"><geom name="b" size="1"/></body></worldbody></mujoco>'
    (tmp_path / "model.xml").write_bytes(model.encode())
    assert cc.Rig.from_mjcf(tmp_path / "model.xml").bone_names == ("H\u00fcfte",)
    (tmp_path / "model.xml").write_bytes(model.encode("latin-1"))
    with pytest.raises(
        ValueError, match=r"model\.xml: expected names in UTF-8, got other bytes; save the file in UTF-8"
    ):
        cc.Rig.from_mjcf(tmp_path / "model.xml")
