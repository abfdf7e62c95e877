"""About 290,000 mixed queries, and a digest of the bits of every result column.

They are drawn with `random` of a generator alone and use the public interface, so that two versions of the library can
be compared bit by bit. Lengths (`distance`, `thickness`) are left out, because numpy's `hypot` is the system's.
"""

from collections.abc import Callable, Iterator
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np

import cylcollide as cc

Vectors = np.ndarray[Any, np.dtype[np.float64]]
HIT_FIELDS = (
    "limb", "fraction", "face", "started_inside", "position", "normal",
    "exit_fraction", "exit_face", "exit_position", "exit_normal",
)  # fmt: skip
CHORD_FIELDS = ("offsets", "ray", "limb", "entry_fraction", "exit_fraction", "entry_face", "exit_face")
NEAR_FIELDS = ("limb", "distance", "position", "normal", "face")
SWEPT_FIELDS = ("limb", "fraction", "position", "undecided")
POLICIES = ("hit", "exit", "ignore")


def mixed_limbs(n: int, rng: np.random.Generator, field: float) -> cc.Limbs:
    """Return n limbs of all shapes in a cube of edge `field` metres; row i has character i // 8 and layer i % 3."""
    p1, size = field * rng.random((n, 3)), 0.05 + 0.4 * rng.random(n)
    p2, turn, half = p1 + 2.0 * rng.random((n, 3)) - 1.0, 2.0 * rng.random((n, 4)) - 1.0, 0.1 + rng.random((n, 3))
    row = np.arange(n)
    parts = [
        limbs_of(kind, *(column[row % 8 == kind] for column in (row, p1, p2, size, turn, half))) for kind in range(8)
    ]
    return cc.Limbs.concat([part for part in parts if len(part)])


