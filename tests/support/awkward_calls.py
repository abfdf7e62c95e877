"""Every public function that takes arrays, called by keyword with valid numbers: eighths of small integers."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from support.awkward_forms import Plain
from support.cases.everyday_shape_worlds import mixed

import cylcollide as cc
from cylcollide.limbs.meshes import BOX_TRIANGLES
from cylcollide.query.boxes import BOX_CORNERS
from cylcollide.query.result import Result

ROWS = 6
row = np.arange(ROWS, dtype=float)
PLACE = np.column_stack([row - 3, 0.5 * row, 0.25 - row])
END = np.column_stack([row + 1, 3 + 0.5 * row, 2 + row])
MIDDLE = 0.5 * (PLACE + END)
SIZE, EIGHTH, INDEX = 0.5 + 0.125 * row, 0.0 * row + 0.125, row.astype(np.int64)
TURN = np.column_stack([row - 3, 0.5 * row, 0 * row + 1, row])
FIRST, LATER = 0.5 + 0.5 * row, 2.5 + 0.5 * row
BONES, TURNS = PLACE[:, None] + 0.25 * END, np.broadcast_to(TURN, (ROWS, ROWS, 4)).copy()
QUARTER = np.broadcast_to(np.array([[0.0, -1, 0, 2], [1, 0, 0, 0.5], [0, 0, 1, 0.125]]), (ROWS, 3, 4)).copy()
"""Quarter turns about z, with a translation."""
POLICY = cc.Policy.penetration(0.25, {0: 2.0})
LIMITS = cc.RewindLimits(1.5, 0.5, 0.25)

Arrays = dict[str, Plain]


@dataclass(frozen=True)
class Call:
    """One function with all of its array arguments, and its result as arrays."""

    function: str
    """Its name in `array_arguments`."""
    call: Callable[..., Any]
    arguments: Arrays

    @property
    def answer(self) -> list[Any]:
        """The result for the valid arguments."""
        return arrays_of(self.call(**self.arguments))


@cache
def bare() -> cc.Limbs:
    """Six limbs, each in the middle between its `PLACE` and its `END`."""
    limbs = mixed(ROWS).limbs()
    by = MIDDLE - 0.5 * (limbs.p1 + limbs.p2)
    moved = limbs.moved(limbs.p1 + by, limbs.p2 + by)
    return cc.Limbs(moved._table, moved.hit_group, tuple("uvwxyz"))


@cache
def world() -> cc.HitWorld:
    """Six bare limbs, and six characters of six bones with other ones."""
    made = cc.HitWorld(bare())
    made.set_poses(made.spawn(rig(), ROWS), BONES, TURNS)
    return made


@cache
def rig() -> cc.Rig:
    """A chain of six bones with one limb each."""
    return cc.Rig(list("abcdef"), range(-1, ROWS - 1), PLACE, TURN, mixed(ROWS).limbs(), INDEX, {"head": 0})


@cache
def history() -> cc.PoseHistory:
    """Ticks at times 0, 1 … 8 of a world whose characters move."""
    own = cc.HitWorld(bare())
    kept, ids = cc.PoseHistory(own, 9), own.spawn(rig(), ROWS)
    for k in range(9):
        own.set_poses(ids, BONES + 0.125 * k, TURNS)
        kept.record(k)
    return kept


def with_world(change: Callable[[cc.HitWorld, Any], Any]) -> Callable[..., Any]:
    """A function that changes its own world and returns the limbs; it asserts that an error leaves them unchanged."""

    def changed(**arguments: Any) -> cc.Limbs:
        own = cc.HitWorld(cc.Limbs.capsules(np.zeros((ROWS, 3)), np.ones((ROWS, 3)), 1.0))
        own.set_poses(own.spawn(small_rig(), ROWS), np.zeros((ROWS, 1, 3)), np.ones((ROWS, 1, 4)))
        own.add_static(small_rig().limbs)
        before, living = own.snapshot(), own.characters.tolist()
        try:
            change(own, **arguments)
        except Exception:
            assert own.snapshot() is before
            assert own.characters.tolist() == living
            raise
        return own.limbs

    return changed


@cache
def small_rig() -> cc.Rig:
    """One bone with a ball."""
    return cc.Rig(["a"], [-1], [[0, 0, 0]], [[0, 0, 0, 1]], cc.Limbs.spheres([1, 2, 3], 0.5), 0)


def rays(kind: str) -> Iterator[tuple[str, Arrays]]:
    """The segment and the ray form of a query, with the ray arguments."""
    yield f"{kind}_segments", {"starts": PLACE, "ends": END}
    yield f"{kind}_rays", {"origins": PLACE, "directions": END, "max_distance": SIZE}


def queries() -> Iterator[Call]:
    """The queries of a world, of a snapshot, and of a history by time and by tick."""
    filters: Arrays = {"mask": INDEX, "ignore_character": INDEX}
    thick: Arrays = {"radius": EIGHTH}
    times: tuple[Arrays, Arrays] = ({"time": FIRST}, {"tick": INDEX, "alpha": EIGHTH})
    for kind in ("cast", "occluded", "chords", "judge"):
        for name, way in rays(kind):
            policy, energy = ({"policy": POLICY}, {"energy": SIZE, "shot": INDEX}) if kind == "judge" else ({}, {})
            for asked in (world(), world().snapshot()):
                query = _bound(getattr(asked, name), policy)
                yield Call(f"{type(asked).__name__}.{name}", query, {**way, **thick, **filters, **energy})
            for when in times:
                query = _bound(getattr(history(), name), policy)
                yield Call(f"PoseHistory.{name}", query, {**way, **thick, **filters, **energy, **when})
    for asked in (world(), world().snapshot()):
        yield Call(f"{type(asked).__name__}.contains_points", asked.contains_points, {"points": MIDDLE, **filters})
    near: tuple[tuple[str, Arrays], ...] = (
        ("closest_points", {"points": MIDDLE, "max_distance": SIZE}),
        ("points_within", {"points": MIDDLE, "radius": SIZE}),
        ("overlap_spheres", {"centers": MIDDLE, "radii": SIZE}),
        ("overlap_capsules", {"p1": PLACE, "p2": END, "radii": EIGHTH}),
    )
    box: Arrays = {"center": MIDDLE, "orientation": TURN, "half_extents": END}
    for name, given in (*near, ("overlap_boxes", box)):
        for asked in (world(), world().snapshot()):
            yield Call(f"{type(asked).__name__}.{name}", getattr(asked, name), {**given, **filters})
        for when in times:
            yield Call(f"PoseHistory.{name}", getattr(history(), name), {**given, **filters, **when})
    blade: Arrays = {"p1": PLACE, "p2": END, "to_p1": PLACE + 0.125, "to_p2": END + 0.125, "radius": EIGHTH}
    for asked in (world(), world().snapshot()):
        shots: Arrays = {"starts": PLACE, "ends": END, "radius": EIGHTH}
        yield Call(f"{type(asked).__name__}.doubt_segments", asked.doubt_segments, {**shots, **filters})
        yield Call(f"{type(asked).__name__}.sweep_capsules", asked.sweep_capsules, {**blade, **filters})
    strokes: Arrays = {**blade, "t0": FIRST, "t1": FIRST + 0.125}
    yield Call("PoseHistory.sweep_capsules", history().sweep_capsules, {**strokes, **filters})
    for when in times:
        doubtful: Arrays = {"starts": PLACE, "ends": END, "radius": EIGHTH, "time_radius": EIGHTH}
        yield Call("PoseHistory.doubt_segments", history().doubt_segments, {**doubtful, **filters, **when})
        yield Call("PoseHistory.contains_points", history().contains_points, {"points": MIDDLE, **filters, **when})
    flight: Arrays = {"starts": PLACE, "ends": END, "t0": FIRST, "t1": LATER, "target_t0": FIRST, "target_t1": LATER}
    yield Call("PoseHistory.cast_moving", history().cast_moving, {**flight, **filters})
    end: Arrays = {"start": PLACE[0], "end": END[0]}
    yield Call("PoseHistory.explain_miss", _bound(history().explain_miss, {"time": 0.5, "resolution": 1.0}), end)


def _bound(query: Callable[..., Any], fixed: dict[str, Any]) -> Callable[..., Any]:
    return lambda **arguments: query(**arguments, **fixed)


def changes() -> Iterator[Call]:
    """Calls that change a world."""
    ends: Arrays = {"p1": PLACE, "p2": END, "limbs": INDEX}
    ids = INDEX.copy()  # characters of a world without labels
    poses: Arrays = {"ids": ids, "positions": BONES[:, :1], "orientations": TURNS[:, 1:2]}
    yield Call("HitWorld.set_endpoints", with_world(lambda own, **given: own.set_endpoints(**given)), ends)
    yield Call("HitWorld.set_poses", with_world(lambda own, **given: own.set_poses(**given)), poses)
    quarter: Arrays = {"ids": ids, "matrices": np.repeat(QUARTER[:, None], 1, axis=1)}
    yield Call("HitWorld.set_pose_matrices", with_world(
        lambda own, **given: own.set_pose_matrices(**given, order="row")), quarter)  # fmt: skip
    yield Call("HitWorld.set_layers", with_world(lambda own, **given: own.set_layers(**given)), dict.fromkeys(
        ("ids", "mask"), ids))  # fmt: skip
    yield Call("HitWorld.add_static", with_world(
        lambda own, **given: own.add_static(mixed(ROWS).limbs(), **given)), dict.fromkeys(("mask", "hit_group"), INDEX)
    )  # fmt: skip
    place: Arrays = {"position": PLACE[0], "orientation": TURN[0]}
    yield Call("HitWorld.move_static", with_world(lambda own, **given: own.move_static(0, **given)), place)
    yield Call("HitWorld.despawn", with_world(lambda own, **given: own.despawn(**given)), {"ids": ids})


def makers() -> Iterator[Call]:
    """Constructors and methods of limbs."""
    axis, labels = {"p1": PLACE, "p2": END}, dict.fromkeys(("character", "mask", "hit_group"), INDEX)
    shapes: dict[str, Arrays] = {
        "cylinders": {**axis, "radius": SIZE},
        "tubes": {**axis, "radius": SIZE, "inner_radius": EIGHTH},
        "tapered_cylinders": {**axis, "radius1": SIZE, "radius2": EIGHTH},
        "cones": {"base": PLACE, "apex": END, "radius": SIZE},
        "ellipsoids": {**axis, "radius": SIZE},
        "capsules": {**axis, "radius": SIZE},
        "spheres": {"center": PLACE, "radius": SIZE},
        "boxes": {"center": PLACE, "orientation": TURN, "half_extents": END},
    }
    for name, given in shapes.items():
        yield Call(f"Limbs.{name}", getattr(cc.Limbs, name), {**given, **labels})
    capsules = cc.Limbs.capsules(np.zeros((ROWS, 3)), np.ones((ROWS, 3)), 1.0)
    limbs = mixed(ROWS).limbs()
    yield Call("Limbs.inflated", limbs.inflated, {"by": EIGHTH / 8})
    yield Call("Limbs.moved", capsules.moved, {**axis, "limbs": INDEX})
    yield Call("Limbs.classify_points", limbs.classify_points, {"points": PLACE})
    yield Call("Limbs.axis_distance_squared", limbs.axis_distance_squared, {"points": PLACE})
    yield Call("Limbs.closest_points", limbs.closest_points, {"points": PLACE, "max_distance": SIZE})
    yield Call("Limbs.overlap_spheres", limbs.overlap_spheres, {"centers": PLACE, "radii": SIZE})
    box: Arrays = {"center": PLACE, "orientation": TURN, "half_extents": END}
    yield Call("Limbs.overlap_boxes", limbs.overlap_boxes, box)
    yield Call("Limbs.overlap_capsules", limbs.overlap_capsules, {"p1": PLACE, "p2": END, "radii": EIGHTH})
    for name, way in rays("cast"):
        yield Call(f"Limbs.{name}", getattr(limbs, name), {**way, "radius": EIGHTH})
    yield Call("Limbs.explain_segment", _bound(limbs.explain_segment, {"limb": 2}), {"start": PLACE[0], "end": END[0]})


def rotations() -> Iterator[Call]:
    """Quaternions."""
    q = cc.quaternions
    yield Call("quaternions.multiply", q.multiply, {"a": TURN, "b": TURN[::-1].copy()})
    yield Call("quaternions.from_axis_angle", q.from_axis_angle, {"axis": END, "angle": SIZE})
    yield Call("quaternions.from_matrix", q.from_matrix, {"matrices": QUARTER[:, :, :3].copy()})
    yield Call("quaternions.slerp", q.slerp, {"a": TURN, "b": TURN[::-1].copy(), "share": EIGHTH})


def bodies() -> Iterator[Call]:
    """Rigs, clips, flights and times."""
    rest: Arrays = {"parents": INDEX - 1, "rest_positions": PLACE, "rest_orientations": TURN}
    fixed = {"bone_names": list("abcdef")}
    yield Call("Rig", _bound(cc.Rig, {**fixed, "limbs": mixed(ROWS).limbs()}), {**rest, "limb_bone": INDEX})
    yield Call("Rig.place", rig().place, {"positions": BONES, "orientations": TURNS, "character": INDEX})
    joints: Arrays = {"root_positions": PLACE, "root_orientations": TURN, "joint_orientations": TURNS}
    moved: Arrays = {**joints, "joint_positions": BONES}
    yield Call("Rig.forward", rig().forward, joints)
    yield Call("Rig.forward", rig().forward, moved)
    skin: Arrays = {"vertices": BOX_CORNERS, "faces": BOX_TRIANGLES, "weights": np.ones((8, 1))}
    one: Arrays = {"parents": INDEX[:1] - 1, "rest_positions": PLACE[:1], "rest_orientations": TURN[:1]}
    of_skin = _bound(cc.Rig.from_skin, {"bone_names": ["a"], "shapes": [cc.Shape.SPHERE]})
    yield Call("Rig.from_skin", of_skin, {**skin, **one})
    frames: Arrays = {"times": row, "root_positions": PLACE, "orientations": TURNS}
    clip = _bound(cc.Clip, fixed)
    yield Call("Clip", clip, {"parents": INDEX - 1, "offsets": PLACE, "tips": END, **frames, "rest_orientations": TURN})
    yield Call("Clip.at", clip(parents=INDEX - 1, offsets=PLACE, **frames).at, {"times": FIRST})
    shot: Arrays = {"starts": PLACE, "velocities": END, "gravity": END, "t0": FIRST}
    yield Call("flight", cc.flight, {**shot, "duration": SIZE, "drag": EIGHTH, "step": EIGHTH})
    yield Call("estimate_time", cc.estimate_time, {"now": LATER, "round_trip": SIZE, "buffer": EIGHTH})
    yield Call(
        "RewindLimits.admit", LIMITS.admit, {"claimed": FIRST, "estimate": FIRST + 0.125, "now": LATER, "bound": EIGHTH}
    )


@cache
def calls() -> dict[str, Call]:
    """All calls, by number and function name."""
    rounding = Call("round_poses", cc.round_poses, {"positions": PLACE, "orientations": TURN})
    every = (*makers(), *changes(), *queries(), *rotations(), *bodies(), rounding)
    return {f"{k} {one.function}": one for k, one in enumerate(every)}


LAZY: dict[type, tuple[str, ...]] = {
    cc.FlightPath: ("starts", "ends", "t0", "t1", "bullet", "error"),
    cc.Limbs: (*("kind", "p1", "p2", "radius", "radius2", "box_axes", "half_extents"), "character", "mask"),
    cc.MissExplanation: ("hit", "limb", "gap", "point", "segment_point", "intervals"),
    cc.Explanation: ("hit", "clearance", "nearest"),
    cc.Rig: ("rest_positions", "rest_orientations", "parents", "limb_bone"),
    cc.Clip: ("parents", "offsets", "tips", "times", "root_positions", "orientations"),
}
"""Array fields of the return types that are not a `Result`, which lists its own."""


def arrays_of(answer: Any) -> list[Any]:
    """All arrays of a return value."""
    if isinstance(answer, tuple):
        return [array for part in answer for array in arrays_of(part)]
    names = next((names for kind, names in LAZY.items() if isinstance(answer, kind)), None)
    if isinstance(answer, Result):
        names = (*answer.fields, *answer._of_queries, *["offsets"] * hasattr(answer, "offsets"))
    parts = [np.array(answer)] if names is None else [np.array(getattr(answer, name)) for name in names]
    return parts + (arrays_of(answer.limbs) if isinstance(answer, cc.Rig) else [])


# By reflection ------------------------------------------------------------------------------------------------------


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every function and method of `cylcollide.__all__` with its name, also inherited ones and those of modules."""
    for name in cc.__all__:
        thing = getattr(cc, name)
        if inspect.ismodule(thing):
            yield from ((f"{name}.{key}", getattr(thing, key)) for key in thing.__all__ if key[0].islower())
        elif inspect.isclass(thing):
            methods = {key: vars(kind)[key] for kind in reversed(thing.__mro__) for key in vars(kind)}
            for key, method in methods.items():
                function = getattr(method, "__func__", method)
                if inspect.isfunction(function) and (key == "__init__" or not key.startswith("_")):
                    yield name if key == "__init__" else f"{name}.{key}", function
        elif inspect.isfunction(thing):
            yield name, thing


def array_arguments() -> dict[str, set[str]]:
    """The array-like arguments of each public function that has some, by annotation; `plot` methods are left out."""
    found = {name: set(_annotated(function)) for name, function in public_functions()}
    return {name: arguments for name, arguments in found.items() if arguments and not name.endswith(".plot")}


def _annotated(function: Callable[..., Any]) -> Iterator[str]:
    for name, parameter in inspect.signature(function).parameters.items():
        if "ArrayLike" in str(parameter.annotation).split(" | "):
            yield name
