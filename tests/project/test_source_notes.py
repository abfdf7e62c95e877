"""The four notes that the geometry began with, re-stated as plain formulae and held against the library.

Their mathematics is kept, their code is not. `docs/sources.md` says what was taken from where.
"""

import math

import numpy as np
import pytest
from support.check_cylinders import sized

import cylcollide as cc

F, S = cc.Face, cc.Side
INNER = 0.4
"""Bore of the tubes and small end of the tapered cylinders, as a share of the radius."""


def axes(rng, n):
    """Return ends (n, 3), (n, 3) and radii (n,) of limbs of everyday proportions anywhere in a box of 20 m."""
    p1 = rng.uniform(-10, 10, (n, 3))
    return p1, p1 + rng.normal(size=(n, 3)), rng.uniform(0.1, 1.5, n)


def points_about(rng, p1, p2, radius):
    """Return points in and around the limbs, (n, 3)."""
    place = p1 + rng.uniform(-0.3, 1.3, (len(p1), 1)) * (p2 - p1)
    return place + rng.normal(size=p1.shape) * radius[:, None] * 0.7


def segments_about(rng, p1, p2, radius):
    """Return ends of segments that pass near the limbs; one in five starts near the limb too."""
    n = len(p1)
    target, step = points_about(rng, p1, p2, radius), rng.normal(size=(n, 3)) * 4
    return target - step * (rng.random((n, 1)) > 0.2), target + step


def rows_dot(a, b):
    return np.einsum("ij,ij->i", a, b)


# Greg James, Fast Point-In-Cylinder Test ------------------------------------------------------------------------------


def greg_james(p1, p2, radius_squared_at, point, inner_squared=0.0):
    """Return -1.0 outside, the squared distance from the axis inside: caps by one dot product, then the distance.

    `radius_squared_at` is a function of that dot product over the squared length: his remark on other shapes.
    """
    d, pd = p2 - p1, point - p1
    along, length_squared = rows_dot(pd, d), rows_dot(d, d)
    distance_squared = rows_dot(pd, pd) - along * along / length_squared
    wall = radius_squared_at(along / length_squared)
    outside = (along < 0) | (along > length_squared) | (distance_squared > wall) | (distance_squared < inner_squared)
    return np.where(outside, -1.0, distance_squared)


VARIANTS = {
    "cylinder": (cc.Limbs.cylinders, lambda r: lambda u: r * r + 0 * u, 0.0),
    "tube": (lambda p, q, r: cc.Limbs.tubes(p, q, r, INNER * r), lambda r: lambda u: r * r + 0 * u, INNER),
    "cone": (cc.Limbs.cones, lambda r: lambda u: (r * (1 - u)) ** 2, 0.0),
    "tapered": (
        lambda p, q, r: cc.Limbs.tapered_cylinders(p, q, r, INNER * r),
        lambda r: lambda u: (r + (INNER * r - r) * u) ** 2,
        0.0,
    ),
    "ellipsoid": (cc.Limbs.ellipsoids, lambda r: lambda u: 4 * r * r * u * (1 - u), 0.0),
}
"""Constructor, squared radius at the dot product, and the bore as a share of the radius."""


@pytest.mark.parametrize("shape", VARIANTS)
def test_greg_james_function_and_the_variants_of_his_remark(shape):
    rng, n = np.random.default_rng(1), sized(4000)
    p1, p2, radius = axes(rng, n)
    point = points_about(rng, p1, p2, radius)
    make, wall, bore = VARIANTS[shape]
    his = greg_james(p1, p2, wall(radius), point, (bore * radius) ** 2)
    limbs = make(p1, p2, radius)
    ours, side = limbs.axis_distance_squared(point), limbs.classify_points(point)
    # No random point is as near a surface as his rounding, 1e-14: every verdict must agree.
    assert ((his >= 0) == (side != S.OUTSIDE)).all()
    assert ((ours == -1.0) == (his == -1.0)).all()
    np.testing.assert_allclose(ours, his, rtol=0, atol=1e-14 * rows_dot(point - p1, point - p1).max())
    assert min((his >= 0).sum(), (his < 0).sum()) > n // 20


