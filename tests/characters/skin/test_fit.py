"""Limbs fitted to skins: known limbs are recovered in any frame and unit; coverage is met; sides are symmetric."""

import numpy as np
import pytest
from support import skins

import cylcollide as cc
from cylcollide import Shape, Side
from cylcollide.characters.skin import skin_report
from cylcollide.characters.skin.gauges import FAMILIES

P1, P2 = np.array([0.1, -0.2, 0.3]), np.array([0.25, 0.1, 0.6])
LENGTH = float(np.linalg.norm(P2 - P1))
ROUND = (Shape.CYLINDER, Shape.TAPERED, Shape.CAPSULE, Shape.ELLIPSOID)


def ends(rig):
    """The ends of the only limb's axis, the one nearer to P1 first, each with its radius."""
    limbs = rig.limbs
    taper = limbs.kind[0] == Shape.TAPERED
    rows = [(limbs.p1[0], limbs.radius[0]), (limbs.p2[0], limbs.radius2[0] if taper else limbs.radius[0])]
    return sorted(rows, key=lambda row: np.linalg.norm(row[0] - P1))


@pytest.mark.parametrize(
    ("shape", "mesh", "radii"),
    [
        (Shape.CYLINDER, skins.cylinder(P1, P2, 0.08), (0.08, 0.08)),
        (Shape.TAPERED, skins.cylinder(P1, P2, 0.09, 0.05), (0.09, 0.05)),
        (Shape.CAPSULE, skins.capsule(P1, P2, 0.12), (0.12, 0.12)),
        (Shape.ELLIPSOID, skins.ellipsoid(P1, P2, 0.1), (0.1, 0.1)),
    ],
    ids=lambda value: value.name if isinstance(value, Shape) else "",
)
def test_a_skin_of_one_limb_gives_this_limb(shape, mesh, radii):
    rig = cc.Rig.from_skin(**skins.arguments(mesh), shapes=ROUND, coverage=1.0)
    assert rig.limbs.kind.tolist() == [shape]
    assert rig.limb_names == ("bone",)
    for (point, radius), expected, known in zip(ends(rig), (P1, P2), radii, strict=True):
        assert np.linalg.norm(point - expected) < 0.02 * LENGTH
        assert radius == pytest.approx(known, rel=0.03)


def test_a_ball_gives_a_sphere():
    """Or an ellipsoid: of nearly equal volumes the first listed shape wins."""
    for shapes in ([Shape.ELLIPSOID, Shape.SPHERE], [Shape.SPHERE, Shape.ELLIPSOID]):
        rig = cc.Rig.from_skin(**skins.arguments(skins.capsule(P1, P1, 0.1)), shapes=shapes, coverage=1.0)
        assert rig.limbs.kind.tolist() == shapes[:1]
    np.testing.assert_allclose(rig.limbs.p1[0], P1, atol=1e-3)
    assert rig.limbs.radius[0] == pytest.approx(0.1, rel=0.01)


@pytest.mark.parametrize("half", [(0.3, 0.1, 0.17), (0.1, 0.3, 0.17), (0.17, 0.3, 0.1)])
def test_a_crate_gives_a_box(half):
    """In any orientation: principal axes may come out left-handed, which no quaternion represents."""
    axes, _ = skins.rotation(np.random.default_rng(4))
    shapes = FAMILIES if half[0] == 0.3 else [Shape.BOX]
    rig = cc.Rig.from_skin(**skins.arguments(skins.box(P1, axes, half)), shapes=shapes, coverage=1.0)
    assert rig.limbs.kind.tolist() == [Shape.BOX]
    found = rig.limbs.half_extents[0]
    order = np.argsort(found)
    np.testing.assert_allclose(found[order], np.sort(half), rtol=0.03)
    cosines = np.abs((rig.limbs.box_axes[0][order] * axes[np.argsort(half)]).sum(axis=1))
    assert cosines.min() > 0.998
    np.testing.assert_allclose(rig.limbs.p1[0], P1, atol=3e-3)


