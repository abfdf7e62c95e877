"""Clips: poses at times, between frames, beyond the ends, in loops, and for the bones of a rig."""

import gc
import weakref
from pathlib import Path

import numpy as np
import pytest
from support.cases.frames import matrices
from support.cases.rigs import own_rig

import cylcollide as cc

IDENTITY = [0.0, 0.0, 0.0, 1.0]
DATA = Path(__file__).parents[2] / "demos" / "data"
UNIT = 0.0254 / 0.45


def unit(rng, *shape):
    q = rng.normal(size=(*shape, 4))
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def rig_of(names, parents, positions, orientations=None):
    turns = [IDENTITY] * len(names) if orientations is None else orientations
    return cc.Rig(names, parents, positions, turns, cc.Limbs.spheres([[0, 0, 0]], 1.0), 0)


@pytest.fixture(scope="module")
def clip():
    rng = np.random.default_rng(3)
    turns = unit(rng, 5, 3)
    return cc.Clip(
        ["hips", "spine", "head"],
        [-1, 0, 1],
        rng.normal(size=(3, 3)),
        [0, 0.5, 1, 1.5, 2],
        rng.normal(size=(5, 3)),
        turns,
    )


def test_at_a_frame_is_the_frame(clip):
    positions, roots, joints = clip.at(clip.times)
    np.testing.assert_array_equal(positions, clip.root_positions)
    np.testing.assert_allclose(roots, clip.orientations[:, 0], atol=2e-16)
    np.testing.assert_allclose(joints[:, 1:], clip.orientations[:, 1:], atol=2e-16)
    np.testing.assert_array_equal(joints[:, 0], np.tile(IDENTITY, (5, 1)))


def test_between_frames_is_normalised_linear_the_short_way(clip):
    positions, roots, joints = clip.at([0.6, 1.8])
    dots = (clip.orientations[1:] * clip.orientations[:-1]).sum(axis=-1)[[1, 3]]
    assert dots.min() < 0 < dots.max(), "some neighbours are more than half a turn apart"
    for row, (k, share) in enumerate([(1, 0.2), (3, 0.6)]):
        expected = (1 - share) * clip.root_positions[k] + share * clip.root_positions[k + 1]
        np.testing.assert_allclose(positions[row], expected, rtol=1e-14)
        for bone, got in enumerate([roots[row], joints[row, 1], joints[row, 2]]):
            a, b = clip.orientations[k, bone], clip.orientations[k + 1, bone]
            b = b if a @ b > 0 else -b
            q = (1 - share) * a + share * b
            np.testing.assert_allclose(got, q / np.linalg.norm(q), atol=1e-14)


