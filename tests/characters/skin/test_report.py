"""The report of how well limbs fit: distances, volumes and shares against known figures."""

import numpy as np
import pytest
from support import skins
from support.cases.one_of_each_shape import LIMBS
from support.oracle.shapes.table import SHAPE_ROWS

import cylcollide as cc
from cylcollide.characters.skin import Skin, skin_report
from cylcollide.characters.skin.report import volumes


def test_volumes():
    cone = cc.Limbs.cones([[0, 0, 0]], [[0, 0, 3]], 2.0)
    expected = [*(SHAPE_ROWS[shape].volume for shape in LIMBS), 4 * np.pi]
    assert volumes(cc.Limbs.concat([*LIMBS.values(), cone])) == pytest.approx(expected, rel=1e-14)


def arm(radius=0.1):
    """A straight arm of two bones with a cylindrical skin, from z = 0 to 1."""
    points, faces = skins.cylinder([0, 0, 0], [0, 0, 1], radius, sides=64, rings=40)
    low = (points[:, 2] < 0.5 - 1e-9).astype(float)
    return skins.arguments((points, faces), np.stack([low, 1 - low], 1), ("a", "b"), (-1, 0), [(0, 0, 0), (0, 0, 0.5)])


def rig_with(limbs, bones, given):
    names = ("bone_names", "parents", "rest_positions", "rest_orientations")
    return cc.Rig(*(given[name] for name in names), limbs, bones)


def test_a_known_arm():
    """Limbs 2 cm thicker than the skin on one bone and 2 cm thinner on the other, caps in the skin's planes."""
    given = arm()
    limbs = cc.Limbs.cylinders([[0, 0, 0], [0, 0, 0]], [[0, 0, 0.5], [0, 0, 0.5]], [0.12, 0.08])
    report = skin_report(rig_with(limbs, [0, 1], given), Skin(**given))
    thick, thin = report.bones
    assert (thick.name, thin.name, report.whole.name) == ("a", "b", "all")
    wall, cap = 2 * np.pi * 0.1 * 0.5, np.pi * 0.1**2
    assert thick.area == pytest.approx(wall + cap, rel=0.03)
    assert thick.coverage == pytest.approx(1.0, abs=0.02)
    assert thick.gap == pytest.approx(0.02 * wall / (wall + cap), rel=0.05)  # the cap lies in the limb's cap
    assert thick.gap_95 == pytest.approx(0.02, rel=0.01)
    assert (thick.protrusion, thick.protrusion_95) == (0, 0)
    assert thin.coverage > thin.own_coverage == pytest.approx(0.64 * cap / (wall + cap), rel=0.06)
    assert thin.protrusion == pytest.approx(0.02, rel=0.05)
    assert thin.protrusion_95 == pytest.approx(0.02, rel=0.02)
    assert thick.volume_ratio == pytest.approx(1.44, rel=0.04)
    assert thin.volume_ratio == pytest.approx(0.64, rel=0.04)
    assert report.whole.skin_volume == pytest.approx(np.pi * 0.01, rel=0.01)
    assert report.whole.limb_volume == pytest.approx(np.pi * 0.5 * (0.12**2 + 0.08**2))
    assert report.without_limbs == ()
    assert str(report).splitlines()[-1] == "without limbs: none"


def test_inverted_skin_or_a_hole_keeps_the_enclosed_volume():
    """Far from the origin, where the flux through a hole would be large."""
    given = arm() | {"rest_positions": [[100, 0, 0], [0, 0, 0.5]]}
    given["vertices"] = given["vertices"] + [100, 0, 0]
    rig = rig_with(cc.Limbs.cylinders([[0, 0, 0], [0, 0, 0]], [[0, 0, 0.5], [0, 0, 0.5]], 0.1), [0, 1], given)
    faces, closed = np.asarray(given["faces"]), skin_report(rig, Skin(**given))
    turned = skin_report(rig, Skin(**given | {"faces": faces[:, ::-1]}))
    for one, other in zip((*closed.bones, closed.whole), (*turned.bones, turned.whole), strict=True):
        assert one.volume_ratio == pytest.approx(other.volume_ratio, rel=1e-9)
    beside = given["vertices"][faces].mean(axis=1)[:, :2] @ [1, 0] < 100.09  # a slit along the arm
    assert 0.8 < beside.mean() < 0.99
    opened = skin_report(rig, Skin(**given | {"faces": faces[beside]}))
    assert opened.whole.skin_volume == pytest.approx(closed.whole.skin_volume, rel=0.2)


def test_skin_of_a_bone_without_limb_counts_for_its_parent():
    given = arm()
    limbs = cc.Limbs.cylinders([[0, 0, 0]], [[0, 0, 1]], 0.1001)
    report = skin_report(rig_with(limbs, [0], given), Skin(**given))
    assert report.without_limbs == ("b",)
    assert len(report.bones) == 1
    assert report.bones[0].coverage == pytest.approx(1.0)
    assert report.bones[0].volume_ratio == pytest.approx(1.0, rel=0.01)


def test_skin_in_another_bone_s_limb_is_not_own_coverage():
    given = arm()
    limbs = cc.Limbs.cylinders([[0, 0, -0.01], [0, 0, 0]], [[0, 0, 1.01], [0, 0, 0.1]], [0.11, 0.01])
    _, other = skin_report(rig_with(limbs, [0, 1], given), Skin(**given)).bones
    assert other.coverage == 1.0
    assert other.own_coverage == 0.0
    assert (other.gap, other.gap_95) == (0, 0)


def test_the_report_names_mirrored_bones():
    parts = [skins.cylinder([0.2 * sign, 0, 1], [0.8 * sign, 0.1, 0.7], 0.07, 0.04) for sign in (1, -1)]
    points, faces, whose = skins.joined(skins.box([0, 0.02, 0.8], np.eye(3), [0.15, 0.1, 0.35]), *parts)
    for names, expected in (
        (("spine", "LeftArm", "RightArm"), (("spine", "spine"), ("LeftArm", "RightArm"))),
        (("spine", "one", "other"), ()),
    ):
        places = [(0, 0, 0.5), (0.2, 0, 0.5), (-0.2, 0, 0.5)]
        given = skins.arguments((points, faces), np.eye(3)[whose], names, (-1, 0, 0), places)
        report = skin_report(rig_with(cc.Limbs.spheres(np.zeros((3, 3)), 0.1), [0, 1, 2], given), Skin(**given))
        assert report.mirrored == expected
        alike = "symmetric: spine, LeftArm and RightArm" if expected else "symmetric: none"
        assert alike in str(report).splitlines()


def test_what_is_no_rig_is_refused():
    with pytest.raises(ValueError, match=r"rig: expected a Rig, got 'rig.json'; make it with"):
        skin_report("rig.json")


def test_other_bones_are_refused():
    given = arm()
    other = cc.Rig(["x"], [-1], [[0, 0, 0]], [[0, 0, 0, 1]], cc.Limbs.spheres([[0, 0, 0]], 1.0), 0)
    with pytest.raises(ValueError, match="rig: expected the 2 bones of the skin in their order, got 1"):
        skin_report(other, Skin(**given))