def lumpy(rng):
    """A bent, lumpy skin on three bones with smooth weights."""
    points, faces = skins.cylinder([0, 0, 0], [0, 0, 1.2], 0.11, 0.07, sides=24, rings=20)
    height = points[:, 2].copy()
    points = points + 0.02 * np.sin(9 * points[:, [1, 2, 0]] + rng.uniform(0, 6, 3))
    points[:, 0] += 0.15 * np.sin(2.2 * height)
    middles = np.array([0.2, 0.6, 1.0])
    weights = np.exp(-(((height[:, None] - middles) / 0.18) ** 2))
    names, parents = ("low", "mid", "high"), (-1, 0, 1)
    return skins.arguments((points, faces), weights, names, parents, [(0, 0, 0), (0, 0, 0.4), (0, 0, 0.4)])


def random_points(skin, count):
    """Points sampled uniformly by area on a skin, and the bone with the largest weight at each."""
    rng, corners = np.random.default_rng(5), skin.vertices[skin.faces]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    face, inside = rng.choice(len(areas), count, p=areas / areas.sum()), rng.dirichlet([1, 1, 1], count)
    points = (inside[:, :, None] * corners[face]).sum(axis=1)
    return points, (inside[:, :, None] * skin.weights[skin.faces[face]]).sum(axis=1).argmax(axis=1)


def coarse():
    """A six-sided prism on two bones; its triangles are as long as the prism, and weights change from end to end."""
    points, faces = skins.cylinder([0, 0, 0], [0, 0, 1], 0.2, 0.15, sides=6, rings=1)
    share = points[:, 2]
    places = [(0, 0, 0), (0, 0, 0.5)]
    return skins.arguments((points, faces), np.stack([1 - share, share], 1), ("low", "high"), (-1, 0), places)


