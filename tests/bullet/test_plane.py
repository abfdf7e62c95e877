"""Planes: exact sheets, hit from both sides, in exact order with the limbs. The oracle is rational arithmetic."""

from fractions import Fraction

import numpy as np
import pybullet as p
import pytest
import support.pybullet_scenes as scenes

from cylcollide._types import Side
from cylcollide.bullet import Mirror
from cylcollide.bullet.plane import Sheet, sheet_hits

TILTED = Sheet((0.1, -0.2, 0.3), (0.6, 0.0, 0.8))


def exact_height(sheet, point):
    """normal·(x - point), exactly."""
    terms = zip(sheet.normal, point, sheet.point, strict=True)
    return sum(Fraction(float(n)) * (Fraction(float(x)) - Fraction(float(q))) for n, x, q in terms)


def exact_fraction(sheet, start, end):
    """Fraction of the hit, None for a miss; the start is not on the sheet."""
    first, last = exact_height(sheet, start), exact_height(sheet, end)
    return first / (first - last) if first * last <= 0 else None


def segments(rng, family, n=200):
    """Segments about the tilted sheet: of all sizes, nearly parallel, or ending nearly on it."""
    across = np.cross(TILTED.normal, [0.0, 1.0, 0.0])
    flat = rng.normal(size=(n, 1)) * across + rng.normal(size=(n, 1)) * [0.0, 1.0, 0.0]
    scale = 10.0 ** rng.uniform(-3, 6, (n, 1))
    if family == "any":
        return TILTED.point + rng.normal(size=(n, 3)) * scale, TILTED.point + rng.normal(size=(n, 3)) * scale
    tiny = 10.0 ** rng.uniform(-18, -14, (n, 1)) * scale * TILTED.normal
    if family == "flat":
        return TILTED.point + flat * scale + tiny, TILTED.point - flat * scale * rng.normal(size=(n, 1)) - tiny
    return TILTED.point + rng.normal(size=(n, 3)) * scale, TILTED.point + flat * scale


@pytest.mark.parametrize("family", ["any", "flat", "end"])
def test_verdict_and_point_equal_rational_arithmetic(family):
    starts, ends = segments(np.random.default_rng(1), family)
    found = sheet_hits(TILTED, starts, ends, "ignore")
    verdicts = []
    for i in range(len(starts)):
        if exact_height(TILTED, starts[i]) == 0:
            assert found.fraction[i] == np.inf
            continue
        fraction = exact_fraction(TILTED, starts[i], ends[i])
        verdicts.append(fraction is not None)
        assert (found.fraction[i] < np.inf) == (fraction is not None)
        if fraction is None:
            continue
        assert abs(Fraction(found.fraction[i]) - fraction) <= Fraction(found.error[i]) * max(
            fraction, Fraction(1, 2**40)
        )
        largest = max(np.abs(starts[i]).max(), np.abs(ends[i]).max())
        for k in range(3):
            a, b = Fraction(starts[i, k]), Fraction(ends[i, k])
            assert abs(Fraction(found.position[i, k]) - (a + fraction * (b - a))) <= Fraction(4 * np.spacing(largest))
        side = 1 if exact_height(TILTED, starts[i]) > 0 else -1
        np.testing.assert_allclose(found.normal[i], side * np.array(TILTED.normal), rtol=1e-15)
    assert 0.1 < np.mean(verdicts) < 0.9


@pytest.mark.parametrize("normal", [(3.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 2.0)])
def test_ends_on_a_level_sheet_touch_it_without_exact_arithmetic(normal, monkeypatch):
    sheet, rng, n = Sheet((0.1, -0.2, 0.3), normal), np.random.default_rng(8), 60
    axis = np.flatnonzero(normal)[0]
    starts, ends = sheet.point + rng.normal(size=(2, n, 3))
    ends[:, axis] = sheet.point[axis]
    ends[1::3, axis] = np.nextafter(sheet.point[axis], 9.0)
    ends[2::3, axis] = np.nextafter(sheet.point[axis], -9.0)
    monkeypatch.setattr("cylcollide.bullet.plane.limb_hit", None)
    found = sheet_hits(sheet, starts, ends, "ignore")
    fractions = [exact_fraction(sheet, start, end) for start, end in zip(starts, ends, strict=True)]
    assert (found.fraction < np.inf).tolist() == [fraction is not None for fraction in fractions]
    assert (found.fraction[::3] == 1.0).all()
    assert np.array_equal(found.position[::3], ends[::3])
    above = [exact_height(sheet, start) > 0 for start in starts[::3]]
    assert ((found.normal[::3] @ sheet.normal > 0.0) == above).all()


