"""The clearance of hits and misses: that of `explain_segment` for each limb."""

from fractions import Fraction

import numpy as np
import pytest
from support.cases.thick_rays import mixed_limbs
from support.check_cylinders import IS_COMPILED
from support.mixed_queries import grid_limbs
from support.oracle.shapes.table import MAKERS

import cylcollide as cc
from cylcollide._types import RayNumbers
from cylcollide.kernels.about_limb import TERMS, line_about_limb, rounded_sum
from cylcollide.kernels.limb_table import plain_limb
from cylcollide.query import clearance
from cylcollide.query.clearance import clearance_of
from cylcollide.query.segment_frame import segment_about_limb

pytestmark = pytest.mark.plain_python


def scene(seed, n, limbs=10):
    """Limbs, and segments, many of which hit one."""
    rng = np.random.default_rng(seed)
    made, starts = mixed_limbs(limbs, rng, 2.0), rng.uniform(-3.0, 3.0, (n, 3))
    near = 0.5 * (made.p1 + made.p2)[rng.integers(0, limbs, n)] + 0.4 * rng.normal(size=(n, 3))
    return made, starts, starts + 1.5 * (near - starts)


def by_limb(limbs, start, end):
    """Clearances of all limbs from one segment."""
    return np.array([limbs.explain_segment(start, end, limb=k).clearance for k in range(len(limbs))])


def check(hits, limbs, starts, ends, rows=None):
    """Compare with explanations of each limb; `rows` are the limbs that count."""
    counted = np.arange(len(limbs)) if rows is None else np.asarray(rows)
    for i in range(len(starts)):
        alone = by_limb(limbs, starts[i], ends[i])
        if hits.hit[i]:
            assert (hits.clearance_limb[i], hits.clearance[i]) == (hits.limb[i], alone[hits.limb[i]])
            assert hits.clearance[i] <= 0.0
        else:
            assert hits.clearance[i] == alone[counted].min() > 0.0
            assert hits.clearance_limb[i] == counted[np.argmin(alone[counted])]


def test_equals_explained_clearance():
    limbs, starts, ends = scene(1, 24)
    world = cc.HitWorld(limbs)
    hits = world.cast_segments(starts, ends)
    assert 6 < hits.hit.sum() < 20
    check(hits, limbs, starts, ends)
    assert np.array_equal(world.snapshot().cast_segments(starts, ends).clearance, hits.clearance)
    some = hits[~hits.hit][1:]
    chosen = np.flatnonzero(~hits.hit)[1:]
    assert np.array_equal(some.clearance, hits.clearance[chosen])
    assert np.array_equal(some.clearance_limb, hits.clearance_limb[chosen])
    grown = cc.HitWorld(limbs.inflated(hits.clearance[chosen[0]] * (1.0 + 1e-9)))
    assert grown.cast_segments(starts[chosen[0]], ends[chosen[0]]).hit.tolist() == [True]
    with pytest.raises(ValueError, match="read-only"):
        hits.clearance[0] = 0.0


def test_clearance_in_a_bore_uses_the_nearest_piece():
    """The wall comes nearer on either side of the line's closest approach to the axis."""
    world, rng, n = cc.HitWorld(cc.Limbs.tubes([[-1, -2, 0.5]], [[1, 2, 1.5]], 1.0, 0.5)), np.random.default_rng(1), 20
    along = rng.uniform(0.7, 3.0, (n, 2, 1)) * [[-1], [1]] * np.array([1, 2, 0.5])
    ends = along + rng.uniform(-0.45, 0.45, (n, 2, 3)) + np.array([0.0, 0.0, 1.0])
    cuts = ends[:, :1] + np.linspace(0.0, 1.0, 25)[:, None] * np.diff(ends, axis=1)
    whole, pieces = world.cast_segments(*ends.swapaxes(0, 1)), world.cast_segments(cuts[:, :-1], cuts[:, 1:])
    assert (~whole.hit).sum() > 10
    least = pieces.clearance.reshape(n, -1).min(axis=1)
    assert np.abs(whole.clearance - least)[~whole.hit].max() < 1e-9


def test_ties_take_lowest_row():
    """Limbs on a grid and turned copies of them: growths are equal, or nearly, to the last bit."""
    limbs, rng = grid_limbs(), np.random.default_rng(5)
    limbs = cc.Limbs.concat([limbs, limbs[::-1]])[:60]
    starts = np.floor(np.array([8.0, 8.0, 24.0]) * rng.random((40, 3))) / 2 - 0.5
    ends = starts + 0.5 * rng.integers(-1, 2, (40, 3))
    hits = cc.HitWorld(limbs).cast_segments(starts, ends)
    missed = np.flatnonzero(~hits.hit)[: 6 if IS_COMPILED else 2]
    assert len(missed) > 1
    check(hits[missed], limbs, starts[missed], ends[missed])