def test_times_beyond_are_clamped_or_looped(clip):
    for one, other in zip(clip.at([-3.0, 9.0]), clip.at([0.0, 2.0]), strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(clip.at([-0.25, 2.25, 10.25], loop=True), clip.at([1.75, 0.25, 0.25]), strict=True):
        np.testing.assert_array_equal(one, other)
    for part in clip.at([-1e-300, 2**0.5 * 1e17, 1e150, -1e150], loop=True):
        assert np.isfinite(part).all()
    far = clip.at([2.0**60 + 1024.0], loop=True)  # a multiple of 2
    np.testing.assert_array_equal(far[0], clip.at(0.0)[0])


def test_one_time_and_many_times_have_the_same_bits(clip):
    times = np.random.default_rng(1).uniform(-1, 4, 200)
    together = clip.at(times, loop=True)
    assert [part.shape for part in together] == [(200, 3), (200, 4), (200, 3, 4)]
    for k in (0, 17, 199):
        for one, all_of_them in zip(clip.at(times[k], loop=True), together, strict=True):
            np.testing.assert_array_equal(one[0], all_of_them[k])
    assert clip.at([])[2].shape == (0, 3, 4)


def test_a_single_frame_always_applies():
    still = cc.Clip(["a"], [-1], [[0, 0, 0]], [0.0], [[1, 2, 3]], [[[0, 0, 3, 4]]])
    assert (still.duration, still.frame_rate) == (0.0, 0.0)
    for loop in (False, True):
        positions, roots, _ = still.at([-1, 0, 5], loop=loop)
        assert positions.tolist() == [[1, 2, 3]] * 3
        np.testing.assert_allclose(roots, [[0, 0, 0.6, 0.8]] * 3, rtol=1e-15)


def test_bones_map_by_name_and_others_rest(clip):
    rest = unit(np.random.default_rng(5), 4)
    rig = rig_of(["hips", "tail", "head", "spine"], [-1, 0, 0, 0], np.zeros((4, 3)), rest)
    positions, roots, joints = clip.at([0.7], rig)
    plain = clip.at([0.7])
    np.testing.assert_array_equal(positions, plain[0])
    np.testing.assert_array_equal(roots, plain[1])
    np.testing.assert_array_equal(joints[0, 0], IDENTITY)
    np.testing.assert_allclose(joints[0, 1], rest[1], atol=2e-16)
    np.testing.assert_array_equal(joints[0, [2, 3]], plain[2][0, [2, 1]])


def test_without_a_bone_of_its_name_the_root_follows_relative_to_rest(clip):
    rng = np.random.default_rng(6)
    rig = rig_of(["armature", "belt", "other", "spine"], [-1, 0, 1, 2], rng.normal(size=(4, 3)), unit(rng, 4))
    positions, turns = rig.forward(*clip.at([0.3, 1.1], rig))
    expected = clip.at([0.3, 1.1])
    np.testing.assert_allclose(positions[:, 0], expected[0], atol=1e-14)
    own = matrices(expected[1]) @ matrices(rig.rest_orientations[0])
    np.testing.assert_allclose(matrices(turns[:, 0]), own, atol=1e-14)


@pytest.mark.parametrize(("names", "parents"), [
    (["hips", "spine", "prop"], [-1, 0, -1]), (["hips", "prop", "spine"], [-1, -1, 0]),
    (["prop", "hips", "spine"], [-1, -1, 1]), (["prop", "root", "hips", "spine"], [-1, -1, 1, 2]),
])  # fmt: skip
def test_root_order_changes_no_pose(clip, names, parents):
    """The hips stand where the clip has them, and other trees stand beside them as at rest."""
    rng = np.random.default_rng(8)
    places, turns = (dict(zip(["hips", "spine", "prop", "root"], rows, strict=True))
                     for rows in (rng.normal(size=(4, 3)), unit(rng, 4)))  # fmt: skip
    rig = rig_of(names, parents, [places[name] for name in names], [turns[name] for name in names])
    positions, orientations = rig.forward(*clip.at([0.3, 1.1], rig))
    expected, hips, prop = clip.at([0.3, 1.1]), names.index("hips"), names.index("prop")
    np.testing.assert_allclose(positions[:, hips], expected[0], atol=1e-14)
    rest = rig._rest
    for k in range(2):
        own = matrices(expected[1][k])
        np.testing.assert_allclose(matrices(orientations[k, hips]), own, atol=1e-14)
        turned = own @ matrices(rest.orientations[hips]).T
        beside = turned @ (rest.positions[prop] - rest.positions[hips])
        np.testing.assert_allclose(positions[k, prop] - positions[k, hips], beside, atol=1e-14)
        np.testing.assert_allclose(
            matrices(orientations[k, prop]), turned @ matrices(rest.orientations[prop]), atol=1e-14
        )


def test_the_real_clip_moves_a_rig_of_its_skeleton():
    clip = cc.Clip.load_bvh(DATA / "jump.bvh", scale=UNIT)
    assert repr(clip) == "Clip(688 frames in 22.9 s, 31 bones)"
    assert clip.frame_rate == pytest.approx(30, abs=0.01)
    rig = own_rig(clip)
    positions, _ = rig.forward(*clip.at(np.linspace(0, clip.duration, 100), rig))
    at = {name: positions[:, row, 1] for row, name in enumerate(clip.bone_names)}
    lowest, highest = np.minimum(at["LeftToeBase"], at["RightToeBase"]), at["Head"]
    assert np.percentile(lowest, 10) == pytest.approx(0.04, abs=0.06)
    assert np.percentile(highest, 50) == pytest.approx(1.45, abs=0.15)
    assert lowest.max() > 0.2  # it jumps
    lengths = np.linalg.norm(positions[:, 1:] - positions[:, clip.parents[1:]], axis=2)
    np.testing.assert_allclose(lengths, np.tile(np.linalg.norm(clip.offsets[1:], axis=1), (100, 1)), atol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bone_names": ["a", "a"]}, "bone_names: expected"),
        ({"parents": [-1, -1]}, r"parents: expected -1 for the first bone only.*got -1 in row 1, b"),
        ({"times": [0, 0, 1]}, "times: expected"),
        ({"orientations": np.zeros((3, 2, 4))}, "orientations: expected a quaternion other than zero.*row 0"),
        ({"orientations": np.ones((3, 1, 4))}, r"orientations: expected shape \(3, 2, 4\), got \(3, 1, 4\)"),
    ],
)
def test_wrong_clips_are_refused(change, message):
    good = {
        "bone_names": ["a", "b"], "parents": [-1, 0], "offsets": np.zeros((2, 3)), "times": [0, 1, 2],
        "root_positions": np.zeros((3, 3)), "orientations": np.ones((3, 2, 4)),
    }  # fmt: skip
    assert len(cc.Clip(**good).times) == 3
    with pytest.raises(ValueError, match=message):
        cc.Clip(**good | change)