def lattice_points(rng, count):
    """Yield -1, 0 or 1, and a normal and a point of 53-bit integers with this dot product."""
    while count:
        a, b, c, z = (int(x) | 1 for x in rng.integers(2**51, 2**52, 4))
        want = int(rng.integers(-1, 2))
        if np.gcd(a, b) == 1:
            x = (want - c * z) * pow(a, -1, b) % b - b
            y = (want - c * z - a * x) // b
            assert a * x + b * y + c * z == want
            if abs(y) < 2**53:
                count -= 1
                yield want, (float(a), float(b), float(c)), (float(x), float(y), float(z))


def test_heights_beyond_double_double():
    signs = set()
    for want, normal, point in lattice_points(np.random.default_rng(5), 100):
        # another point of the sheet through the origin: differences lose digits, and a zero may come out as 0.25
        sheet = Sheet((normal[1] / 32, -normal[0] / 32, 0.0), normal)
        assert exact_height(sheet, point) == want
        found = sheet_hits(sheet, np.array([point]), np.array([normal]), "hit")  # the end is high above
        assert (found.fraction[0] < np.inf) == (want <= 0)
        assert (found.normal[0] == 0).all() == (want >= 0)
        signs.add(want)
    assert signs == {-1, 0, 1}


@pytest.mark.parametrize("inside", ["ignore", "hit", "exit"])
def test_slabs_equal_rational_arithmetic(inside):
    sheet = Sheet((0.1, -0.2, 0.3), (0.6, 0.0, 0.8), 0.01)
    lower, upper = sheet.faces
    np.testing.assert_allclose(np.subtract(upper, lower), 0.02 * np.array(sheet.normal), rtol=1e-14)
    rng = np.random.default_rng(6)
    starts, ends = (sheet.point + rng.normal(size=(300, 3)) * 10.0 ** rng.uniform(-3, 0, (300, 1)) for _ in range(2))
    starts[:20], ends[20:40] = upper, lower  # on the faces
    found, faces = sheet_hits(sheet, starts, ends, inside), [Sheet(face, sheet.normal) for face in sheet.faces]
    seen = {"above": 0, "below": 0, "within": 0}
    for start, end, fraction, normal in zip(starts, ends, found.fraction, found.normal, strict=True):
        (low, high), (last_low, last_high) = ([exact_height(face, x) for face in faces] for x in (start, end))
        side = "above" if high > 0 else "below" if low < 0 else "within"
        seen[side] += 1
        expected, up = np.inf, 0
        if side == "above" and last_high <= 0:
            expected, up = high / (high - last_high), 1
        elif side == "below" and last_low >= 0:
            expected, up = low / (low - last_low), -1
        elif side == "within" and inside == "hit":
            expected = 0
        elif side == "within" and inside == "exit" and last_high >= 0:
            expected, up = high / (high - last_high), 1
        elif side == "within" and inside == "exit" and last_low <= 0:
            expected, up = low / (low - last_low), -1
        assert float(expected) == pytest.approx(fraction, rel=1e-12)
        if expected < np.inf:
            np.testing.assert_allclose(normal, up * np.array(sheet.normal), atol=1e-14)
    assert min(seen.values()) > 25
    assert found.undecided.sum() <= seen["within"] + 40, "float64 decides all that start beyond a face, but for ties"