@pytest.mark.parametrize("far", [1e9, 1e15, 1e18])
def test_limbs_far_from_most(far):
    """Boxes beyond 2**40 in the frame of the tree count as infinite; rays are near and far."""
    rng = np.random.default_rng(8)
    centre, radius = rng.uniform(-10, 10, (16, 3)), rng.uniform(0.2, 2.0, 16)
    centre[12:] += far * rng.uniform(0.5, 1.0, (4, 1)) * [1.0, -1.0, 0.0]
    radius[12:] *= 1e-6 * far
    limbs, about = cc.Limbs.spheres(centre, radius), rng.integers(8, 16, 12)
    starts = centre[about] + rng.normal(size=(12, 3)) * 3.0 * radius[about, None]
    starts[::3] = rng.uniform(-10, 10, (4, 3))
    ends = starts + rng.normal(size=(12, 3)) * radius[about, None]
    hits = cc.HitWorld(limbs).cast_segments(starts, ends)
    assert (hits.clearance_limb >= 12).any()
    check(hits, limbs, starts, ends)


@pytest.mark.coverage
def test_inflation_by_the_clearance_just_touches():
    """By exact verdicts on inflated limbs, which share no code with the growths of points."""
    rng, limbs = np.random.default_rng(11), mixed_limbs(150, np.random.default_rng(10), 4.0)
    limbs, n = limbs[limbs.kind != cc.Shape.TUBE], 40 if IS_COMPILED else 4  # a bore closes sooner
    starts, ends = rng.uniform(-6.0, 10.0, (2, n, 3))
    hits = cc.HitWorld(limbs).cast_segments(starts, ends)
    missed = np.flatnonzero(~hits.hit)
    assert len(missed) > n // 4
    for i in missed.tolist():
        least, limb = hits.clearance.item(i), hits.clearance_limb.item(i)
        more, less = limbs.inflated(least * (1.0 + 1e-12)), limbs.inflated(least * (1.0 - 1e-12))
        assert more[limb : limb + 1].cast_segments(starts[i], ends[i]).hit[0]
        assert not cc.HitWorld(less).occluded_segments(starts[i], ends[i])[0]


@pytest.mark.coverage("tube")
@pytest.mark.parametrize("name", MAKERS)
def test_loops_agree_with_fractions(name):
    """Along axes and oblique, on a grid, far away, huge and tiny; where loops are not certain, fractions decide."""
    rng, fields, certain, n = np.random.default_rng([3, *name.encode()]), 0, 0, 60
    for i in range(n):
        scale, far = [1.0, 1.0, 2.0**40, 2.0**-30, 2.0**150][i % 5], [0.0, 1.0, 1e6][i % 3]
        (centre, axis), radius = rng.normal(size=(2, 3)), scale * 10.0 ** rng.uniform(-2, 0.5)
        limb = MAKERS[name](scale * (far * centre - axis), scale * (far * centre + axis), radius, rng)
        place, step = 0.5 * (limb.p1 + limb.p2)[0] + scale * rng.normal(size=3), scale * rng.normal(size=3)
        if i % 2:
            step *= np.eye(3)[i % 3]
        if i % 5 == 0:
            place, step = np.round(4.0 * place) / 4.0, np.round(4.0 * step) / 4.0
        origin, second = place - step, place + step if i % 4 else step
        ray = RayNumbers(tuple(origin.tolist()), tuple(second.tolist()), i % 4 > 0, 1.0 if i % 4 else np.inf)
        ours, true = line_about_limb(RayNumbers(*ray), plain_limb(limb._table, 0), np.empty(TERMS)), None
        if ours.certain:
            true, certain = segment_about_limb(ray, limb._table, 0), certain + 1
            for field in ("place", "direction", "before", "behind", "unit"):
                assert getattr(ours, field) == getattr(true, field), field
                fields += 1
            assert ours.limb._replace(extent=0.0) == true.limb._replace(extent=0.0)
    assert certain > 0.7 * n
    assert fields == 5 * certain


def test_uncertain_rows_have_the_same_bits():
    """A coordinate is below the range in which products are exact."""
    limbs, starts, ends = scene(6, 12)
    starts[:, 0] = 1e-290 * (1 + np.arange(12))
    hits = cc.HitWorld(limbs).cast_segments(starts, ends)
    assert 1 < hits.hit.sum() < 11
    check(hits, limbs, starts, ends)