@pytest.mark.parametrize("crossed", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.parametrize("shape", FAMILIES, ids=lambda shape: shape.name.lower())
def test_the_share_is_by_area(crossed, shape):
    is_coarse = (shape in (Shape.TAPERED, Shape.CAPSULE, Shape.ELLIPSOID)) != crossed
    given, coverage = (coarse(), 0.8) if is_coarse else (lumpy(np.random.default_rng(1)), 0.95)
    rig = cc.Rig.from_skin(**given, coverage=coverage, shapes=[shape])
    points, owner = random_points(rig.skin, 200_000)
    inside = rig.limbs[owner].classify_points(points - rig.skin._rest.positions[owner]) != Side.OUTSIDE
    assert coverage - 0.001 <= inside.mean() < coverage + 0.01  # sampling error is a tenth of that
    shares = np.bincount(owner, inside) / np.bincount(owner)
    assert (shares >= coverage - 0.005).all()


def test_limbs_end_at_the_joint():
    """Two bones in a row, blended over 10 cm: each limb ends near the middle of the blend."""
    mesh = skins.cylinder([0, 0, 0], [0, 0, 1], 0.06, rings=80)
    share = np.clip((mesh[0][:, 2] - 0.45) / 0.1, 0, 1)
    given = skins.arguments(
        mesh, np.stack([1 - share, share], 1), ("upper", "lower"), (-1, 0), [(0, 0, 0), (0, 0, 0.5)]
    )
    limbs = cc.Rig.from_skin(**given, shapes=[Shape.CYLINDER], coverage=1.0).limbs
    high = max(limbs.p1[0, 2], limbs.p2[0, 2])
    low = 0.5 + min(limbs.p1[1, 2], limbs.p2[1, 2])
    assert 0.48 < high < 0.52
    assert 0.48 < low < 0.52


def test_a_turned_body_gives_the_same_limbs_in_bone_frames():
    """On the plane of symmetry, where the fit keeps to it, and beside it."""
    rng = np.random.default_rng(8)
    given = two_arms(rng)
    before = cc.Rig.from_skin(**given, shapes=[Shape.TAPERED])
    matrix, turn = skins.rotation(rng)
    shift = np.array([3.0, -5.0, 2.0])
    given["vertices"] = given["vertices"] @ matrix.T + shift
    given["rest_positions"][0] = matrix @ given["rest_positions"][0] + shift
    given["rest_orientations"] = np.vstack([turn, given["rest_orientations"][1:]])  # the root had none
    after = cc.Rig.from_skin(**given, shapes=[Shape.TAPERED])
    assert after.limbs.kind.tolist() == before.limbs.kind.tolist()
    for name in ("p1", "p2", "radius", "radius2"):
        np.testing.assert_allclose(getattr(after.limbs, name), getattr(before.limbs, name), rtol=0, atol=1e-9)


def test_another_unit_scales_the_limbs():
    given = lumpy(np.random.default_rng(8))
    before = cc.Rig.from_skin(**given, shapes=[Shape.TAPERED]).limbs
    given["vertices"], given["rest_positions"] = 1024 * given["vertices"], 1024 * given["rest_positions"]
    after = cc.Rig.from_skin(**given, shapes=[Shape.TAPERED]).limbs
    np.testing.assert_allclose(after.p1, 1024 * before.p1, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(after.radius, 1024 * before.radius, rtol=1e-9)


def two_arms(rng, noise=0.0, names=("spine", "LeftArm", "RightArm")):
    """A trunk on the plane x = 0.5 and two arms beside it, mirror images up to noise."""

    def beside(sign):
        points, faces = skins.cylinder([0.5 + 0.2 * sign, 0, 1], [0.5 + 0.8 * sign, 0.1, 0.7], 0.07, 0.04)
        return points + noise * rng.normal(size=points.shape), faces

    trunk = skins.box([0.5, 0.02, 0.8], np.eye(3), [0.15, 0.1, 0.35])
    points, faces, whose = skins.joined(trunk, beside(1), beside(-1))
    turns = np.array([skins.IDENTITY, [0.1, 0.2, 0.3, 0.9], [-0.5, 0.2, 0.7, 0.1]])
    places = [(0.5, 0, 0.5), (0.2, 0, 0.5), (-0.2, 0, 0.5)]
    return skins.arguments((points, faces), np.eye(3)[whose], names, (-1, 0, 0), places, turns)


def placed_at_rest(rig):
    return rig.place(*rig.forward(rig.rest_positions[0], skins.IDENTITY, rig.rest_orientations))


@pytest.mark.parametrize(
    ("shape", "names"),
    [
        (Shape.TAPERED, ("spine", "LeftArm", "RightArm")),
        (Shape.BOX, ("spine", "arm.L", "arm.R")),
        (Shape.SPHERE, ("c", "l_arm", "r_arm")),
    ],
)
def test_symmetric_bodies_get_symmetric_limbs(shape, names):
    rig = cc.Rig.from_skin(**two_arms(np.random.default_rng(2), 0.002, names), shapes=[shape])
    limbs = placed_at_rest(rig)
    mirror = np.array([-1.0, 1.0, 1.0])
    for one, other in ((limbs.p1, limbs.p1), (limbs.p2, limbs.p2)):
        np.testing.assert_allclose(one[1], mirror * other[2] + [1, 0, 0], atol=1e-9)
    np.testing.assert_allclose(limbs.radius[1], limbs.radius[2], rtol=1e-12)
    assert limbs.p1[0, 0] + limbs.p2[0, 0] == pytest.approx(1.0, abs=1e-9)
    if shape == Shape.BOX:
        np.testing.assert_allclose(np.abs(limbs.box_axes[1]), np.abs(limbs.box_axes[2]), atol=1e-9)
        np.testing.assert_allclose(limbs.half_extents[1], limbs.half_extents[2], rtol=1e-12)
        across = np.abs(limbs.box_axes[0][:, 0])
        np.testing.assert_allclose(np.sort(across), [0, 0, 1], atol=1e-9)


def test_a_pair_is_fitted_to_both_sides():
    """One arm is lumpy: both sides are covered, by limbs of the same size."""
    given = two_arms(np.random.default_rng(2), 0.004)
    rig = cc.Rig.from_skin(**given, shapes=[Shape.CYLINDER], coverage=0.9)
    shares = [bone.own_coverage for bone in skin_report(rig).bones[1:]]
    assert 0.9 <= min(shares) < 0.91
    assert shares[0] != shares[1]


def test_different_sides_are_fitted_separately():
    given = two_arms(np.random.default_rng(2))
    thick = given["weights"][:, 2] == 1
    axis = np.array([-0.6, 0.1, -0.3]) / np.linalg.norm([-0.6, 0.1, -0.3])
    start = np.array([0.3, 0, 1])
    along = np.outer((given["vertices"][thick] - start) @ axis, axis)
    given["vertices"][thick] = start + along + 1.8 * (given["vertices"][thick] - start - along)
    radius = cc.Rig.from_skin(**given, shapes=[Shape.TAPERED]).limbs.radius
    assert radius[2] / radius[1] == pytest.approx(1.8, rel=0.1) or radius[2] > 1.3 * radius[1]


def test_skin_of_small_bones_goes_to_their_parents():
    arm = skins.cylinder([0, 0, 0], [0, 0, 1], 0.1)
    fingers = [skins.cylinder([x, 0, 1.0], [x, 0, 1.1], 0.01, sides=12, rings=6) for x in (-0.04, 0.0, 0.04)]
    points, faces, whose = skins.joined(arm, *fingers)
    given = skins.arguments(
        (points, faces), np.eye(4)[whose], ("arm", "a", "b", "c"), (-1, 0, 0, 0), [(0, 0, 0), *[(0, 0, 1)] * 3]
    )
    rig = cc.Rig.from_skin(**given, shapes=[Shape.CYLINDER], coverage=1.0, least_share=0.05)
    assert rig.limb_names == ("arm",)
    assert max(rig.limbs.p1[0, 2], rig.limbs.p2[0, 2]) == pytest.approx(1.1, abs=0.02)
    assert len(cc.Rig.from_skin(**given, shapes=[Shape.SPHERE], least_share=0.0).limbs) == 4


def test_bones_without_any_skin_get_no_limb():
    given = skins.arguments(skins.cylinder(P1, P2, 0.08), None, ("root", "bone"), (-1, 0), np.zeros((2, 3)))
    given["weights"] = np.tile([0.0, 1.0], (len(given["vertices"]), 1))
    assert cc.Rig.from_skin(**given, shapes=[Shape.SPHERE]).limb_names == ("bone",)


def test_hit_groups_come_from_bones():
    given = two_arms(np.random.default_rng(2))
    groups = {"groups": {"arm": 3, "torso": 2}, "bone_groups": {"LeftArm": "arm", "spine": "torso"}}
    rig = cc.Rig.from_skin(**given, **groups, shapes=[Shape.SPHERE])
    assert rig.limbs.hit_group.tolist() == [2, 3, 0]
    assert rig.groups == {"arm": 3, "torso": 2}


def test_least_surface_gives_less_surface():
    """For a thin plate the cylinder of least volume is flat and wide, that of least surface narrower."""
    given = lumpy(np.random.default_rng(1))

    def surfaces(least):
        limbs = cc.Rig.from_skin(**given, shapes=[Shape.CYLINDER], least=least).limbs
        return 2 * np.pi * limbs.radius * (limbs.radius + np.linalg.norm(limbs.p2 - limbs.p1, axis=1))

    by_volume, by_surface = surfaces("volume"), surfaces("surface")
    assert (by_surface < 1.005 * by_volume).all()
    assert by_surface.sum() < by_volume.sum()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"least": "area"}, r"least: expected 'volume' or 'surface', got 'area'"),
        ({"coverage": 0.0}, r"coverage: expected a share above 0 and at most 1, got 0.0"),
        ({"coverage": 1.5}, r"coverage: expected"),
        ({"coverage": float("nan")}, r"coverage: expected finite"),
        ({"least_share": -0.1}, r"least_share: expected"),
        ({"shapes": []}, r"shapes: expected some of Shape.CYLINDER.*got none"),
        ({"shapes": [Shape.TUBE]}, r"shapes: expected some of .*TUBE"),
        ({"shapes": "cylinder"}, r"shapes: expected some of .*'c'"),
        ({"shapes": np.array(None)}, r"shapes: expected some of .*None"),
        ({"bone_groups": {10**5000: "arm"}}, r"bone_groups: .*got a number too long to print"),
        ({"bone_groups": {"arm": "arm"}}, r"bone_groups: expected a bone out of spine.*got 'arm': 'arm'"),
        ({"bone_groups": {"spine": "arm"}}, r"group out of none: give groups, got 'spine': 'arm'"),
    ],
)
def test_wrong_arguments_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        cc.Rig.from_skin(**two_arms(np.random.default_rng(2)), **wrong)
