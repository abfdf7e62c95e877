"""Queries whose arguments have any shape (..., 3): answers are those of the rows in C order; results keep the shape."""

from typing import Any

import numpy as np
import pytest
from support.awkward_calls import ROWS, Call, arrays_of, calls, world

import cylcollide as cc
from cylcollide.query.arguments import TIMES, VECTORS
from cylcollide.query.result import Result

SHAPE = (3, 1, 2)
assert np.prod(SHAPE) == ROWS


def queries() -> dict[str, Call]:
    """Return the calls with one answer per vector: all queries of worlds, snapshots, histories and limbs."""
    found = {name: call for name, call in calls().items() if set(call.arguments) & set(VECTORS) and _is_query(call)}
    assert len(found) > 50
    return found


def _is_query(call: Call) -> bool:
    owner, _, method = call.function.partition(".")
    verbs = ("cast", "occluded", "chords", "judge", "contains", "closest", "points", "overlap", "doubt", "sweep")
    return owner in ("HitWorld", "Snapshot", "PoseHistory", "Limbs") and method.startswith((*verbs, "classify", "axis"))


def shaped(arguments: dict[str, Any], shape: tuple[int, ...]) -> dict[str, Any]:
    """Return arguments whose rows have this shape."""
    return {name: array.reshape(*shape, *array.shape[1:]) for name, array in arguments.items()}


def equal(answer: Any, want: list[Any]) -> bool:
    """Return whether an answer has these arrays."""
    pairs = zip(arrays_of(answer), want, strict=True)
    return all(np.array_equal(got, other, equal_nan=got.dtype.kind == "f") for got, other in pairs)


@pytest.mark.parametrize("name", queries())
def test_shaped_rows_have_the_answers_of_rows(name: str):
    call = queries()[name]
    answer = call.call(**shaped(call.arguments, SHAPE))
    assert equal(answer, call.answer)
    if isinstance(answer, Result):
        assert answer.shape == SHAPE
        assert call.call(**call.arguments).shape == (ROWS,)
        assert answer == call.call(**call.arguments)
        assert answer[1:3].shape == (2,)
    lists = {key: array.tolist() for key, array in shaped(call.arguments, SHAPE).items()}
    assert equal(call.call(**lists), call.answer)


@pytest.mark.parametrize("name", queries())
def test_mixed_shapes_are_refused_with_both(name: str):
    call = queries()[name]
    for one in call.arguments:
        given = shaped(call.arguments, SHAPE)
        given[one] = given[one].swapaxes(0, 2)
        if len(set(call.arguments) & set(VECTORS)) == 1 and one in VECTORS:
            wrong = next((key for key in given if key not in VECTORS), None)
            if wrong is None:
                continue
        with pytest.raises(ValueError, match=r"expected shape \((3, 1, 2|2, 1, 3).*reshape either"):
            call.call(**given)


def test_flights_of_any_shape():
    (call,) = (one for one in calls().values() if one.function == "flight")
    want, path = call.call(**call.arguments), call.call(**shaped(call.arguments, SHAPE))
    names = ("starts", "ends", "t0", "t1", "bullet", "error")
    assert all(np.array_equal(getattr(path, name), getattr(want, name)) for name in names)
    assert set(path.bullet) == set(range(ROWS))
    with pytest.raises(ValueError, match=r"drag: expected shape \(3, 1, 2\).*reshape either"):
        call.call(**{**shaped(call.arguments, SHAPE), "drag": np.ones((2, 1, 3))})


def one_for_all() -> list[tuple[str, str]]:
    """Return the key and argument of every call that takes one number per row."""
    numbers = [(key, name) for key, call in calls().items() for name, one in call.arguments.items() if one.ndim == 1]
    assert len(numbers) > 200
    return [(key, name) for key, name in numbers if len(calls()[key].arguments[name]) == ROWS]


def tried(call: Call, name: str, value: Any) -> Any:
    """Return the answer with another value of one argument; None if it is refused."""
    try:
        return call.call(**{**call.arguments, name: value})
    except ValueError:
        return None


def test_an_array_of_one_number_is_broadcast_like_a_number():
    taken = set()
    for key, name in one_for_all():
        call, first = calls()[key], calls()[key].arguments[name][:1]
        want, got = tried(call, name, first[0]), tried(call, name, first)
        assert (want is None) == (got is None), (key, name)
        if want is not None and got is not None:
            taken.add(name)
            assert equal(got, arrays_of(want)), (key, name)
    assert taken >= {"radius", "radii", "max_distance", "mask", "ignore_character", "energy", "shot", "time", "tick"}
    assert taken >= {"alpha", "t0", "duration", "drag", "step", "character", "hit_group", "by", "bound", "time_radius"}
    assert "parents" not in taken


def test_single_vectors_have_no_shape_and_single_rows_do():
    hits = world().cast_segments([0, 0, 0], [1, 1, 1])
    assert (hits.shape, len(hits), hits.fraction.reshape(hits.shape).ndim) == ((), 1, 0)
    assert world().cast_segments([0, 0, 0], [[1, 1, 1]]).shape == (1,)
    assert world().cast_segments([0, 0, 0], np.zeros((2, 0, 3))).shape == (2, 0)
    assert world().contains_points([]).shape == (0,)
    judged = world().judge_segments([0, 0, 0], np.ones((4, 3, 3)), cc.Policy.penetration(1.0))
    assert judged.shape == judged.impacts.shape == (4, 3)
    assert cc.Limbs.concat([world().limbs] * 2).cast_segments([0, 0, 0], [1, 1, 1]).shape == (2 * len(world().limbs),)


