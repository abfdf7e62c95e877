"""Points carried by bones, in rational arithmetic: within 0.51 ulp, for quaternions of any accepted length."""

from fractions import Fraction
from itertools import product
from math import isfinite, ldexp

import numpy as np
import pytest
from support.check_cylinders import sized
from support.machine_code import interpreted
from support.oracle import pose
from support.oracle.pose import rational, ulps

from cylcollide.bones.bone import carried, composed, into_bone, normalised, rescaled, rotation_of
from cylcollide.bones.rig_rows import Bones, Placed, Places, RigRows, place_limbs

pytestmark = [pytest.mark.plain_python, pytest.mark.coverage]

HALF_AN_ULP = 0.51
SMALLEST = Fraction(2) ** -1074
LENGTHS = [2.0**500, 2.0**151, 2.0**150, 1e20, 1.0, 1e-20, 2.0**-150, 2.0**-151, 2.0**-500]


def worst_error(q, origin, v, got):
    """Error in ulp of the largest coordinate among bone and limb end."""
    return ulps(got, pose.carried(q, origin, v), [*origin])


def hard_poses(rng, n):
    """Poses that lose digits where they can: half turns, tiny components, points that nearly cancel, far bones."""
    for i in range(n):
        q, v, origin = rng.normal(size=4), rng.normal(size=3), rng.normal(size=3)
        kind = i % 8
        if kind == 1:
            q *= 10.0 ** rng.uniform(-18, 0, 4)
        elif kind == 2:
            q[3] = 0.0  # half a turn
        elif kind == 3:
            q[:3] *= 10.0 ** rng.uniform(-20, -5)  # hardly any turn
        elif kind == 4:
            origin *= 10.0 ** rng.uniform(0, 12)
        elif kind == 5:
            origin = -np.array([float(c) for c in pose.carried(q, [0, 0, 0], v)])  # cancels
        elif kind == 6:
            v = np.array([float(c) for c in pose.turned(rational([*-q[:3], q[3]]), rational([2.0, 2.0, 2.0]))])
            origin = -np.ones(3)  # corner to corner: the longest way for the size of the coordinates
        elif kind == 7:
            v, origin = v * 10.0 ** rng.uniform(-9, 9, 3), origin * 10.0 ** rng.uniform(-9, 9, 3)
        length = LENGTHS[i % len(LENGTHS)]
        q = q * (length / np.abs(q).max())
        yield q, origin, v


def test_hard_points_are_within_half_an_ulp():
    rng, errors = np.random.default_rng(1), []
    for q, origin, v in hard_poses(rng, sized(2000)):
        errors.append(worst_error(q, origin, v, carried(rotation_of(tuple(q)), tuple(origin), tuple(v))))
    assert max(errors) <= HALF_AN_ULP
    assert max(errors) > 0.45  # the test sees roundings


def test_vectors_come_back_within_half_an_ulp():
    """Of the inverse rotation, that of the conjugate."""
    rng, errors = np.random.default_rng(8), []
    for q, _, v in hard_poses(rng, sized(1000)):
        want = pose.turned(rational([*-q[:3], q[3]]), rational(v))
        size = max(float(max(map(abs, want))), np.abs(v).max())
        errors.append(ulps(into_bone(rotation_of(tuple(q)), tuple(v)), want, [size]))
    assert 0.45 < max(errors) <= HALF_AN_ULP


def test_a_rotation_rounded_to_float64_would_not_keep_eight_ulp():
    """What the low words are for: the usual formula errs by more than is promised, on these very poses."""
    from cylcollide.shapes import rotation_matrices

    rng, usual = np.random.default_rng(1), []
    for q, origin, v in hard_poses(rng, 6000):
        if 1e-30 < np.abs(q).max() < 1e30:
            usual.append(worst_error(q, origin, v, origin + rotation_matrices(q[None])[0] @ v))
    assert max(usual) > 8.0