def test_greg_james_return_values_by_hand():
    limb = cc.Limbs.cylinders([[0, 0, 0]], [[0, 0, 4]], 2)
    points = np.array([[0, 0, 2], [1, 1, 1], [2, 0, 4], [0, 0, 0], [0, 0, -1e-9], [0, 0, 4.001], [2, 1, 2]], float)
    n = len(points)
    want = [0.0, 2.0, 4.0, 0.0, -1.0, -1.0, -1.0]
    p1, p2 = np.zeros((n, 3)), np.tile([0.0, 0, 4], (n, 1))
    assert limb.axis_distance_squared(points).tolist() == want
    assert greg_james(p1, p2, lambda u: 4 + 0 * u, points).tolist() == want


# jHitCylinder ---------------------------------------------------------------------------------------------------------


def j_hit_cylinder(centre, half_axis, radius, start, direction):
    """Return the least t in [0, 1] at which start + t direction meets the surface, inf if none.

    Cap planes (r ± b)·b = 0 about the centre; the side as a circle, ray and start projected along b.
    """
    a, b = start - centre, half_axis
    unit = b / math.sqrt(b @ b)
    times = []
    for cap in (b, -b):
        if direction @ b != 0.0:
            t = (cap - a) @ b / (direction @ b)
            at = a + t * direction
            if math.dist(at, (at @ unit) * unit) <= radius:
                times.append(t)
    flat_start, flat_step = a - (a @ unit) * unit, direction - (direction @ unit) * unit
    mixed, square = flat_start @ flat_step, flat_step @ flat_step
    discriminant = mixed**2 - square * (flat_start @ flat_start - radius**2)
    if discriminant >= 0.0 and square > 0.0:
        for root in (-math.sqrt(discriminant), math.sqrt(discriminant)):
            t = (root - mixed) / square
            if abs((a + t * direction) @ unit) <= math.sqrt(b @ b):
                times.append(t)
    return min((t for t in times if 0.0 <= t <= 1.0), default=math.inf)


def settled(limbs, start, end):
    """Return which rows no rounding can flip, (n,): those with a clearance over 1e-9."""
    rows = enumerate(zip(start, end, strict=True))
    return np.array([abs(limbs.explain_segment(a, b, i).clearance) > 1e-9 for i, (a, b) in rows])


def test_j_hit_cylinder_half_axis_form():
    rng, n = np.random.default_rng(2), sized(1500)
    p1, p2, radius = axes(rng, n)
    start, end = segments_about(rng, p1, p2, radius)
    rows = zip((p1 + p2) / 2, (p2 - p1) / 2, radius, start, end - start, strict=True)
    his = np.array([j_hit_cylinder(*row) for row in rows])
    # A surface has no inside: a ray that starts in the solid meets it where it leaves.
    limbs = cc.Limbs.cylinders(p1, p2, radius)
    ours, sure = limbs.cast_segments(start, end, inside="exit"), settled(limbs, start, end)
    ends_inside = ours.started_inside & ~ours.hit
    assert (np.isfinite(his) == ours.hit)[sure & ~ends_inside].all()
    both = sure & ours.hit
    np.testing.assert_allclose(ours.fraction[both], his[both], rtol=0, atol=1e-9)
    assert min(both.sum(), (~ours.hit).sum(), ours.started_inside.sum()) > n // 50


# The CC0 derivation, Ray/cylinder intersections -----------------------------------------------------------------------


def stable_roots(a, b, c):
    """Return the roots of a t² + b t + c, the smaller first, without cancellation."""
    q = -0.5 * (b + math.copysign(math.sqrt(b * b - 4 * a * c), b))
    return sorted((q / a, c / q if q else 0.0))


