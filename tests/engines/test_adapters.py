"""Every installed engine: known shots at every shape that it supports, and its declared limits."""

from fractions import Fraction
from itertools import cycle

import numpy as np
import pytest
from support.cases.one_of_each_shape import LIMBS
from support.oracle.algebraic import value
from support.oracle.any_shape import chords, classify
from support.oracle.cylinder import POINT_OUTSIDE, segment
from support.oracle.shapes.common import ACROSS, AXIS, CENTER, EVERYDAY, HALF_LENGTH, RADIUS
from support.oracle.shapes.table import SHAPE_ROWS
from support.oracle.spots import Spot

import cylcollide as cc
from cylcollide import engines
from cylcollide._types import Shape
from cylcollide.engines.protocol import MeasuresDistances

AVAILABLE = [name for name, reason in engines.available().items() if reason is None]
VARIANTS = {
    f"{name} {label}".strip(): (name, options)
    for name in AVAILABLE
    for label, options in engines.variants(name).items()
    if label != "margin 0"  # it misses what others hit
}
SOLIDS = {shape: SHAPE_ROWS[shape].everyday.solids()[0] for shape in Shape}
LONG = [shape for shape in Shape if "p2" in SHAPE_ROWS[shape].takes]


@pytest.fixture(params=VARIANTS)
def any_engine(request):
    name, options = VARIANTS[request.param]
    with engines.create(name, **options) as made:
        yield made


@pytest.fixture
def engine(any_engine):
    if not any_engine.capabilities.rays:
        pytest.skip("casts no rays")
    return any_engine


def first_chord(shape, start, end):
    found = chords(SOLIDS[shape], segment(start, end))
    assert found, f"the everyday {shape.name} of the tests' table does not lie about `common.CENTER`"
    return found[0]


def held(engine):
    return [shape for shape in Shape if not engine.capabilities.lacks([shape])]


def test_the_engines_that_ci_installs_are_there():
    assert {"cylcollide", "bullet"} <= set(AVAILABLE)


def test_head_on_shots_hit_at_the_known_distance(engine):
    assert held(engine)
    for shape in held(engine):
        engine.build(LIMBS[shape])
        solid, row = SOLIDS[shape], SHAPE_ROWS[shape]
        # Off the axis where that lies in a bore; across from +x and from -x in the limb's own frame.
        off = 0.15 * np.array([0.0, 1.0, 0.0]) if classify(solid, CENTER) == POINT_OUTSIDE else 0.0
        outward = np.array([ACROSS, -ACROSS, AXIS, -AXIS])
        start = CENTER + 2.0 * outward + np.array([[0.0], [0.0], [1.0], [1.0]]) * off
        end = start - 4.0 * outward
        hits = engine.cast_segments(start, end)
        first = [first_chord(shape, *ends) for ends in zip(start, end, strict=True)]
        expected = np.array([float(value(chord.entry)) for chord in first])
        assert hits.limb.tolist() == [0, 0, 0, 0], shape
        assert hits.limb.dtype == np.int32
        np.testing.assert_allclose(
            hits.fraction, expected, rtol=0, atol=engine.capabilities.accuracy / 4.0, err_msg=shape.name
        )
        place = start + expected[:, None] * (end - start)
        np.testing.assert_allclose(hits.position, place, rtol=0, atol=engine.capabilities.accuracy, err_msg=shape.name)
        if engine.capabilities.normal:
            spots = (Spot(solid, [Fraction(x) for x in point]) for point in place.tolist())
            true = [row.normal(spot, chord.entry_face)[0] for spot, chord in zip(spots, first, strict=True)]
            room = 0.2 if engine.capabilities.sides else 0.08  # half a facet's angle; Bullet's rounding
            np.testing.assert_allclose(hits.normal, true, rtol=0, atol=room, err_msg=shape.name)


def test_a_clear_miss_and_a_segment_that_ends_before_the_limb(engine):
    for shape in held(engine):
        engine.build(LIMBS[shape])
        start = np.array([CENTER + 2.0 * ACROSS, CENTER + 2.0 * ACROSS + [0.0, 1.0, 0.0], CENTER + 2.0 * ACROSS])
        end = np.array([CENTER + 0.5 * ACROSS, CENTER - 2.0 * ACROSS + [0.0, 1.0, 0.0], CENTER + 4.0 * ACROSS])
        hits = engine.cast_segments(start, end)
        assert hits.limb.tolist() == [-1, -1, -1], shape
        assert np.isnan(hits.fraction).all()
        assert np.isnan([hits.position, hits.normal]).all()