NAMES = ["hips", "left", "right", "spine", "head", "hair"]


def moving(bones, turning, name_of=NAMES):
    """A clip in which some bones turn, possibly the root."""
    rng = np.random.default_rng(4)
    turns = np.tile(unit(rng, 1, bones), (3, 1, 1))
    turns[:, turning] = unit(rng, 3, len(turning))
    return cc.Clip(name_of[:bones], [-1] + [0] * (bones - 1), np.zeros((bones, 3)), [0, 1, 2], np.zeros((3, 3)), turns)


def test_few_matched_bones_warn_with_the_missing_names():
    clip = moving(6, [1, 2, 3, 4])
    rig = rig_of(["hips", "left", "hair"], [-1, 0, 0], np.zeros((3, 3)))
    message = r"3 of 4 bones that move .*: right, spine, head \(3 in all\); rename the rig's bones"
    with pytest.warns(UserWarning, match=message) as caught:
        posed = clip.at([0.5], rig)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    for one, other in zip(clip.at([0.5], rig), posed, strict=True):  # no second warning for the same rig
        np.testing.assert_array_equal(one, other)
    with pytest.warns(UserWarning, match="clip: 3 of 4"):
        clip.at([0.5], rig_of(["hips", "left", "hair"], [-1, 0, 0], np.zeros((3, 3))))


def test_half_of_the_moving_bones_do_not_warn():
    clip = moving(6, [1, 2, 3, 4])
    clip.at([0.5], rig_of(["hips", "left", "head"], [-1, 0, 0], np.zeros((3, 3))))
    still = moving(6, [])  # nothing moves: all bones count
    still.at([0.5], rig_of(NAMES[:3], [-1, 0, 0], np.zeros((3, 3))))


def test_matching_still_bones_only_is_an_error():
    clip = moving(6, [1, 2])
    message = r"expected some of the clip's bones left, right \(2 in all\), got hips, spine"
    with pytest.raises(ValueError, match=message):
        clip.at([0.5], rig_of(["hips", "spine"], [-1, 0], np.zeros((2, 3))))


def test_long_name_lists_are_shortened():
    names = [f"bone{k}" for k in range(30)]
    clip = moving(30, list(range(1, 30)), names)
    with pytest.raises(ValueError, match=r"bone12 \(29 in all\), got pelvis"):
        clip.at([0.5], rig_of(["pelvis"], [-1], [[0, 0, 0]]))


def test_a_clip_keeps_few_rigs_in_mind_and_none_alive():
    clip = moving(6, [1, 2])
    rigs = [rig_of(NAMES[:3], [-1, 0, 0], np.full((3, 3), float(k))) for k in range(20)]
    gone = [weakref.ref(rig) for rig in rigs if clip.at([0.5], rig)]
    assert len(clip._known) == 8
    del rigs
    gc.collect()
    assert [rig() for rig in gone] == [None] * 20


def test_the_shortest_motion_loops_without_a_warning():
    """Two frames one float64 apart, at a time whose number of loops exceeds float64."""
    clip = cc.Clip(["a"], [-1], [[0, 0, 0]], [0.0, 5e-324], [[0, 0, 0], [1, 0, 0]], [[[0, 0, 0, 1]]] * 2)
    for column in clip.at([2.0**300, -1.0, 0.0], loop=True):
        assert np.isfinite(column).all()


@pytest.mark.parametrize("loop", ["no", "", 0, 1, None])
def test_loop_is_true_or_false(loop):
    clip = cc.Clip(["root"], [-1], [[0, 0, 0]], [0, 1], np.zeros((2, 3)), [[[0, 0, 0, 1]]] * 2)
    with pytest.raises(ValueError, match=f"loop: expected True or False, got {loop!r}"):
        clip.at(0.5, loop=loop)
    assert np.array_equal(clip.at(1.5, loop=np.True_)[0], clip.at(0.5)[0])