def test_a_segment_that_starts_or_ends_on_the_sheet():
    ground = Sheet((0.0, 0.0, 0.0), (0.0, 0.0, 2.0))
    above, on, below = [0.3, 0.4, 1.0], [0.1, 0.2, 0.0], [0.0, 0.0, -1.0]
    cases = [  # start, end, policy, fraction, normal
        (above, on, "ignore", 1.0, 1), (below, on, "ignore", 1.0, -1), (above, below, "exit", 0.5, 1),
        (on, above, "ignore", np.inf, 0), (on, on, "ignore", np.inf, 0), (on, [1, 1, 0], "ignore", np.inf, 0),
        (on, above, "hit", 0.0, 0), (on, on, "hit", 0.0, 0), (on, [1, 1, 0], "hit", 0.0, 0),
        (on, above, "exit", 0.0, 1), (on, below, "exit", 0.0, -1), (on, [1, 1, 0], "exit", np.inf, 0),
        (above, [0, 0, 5e-324], "hit", np.inf, 0), (above, [0, 0, -5e-324], "hit", 1.0, 1),
    ]  # fmt: skip
    for start, end, inside, fraction, normal in cases:
        found = sheet_hits(ground, np.array([start], float), np.array([end], float), inside)
        assert found.fraction[0] == fraction, (start, end, inside)
        assert found.normal[0].tolist() == [0, 0, normal], (start, end, inside)
        if fraction == 1.0 and end[2] == 0:
            assert found.position[0].tolist() == [float(x) for x in end]
    assert ground.side((5.0, 5.0, 0.0)) == Side.SURFACE
    assert ground.side((5.0, 5.0, -1e-300)) == Side.OUTSIDE


def test_order_of_plane_and_limb_is_exact_and_ties_go_to_the_lower_body(c):
    ground = p.createMultiBody(0, p.createCollisionShape(p.GEOM_PLANE, physicsClientId=c), physicsClientId=c)
    # the lower cap is in the plane, one ulp above and one ulp below it
    half = 0.25
    bodies = [scenes.body(c, 3, [x, 0, half + shift]) for x, shift in ((0, 0.0), (1, 2.0**-54), (2, -(2.0**-54)))]
    mirror = Mirror(c)
    lower = np.minimum(mirror.limbs.p1, mirror.limbs.p2)[:, 2]
    assert lower[0] == 0.0
    assert lower[1] > 0.0 > lower[2]
    starts = np.array([[x + 0.01, 0.02, -1.0 - 0.1 * k] for x in range(3) for k in range(20)])
    ends = starts * [1, 1, -1] + [0.003, 0.004, 0.0]
    answers = mirror.rayTestBatch(starts, ends)
    second = mirror.rayTestBatch(starts, ends, reportHitNumber=1)
    assert [a[0] for a in answers] == [ground] * 40 + [bodies[2]] * 20
    assert [a[0] for a in second] == [bodies[0]] * 20 + [bodies[1]] * 20 + [ground] * 20


@pytest.mark.parametrize(("z", "tolerance"), [(0.0, 0.0), (-1e160, 1e-3), (1e-170, 1e-3), (float("nan"), 0.0)])
def test_a_plane_without_direction_is_missed_as_by_pybullet(c, z, tolerance):
    """PyBullet cannot scale such a normal to length 1; what lies behind the plane is hit."""
    ray = [0.5, 0.0, 1.0], [0.5, 0.0, -1.0]
    plane = p.createCollisionShape(p.GEOM_PLANE, planeNormal=[0.0, 0.0, z], physicsClientId=c)
    p.createMultiBody(0, plane, physicsClientId=c)
    assert p.rayTest(*ray, physicsClientId=c)[0][0] == -1
    mirror = Mirror(c, tolerance=tolerance)
    assert mirror.rayTest(*ray)[0][0] == -1
    ball = p.createMultiBody(0, scenes.shape(c, 0), -1, [0.5, 0.0, 0.0], physicsClientId=c)
    assert [mirror.rayTestBatch([ray[0]] * n, [ray[1]] * n)[-1][0] for n in (1, 2000)] == [ball] * 2
