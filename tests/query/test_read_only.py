"""Results, limbs, rigs, clips and snapshots cannot be written, so that indices that loops use stay valid."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from support.awkward_calls import calls
from support.cases.everyday_shape_worlds import mixed, shots_at
from support.copies import COPIES

import cylcollide as cc
from cylcollide.query.result import Result


@pytest.fixture(scope="module")
def world() -> cc.HitWorld:
    return cc.HitWorld(mixed(28).limbs())


def arrays_in(value: Any, path: str) -> Iterator[tuple[str, np.ndarray]]:
    """Yield every array reachable through attributes and items."""
    if isinstance(value, np.ndarray):
        yield path, value
    elif isinstance(value, tuple):
        for k, item in enumerate(value):
            yield from arrays_in(item, f"{path}[{k}]")
    elif type(value).__module__.startswith("cylcollide"):
        for name in sorted(set(dir(value))):
            if not name.startswith("__") and not callable(getattr(value, name)) and name != "limbs":
                yield from arrays_in(getattr(value, name), f"{path}.{name}")


@pytest.mark.parametrize("limbs", [28, 0, 1])
def test_arrays_that_a_world_reads_are_read_only(limbs: int):
    made = mixed(28).limbs()[:limbs]
    world = cc.HitWorld(made)
    world.set_endpoints(made.p1, made.p2)
    state = world.snapshot()
    seen = 0
    for path, array in (*arrays_in(made, "limbs"), *arrays_in(world.limbs, "world"), *arrays_in(state, "snapshot")):
        assert not array.flags.writeable, path
        seen += 1
    assert seen > 40


@cache
def immutable() -> dict[str, Any]:
    """Return an object of each immutable kind."""
    answers = [call.call(**call.arguments) for call in calls().values() if call.function.startswith(("Rig", "Clip"))]
    (skin,) = (one.skin for one in answers if isinstance(one, cc.Rig) and one.skin is not None)
    rig, clip = (next(one for one in answers if isinstance(one, kind)) for kind in (cc.Rig, cc.Clip))
    weights = np.linspace(0.1, 3.0, len(skin.vertices))[:, None] * skin.weights  # normalised on construction
    skin = type(skin)(skin.vertices, skin.faces, weights, *skin._bone_columns)
    state = cc.HitWorld(rig.limbs).snapshot()
    return {"Limbs": rig.limbs, "Rig": rig, "Clip": clip, "Skin": skin, "Snapshot": state}


@pytest.mark.parametrize("kind", ["Limbs", "Rig", "Clip", "Skin", "Snapshot"])
def test_immutable_objects_and_copies_cannot_be_changed(kind: str):
    one = immutable()[kind]
    names = [name for name in dir(one) if not name.startswith("__") and name != "_state_row"]
    for name in (*names, "other"):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(one, name, None)
        with pytest.raises(AttributeError, match="immutable"):
            delattr(one, name)
    columns = {name: getattr(one, name) for name in names if name[0] != "_" and name != "travel"}  # the caller's own
    arrays = {name: column for name, column in columns.items() if isinstance(column, np.ndarray)}
    assert len(arrays) > 3 or kind == "Snapshot"
    for copied in (one, *(make(one) for make in COPIES.values())):
        assert (type(copied), repr(copied)) == (type(one), repr(one))
        for name, array in arrays.items():
            same = getattr(copied, name)
            assert not same.flags.writeable, name
            assert np.array_equal(same, array), name


@pytest.mark.parametrize("how", COPIES)
def test_columns_of_copied_results_cannot_be_written(how: str):
    """Results of the present and of the past, whose columns were read before."""
    kinds = set()
    for call in calls().values():
        answer = call.call(**call.arguments)
        if not isinstance(answer, Result):
            continue
        read = answer.to_dict()
        columns = COPIES[how](answer).to_dict()
        assert columns.keys() == read.keys()
        for name, column in (*columns.items(), *read.items()):
            assert not column.flags.writeable, (call.function, name)
        fresh = call.call(**call.arguments)
        for name in reversed(answer.fields):  # derived columns, which come last, are read first
            same = np.array_equal(getattr(fresh, name), read[name], equal_nan=read[name].dtype.kind == "f")
            assert same, (call.function, name)
        kinds.add((type(answer).__name__, "tick" in read))
    assert kinds >= {(name, past) for name in ("RayHits", "Chords", "Doubts", "Overlaps") for past in (False, True)}


def test_any_hit_is_the_callers_own(world: cc.HitWorld):
    """The caller may write a column made for it, whatever the number of rays."""
    for n in (1, 3000):
        start, end = shots_at(mixed(28), n)
        blocked = world.occluded_segments(start, end)
        blocked[:] = True
        assert blocked.all()


@pytest.mark.parametrize("how", COPIES)
def test_copied_records_are_equal_and_cannot_be_written(how: str):
    """Rows of results, flights, explanations of misses, symmetries and limits."""
    rig, world = cc.Rig.humanoid(), cc.HitWorld()
    world.set_poses(world.spawn(rig), *rig.forward([[0, 0, 1]], [0, 0, 0, 1], rig.rest_orientations))
    history = cc.PoseHistory(world)
    for time in (0.0, 1.0):
        history.record(time)
    segments = [[-5, 0, 1.0], [-5, 0, 9.0]], [[5, 0, 1.0], [5, 0, 9.0]]
    hits, flown, near = (ask(*segments, *more) for ask, more in (
        (world.cast_segments, ()), (history.cast_moving, (0.0, 1.0)), (lambda start, _: world.closest_points(start), ())
    ))  # fmt: skip
    path, limits = cc.flight(segments[0], [10.0, 0.0, 0.0], 1.0), cc.RewindLimits(1.0)
    why = history.explain_miss(segments[0][1], segments[1][1], 0.5)
    symmetry, admitted = rig.symmetry(), limits.admit([0.5, np.nan], 0.0, 1.0)
    shots = world.judge_segments(*segments, cc.Policy.first_surface()).by_shot()
    tuples = symmetry, admitted, shots, shots.victims
    for one in (hits[0], hits[1], flown[0], flown[1], near[0], path, why, *tuples):
        other, seen = COPIES[how](one), 0
        assert type(other) is type(one)
        assert str(other) == str(one)
        for name in dir(one):
            if isinstance(column := getattr(one, name), np.ndarray):
                same = getattr(other, name)
                assert not column.flags.writeable, (type(one), name)
                assert not same.flags.writeable, (type(one), name)
                assert np.array_equal(same, column, equal_nan=column.dtype.kind == "f")
                seen += 1
        assert seen > 1
        assert one == other
    assert hits[0] != hits[1]
    assert hits[0] != near[0]
    assert near[0] != near[1]
    assert path != cc.flight(segments[0], [10.0, 0.0, 1.0], 1.0)
    assert shots != shots._replace(rays=shots.rays + 1)
    assert shots.victims != shots
