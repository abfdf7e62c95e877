"""Arguments of loops: always of the declared types, whatever users pass."""

from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest
from support.cases.everyday_worlds import make_crowd
from support.check_cylinders import IS_COMPILED
from support.machine_code import replace_loop
from support.thresholds import set_threshold

import cylcollide
from cylcollide.constants import SMALLEST_STREAM
from cylcollide.runtime import compile
from cylcollide.runtime.compile import LOOPS
from cylcollide.world.draft import Draft

pytestmark = pytest.mark.plain_python


@pytest.mark.skipif(not IS_COMPILED, reason="about machine code")
def test_arrays_of_any_kind_are_answered_by_the_same_code():
    """Read-only, in columns, strided, of another kind: machine code reads one kind alone."""
    plain = np.random.default_rng(7).normal(size=(4000, 3))
    limbs = cylcollide.Limbs.cylinders(np.zeros(3), np.ones(3), 0.5)
    world = cylcollide.HitWorld(limbs)
    read_only, columns, twice = plain.copy(), np.asfortranarray(plain), np.repeat(plain, 2, axis=0)[::2]
    read_only.flags.writeable = False
    for n in (5, 4000):
        want = world.cast_segments(plain[:n], -plain[:n])
        for other in (read_only, columns, twice, plain.tolist()):
            got = world.cast_segments(other[:n], (-plain[:n]).tolist())
            assert np.array_equal(got.fraction, want.fraction)
        assert want.hit.any()


def worlds(tmp_path: Path) -> Iterator[cylcollide.HitWorld]:
    """Worlds of few, some and many limbs, made in every way there is; and none at all."""
    start = np.arange(30.0).reshape(10, 3)
    few = cylcollide.Limbs.cylinders(start[:2], start[:2] + 1.0, 0.5)
    boxes = cylcollide.Limbs.boxes(start, [0.0, 0.0, 0.0, 1.0], [1, 2, 3], character=np.arange(10), mask=3)
    some = cylcollide.Limbs.concat([few, boxes, cylcollide.Limbs.tubes(start, start - 1.0, 1.0, 0.5)])
    some.save(tmp_path / "limbs.npz")
    yield from map(cylcollide.HitWorld, (few, some, some[::2], some[[]], few.inflated(1), make_crowd(400)))
    world = cylcollide.HitWorld(cylcollide.Limbs.load(tmp_path / "limbs.npz"))
    yield world
    world.set_endpoints(2 * world.limbs.p1, (2 * world.limbs.p2).astype(np.float32))
    yield world


POLICIES = (
    cylcollide.Policy.first_surface({1: 2, 3: 4}),
    cylcollide.Policy.most_important([3, 1]),
    cylcollide.Policy.longest_chord(default=2),
    cylcollide.Policy.penetration({1: 100.0}),
)