@pytest.mark.parametrize("scale", [2.0**500, 2.0**400, 2.0**-400, 2.0**-960, 2.0**-1030, 2.0**-1060])
def test_huge_and_tiny_coordinates(scale):
    """Up to the largest accepted number, and down to numbers whose products underflow."""
    rng, errors = np.random.default_rng(3), []
    for q, origin, v in hard_poses(rng, 200):
        size = max(np.abs(origin).max(), np.abs(v).max())
        origin, v = origin / size * scale, v / size * scale
        got = carried(rotation_of(tuple(q)), tuple(origin), tuple(v))
        assert all(map(isfinite, got))
        want = pose.carried(q, origin, v)
        errors.append(max(abs(Fraction(g) - w) for g, w in zip(map(float, got), want, strict=True)))
        unit = Fraction(np.spacing(max(float(max(map(abs, want))), np.abs(origin).max())))
        assert errors[-1] <= Fraction(51, 100) * unit + 3 * SMALLEST
    assert max(errors) > 0


def test_the_length_of_a_quaternion_does_not_matter():
    """Powers of two change no bit; every length that is accepted gives the same rotation."""
    rng = np.random.default_rng(4)
    for q in rng.normal(size=(50, 4)):
        q /= np.abs(q).max()
        want = rotation_of(tuple(q))
        for exponent in (500, 299, 151, 150, 149, -149, -150, -151, -300, -500):
            assert rotation_of(tuple(ldexp(c, exponent) for c in q)) == want


def test_quarter_turns_and_no_turn_are_exact():
    v, origin = (1.1, 2.3, -0.7), (0.1, 0.2, 0.3)
    turns = {(0, 0, 0, 1): (0, 1, 2), (0.5, 0.5, 0.5, 0.5): (2, 0, 1), (-0.5, -0.5, -0.5, 0.5): (1, 2, 0)}
    for q, order in turns.items():
        for length in LENGTHS:
            scaled = tuple(length * c for c in q)
            assert carried(rotation_of(scaled), (0.0, 0.0, 0.0), v) == tuple(v[k] for k in order)
            assert carried(rotation_of(scaled), origin, v) == tuple(origin[i] + v[k] for i, k in enumerate(order))


def test_composed_and_normalised():
    """Direction within 7 u, length within 4 u, as docs/numerics.md says."""
    rng, angles, lengths = np.random.default_rng(5), [], []
    for a, b in rng.normal(size=(sized(500), 2, 4)):
        a, b = rescaled(tuple(a * 2.0 ** rng.integers(-490, 490))), rescaled(tuple(b * 2.0 ** rng.integers(-490, 490)))
        got, want = rational(normalised(composed(a, b))), pose.hamilton(rational(a), rational(b))
        dot, square = sum(g * w for g, w in zip(got, want, strict=True)), sum(w * w for w in want)
        across = sum((g - w * dot / square) ** 2 for g, w in zip(got, want, strict=True))
        angles.append(float(across) ** 0.5 * 2.0**53)
        lengths.append(abs(float(sum(g * g for g in got) - 1)) / 2 * 2.0**53)
    assert 0.5 < max(angles) <= 7.0
    assert 0.5 < max(lengths) <= 4.0