def test_one_uncertain_limb_takes_fractions_alone(monkeypatch):
    """A quotient of round numbers halfway between two float64: then all limbs near a ray took fractions, 30 ms."""
    rng, n, taken = np.random.default_rng(2), 24, []
    apex = rng.uniform(0.0, 9.0, (8 * n, 3))
    limbs = cc.Limbs.cones(apex, apex + 0.2 * rng.normal(size=(8 * n, 3)), 0.07)
    starts, along = np.column_stack([np.full(n, -1.0), rng.integers(0, 9, (n, 2)) + 0.5]), np.array([20.0, 0.0, 0.0])
    monkeypatch.setattr(clearance, "clearance_of", lambda *ray: taken.append(ray) or clearance_of(*ray))
    world = cc.HitWorld(limbs)
    hits, rays = world.cast_segments(starts, starts + along), world.cast_rays(starts, along, max_distance=20.0)
    assert np.array_equal(hits.clearance, rays.clearance)
    assert np.array_equal(hits.clearance_limb, rays.clearance_limb)
    assert len(taken) == 2
    open_rows = [np.flatnonzero((starts == ray.origin).all(axis=1))[0] for ray, _, _ in taken]
    check(hits[open_rows], limbs, starts[open_rows], starts[open_rows] + along)


@pytest.mark.coverage
@pytest.mark.parametrize("step", [2.0**-120, -(2.0**-120), 0.0, 2.0**-53])
@pytest.mark.parametrize("half", [2.0**-53, -(2.0**-54), 3.0 * 2.0**-53])
def test_places_are_rounded_once(half, step):
    """Halfway between two numbers, a term far below decides."""
    exact = Fraction(1) + Fraction(half) + Fraction(step)
    assert rounded_sum(1.0, (-2.0 * half, 0.0), (step, 0.0), 1.0, np.empty(TERMS)) == float(exact)


def test_steep_cones_grow_fast():
    """A disc's rim moves a hundred times as far as its faces: its growth is less than that of a ball beside it."""
    flat = cc.Limbs.tapered_cylinders([[0, 0, 0]], [[0, 0, 0.01]], 1.0, 0.25)
    ball = cc.Limbs.spheres([[0, 4, 1.5]], 0.5)
    world, segment = cc.HitWorld(cc.Limbs.concat([ball, flat])), ([-1.0, 4.0, 0.0], [1.0, 4.0, 0.0])
    hits, both = world.cast_segments(*segment), by_limb(world.limbs, *segment)
    assert both[1] < 0.1 < both[0]
    assert (hits.clearance[0], hits.clearance_limb[0]) == (both[1], 1)


def test_chosen_rows_keep_their_masks_and_characters():
    balls = cc.HitWorld(cc.Limbs.spheres([[0, 2, 0], [0, 4, 0], [0, 8, 0]], 1.0, mask=[1, 2, 4], character=[0, 1, 2]))
    start, end = [[-1.0, 0, 0]] * 4, [[1.0, 0, 0]] * 4
    hits = balls.cast_segments(start, end, mask=[4, 2, 1, 7], ignore_character=[-1, -1, -1, 0])
    assert hits.clearance_limb.tolist() == [2, 1, 0, 1]
    assert hits[::-1][[0, 2]].clearance_limb.tolist() == [1, 1]
    assert hits[1:].clearance.tolist() == [3.0, 1.0, 3.0]


def test_filters_and_rays():
    boxes = cc.Limbs.boxes(
        [[0, 0, 0], [0, 4, 0], [0, 9, 0]], [0, 0, 0, 1], [1.0, 1.0, 1.0], character=[0, 1, 2], mask=[1, 2, 4]
    )
    world = cc.HitWorld(boxes)
    start, end = [-5.0, 1.5, 0.0], [5.0, 1.5, 0.0]
    first, second = (0.5, 0), (1.5, 1)
    for options, want in (
        ({}, first), ({"mask": 6}, second), ({"ignore_character": 0}, second), ({"mask": 8}, (np.inf, -1)),
    ):  # fmt: skip
        hits = world.cast_segments(start, end, **options)
        assert (hits.clearance[0], hits.clearance_limb[0]) == pytest.approx(want)
    rays = world.cast_rays(
        [start, start, start], [[2.0, 0, 0], [0, 1e-3, 0], [-1.0, 0, 0]], max_distance=[np.inf, 1.25, np.inf]
    )
    assert rays.clearance.tolist() == pytest.approx([0.5, 4.0, 4.0])
    assert rays.clearance_limb.tolist() == [0, 0, 0]
    assert world.cast_rays(start, [0.0, 1.0, 0.0], max_distance=1.25).clearance.tolist() == pytest.approx([4.0])
    nothing = cc.HitWorld().cast_segments(start, end)
    assert (nothing.clearance[0], nothing.clearance_limb[0]) == (np.inf, -1)