def wall_coefficients(base, top, radius, start, unit):
    """Return a, b, c of the implicit surface from the end-cap centres, along a ray of unit direction."""
    local, spine = start - base, top - base
    axis = spine / math.sqrt(spine @ spine)
    rate, height = axis @ unit, axis @ local
    return (
        1 - rate * rate,
        2 * (unit @ local - rate * height),
        local @ local - height * height - radius * radius,
    )


def disc(centre, axis, radius, start, unit):
    """Return the distance to a cap, inf if it is missed."""
    t = (centre - start) @ axis / (unit @ axis) if unit @ axis else math.inf
    return t if 0 <= t < math.inf and math.dist(start + t * unit, centre) <= radius else math.inf


def cc0(base, top, radius, start, unit, hits_from_inside_count):
    """Return the distance of the nearest surface point ahead, inf if none: the method as it is meant."""
    axis = (top - base) / math.dist(top, base)
    a, b, c = wall_coefficients(base, top, radius, start, unit)
    walls = stable_roots(a, b, c) if a > 0 and b * b >= 4 * a * c else []
    times = [t for t in walls if t >= 0 and 0 <= (start + t * unit - base) @ axis <= math.dist(top, base)]
    times += [disc(centre, axis, radius, start, unit) for centre in (base, top)]
    inside = c <= 0 and 0 <= (start - base) @ axis <= math.dist(top, base)
    return math.inf if inside and not hits_from_inside_count else min(times)


def test_cc0_method():
    rng, n = np.random.default_rng(3), sized(1500)
    p1, p2, radius = axes(rng, n)
    start, end = segments_about(rng, p1, p2, radius)
    length = np.linalg.norm(end - start, axis=1)
    unit = (end - start) / length[:, None]
    limbs = cc.Limbs.cylinders(p1, p2, radius)
    sure = settled(limbs, start, start + unit * 1e3)
    for counts, policy in ((True, "exit"), (False, "ignore")):
        his = np.array([cc0(*row, counts) for row in zip(p1, p2, radius, start, unit, strict=True)])
        ours = limbs.cast_rays(start, unit, inside=policy)
        assert (np.isfinite(his) == ours.hit)[sure].all()
        both = sure & ours.hit
        np.testing.assert_allclose(ours.distance[both], his[both], rtol=0, atol=1e-9)
        assert min(both.sum(), (~ours.hit).sum(), ours.started_inside.sum()) > n // 50


# The lecture note's normals -------------------------------------------------------------------------------------------


def note_normals(p1, p2, position, face):
    """Return -d on the cap at p1, +d on the cap at p2, M (P - C_b) / |...| on the side, with M = I - d dᵗ."""
    d = (p2 - p1) / np.linalg.norm(p2 - p1, axis=1, keepdims=True)
    across = np.eye(3) - np.einsum("ni,nj->nij", d, d)
    side = np.einsum("nij,nj->ni", across, position - p1)
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    return np.select([(face == F.CAP1)[:, None], (face == F.CAP2)[:, None]], [-d, d], side)


def test_normals_of_the_lecture_note():
    rng, n = np.random.default_rng(4), sized(4000)
    p1, p2, radius = axes(rng, n)
    start, end = segments_about(rng, p1, p2, radius)
    hits = cc.Limbs.cylinders(p1, p2, radius).cast_segments(start, end)
    for position, normal, face in (
        (hits.position, hits.normal, hits.face),
        (hits.exit_position, hits.exit_normal, hits.exit_face),
    ):
        on = np.isin(face, (F.SIDE, F.CAP1, F.CAP2))
        want = note_normals(p1[on], p2[on], position[on], face[on])
        np.testing.assert_allclose(normal[on], want, rtol=0, atol=1e-12)
        assert min((face == f).sum() for f in (F.SIDE, F.CAP1, F.CAP2)) > n // 50