def test_one_vector_of_each_at_many_times():
    """Every query of a history that takes times: one vector for all times, and times in any shape."""
    one, tried = {name: [0.5, 0.625, 0.25, 1.0][:size] for name, size in VECTORS.items()}, set()
    for call in queries().values():
        times = [name for name in call.arguments if name in TIMES]
        if not (call.function.startswith("PoseHistory.") and times):
            continue
        given = {name: array[:1] if name not in times else array for name, array in call.arguments.items()}
        given |= {name: one[name] for name in given if name in VECTORS}
        rows = {name: [one[name]] * ROWS for name in given if name in VECTORS}
        answer = call.call(**given)
        assert equal(answer, arrays_of(call.call(**{**given, **rows}))), call.function
        assert not isinstance(answer, Result) or answer.shape == (ROWS,)
        image = {name: array.reshape(SHAPE) for name, array in given.items() if name in times}
        arrays = {name: np.array([one[name]]) for name in given if name in VECTORS}
        for images in (image, {name: array.tolist() for name, array in image.items()}):
            found = call.call(**{**given, **arrays, **images})
            assert not isinstance(found, Result) or (found.shape, found == answer) == (SHAPE, True), call.function
        tried.add(call.function)
    assert len(tried) >= 17, tried


def test_one_vector_of_any_argument_is_broadcast():
    tried = set()
    for call in queries().values():
        vectors = [name for name in call.arguments if name in VECTORS]
        for name in vectors[: len(vectors) if len(vectors) > 1 else 0]:
            alone = call.arguments[name][:1]
            rows = {name: np.repeat(alone, ROWS, axis=0)}
            want, image = arrays_of(call.call(**{**call.arguments, **rows})), shaped(call.arguments, SHAPE)
            assert equal(call.call(**{**call.arguments, name: alone[0]}), want), (call.function, name)
            for given in (alone, alone[0].tolist()):
                answer = call.call(**{**image, name: given})
                assert equal(answer, want), (call.function, name)
                assert not isinstance(answer, Result) or answer.shape == SHAPE
            tried.add(name)
    assert tried >= {"starts", "directions", "p2", "to_p1", "center", "orientation", "half_extents"}, tried


@pytest.mark.parametrize("kind", ["vectors", "times"])
def test_one_vector_with_empty_arguments_is_empty(kind: str):
    """If all other arguments have no rows, the answer has none, whether they are vectors or times."""
    tried = set()
    for call in queries().values():
        names = [name for name in call.arguments if name in (VECTORS if kind == "vectors" else TIMES)]
        if call.function.startswith("Limbs.") or not names[kind == "vectors" :]:
            continue
        rows = {name: array[: 1 if name in VECTORS else 0] for name, array in call.arguments.items()}
        for alone in names if kind == "vectors" else [""]:
            none = {name: array[:0] for name, array in call.arguments.items() if name in names and name != alone}
            answer = call.call(**{**rows, **none})
            assert len(answer) == 0, (call.function, alone)
            assert not isinstance(answer, Result) or answer.shape == (0,)
            tried.add(call.function)
    assert len(tried) >= 17, tried


def test_a_file_keeps_the_shape(tmp_path):
    hits = world().cast_rays([0, 0, 0], np.ones((2, 2, 3)))
    hits.save(tmp_path / "kept")
    again = cc.RayHits.load(tmp_path / "kept")
    assert (again.shape, again == hits, again[:3].shape) == ((2, 2), True, (3,))


@pytest.mark.parametrize(
    "rows",
    [
        [1.0, 2.0], [1.0, 2.0, 3.0, 4.0], [[1.0, 2.0]], [[1.0, 2.0, 3.0], [4.0, 5.0]], [[[1.0, 2.0]]], [1.0, [2.0]],
        [10**400, 0.5, 1.0], [[1.0, 2.0, 3.0], 4.0], [[1.0, 2.0, "3"]], [1.0, None, 2.0], [[1.0, 2.0, 3.0], None],
    ],
    ids=str,
)  # fmt: skip
def test_lists_of_floats_that_are_no_vectors_are_refused(rows: Any):
    for name, call in (
        ("starts", lambda: world().cast_segments(rows, [1.0, 2.0, 3.0])),
        ("points", lambda: world().contains_points(rows)),
        ("p1", lambda: cc.Limbs.capsules(rows, [[1.0, 2.0, 3.0]], 1.0)),
    ):
        with pytest.raises(ValueError, match=f"^{name}: expected "):
            call()


@pytest.mark.parametrize("ends", [[0, 0, 0, 1], np.zeros((5, 4)), np.zeros((2, 5, 4))])
def test_vectors_of_four_are_refused_with_the_remedy(ends: Any):
    with pytest.raises(ValueError, match=r"expected shape .*got .*4.*of x, y, z, w take \[\.\.\., :3\]"):
        world().cast_segments([0, 0, 0], ends)


def test_explanations_mention_an_end_that_looks_like_a_direction():
    limbs = cc.Limbs.capsules([[5, 5, 5]], [[6, 5, 5]], 0.1)
    history = cc.PoseHistory(cc.HitWorld(limbs))
    history.record(0.0)
    for end, told in (([0.6, 0.8, 0.0], True), ([0.6, 0.9, 0.0], False)):
        for text in (limbs.explain_segment([5, 5, 0], end), history.explain_miss([5, 5, 0], end, 0.0)):
            assert ("has length 1: if it is a direction, use cast_rays" in str(text)) == told