def test_limbs_skipped_by_a_policy_do_not_count():
    balls = cc.HitWorld(cc.Limbs.spheres([[0, 0, 0], [5, 0, 0]], 1.0))
    for inside in ("ignore", "exit"):
        hits = balls.cast_segments([0.0, 0, 0], [0.5, 0, 0], inside=inside)
        assert (hits.hit[0], hits.clearance[0], hits.clearance_limb[0]) == (False, 3.5, 1)
    hits = balls.cast_segments([0.0, 0, 0], [0.5, 0, 0])
    assert (hits.clearance[0], hits.clearance_limb[0]) == (-1.0, 0)


def test_row_by_row():
    limbs, starts, ends = scene(2, 10)
    hits = limbs.cast_segments(starts, ends)
    want = [limbs.explain_segment(starts[k], ends[k], limb=k).clearance for k in range(10)]
    assert hits.clearance.tolist() == want
    assert hits.clearance_limb.tolist() == list(range(10))
    one = limbs[3:4].cast_segments(starts, ends).clearance.tolist()
    assert one == [limbs.explain_segment(start, end, limb=3).clearance for start, end in zip(starts, ends, strict=True)]


def test_thick_rays_have_the_line_clearance():
    world = cc.HitWorld(cc.Limbs.spheres([[0, 0, 0]], 1.0))
    for y, hit in ((0.5, True), (1.2, True), (1.7, False)):
        hits = world.cast_segments([-3.0, y, 0], [3.0, y, 0], radius=0.5)
        assert (hits.hit[0], hits.clearance[0]) == (hit, pytest.approx(y - 1.0, abs=1e-15))


def test_clearance_at_past_times():
    limbs, starts, ends = scene(3, 18)
    world = cc.HitWorld(limbs)
    history = cc.PoseHistory(world, interpolate="ends")
    for time in range(3):
        world.set_endpoints(limbs.p1 + 0.3 * time, limbs.p2 + 0.3 * time)
        history.record(float(time))
    times = np.resize([0.25, 1.0, 1.75, 7.0], 18)
    hits = history.cast_segments(starts, ends, times, on_old="miss")
    assert 2 < hits.hit.sum() < 14
    for i in range(18):
        if times[i] > 2.0:
            assert (hits.clearance[i], hits.clearance_limb[i]) == (np.inf, -1)
        else:
            then = cc.HitWorld(history.limbs_at(times[i])).cast_segments(starts[i], ends[i])
            assert (hits.clearance[i], hits.clearance_limb[i]) == (then.clearance[0], then.clearance_limb[0])


def test_protected_limbs_do_not_count():
    rig, world = cc.Rig.humanoid(), cc.HitWorld()
    ids = world.spawn(rig, 2)
    history = cc.PoseHistory(world)
    world.set_poses(ids, *rig.forward([[0, 0, 1], [4, 0, 1]], [0, 0, 0, 1], rig.rest_orientations))
    history.record(0.0)
    shot = [-3.0, 1.5, 1.0], [8.0, 1.5, 1.0]
    both = history.cast_segments(*shot, 0.0)
    one = history.cast_segments(*shot, 0.0, protected_since={int(ids[0]): 0.0}, ignore_character=None)
    other = history.cast_segments(*shot, 0.0, ignore_character=int(ids[0]))
    assert both.clearance_limb[0] < len(rig.limbs) <= one.clearance_limb[0]
    assert (one.clearance[0], one.clearance_limb[0]) == (other.clearance[0], other.clearance_limb[0])


def test_files_omit_it(tmp_path):
    hits = cc.HitWorld(cc.Limbs.spheres([[0, 0, 0]], 1.0)).cast_segments([-3.0, 0, 0], [3.0, 0, 0])
    hits.save(tmp_path / "hits")
    with pytest.raises(AttributeError):
        _ = cc.RayHits.load(tmp_path / "hits.npz").clearance


def test_grazes_have_no_clearance_of_the_other_verdict():
    """Ends at the rounded nearest places: half of them miss, by less than the rounding of a growth."""
    rng = np.random.default_rng(31)
    limbs = mixed_limbs(40, rng, 2.0)
    starts = limbs.p1 + rng.choice([-9.0, 9.0], (40, 3))
    ends = limbs.closest_points(starts).position
    hits = limbs.cast_segments(starts, ends)
    assert 5 < hits.hit.sum() < 35
    assert (hits.clearance[hits.hit] <= 0.0).all()
    assert (hits.clearance[~hits.hit] >= 0.0).all()
    assert np.abs(hits.clearance).max() < 1e-14
    for k in range(40):
        assert limbs.explain_segment(starts[k], ends[k], limb=k).clearance == hits.clearance[k]