def test_a_start_inside_does_what_the_engine_declares(engine):
    for shape in held(engine):
        engine.build(LIMBS[shape])
        start = (CENTER + 0.15 * ACROSS + 0.01 * AXIS)[None]
        hits = engine.cast_segments(start, start + 2.0 * ACROSS)
        leaves = float(value(first_chord(shape, start[0], start[0] + 2.0 * ACROSS).exit))
        match engine.capabilities.inside:
            case "hit":
                assert hits.fraction.tolist() == [0.0], shape
            case "exit":
                assert abs(hits.fraction[0] - leaves) < 0.01, shape
            case "ignore":
                assert hits.limb.tolist() == [-1], shape


def test_moved_limbs_are_hit_where_they_are(engine):
    shift = np.array([3.0, 1.0, -2.0])
    for shape in held(engine):
        limbs = LIMBS[shape]
        engine.build(limbs)
        before = engine.cast_segments((CENTER + 2 * ACROSS)[None], (CENTER - 2 * ACROSS)[None])
        engine.set_endpoints(limbs.p1 + shift, limbs.p2 + shift)
        start = np.array([CENTER + 2 * ACROSS, CENTER + shift + 2 * ACROSS])
        hits = engine.cast_segments(start, start - 4 * ACROSS)
        assert hits.limb.tolist() == [-1, 0], shape
        assert abs(hits.fraction[1] - before.fraction[0]) < engine.capabilities.accuracy / 4.0


def test_longer_limbs_are_hit_over_all_their_length(engine):
    for shape in set(held(engine)) & set(LONG):
        engine.build(LIMBS[shape])
        engine.set_endpoints(np.array([CENTER - 3 * AXIS]), np.array([CENTER + 3 * AXIS]))
        start = np.array([CENTER + 2 * ACROSS + 2 * AXIS, CENTER + 2 * ACROSS - 4 * AXIS])
        assert engine.cast_segments(start, start - 4 * ACROSS).limb.tolist() == [0, -1], shape


def test_tiny_changes_of_length_add_up(engine):
    shape = next((shape for shape in held(engine) if shape in LONG), None)
    if shape is None:
        pytest.skip("holds no shape with a length")
    engine.build(LIMBS[shape])
    # An engine may take each step for rounding, but not their sum.
    halves = HALF_LENGTH + 3e-6 * np.arange(1, 401)
    for half in halves if engine.capabilities.moves else halves[-1:]:
        engine.set_endpoints(np.array([CENTER - half * AXIS]), np.array([CENTER + half * AXIS]))
    off = 0.15 * np.array([0.0, 1.0, 0.0])
    start = (CENTER + 2 * AXIS + off)[None]
    hits = engine.cast_segments(start, start - 4 * AXIS)
    assert abs(hits.fraction[0] - (2.0 - halves[-1]) / 4.0) < engine.capabilities.accuracy / 8


def test_distances_are_signed_and_of_the_given_limb(any_engine):
    engine = any_engine
    if not isinstance(engine, MeasuresDistances):
        pytest.skip("measures no distances")
    for shape in {Shape.SPHERE, Shape.CAPSULE, Shape.CYLINDER, Shape.BOX} & set(held(engine)):
        shift = np.array([0.0, 0.0, 30.0])
        limbs = cc.Limbs.concat([LIMBS[shape], LIMBS[shape].moved(LIMBS[shape].p1 + shift, LIMBS[shape].p2 + shift)])
        engine.build(limbs)
        told = np.array([0.5, -0.01, 0.02, 1.0])
        places = CENTER + (RADIUS + told)[:, None] * ACROSS + np.array([[0], [1], [1], [0]]) * shift
        found = engine.signed_distances(places, np.array([0, 1, 1, 0], np.int32))
        np.testing.assert_allclose(found, told, rtol=0, atol=engine.capabilities.accuracy, err_msg=shape.name)
        assert (np.sign(found) == np.sign(told)).all()
        way = (CENTER + 2 * ACROSS)[None], (CENTER - 2 * ACROSS)[None]
        if engine.capabilities.rays:
            assert engine.cast_segments(*way).limb.tolist() == [0], "what stands for the point does not stay"
        else:
            assert "no rays" in engine.capabilities.cannot()
            with pytest.raises(ValueError, match="casts no rays"):
                engine.cast_segments(*way)