def questions(n: int) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Every form that arguments may have: method, arguments and options."""
    plain = np.random.default_rng(7).normal(size=(n, 3)) + 1.0
    read_only, whole = plain.copy(), np.ones(n, np.int16)
    read_only.flags.writeable = False
    swapped = plain.astype(plain.dtype.newbyteorder())
    kinds = (plain, read_only, np.asfortranarray(plain), np.repeat(plain, 2, axis=0)[::2], plain.astype(np.float32))
    for other in (*kinds, swapped, plain.tolist(), np.ones((n, 3), int), plain[0] if n == 1 else plain):
        yield "contains_points", (other,), {}
        for name in ("segments", "rays"):
            for query in (f"cast_{name}", f"occluded_{name}", f"chords_{name}"):
                yield query, (other, plain), {"threads": 1}
                yield query, (plain, other), {"inside": "exit", "ignore_character": 3, "mask": np.uint8(1)}
                many = {"mask": np.repeat(whole, 2)[::2], "ignore_character": whole.astype(">i4")}
                yield query, (plain, plain), {**many, "inside": "ignore", "threads": 2}
    for kind in POLICIES:
        for energy in (1, 2.5, whole, read_only[:, 0] ** 2, np.repeat(plain[:, 0] ** 2, 2)[::2]):
            yield "judge_segments", (plain, plain + 1.0, kind), {"energy": energy, "shot": whole}
    for limit in (2, 2.5, np.float32(3), whole, np.repeat(plain[:, 0] ** 2, 2)[::2], read_only[:, 0] ** 2):
        yield "cast_rays", (plain, plain), {"max_distance": limit}


def characters() -> Iterator[cylcollide.Limbs]:
    """Characters of a rig with all kinds of limbs and of one with none, posed in every form that arguments may have."""
    person = cylcollide.Rig.humanoid()
    mixed = cylcollide.Limbs.concat([person.limbs, cylcollide.Limbs.boxes(np.zeros((2, 3)), [0, 0, 0, 1], [1, 2, 3])])
    bones = (person.bone_names, person.parents, person.rest_positions, person.rest_orientations)
    joints = person.rest_orientations
    for limbs in (mixed, mixed[[]]):
        rig = cylcollide.Rig(*bones, limbs, np.zeros(len(limbs), np.int16))
        for turns in (joints, joints.tolist(), joints.astype(np.float32), np.asfortranarray(joints)):
            for k in (0, 1, 3):
                positions, orientations = rig.forward(np.zeros((k, 3), int), [0, 0, 0, 1], turns)
                yield rig.place(positions, np.asfortranarray(orientations))


def lives(every: list[cylcollide.Limbs]) -> Iterator[Any]:
    """Worlds in which characters come, move and go, and their histories: every query there is in the past."""
    person, bare = cylcollide.Rig.humanoid(), every[1]
    boxes = cylcollide.Limbs.boxes(np.zeros((2, 3)), [0, 0, 0, 1], [1, 2, 3])
    solid = cylcollide.Rig(["root"], [-1], [[0, 0, 0]], [[0, 0, 0, 1]], boxes, [0, 0])
    for limbs, mode, count in ((None, "bones", 70), (bare, "bones", 9), (bare, "ends", 9)):
        world = cylcollide.HitWorld(limbs)
        history = cylcollide.PoseHistory(world, interpolate=mode)
        ids, others = world.spawn(person, count), world.spawn(solid, 3)
        for k in range(4):
            root = np.random.default_rng(k).normal(size=(count, 3))
            positions, orientations = person.forward(root, [0, 0, 0, 1], person.rest_orientations)
            world.set_poses(ids, positions, np.asfortranarray(orientations))
            world.set_poses(others, np.ones((3, 1, 3), int), [[[0, 0, 0, 1]]] * 3)
            world.set_poses(ids[2], positions[2], orientations[2].tolist())
            if limbs is not None:
                world.set_endpoints(limbs.p1 + k, limbs.p2 + k)
                world.set_endpoints(limbs.p1[:2] + k, limbs.p2[:2] + k, [1, 0])
            history.record(k)
        for time in (1.5, [2.25] * 5, np.full(5, 1, np.int16)):
            start = np.random.default_rng(5).normal(size=(5, 3))
            hits, chords = history.cast_segments(start, -start, time), history.chords_rays(start, -start, time)
            yield hits.position, hits.local_position, chords.exit_position, history.occluded_rays(start, -start, time)
            yield history.contains_points(start, time).axis_distance_squared, history.limbs_at(1.5)
            yield history.judge_segments(start, -start, POLICIES[3], time).damage
            flown = history.cast_moving(start, -start, 0.0, time, protected_since={0: 0.5}, mask=7)
            yield flown.exit_time, flown.local_position
        many = history.cast_moving(np.tile(start, (SMALLEST_STREAM // 5, 1)), -start[0], 0.0, 1.5)
        yield many.exit_time
        world.set_layers(ids[:3], 2)
        world.despawn(ids[4])
        world.set_poses(world.spawn(person), positions[4], orientations[4])
        yield world.cast_segments([0, 0, 0], [1, 1, 1]).local_normal


def flights() -> Iterator[cylcollide.FlightPath]:
    """Bullets in every form that arguments may have."""
    rows = np.ones((3, 3))
    for velocities in (rows, np.asfortranarray(rows), rows.tolist(), rows.astype(np.float32), rows[0], rows[:0]):
        for gravity, number in (((0, 0, -1), 1), (velocities, np.float32(0.5)), (rows[0], 0.25)):
            yield cylcollide.flight([0, 0, 0], velocities, number, gravity, drag=number, t0=number)


hints = cache(lambda annotated: get_type_hints(annotated, include_extras=True))


def is_declared(value: Any, annotation: Any) -> bool:
    """Whether a value has the declared type: an array the dtype, the dimensions and the lengths that are numbers."""
    if hasattr(annotation, "_fields"):
        return type(value) is annotation and all(map(is_declared, value, hints(annotation).values()))
    if isinstance(value, tuple):
        return len(value) == len(get_args(annotation)) and all(map(is_declared, value, get_args(annotation)))
    if isinstance(value, np.ndarray):
        (dtype,), lengths = get_args(get_args(annotation.__origin__)[1]), annotation.__metadata__
        has_lengths = all(isinstance(want, str) or got == want for got, want in zip(value.shape, lengths, strict=False))
        return value.dtype == dtype and value.ndim == len(lengths) and has_lengths and value.flags.c_contiguous
    of_numpy = {bool: np.bool_, int: np.integer, float: np.float64}.get(annotation, annotation)
    return isinstance(value, of_numpy) or type(value) is annotation


def test_every_loop_takes_its_arguments_from_all_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Machine code would refuse others; plain Python, asked less, would not."""
    core = {name: one for name, one in LOOPS.items() if not name.startswith(("engines", "bullet"))}
    called = set[str]()
    for name, loop in core.items():

        def noted(*arguments: Any, name: str = name, loop: compile.Loop = loop) -> Any:
            called.add(name)
            result = loop.call(*arguments)
            for value, (parameter, annotation) in zip((*arguments, result), hints(loop.function).items(), strict=True):
                assert is_declared(value, annotation), (name, parameter, annotation, value)
            return result

        replace_loop(monkeypatch, loop.call, noted)
    replace_loop(monkeypatch, compile.pack, lambda given: given)
    set_threshold(monkeypatch, "RAYS_PER_TASK", 150)  # as with very many rays: several tasks
    set_threshold(monkeypatch, "RAYS_SHARED", 150)
    every = []
    for world in worlds(tmp_path):
        every.append(world.limbs)
        for n, step in ((1, 1), (5, 1), (300, 1 if IS_COMPILED else 31)):
            for query, arguments, options in islice(questions(n), 0, None, step):
                answer = getattr(world, query)(*arguments, **options)
                if isinstance(answer, cylcollide.PointHits):
                    assert len(answer.axis_distance_squared) == n
                if isinstance(answer, cylcollide.RayHits):
                    assert len(answer.position) == len(answer.exit_normal) == n  # other loops find these
                    assert len(answer.local_position) == n
                if isinstance(answer, cylcollide.Chords):
                    assert len(answer.entry_position) == len(answer.exit_normal) == len(answer.local_normal)
        if len(world.limbs):
            world.limbs[:1].classify_points([0, 0, 0])
            world.limbs[:1].cast_segments([0, 0, 0], [1, 1, 1])
            world.limbs.explain_segment([0, 0, 0], [1, 1, 1], limb=0)
            state = world.snapshot()
            draft = Draft(state.layout, len(state.tree.child))
            draft.columns.copy_ends(state.columns._replace(bounds=draft.columns.bounds), None)
            assert state.moved(draft).limbs == state.limbs
    assert len(list(lives(every))) == 3 * (3 * 4 + 2)
    assert {len(path) for path in flights()} == {0, 64, 3 * 64}
    assert [len(limbs) for limbs in characters()] == [0, 19, 57] * 4 + [0, 0, 0] * 4
    not_called = core.keys() - called - {"kernels.clearance.growths_to_reach"}
    assert not_called <= (set() if IS_COMPILED else {"world.in_place._move"})  # which is no single step in plain Python