def limbs_of(kind: int, i: Vectors, a: Vectors, b: Vectors, r: Vectors, turn: Vectors, half: Vectors) -> cc.Limbs:
    """Return limbs of one of eight kinds, from numbers i, ends, radii, orientations and half extents."""
    makers: tuple[Callable[..., cc.Limbs], ...] = (
        partial(cc.Limbs.cylinders, a, b, r),
        partial(cc.Limbs.tubes, a, b, r, 0.5 * r),
        partial(cc.Limbs.tapered_cylinders, a, b, r, 0.3 * r),
        partial(cc.Limbs.cones, a, b, r),
        partial(cc.Limbs.ellipsoids, a, b, r),
        partial(cc.Limbs.capsules, a, b, r),
        partial(cc.Limbs.spheres, a, r),
        partial(cc.Limbs.boxes, a, turn, half),
    )
    return makers[kind](character=i // 8, mask=1 << (i % 3))


def grid_limbs() -> cc.Limbs:
    """Return limbs with coordinates in halves, which touch each other and rays of `whole_segments`."""
    x, y = (axis.ravel() for axis in np.meshgrid(np.arange(4.0), np.arange(4.0)))
    foot = np.column_stack([x, y, np.zeros(16)])
    up = np.array([0.0, 0.0, 1.0])
    return cc.Limbs.concat(
        [
            cc.Limbs.cylinders(foot, foot + up, 0.5),
            cc.Limbs.spheres(foot + 3 * up, 0.5),
            cc.Limbs.boxes(foot + 6 * up, [0, 0, 0, 1], [0.5, 0.5, 0.5]),
            cc.Limbs.capsules(foot + 9 * up, foot + 10 * up, 0.5),
        ]
    )


def segments(rng: np.random.Generator, n: int, field: float) -> tuple[Vectors, Vectors]:
    """Return ends of n segments through a cube of edge `field`; one in eight is short, so that many start inside."""
    start, end = field * (2.0 * rng.random((n, 3)) - 0.5), field * (2.0 * rng.random((n, 3)) - 0.5)
    near = (np.arange(n) % 8 == 0)[:, None]
    return start, np.where(near, start + 0.2 * (end - start) / field, end)


def whole_segments(rng: np.random.Generator, n: int) -> tuple[Vectors, Vectors]:
    """Return ends of n segments with coordinates in halves: touches, rims, edges, axis-parallel rays."""
    return np.floor(24 * rng.random((n, 3))) / 2 - 1.0, np.floor(24 * rng.random((n, 3))) / 2 - 1.0


Answered = tuple[str, Any, tuple[str, ...]]
"""Name of a query, the result, and the fields to compare; () for an array."""


def columns(asked: Iterator[Answered]) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of each field; every NaN has the same bits."""
    for name, answer, fields in asked:
        for label, column in [(f"{name} {field}", getattr(answer, field)) for field in fields] or [(name, answer)]:
            given = np.ascontiguousarray(column)
            yield label, (np.where(np.isnan(given), np.nan, given) if given.dtype.kind == "f" else given).tobytes()


def answers(share: float = 1.0) -> Iterator[tuple[str, bytes]]:
    """Evaluate all queries, or a share of them, and yield name and bytes of each column."""
    return columns(asked(lambda n: max(8, int(share * n))))


def asked(count: Callable[[int], int]) -> Iterator[Answered]:
    """Evaluate the queries in five worlds; `count` scales the numbers of rays."""
    rng = np.random.default_rng(13)
    for label, limbs, field, n in (
        ("one", mixed_limbs(1, rng, 1.0), 1.0, count(2000)),
        ("three", mixed_limbs(3, rng, 1.0), 1.0, count(2000)),
        ("character", mixed_limbs(17, rng, 2.0), 2.0, count(3000)),
        ("crowd", mixed_limbs(count(3000), rng, 15.0), 15.0, count(10_000)),
        ("grid", grid_limbs(), 4.0, count(600)),
    ):
        world = cc.HitWorld(limbs)
        for inside in POLICIES:
            start, end = whole_segments(rng, n) if label == "grid" else segments(rng, n, field)
            name = f"{label} {inside}"
            yield f"{name} cast", world.cast_segments(start, end, inside=inside), HIT_FIELDS
            shooter = np.arange(n) % 5
            for i, k in enumerate(range(0, min(n, 210), 7)):
                yield (
                    f"{name} few {i}",
                    world.cast_segments(start[k : k + 7], end[k : k + 7], inside=inside),
                    HIT_FIELDS,
                )
            rays = world.cast_rays(
                start, end - start + 1e-3, max_distance=3.0, inside=inside, mask=3, ignore_character=shooter
            )
            yield f"{name} rays", rays, HIT_FIELDS
            yield f"{name} chords", world.chords_segments(start, end, inside=inside), CHORD_FIELDS
            yield f"{name} occluded", world.occluded_segments(start, end, inside=inside), ()
        yield from thick_answers(world, label, n, field)
        yield from near_answers(world, label, n, field)
        points = whole_segments(rng, n)[0] if label == "grid" else 1.2 * field * rng.random((n, 3))
        yield f"{label} points", world.contains_points(points), ("limb", "count", "axis_distance_squared")
        few = points[: max(8, n // 8)]
        yield f"{label} nearest", world.closest_points(few, max_distance=field), NEAR_FIELDS
        yield f"{label} nearest within", world.points_within(few, 0.3, mask=5), ("offsets", *NEAR_FIELDS)
        yield f"{label} overlap", world.overlap_spheres(few, 0.3), ("offsets", *NEAR_FIELDS)
        rows = cc.HitWorld(limbs[:1]).limbs if len(limbs) > 1 else limbs
        yield f"{label} classify", rows.classify_points(points), ()
        world.set_endpoints(limbs.p1 + 0.5, limbs.p2 + 0.5)
        yield f"{label} moved", world.cast_segments(*(segments(rng, n, field))), HIT_FIELDS[:4]


def near_answers(world: cc.HitWorld, label: str, n: int, field: float) -> Iterator[Answered]:
    """Evaluate clearances, doubts, capsule and box overlaps, and sweeps."""
    rng, n = np.random.default_rng(19), max(8, n // 32)
    start, end = whole_segments(rng, n) if label == "grid" else segments(rng, n, field)
    radius, half = rng.choice([0.0, 0.05, 0.25], n), 0.05 + 0.5 * rng.random((n, 3))
    turn = 2.0 * rng.random((n, 4)) - 1.0
    yield f"{label} clearance", world.cast_segments(start, end, mask=5), ("clearance", "clearance_limb")
    doubts = world.doubt_segments(start, end, radius)
    yield f"{label} doubts", doubts, ("verdict", "offsets", "limb", "limb_verdict")
    yield f"{label} capsules", world.overlap_capsules(start, end, radius), ("offsets", "limb", "undecided")
    yield f"{label} boxes", world.overlap_boxes(start, turn, half), ("offsets", "limb", "undecided")
    yield f"{label} swept", world.sweep_capsules(start, start + half, end, end + half, radius), SWEPT_FIELDS


def thick_answers(world: cc.HitWorld, label: str, n: int, field: float) -> Iterator[Answered]:
    """Cast thick segments, some of radius 0, under each policy."""
    rng, n = np.random.default_rng(17), max(8, n // 8)
    start, end = whole_segments(rng, n) if label == "grid" else segments(rng, n, field)
    radius = rng.choice([0.0, 0.01, 0.1, 0.25], n)
    for inside in POLICIES:
        name = f"{label} {inside} thick"
        for part, k in (("many", n), ("seven", 7)):
            hits = world.cast_segments(start[:k], end[:k], inside=inside, radius=radius[:k])
            yield f"{name} {part}", hits, (*HIT_FIELDS, "undecided")
        chords = world.chords_segments(start, end, inside=inside, radius=radius)
        yield f"{name} crossed", chords, (*CHORD_FIELDS, "undecided")


def digests(share: float = 1.0) -> dict[str, str]:
    """Return a digest for each kind of query and column."""
    found: dict[str, Any] = {}
    for name, data in answers(share):
        words = name.split(" ")
        key = " ".join(word for word in words if not word.isdigit())
        found.setdefault(key, blake2b(digest_size=8)).update(data)
    return {key: digest.hexdigest() for key, digest in found.items()}