def test_many_limbs_keep_their_numbers(engine):
    shifts = np.array([[0.0, 2.0 * i, 0.0] for i in range(24)])
    limbs = [LIMBS[shape] for shape, _ in zip(cycle(held(engine)), shifts, strict=False)]
    engine.build(cc.Limbs.concat([one.moved(one.p1 + by, one.p2 + by) for one, by in zip(limbs, shifts, strict=True)]))
    start = CENTER + 2.0 * ACROSS + shifts
    hits = engine.cast_segments(start, start - 4.0 * ACROSS)
    assert hits.limb.tolist() == list(range(24))


def test_a_batch_longer_than_its_limit_keeps_every_ray(engine):
    shape = held(engine)[0]
    engine.build(LIMBS[shape])
    n = (engine.capabilities.max_batch or 1000) + 3
    rng = np.random.default_rng(4)
    start = CENTER + 2.0 * ACROSS + rng.normal(size=(n, 3)) * [0.0, 0.3, 0.0]
    end = start - 4.0 * ACROSS
    hits = engine.cast_segments(start, end)
    true = LIMBS[shape].cast_segments(start, end)
    assert len(hits.limb) == n
    assert np.mean((hits.limb >= 0) == true.hit) > 0.99
    assert 0.5 < np.mean(true.hit) < 0.9
    one = engine.cast_segments(start[-1:], end[-1:])
    assert one.limb[0] == hits.limb[-1]


def test_no_rays_and_no_limbs(engine):
    shape = held(engine)[0]
    engine.build(LIMBS[shape])
    none = np.empty((0, 3))
    assert [len(column) for column in vars(engine.cast_segments(none, none)).values()] == [0, 0, 0, 0]
    engine.build(LIMBS[shape][:0])
    assert engine.cast_segments(CENTER[None], CENTER[None] + 1.0).limb.tolist() == [-1]


def test_unknown_shapes_are_refused_by_name(engine):
    for shape in engine.capabilities.lacks(Shape):
        limbs = cc.Limbs.concat([LIMBS[held(engine)[0]], LIMBS[shape]])
        with pytest.raises(ValueError, match=f"{engine.name} holds .* got a {shape.name.lower()} in row 1"):
            engine.build(limbs)


def test_wrong_number_of_ends_is_refused(engine):
    shape = held(engine)[0]
    with pytest.raises(ValueError, match="build"):
        engine.set_endpoints(*EVERYDAY)
    engine.build(LIMBS[shape])
    with pytest.raises(ValueError, match="2"):
        engine.set_endpoints(np.zeros((2, 3)), np.ones((2, 3)))


def test_closing_twice_is_harmless(engine):
    engine.build(LIMBS[held(engine)[0]])
    engine.close()
    engine.close()


def test_versions_and_limits_are_listed(engine):
    assert engine.versions
    assert all(isinstance(version, str) and version[0].isdigit() for version in engine.versions.values())
    said = engine.capabilities.cannot()
    assert (said == []) == (engine.name == "cylcollide")
    assert any("float32" in phrase for phrase in said) == (engine.capabilities.precision == "float32")


@pytest.mark.parametrize("name", [name for name in ("embree", "open3d") if name in AVAILABLE])
def test_more_sides_are_closer(name):
    limbs = LIMBS[Shape.CYLINDER]
    rng = np.random.default_rng(1)
    start = CENTER + 3.0 * rng.normal(size=(400, 3))
    end = 2 * CENTER - start
    true = limbs.cast_segments(start, end).fraction
    errors = []
    for sides in (8, 32, 128):
        with engines.create(name, sides=sides) as engine:
            engine.build(limbs)
            errors.append(np.nanmedian(np.abs(engine.cast_segments(start, end).fraction - true)))
    assert errors[0] > 8 * errors[1] > 64 * errors[2] > 0
    with pytest.raises(ValueError, match="at least 3, got 2"):
        engines.create(name, sides=2)