def rig_rows(p1, p2, boxes=()):
    m = len(p1)
    box = np.full(m, -1, np.int32)
    box[m - len(boxes) :] = range(len(boxes))
    bone = np.minimum(np.arange(m) // 2, 2).astype(np.int32)
    return RigRows(bone, p1, p2, box, np.array(boxes).reshape(-1, 12))


def placed(rig, positions, orientations, place):
    (k, bones), m, b = positions.shape[:2], len(rig.bone), len(rig.boxes)
    columns = Placed(np.full((k * m, 3), np.nan), np.full((k * m, 3), np.nan), np.full((k * b, 12), np.nan))
    first = Places(*(np.arange(k, dtype=np.int32) * np.int32(count) for count in (bones, m, b)))
    given = Bones(positions.reshape(-1, 3), orientations.reshape(-1, 4))
    return place(rig, bones, given, first, columns), *columns


def test_loops_are_the_formula():
    """Machine code, eight side by side, one by one and plain Python: the bits of `carried`."""
    rng = np.random.default_rng(6)
    axes = [*np.eye(3).ravel(), 1.0, 2.0, 3.0]
    rig = rig_rows(rng.normal(size=(6, 3)), rng.normal(size=(6, 3)), [axes, axes])
    poses = list(hard_poses(rng, 57))  # nineteen characters of three bones: twice eight, and three
    turn = np.array([q for q, _, _ in poses]).reshape(19, 3, 4)
    at = np.array([origin for _, origin, _ in poses]).reshape(19, 3, 3)
    status, p1, p2, boxes = placed(rig, at, turn, place_limbs)
    assert status == -1
    for first, last in ((0, 19), (3, 4), (2, 12)):
        for place in (place_limbs, interpreted(place_limbs)):
            again = placed(rig, at[first:last].copy(), turn[first:last].copy(), place)
            assert again[0] == -1
            assert np.array_equal(again[1], p1[6 * first : 6 * last])
            assert np.array_equal(again[2], p2[6 * first : 6 * last])
            assert np.array_equal(again[3], boxes[2 * first : 2 * last])
    for c, i in product(range(19), range(6)):
        rotation, origin = rotation_of(tuple(turn[c, rig.bone[i]])), tuple(at[c, rig.bone[i]])
        assert tuple(p1[6 * c + i]) == carried(rotation, origin, tuple(rig.p1[i]))
        assert tuple(p2[6 * c + i]) == carried(rotation, origin, tuple(rig.p2[i]))
        for j, axis in enumerate(np.eye(3)) if rig.box[i] >= 0 else ():
            got = boxes[2 * c + rig.box[i]]
            assert tuple(got[3 * j : 3 * j + 3]) == carried(rotation, (0.0, 0.0, 0.0), tuple(axis))
            assert tuple(got[9:]) == (1.0, 2.0, 3.0)


BAD_BONES = [
    ("position", [np.nan, 0, 0]),
    ("position", [0, -np.inf, 0]),
    ("position", [0, 0, np.nextafter(2.0**500, np.inf)]),
    ("orientation", [0, np.nan, 0, 1]),
    ("orientation", [0, 0, 0, np.inf]),
    ("orientation", [0, -np.nextafter(2.0**500, np.inf), 0, 0]),
    ("orientation", [0, 0, 0, 0]),
    ("orientation", [np.nextafter(2.0**-500, 0), 0, 0, 0]),
    ("position", [2.0**500, 0, 0]),  # its limbs reach beyond
    ("position", [1e20, 1e20, 1e20]),  # its limbs have no length there
]


@pytest.mark.parametrize(("what", "numbers"), BAD_BONES)
@pytest.mark.parametrize("k", [1, 20])
def test_the_first_bad_character_is_told(what, numbers, k):
    """By both loops, in any place among eight, for any bone, one without limbs too."""
    rng = np.random.default_rng(7)
    p1 = rng.normal(size=(4, 3))
    rig = rig_rows(p1, p1 + np.array([2.0**497 if numbers[0] == 2.0**500 else 0.5, 0.0, 0.0]))
    for bad in {0, 7 % k, 8 % k, k - 1}:
        for bone in range(3):
            at, turn = rng.normal(size=(k, 3, 3)), np.tile([0.0, 0.0, 0.0, 1.0], (k, 3, 1))
            {"position": at, "orientation": turn}[what][bad, bone] = numbers
            bare = bone == 2 and np.isfinite(numbers).all() and abs(numbers[0]) in (1e20, 2.0**500)
            assert placed(rig, at, turn, place_limbs)[0] == (-1 if bare else bad)
            assert placed(rig, at, turn, interpreted(place_limbs))[0] == (-1 if bare else bad)


def test_points_stay_points_and_axes_stay_axes():
    """A sphere far away is one; a limb whose axis has become shorter than 2**-500 is refused."""
    small = 2.0**-500
    turned_by_45 = [[[0.0, 0.0, np.sin(np.pi / 8), np.cos(np.pi / 8)]]]
    at = np.full((1, 1, 3), 1e30)
    sphere = rig_rows(np.ones((1, 3)), np.ones((1, 3)))
    status, p1, p2, _ = placed(sphere, at, np.array(turned_by_45), place_limbs)
    assert status == -1
    assert np.array_equal(p1, p2)
    short = rig_rows(np.zeros((1, 3)), np.array([[small, 0.0, 0.0]]))
    assert placed(short, 0 * at, np.array([[[0.0, 0.0, 0.0, 1.0]]]), place_limbs)[0] == -1
    assert placed(short, 0 * at, np.array(turned_by_45), place_limbs)[0] == 0
