"""Machine code made ahead: for servers before their first tick, for containers, for continuous integration."""

import os
import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.bvh.build import build
from cylcollide.bvh.patch import grafted, renumbered
from cylcollide.characters.policy import Policy
from cylcollide.characters.rig import Rig
from cylcollide.constants import SMALLEST_STREAM
from cylcollide.history import PoseHistory
from cylcollide.history.flight import flight
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.loops import chords as chord_loops
from cylcollide.query.request import segment_request
from cylcollide.runtime import ahead, code_cache
from cylcollide.runtime.entry_point import MODE, Mode
from cylcollide.world import HitWorld


@dataclass(frozen=True)
class WarmUp:
    """What `warm_up` has done."""

    compiled: tuple[str, ...]
    """Loops that were compiled now."""
    ready: tuple[str, ...]
    """Loops whose machine code was there already."""
    directory: Path
    """Where machine code is kept."""
    seconds: float

    def __str__(self) -> str:
        made, ready, place = len(self.compiled), len(self.ready), self.directory
        return f"{made} loops compiled in {self.seconds:.1f} s, {ready} were ready; kept in {place}"


def warm_up(processes: int | None = None, progress: Callable[[int, int], None] | None = None) -> WarmUp:
    """Make and load the machine code of all queries, so that none is answered by plain Python, or held up.

    Parameters
    ----------
    processes : int or None
        How many compile at once; None: one a processor.
    progress : callable, optional
        Called several times a second with the number of loops that are ready, and of all.

    Raises
    ------
    ValueError
        If `processes` is below 1.
    RuntimeError
        If machine code is turned off (`NUMBA_DISABLE_JIT`).
    """
    if processes is not None and processes < 1:
        raise ValueError(f"processes must be at least 1, or None for one a processor; got {processes}")
    if MODE is Mode.OFF:
        raise RuntimeError("machine code is turned off by NUMBA_DISABLE_JIT; unset it to warm up")
    begun = time.perf_counter()
    requests = requests_of_every_query(code_cache.writable_directory())
    missing = {request.name for request in requests if not request.is_made()}
    for done in ahead.make(requests, processes or os.cpu_count() or 1):
        if progress is not None:
            progress(done, len(requests))
    names = [request.name for request in requests]
    return WarmUp(
        tuple(name for name in names if name in missing),
        tuple(name for name in names if name not in missing),
        code_cache.writable_directory(),
        time.perf_counter() - begun,
    )


ORDER = ("surface", "single", "chords", "stream", "points", "brute_force")
"""Loops, by module, that plain Python is slowest at beside how often they are used; then all else."""


def _rank(request: ahead.Request) -> int:
    module = request.name.split(".")[-2]
    return ORDER.index(module) if module in ORDER else len(ORDER)


def requests_of_every_query(directory: Path) -> list[ahead.Request]:
    """All entry points with examples of their arguments, by `ORDER`; kept on disk like machine code."""
    kept = code_cache.read("examples", b"")
    if kept is not None:
        requests: list[ahead.Request] = pickle.loads(kept)
        return requests
    requests = sorted(ahead.recorded(_every_query), key=_rank)
    code_cache.write(directory, "examples", b"", pickle.dumps(requests))
    return requests


def _every_query() -> None:
    """Call every loop that users reach, with few limbs and rays, one of each kind of query undecided by float64."""
    rng = np.random.default_rng(1)
    for limbs in (_crowd(rng), Limbs.cylinders([0, 0, 0], [0, 0, 1], 0.5)):
        world = HitWorld(limbs)
        for n in (1, SMALLEST_STREAM):
            starts, ends = rng.normal(size=(2, n, 3))
            starts[0], ends[0] = [0.5, -1.0, 0.5], [0.5, 1.0, 0.5]  # touches the first limb
            hits = world.cast_segments(starts, ends, threads=1)
            _ = hits.position, hits.exit_position, hits.local_position
            world.judge_segments(starts, ends, Policy.first_surface(), threads=1)
            _ = world.contains_points(0.5 * (starts + ends), threads=1).axis_distance_squared
        world.set_endpoints(limbs.p1, limbs.p2)
    limbs[:1].cast_segments(starts[0], ends[0])
    limbs[:1].classify_points(starts[0])
    limbs[:1].explain_segment(starts[0], ends[0])
    request, state, crossed = segment_request(starts, ends, "hit"), world.snapshot(), np.zeros((1, 2), np.int32)
    chord_loops.pieces_of_crossings(request.batch, state.kernel_rows, crossed, 0, 0, len(starts))
    _every_query_about_characters(starts, ends)
    _every_query_about_flights()
    _every_patch()
    from cylcollide.bullet.example_calls import call_every_loop  # noqa: PLC0415  none of the room is imported before

    call_every_loop()


def _every_query_about_characters(starts: Float64Array, ends: Float64Array) -> None:
    """Call every loop that characters and their history need, with some that stay, move, come and go."""
    rig, world = Rig.humanoid(), HitWorld(Limbs.spheres([9.0, 9.0, 9.0], 1.0))
    history, crowd = PoseHistory(world), world.spawn(rig, 5)
    roots = np.arange(3.0 * len(crowd)).reshape(-1, 3)
    poses = rig.forward(roots, [0, 0, 0, 1], rig.rest_orientations)
    rig.place(*poses)
    for moment in range(2):
        world.set_poses(crowd, *poses)
        world.set_poses(crowd[0], poses[0][0], poses[1][0])
        world.set_endpoints([9.0, 9.0, 9.0], [9.0, 9.0, 9.0])
        history.record(moment)
    world.despawn(crowd[1])
    world.set_poses(world.spawn(rig), poses[0][1], poses[1][1])
    times = np.full(len(starts), 0.5)
    history.judge_segments(starts, ends, Policy.first_surface(), times)
    _ = history.cast_segments(starts, ends, times).position
    _ = history.contains_points(starts, times).axis_distance_squared
    flight(starts[:1], ends[:1], 1.0)


def _every_query_about_flights() -> None:
    """Call every loop that flying bullets need, against a box that moves."""
    world = HitWorld(Limbs.boxes([0.0, 0.0, 0.0], [0, 0, 0, 1], [1.0, 1.0, 1.0]))
    history = PoseHistory(world)
    history.record(0.0)
    world.set_endpoints([0.5, 0.0, 0.0], [0.5, 0.0, 0.0])
    history.record(1.0)
    _ = history.cast_moving([-9.0, 0.0, 0.0], [9.0, 0.0, 0.0], 0.0, np.ones(SMALLEST_STREAM))
    hits = history.cast_moving([-9.0, 0.0, 0.0], [9.0, 0.0, 0.0], 0.0, 1.0)
    _ = hits.exit_time, hits.local_position


def _every_patch() -> None:
    """Call the loops that patch the tree of many limbs."""
    corner, item = np.zeros((2, 3)), np.zeros(1, np.int32)
    grafted(renumbered(build(corner, corner + 1.0), np.array([0, -1], np.int32), 1), item, corner[:1], corner[:1], 1)


def _crowd(rng: np.random.Generator) -> Limbs:
    """A limb that is touched, and so many that rays are not cast by brute force."""
    p1 = rng.normal(size=(20, 3))
    p1[0] = 0.0
    return Limbs.cylinders(p1, p1 + np.array([0.0, 0.0, 1.0]), 0.5)
